"""Diagnostics of rustc, clippy and cargo build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text

FORMAT: Final = "rustc"
MARKERS: Final = ("\x00",)


def extract(text: Text) -> Facts | None:
    """
    Return nothing yet.
    """
    del text
    return None
