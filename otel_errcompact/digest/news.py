"""What is new in a repeat of a class: lines and values."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.masking import values
from otel_errcompact.dedup.progress import has_moved
from otel_errcompact.digest.changes import shorten_known
from otel_errcompact.digest.shown import template_of
from otel_errcompact.digest.untrusted import one_line
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from otel_errcompact.digest.shown import Shown, ShownLines
    from otel_errcompact.errors import Facts

MAX_VALUES: Final = 3
"""New values that a repeat names."""

MAX_REPEATED_CAUSE: Final = 200
"""Characters of the cause that a repeat shows."""

_HEAD_OF_CAUSE: Final = 48
_HEAD_OF_LINE: Final = 28
"""Characters by which an agent knows again what it has read."""

_MAX_VALUE: Final = 40

# What is new in one repeat is what is known in the next.
_values: Final = lru_cache(maxsize=256)(values)


class News(NamedTuple):
    """What a repeat adds to the earlier failures of its class."""

    values: tuple[str, ...] = ()
    """Lines, counts and values that its first line names."""

    lines: tuple[str, ...] = ()
    """Lines that the agent has not been shown, or that hold new values."""

    short: Mapping[str, str] = MappingProxyType({})
    """What there is to read of lines and of a cause that the agent has read with other values."""

    is_again: bool = True
    """Whether all lines of substance have failed before, but for values that vary."""


def lines_of(facts: Facts) -> tuple[str, ...]:
    """Return all lines for a digest below its first one."""
    return (*facts.details, *(line for line, _ in facts.evidence))


def find_news(key: str, facts: Facts, shown: Shown) -> tuple[News, Shown]:
    """
    Return the news of a repeat, and the agent's knowledge after it.

    Args:
        key: The class.
        facts: Those of the repeat.
        shown: What the agent has been shown before.
    """
    of_class = shown.of(key)
    before = of_class.facts
    # Most repeats are equal to the last one, and then there is nothing to look at.
    if before is None:
        return News(), shown
    cause = shorten_known(facts.cause, before.cause, _HEAD_OF_CAUSE)
    if facts is before or facts == before:
        return News(short={facts.cause: cause}), shown
    lines = lines_of(facts)
    known = of_class.failed.add((before.cause, *lines_of(before)))
    is_again = not (has_moved(before, facts) or known.unseen((facts.cause, *lines)))
    details = of_class.details.add(shown.lines.seen(lines_of(before)))
    left_out = {line for line, _ in facts.evidence if _is_left_out(line, known, details)}
    # A code that was read before the last failure is news after another one.
    said = set(map(template_of, lines_of(before)))
    back = {line for line in facts.details if template_of(line) not in said}
    fresh = {*details.unseen(shown.lines.unseen(lines)), *_find_changed(lines, before), *back} - left_out
    of_class = replace(of_class, facts=facts, details=details.add(fresh), failed=known.add((facts.cause, *lines)))
    news = News(
        values=(*_find_moves(facts, before), *_find_new_values(facts, before)),
        lines=tuple(line for line in lines if line in fresh),
        short={facts.cause: cause, **_shorten_lines(fresh, before, details)},
        is_again=is_again,
    )
    return news, shown.set_class(key, of_class)


def _find_changed(lines: Iterable[str], before: Facts) -> list[str]:
    said = {before.cause, *lines_of(before)}
    known = {value for line in said for value in _values(line)}
    return [line for line in lines if line not in said and not known.issuperset(_values(line))]


def _is_left_out(line: str, failed: ShownLines, details: ShownLines) -> bool:
    # What was not worth its room at first is not worth it now.
    template = template_of(line)
    return template in failed.lines and template not in details.lines


def _shorten_lines(fresh: Iterable[str], before: Facts, details: ShownLines) -> dict[str, str]:
    # A line that the agent has read with other values.
    known = {line[:_HEAD_OF_LINE]: line for line in lines_of(before) if template_of(line) in details.lines}
    same = ((line, known.get(line[:_HEAD_OF_LINE])) for line in fresh)
    return {line: shorten_known(line, said, _HEAD_OF_LINE) for line, said in same if said is not None}


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
