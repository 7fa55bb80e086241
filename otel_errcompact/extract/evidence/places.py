"""Places in prose: `a/b.py:3`, `line 3 of a.conf`, `at a.cfg(3)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_DRIVE: Final = r"(?:[A-Za-z]:[\\/])?"
_FILE: Final = rf"{_DRIVE}(?:[\w@+~./\\-]{{0,200}}[\w@+~-]\.[A-Za-z]\w{{0,9}}|[\w@+~./\\-]{{0,200}}/[\w@+~-]{{1,100}})"
"""A path, or a name with an ending."""

_PLACES: Final = lazy_pattern(
    rf"(?<![\w/@.:-])(?P<file>{_FILE})[`'\"]?(?:[:(] ?|(?:,|:)? ?(?:\(|at |on |in )?(?i:line):? )"
    r"(?P<line>[0-9]{1,7})(?![\w.])"
    r"|\b(?i:line):? (?P<line_of>[0-9]{1,7})(?:,? col(?:umn)? [0-9]{1,7})?,? (?:of|in|at|from)(?: file)?"
    rf" [`'\"]?(?P<file_of>{_FILE})"
)
_HINTS: Final = lazy_pattern(r"[:(][0-9]|(?i:line):? ?[0-9]|, line")
_HOST: Final = lazy_pattern(
    r"(?:\d{1,3}\.){3}\d{1,3}$|.*\.(?:com|org|net|io|local|internal|lan|svc|dev|cloud|edu|gov|de|eu|uk|fr|cluster|home|corp"
    r"|test|example|invalid|localdomain|app|ai)$",
    re.IGNORECASE,
)
"""A host, whose port is no line."""

_SCRATCH: Final = lazy_pattern(
    r"(?:.*[/\\])?(?:tmp[\w-]{5,}|[0-9a-f-]{16,}|ipython-input\S*|cell|stdin|string)(?:\.\w+)?$|/dev/|/proc/"
    r"|-c$|.*/(?:tmp|temp)/tmp[\w.-]{4,}/",
    re.IGNORECASE,
)
"""Files that an agent or a harness wrote for one call."""


def find_place(lines: Iterable[str]) -> Location:
    """Return the first place of the lines, unless a scratch file."""
    for line in lines:
        if _HINTS.search(line) is None:
            continue
        for found in _PLACES.finditer(line):
            file, number = found["file"] or found["file_of"], found["line"] or found["line_of"]
            is_url = "//" in line[max(0, found.start() - 3) : found.end()]
            if not is_url and not _HOST.match(file) and not _SCRATCH.match(file):
                return Location(file=file, line=int(number))
    return NOWHERE
