"""How programs close: what of a text a last all-passed tally leaves to be read."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.extract.table import listings
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.extract.format import Listing


class Closings(NamedTuple):
    """The closing statements of a format, compiled."""

    name: str
    clues: tuple[str, ...]
    failed: re.Pattern[str] | None
    passed: re.Pattern[str] | None
    stacks: re.Pattern[str] | None

    def fails(self, body: str, start: int, end: int) -> bool:
        """Tell whether a part of a text says that something failed."""
        return any(form is not None and form.search(body, start, end) for form in (self.failed, self.stacks))


@cache
def compile_closings(listing: Listing) -> Closings:
    """Return the closing statements of a format."""
    patterns = (_compile_patterns(part) for part in (listing.closings, listing.passes, listing.stacks))
    return Closings(listing.name, listing.clues, *patterns)


def _compile_patterns(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile(f"^(?:{'|'.join(patterns)})", re.MULTILINE) if patterns else None


def strip_passed(body: str) -> str:
    """
    Return a text from its last all-passed tally on; without one, all.

    Where a runner has reported a failure before, the tally is only that of its last part.
    """
    clues, passed, runners = _compile_runners()
    if not has_any(body, clues):
        return body
    tallies = ((found, runners[int((found.lastgroup or "_0")[1:])]) for found in reversed([*passed.finditer(body)]))
    start = next((found.start() for found, runner in tallies if not runner.fails(body, found.end(), len(body))), 0)
    return body if any(runner.fails(body, 0, start) for runner in runners) else body[start:]


@cache
def _compile_runners() -> tuple[tuple[str, ...], re.Pattern[str], list[Closings]]:
    rows = [row for row in listings() if row.clues_of_passes]
    passed = "|".join(f"(?P<_{number}>{'|'.join(row.passes)})" for number, row in enumerate(rows))
    all_clues = dict.fromkeys(clue for row in rows for clue in row.clues_of_passes)
    # A text with a clue that holds another one has that one too.
    clues = tuple(clue for clue in all_clues if not any(other in clue for other in all_clues if other != clue))
    return clues, re.compile(f"^(?:{passed})", re.MULTILINE), [compile_closings(row) for row in rows]
