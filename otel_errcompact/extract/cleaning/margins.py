"""Strip the line that a tool draws to the left of a block."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

_CORNER: Final = "\u2577\n"
_BLOCK: Final = lazy_pattern(r"(?m)^\u2577\n(?:\u2502[^\n]*(?:\n|\Z))+")
_MARGIN: Final = lazy_pattern(r"(?m)^\u2502 ?")


def strip_margins(text: str) -> str:
    """Return `text` without the margins of its blocks; the corners stay, since they part a block from other output."""
    if _CORNER not in text:
        return text
    return _BLOCK.sub(lambda block: _MARGIN.sub("", block[0]), text)
