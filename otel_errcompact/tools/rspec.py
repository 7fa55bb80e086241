"""Failed tests of Ruby: RSpec, Minitest with or without Rails, and test-unit."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.grammar import (
    Checker,
    Command,
    Facts,
    Format,
    Lines,
    Location,
    Text,
    form,
    place_of,
    read_total,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.stacks.ruby import frame_of, is_own
from otel_errcompact.extract.statements import is_exception_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.stacks.frames import Frame

ASSERTION: Final = "AssertionError"

_RSPEC: Final = form(r"\s{0,12}(?P<number>{number})(?:\.[0-9]{1,3})?\) (?P<name>\S.*)$")
_PART: Final = form(r"\s{0,12}{number}\.[0-9]{1,3}\) Failure/Error: ")
_FIXED: Final = " FIXED"
_UNPARSED: Final = form(r"(?P<file>(?:[A-Za-z]:)?[^:\n]{1,400}\.rb):{line}: (?P<said>syntax error.*)")
_OUTSIDE: Final = form(r"An error occurred (?:while loading|in) (?P<name>.{1,300}?)\.?$")
_MINITEST: Final = form(r"\s{0,8}{number}\) (?P<kind>Failure|Error):$")
_RAILS: Final = form(r"(?P<kind>Failure|Error):$")
_MINITEST_NAME: Final = form(
    r"(?P<name>[A-Z][\w:]{0,200}#\S.{0,300}?)(?: \[(?P<file>[^\]\n]{1,400}):(?P<line>[0-9]{1,7})\])?:$"
)
_TEST_UNIT: Final = form(r"(?P<kind>Failure|Error): (?P<method>[^()\n]{1,300})\((?P<class>[\w:]{1,200})\):?$")
_TYPED: Final = form(r"(?P<type>[A-Z]\w{0,100}(?:::[A-Z]\w{0,100}){0,10}):(?: (?P<message>.*))?$")
_EXAMPLE: Final = form(r"rspec (?P<file>\S{1,400}?)(?::(?P<line>[0-9]{1,7})|\[[0-9:]{1,40}\])? # (?P<name>.*)$")
_TOTALS: Final = (
    form(
        r"(?m)^{number} examples?, (?P<a>{number}) failures?(?:, {number} pending)?"
        r"(?:, (?P<b>{number}) errors? occurred outside of examples)?$"
    ),
    form(r"(?m)^{number} (?:runs|tests), {number} assertions, (?P<a>{number}) failures, (?P<b>{number}) errors"),
)
_NOISE: Final = (
    "(compared using ", "Shared Example Group:", "# ---", "=====", "---Backtrace---", "--------", "bin/rails test ",
)  # fmt: skip
_DIFF: Final = ("Diff:", "diff:")
_EXPECTED: Final = form(r"(?P<name>expected|Expected)(?: (?!: )[^:]{0,60})?: ?(?P<value>.*)$")
_GOT: Final = form(r"\b(?P<name>got|Actual|actual)(?: [^:]{0,60})?: ?(?P<value>.*)$")
_EXCERPT: Final = form(r"(?P<mark>=> )?{number}: (?P<source>.*)$|{number}:$")
_MAX_BLOCK: Final = 300
"""Lines of one failed test."""

_MAX_CAUSE_LINES: Final = 3


class _Block(NamedTuple):
    """A failed test: its name, where its first line tells it, and the lines below."""

    name: str
    start: int
    body: int
    place: Location | None = None


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests in `text`."""
    lines = text.lines
    blocks = _find_blocks(lines)
    members: list[Member] = []
    for block, end in zip(blocks, [*(block.start for block in blocks[1:]), len(lines)], strict=False):
        members.append(_build_member(block, _until_summary(lines[block.body : min(end, block.body + _MAX_BLOCK)])))
    examples = _read_examples(lines) if len(members) < MAX_MEMBERS else []
    known = {member.name for member in members}
    members.extend(example for example in examples if example.name not in known)
    return facts_of_members(members, unit="test", total=read_total(text.body, *_TOTALS))


# --- blocks ----------------------------------------------------------------------------------------------------------


def _find_blocks(lines: Lines) -> list[_Block]:
    # Find where each failed test begins.
    blocks: list[_Block] = []
    for number, line in enumerate(lines):
        block = _read_heading(line, number, lines) if ") " in line or ":" in line or line[:1] == "A" else None
        if block is not None:
            blocks.append(block)
    return blocks[:MAX_MEMBERS]


def _read_heading(line: str, number: int, lines: Lines) -> _Block | None:
    if line.startswith("An error occurred "):
        outside = _OUTSIDE.match(line)
        return _Block(outside["name"].removeprefix("./"), number, number + 1) if outside is not None else None
    if _MINITEST.match(line) or _RAILS.match(line):
        named = _MINITEST_NAME.match(lines[number + 1].strip()) if number + 1 < len(lines) else None
        return _Block(named["name"], number, number + 2, place_of(named) or None) if named is not None else None
    if line.startswith(("Failure: ", "Error: ")):
        unit = _TEST_UNIT.match(line)
        return _Block(f"{unit['class']}#{unit['method'].strip()}", number, number + 1) if unit is not None else None
    found = _RSPEC.match(line)
    if found is None or _PART.match(line):
        return None
    following = lines[number + 1 : number + 4]
    is_fixed = found["name"].endswith(_FIXED) and any("Expected pending " in line for line in following)
    if not is_fixed and not any("Failure/Error: " in line for line in following):
        return None
    return _Block(found["name"].removesuffix(_FIXED), number, number + 1)


def _until_summary(lines: Lines) -> Lines:
    for number, line in enumerate(lines):
        if line.startswith(("Finished in ", "Failed examples:", "=======")) or _TOTALS[1].match(line):
            return lines[:number]
    return lines


# --- members ---------------------------------------------------------------------------------------------------------


def _build_member(block: _Block, lines: Lines) -> Member:
    starts = [number for number, line in enumerate(lines) if _PART.match(line)]
    if starts:
        return _join_aggregate(block, lines, starts)
    source, said, frames = _split_parts(lines)
    own = next((frame for frame in frames if is_own(frame.file)), None)
    if own is not None:
        own = [frame for frame in frames if (frame.file, frame.line) == (own.file, own.line)][-1]
    place = block.place or (own or frames[0]).place() if frames or block.place else Location()
    place = place or Location()
    typed = _TYPED.match(said[0]) if said else None
    if typed is not None and (is_exception_name(typed["type"]) or "::" in typed["type"]):
        message = [typed["message"], *said[1:]] if typed["message"] else said[1:]
        return _read_exception(block.name, typed["type"], message, place, source)
    cause = _join_expectation(said) or source
    rest = tuple(line for line in said[_MAX_CAUSE_LINES:] if line not in cause)
    explained = source == cause or _GOT.search(cause) is not None
    more = () if explained else ((f"> {source}",) if source else ()) + rest[:3]
    if not place.function or block.name.endswith(f"#{place.function}"):
        place = Location(function=block.name, file=place.file, line=place.line)
    return Member(ASSERTION, cause or "no message", place, block.name, more, "", True)


def _join_aggregate(block: _Block, lines: Lines, starts: Sequence[int]) -> Member:
    bounds = pairwise((*starts, len(lines)))
    parts = [_build_member(block, [lines[start].partition(") ")[2], *lines[start + 1 : end]]) for start, end in bounds]
    return parts[0]._replace(cause="; ".join(dict.fromkeys(part.cause for part in parts)), details=())


def _read_exception(name: str, kind: str, message: Lines, place: Location, source: str) -> Member:
    unparsed = _UNPARSED.match(message[0]) if kind == "SyntaxError" and message else None
    if unparsed is not None:
        return Member(kind, unparsed["said"], place_of(unparsed), name)
    shown = [line for line in message[1:] if line.startswith("Did you mean")]
    cause = message[0] if message else "no message"
    at_test = (f"> {source}",) if source and not message else ()
    return Member(kind, cause, place, name, (*shown, *at_test))


def _split_parts(lines: Lines) -> tuple[str, list[str], list[Frame]]:
    source = ""
    said: list[str] = []
    frames: list[Frame] = []
    late: list[str] = []
    in_diff = False
    for raw in lines:
        line = raw.strip()
        excerpt = _EXCERPT.match(line)
        if excerpt is not None:
            source = excerpt["source"].strip() if excerpt["mark"] else source
            continue
        if not line or line.startswith(_NOISE):
            continue
        if line.startswith("Failure/Error: "):
            source = line.removeprefix("Failure/Error: ")
            continue
        frame = frame_of(line) if ":" in line else None
        if frame is not None:
            frames.append(frame)
            continue
        in_diff = in_diff or line in _DIFF
        if in_diff and line[:1] in "-+" and not line.startswith(("---", "+++")):
            said.append(line)
        elif not in_diff and line.strip("^~ "):
            (late if frames else said).append(line)
    return source, said or late, frames


def _join_expectation(said: Lines) -> str:
    for number, line in enumerate(said[:-1]):
        expected, got = _EXPECTED.match(line), _GOT.match(said[number + 1])
        if expected is not None and got is not None:
            before = f"{said[0]}: " if number else ""
            return f"{before}{line.strip()}, {got['name'].lower()}: {got['value']}"
    words = said[:_MAX_CAUSE_LINES]
    if words and words[0].startswith("expected "):
        words = [line for line in words if line[:1] not in ("-", "+")]
    return " ".join(words).removesuffix(" with backtrace:")


def _read_examples(lines: Lines) -> list[Member]:
    # Return the failed examples that RSpec lists at the end, which is what is left of a cut output.
    members: list[Member] = []
    for line in lines:
        found = _EXAMPLE.match(line) if line.startswith("rspec ") else None
        if found is not None:
            file = found["file"].removeprefix("./")
            place = Location(file=file, line=int(found["line"]) if found["line"] else None)
            members.append(Member("ExampleFailed", found["name"], place, found["name"], assertion=True))
    return members


_CHECKS: Final = Checker(
    harmless="-b --backtrace --no-color --fail-fast --color",
    with_value="-f --format --seed --order",
    narrowing="-e --example -t --tag -E",
    narrowing_flags="--only-failures -n --next-failure",
    everything="spec",
)

FORMAT: Final = Format(
    name="rspec",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("Failure/Error: ", ") Failure:", ") Error:", "rspec ./", "\nFailure: "),
    commands=(Command("rspec", scopes="-e -t", checks=_CHECKS), Command("cucumber, behave")),
    closings=(
        r"[0-9]{1,6} (?:runs|tests), [0-9]{1,6} assertions, (?:[1-9][0-9]{0,6} failures|[0-9]{1,6} failures, [1-9])",
        r"[0-9]{1,6} (?:features?|scenarios?) passed, [1-9][0-9]{0,6} failed",
        r"rspec \./\S{1,200}:[0-9]{1,6} # ",
        r" {2,9}Failure/Error: ",
        r"[0-9]+ examples?, (?:[0-9]+ \w+, )?[1-9][0-9]* failures?\b",
    ),
    passes=(
        r"[0-9]{1,6} (?:runs|tests), [0-9]{1,6} assertions, 0 failures, 0 errors",
        r"[0-9]+ examples?, 0 failures\b(?!, [1-9][0-9]* error)",
    ),
)
