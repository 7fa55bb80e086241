"""Errors of Julia with their stacks."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Found, Lines, Text, find_blocks, form
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.printed import facts_of_stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER: Final = form(
    r"(?:ERROR|caused by): (?:LoadError: |InitError: ){0,20}(?:(?P<type>\w{1,80}(?:Error|Exception)): )?(?P<said>\S.*)"
)
_STACK: Final = r"Stacktrace:\n {0,4}\[1\] \S"
_FRAME: Final = form(
    r" {0,4}\[{number}\] (?P<function>top-level scope|macro expansion|[^\s(]{1,200})(?:\(.*?\))?"
    r"(?: \(repeats {number} times\))? (?:at|@) (?:[A-Za-z][\w.]{0,100} )?(?P<file>[^\s:][^\n]{0,400}?)"
    r":{line}(?: \[inlined\])?$"
)
_RUNTIME: Final = ("./", ".\\", "none", "string", "REPL[")
_FOREIGN: Final = form(r"[/\\](?:\.julia[/\\]packages|share[/\\]julia)[/\\]")
_WRAPS: Final = ("Failed to precompile ", "The following ")
_MAX_MESSAGE: Final = 30


def read(text: Text) -> Facts | None:
    """Return the facts of the last error and what it wraps."""
    lines = text.lines
    if re.search(_STACK, text.body) is None:
        return None
    failures = [_read_failure(block.head, block.lines) for block in find_blocks(lines, _HEADER, most=len(lines))]
    if not failures:
        return None
    # What Julia runs to precompile prints its own error before.
    return facts_of_stacks([sorted(failures, key=lambda failure: not failure.message.startswith(_WRAPS))])


def _read_failure(head: Found, lines: Lines) -> Failure:
    more = takewhile(lambda line: not line.startswith(("Stacktrace:", "in expression ")), lines[:_MAX_MESSAGE])
    message = "\n".join((head["said"], *filter(str.strip, more)))
    frames = list(_iterate_frames(lines))
    own = next((frame for frame in frames if _FOREIGN.search(frame.file) is None), None)
    return Failure(head["type"] or "ErrorException", message, own, next(iter(frames), None))


def _iterate_frames(lines: Lines) -> Iterator[Frame]:
    for line, below in zip(lines, (*lines[1:], ""), strict=True):
        place = below.strip()
        found = _FRAME.match(f"{line} {place}" if place.startswith("@ ") else line) if "[" in line[:6] else None
        if found is not None and not found["file"].startswith(_RUNTIME):
            name = found["function"]
            yield Frame(found["file"], int(found["line"]), "" if " " in name or name == "include" else name)


FORMAT: Final = Format(
    name="julia",
    read=read,
    markers=("Stacktrace:\n",),
    commands=(Command("julia", interprets=True),),
    closings=(r"ERROR: LoadError: ",),
    stacks=(_STACK,),
)
