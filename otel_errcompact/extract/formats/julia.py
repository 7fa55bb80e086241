"""Errors of Julia with their stacks."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.format import Format
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text

_HEADER: Final = lazy_pattern(
    r"(?:ERROR|caused by): (?:LoadError: |InitError: ){0,20}"
    r"(?:(?P<type>\w{1,80}(?:Error|Exception)): )?(?P<said>\S.*)"
)
_STACK: Final = r"Stacktrace:\n {0,4}\[1\] \S"
_FRAME: Final = lazy_pattern(
    r" {0,4}\[[0-9]{1,4}\] (?P<function>top-level scope|macro expansion|[^\s(]{1,200})(?:\(.*?\))?"
    r"(?: \(repeats [0-9]{1,9} times\))? (?:at|@) (?:[A-Za-z][\w.]{0,100} )?(?P<file>[^\s:][^\n]{0,400}?)"
    r":(?P<line>[0-9]{1,7})(?: \[inlined\])?$"
)
_RUNTIME: Final = ("./", ".\\", "none", "string", "REPL[")
_FOREIGN: Final = lazy_pattern(r"[/\\](?:\.julia[/\\]packages|share[/\\]julia)[/\\]")
_WRAPS: Final = ("Failed to precompile ", "The following ")
_MAX_MESSAGE: Final = 30


def read(text: Text) -> Facts | None:
    """Return the facts of the last error and what it wraps."""
    lines = text.lines
    heads = [(number, found) for number, line in enumerate(lines) if (found := _HEADER.match(line))]
    if not heads or re.search(_STACK, text.body) is None:
        return None
    ends = (*(number for number, _ in heads[1:]), len(lines))
    failures = [_read(found, lines[start + 1 : end]) for (start, found), end in zip(heads, ends, strict=True)]
    # What Julia runs to precompile prints its own error before.
    return facts_of_stacks([sorted(failures, key=lambda failure: not failure.message.startswith(_WRAPS))])


def _read(head: re.Match[str], lines: Sequence[str]) -> Failure:
    more = takewhile(lambda line: not line.startswith(("Stacktrace:", "in expression ")), lines[:_MAX_MESSAGE])
    message = "\n".join((head["said"], *filter(str.strip, more)))
    frames = list(_iterate(lines))
    own = next((frame for frame in frames if _FOREIGN.search(frame.file) is None), None)
    return Failure(head["type"] or "ErrorException", message, own, next(iter(frames), None))


def _iterate(lines: Sequence[str]) -> Iterator[Frame]:
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
    programs=("julia",),
    closings=(r"ERROR: LoadError: ",),
    stacks=(_STACK,),
)
