"""Failed tests of the JVM."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Location, Members, Text, find_all, form
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members, to_member
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.jvm import chains_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ASSERTION: Final = "AssertionError"
_ASSERTIONS: Final = (
    "AssertionError", "AssertionFailedError", "ComparisonFailure", "TestFailedException", "FailException",
    "MultipleFailuresError", "AssertionException", "ComparisonFailException", "AssertionFailedException",
    "ArrayComparisonFailure", "AssumptionViolatedException",
)  # fmt: skip
"""What the test frameworks of the JVM call an expectation that was not met."""

_SUREFIRE: Final = form(
    r"(?:\[ERROR\] )?(?:(?P<method>[^()\n]{1,300})\((?P<class>[\w.$]{1,300})\)|(?P<name>\S[^\n]{0,300}?))"
    r" {1,2}(?:-- )?Time elapsed: .{1,20}<<< (?:ERROR|FAILURE)!"
)
_NUMBERED: Final = form(r"{number}\) (?P<method>[^()\n]{1,300})\((?P<class>[\w.$]{1,300})\)$")
_TESTNG: Final = form(r"FAILED(?: CONFIGURATION)?: (?:@\w{1,40} )?(?P<name>[\w.$]{1,300})(?:\(.{0,300}\))?$")
_GRADLE: Final = form(r"(?P<name>\S.{0,400} > .{1,300}) FAILED$")
_CONSOLE: Final = form(r"  JUnit (?:Jupiter|Vintage|Platform Suite):(?P<name>\S.{0,400})$")
_SCALATEST: Final = form(r"\s{0,20}- (?P<name>.{1,400}?) \*\*\* FAILED \*\*\*(?: \(.{1,60}\))?$")
_MUNIT: Final = form(r"==> X (?P<name>.{1,400}?) {1,4}[0-9.]{1,12}s (?P<rest>\S.*)$")
_HEADERS: Final = (
    ("Time elapsed: ", _SUREFIRE),
    (") ", _NUMBERED),
    ("FAILED: ", _TESTNG),
    ("FAILED CONFIGURATION: ", _TESTNG),
    (" FAILED", _GRADLE),
    ("  JUnit ", _CONSOLE),
    (" *** FAILED ***", _SCALATEST),
    ("==> X ", _MUNIT),
)
"""The line that begins a failed test, and what each such line holds."""

_SUMMARY: Final = form(
    r"\[ERROR\] {2,4}(?P<test>[A-Za-z_]\w{0,200})(?:>(?P<base>\w{1,200}))?[.>:]"
    r"(?P<method>[^\s:>.][^:\n»]{0,200}?):(?P<line>[0-9]{1,7})"
    r"(?P<calls>(?:->[\w.]{1,200}:[0-9]{1,7}){0,20})(?: » (?P<type>\w{1,200}))? ?(?P<message>.*)$"
)
_TOTALS: Final = (
    form(
        r"(?m)^(?:\[(?:ERROR|WARNING)\] )?Tests run: {1,2}{number}, {1,2}Failures: (?P<a>{number})"
        r"(?:, Errors: (?P<b>{number}))?[^\n<]{0,60}$"
    ),
    form(r"(?m)^{number} tests? completed, (?P<a>{number}) failed"),
    form(r"\n\[ {1,10}(?P<a>{number}) tests failed {1,12}\]"),
    form(r"\n\*\*\* (?P<a>{number}) TESTS? FAILED \*\*\*"),
)  # fmt: skip
_SHORT: Final = form(
    r"(?P<cause>Caused by: )?(?P<type>[A-Za-z_][\w.$]{1,300}) at (?P<file>\w{1,200}\.\w{1,10}):{line}$"
)
_SCALA_PLACE: Final = form(r"(?P<message>.*) \((?P<file>[\w-]{1,200}\.\w{1,10}):{line}\)$")
_MUNIT_PLACE: Final = form(r"(?P<type>[\w.]{1,200}): {file}:{line}(?: (?P<message>.*))?$")
_BARE_FRAME: Final = form(r" {7}(?P<frame>[\w.$/@]{3,400}\([\w$. ]{1,200}(?::{number})?\))$")
_MAX_SECTION: Final = 600
"""Lines of one failed test."""

_MAVEN: Final = ("[INFO]", "[ERROR]", "[WARNING]", "[WARN]")
_SBT: Final = ("[info] ", "[error] ")


@dataclass(slots=True, kw_only=True)
class _Section:
    """A failed test, and the lines that say why."""

    name: str
    lines: list[str] = field(default_factory=list[str])
    in_stack: bool = False
    closed: bool = False


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests in `text`."""
    lines = text.lines
    members = [member for section in _split_sections(lines)[:MAX_MEMBERS] for member in _read_section(section)]
    total = _count_failures(text.body)
    if not members or len(members) < total:
        known = {member.name.partition("(")[0] for member in members}
        extension = ".kt" if ".kt:" in text.body else ".java"
        members.extend(member for member in _read_summary(lines, extension) if member.name not in known)
    return facts_of_members(members, unit="test", total=total)


def _count_failures(body: str) -> int:
    for total in _TOTALS:
        found = list(total.finditer(body))
        if found:
            return sum(int(count) for count in found[-1].groups() if count)
    return 0


# --- sections --------------------------------------------------------------------------------------------------------


def _split_sections(lines: Iterable[str]) -> list[_Section]:
    sections: list[_Section] = []
    for raw in lines:
        line = raw.partition(" ")[2] if raw.startswith(_SBT) else raw
        header = _read_header(line)
        if header is not None:
            sections.append(header)
        elif sections and not sections[-1].closed:
            _add_line(sections[-1], line)
    return sections


def _read_header(line: str) -> _Section | None:
    for mark, header in _HEADERS:
        if mark not in line:
            continue
        found = header.match(line)
        if found is None or line.startswith(("> Task", "Tests run:", "[ERROR] Tests run:")):
            continue
        parts = found.groupdict()
        name = parts.get("name") or f"{parts['class']}.{parts['method']}"
        return _Section(name=_shorten_name(name), lines=[parts["rest"]] if parts.get("rest") else [])
    return None


def _add_line(section: _Section, line: str) -> None:
    # Add a line to a section, or close it: with a record of the build, or with the blank line behind a stack.
    stripped = line.strip()
    over = not stripped and section.in_stack
    if over or line.startswith(_MAVEN) or stripped.startswith("- ") or len(section.lines) >= _MAX_SECTION:
        section.closed = True
        return
    bare = _BARE_FRAME.match(line) if line.startswith("       ") else None
    section.in_stack = section.in_stack or bare is not None or stripped.startswith("at ")
    section.lines.append(f"at {bare['frame']}" if bare else stripped.removeprefix("=> "))


def _shorten_name(name: str) -> str:
    # Return a test's name without the package of its class.
    name = name.strip().removesuffix("()")
    found = re.match(r"(?:[a-z_][\w]{0,100}\.){1,20}(?=[A-Z])", name)
    return name[found.end() :] if found else name


# --- members ---------------------------------------------------------------------------------------------------------


def _read_section(section: _Section) -> Members:
    # Yield what failed in a section, if it says so.
    chain = next(iter(chains_of(section.lines)), None) or _read_without_stack(section)
    if chain:
        yield _build_member(section.name, chain)


def _build_member(name: str, chain: Sequence[Failure]) -> Member:
    member = to_member(facts_of(chain), name)
    more = tuple(line for line in member.details if not line.startswith("raised in "))
    is_assertion = member.type.rpartition(".")[2] in _ASSERTIONS
    return member._replace(type=ASSERTION if is_assertion else member.type, details=more, assertion=is_assertion)


def _read_without_stack(section: _Section) -> tuple[Failure, ...]:
    # Read a section that prints no frames: where each exception was raised is all that it says, or the bare message.
    lines = [line for line in section.lines if line and not line.startswith("MethodSource [")]
    short = find_all(_SHORT, lines)
    if short:
        return tuple(
            Failure(found["type"].removeprefix("java.lang."), "", Frame(found["file"], int(found["line"])))
            for found in short
        )
    if not lines:
        return ()
    for wanted in (_MUNIT_PLACE, _SCALA_PLACE):
        found = wanted.match(lines[0])
        if found is not None:
            said = [found["message"] or "", *lines[1:]]
            own = Frame(found["file"], int(found["line"]), section.name if wanted is _MUNIT_PLACE else "")
            return (Failure(ASSERTION, "\n".join(said).strip(), own),)
    return ()


def _read_summary(lines: Iterable[str], extension: str) -> Members:
    # Yield the failures that Surefire lists at the end, which is what is left where the head of an output is cut off.
    for line in lines:
        found = _SUMMARY.match(line) if line.startswith("[ERROR]  ") else None
        if found is None:
            continue
        kind = found["type"]
        calls = found["calls"].rpartition("->")[2]
        function, _, at = calls.rpartition(":") if calls else (found["method"], "", found["line"])
        place = found["base"] or found["test"]
        if "." in function:
            place, _, function = function.rpartition(".")
        yield Member(
            type=ASSERTION if kind is None else kind if kind.endswith(("Error", "Exception")) else f"{kind}Exception",
            cause=found["message"] or "no message",
            location=Location(function=f"{place}.{function}", file=f"{place}{extension}", line=int(at)),
            name=f"{found['test']}.{found['method']}",
            assertion=kind is None,
        )


FORMAT: Final = Format(
    name="junit",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("FAILED", "Tests run: ", "<<< ", "MethodSource [", "==> X "),
    commands=(
        Command("dart, flutter", subcommands="*"),
        Command("dart analyze, flutter analyze", prints="compilers"),
        Command("xcodebuild"),
    ),
    closings=(
        r"Test Suite '[^'\n]{1,200}' failed at ",
        r"Tests run: [0-9]+, (?:Failures: [1-9]|Failures: [0-9]+, Errors: [1-9])",
        r"\[ {1,9}[1-9][0-9]* tests failed",
        r"\[  FAILED  \] ",
        r"xcodebuild: error: \S|Gradle task \w{1,60} failed with exit code ",
        r"\*{2,3} (?:TEST|BUILD|ARCHIVE|TEST BUILD|[1-9][0-9]* TESTS?) FAILED \*{2,3}",
        r"[0-9:]{4,9} (?:\+[0-9]+ )?(?:~[0-9]+ )?-[1-9][0-9]*: Some tests failed",
    ),
    passes=(
        r"\[(?:INFO|WARNING)\] Tests run: [0-9]+, Failures: 0, Errors: 0",
        r"BUILD SUCCESS",
        r"\[  PASSED  \] ",
        r"[^\n]*All tests passed!?$",
    ),
)
