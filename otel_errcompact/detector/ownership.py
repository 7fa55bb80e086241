"""Which texts a format owns."""

from __future__ import annotations

from functools import cache

from otel_errcompact.detector.closing import formats_of, prints_what_others_say
from otel_errcompact.detector.roles import list_invocations
from otel_errcompact.extract.table import UNREAD, listings


def owns_statement(name: str, stated: str) -> bool:
    """
    Tell whether a format is what stated a failure.

    Where it was declared, or the whole answer is one error value, any format is.
    """
    return stated in ("", name) or stated not in _list_names()


@cache
def _list_names() -> frozenset[str]:
    return frozenset(listing.name for listing in listings())


def owns_text(name: str, tool: str, arguments: str) -> bool:
    """
    Tell whether a format knows all of the text it has read.

    What a command line prints beside the program that failed is an answer: where one of its programs prints what others
    say, or where of several one is unknown, the text stays.
    """
    if name in UNREAD:
        return False
    programs = _programs_of(tool, arguments)
    if any(map(prints_what_others_say, programs)):
        return False
    if len(programs) > 1 and not all(map(formats_of, programs)):
        return False
    return not programs or name in _of_any_program() or any(name in formats_of(program) for program in programs)


@cache
def _of_any_program() -> frozenset[str]:
    # What ends with a tally or a stack does so whatever has run it.
    return frozenset(listing.name for listing in listings() if listing.passes or listing.stacks)


def chooses_lines(tool: str, arguments: str) -> bool:
    """Tell whether a command line itself chooses what it shows."""
    return any(prints_what_others_say(run.program) for run in list_invocations(tool, arguments))


def _programs_of(tool: str, arguments: str) -> list[str]:
    # What a pipe brings is filtered, and not added to.
    runs = list_invocations(tool, arguments)
    return [run.program for run in runs if not (run.piped and prints_what_others_say(run.program))]
