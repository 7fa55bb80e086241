"""What Go prints: panics, stacks, data races, and what it cannot load."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.forms import Found, Lines, form, place_of
from otel_errcompact.extract.members import MAX_MEMBERS, Member
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame, choose_own
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.extract.format import Text

RACE: Final = "WARNING: DATA RACE"
_STARTS: Final = lazy_pattern(r"\n(?P<kind>panic|fatal error): (?P<message>[^\n]*)")
_AGAIN: Final = "\tpanic: "
_SIGNAL: Final = "[signal "
_OVERFLOW: Final = "stack overflow"
_RECOVERED: Final = (" [recovered, repanicked]", " [recovered]")
_GOROUTINE: Final = lazy_pattern(
    r"\ngoroutine [0-9]{1,12} (?:[a-z]{1,4}=[^ \n]{1,30} ){0,4}\[(?P<state>[^\]\n]{1,80})\]:(?=\n)"
)
_PLACE: Final = lazy_pattern(r"[\t ]+(?P<file>[^\n]{1,500}?\.(?:go|s|c)):(?P<line>[0-9]{1,9})(?: |$)")
_CREATED: Final = "created by "
_IN_GOROUTINE: Final = " in goroutine "
_FOREIGN: Final = lazy_pattern(
    r"[/\\]pkg[/\\]mod[/\\]|[/\\]vendor[/\\]|@v[0-9]|(?:^|[/\\])_(?:testmain|cgo_gotypes)\.go$"
    # The standard library, wherever Go is installed; below a GOPATH the first folder is a host's name.
    r"|[/\\](?i:go)[-.0-9]{0,12}(?:[/\\](?:[0-9][0-9.]{0,12}|x64|libexec)){0,3}[/\\]src[/\\](?=[a-z0-9]{1,20}[/\\])"
    # The same where paths were trimmed.
    r"|^(?:runtime|testing|internal|reflect|sync|syscall|net|time|os|io|log|context|encoding|database)/"
)
_ACCESS: Final = lazy_pattern(
    r"\n(?P<access>(?:Previous )?(?:(?:atomic )?(?:read|write)|Read|Write|Atomic read|Atomic write))"
    r" at 0x[0-9a-f]{1,16} by (?P<by>[^\n:]{1,100}):"
)
_MAX_FRAMES: Final = 200

_MAX_PRINTED: Final = 100
"""Frames that Go prints of one goroutine, half of them from either end."""

_MAX_HEAD: Final = 20
"""Lines of the messages of one panic."""


def read(text: Text) -> Facts | None:
    """Return the facts of the first panic, fatal error or data race in `text`."""
    body = f"\n{text.body}"
    found = _STARTS.search(body)
    dump = _GOROUTINE.search(body, found.start() if found else 0)
    if found is not None and dump is not None:
        return _facts_of_panic(body[found.start() :], text.roots)
    race = body.find(f"\n{RACE}")
    return facts_of_race(body[race:]) if race >= 0 else None


def chain_of(text: str, roots: tuple[str, ...] = ()) -> tuple[Failure, ...]:
    """
    Return the panic that `text` begins with, the last re-panic first.

    Before it stands a line feed. Empty if the text does not begin with one.
    """
    found = _STARTS.match(text)
    if found is None:
        return ()
    dump = _GOROUTINE.search(text)
    stack = frames_of(text[dump.end() :]) if dump is not None else []
    messages = _read_messages(text[found.start("message") : dump.start() if dump is not None else len(text)])
    stacks = _split_stacks(stack, len(messages))
    failures = [
        _build_failure(found["kind"], message, frames, roots) for message, frames in zip(messages, stacks, strict=True)
    ]
    first, *others = failures
    return (*(failure._replace(follows=True) for failure in reversed(others)), first)


def frames_of(dump: str) -> list[Frame]:
    """Return the frames of the first goroutine in `dump`, innermost first."""
    end = dump.find("\n\n")
    return list(_read_frames(dump[: end if end >= 0 else len(dump)].strip("\n").split("\n", 2 * _MAX_FRAMES)))


def first_own(frames: Iterable[Frame]) -> Frame | None:
    """Return the innermost frame of the user's own code."""
    return next((frame for frame in frames if _is_own(frame)), None)


def facts_of_race(text: str) -> Facts:
    """Return the facts of the data race that `text` begins with."""
    accesses = [_read_access(found, text) for found in islice(_ACCESS.finditer(text), 2)]
    first, second = accesses[0] if accesses else _Access("access", NOWHERE), accesses[1:]
    against = second[0] if second else None
    others = f" and {against.kind} at {_write_place(against.place)}" if against else ""
    return Facts(
        type="data race",
        cause=f"{first.kind} at {_write_place(first.place)}{others} without synchronisation",
        location=first.place,
        details=details((str(against.place),) if against and against.place != first.place else ()),
    )


class _Access(NamedTuple):
    """One of the accesses that race."""

    kind: str
    place: Location


def _read_access(found: re.Match[str], text: str) -> _Access:
    frames = frames_of(text[found.end() :])
    frame = first_own(frames) or (frames[0] if frames else None)
    return _Access(found["access"].lower(), frame.place() if frame is not None else NOWHERE)


def _write_place(place: Location) -> str:
    return place.function or str(place) or "an unknown place"


def _facts_of_panic(text: str, roots: tuple[str, ...]) -> Facts:
    # Return the facts of a panic, with the states of goroutines that wait where all of them do.
    facts = facts_of(chain_of(text, roots))
    if "all goroutines are asleep" not in facts.cause:
        return facts
    return replace(facts, details=details((*facts.details, *_describe_goroutines(text))))


def _describe_goroutines(text: str) -> Iterator[str]:
    counts: dict[str, int] = {}
    for found in islice(_GOROUTINE.finditer(text), 50):
        frame = first_own(frames_of(text[found.end() :]))
        state = found["state"].partition(",")[0]
        line = f"{state} at {frame.place()}" if frame is not None else state
        counts[line] = counts.get(line, 0) + 1
    yield from (f"{count} goroutines: {line}" if count > 1 else line for line, count in counts.items())


def _read_messages(head: str) -> list[str]:
    # Return the messages of a panic and of those that deferred functions raised after it; some have several lines.
    messages: list[str] = []
    for line in head.split("\n", _MAX_HEAD)[:_MAX_HEAD]:
        if not line and messages:
            break
        again = line.startswith(_AGAIN)
        message = line.removeprefix(_AGAIN)
        for mark in _RECOVERED:
            message = message.removesuffix(mark)
        if again or not messages:
            messages.append(message)
        elif not line.startswith(_SIGNAL):
            messages[-1] = f"{messages[-1]}\n{message}"
    return messages


def _build_failure(kind: str, message: str, stack: Sequence[Frame], roots: tuple[str, ...]) -> Failure:
    innermost = next((frame for frame in stack if not _is_machinery(frame)), None)
    if message != _OVERFLOW:
        return Failure(kind, message, choose_own(stack, _is_own, roots), innermost)
    calls = [(frame, 1) for frame in reversed(stack) if not _is_machinery(frame)]
    recursion = recursion_of(calls, _is_own, is_cut=len(stack) >= _MAX_PRINTED)
    return Failure(kind, message, recursion.place if recursion else None, innermost, recursion=recursion)


def _split_stacks(stack: Sequence[Frame], count: int) -> list[Sequence[Frame]]:
    # Return the stack of each of `count` panics, the first panic's first: what stands below the last call of `panic`.
    starts = [number + 1 for number, frame in enumerate(stack) if frame.function == "panic"]
    lowest = [stack[start:] for start in reversed(starts)]
    stacks = [*lowest[: count - 1], stack] if count > 1 else [lowest[0] if lowest else stack]
    return [*stacks, *[stack] * (count - len(stacks))]


def _read_frames(lines: Sequence[str]) -> Iterator[Frame]:
    # Yield the frames in `lines`, each of which takes two.
    function = ""
    for line in lines:
        found = _PLACE.match(line) if function else None
        if found is not None:
            yield Frame(found["file"], int(found["line"]), function)
            function = ""
        else:
            function = _clean_function_name(line.strip())


def _clean_function_name(call: str) -> str:
    # Return the function of a printed call, without the folders of its package and without arguments.
    if call.startswith(_CREATED):
        call = call.removeprefix(_CREATED).partition(_IN_GOROUTINE)[0]
    elif call.endswith(")"):
        call = call[: call.rfind("(")]
    return call.rpartition("/")[2]


def _is_own(frame: Frame) -> bool:
    return _FOREIGN.search(frame.file) is None


def _is_machinery(frame: Frame) -> bool:
    return "/runtime/" in frame.file or frame.file.startswith("runtime/")


# --- what the command cannot load -------------------------------------------------------------------------------------

_PLACE_OF_IMPORT: Final = form(r"(?P<file>{path}\.go):{line}(?::{number})?: ")
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
        member = _read_import_cycle(lines, number) if line.endswith(_CYCLE) else None
        if member is None and line[:1] not in ("\t", " "):
            member = _read_member(line, lines[number + 1 : number + 4])
        if member is not None:
            members.append(member)
        if len(members) >= MAX_MEMBERS:
            break
    return members


def _read_member(line: str, after: Lines) -> Member | None:
    place = _PLACE_OF_IMPORT.match(line)
    said = line[place.end() :] if place else line
    go = None if place else _GO.match(line)
    if go is None and not _LOADING.match(said) and not _PATTERN.match(said):
        return None
    message = go["message"] if go else said
    below = after[:1] if message.endswith(" go.mod:") else takewhile(lambda other: other[:1] in ("\t", " "), after)
    indented = [other.strip() for other in below]
    while message.endswith((" imports", ": parsing go.mod:")) and indented:
        message, indented = indented[0], [*indented[1:], message]
    if message.endswith(":") and indented and not message.endswith(_ADVICE[:2]):
        message = f"{message} {indented.pop(0)}"
    for advice in _ADVICE[:2]:
        message = message.removesuffix(advice)
    return Member("go", message, place_of(place), details=tuple(indented))


def _read_import_cycle(lines: Lines, end: int) -> Member | None:
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
