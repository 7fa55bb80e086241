"""Errors of JavaScript bundlers: webpack, esbuild, Rollup, Vite, and Next.js on top of them."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.format import Format, split_names
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


_OF_WEBPACK: Final = "ERROR in "
_OF_ESBUILD: Final = "[ERROR] "
_OF_ESBUILD_API: Final = ": ERROR: "
_OF_VITE: Final = "error during build:"
_OF_VITE_SERVER: Final = "Internal server error: "
_OF_ROLLUP: Final = "[!] "
_OF_NEXT: Final = "Failed to compile"

_MAX_LINES: Final = 60
"""Lines of one error that are looked at."""

_KINDS: Final = (
    (
        lazy_pattern(r"(?:Could not|Can't|Failed to|failed to) resolve|Module not found|Cannot find module"),
        "ModuleNotFound",
    ),
    (
        lazy_pattern(r"(?:is|was) not exported by|No matching export|was not found in '|does not provide an export"),
        "MissingExport",
    ),
    (
        lazy_pattern(r"[Uu]nexpected|^Expected|[Uu]nterminated|[Pp]arse (?:failed|error)|Syntax ?[Ee]rror"),
        "SyntaxError",
    ),
)
_BUILD_ERROR: Final = "BuildError"

_WEBPACK: Final = lazy_pattern(
    r"(?:\[\w{1,20}\] )?ERROR in (?P<file>[^\s(]{1,500})(?:\((?P<row>[0-9]{1,7}),|[ :](?P<line>[0-9]{1,7}):)?"
)
_MODULE: Final = lazy_pattern(r"\.\.?/\S{1,500} [0-9]{1,7}:[0-9:-]{1,20}$")
_ESBUILD: Final = lazy_pattern(r"\S \[ERROR\] (?P<message>.{1,1000})")
_ESBUILD_API: Final = lazy_pattern(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:]{1,500}):(?P<line>[0-9]{1,7}):[0-9]{1,7}: ERROR: (?P<message>.{1,1000})"
)
_VITE_SERVER: Final = lazy_pattern(r"(?:[0-9: APM]{1,20} )?\[vite\] Internal server error: (?P<message>.{1,1000})")
_ROLLUP: Final = lazy_pattern(r"\[!\] (?P<message>\S.{0,1000})")
_NEXT_PLACE: Final = lazy_pattern(
    r"(?P<file>\.{0,2}/?[\w@().\[\]/-]{1,400}\.\w{1,4})(?::(?P<line>[0-9]{1,7}):[0-9]{1,7})?$"
)
_PLACE: Final = lazy_pattern(r"(?P<file>(?:[A-Za-z]:)?[^\s:]{1,500}):(?P<line>[0-9]{1,7}):[0-9]{1,7}:?$")
_FILE: Final = lazy_pattern(
    r"(?:file|File): (?P<file>(?:[A-Za-z]:)?[^\s:]{1,500})(?::(?P<line>[0-9]{1,7}):[0-9]{1,7})?$"
)
_AHEAD: Final = lazy_pattern(r"(?P<file>[^\s()]{1,500}) \((?P<line>[0-9]{1,7}):[0-9]{1,7}\): ")
_BEHIND: Final = lazy_pattern(
    r"(?: from |, imported by | in )['\"]?(?P<file>[\w@./\\:-]{1,500}\.\w{1,6})['\"]?\.?(?: Does the file exist\?)?$"
)
_FOLDER: Final = lazy_pattern(r" in '[^']{1,500}'$")
_POSITION: Final = lazy_pattern(r" \((?P<line>[0-9]{1,7}):[0-9]{1,7}\)")
_PREFIXES: Final = lazy_pattern(
    r"(?:\[[\w@:/ .-]{1,80}\]:? |\(plugin [^)]{1,80}\) |(?:Rollup|Module|Type|Syntax)?Error: "
    r"|Module not found: |Type error: |Rollup (?=failed)){1,4}"
)
_CODE: Final = lazy_pattern(r"(?P<code>TS[0-9]{3,5}): (?P<message>.*)")
_PATH_AHEAD: Final = lazy_pattern(r"(?:[A-Za-z]:)?/[^\s:]{1,500}: ")
_HEADING: Final = lazy_pattern(
    r"(?:Module build failed|Module Error|Transform failed|Build failed|Error:\s*$|RollupError:\s*$).{0,300}?:?$"
)
_SOURCE: Final = lazy_pattern(r"\s*(?:>\s*)?[0-9]{1,7} {0,6}[|:\u2502]\s?(?P<source>.*)")
_MARK: Final = lazy_pattern(r"[\s|\u2502\u2575]*[\^~]+$")
_TOTAL: Final = lazy_pattern(r"(?m)(?:compiled with |^)(?P<count>[0-9]{1,6}) errors?(?: in | and |$)")


class _Reader(NamedTuple):
    """How the errors of one bundler are read."""

    marker: str
    read: Callable[[Sequence[str]], Iterator[Member]]


def read(text: Text) -> Facts | None:
    """Return the facts of the errors that a bundler reports."""
    lines = text.lines
    for reader in _READERS:
        members = [member for member in reader.read(lines) if member.cause] if reader.marker in text.body else []
        if members:
            counted = _TOTAL.search(text.body)
            return facts_of_members(
                members, unit="error", total=int(counted["count"]) if counted else 0, first_is_root=True
            )
    return None


# --- the layouts -----------------------------------------------------------------------------------------------------


def _webpack(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_WEBPACK):
        found = _WEBPACK.match(line)
        if found is None:
            continue
        place = _located(found["file"], found["line"] or found["row"])
        block = [*takewhile(_goes_on_in_webpack, _behind(lines, number + 1))]
        if any(not _MODULE.match(line) for line in block):
            yield _member(block, place)


def _goes_on_in_webpack(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(" @ ") and _OF_WEBPACK not in line


def _esbuild(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_ESBUILD):
        found = _ESBUILD.match(line)
        if found is not None:
            block = [*takewhile(lambda line: _OF_ESBUILD not in line, _behind(lines, number + 1))]
            place = next((at for line in block[:3] if (at := _PLACE.match(line.strip()))), None)
            yield _member([found["message"], *block], _located(place["file"], place["line"]) if place else NOWHERE)


def _esbuild_api(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_ESBUILD_API):
        found = _ESBUILD_API.match(line.strip())
        if found is not None:
            yield _member([found["message"], *_behind(lines, number + 1)], _located(found["file"], found["line"]))


def _vite(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_VITE):
        if line.strip() == _OF_VITE:
            yield _member(_behind(lines, number + 1))


def _vite_server(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_VITE_SERVER):
        found = _VITE_SERVER.match(line)
        if found is not None:
            yield _member([found["message"], *_behind(lines, number + 1)])


def _rollup(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in _starts(lines, _OF_ROLLUP):
        found = _ROLLUP.match(line)
        if found is not None:
            yield _member([found["message"], *_behind(lines, number + 1)])


def _next(lines: Sequence[str]) -> Iterator[Member]:
    start = next((number for number, line in enumerate(lines) if line.rstrip(".") == _OF_NEXT), len(lines))
    for number in range(start + 1, len(lines) - 1):
        found = _NEXT_PLACE.match(lines[number]) if "." in lines[number] and lines[number + 1].strip() else None
        if found is not None:
            block = [*takewhile(lambda line: _NEXT_PLACE.match(line) is None, _behind(lines, number + 1))]
            yield _member(block, _located(found["file"], found["line"]))


_READERS: Final = (
    _Reader(_OF_NEXT, _next),
    _Reader(_OF_WEBPACK, _webpack),
    _Reader(_OF_ESBUILD, _esbuild),
    _Reader(_OF_VITE, _vite),
    _Reader(_OF_VITE_SERVER, _vite_server),
    _Reader(_OF_ROLLUP, _rollup),
    _Reader(_OF_ESBUILD_API, _esbuild_api),
)


def _starts(lines: Sequence[str], marker: str) -> Iterator[tuple[int, str]]:
    found = ((number, line) for number, line in enumerate(lines) if marker in line)
    for (number, line), _ in zip(found, range(MAX_MEMBERS), strict=False):
        yield number, line


def _behind(lines: Sequence[str], start: int) -> Sequence[str]:
    """Return the lines that may belong to an error."""
    return lines[start : start + _MAX_LINES]


def _located(file: str, line: str | None) -> Location:
    return Location(file=file.removeprefix("./"), line=int(line) if line else None)


# --- one error -------------------------------------------------------------------------------------------------------


def _member(block: Sequence[str], place: Location = NOWHERE) -> Member:
    """Return what a block of lines says, the first of which that is no heading states the error."""
    said = [line.strip() for line in block] or [""]
    at = next((number for number, line in enumerate(said) if line and not _HEADING.match(_strip_prefixes(line))), 0)
    message, place = _placed(said[at], place)
    message, place = _placed_below(message, place, said[at + 1 :])
    kind, cause = _kind(message)
    source = _source(block)
    details = (f"> {source}",) if source else ()
    return Member(kind, cause, place, details=details)


def _placed(message: str, place: Location) -> tuple[str, Location]:
    """Return a message without the places it begins or ends with, and the first of them where none is known yet."""
    api = _ESBUILD_API.match(message)
    if api is not None:
        return api["message"], place or _located(api["file"], api["line"])
    message = _strip_prefixes(message)
    ahead = _AHEAD.match(message)
    if ahead is not None:
        message, place = message[ahead.end() :], place or _located(ahead["file"], ahead["line"])
    behind = _BEHIND.search(message)
    if behind is not None:
        place = place or _located(behind["file"], None)
        known = place.file.replace("\\", "/").endswith(behind["file"].lstrip("./"))
        message = message[: behind.start()] if known else message
    return _FOLDER.sub("", message), place


def _strip_prefixes(message: str) -> str:
    """Take off who says it: a plug-in, a class of errors."""
    found = _PREFIXES.match(message)
    message = message[found.end() :] if found else message
    path = _PATH_AHEAD.match(message)
    return message[path.end() :] if path else message


def _placed_below(message: str, place: Location, below: Sequence[str]) -> tuple[str, Location]:
    """Return a message without its position, and the place where it, or a line below it, gives the line."""
    named = next((found for line in below[:12] if (found := _FILE.match(line))), None)
    if named is not None and (not place or place.line is None):
        place = _located(named["file"], named["line"])
    position = _POSITION.search(message)
    if position is None:
        return message, place
    if place and place.line is None:
        place = _located(place.file, position["line"])
    return message[: position.start()] + message[position.end() :], place


def _kind(message: str) -> tuple[str, str]:
    code = _CODE.match(message)
    if code is not None:
        return code["code"], code["message"]
    return next((kind for form, kind in _KINDS if form.search(message)), _BUILD_ERROR), message


def _source(block: Sequence[str]) -> str:
    """Return the line of code above the mark."""
    for number in range(1, len(block)):
        found = _SOURCE.match(block[number - 1]) if _MARK.match(block[number]) else None
        if found is not None:
            return found["source"].strip()
    return ""


FORMAT: Final = Format(
    name="bundlers",
    read=read,
    markers=(
        _OF_WEBPACK,
        _OF_ESBUILD,
        _OF_ESBUILD_API,
        _OF_VITE,
        _OF_VITE_SERVER,
        _OF_ROLLUP,
        _OF_NEXT,
    ),
    programs=split_names("vite, webpack, next, rollup, esbuild, parcel, nuxt, astro, ng, react-scripts, turbo"),
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
    passes=(
        r"(?:✓|✔) built in ",
        r"(?:webpack [^\n]*)?compiled successfully",
        r" ?✓ Compiled successfully",
    ),
)
