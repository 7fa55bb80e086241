"""Errors of CMake while it configures or generates a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


_ERROR: Final = lazy_pattern(
    r"CMake (?:Internal )?Error(?: in (?P<in>[^\s:]{1,400})"
    r"| at (?P<file>[^\s:(]{1,400})(?::(?P<line>[0-9]{1,9}))?(?: \((?P<command>[^)]{1,100})\))?)?:"
    r"(?: (?P<message>\S.*))?$"
)
_CALL: Final = lazy_pattern(r"  (?P<file>\S[^:]{0,400}):(?P<line>[0-9]{1,9}) \((?P<command>[^)]{1,100})\)$")
_STACK: Final = "Call Stack (most recent call first):"
_INCOMPLETE: Final = "-- Configuring incomplete, errors occurred!"
_FOREIGN: Final = lazy_pattern(
    r"(?:.{0,300}[/\\]share[/\\]cmake-[0-9.]{1,20}[/\\]|.{0,300}[/\\]cmake[/\\]data[/\\]share[/\\])"
)
_BOILERPLATE: Final = (
    "By not providing",
    "Add the installation prefix",
    "Tried extensions",
    "Reason given by package:",
    "Specify --help",
    "Tell CMake where to find the compiler by setting",
)


def read(text: Text) -> Facts | None:
    """Return the facts of the errors that CMake reports; the first one tends to cause the others."""
    lines = text.lines
    members = [_member(found, lines[at + 1 : end]) for at, found, end in _blocks(lines)]
    if not members:
        return _read_incomplete(lines)
    return facts_of_members(members, unit="error", first_is_root=True)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str], int]]:
    """Yield each error's line, what it says, and the first line behind the error."""
    for number, line in enumerate(lines):
        found = _ERROR.match(line) if line.startswith("CMake ") else None
        if found is None:
            continue
        end = number + 1
        while end < len(lines) and (not lines[end] or lines[end].startswith("  ") or lines[end] == _STACK):
            end += 1
        yield number, found, end


def _member(found: re.Match[str], block: Sequence[str]) -> Member:
    stack = block.index(_STACK) if _STACK in block else len(block)
    calls = [match for line in block[stack + 1 :] if (match := _CALL.match(line))]
    paragraphs = list(_paragraphs(found["message"] or "", block[:stack]))
    cause, rest = _cause(paragraphs)
    place = _place(found) if found["file"] else Location(file=found["in"] or "")
    own = [call for call in calls if not _FOREIGN.match(call["file"])]
    if _FOREIGN.match(place.file) and own:
        place = _place(own.pop(0))
    callers = (f"called from {_place(call)}" for call in own[:2])
    return Member("CMakeError", cause, place, details=(*rest[:2], *callers))


def _place(found: re.Match[str]) -> Location:
    line = int(found["line"]) if found["line"] else None
    return Location(function=found["command"] or "", file=found["file"], line=line)


def _paragraphs(first: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of a message, whose lines CMake has broken at 77 characters; lists as one line."""
    parts = [first] if first else []
    for line in (*lines, ""):
        if line.strip():
            parts.append(line.strip())
        elif parts:
            yield " ".join(" ".join(parts).split())
            parts = []


def _cause(paragraphs: Sequence[str]) -> tuple[str, list[str]]:
    """Return the paragraph that states the cause, with the list it announces, and the paragraphs behind it."""
    kept = [paragraph for paragraph in paragraphs if not paragraph.startswith(_BOILERPLATE)] or list(paragraphs)
    if not kept:
        return "no message", []
    cause, rest = kept[0], kept[1:]
    if cause.endswith(":") and rest:
        cause = f"{cause} {rest.pop(0)}"
    return cause, rest


def _read_incomplete(lines: Sequence[str]) -> Facts | None:
    """Read an output whose errors are cut off, or were written elsewhere."""
    if _INCOMPLETE not in lines:
        return None
    before = [line for line in lines[: lines.index(_INCOMPLETE)] if line and not line.startswith("-- ")]
    said = " ".join(line.strip() for line in before[-3:])
    cause = f"Configuring incomplete: {said}" if said else "Configuring incomplete, errors occurred"
    return facts_of_members([Member("CMakeError", cause, NOWHERE)], unit="error")


FORMAT: Final = Format(
    name="cmake",
    read=read,
    markers=("CMake Error", "Configuring incomplete"),
    programs=("cmake", "ctest"),
    closings=(
        r"The following tests FAILED:",
        r"-- Configuring incomplete, errors",
        r"[0-9]+% tests passed, [1-9]",
        r"CMake Error",
    ),
    passes=(r"100% tests passed",),
)
