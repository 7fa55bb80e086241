"""What a format is: how its texts are told from others, how they are read, and how its programs end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.runtime.lazy import lazy
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.command import Command


MAX_LINE: Final = 4_000
"""Characters of one line that are looked at."""


def split_names(names: str) -> tuple[str, ...]:
    """Return names that commas part."""
    return tuple(names.split(", "))


@dataclass(frozen=True, kw_only=True)
class Text:
    """What an extractor looks at. Without slots, since its lines are split once for all extractors."""

    body: str
    """The cleaned text; of a very long one the head, a line that says how much is left out, and the tail."""

    type: str = ""
    """What the source itself says of the type."""

    message: str = ""
    """What the source itself says of the message."""

    exit_code: int | None = None
    """The exit status, as the source reports it or as the text's first or last lines do; never 0."""

    roots: tuple[str, ...] = ()
    """The configured folders of the user's own code."""

    @lazy
    def lines(self) -> list[str]:
        """The lines of the body, very long ones cut; shared, so nobody changes the list."""
        lines = self.body.split("\n")
        if len(self.body) <= MAX_LINE:
            return lines
        return [clip(line, MAX_LINE) if len(line) > MAX_LINE else line for line in lines]


class Hint(NamedTuple):
    """What to do about one kind of failure."""

    advice: str
    """One line."""

    signs: tuple[str, ...]
    """Patterns for the start of a word in `Type: cause`, any of which identifies the kind."""

    example: tuple[str, str]
    """A type and a cause that the hint is meant for."""

    is_weak: bool = False
    """Whether any other hint that applies is the better one."""


class Diagnostic(NamedTuple):
    """One error or warning of a compiler or a linter."""

    type: str
    message: str
    location: Location = NOWHERE
    is_error: bool = True
    """Whether it fails the run by itself; beside errors, warnings are left out."""

    details: tuple[str, ...] = ()
    """What helps to correct it, most important first."""

    source: str = ""
    """The line of code it is about, where it is printed."""

    is_grave: bool = False
    """Whether it is told beside errors although it only warns."""

    column: str = ""
    """Where in the line it is, as far as that tells it from an equal one."""


class Diagnostics(NamedTuple):
    """
    How the diagnostics of a format are read; the outputs of several compilers and linters often stand in one text.
    """

    read: Callable[[list[str]], list[Diagnostic]]
    total: re.Pattern[str] | None = None
    """The tool's own count of the errors, if it counts; the last group that matched is the number."""

    remedy: re.Pattern[str] | None = None
    """The tool's advice for many of them at once; the first group is shown."""

    is_shared: bool = True
    """Whether they are looked for in the texts of other compilers and linters too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A family of tools whose output no format reads."""

    name: str
    commands: tuple[Command, ...]
    """How its programs are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is known of a format before it is loaded."""

    name: str
    """Its name, which its facts carry; for a built-in format also that of its module."""

    markers: tuple[str, ...]
    """Plain strings of which a text of this format holds at least one; none means that any text may be of it."""

    programs: tuple[str, ...] = ()
    """The programs that print it, as a command line names them; each states by its last words how it ended."""

    closings: tuple[str, ...] = ()
    """Regular expressions without groups for the beginning of a line in which such a program says that it failed."""

    passes: tuple[str, ...] = ()
    """The same of lines in which it says that all went well: the last of both decides."""

    stacks: tuple[str, ...] = ()
    """The same of the first line of a stack that ends a program; a stack with output behind it is log."""

    margins: tuple[str, ...] = ()
    """The same of what stands before each line of others that it prints again."""

    notes: tuple[str, ...] = ()
    """The same of what stands before the level of a line that only informs or warns."""

    clues: tuple[str, ...] = ()
    """Strings of which each match of `closings` and `stacks` holds one, found by `make docs`; none means any text."""

    clues_of_passes: tuple[str, ...] = ()
    """The same of `passes`."""

    openings: tuple[str, ...] = ()
    """Strings of which one stands near the beginning of each text in which a tool itself refuses a call."""

    hints: tuple[Hint, ...] = ()
    """What to do about its failures where their cause does not say it."""

    tells_logs: bool = False
    """Whether its facts hold what failed tests have logged: any other line is of a test that passed."""

    has_diagnostics: bool = False
    """Whether texts of other compilers and linters may hold diagnostics of this format."""

    reads_all: bool = False
    """Whether it reads all of its texts: lines that it leaves out are mostly noise, or logged by tests that passed."""

    judges_code: bool = False
    """Whether its programs judge code: their words are about that code, and the same code fails again."""

    is_of_service: bool = False
    """Whether a server that answers may say when to come again."""

    rejects: tuple[str, ...] = ()
    """Its types of calls that were rejected before anything was executed; what holds a space begins such a cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(Listing):
    """One format, or one family of formats."""

    read: Callable[[Text], Facts | None]
    """Returns the facts of a text of this format, or nothing for other texts."""

    commands: tuple[Command, ...] = ()
    """How its programs are called, where more is known of them than their names."""

    diagnostics: Diagnostics | None = None
    """How its diagnostics are read in the texts of other compilers and linters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_diagnostics", self.diagnostics is not None and self.diagnostics.is_shared)
        own = (name for command in self.commands if command.prints is None for name in split_names(command.names))
        object.__setattr__(self, "programs", (*self.programs, *own))
