"""Comparisons that failed, as a printed difference tells them: the lines of the one value, the lines of the other."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from otel_errcompact.extract.clipping import CUT, clip
from otel_errcompact.extract.forms import Lines, form

MAX_CHANGED: Final = 3
"""Changed lines of either value that are told in the cause."""

MAX_LINES: Final = 400
"""Lines of a printed difference that are looked at."""

MAX_VALUE: Final = 120
"""Characters of either value in the cause."""

_LEGEND: Final = form(
    r"[+-] (?:actual|expected|received|snapshot):?(?: +[+-] ?(?:{number}|actual|expected))?$", re.IGNORECASE
)
_UNEQUAL: Final = (" !== ", " != ")


class Changes(NamedTuple):
    """The lines in which two values differ."""

    expected: tuple[str, ...] = ()
    actual: tuple[str, ...] = ()

    def told(self, claim: str, *, actual: str = "actual") -> str:
        """Return `claim` with both values, in one line; `actual` is what the tool calls the value it got."""
        values = (("expected", self.expected), (actual, self.actual))
        said = ", ".join(f"{name} {_join_value(lines)}" for name, lines in values if lines)
        return f"{claim}: {said}" if said else claim


def read_changes(lines: Lines, *, expected: str) -> Changes:
    """
    Return the changed lines of a printed difference.

    They begin with `+` or `-`: `expected` is the sign of the expected value.
    """
    found: dict[str, list[str]] = {"+": [], "-": []}
    for line in lines[:MAX_LINES]:
        stripped = line.strip()
        sign, value = stripped[:1], stripped[1:].strip().rstrip(",")
        if sign in found and value.strip("+-") and _LEGEND.match(stripped) is None:
            found[sign].append(value)
        elif not found["+"] and not found["-"] and any(unequal in line for unequal in _UNEQUAL):
            actual, _, wanted = stripped.replace(*_UNEQUAL).partition(_UNEQUAL[1])
            return Changes((wanted.strip(),), (actual.strip(),))
    return Changes(tuple(found[expected]), tuple(found["-" if expected == "+" else "+"]))


def _join_value(lines: Lines) -> str:
    left = f", {CUT}" if len(lines) > MAX_CHANGED else ""
    return clip(", ".join(lines[:MAX_CHANGED]), MAX_VALUE) + left
