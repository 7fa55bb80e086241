"""Panics that Rust prints, and errors that `main` returns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PANICKED: Final = " panicked at "
_PANIC: Final = lazy_pattern(
    r"\n *thread '(?P<thread>[^'\n]{1,300})'(?: \([0-9]{1,12}\))? panicked at "
    r"(?:'(?P<message>[^\n]{0,2000})', )?"
    r"(?P<file>[^\s:][^\n:]{0,300}(?::[\\/][^\n:]{0,300})?):(?P<line>[0-9]{1,9}):[0-9]{1,9}:?(?=\n|\Z)"
)
_MULTILINE: Final = lazy_pattern(r"\n *thread '(?P<thread>[^'\n]{1,300})'(?: \([0-9]{1,12}\))? panicked at '")
_OLD_END: Final = lazy_pattern(r"', (?P<file>[^\s:'][^\n:']{0,300}):(?P<line>[0-9]{1,9}):[0-9]{1,9}(?=\n|\Z)")
_RETURNED: Final = lazy_pattern(r"\nError: (?P<message>[^\n]+)")
_DEBUG: Final = lazy_pattern(r"(?P<name>[A-Z]\w{0,100})(?: \{ .+ \}|\(.+\))$")
_CAUSED_BY: Final = "\n\nCaused by:\n"
_NUMBERED: Final = lazy_pattern(r" *[0-9]{1,3}: ")
_PLACE: Final = lazy_pattern(r"\n\nLocation:\n *(?P<file>[^\n:]{1,300}):(?P<line>[0-9]{1,9})")
_STACK: Final = lazy_pattern(r"\n(?:stack backtrace|Stack backtrace):(?=\n)")
_AT: Final = lazy_pattern(r" {6,40}at (?P<file>[^\n]{1,500}?):(?P<line>[0-9]{1,9})(?::[0-9]{1,9})?$")
_CALL: Final = lazy_pattern(r" {1,6}[0-9]{1,6}: +(?:0x[0-9a-f]{1,16} - )?(?P<function>\S.*)")
_HASH: Final = lazy_pattern(r"::h[0-9a-f]{16}$|\[[0-9a-f]{8,16}\]|(?:::\{\{closure\}\}|::\{closure#[0-9]{1,4}\}){1,8}$")
_FOREIGN: Final = lazy_pattern(
    r"^/rustc/|[/\\]\.?cargo[/\\](?:registry|git)[/\\]|[/\\]rustlib[/\\]|[/\\]\.rustup[/\\]"
    r"|^/usr/src/|[/\\]csu[/\\]|^library[/\\]"
)
_ENDS: Final = (
    "stack backtrace:", "note: run with", "note: Some details", "note: test did not", "failures:", "error: ",
)  # fmt: skip
_MAX_LINES: Final = 12
_MAX_PANICS: Final = 50

_MAX_SIDES: Final = 300
"""Characters of both sides of a comparison that are told in the cause."""


class Panic(NamedTuple):
    """One panic as its thread printed it."""

    thread: str
    failure: Failure


def panics_of(text: str) -> list[Panic]:
    """Return the panics in `text`, which begins with a line feed, in the order in which they were printed."""
    starts: list[int] = []
    at = text.find(PANICKED)
    while at >= 0 and len(starts) < _MAX_PANICS:
        starts.append(max(0, text.rfind("\n", 0, at)))
        at = text.find(PANICKED, at + 1)
    bounds = pairwise((*starts, len(text)))
    return [panic for start, end in bounds if (panic := _read_panic(text[start:end])) is not None]


def failure_of_main(text: str) -> Failure | None:
    """Return the error that `main` or a test returned: with its causes, or in the form in which Rust prints values."""
    found = _RETURNED.search(text)
    if found is None:
        return None
    caused = text.find(_CAUSED_BY, found.end())
    value = _DEBUG.match(found["message"])
    if value is not None:
        return Failure(value["name"], found["message"])
    if found["message"][0] == found["message"][-1] == '"' and len(found["message"]) > 1:
        return Failure("Error", found["message"][1:-1].replace('\\"', '"'))
    if caused < 0 or "\n\n" in text[found.end() : caused]:
        return None
    causes = _list_causes(text[caused + len(_CAUSED_BY) :])
    frame = _find_own_frame(text[caused:]) or _find_own_place(text[caused:])
    return Failure("Error", ": ".join((found["message"], *causes)), frame)


def _list_causes(text: str) -> Iterator[str]:
    end = text.find("\n\n")
    for line in text[: end if end >= 0 else len(text)].split("\n", _MAX_LINES)[:_MAX_LINES]:
        number = _NUMBERED.match(line)
        yield line[number.end() :] if number else line.strip()


def _find_own_place(text: str) -> Frame | None:
    found = _PLACE.search(text)
    return (
        Frame(found["file"], int(found["line"])) if found is not None and not _FOREIGN.search(found["file"]) else None
    )


def _read_panic(text: str) -> Panic | None:
    # Read the panic that `text` begins with, in the form of any version of Rust.
    found = _PANIC.match(text)
    if found is not None:
        message = found["message"] if found["message"] is not None else _read_message(text[found.end() :])
        return _panic_at(found["thread"], message, found["file"], int(found["line"]), text)
    start = _MULTILINE.match(text)
    end = _OLD_END.search(text, start.end()) if start is not None else None
    if start is None or end is None:
        return None
    return _panic_at(start["thread"], text[start.end() : end.start()], end["file"], int(end["line"]), text)


def _panic_at(thread: str, message: str, file: str, line: int, text: str) -> Panic:
    # Return a panic; where the code that panicked is not the user's, the innermost own frame of the stack is its place.
    own = _find_own_frame(text)
    printed = Frame(file, line)
    if _FOREIGN.search(file):
        return Panic(thread, Failure("panic", message, own, printed))
    same = own is not None and own.file.endswith(file) and own.line == line
    return Panic(
        thread, Failure("panic", message, printed._replace(function=own.function) if own and same else printed)
    )


def _read_message(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n", _MAX_LINES)[1:_MAX_LINES]:
        if line.startswith(_ENDS) or (not line.strip() and lines):
            break
        lines.append(line.strip())
    return _join_comparison(lines)


def _join_comparison(lines: Sequence[str]) -> str:
    # Return the lines of a failed `assert_eq!` as one: `assertion `left == right` failed (left: 3, right: 4)`.
    sides = [line for line in lines if line.startswith(("left: ", "right: "))]
    if len(sides) < len(("left", "right")) or sum(map(len, sides)) > _MAX_SIDES:
        return "\n".join(lines)
    words = [line for line in lines if line not in sides]
    return "\n".join((f"{words[0] if words else ''} ({', '.join(sides)})", *words[1:]))


def _find_own_frame(text: str) -> Frame | None:
    # Return the innermost frame of the user's own code in the stack that `text` holds.
    start = _STACK.search(text)
    if start is None:
        return None
    function = ""
    for line in text[start.end() : start.end() + 20_000].split("\n"):
        found = _AT.match(line)
        if found is not None and not _FOREIGN.search(found["file"]):
            return Frame(found["file"].removeprefix("./"), int(found["line"]), _HASH.sub("", _HASH.sub("", function)))
        call = _CALL.match(line)
        function = call["function"] if call else function
    return None
