"""The layers of compaction, a module each: a conversation in, a smaller one and its cuts out."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from otel_errcompact_context.notes import LAYERS
from otel_errcompact_context.window.layers.workspace import Edited, Layer, Workspace

__all__ = ["Edited", "Layer", "Workspace", "all_layers"]


def all_layers() -> list[Layer]:
    """Return the layers in the order in which they run."""
    return [cast("Layer", import_module(f"{__name__}.{name}").LAYER) for name in LAYERS]
