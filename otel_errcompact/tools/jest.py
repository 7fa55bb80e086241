"""Failed tests and suites of Jest and Vitest."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.cleaning.characters import is_cut
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.grammar import (
    Checker,
    Command,
    Facts,
    Lines,
    Members,
    Text,
    find,
    find_all,
    form,
    place_of,
    read_total,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.messages.comparison import MAX_VALUE, read_changes
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.stacks.javascript import ASSERTION, compiled_in, named, split_importer
from otel_errcompact.extract.stacks.javascript_frames import frame_of, is_own, own_frame
from otel_errcompact.extract.statements import is_exception_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.extract.stacks.frames import Frame

_RULE: Final = "\u23af"

TIMEOUT: Final = "Timeout"
FAILED: Final = "TestFailure"

_MAX_LINES: Final = 300
"""Lines of one failure that are looked at."""

_BULLET: Final = "\u25cf "
_EXITED: Final = "process.exit called with "
_SUITE_FAILED: Final = "Test suite failed to run"
_FILE: Final = form(r"(?:FAIL|PASS) {1,2}(?:\S.{0,60} )?(?P<file>[^\s|]{1,300}\.\w{1,5})(?: \([^)]{1,20}\))?$")
_END: Final = form(
    r"(?:PASS |FAIL |RUNS |Test Suites: |Snapshot Summary| \u203a [0-9]+ snapshot|Summary of all failing tests"
    r"|-{5,}[-|]*$|Jest: |Tests: |\S)"
)
_FAIL: Final = form(r" ?FAIL {2}(?:\|[^|]{1,60}\| ?)?(?P<path>\S.{0,1000})$")
_UNHANDLED: Final = form(rf"{_RULE}{{2,}} (?:Uncaught Exception|Unhandled (?:Rejection|Error)) {_RULE}{{2,}}$")
_NUMBERED: Final = form(r"\s*(?:>\s*)?{number}\s?\|(?P<source>.*)")
_MARKED: Final = form(r"\s*>\s*{number}\s?\|(?P<source>.*)")
_CARET: Final = form(r"\s+\|\s+\^")
_MATCHER: Final = form(
    r"(?:Error: )?(?:Timed out \S{1,20} waiting for )?(?P<claim>expect\b.{0,300}?)(?= // | failed$|$)"
)
_LABELLED: Final = form(r"(?P<label>(?:Expected|Received|Resolved to|Rejected to)[\w ()-]{0,40}):? +(?P<value>\S.*)")
_LOCATOR: Final = form(r"Locator: {1,8}(?P<locator>\S.{0,300})")
_CALLS: Final = form(r"(?:Received|Resolved|Rejected|Matcher error|But it was|New snapshot was not written)\b.{3,200}$")
_TYPED: Final = form(r"(?P<type>[A-Za-z_$][\w$.]{0,100})(?: \[(?P<code>\w{1,60})\])?: (?P<message>.*)", re.DOTALL)
_COMMENT: Final = form(r" // [^\"']{1,80}$", re.MULTILINE)
_VERB: Final = form(r" to (?P<verb>(?:strictly |deeply )?equal|match object|contain equal|be called with arguments)\b")
_TIMED_OUT: Final = form(
    r"(?:thrown: \")?(?P<message>(?:Exceeded timeout of|(?:Test|Hook) timed out in) [^\n\"]{1,200})"
)
_THROWN: Final = form(r"thrown: (?P<value>.+)")
_PARSED: Final = form(
    r"(?P<file>(?:[A-Za-z]:)?[/\\][^\n:]{1,500}): (?P<message>[^\n]{1,500}?)(?: \({line}:{number}\))?$"
)
_ANALYSED: Final = form(r"File: (?P<file>[^\n]{1,500}?):{number}:{number}$")
"""The file that Vite could not read; it tells line 1 wherever the fault is."""

_PLACE: Final = form(r"(?P<file>(?:[A-Za-z]:)?[/\\]?{path}):{line}$")
_UNLOADED: Final = form(
    r"(?P<message>Failed to (?:load url {word}|resolve import {quoted}))"
    r"(?: \(resolved id: [^)]{1,300}\))?(?: (?:in|from) \"?(?P<file>[^\s\"]{1,500}?)\"?)?\. Does the file exist\?"
)
_COUNTS: Final = form(r"(?m)^ {0,8}(?:Tests:? +)?(?P<failed>{number}) failed")
_SUITES: Final = form(r"(?m)^ {0,8}Test (?:Suites:|Files) +(?P<failed>{number}) failed")
_LISTED: Final = form(r" *[\u2715\u00d7] (?P<name>\S.{0,300}?)(?: \([0-9.]+ m?s\)| [0-9.]+m?s)?$")
_LISTED_FILE: Final = form(r" *\u276f (?P<file>{word}) \([0-9]+ tests?")
_ARROW: Final = form(r" +\u2192 (?P<said>\S.*)")
_PLAYWRIGHT: Final = form(
    r" *(?P<number>{number}\) )?(?:\[[^\]]{1,60}\] \u203a )?{file}:"
    r"{line}:{number} \u203a (?P<name>.{1,500}?) *[\u2500=]*$"
)
_FAILED: Final = form(r" *{number} failed$")
_RETRY: Final = form(r" *(?:Retry #[0-9]|attachment #[0-9]|[0-9]{1,7} (?:failed|flaky|passed)\b)")
_NO_TESTS: Final = form(r"(?m)^(?P<said>No test(?:s| files) found), exiting with code [0-9]")
_CAUSES: Final = ("Caused by: ", "Cause:")
_OF_TESTS: Final = form(r"[.-](?:test|spec)\.\w{1,4}$|(?:^|[/\\])__tests__[/\\]")
_COVERAGE: Final = form(
    r"(?m)^(?:Jest: |ERROR: )(?P<said>(?:\".{1,200}?\" coverage threshold|Coverage) for .{1,120} "
    r"(?:not met: .{1,20}|does not meet .{1,120}))$"
)


class _Failed(NamedTuple):
    """One failure as it is printed."""

    names: tuple[str, ...]
    """The tests, or the suites where these could not be run."""

    file: str
    lines: Lines
    is_suite: bool = False


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests and suites."""
    lines = text.lines
    in_jest = _read_jest(lines, is_sure="Test Suites: " in text.body) if _BULLET in text.body else ()
    found = list(in_jest) or list(_read_vitest(lines)) or list(_read_playwright(lines))
    if found:
        return _build_facts(text.body, found)
    return _read_list(text.body, lines) or _read_closing_list(lines) or _read_summary(text.body)


def _build_facts(body: str, found: Sequence[_Failed]) -> Facts | None:
    members = [member for failed in found for member in _build_members(failed)]
    suites = sum(failed.is_suite * len(failed.names) for failed in found)
    only_suites = suites == len(members)
    counted = read_total(body, _SUITES) if only_suites else read_total(body, _COUNTS) + suites
    unit = "suite" if only_suites else "test"
    return facts_of_members(members, unit=unit, total=counted)


# --- the two layouts -------------------------------------------------------------------------------------------------


def _read_jest(lines: Lines, *, is_sure: bool) -> Iterator[_Failed]:
    # Long outputs repeat the failures at the end. Unless it is surely Jest's, one must stand below its suite, or have a
    # stack.
    file = ""
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines):
        if line[:5] in ("FAIL ", "PASS "):
            found = _FILE.match(line)
            file = found["file"] if found else file
        name = line.strip().removeprefix(_BULLET) if line.lstrip().startswith(_BULLET) and line[:3].strip() else ""
        if not name or name == "Console" or (file, name) in seen:
            continue
        seen.add((file, name))
        following = lines[number + 1 : number + 1 + _MAX_LINES]
        block = list(takewhile(lambda line: not _ends_block(line), following))
        if not (is_sure or file or any(map(frame_of, block))):
            continue
        if name.lstrip().startswith(_EXITED):
            yield _Failed(("",), file, [name, *block])
            continue
        is_suite = name == _SUITE_FAILED
        yield _Failed((file if is_suite else name.replace(" \u203a ", " > "),), file, block, is_suite)
        if len(seen) >= MAX_MEMBERS:
            return


def _ends_block(line: str) -> bool:
    return line.lstrip().startswith(_BULLET) or _END.match(line) is not None or is_cut(line)


def _read_vitest(lines: Lines) -> Iterator[_Failed]:
    # Yield the failures that Vitest prints, several tests with one error together.
    paths: list[str] = []
    for number, line in enumerate(lines):
        fail = _FAIL.match(line) if "FAIL  " in line[:7] else None
        if fail is not None:
            paths.append(fail["path"])
        elif paths and line.strip():
            yield _failed_of_vitest(paths, _take_block(lines, number))
            paths = []
        elif line.startswith(_RULE) and _UNHANDLED.match(line):
            yield _Failed(("",), "", _take_block(lines, number + 1))


def _read_playwright(lines: Lines) -> Iterator[_Failed]:
    # Yield the failures that Playwright lists, of which each retry is printed again.
    starts = [
        (number, found)
        for number, line in enumerate(lines)
        if (found := _PLAYWRIGHT.match(line)) is not None and found["number"]
    ]
    ends = (*(number for number, _ in starts[1:]), len(lines))
    for (number, found), end in zip(starts[:MAX_MEMBERS], ends, strict=False):
        following = lines[number + 1 : min(end, number + _MAX_LINES)]
        block = list(takewhile(lambda line: not _RETRY.match(line), following))
        if any(map(frame_of, block)):
            yield _Failed((found["name"].replace(" \u203a ", " > "),), found["file"], block)


def _take_block(lines: Lines, start: int) -> list[str]:
    return list(
        takewhile(lambda line: line[:1] != _RULE and "FAIL  " not in line[:7], lines[start : start + _MAX_LINES])
    )


def _failed_of_vitest(paths: Lines, block: Lines) -> _Failed:
    file, _, name = paths[0].partition(" > ")
    if not name:
        return _Failed(
            tuple(path.partition(" [ ")[0] for path in paths), file.partition(" [ ")[0], block, is_suite=True
        )
    return _Failed(tuple(path.partition(" > ")[2] for path in paths), file, block)


# --- one failure -----------------------------------------------------------------------------------------------------


class _Said(NamedTuple):
    """What a failure comes down to."""

    type: str
    cause: str
    location: Location = NOWHERE
    details: tuple[str, ...] = ()
    key: str = ""


def _build_members(failed: _Failed) -> Members:
    outer, lines = _to_root(failed.lines)
    message = list(takewhile(lambda line: not _ends_message(line), lines))
    said = _read_message([line.strip() for line in message], lines)
    own = own_frame(frame for line in lines if (frame := _read_frame(line)) is not None)
    source = "" if said.location else _find_source(lines) or _find_source(failed.lines)
    details = tuple(filter(None, (f"> {source}" if source else "", outer, *said.details)))
    for name in failed.names:
        place = said.location or _choose_place(own, name, failed, said.cause)
        yield Member(said.type, said.cause, place, name, details, said.key, said.type == ASSERTION)


def _to_root(lines: Lines) -> tuple[str, Lines]:
    # Return what was raised from the root cause, in one line, and the lines of that cause; all lines where there is
    # none.
    at = next((at for at in range(len(lines) - 1, 0, -1) if lines[at].lstrip().startswith(_CAUSES)), None)
    outer = next((line.strip() for line in lines if line.strip()), "")
    if at is None:
        return "", lines
    first = lines[at].strip().removeprefix(_CAUSES[0]).removeprefix(_CAUSES[1])
    return f"raised as {outer}", [first, *lines[at + 1 :]]


def _read_frame(line: str) -> Frame | None:
    # Return the frame in a line; the functions that Jest calls methods of `Object` have no name.
    frame = frame_of(line)
    return frame._replace(function="") if frame is not None and "at Object." in line else frame


def _ends_message(line: str) -> bool:
    return frame_of(line) is not None or (_NUMBERED.match(line) is not None and "|" in line)


def _choose_place(own: Frame | None, name: str, failed: _Failed, cause: str) -> Location:
    # Return the place of a frame; a test's own function is called by the test's name. Where code was transformed, Jest
    # names the innermost function after the expression that failed.
    if own is None:
        return Location(file=name) if failed.is_suite else Location(function=name, file=failed.file)
    called = own.function.rpartition(".")[2]
    is_name = called and f"'{called}'" not in cause and f"{called} is not" not in cause and f".{called}(" not in cause
    in_test = own.file.endswith(failed.file) if failed.file else _OF_TESTS.search(own.file) is not None
    function = own.function if is_name else name if in_test and not failed.is_suite else ""
    return Location(function=function, file=own.file, line=own.line)


def _find_source(lines: Lines) -> str:
    for number, line in enumerate(lines):
        found = _MARKED.match(line) or (_NUMBERED.match(lines[number - 1]) if number and _CARET.match(line) else None)
        if found is not None:
            return found["source"].strip()
    return ""


def _read_message(message: list[str], lines: Lines) -> _Said:
    if "Details:" in message:
        stripped = [line.strip() for line in lines]
        below = stripped[stripped.index("Details:") + 1 :]
        said = _read_message([line for line in below if line != "Details:"], ())
        return said._replace(details=(*said.details, *filter(None, message[:2])))
    first = next(filter(None, message), "")
    rest = message[message.index(first) + 1 :] if first else []
    return _read_load_error(first, rest) or _read_comparison(first, rest) or _read_exception(first, rest)


def _read_load_error(first: str, rest: Lines) -> _Said | None:
    # Read why a suite could not be loaded: code that does not parse or compile, a module that is not there.
    compiled = compiled_in(first)
    if compiled is not None:
        return _Said(*compiled)
    analysed = find(_ANALYSED, rest) if "invalid JS syntax" in first else None
    if analysed is not None:
        return _Said("SyntaxError", first.removeprefix("Error: "), Location(file=analysed["file"]))
    parsed = _PARSED.match(first.removeprefix("SyntaxError: ")) if first.startswith("SyntaxError: ") else None
    if parsed is not None:
        place = place_of(parsed)
        return _Said("SyntaxError", parsed["message"], place, _quote_source(rest))
    unloaded = _UNLOADED.search(first)
    if unloaded is not None:
        return _Said("MODULE_NOT_FOUND", unloaded["message"], Location())
    place_line = _PLACE.match(first)
    error = next((line for line in rest if _TYPED.match(line)), "") if place_line else ""
    if place_line is None or not error:
        return None
    kind, _, cause = error.partition(": ")
    return _Said(kind, cause, place_of(place_line))


def _quote_source(lines: Lines) -> tuple[str, ...]:
    source = _find_source(lines)
    return (f"> {source}",) if source else ()


def _read_comparison(first: str, rest: Lines) -> _Said | None:
    # Read the message of a matcher: what was claimed, and both values.
    matched = _MATCHER.match(first)
    if matched is None:
        return None
    about = find(_LOCATOR, rest)
    claim = matched["claim"].replace("(locator)", f"({about['locator']})") if about else matched["claim"]
    labelled = find_all(_LABELLED, rest)
    if labelled:
        values = (
            f"{found['label'][0].lower()}{found['label'][1:].rstrip()} {found['value']}" for found in labelled[:4]
        )
        return _Said(ASSERTION, f"{claim}: {', '.join(values)}")
    told = read_changes(rest, expected="-").told(claim, actual="received")
    if told == claim:
        is_cut = any(line.startswith("- Expected") for line in rest)
        others = [line for line in rest if _CALLS.match(line)] or [line for line in rest if line and not is_cut]
        told = ": ".join((claim, *others[:1]))
    return _Said(ASSERTION, told)


def _read_exception(first: str, rest: Lines) -> _Said:
    timed_out = _TIMED_OUT.search(first)
    if timed_out is not None:
        return _Said(TIMEOUT, timed_out["message"].rstrip("."))
    thrown = _THROWN.match(first)
    if thrown is not None:
        return _Said("Uncaught", thrown["value"].strip('"'))
    typed = _TYPED.match(first)
    if typed is None or not (is_exception_name(typed["type"]) or typed["type"] == "Error"):
        kind, code, message = "Error", "", first
    else:
        kind, code, message = typed["type"], typed["code"] or "", typed["message"]
    if kind == ASSERTION:
        return _Said(ASSERTION, _read_assertion(message, rest))
    if message.startswith("Snapshot `"):
        return _Said(ASSERTION, read_changes(rest, expected="-").told(message, actual="received"))
    message, importer = split_importer("\n".join((message, *rest)))
    reading = read_message(message)
    place = importer.place() if importer is not None and is_own(importer.file) else NOWHERE
    kind = named(kind, code, message)
    return _Said(kind, reading.cause.removeprefix(f"{kind}: "), place, reading.details[:2], reading.key)


def _read_assertion(message: str, rest: Lines) -> str:
    # Return what Vitest says of a comparison, with both values where its own sentence leaves parts of them out.
    claim = _COMMENT.sub("", message)
    verb = _VERB.search(claim)
    changes = read_changes(rest, expected="-")
    if verb is not None and (changes.expected or changes.actual) and ("\u2026" in claim or len(claim) > MAX_VALUE):
        claim = changes.told(f"expected to {verb['verb']}", actual="received")
    return claim


# --- cut outputs -----------------------------------------------------------------------------------------------------


def _read_list(body: str, lines: Lines) -> Facts | None:
    # Read the list of tests where the failures themselves are not in the text.
    members: list[Member] = []
    file = ""
    for number, line in enumerate(lines):
        at = _LISTED_FILE.match(line) or (_FILE.match(line) if line[:5] == "FAIL " else None)
        file = at["file"] if at else file
        found = _LISTED.match(line) if "\u2715" in line or "\u00d7" in line else None
        if found is None or len(members) >= MAX_MEMBERS:
            continue
        arrow = _ARROW.match(lines[number + 1]) if number + 1 < len(lines) else None
        cause = arrow["said"] if arrow else f"{found['name']} failed"
        members.append(Member(FAILED, _COMMENT.sub("", cause), Location(file=file), found["name"]))
    if not members or not (_SUITES.search(body) or file):
        return None
    return facts_of_members(members, unit="test", total=read_total(body, _COUNTS))


def _read_closing_list(lines: Lines) -> Facts | None:
    # Playwright's list at the end; where it names one test, the stack above is that test's.
    at = next((number for number, line in enumerate(lines) if _FAILED.match(line)), len(lines))
    listed = list(takewhile(bool, map(_PLAYWRIGHT.match, lines[at + 1 : at + 1 + MAX_MEMBERS])))
    own = own_frame(filter(None, map(frame_of, lines))) if len(listed) == 1 else None
    members: list[Member] = []
    for found in filter(None, listed):
        name = found["name"].replace(" \u203a ", " > ")
        place = place_of(found)
        place = Location(function=own.function, file=own.file, line=own.line) if own is not None else place
        members.append(Member(FAILED, f"{name} failed", place, name))
    return facts_of_members(members, unit="test")


def _read_summary(body: str) -> Facts | None:
    # Read the lines that sum up a run of which nothing else is left, or whose coverage is too low.
    coverage = [found["said"] for found in _COVERAGE.finditer(body)]
    if coverage:
        members = [Member("CoverageThreshold", said) for said in coverage]
        return facts_of_members(members, unit="threshold")
    none = _NO_TESTS.search(body)
    if none is not None:
        return Facts(type="no tests", cause=none["said"])
    tests, suites = read_total(body, _COUNTS), read_total(body, _SUITES)
    if not suites:
        return None
    unit, failed = ("test", tests) if tests else ("suite", suites)
    return Facts(
        type=FAILED,
        cause=f"{failed} {unit}{'s' if failed > 1 else ''} failed; which and why is not in the text",
        key_cause=f"{unit}s failed",
        members=failed,
    )


_CHECKS: Final = Checker(
    harmless="--ci --verbose --silent --runInBand -i --no-cache --coverage --colors --no-color --no-coverage --bail "
    "--forceExit --detectOpenHandles --run --no-watch --watchAll=false",
    with_value="--maxWorkers -w --testTimeout --reporter --reporters --pool",
    narrowing="-t --testNamePattern --testPathPattern --testPathPatterns",
    narrowing_flags="-o --onlyChanged --onlyFailures -f --changed",
    everything="",
)

FORMAT: Final = Format(
    name="jest",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("\u25cf ", "FAIL ", "Test Suites: ", "\u00d7 ", " \u203a ", _RULE, "found, exiting with code "),
    commands=(
        Command("jest", scopes="-t", checks=_CHECKS),
        Command("vitest", subcommands="run watch bench typecheck related", scopes="-t", checks=_CHECKS),
        Command("vitest run", checks=_CHECKS),
        Command("playwright", subcommands="test install codegen show-report", scopes="-g"),
        Command("ava", prints="jest mocha"),
    ),
    closings=(
        r"Jest: \"",
        r" FAIL {1,2}\S{1,200}\.(?:test|spec)\.\w{2,3}\b",
        r" {0,4}● \S[^\n]{0,200} \u203a ",
        r"AssertionError(?: \[\w{1,40}\])?: \S",
        r"FAIL {1,2}\S{1,200}\.(?:test|spec)\.\w{2,3}\b",
        r" {0,20}✕ \S",
        r" {0,9}✖ {1,4}[1-9][0-9]* of [0-9]+ failed",
        r"\s{0,6}(?:Tests|Test Files|Test Suites|Errors):? {1,20}[1-9][0-9]* (?:failed|errors?)\b",
        r"\u23af+ Unhandled Errors? \u23af",
        r" {0,2}[1-9][0-9]* failed\n {2,4}\S",
    ),
    passes=(r"\s{0,6}(?:Tests|Test Files|Test Suites):? {1,20}[1-9][0-9]* passed",),
)
