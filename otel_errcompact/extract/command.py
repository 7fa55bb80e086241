"""How programs are called: what their words, options and statuses mean."""

from __future__ import annotations

from typing import NamedTuple


class Checker(NamedTuple):
    """
    The options of a program that checks everything unless given targets.

    Each is a list that spaces part.
    """

    harmless: str = ""
    """Options that leave nothing out."""

    with_value: str = ""
    """As `harmless`, with a value."""

    narrowing: str = ""
    """Options with a value that leave things out."""

    narrowing_flags: str = ""
    """Options without a value that leave things out."""

    everything: str = "."
    """Targets that mean everything."""

    bare: str = ""
    """The target where none is given; everything if empty."""

    patterns: bool = False
    """Whether a folder stands for all below it only as `folder/...`."""

    needs_target: bool = False
    """Whether it is not certain what runs where no target is given."""


class Command(NamedTuple):
    """
    How a program, or one with its subcommand, is called.

    Lists of words and options are parted by spaces.
    """

    names: str
    """Its names, parted by commas; each stands in one row of one tool."""

    prints: str | None = None
    """The formats that its output may be of; without it, that of its own tool."""

    subcommands: str = ""
    """The words behind it that are subcommands; `*` where any first word is one."""

    scope: str = ""
    """A word that, with the name of a part of the project behind it, stands before the subcommand."""

    tasks: str = ""
    """Options that name a task, as a subcommand does."""

    scopes: str = ""
    """Options that name a target, of one letter or of no other program."""

    texts: str = ""
    """Options whose value is no target."""

    takes_script: bool = False
    """Whether its first word is a pattern or a script, no target."""

    module_option: str = ""
    """Of an interpreter, the option that names a module in place of a script."""

    interprets: bool = False
    """Whether it runs the script that its first word names; a version may stand behind its name."""

    wraps: bool = False
    """Whether it runs the command behind its options."""

    carries: bool = False
    """As `wraps`, elsewhere: on the host or in the container that is named first."""

    values: str = ""
    """Options with a value of one that wraps or carries."""

    skips: int = 0
    """Words between its options and the command that it wraps."""

    helps: bool = False
    """Whether it only helps where a command line runs others as well."""

    speaks: str = ""
    """The names before its errors, its own and of what comes with it; behind a comma those that loggers have too."""

    reads: bool = False
    """Whether it prints what others have said: of itself it states nothing."""

    runs_any: bool = False
    """Whether it runs what files or hosts say: each format may speak there."""

    answers: tuple[int, ...] = ()
    """Statuses by which it answers a question."""

    asks: str = ""
    """Options with which it does so by 1, or by any status where it says nothing."""

    looks_up: bool = False
    """Whether a single word behind it is such a question."""

    answers_in_silence: bool = False
    """Whether a failing status without a word is an answer."""

    waits: tuple[int, ...] = ()
    """Statuses that mean that the other side is not there yet."""

    checks: Checker | None = None
    """How it is called, where its success is that of all which lies within its targets."""
