"""Frames that Ruby prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

_FOREIGN: Final = ("/gems/", "/usr/lib/ruby", "<internal:", "vendor/", "/lib/ruby/", "/rubygems", "(eval", "/bin/")
PLACE: Final = r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]{0,400}|<internal:[^>\n]{1,300}>):(?P<line>[0-9]{1,7})"
_FRAME: Final = lazy_pattern(rf"(?:from |# |[0-9]{{1,5}}: from )?{PLACE}(?::in [`'](?P<function>[^'\n]{{1,300}})')?$")


def is_own(file: str) -> bool:
    """Tell whether a Ruby file is the user's own: not installed, and not of the language."""
    return not any(part in file for part in _FOREIGN)


def frame_of(line: str) -> Frame | None:
    """Read one line of a backtrace, however it is introduced."""
    line = line.strip()
    found = _FRAME.match(line) if ":" in line else None
    return matched_frame(found) if found is not None else None


def matched_frame(found: re.Match[str]) -> Frame:
    """Return the frame of a line that a pattern with `PLACE` matches."""
    return Frame(found["file"].removeprefix("./"), int(found["line"]), _clean_function_name(found["function"] or ""))


def _clean_function_name(name: str) -> str:
    if name.startswith("<"):
        return ""
    name = name.rpartition(" in ")[2]
    return "" if name.startswith("<") else name
