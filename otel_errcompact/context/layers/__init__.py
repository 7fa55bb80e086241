"""The layers of compaction, a module each: a conversation in, a smaller one and its cuts out."""

from __future__ import annotations

from otel_errcompact.context.layers.workspace import Edited, Layer, Workspace

__all__ = ["Edited", "Layer", "Workspace"]
