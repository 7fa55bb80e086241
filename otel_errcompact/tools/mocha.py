"""Failed tests of Mocha, Node and the Test Anything Protocol."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Members,
    Text,
    find_all,
    form,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.javascript import ASSERTION, asserted, chains_of, named
from otel_errcompact.extract.stacks.javascript_frames import frame_of, own_frame
from otel_errcompact.extract.statements import indentation, is_exception_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.stacks.failure import Failure
    from otel_errcompact.extract.stacks.frames import Frame

_FAILED_TEST: Final = "#   Failed test"
_NOT_LOADED: Final = "Exception during run: "

TIMEOUT: Final = "Timeout"
FAILED: Final = "TestFailure"

_MAX_LINES: Final = 300
"""Lines of one failure that are looked at."""

_MAX_TITLE: Final = 12
"""Lines over which the name of a test goes: one for each suite it is in."""

_FAILING: Final = form(r"(?m)^ {0,4}(?P<count>{number}) failing$")
_ENTRY: Final = form(r" {0,4}{number}\) (?P<title>(?!Scenario: )\S.{0,500})$")
_NODE_ENTRY: Final = form(r"(?P<margin> {0,60})\u2716 (?P<name>\S.{0,500}) \([0-9.]{1,20}ms\)$")
_TYPED: Final = form(
    r"(?:Uncaught )?(?P<type>[A-Za-z_$][\w$.]{0,100})(?: \[(?P<code>\w{1,60})\])?(?:: (?P<message>.*)|$)", re.DOTALL
)
_TIMED_OUT: Final = form(r"(?P<message>Timeout of \S{1,20} exceeded)\..{0,300}?(?:\((?P<file>[^()\s]{1,500})\))?$")

_NOT_OK: Final = form(
    r"(?P<margin> {0,60})not ok(?: [0-9]{1,7})?(?: -)? ?(?P<name>[^#\n]{0,500})(?P<directive>#.{0,200})?$"
)
_EXCUSED: Final = form(r"# ?(?:TODO|SKIP)\b", re.IGNORECASE)
_FIELD: Final = form(r" *(?P<name>[A-Za-z_]{1,40}) {0,4}: *(?P<value>.*)$")
_COMMENT: Final = form(r" *# ?(?P<said>.*)")
_AT_LINE: Final = form(r"at (?P<file>.{1,500}) line {line}\.$")
_LABELLED: Final = form(r" *(?P<label>got|expected|wanted|found|actual): *(?P<value>\S.*)$")
_UNFOLDED: Final = "|>"


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests."""
    body, lines = text.body, text.lines
    if "not ok " in body:
        members = list(_read_tap(lines))
        return _build_facts(members, 0) if members else None
    failing = _FAILING.search(body)
    members = list(_read_mocha(lines, is_sure=failing is not None))
    if members:
        return _build_facts(members, int(failing["count"]) if failing else 0)
    members = list(_read_node(lines)) if "\u2716 " in body else list(_read_prove(lines))
    if members:
        return _build_facts(members, 0)
    return _not_loaded(lines) if _NOT_LOADED in body else None


def _build_facts(members: Sequence[Member], counted: int) -> Facts | None:
    return facts_of_members(members, unit="test", total=counted)


def _not_loaded(lines: Lines) -> Facts | None:
    # Read what Mocha prints where it could not load the tests.
    chains = chains_of([line.strip().removeprefix(_NOT_LOADED) if _NOT_LOADED in line else line for line in lines])
    return facts_of(chains[-1]) if chains else None


# --- Mocha -----------------------------------------------------------------------------------------------------------


def _read_mocha(lines: Lines, *, is_sure: bool) -> Members:
    # Unless it is surely Mocha's, as where its head is cut off, a failure must have a stack.
    starts = [number for number, line in enumerate(lines) if _ENTRY.match(line) and _read_title(lines, number)[1]]
    for start, end in zip(starts[:MAX_MEMBERS], (*starts[1:], len(lines)), strict=False):
        name, after = _read_title(lines, start)
        block = lines[after : min(end, after + _MAX_LINES)]
        if is_sure or any(frame_of(line) is not None for line in block):
            yield _member_of_mocha(name, block)


def _read_title(lines: Lines, start: int) -> tuple[str, int]:
    # Return the name of the test whose failure begins at line `start`, and the line behind it; 0 where it is only
    # listed.
    parts: list[str] = []
    for number in range(start, min(len(lines), start + _MAX_TITLE)):
        part = lines[number].strip() if number > start else lines[number].partition(") ")[2].strip()
        if not part:
            break
        parts.append(part.removesuffix(":"))
        if part.endswith(":"):
            return " > ".join(parts), number + 1
        if number > start and indentation(lines[number]) <= indentation(lines[start]):
            break
    return "", 0


def _member_of_mocha(name: str, block: Lines) -> Member:
    frames = [frame for line in block if (frame := frame_of(line)) is not None]
    end = next((number for number, line in enumerate(block) if frame_of(line) is not None), len(block))
    message = [line.strip() for line in block[:end]]
    diff = next((number for number, line in enumerate(message) if line == "+ expected - actual"), len(message))
    said = "\n".join(message[:diff]).strip()
    typed = _TYPED.match(said)
    known = typed is not None and (is_exception_name(typed["type"]) or typed["type"] == "Error")
    kind, code, said = (
        (typed["type"], typed["code"] or "", typed["message"] or "") if typed and known else ("Error", "", said)
    )
    return _build_member(name, named(kind, code, said), said, message[diff:], frames)


def _build_member(name: str, kind: str, said: str, diff: Lines, frames: Sequence[Frame]) -> Member:
    own = own_frame(frames)
    place = Location(function=own.function or name, file=own.file, line=own.line) if own else Location(function=name)
    timed_out = _TIMED_OUT.match(said)
    if timed_out is not None:
        return Member(
            TIMEOUT, timed_out["message"], Location(function=name, file=timed_out["file"] or place.file), name
        )
    if kind == ASSERTION:
        return Member(kind, asserted(said, diff), place, name, assertion=True)
    reading = read_message(said)
    return Member(kind, reading.cause.removeprefix(f"{kind}: "), place, name, reading.details[:2], reading.key)


# --- Node's runner ---------------------------------------------------------------------------------------------------


def _read_node(lines: Lines) -> Members:
    # Yield the failures that Node's runner prints, each once although it repeats them at the end.
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines):
        entry = _NODE_ENTRY.match(line) if "\u2716 " in line else None
        if entry is None or len(seen) >= MAX_MEMBERS:
            continue
        margin = len(entry["margin"])
        block = _take_deeper_lines(lines, number + 1, margin)
        first = next((line.strip() for line in block if line.strip()), "")
        if first and (entry["name"], first) not in seen:
            seen.add((entry["name"], first))
            yield _member_of_node(entry["name"], block)


def _take_deeper_lines(lines: Lines, start: int, margin: int) -> list[str]:
    # Return the lines that stand further in than `margin`.
    block: list[str] = []
    for line in lines[start : start + _MAX_LINES]:
        if line.strip() and (indentation(line) <= margin or _NODE_ENTRY.match(line)):
            break
        block.append(line)
    return block


def _member_of_node(name: str, block: Lines) -> Member:
    chains = chains_of(block)
    if chains:
        return _member_of_chain(name, chains[-1])
    said = "\n".join(line.strip() for line in block).strip()
    return Member(FAILED, read_message(said).cause.strip("'"), Location(function=name), name)


def _member_of_chain(name: str, chain: Sequence[Failure]) -> Member:
    facts = facts_of(chain)
    place = facts.location
    place = Location(function=place.function or name, file=place.file, line=place.line)
    return Member(facts.type, facts.cause, place, name, facts.details[:3], facts.key_cause, facts.type == ASSERTION)


# --- the Test Anything Protocol --------------------------------------------------------------------------------------


class _Report(NamedTuple):
    """What stands behind a `not ok`: the fields of its block, and the comments around it."""

    fields: dict[str, str]
    comments: list[str]


def _read_tap(lines: Lines) -> Members:
    comments: list[str] = []
    count = 0
    for number, line in enumerate(lines):
        stripped = line.lstrip()
        found = _NOT_OK.match(line) if stripped.startswith("not ok") else None
        if found is not None and count < MAX_MEMBERS:
            report = _read_report(lines, number + 1, len(found["margin"]))
            member = None if _is_excused(found, report) else _member_of_tap(found["name"].strip(), report, comments)
            if member is not None:
                count += 1
                yield member
        if stripped.startswith(("ok ", "not ok")):
            comments = []
        elif stripped[:1] == "#":
            comments.append(line)


def _is_excused(found: Found, report: _Report) -> bool:
    # Tell whether a test was allowed to fail, or only holds tests that failed.
    excused = found["directive"] is not None and _EXCUSED.match(found["directive"]) is not None
    return excused or "subtestsFailed" in report.fields.get("failureType", "")


def _read_report(lines: Lines, start: int, margin: int) -> _Report:
    # Return what is said of a failure below it: a block of fields, or comments.
    fields: dict[str, str] = {}
    comments: list[str] = []
    name, depth = "", 0
    for line in lines[start : start + _MAX_LINES]:
        stripped = line.strip()
        field = _FIELD.match(line) if not name or indentation(line) <= depth else None
        if stripped == "..." or stripped.startswith(("ok ", "not ok ")):
            break
        if stripped[:1] == "#" and not fields:
            comments.append(_strip_comment(line))
        elif field is not None and indentation(line) > margin:
            name, depth = field["name"], indentation(line)
            fields[name] = "" if field["value"][:1] in _UNFOLDED else field["value"]
        elif name:
            fields[name] = f"{fields[name]}\n{stripped}".strip()
    return _Report(fields, comments)


def _strip_comment(comment: str) -> str:
    found = _COMMENT.match(comment)
    return found["said"] if found else comment


def _member_of_tap(name: str, report: _Report, before: Lines) -> Member:
    fields = report.fields
    chains = chains_of([_strip_comment(line) for line in before[-_MAX_LINES:]]) if fields.get("exitCode") else []
    if chains:
        return _member_of_chain(Location(file=name).file_name, chains[-1])
    if not fields:
        return _read_comments(name, report.comments)
    frames = [frame for line in fields.get("stack", "").split("\n") if (frame := _frame_in(line)) is not None]
    frames += [
        frame
        for frame in (_frame_in(fields.get("at", "")), _frame_in(_unquote_value(fields.get("location", ""))))
        if frame
    ]
    said = _unquote_value(fields.get("error", "") or fields.get("message", ""))
    kind = named(_first_line(fields.get("name", "")) or "Error", _first_line(fields.get("code", "")), said)
    if "expected" in fields and kind in ("Error", ASSERTION):
        return _build_member(name, ASSERTION, _join_comparison(fields, said or fields.get("operator", "")), (), frames)
    kind = FAILED if kind == "ERR_TEST_FAILURE" else kind
    return _build_member(name, kind, said or "not ok", (), frames)


def _join_comparison(fields: dict[str, str], said: str) -> str:
    # Return the claim of a comparison with both values.
    if "\n" in said:
        return said
    values = (f"{label} {_unquote_value(fields.get(label, ''))}" for label in ("expected", "actual"))
    compared = ", ".join(" ".join(value.split()) for value in values)
    return f"{said}: {compared}" if said else compared


def _unquote_value(value: str) -> str:
    return value.strip("\"'") if value[:1] == value[-1:] and value[:1] in ("'", '"') else value


def _first_line(value: str) -> str:
    return _unquote_value(value.partition("\n")[0])


def _frame_in(line: str) -> Frame | None:
    # Return the frame in a line of a stack, with `at` before it or without.
    line = line.strip().removeprefix("at ")
    return frame_of(f"at {line}")


def _read_comments(name: str, comments: Lines) -> Member:
    # Read what Perl's test modules, and others like them, say of a failure in comments.
    place = next((found for line in comments if (found := _AT_LINE.search(line))), None)
    location = (
        Location(function=name, file=place["file"], line=int(place["line"])) if place else Location(function=name)
    )
    labelled = find_all(_LABELLED, comments)
    others = [" ".join(line.split()) for line in comments if line[:3].strip() == "" and not _AT_LINE.search(line)]
    values = [f"{found['label']} {found['value']}" for found in labelled] or [
        line for line in others if "Failed test" not in line and line[-1:] != ":"
    ]
    cause = ", ".join(values[:3]) or "not ok"
    return Member(ASSERTION, cause, location, name, assertion=True)


def _read_prove(lines: Lines) -> Members:
    # Yield the failures of which `prove` prints only the comments.
    starts = [number for number, line in enumerate(lines) if line.startswith(_FAILED_TEST)]
    for start, end in zip(starts[:MAX_MEMBERS], (*starts[1:], len(lines)), strict=False):
        comments = [_strip_comment(line) for line in takewhile(lambda line: line[:1] == "#", lines[start:end])]
        yield _read_comments(comments[0].partition("'")[2].rstrip("'"), comments)


FORMAT: Final = Format(
    name="mocha",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=(" failing", "\u2716 ", "not ok ", _NOT_LOADED, _FAILED_TEST, "at Context."),
    commands=(
        Command("mocha", scopes="-g -f"),
        Command("cypress", subcommands="run open verify install"),
        Command("bats", prints="mocha testrunners"),
        Command("tap, karma"),
    ),
    closings=(
        r"FAILED \| [0-9]{1,6} passed",
        r" {0,4}[1-9][0-9]* fail$",
        r"Result: FAIL$",
        r" {0,4}[1-9][0-9]* tests? failed$",
        r"not ok [0-9]+\b(?![^\n]{0,400}# (?i:TODO|SKIP))",
        r" {0,6}[1-9][0-9]* failing$",
        r"[#\u2139] fail [1-9][0-9]*$",
    ),
    passes=(
        r" {0,6}[1-9][0-9]* passing\b(?![^\n]*\n[^\n]*failing)",
        r"[#\u2139] fail 0$",
        r" {0,4}0 fail$",
        r"ok \| [0-9]+ passed \| 0 failed",
    ),
)
