"""Output of `go test`: as text, verbose or not, and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.extract.cleaning.characters import is_cut
from otel_errcompact.extract.clipping import CUT, clip
from otel_errcompact.extract.grammar import (
    NOWHERE,
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Text,
    find,
    form,
    place_of,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members, to_member
from otel_errcompact.extract.recognition import OF_ANY_TEXT, facts_of_output
from otel_errcompact.extract.stacks import go
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.statements import is_telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.extract.stacks.frames import Frame

_TIMED_OUT: Final = "panic: test timed out"
_JSON: Final = '"Action":"'

ASSERTION: Final = "AssertionError"

_STATUS: Final = form(r" *--- (?P<status>FAIL|PASS|SKIP|BENCH): (?P<test>[^\s]{1,500})(?: \([0-9.]{1,20}s\))?$")
_SWITCH: Final = form(r"=== (?P<verb>RUN|CONT|NAME|PAUSE) +(?P<test>{word})$")
_PACKAGE: Final = form(
    r"(?P<status>FAIL|ok  |---)\t(?P<package>[^\s]{1,300})"
    r"(?:\t[0-9.]{1,12}s\b|\t\(cached\)|[ \t](?P<why>\[[^\]]{1,80}\]))"
)
_BUILD: Final = form(r"# (?P<package>[^\s\[]{1,300})(?: \[[^\]]{1,300}\])?$")
_DIAGNOSTIC: Final = form(r"(?:vet: )?(?P<file>{path}\.\w{1,4}):{line}(?::{number})?: {message}")
_LOG: Final = form(r"(?P<indent> +)(?P<file>[\w.+-]{1,200}\.go):{line}: ?(?P<message>.*)")
_FIELD: Final = form(r"\t(?P<name>Error Trace|Error|Test|Messages):\s*(?P<value>.*)")
_TRACED: Final = form(r"\t{1,9}\s{0,20}(?:\S{0,300}/)?(?P<file>[\w.+-]{1,200}_test\.go):{line}$")
_TEST_FILE: Final = "_test.go"
_COMPARED: Final = form(
    r"(?i)\b(?:want(?:ed|s)?|got|expect(?:ed|s|ation)?|actual|not equal|should|mismatch|must|differs?"
    r"|does not|doesn't)\b|!="
)
_CHANGED: Final = form(r"\s*[-+](?![-+])\s*\S")
_EXPECTED: Final = form(r"(?:expected|actual) *:")
_TEST_FUNCTION: Final = form(r"(?:Test|Fuzz|Example|Benchmark)[^a-z]")
_RUNNING: Final = form(r"\t\t(?P<test>{word}) \([^)]{1,40}\)$")
_DATE: Final = form(r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.{number})? ")
_OF_C: Final = form(r"(?:fatal )?(?:error|warning|note): ")
"""How the message of a C compiler begins, which cgo runs."""

_FILES: Final = (".go", ".mod", ".work", ".s")
_BUILD_FAILED: Final = "build failed"
_OF_TOOL: Final = ("exit status ", "coverage: ", "?   \t")
_OF_RUN: Final = ("FAIL", "ok  \t", "--- ", "=== ", "?   \t", "panic: ")
_OF_BUILD: Final = ("too many errors", "# [")
_UNEXPECTED: Final = "Received unexpected error"
_RULE: Final = "=================="
_RACE_DETECTED: Final = "race detected during execution of test"
_CUT_OFF: Final = "TestsFailed"
_BEHIND_CUT: Final = "\n"
"""No name of a test: what is logged behind a cut, where the test that logged it is not known."""

_LINES_OF_LABEL: Final = 3
"""Lines of an entry in which testify's first label stands: old releases overwrite the place."""

_SIDE: Final = form(r"(?i)[^\w\s]{0,6} ?(?:got|have|want(?:ed)?|actual|expected)\b ?[^\w\s]{0,6}$")
"""The heading of one of two blocks that a test compares."""

_NO_LETTER: Final = form(r"[^A-Za-z]")
_SIDES: Final = 2
_MAX_COMPARED: Final = 400
"""Lines of an entry in which two blocks are compared."""

_EXAMPLE_GOT: Final = "got:"
_EXAMPLE_WANT: Final = "want:"
_MAX_DIFF: Final = 16
_MAX_DETAILS: Final = 12
_MAX_PLAIN: Final = 3
_MAX_INLINE: Final = 200
_MAX_BEFORE: Final = 3
"""Lines that a test logged right before it failed, which are shown."""

_MAX_CALLERS: Final = 4
"""Places of the user's own code that lead to a panic and are named, beside that of the test."""


class _Entry(NamedTuple):
    """What a test logged at one place."""

    location: Location
    lines: list[str]


@dataclass(slots=True, kw_only=True)
class _Package:
    """What was read of a package's tests so far."""

    logs: dict[str, list[_Entry]] = field(default_factory=dict[str, list[_Entry]])
    failed: list[str] = field(default_factory=list[str])
    printed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What was printed right before the line that names a failed test."""

    cut: set[str] = field(default_factory=set[str])
    """Tests of which lines were cut out."""

    crashed: list[Member] = field(default_factory=list[Member])
    said: list[str] = field(default_factory=list[str])
    """Lines that no test logged."""

    current: str = ""
    has_verdict: bool = False
    """Whether the test framework itself said that tests failed."""


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests and broken packages."""
    lines = _join_event_output(text.lines) if _JSON in text.body else text.lines
    members = _read_members(lines)
    if not members:
        return None
    is_build = all(member.type not in {ASSERTION, "panic", "timeout", "data race", "fatal error"} for member in members)
    are_tests = all(member.name and member.output is None for member in members)
    unit = "error" if is_build else "test" if are_tests else "failure"
    return facts_of_members(members, unit=unit, first_is_root=is_build)


def _join_event_output(lines: Lines) -> list[str]:
    # Return what the tests printed, package after package, from the events of `go test -json`.
    outputs: dict[str, list[str]] = {}
    for line in lines:
        if line[:1] != "{" or '"Output"' not in line:
            continue
        try:
            event = cast("dict[str, object]", json.loads(line))
        except ValueError:
            continue
        package = str(event.get("Package") or event.get("ImportPath"))
        outputs.setdefault(package.partition(" ")[0], []).append(str(event.get("Output")))
    return "".join(part for parts in outputs.values() for part in parts).split("\n")


# --- lines -----------------------------------------------------------------------------------------------------------


def _read_members(lines: Lines) -> list[Member]:
    members: list[Member] = []
    builds: dict[str, list[str]] = {}
    package = _Package()
    number = 0
    while number < len(lines) and len(members) < MAX_MEMBERS:
        line = lines[number]
        number += 1
        found = _PACKAGE.match(line)
        if found is not None:
            members.extend(_members_of(package, found, _pop_build(builds, found)))
            package = _Package()
        elif line == _RULE or line.startswith(("panic: ", "fatal error: ")):
            end = _end_of_dump(lines, number)
            _read_dump(package, lines[number - 1 : end])
            number = end
        elif _BUILD.match(line):
            end = _end_of_build(lines, number)
            builds.setdefault(_package_of(line), []).extend(lines[number:end])
            number = end
        else:
            _read_line(package, line)
    members.extend(_build_members(package))
    if members:  # packages whose line stood before, or is cut off
        left = (member for said in builds.values() for member in _read_build_errors(said, _BUILD_FAILED, ""))
        members.extend(member for member in left if member.location.line and member.output is None)
    # What a package lacks is said again for each that imports it.
    distinct: dict[object, Member] = {}
    for at, member in enumerate(members):
        distinct.setdefault(at if member.name else (member.cause, member.location), member)
    members = list(distinct.values())
    untold = [member for member in members if member.cause.endswith(f": {_BUILD_FAILED}")]
    is_go = any(member.output is None and member not in untold for member in members)
    if not is_go and any(line.strip() and not line.startswith(_OF_RUN) for line in lines):
        return []  # what a C compiler or a linker said is theirs to read
    # What could not be built because another package could not is no failure of its own.
    told = [member for member in members if member not in untold]
    return told if any(member.output is not None or member.type == _BUILD_FAILED for member in told) else members


def _pop_build(builds: dict[str, list[str]], found: Found) -> list[str]:
    if found["package"] in builds or found["status"] != "FAIL" or not found["why"]:
        return builds.pop(found["package"], [])
    said = [line for lines in builds.values() for line in lines]
    builds.clear()
    return said


def _end_of_dump(lines: Lines, start: int) -> int:
    # Return where a dump ends: at the rule that closes the report of a race, else at the package's line.
    is_race = lines[start - 1] == _RULE
    for number in range(start, len(lines)):
        if lines[number] == _RULE if is_race else _PACKAGE.match(lines[number]):
            return number + is_race
    return len(lines)


def _end_of_build(lines: Lines, start: int) -> int:
    for number in range(start, len(lines)):
        line = lines[number]
        if line[:1] not in ("\t", " ") and not _DIAGNOSTIC.match(line) and not line.startswith(_OF_BUILD):
            break
    else:
        return len(lines)
    if any(map(_match_diagnostic, lines[start:number])):
        return number
    # A C compiler or a linker has more forms of lines: theirs are all up to the next package.
    following = range(number, len(lines))
    return next((at for at in following if _BUILD.match(lines[at]) or lines[at].startswith(_OF_RUN)), number)


def _match_diagnostic(line: str) -> Found | None:
    found = _DIAGNOSTIC.match(line)
    is_of_go = found is not None and found["file"].endswith(_FILES) and not _OF_C.match(found["message"])
    return found if is_of_go else None


def _package_of(line: str) -> str:
    found = _BUILD.match(line)
    return found["package"].removesuffix(".test") if found is not None else ""


def _read_line(package: _Package, line: str) -> None:
    # Read a line of a test: what it logs, or that another one begins or ends.
    if "--- " in line:
        found = _STATUS.match(line)
        if found is not None:
            package.current = found["test"]
            if found["status"] == "FAIL":
                package.failed.append(found["test"])
                package.printed[found["test"]] = [said for said in package.said if not said[0].isspace()][-_MAX_BEFORE:]
            return
    if line.startswith("=== "):
        switch = _SWITCH.match(line)
        package.current = switch["test"] if switch is not None and switch["verb"] != "PAUSE" else ""
    elif not line or line[0] in "\t ":
        _read_log(package.logs.setdefault(package.current, []), line)
    elif line == "FAIL":
        package.has_verdict = True
    elif is_cut(line):
        package.cut.add(package.current)
        package.current = _BEHIND_CUT
    elif line and line != "PASS" and not line.startswith(_OF_TOOL) and not _is_frame(line):
        package.said.append(line)


def _is_frame(line: str) -> bool:
    return "(0x" in line or line.startswith(("created by ", "goroutine "))


def _read_log(entries: list[_Entry], line: str) -> None:
    found = _LOG.match(line)
    if found is not None:
        place = place_of(found)
        if found["message"] != _RACE_DETECTED:
            entries.append(_Entry(place, [found["message"]]))
    elif entries:
        entries[-1].lines.append(line)


def _read_dump(package: _Package, lines: Lines) -> None:
    # Read a panic, or the report of a race, which mostly stands before the line that names its test.
    text = "\n".join(("", *lines))
    if lines[0] == _RULE:
        if len(lines) > 1 and lines[1] == go.RACE:
            package.crashed.append(to_member(go.facts_of_race(text[len(_RULE) + 1 :])))
        return
    package.crashed.append(
        _timed_out(text, lines) if lines[0].startswith(_TIMED_OUT) else _build_panic_member(package, text)
    )


# --- members ---------------------------------------------------------------------------------------------------------


def _members_of(package: _Package, found: Found, build: Lines) -> list[Member]:
    if found["status"] != "FAIL":
        return []
    name = found["package"]
    why = found["why"] or ""
    if why.startswith("["):
        return _read_build_errors(build, why.strip("[]"), name)
    members = _build_members(package, name)
    if members:
        return members
    # The process ended without a word of the test framework: `log.Fatal`, `os.Exit`.
    said = package.said[-_MAX_PLAIN:]
    if package.has_verdict:  # tests failed by name, and the lines that are left may be of tests that passed
        return [Member(_CUT_OFF, f"the reason was cut off: {name} failed", Location(file=name))]
    if not said:
        return [Member("FAIL", f"{name} failed; the reason is not in the text", Location(file=name))]
    return [Member("FAIL", _strip_date(said[-1]), Location(file=name), details=tuple(said[-2::-1]))]


def _strip_date(line: str) -> str:
    found = _DATE.match(line)
    return line[found.end() :] if found is not None else line


def _read_build_errors(lines: Lines, why: str, name: str) -> list[Member]:
    # Return what the compiler or the loader said of a package that could not be built.
    members = go.members_of(lines)
    loaded = {member.location for member in members}
    for number, line in enumerate(lines):
        found = _match_diagnostic(line)
        place = place_of(found)
        if found is not None and place not in loaded:
            said = ", ".join((found["message"], *_read_continuation(lines[number + 1 : number + 1 + _MAX_DETAILS])))
            members.append(Member(why, said, place))
    if members:
        return members
    failed, facts = f"{name}: {why}", facts_of_output(lines)
    if facts is None or facts.format in OF_ANY_TEXT:
        return [Member(why, failed, Location(file=name))]
    return [to_member(facts, name, failed)._replace(output=facts)]


def _read_continuation(lines: Lines) -> tuple[str, ...]:
    kept: list[str] = []
    for line in lines:
        if line[:1] not in ("\t", " "):
            break
        kept.append(line.strip())
    return tuple(kept)


def _build_members(package: _Package, name: str = "") -> list[Member]:
    # Return a member for each failed test: parents that only failed with their subtests do not count.
    _own_logs(package)
    members = _name_crashes(package)
    crashed = {member.name for member in members}
    parents = {test[:end] for test in package.failed for end, character in enumerate(test) if character == "/"}
    for test in dict.fromkeys(package.failed):
        entries = package.logs.get(test)
        if test in crashed:
            continue
        if entries and (test not in package.cut or any(map(_is_failure, entries))):
            members.append(_build_test_member(test, entries, name, package.printed.get(test, ())))
        elif test in package.cut:
            # What stands behind the cut may be its own, or that of a test whose name was cut off.
            behind = tuple(f"behind the cut: {_with_place(entry)}" for entry in package.logs.get(_BEHIND_CUT, ())[-1:])
            members.append(Member(_CUT_OFF, "the reason was cut off", Location(function=test), test, behind))
        elif test not in parents and not package.crashed:
            members.append(_build_silent_member(test, package))
    return members


def _own_logs(package: _Package) -> None:
    leaves = [test for test in package.failed if not any(other.startswith(f"{test}/") for other in package.failed)]
    for cut, owner in (("", leaves[0] if len(leaves) == 1 else ""), (_BEHIND_CUT, _BEHIND_CUT)):
        for entry in reversed(package.logs.pop(cut, [])):
            test = _read_fields(entry.lines).get("Test", [owner])[0]
            package.logs.setdefault(test, []).insert(0, entry)


def _name_crashes(package: _Package) -> list[Member]:
    # Return what ended the package's tests or raced in them; a race names no test, but may have failed only one.
    only = package.failed[0] if len(package.failed) == 1 else ""
    return [member if member.name else member._replace(name=only) for member in package.crashed]


def _build_silent_member(test: str, package: _Package) -> Member:
    said = package.said
    if _EXAMPLE_GOT in said and _EXAMPLE_WANT in said:
        cause = _join_lines(said[len(said) - 1 - said[::-1].index(_EXAMPLE_GOT) :])
    else:
        # What was printed last may be another test's.
        last = f"; printed last: {_strip_date(said[-1])}" if said else ""
        cause = f"failed without a word{last}"
    return Member(ASSERTION, clip(cause), Location(function=test), test, assertion=True)


def _build_test_member(test: str, entries: Sequence[_Entry], package: str, printed: Lines) -> Member:
    # What a test logs and how it fails look alike; `t.Fatal`, `FailNow` and `require` end it.
    telling = [number for number, entry in enumerate(entries) if _is_failure(entry)] or [len(entries) - 1]
    at = telling.pop()
    first = entries[at]
    cause, more = _read_entry(first)
    others = [_with_place(entries[number]) for number in telling]
    logged = entries[at - 1].lines[1:] if at and at - 1 not in telling else []
    before = [line.strip() for line in logged[-_MAX_BEFORE:]]
    assertion = _COMPARED.search(cause) is not None and not cause.startswith(_UNEXPECTED)
    place = _place_in_package(_find_test(first), package)
    return Member(
        ASSERTION,
        clip(cause),
        Location(function=test if assertion else "", file=place.file, line=place.line),
        test,
        tuple(dict.fromkeys((*more, *others, *before, *printed)))[:_MAX_DETAILS],
        assertion=assertion,
    )


def _with_place(entry: _Entry) -> str:
    return f"{entry.location}: {_read_entry(entry)[0]}"


def _read_entry(entry: _Entry) -> tuple[str, tuple[str, ...]]:
    return _read_testify(entry) if "Error Trace:" in "".join(entry.lines[:_LINES_OF_LABEL]) else _read_logged(entry)


def _is_failure(entry: _Entry) -> bool:
    text = entry.lines[0]
    return not text or is_telling(text) or _COMPARED.search(text) is not None


def _find_test(entry: _Entry) -> Location:
    if entry.location.file.endswith(_TEST_FILE):
        return entry.location
    traced = find(_TRACED, entry.lines)
    return place_of(traced) if traced is not None else entry.location


def _place_in_package(place: Location, package: str) -> Location:
    # Return a place with the folder of its package, which is named like the package's last part.
    folder = package.rpartition("/")[2] if "/" in package else ""
    return Location(file=f"{folder}/{place.file}" if folder else place.file, line=place.line)


def _read_logged(entry: _Entry) -> tuple[str, tuple[str, ...]]:
    # Return what an entry says in one line, and its further lines: of a difference, those that differ.
    first, rest = entry.lines[0], entry.lines[1:]
    changed = [" ".join(line.split()) for line in rest if _CHANGED.match(line)]
    if changed and first.endswith(":"):
        return f"{first} {' '.join(changed[:2])}", tuple(changed[2:_MAX_DIFF])
    said = [line.strip() for line in rest if line.strip()]
    want = said.index(_EXAMPLE_WANT) if _EXAMPLE_WANT in said else 0
    if want and said[:want] == said[want + 1 :]:  # what differs is white space
        said = [line.strip() or repr("\n") for line in rest]
    whole = _join_lines([first, *said])
    if (not first or (first.endswith(":") and said)) and len(whole) <= _MAX_INLINE:
        return whole, ()
    sides = _compare_values(said)
    if sides:
        return first or said[0], _clip_details(sides)
    if said and (not first or first.endswith(":")):
        return f"{first} {said[0]}".strip(), _clip_details(said[1:])
    return first, _clip_details(said)


def _clip_details(lines: Lines) -> tuple[str, ...]:
    left = len(lines) - _MAX_DETAILS
    return (*lines[: _MAX_DETAILS - 1], f"{CUT} {left + 1} more lines") if left > 0 else tuple(lines)


def _compare_values(said: Lines) -> list[str]:
    heads = [number for number, line in enumerate(said[:_MAX_COMPARED]) if _SIDE.match(line)]
    if len(heads) != _SIDES:
        return []
    start, middle = heads
    one, other = said[start + 1 : middle], said[middle + 1 : _MAX_COMPARED]
    if one == other:
        return []
    names = [_NO_LETTER.sub("", said[number]).lower() for number in heads]
    lines = [*said[:start], f"- {names[0]}, + {names[1]}:"]
    for tag, first, last, begin, end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += [*(f"- {line}" for line in one[first:last]), *(f"+ {line}" for line in other[begin:end])]
    return lines


def _join_lines(lines: Iterable[str]) -> str:
    # Return lines as one: `got: a; want: b`.
    whole = ""
    for line in lines:
        whole += line if not whole else f" {line}" if whole.endswith(":") else f"; {line}"
    return whole


def _read_testify(entry: _Entry) -> tuple[str, tuple[str, ...]]:
    # Return what testify says: the error with expected and actual values, the messages first.
    fields = _read_fields(entry.lines)
    error = [line for line in fields.get("Error", ()) if line]
    end = error.index("Diff:") if "Diff:" in error else len(error)
    head, diff = error[:end], error[end + 3 :]
    values = [line for line in head if _EXPECTED.match(line)]
    words = " ".join(line for line in head if line not in values)
    messages = " ".join(filter(None, fields.get("Messages", ())))
    short = sum(map(len, values)) <= _MAX_INLINE
    named = (_EXPECTED.sub(lambda found: f"{found[0].rstrip(' :')}:", value) for value in values)
    cause = f"{words} {', '.join(named)}" if short else words
    changed = tuple(" ".join(line.split()) for line in diff if _CHANGED.match(line))
    shown = () if short else changed[:_MAX_DIFF] or tuple(values)
    return (f"{cause.strip()} ({messages})" if messages else cause.strip().rstrip(":")), shown


def _read_fields(lines: Lines) -> dict[str, list[str]]:
    # Return testify's fields by name, without the margin.
    fields: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        found = _FIELD.search(line)
        if found is not None:
            name = found["name"]
            fields[name] = [found["value"].strip()]
        elif name:
            fields[name].append(line.strip())
    return fields


def _build_panic_member(package: _Package, text: str) -> Member:
    facts = facts_of(go.chain_of(text))
    current = package.failed[-1] if package.failed else package.current or _test_in(text)
    own = [frame.place() for frame in _read_frames(text) if go.first_own((frame,))]
    callers = tuple(dict.fromkeys(f"{place.file_name}:{place.line}" for place in own[1:]))
    called = (f"called by {', '.join((*callers[:_MAX_CALLERS], *callers[_MAX_CALLERS:][-1:]))}",) if callers else ()
    return to_member(facts, current, *called)


def _read_frames(text: str) -> list[Frame]:
    return go.frames_of(text[text.find("\n\n") + 2 :])


def _test_in(text: str) -> str:
    names = (frame.function.partition(".")[2] for frame in _read_frames(text))
    return next((name.partition(".")[0] for name in names if _TEST_FUNCTION.match(name)), "")


def _timed_out(text: str, lines: Lines) -> Member:
    # Return the test that was running when the time was up, and where it was.
    running = [found["test"] for line in lines[1:50] if (found := _RUNNING.match(line))]
    test = running[0] if running else ""
    function = test.partition("/")[0]
    at = text.find(f".{function}(") if function else -1
    start = text.rfind("\n\n", 0, at) + 2 if at >= 0 else len(text)
    frames = go.frames_of(text[text.find("\n", start) + 1 :]) if at >= 0 else []
    frame = go.first_own(frames)
    cause = lines[0].removeprefix("panic: ")
    return Member(
        "timeout",
        f"{cause}: {', '.join(running)}" if running else cause,
        frame.place() if frame is not None else NOWHERE,
        test,
    )


FORMAT: Final = Format(
    name="gotest",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("--- FAIL: ", "FAIL\t", _TIMED_OUT, _JSON),
    commands=(Command("gotestsum, ginkgo"),),
    closings=(
        r" {1,12}--- FAIL: ",
        r"exit status [1-9][0-9]{0,2}$",
        r'\{[^\n]{0,300}"Action":"fail"',
        r"FAIL! -- [0-9]",
        r"=== FAIL: ",
        r"--- FAIL: ",
        r"FAIL(?:\t\S|$)",
    ),
    passes=(r"ok {2}\t\S", r"PASS$"),
    tells_logs=True,
)
