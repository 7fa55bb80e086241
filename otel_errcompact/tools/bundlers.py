"""Errors of JavaScript bundlers: webpack, esbuild, Rollup, Vite, and Next.js on top of them."""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.grammar import (
    Block,
    Command,
    Lines,
    Members,
    Rules,
    Text,
    find,
    find_blocks,
    form,
    read_total,
)
from otel_errcompact.extract.members import Member, facts_of_members

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_OF_WEBPACK: Final = "ERROR in "
_OF_ESBUILD: Final = "[ERROR] "
_OF_ESBUILD_API: Final = ": ERROR: "
_OF_VITE: Final = "error during build:"
_OF_VITE_SERVER: Final = "Internal server error: "
_OF_ROLLUP: Final = "[!] "
_OF_NEXT: Final = "Failed to compile"

_MAX_LINES: Final = 60
"""Lines of one error that are looked at."""

_KINDS: Final = Rules(r"""
ModuleNotFound  .*(?:(?:Could not|Can't|Failed to|failed to) resolve|Module not found|Cannot find module)
MissingExport   .*(?:(?:is|was) not exported by|No matching export|was not found in '|does not provide an export)
SyntaxError     .*(?:[Uu]nexpected|[Uu]nterminated|[Pp]arse (?:failed|error)|Syntax ?[Ee]rror)|Expected
""")
_WEBPACK: Final = form(r"(?:\[\w{1,20}\] )?ERROR in (?P<file>[^\s(]{1,500})(?:\((?P<row>{number}),|[ :]{line}:)?")
_MODULE: Final = form(r"\.\.?/{word} {number}:[0-9:-]{1,20}$")
_ESBUILD: Final = form(r"\S \[ERROR\] (?P<message>.{1,1000})")
_ESBUILD_API: Final = form(r"\s*(?P<file>(?:[A-Za-z]:)?{path}):{line}:{number}: ERROR: (?P<message>.{1,1000})")
_VITE: Final = form(r"\s*error during build:\s*$(?P<message>)")
_VITE_SERVER: Final = form(r"(?:[0-9: APM]{1,20} )?\[vite\] Internal server error: (?P<message>.{1,1000})")
_ROLLUP: Final = form(r"\[!\] (?P<message>\S.{0,1000})")
_NEXT_PLACE: Final = form(r"(?P<file>\.{0,2}/?[\w@().\[\]/-]{1,400}\.\w{1,4})(?::{line}:{number})?$")
_PLACE: Final = form(r"(?P<file>(?:[A-Za-z]:)?{path}):{line}:{number}:?$")
_FILE: Final = form(r"(?:file|File): (?P<file>(?:[A-Za-z]:)?{path})(?::{line}:{number})?$")
_AHEAD: Final = form(r"(?P<file>[^\s()]{1,500}) \({line}:{number}\): ")
_BEHIND: Final = form(
    r"(?: from |, imported by | in )['\"]?(?P<file>[\w@./\\:-]{1,500}\.\w{1,6})['\"]?\.?(?: Does the file exist\?)?$"
)
_FOLDER: Final = form(r" in '[^']{1,500}'$")
_POSITION: Final = form(r" \({line}:{number}\)")
_PREFIXES: Final = form(
    r"(?:\[[\w@:/ .-]{1,80}\]:? |\(plugin [^)]{1,80}\) |(?:Rollup|Module|Type|Syntax)?Error: "
    r"|Module not found: |Type error: |Rollup (?=failed)){1,4}"
)
_CODE: Final = form(r"(?P<code>TS[0-9]{3,5}): (?P<message>.*)")
_PATH_AHEAD: Final = form(r"(?:[A-Za-z]:)?/{path}: ")
_HEADING: Final = form(
    r"(?:Module build failed|Module Error|Transform failed|Build failed|Error:\s*$|RollupError:\s*$).{0,300}?:?$"
)
_SOURCE: Final = form(r"\s*(?:>\s*)?{number} {0,6}[|:\u2502]\s?(?P<source>.*)")
_MARK: Final = form(r"[\s|\u2502\u2575]*[\^~]+$")
_TOTAL: Final = form(r"(?m)(?:compiled with |^)(?P<count>{number}) errors?(?: in | and |$)")


def read(text: Text) -> Facts | None:
    """Return the facts of the errors that a bundler reports."""
    for marker, read in _READERS:
        members = [member for member in read(text.lines) if member.cause] if marker in text.body else []
        if members:
            return facts_of_members(members, unit="error", total=read_total(text.body, _TOTAL), first_is_root=True)
    return None


# --- the layouts -----------------------------------------------------------------------------------------------------


def _read_webpack(lines: Lines) -> Members:
    for head, below, _ in _find_headed_blocks(lines, _WEBPACK):
        block = [*takewhile(lambda line: bool(line.strip()) and not line.startswith(" @ "), below)]
        if any(not _MODULE.match(line) for line in block):
            yield _build_member(block, _build_location(head["file"], head["line"] or head["row"]))


def _read_esbuild(lines: Lines) -> Members:
    for head, block, _ in _find_headed_blocks(lines, _ESBUILD):
        place = find(_PLACE, map(str.strip, block[:3]))
        yield _build_member(
            [head["message"], *block], _build_location(place["file"], place["line"]) if place else NOWHERE
        )


def _esbuild_api(lines: Lines) -> Members:
    for head, block, _ in _find_headed_blocks(lines, _ESBUILD_API):
        yield _build_member([head["message"], *block], _build_location(head["file"], head["line"]))


def _read_stated(form: re.Pattern[str], lines: Lines) -> Members:
    return (_build_member([head["message"] or "", *block]) for head, block, _ in _find_headed_blocks(lines, form))


def _read_next_build(lines: Lines) -> Members:
    start = next((number for number, line in enumerate(lines) if line.rstrip(".") == _OF_NEXT), len(lines))
    for head, block, _ in _find_headed_blocks(lines[start + 1 :], _NEXT_PLACE):
        if block and block[0].strip():
            yield _build_member(block, _build_location(head["file"], head["line"]))


_READERS: Final = (
    (_OF_NEXT, _read_next_build),
    (_OF_WEBPACK, _read_webpack),
    (_OF_ESBUILD, _read_esbuild),
    (_OF_VITE, partial(_read_stated, _VITE)),
    (_OF_VITE_SERVER, partial(_read_stated, _VITE_SERVER)),
    (_OF_ROLLUP, partial(_read_stated, _ROLLUP)),
    (_OF_ESBUILD_API, _esbuild_api),
)


def _find_headed_blocks(lines: Lines, form: re.Pattern[str]) -> Iterator[Block]:
    return find_blocks(lines, form, most=_MAX_LINES)


def _build_location(file: str, line: str | None) -> Location:
    return Location(file=file.removeprefix("./"), line=int(line) if line else None)


# --- one error -------------------------------------------------------------------------------------------------------


def _build_member(block: Lines, place: Location = NOWHERE) -> Member:
    said = [line.strip() for line in block] or [""]
    at = next((number for number, line in enumerate(said) if line and not _HEADING.match(_strip_prefixes(line))), 0)
    message, place = _split_place(said[at], place)
    message, place = _placed_below(message, place, said[at + 1 :])
    kind, cause = _split_kind(message)
    source = _find_source(block)
    details = (f"> {source}",) if source else ()
    return Member(kind, cause, place, details=details)


def _split_place(message: str, place: Location) -> tuple[str, Location]:
    # Return a message without the places it begins or ends with, and the first of them where none is known yet.
    api = _ESBUILD_API.match(message)
    if api is not None:
        return api["message"], place or _build_location(api["file"], api["line"])
    message = _strip_prefixes(message)
    ahead = _AHEAD.match(message)
    if ahead is not None:
        message, place = message[ahead.end() :], place or _build_location(ahead["file"], ahead["line"])
    behind = _BEHIND.search(message)
    if behind is not None:
        place = place or _build_location(behind["file"], None)
        known = place.file.replace("\\", "/").endswith(behind["file"].lstrip("./"))
        message = message[: behind.start()] if known else message
    return _FOLDER.sub("", message), place


def _strip_prefixes(message: str) -> str:
    # Take off who says it: a plug-in, a class of errors.
    found = _PREFIXES.match(message)
    message = message[found.end() :] if found else message
    path = _PATH_AHEAD.match(message)
    return message[path.end() :] if path else message


def _placed_below(message: str, place: Location, below: Lines) -> tuple[str, Location]:
    # Return a message without its position, and the place where it, or a line below it, gives the line.
    named = find(_FILE, below[:12])
    if named is not None and (not place or place.line is None):
        place = _build_location(named["file"], named["line"])
    position = _POSITION.search(message)
    if position is None:
        return message, place
    if place and place.line is None:
        place = _build_location(place.file, position["line"])
    return message[: position.start()] + message[position.end() :], place


def _split_kind(message: str) -> tuple[str, str]:
    code = _CODE.match(message)
    return (code["code"], code["message"]) if code is not None else (_KINDS.type_of(message) or "BuildError", message)


def _find_source(block: Lines) -> str:
    for number in range(1, len(block)):
        found = _SOURCE.match(block[number - 1]) if _MARK.match(block[number]) else None
        if found is not None:
            return found["source"].strip()
    return ""


FORMAT: Final = Format(
    name="bundlers",
    read=read,
    markers=(_OF_WEBPACK, _OF_ESBUILD, _OF_ESBUILD_API, _OF_VITE, _OF_VITE_SERVER, _OF_ROLLUP, _OF_NEXT),
    commands=(
        Command("vite", subcommands="build dev preview"),
        Command("next", prints="bundlers javascript", subcommands="build dev lint start"),
        Command("next lint", prints="eslint"),
        Command("ng", subcommands="*"),
        Command("react-scripts", prints="bundlers jest"),
        Command("webpack, rollup, esbuild, parcel, nuxt, astro"),
    ),
    closings=(
        r"error during build:$",
        r"✘ \[ERROR\] ",
        r"ERROR in (?:\./|\S{1,200}\.\w)",
        r"Failed to compile\.?$",
        r"webpack [^\n]{1,40} compiled with [1-9][0-9]* errors?",
        r"> Build (?:error occurred|failed )",
        r"(?:✗ |✖ )?Build failed (?:with [1-9]|in [0-9]|because)",
        r"(?:Module not found: (?:Error: )?|\[vite\]: Rollup failed)",
    ),
    passes=(r"(?:✓|✔) built in ", r"(?:webpack [^\n]*)?compiled successfully", r" ?✓ Compiled successfully"),
)
