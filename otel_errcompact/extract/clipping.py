"""How much of a text enters the facts, and how a cut is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CAUSE: Final = 500
"""Characters of a cause."""

MAX_DETAIL: Final = 200
"""Characters of one detail line."""

MAX_DETAILS: Final = 48
"""Detail lines, a mark of what was left out included."""

CUT: Final = "..."
_LOOK_AHEAD: Final = 1_000


def clip(text: str, limit: int = MAX_CAUSE) -> str:
    """
    Return `text` within `limit` characters; a cut is visible and takes the middle, since causes stand at either end.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail - len(CUT) - 2].rstrip()} {CUT} {text[-tail:].lstrip()}"


def details(lines: Iterable[str], limit: int = MAX_DETAILS) -> tuple[str, ...]:
    """Return the first `limit` distinct lines that say something, each within bounds; what is left out is counted."""
    kept: dict[str, None] = {}
    left_out = 0
    for seen, line in enumerate(lines):
        if seen >= _LOOK_AHEAD:
            break
        clipped = clip(line, MAX_DETAIL)
        if not clipped or clipped in kept:
            continue
        if len(kept) < limit:
            kept[clipped] = None
        else:
            left_out += 1
    if left_out:
        kept.popitem()
        return (*kept, f"{CUT} {left_out + 1} more lines")
    return tuple(kept)
