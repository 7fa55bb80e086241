"""Failed tests of runners that no other format knows."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import (
    MAX_MEMBERS,
    Command,
    Facts,
    Format,
    Lines,
    Member,
    Text,
    facts_of_members,
    form,
)
from otel_errcompact.extract.statements import last_statement
from otel_errcompact.extract.testing.blocks import NO_REASON, ends_block, read_block
from otel_errcompact.extract.testing.headings import (
    Count,
    Heading,
    find_count,
    find_headings,
    may_name_tests,
    read_list,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CUT_OFF: Final = "TestsFailed"
"""The type of a run of tests of which only the counts are left."""

_STACK: Final = form(r"(?m)^Traceback |^\s+at \S|^panic: ")
_TITLE: Final = form(r"\s*(?:-{10,}|[\u2500\u2501]{4,} (?P<inside>\S.{0,200}?) [\u2500\u2501]{4,})$")
_BEGIN: Final = form(
    r"\[ RUN      \] |\s*\(?(?:pass|fail|skip)\)|test .{1,200} \.\.\.$|Test Case .{1,300} (?:started|passed|failed)\b"
    r"|[0-9]{2,3}:[0-9]{2} \+{number}(?: [~-]{number}){0,2}: "
)
_CODE: Final = form(r"\s{0,6}{number} \| ")
_SEE_ABOVE: Final = "Test failed. See exception logs above."
_MAX_TITLE: Final = 16
"""Lines above a heading in which its title stands."""


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests, or of the counts where these are all."""
    lines = text.lines
    count = find_count(lines, text.body)
    if count is None and not may_name_tests(text.body):
        return None
    named = [*find_headings(lines, text.body), *read_list(lines)][: 4 * MAX_MEMBERS]
    headings = _strip_titles(lines, named)
    headings = sorted((*headings, *_find_sections(lines, headings)), key=lambda heading: heading.number)
    if not any(heading.is_sure for heading in headings) and count is None:
        return None
    members = _read_members(lines, headings)
    if not members:
        return _read_count(text, count) if count is not None else None
    total = count.failed if count is not None else 0
    told = [member for member in members if member.cause != NO_REASON]
    if 0 < total <= len(told):  # the others are the suites that hold these
        members = told
    return facts_of_members(members, unit="test", total=total if total >= len(members) else 0)


def _read_members(lines: Lines, headings: Sequence[Heading]) -> list[Member]:
    starts = {heading.number for heading in headings}
    members: dict[str, Member] = {}
    for heading in headings:
        block = _block_above(lines, heading, starts) if heading.is_below else _block_below(lines, heading, starts)
        if any(line.endswith(_SEE_ABOVE) for line in block[:1]):
            before = max((at for at in starts if at < heading.number), default=0)
            block = _block_of_flutter(lines[before : heading.number])
        name, block = _name_of(lines, heading, block)
        said = heading.said or _said_below(lines, heading)
        member = read_block(name, block, heading.location, said, is_exact=heading.is_exact)
        known = members.get(name)
        if known is None or (known.cause == NO_REASON and member.cause != NO_REASON):
            members[name] = member
    told = [member for member in members.values() if member.cause != NO_REASON]
    return [*told, *(member for member in members.values() if member.cause == NO_REASON)][:MAX_MEMBERS]


def _said_below(lines: Lines, heading: Heading) -> str:
    # Bun says below the name why it ended a test: `  ^ this test timed out after 5000ms.`
    below = lines[heading.number + 1].strip() if heading.is_below and heading.number + 1 < len(lines) else ""
    return below.removeprefix("^ ") if below.startswith("^ ") else ""


def _find_sections(lines: Lines, headings: Sequence[Heading]) -> Iterator[Heading]:
    listed = {heading.name: heading for heading in headings if not heading.is_whole}
    known = {heading.number for heading in headings}
    for number, line in enumerate(lines if listed else ()):
        heading = listed.get(line.strip(" \u2500-=")) if number not in known else None
        if heading is not None and number > heading.number:
            yield heading._replace(number=number, is_whole=True)


def _strip_titles(lines: Lines, headings: Sequence[Heading]) -> Sequence[Heading]:
    # What stands between rules above a heading without a name is that name, and no test of its own.
    titles = {at for heading in headings if not heading.name for at in _find_title(lines, heading)}
    return [heading for heading in headings if heading.number not in titles] if titles else headings


def _block_above(lines: Lines, heading: Heading, starts: set[int]) -> Lines:
    start = heading.number
    while (
        start > 0
        and start - 1 not in starts
        and not _BEGIN.match(lines[start - 1])
        and not ends_block(lines[start - 1])
    ):
        start -= 1
    # The error stands under the lines of code that it is of; what stands above them was logged before.
    framed = next((at for at in range(heading.number - 1, start - 1, -1) if _CODE.match(lines[at])), start)
    while framed > start and _CODE.match(lines[framed - 1]):
        framed -= 1
    return lines[framed : heading.number]


def _block_below(lines: Lines, heading: Heading, starts: set[int]) -> Lines:
    if not heading.is_whole:
        return ()
    end = heading.number + 1
    is_fenced = end < len(lines) and _TITLE.match(lines[end]) is not None
    end += is_fenced
    while end < len(lines) and end not in starts and not ends_block(lines[end]) and not _BEGIN.match(lines[end]):
        if (is_fenced or not heading.name) and _TITLE.match(lines[end]):
            break  # the title of the next test
        end += 1
    return lines[heading.number + 1 : end]


def _block_of_flutter(above: Lines) -> Lines:
    # A frame above the heading tells the exception: what it says ends with a blank line, the places are told below it.
    at = next((at for at, line in enumerate(above) if line.startswith("The following ") and line.endswith(":")), 0)
    places = (line for line in above[at:] if "file:///" in line)
    return (*takewhile(str.strip, above[at + 1 :]), *places)


def _name_of(lines: Lines, heading: Heading, block: Lines) -> tuple[str, Lines]:
    title = [] if heading.name else [lines[at].strip() for at in _find_title(lines, heading)]
    return " > ".join(filter(None, title)) or heading.name, block


def _find_title(lines: Lines, heading: Heading) -> range:
    above = range(max(0, heading.number - _MAX_TITLE), heading.number)
    rules = [at for at in above if _TITLE.match(lines[at])]
    return range(rules[-2] + 1, rules[-1]) if len(rules) > 1 else range(0)


def _read_count(text: Text, count: Count) -> Facts | None:
    if _STACK.search(text.body) or last_statement(text.lines):
        return None
    cause = "the reason was cut off"
    return Facts(type=CUT_OFF, cause=f"{cause}: {count.said}", key_cause=cause, members=count.failed)


FORMAT: Final = Format(
    name="testrunners",
    reads_all=True,
    read=read,
    markers=("ail", "FAIL", *"\u2717\u2718\u2716\u2715\u00d7", "[-] ", " [E]", "Error During Test", "Scenario"),
    commands=(Command("robot, pester"),),
    closings=(
        r"\(fail\) \S",
        r"# Unhandled error between tests$",
        r" {0,4}[1-9][0-9]* (?:fail|errors?)$",
        r"\[  FAILED  \] \S",
        r"\S[^\n]{0,300} \| FAIL \|$",
    ),
    passes=(r" {0,4}0 fail$", r"[0-9]+ tests?, 0 failures(?!, [1-9])"),
)
