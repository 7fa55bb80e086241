"""Strip what runners have printed of tests that all passed."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from otel_errcompact.extract.table import listings
from otel_errcompact.runtime.strings import has_any


class _Closings(NamedTuple):
    clues: tuple[str, ...]
    passed: re.Pattern[str]
    """How runners say that all went well; the group is the number of the runner."""

    failed: tuple[re.Pattern[str], ...]
    """How each of them says that something failed."""


def strip_passed(body: str) -> str:
    """
    Return a text from its last all-passed tally on; without one, all.

    Where a runner has reported a failure before, the tally is only that of its last part.
    """
    closings = _closings()
    if not has_any(body, closings.clues):
        return body
    last = next((found for found in reversed(list(closings.passed.finditer(body))) if _is_last_word(found, body)), None)
    if last is None or any(failed.search(body, 0, last.start()) for failed in closings.failed):
        return body
    return body[last.start() :]


def _is_last_word(found: re.Match[str], body: str) -> bool:
    return _closings().failed[int((found.lastgroup or "_0")[1:])].search(body, found.end()) is None


@cache
def _closings() -> _Closings:
    runners = [listing for listing in listings() if listing.clues_of_passes]
    passed = "|".join(f"(?P<_{number}>{'|'.join(row.passes)})" for number, row in enumerate(runners))
    failed = (re.compile(f"^(?:{'|'.join((*row.closings, *row.stacks))})", re.MULTILINE) for row in runners)
    clues = tuple(dict.fromkeys(clue for row in runners for clue in row.clues_of_passes))
    return _Closings(clues, re.compile(f"^(?:{passed})", re.MULTILINE), tuple(failed))
