"""Errors that end R's scripts and its installations."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from otel_errcompact.extract.findings.places import find_place
from otel_errcompact.extract.grammar import NOWHERE, Command, Facts, Format, Text, clip, details, form

_ERROR: Final = form(r"Error(?: in (?P<call>`[^`]{1,300}`(?=:)|.{1,300}?(?= :)))? ?: ?(?P<said>.*)$")
_HALTED: Final = "Execution halted"
_OF_PACKAGE: Final = r"ERROR: \S[^\n]{1,1000} for package \S"
_END: Final = form(rf"{_HALTED}$|{_OF_PACKAGE}")
_ADDED: Final = ("Calls: ", "In addition: ", "Warning message")
_BEHIND: Final = ("Backtrace:", _HALTED, "ERROR: ")
_MAX_LINES: Final = 20


def read(text: Text) -> Facts | None:
    """Return the error that halted R."""
    lines = [line.strip() for line in text.lines]
    number, found = next(((n, at) for n in reversed(range(len(lines))) if (at := _ERROR.match(lines[n]))), (0, None))
    if found is None or not any(map(_END.match, lines[number + 1 :])):
        return None
    block = list(takewhile(lambda line: not line.startswith(_BEHIND), lines[number + 1 : number + _MAX_LINES]))
    own = list(takewhile(lambda line: not line.startswith(_ADDED), block))
    words = [line for line in (found["said"], *own) if line.strip("^ ")]
    place = next(filter(None, map(find_place, words)), None)
    # Below what could not be parsed stands its source.
    parsed = place.behind.strip(": ") if place is not None and not place.before else ""
    marked = next((line for line in words if line.startswith("! ")), "")
    cause = parsed or marked[2:] or " ".join(words)
    added = block if parsed or marked else block[len(own) :]
    more = (line for line in added if line.strip("^ ") and line != marked)
    return Facts(
        type="Error",
        cause=clip(cause),
        location=place.location if place is not None else NOWHERE,
        details=details((f"> {found['call']}" if found["call"] else "", *more)),
    )


FORMAT: Final = Format(
    name="r",
    read=read,
    markers=(_HALTED, " for package "),
    commands=(Command("Rscript", interprets=True), Command("R, r")),
    closings=(rf"{_HALTED}$", _OF_PACKAGE, r"Status: [1-9][0-9]{0,3} ERROR|\[ FAIL [1-9]"),
)
