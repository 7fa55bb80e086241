"""Output of the command line: JSON lines, problems, exit statuses."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_lab.transcripts.records import TranscriptError


FINE: Final = 0
INCOMPLETE: Final = 1
USAGE: Final = 2
FAULT: Final = 70
"""A fault of our own; this and the next one as sysexits.h has them."""

UNWRITABLE: Final = 74
INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""What shells show for SIGPIPE."""

MEANINGS: Final = {
    FINE: "fine",
    INCOMPLETE: "some input was malformed, unreadable or unknown, or an extra is missing; the rest was processed",
    USAGE: "wrong usage, or a named output cannot be written; nothing was processed",
    FAULT: "a fault of errcompact itself",
    UNWRITABLE: "output was lost: standard output is closed, or a disk is full",
    INTERRUPTED: "interrupted",
    READER_GONE: "the reader of the output has ended, as head does",
}
"""What each exit status means."""


PROGRAM: Final = "errcompact"
MAX_NAMED: Final = 5
"""Files that are named of those that are left out."""

MAX_SAID: Final = 100
"""Log messages that are said; a command that has more of them to say is not read any more."""


class Problems:
    """Prints each problem of the input as a line on standard error."""

    def __init__(self) -> None:
        self.count = 0
        self.is_output_lost = False

    def report(self, path: str, line: int, problem: str) -> None:
        """Report a problem."""
        self.count += 1
        say(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")

    def take(self, error: TranscriptError) -> None:
        """Report a problem of a transcript."""
        self.report(error.path, error.line, error.problem)

    @property
    def exit_code(self) -> int:
        """The exit status of a command that has met these problems."""
        if self.is_output_lost:
            return UNWRITABLE
        return INCOMPLETE if self.count else FINE


def say_skipped(folder: Path, files: tuple[Path, ...]) -> None:
    """Name the files of a folder that are no transcripts."""
    names = ", ".join(str(file.relative_to(folder)) for file in files[:MAX_NAMED])
    more = f" and {len(files) - MAX_NAMED:,} more" if len(files) > MAX_NAMED else ""
    count = "1 other file is no transcript" if len(files) == 1 else f"{len(files):,} other files are no transcripts"
    say(f"{folder}: {count} of a known format and left out: {names}{more}")


def describe_silence(empty: int, runs: int, *, calls: int, failures: int) -> str:
    """Return that most runs hold no tool results; empty otherwise."""
    if 2 * empty <= runs:
        return "" if runs else "No run was read."
    if empty == runs:
        return f"No tool results (runs: {runs:,}): whether anything failed cannot be told."
    return (
        f"No tool results in {empty:,} of {runs:,} runs: how often anything failed cannot be told (calls in the "
        f"others: {calls:,}, failures: {failures:,})."
    )


def say_shared(calls: int) -> None:
    """Tell how many calls stand in several sessions."""
    if calls:
        are = "1 call stands" if calls == 1 else f"{calls:,} calls stand"
        say(f"{are} in an earlier session too, as in forks and copies of one, and counted once")


class OneLineHandler(logging.Handler):
    """
    Prints each warning once, as one line without a traceback.

    Escalations are left out: they are the command's result.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Say one log record."""
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message}: {record.exc_info[1]}"
        if hasattr(record, semconv.THRESHOLD) or message in self._said:
            return
        if len(self._said) < MAX_SAID:
            self._said.add(message)
            say(message)


def say_unwritten(file: Path, lines: int) -> None:
    """Name a trajectory that lacks lines."""
    say(f"--trajectory {file}: {count_noun(lines, 'line')} could not be written; name a file on a disk with room")


def say(message: str) -> None:
    """Print one line of the program itself to standard error."""
    print(f"{PROGRAM}: {printable(message)}", file=sys.stderr, flush=True)  # noqa: T201 - the command line prints


def write_line(text: str) -> None:
    """Print untrusted text to standard output, as one line."""
    sys.stdout.write(f"{printable(text)}\n")


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural but for one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def agree(question: str, *, yes: bool, about: str = "") -> bool:
    """Ask at a terminal; elsewhere say what to do instead."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say(f"{about}nothing was written; repeat the command with --yes, or in a terminal")
        return False
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def write_json(value: object, *, indent: int | None = None) -> None:
    """
    Print a value as JSON to standard output, and flush.

    Everything but printable ASCII is escaped, so that a tool's output changes no terminal's state.
    """
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def printable(text: str) -> str:
    """Return untrusted text as one line that changes no terminal's state."""
    return "".join(char if char.isprintable() else " " for char in text)
