"""Errors of CMake while it configures or generates a build."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.grammar import (
    Block,
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Text,
    find_all,
    find_blocks,
    form,
)
from otel_errcompact.extract.members import Member, facts_of_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ERROR: Final = form(
    r"CMake (?:Internal )?Error(?: in (?P<in>{path})| at (?P<file>[^\s:(]{1,400})(?::{line})?(?: \("
    r"(?P<command>[^)]{1,100})\))?)?:(?: {message})?$"
)
_CALL: Final = form(r"  (?P<file>\S[^:]{0,400}):{line} \((?P<command>[^)]{1,100})\)$")
_STACK: Final = "Call Stack (most recent call first):"
_INCOMPLETE: Final = "-- Configuring incomplete, errors occurred!"
_FOREIGN: Final = form(r"(?:.{0,300}[/\\]share[/\\]cmake-[0-9.]{1,20}[/\\]|.{0,300}[/\\]cmake[/\\]data[/\\]share[/\\])")
_BOILERPLATE: Final = (
    "By not providing", "Add the installation prefix", "Tried extensions", "Reason given by package:",
    "Specify --help", "Tell CMake where to find the compiler by setting",
)  # fmt: skip


def read(text: Text) -> Facts | None:
    """Return the facts of the errors that CMake reports; the first one tends to cause the others."""
    members = map(_build_member, find_blocks(text.lines, _ERROR))
    return facts_of_members(members, unit="error", first_is_root=True) or _read_incomplete(text.lines)


def _build_member(error: Block) -> Member:
    found = error.head
    block = list(takewhile(lambda line: not line or line.startswith("  ") or line == _STACK, error.lines))
    stack = block.index(_STACK) if _STACK in block else len(block)
    calls = find_all(_CALL, block[stack + 1 :])
    paragraphs = list(_join_paragraphs(found["message"] or "", block[:stack]))
    cause, rest = _split_cause(paragraphs)
    place = _read_place(found) if found["file"] else Location(file=found["in"] or "")
    own = [call for call in calls if not _FOREIGN.match(call["file"])]
    if _FOREIGN.match(place.file) and own:
        place = _read_place(own.pop(0))
    callers = (f"called from {_read_place(call)}" for call in own[:2])
    return Member("CMakeError", cause, place, details=(*rest[:2], *callers))


def _read_place(found: Found) -> Location:
    line = int(found["line"]) if found["line"] else None
    return Location(function=found["command"] or "", file=found["file"], line=line)


def _join_paragraphs(first: str, lines: Iterable[str]) -> Iterator[str]:
    # Yield the paragraphs of a message, whose lines CMake has broken at 77 characters; lists as one line.
    parts = [first] if first else []
    for line in (*lines, ""):
        if line.strip():
            parts.append(line.strip())
        elif parts:
            yield " ".join(" ".join(parts).split())
            parts = []


def _split_cause(paragraphs: Lines) -> tuple[str, list[str]]:
    kept = [paragraph for paragraph in paragraphs if not paragraph.startswith(_BOILERPLATE)] or list(paragraphs)
    if not kept:
        return "no message", []
    cause, rest = kept[0], kept[1:]
    if cause.endswith(":") and rest:
        cause = f"{cause} {rest.pop(0)}"
    return cause, rest


def _read_incomplete(lines: Lines) -> Facts | None:
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
    commands=(Command("cmake", speaks="cmake"), Command("ctest", prints="cmake junit testrunners", scopes="-R -E -L")),
    closings=(
        r"The following tests FAILED:",
        r"-- Configuring incomplete, errors",
        r"[0-9]+% tests passed, [1-9]",
        r"CMake Error",
    ),
    passes=(r"100% tests passed",),
)
