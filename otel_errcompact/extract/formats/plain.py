"""Lines that state an error by themselves: `KeyError: 'id'`, `error: no such target`, `main.c:3:1: error: ...`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.shell_statements import exit_line
from otel_errcompact.extract.statements import GENERIC_TYPES, Statement, is_heading, statement_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.text import Text


def read(text: Text) -> Facts | None:
    """Return the facts of the first line that states an error; the lines behind it belong to its message."""
    lines = text.lines
    for number, line in enumerate(lines):
        statement = statement_of(line) or (_announced(lines, number) if is_heading(line) else None)
        if statement is not None:
            return _facts(text, statement, lines[number + 1 :], lines[:number])
    if text.type and text.body == text.message.strip():
        return _facts(text, Statement(text.type, text.body), (), ())
    return None


def _announced(lines: Sequence[str], number: int) -> Statement | None:
    """Return what a heading announces, unless that is a statement by itself."""
    following = next((line for line in islice(lines, number + 1, None) if line), "")
    return None if statement_of(following) else Statement("error", lines[number])


def _facts(text: Text, statement: Statement, after: Sequence[str], before: Sequence[str]) -> Facts:
    reading = read_message("\n".join((statement.message, *after)))
    others = (line for line in reading.details if reading.cause not in line and statement_of(line))
    return Facts(
        type=_type(statement.type, text.type),
        cause=reading.cause,
        location=statement.location,
        details=details((*others, exit_line(text), *reading.details, *before[:2])),
        key_cause=reading.key,
    )


def _type(stated: str, reported: str) -> str:
    """Return the more telling of the type in the text and the type that the source reports."""
    if reported and (stated in GENERIC_TYPES or reported.endswith(f".{stated}")):
        return reported
    return stated


FORMAT: Final = Format(
    name="plain",
    read=read,
    markers=(),
    signs=(),
)
