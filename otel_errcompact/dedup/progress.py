"""Whether a failure of a class is progress, and no repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts

ASSERTION: Final = lazy_pattern("Assert|ComparisonFailure|ExpectationNotMet")
"""Types of failures that compare what was measured."""

_NUMBER: Final = lazy_pattern(r"(?<![\w.])-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?![\w])")
_MAX_CAUSE: Final = 1_000


def has_moved(before: Facts, now: Facts) -> bool:
    """
    Tell whether a red test is green, or a measured value moved.

    Four red tests and then three, one test and then another, 9.0 of 12.5 and then 11.0 of 12.5 are steps of one piece
    of work, and no loop.
    """
    if now.members < before.members or not {*before.names} <= {*now.names}:
        return True
    return ASSERTION.search(now.type) is not None and _read_numbers(before) != _read_numbers(now)


def _read_numbers(facts: Facts) -> list[list[str]]:
    # Behind the places: lines shift with each edit.
    others = (line.rpartition("): ")[2] for line in facts.details if ASSERTION.search(line.partition(" at ")[0]))
    return [_NUMBER.findall(said[:_MAX_CAUSE]) for said in (facts.cause, *others)]
