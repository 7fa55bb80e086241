"""What stands before every line because a runner or a collector of logs put it there: a time, the name of a service."""

from __future__ import annotations

import re
from typing import Final

MIN_LINES: Final = 3
"""Lines of a text below which a common beginning may be chance."""

_TIME: Final = (
    r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})\]?"
)
_JOB_AND_STEP: Final = r"(?:[^\t\n]{1,200}\t[^\t\n]{1,200}\t)?"
_LEVEL: Final = r"(?:##\[(?:error|warning|debug)\])?"
_SERVICE: Final = r"[A-Za-z][\w.-]{0,60} +\|"
_TASK: Final = r"@?[A-Za-z][\w./-]{0,80}:[a-z][\w-]{0,40}:"
_FORMS: Final = {
    re.compile(rf"{_JOB_AND_STEP}{_TIME}(?: |(?=\n)|$){_LEVEL}"): 1,
    re.compile(rf"{_SERVICE}(?: |(?=\n)|$)"): MIN_LINES,
    re.compile(rf"{_TASK}(?: |(?=\n)|$)"): MIN_LINES,
}
"""What a line may begin with, and how many lines must."""

_ANY: Final = re.compile("|".join(form.pattern for form in _FORMS))
_WITHOUT: Final = re.compile(r"$|\S{1,60} exited with code |    \.\.\. ")
"""Lines that have no prefix among others that have one."""


def strip_prefixes(text: str) -> str:
    """
    Return `text` without what all its lines begin with: the time (and what GitHub puts beside it), the service
    (`web-1  | `) or the task (`web:test: `).
    """
    if _ANY.match(text) is None:
        return text
    form = next(form for form in _FORMS if form.match(text))
    lines = _strip_prefix(form, text.split("\n"))
    return "\n".join(lines).strip("\n") if lines is not None else text


def _strip_prefix(form: re.Pattern[str], lines: list[str]) -> list[str] | None:
    """Return the lines without what matches `form`; nothing if too few have it."""
    kept: list[str] = []
    count = 0
    for line in lines:
        found = form.match(line)
        if found is None and not _WITHOUT.match(line):
            return None
        count += found is not None
        kept.append(line[found.end() :] if found is not None else line)
    return kept if count >= _FORMS[form] else None
