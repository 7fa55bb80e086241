"""Forms of lines: patterns whose placeholders carry their bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.runtime.lazy import lazy_pattern

Found = re.Match[str]
Lines = Sequence[str]

_SHAPES: Final = {
    "path": r"[^\s:]{1,400}",
    "number": r"[0-9]{1,9}",
    "word": r"\S{1,400}",
    "name": r"\w{1,200}",
    "rest": r".{0,2000}",
    "quoted": r"\"[^\"\n]{1,400}\"",
    "file": r"(?P<file>[^\s:]{1,400})",
    "line": r"(?P<line>[0-9]{1,9})",
    "script": r'File "(?P<file>[^"\n]{1,1000}(?:"(?!, line )[^"\n]{0,1000}){0,8})", line (?P<line>[0-9]{1,9})',
    "message": r"(?P<message>\S.*)",
}
"""What the placeholders stand for, with their bounds; `file`, `line` and `message` are groups, in `script` too."""

PLACEHOLDER: Final = lazy_pattern(r"\{([a-z]+)\}")
"""What stands for a shape in a form, and for a group in what is said of it."""


def form(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern with placeholders, compiled when it is first used."""
    return lazy_pattern(partial(fill, pattern), flags)


def fill(pattern: str) -> str:
    """Return a pattern with what its placeholders stand for."""
    return PLACEHOLDER.sub(lambda found: _SHAPES[found[1]], pattern)


def find(wanted: re.Pattern[str], lines: Iterable[str], begins: str = "") -> Found | None:
    """
    Return the first match of a form in lines.

    The form is not even compiled where no line has the beginning that is given.
    """
    return next(_iterate_matches(wanted, lines, begins), None)


def find_all(wanted: re.Pattern[str], lines: Iterable[str], begins: str = "") -> list[Found]:
    """Return all matches of a form in lines."""
    return list(_iterate_matches(wanted, lines, begins))


def _iterate_matches(wanted: re.Pattern[str], lines: Iterable[str], begins: str) -> Iterator[Found]:
    if begins:
        lines = [line for line in lines if line.startswith(begins)]
    return filter(None, map(wanted.match, lines)) if lines else iter(())


def place_of(found: Found | None) -> Location:
    """Return the place that the groups of a match name."""
    if found is None:
        return NOWHERE
    groups = found.groupdict("")
    file, function, line = groups.get("file", ""), groups.get("function", ""), groups.get("line", "")
    return Location(function=function, file=file, line=int(line) if line else None) if file or function else NOWHERE


def read_total(body: str, *totals: re.Pattern[str]) -> int:
    """Return the tool's own count: the sum of the groups of a form."""
    found = next(filter(None, (total.search(body) for total in totals)), None)
    return sum(int(count) for count in found.groups() if count) if found else 0
