"""The line that names the class of a text which no format has read; operators see it."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.shell_statements import shell_statement
from otel_errcompact.extract.statements import Statement, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LINES: Final = 300
"""Lines that are looked at from either end of a text."""

_REMEMBERED: Final = 8
"""Texts whose line is remembered: several formats ask for it."""


@lru_cache(maxsize=_REMEMBERED)
def choose_line(body: str) -> int | None:
    """Return the number of the first line with words of failure, else of the most telling kind."""
    lines = body.split("\n")
    if any(line[:6].lower() == "usage:" for line in lines[:MAX_LINES]):
        # What explains options has words of failures of which none has happened.
        stated = next((number for number in bound(len(lines)) if state(lines[number].strip()) is not None), None)
        if stated is not None:
            return stated
    chosen, best = None, Kind.SOURCE
    for number in bound(len(lines)):
        kind = _judge_line(lines[number].strip())
        if kind > best:
            chosen, best = number, kind
            if kind is Kind.TELLING:
                break
    return chosen


def state(line: str) -> Statement | None:
    """Return what a line states in a strict form of any program."""
    return shell_statement(line) or statement_of(line)


def bound(count: int) -> Iterable[int]:
    """Return the numbers of the lines that are looked at."""
    if count <= 2 * MAX_LINES:
        return range(count)
    return chain(range(MAX_LINES), range(count - MAX_LINES, count))


def _judge_line(line: str) -> Kind:
    kind = kind_of(line)
    return Kind.TELLING if kind is Kind.OTHER and state(line) is not None else kind
