"""What is new in a repeat of a class: lines and values."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.masking import values
from otel_errcompact.digest.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.digest.shown import Shown
    from otel_errcompact.errors import Facts

MAX_VALUES: Final = 3
"""New values that a repeat names."""

MAX_REPEATED_CAUSE: Final = 200
"""Characters of the cause that a repeat shows."""

_MAX_VALUE: Final = 40

# What is new in one repeat is what is known in the next.
_values: Final = lru_cache(maxsize=256)(values)


class News(NamedTuple):
    """What a repeat adds to the earlier failures of its class."""

    values: tuple[str, ...] = ()
    """Lines, counts and values that its first line names."""

    lines: tuple[str, ...] = ()
    """Lines that the agent has not been shown, or that hold new values."""

    is_again: bool = True
    """Whether all lines of substance have failed before, but for values that vary."""


_NO_NEWS: Final = News()


def lines_of(facts: Facts) -> tuple[str, ...]:
    """Return all lines for a digest below its first one."""
    return (*facts.details, *(line for line, _ in facts.evidence))


def find_news(key: str, facts: Facts, shown: Shown) -> tuple[News, Shown]:
    """
    Return the news of a repeat, and what the agent knows with them.

    Args:
        key: The class.
        facts: Those of the repeat.
        shown: What the agent has been shown before.
    """
    of_class = shown.of(key)
    before = of_class.facts
    # Most repeats are equal to the last one, and then there is nothing to look at.
    if before is None or facts is before or facts == before:
        return _NO_NEWS, shown
    lines = lines_of(facts)
    known = of_class.failed.add((before.cause, *lines_of(before)))
    is_again = not known.unseen((facts.cause, *lines))
    details = of_class.details.add(shown.lines.seen(lines_of(before)))
    fresh = {*details.unseen(shown.lines.unseen(lines)), *_find_changed(lines, before)}
    of_class = replace(of_class, facts=facts, details=details.add(fresh), failed=known.add((facts.cause, *lines)))
    news = News(
        values=(*_find_moves(facts, before), *_find_new_values(facts, before)),
        lines=tuple(line for line in lines if line in fresh),
        is_again=is_again,
    )
    return news, shown.set_class(key, of_class)


def _find_changed(lines: Iterable[str], before: Facts) -> list[str]:
    said = {before.cause, *lines_of(before)}
    known = {value for line in said for value in _values(line)}
    return [line for line in lines if line not in said and not known.issuperset(_values(line))]


def _find_moves(facts: Facts, before: Facts) -> list[str]:
    line = facts.location.line
    moved = [f"line {line}"] if line is not None and line != before.location.line else []
    return [*moved, facts.tally] if facts.tally and facts.tally != before.tally else moved


def _find_new_values(facts: Facts, before: Facts) -> list[str]:
    # The repeated cause shows them.
    if facts.cause == before.cause or len(facts.cause) <= MAX_REPEATED_CAUSE:
        return []
    known = _values(before.cause)
    fresh = [one_line(value, _MAX_VALUE) for value in _values(facts.cause) if value not in known]
    return fresh[:MAX_VALUES]
