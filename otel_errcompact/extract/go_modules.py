"""Lines with which the Go command says what it cannot load."""

from __future__ import annotations

from typing import Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.forms import Found, Lines, form, place_of
from otel_errcompact.extract.members import MAX_MEMBERS, Member

_PLACE: Final = form(r"(?P<file>{path}\.go):{line}(?::{number})?: ")
_LOADING: Final = form(
    r"no required module provides package |package [^\s;]{1,300} is not in (?:std|GOROOT)|missing go\.sum entry "
    r"|cannot find (?:package|module) |import cycle not allowed|import {quoted} is a program, not an import"
    r"|use of internal package |build constraints exclude all Go files|found packages |no Go files in "
    r"|module [^\s]{1,300} provides package |ambiguous import: |case-insensitive import |malformed import path "
    r"|relative import path |local import "
)
_GO: Final = form(
    r"go: (?!downloading |finding |extracting |added |upgraded |removed |downgraded |found |trying |warning: "
    r"|creating |to add ){message}"
)
_PATTERN: Final = form(r"pattern {path}: (?:directory prefix |no matching |cannot find ).+")
_IMPORTS: Final = form(r"\t?(?:package|imports) (?P<package>{path})(?: from {file})?(?:: import cycle not allowed)?$")
_CYCLE: Final = ": import cycle not allowed"
_ADVICE: Final = ("; to add it:", "; to add:", "; see ")


def members_of(lines: Lines) -> list[Member]:
    """Return a member for each line that says what could not be loaded; lines of other forms do not count."""
    members: list[Member] = []
    for number, line in enumerate(lines):
        member = _cycle(lines, number) if line.endswith(_CYCLE) else None
        if member is None and line[:1] not in ("\t", " "):
            member = _member(line, lines[number + 1 : number + 4])
        if member is not None:
            members.append(member)
        if len(members) >= MAX_MEMBERS:
            break
    return members


def _member(line: str, after: Lines) -> Member | None:
    place = _PLACE.match(line)
    said = line[place.end() :] if place else line
    go = None if place else _GO.match(line)
    if go is None and not _LOADING.match(said) and not _PATTERN.match(said):
        return None
    message = go["message"] if go else said
    indented = [other.strip() for other in after[: 1 if message.endswith(" go.mod:") else _indented(after)]]
    if message.endswith(":") and indented and not message.endswith(_ADVICE[:2]):
        message = f"{message} {indented.pop(0)}"
    for advice in _ADVICE[:2]:
        message = message.removesuffix(advice)
    location = place_of(place)
    return Member("go", message, location, details=tuple(indented))


def _indented(lines: Lines) -> int:
    return next((number for number, line in enumerate(lines) if line[:1] not in ("\t", " ")), len(lines))


def _cycle(lines: Lines, end: int) -> Member | None:
    imports: list[Found] = []
    for line in reversed(lines[max(0, end - 50) : end + 1]):
        found = _IMPORTS.match(line)
        if found is None or (imports and line.endswith(_CYCLE)):
            break
        imports.append(found)
    if not imports:
        return None
    names = [found["package"] for found in reversed(imports)]
    if names.count(names[-1]) > 1:
        names = names[names.index(names[-1]) :]
    return Member("go", f"import cycle not allowed: {' -> '.join(names)}", Location(file=imports[0]["file"] or ""))
