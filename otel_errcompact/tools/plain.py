"""Lines that state an error by themselves: `KeyError: 'id'`, `error: no such target`, `main.c:3:1: error: ...`."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.evidence.choice import choose_line, state
from otel_errcompact.extract.evidence.kinds import Kind, is_content, kind_of
from otel_errcompact.extract.evidence.places import find_place
from otel_errcompact.extract.grammar import Facts, Format, Lines, Text, details
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.shell_statements import exit_line
from otel_errcompact.extract.statements import GENERIC_TYPES, Statement, statement_of

_OF_MESSAGES: Final = frozenset({Kind.OTHER, Kind.TELLING})

_BESIDE: Final = 3
"""Lines from the statement on that may name its place."""

_STRUCTURED: Final = ("{", "</", "[SQL:", "[type=")
"""What bodies, pages and lists of violations have in them."""


def read(text: Text) -> Facts | None:
    """Return the facts of the chosen statement, lines behind it included."""
    number = choose_line(text.body)
    stated = state(text.lines[number].strip()) if number is not None else None
    if number is not None and stated is not None:
        return _build_facts(text, number, stated)
    if text.type and text.body == text.message.strip():
        reading = read_message(text.body)
        return Facts(
            type=reading.type or text.type,
            cause=reading.cause,
            details=details((exit_line(text), *reading.details)),
            key_cause=reading.key,
            key_is_whole=bool(reading.type),
        )
    return None


def _build_facts(text: Text, number: int, stated: Statement) -> Facts:
    reading = read_message("\n".join((stated.message, *_message_lines(text.lines[number + 1 :]))))
    others = (line for line in reading.details if reading.cause not in line and statement_of(line))
    return Facts(
        type=reading.type or _choose_type(stated.type, text.type),
        cause=reading.cause,
        location=stated.location or find_place(text.lines[number : number + _BESIDE]),
        details=details((*others, exit_line(text), *filter(is_content, reading.details))),
        key_cause=reading.key,
        key_is_whole=bool(reading.type),
    )


def _message_lines(lines: Lines) -> Lines:
    # In a body or a page the lines are not told apart.
    if any(sign in line for line in lines for sign in _STRUCTURED):
        return lines
    return [line for line in lines if kind_of(line) in _OF_MESSAGES]


def _choose_type(stated: str, reported: str) -> str:
    # A source's own type may be more telling than that in the text.
    if reported and (stated in GENERIC_TYPES or reported.endswith(f".{stated}")):
        return reported
    return stated


FORMAT: Final = Format(name="plain", read=read, markers=())
