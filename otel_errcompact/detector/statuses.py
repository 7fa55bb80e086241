"""What exit statuses of known programs mean, where they mean no failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation import last_command
from otel_errcompact.detector.operation.programs import rows_of, words_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.command import Command

_SILENCED: Final = lazy_pattern(r"(?:&> ?/dev/null|> ?/dev/null 2>&1|2>&1 > ?/dev/null)[\s\"'};]{0,9}\Z")
"""The end of a command that is run for its exit status alone."""

_ASKED_BEFORE: Final = lazy_pattern(r"(?:\[{1,2} |\b(?:test|which|command -v) )[^;\n]{0,300}? && ")
"""A question on which the rest of a command line depends."""


def finds_nothing(tool: str, arguments: str, code: int, *, says_nothing: bool) -> bool:
    """Tell whether a status is the answer to a question."""
    if code == 1 and says_nothing and (_SILENCED.search(arguments) or _ASKED_BEFORE.search(arguments)):
        return True
    command = last_command(tool, arguments)
    rows = _rows_of(command)
    if any(code in row.answers or (says_nothing and row.answers_in_silence) for row in rows):
        return True
    looks_up = any(row.looks_up for row in rows) and sum(word[:1] != "-" for word in command[2:]) == 1
    return (says_nothing or code == 1) and (looks_up or asks(command))


def asks(command: Sequence[str]) -> bool:
    """Tell whether an option makes a program's status an answer."""
    return any(not words_of(row.asks).isdisjoint(command) for row in _rows_of(command))


def is_not_yet(tool: str, arguments: str, code: int | None) -> bool:
    """Tell whether a status means that it is too early."""
    return bool(code) and any(code in row.waits for row in _rows_of(last_command(tool, arguments)))


def _rows_of(command: Sequence[str]) -> tuple[Command, ...]:
    return rows_of(" ".join((command[0].rpartition("/")[2], *command[1:3]))) if command else ()
