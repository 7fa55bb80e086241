"""Lines by which a repeat differs from something new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import mask

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts

MAX_LINES: Final = 64
MAX_CHARACTERS: Final = 400
"""Characters of a line that are masked; lines that differ beyond them are the same."""

_SOURCE: Final = "> "


def templates_of(facts: Facts) -> frozenset[str]:
    """
    Return the templates of the lines that say what failed.

    A repeat says no more than "again" where these are a subset of what was shown before. Places stand in details, and
    their line numbers move; lines of source tell nothing that the cause does not.
    """
    lines = [facts.cause, *facts.details, *(found.line for found in facts.evidence)]
    chosen = (line for line in lines[:MAX_LINES] if not line.startswith(_SOURCE))
    return frozenset(mask(line[:MAX_CHARACTERS].strip()) for line in chosen if line and not line.isspace())
