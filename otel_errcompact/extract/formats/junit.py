"""Failed tests of the JVM."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.jvm import chains_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


ASSERTION: Final = "AssertionError"
_ASSERTIONS: Final = (
    "AssertionError", "AssertionFailedError", "ComparisonFailure", "TestFailedException", "FailException",
    "MultipleFailuresError", "AssertionException", "ComparisonFailException", "AssertionFailedException",
    "ArrayComparisonFailure", "AssumptionViolatedException",
)  # fmt: skip
"""What the test frameworks of the JVM call an expectation that was not met."""

_SUREFIRE: Final = lazy_pattern(
    r"(?:\[ERROR\] )?(?:(?P<method>[^()\n]{1,300})\((?P<class>[\w.$]{1,300})\)|(?P<name>\S[^\n]{0,300}?))"
    r" {1,2}(?:-- )?Time elapsed: .{1,20}<<< (?:ERROR|FAILURE)!"
)
_NUMBERED: Final = lazy_pattern(r"[0-9]{1,5}\) (?P<method>[^()\n]{1,300})\((?P<class>[\w.$]{1,300})\)$")
_TESTNG: Final = lazy_pattern(r"FAILED(?: CONFIGURATION)?: (?:@\w{1,40} )?(?P<name>[\w.$]{1,300})(?:\(.{0,300}\))?$")
_GRADLE: Final = lazy_pattern(r"(?P<name>\S.{0,400} > .{1,300}) FAILED$")
_CONSOLE: Final = lazy_pattern(r"  JUnit (?:Jupiter|Vintage|Platform Suite):(?P<name>\S.{0,400})$")
_SCALATEST: Final = lazy_pattern(r"\s{0,20}- (?P<name>.{1,400}?) \*\*\* FAILED \*\*\*(?: \(.{1,60}\))?$")
_MUNIT: Final = lazy_pattern(r"==> X (?P<name>.{1,400}?) {1,4}[0-9.]{1,12}s (?P<rest>\S.*)$")
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

_SUMMARY: Final = lazy_pattern(
    r"\[ERROR\] {2,4}(?P<test>[A-Za-z_]\w{0,200})(?:>(?P<base>\w{1,200}))?[.>:]"
    r"(?P<method>[^\s:>.][^:\n»]{0,200}?):(?P<line>[0-9]{1,7})"
    r"(?P<calls>(?:->[\w.]{1,200}:[0-9]{1,7}){0,20})(?: » (?P<type>\w{1,200}))? ?(?P<message>.*)$"
)
_TOTALS: Final = (
    lazy_pattern(
        r"(?m)^(?:\[(?:ERROR|WARNING)\] )?Tests run: {1,2}[0-9]{1,7}, {1,2}Failures: (?P<a>[0-9]{1,7})"
        r"(?:, Errors: (?P<b>[0-9]{1,7}))?[^\n<]{0,60}$"
    ),
    lazy_pattern(r"(?m)^[0-9]{1,7} tests? completed, (?P<a>[0-9]{1,7}) failed"),
    lazy_pattern(r"\n\[ {1,10}(?P<a>[0-9]{1,7}) tests failed {1,12}\]"),
    lazy_pattern(r"\n\*\*\* (?P<a>[0-9]{1,7}) TESTS? FAILED \*\*\*"),
)  # fmt: skip
_SHORT: Final = lazy_pattern(
    r"(?P<cause>Caused by: )?(?P<type>[A-Za-z_][\w.$]{1,300}) at (?P<file>\w{1,200}\.\w{1,10}):(?P<line>[0-9]{1,7})$"
)
_SCALA_PLACE: Final = lazy_pattern(r"(?P<message>.*) \((?P<file>[\w-]{1,200}\.\w{1,10}):(?P<line>[0-9]{1,7})\)$")
_MUNIT_PLACE: Final = lazy_pattern(
    r"(?P<type>[\w.]{1,200}): (?P<file>[^\s:]{1,400}):(?P<line>[0-9]{1,7})(?: (?P<message>.*))?$"
)
_BARE_FRAME: Final = lazy_pattern(r" {7}(?P<frame>[\w.$/@]{3,400}\([\w$. ]{1,200}(?::[0-9]{1,7})?\))$")
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
    members = [member for section in _sections(lines)[:MAX_MEMBERS] for member in _members(section)]
    total = _total(text.body)
    if not members or len(members) < total:
        known = {member.name.partition("(")[0] for member in members}
        extension = ".kt" if ".kt:" in text.body else ".java"
        members.extend(member for member in _summary(lines, extension) if member.name not in known)
    if not members:
        return None
    return facts_of_members(members, unit="test", total=total)


def _total(body: str) -> int:
    """Return how many tests failed, as the tool counts them."""
    for form in _TOTALS:
        found = list(form.finditer(body))
        if found:
            return sum(int(count) for count in found[-1].groups() if count)
    return 0


# --- sections --------------------------------------------------------------------------------------------------------


def _sections(lines: Iterable[str]) -> list[_Section]:
    """Collect the lines of each failed test."""
    sections: list[_Section] = []
    for raw in lines:
        line = raw.partition(" ")[2] if raw.startswith(_SBT) else raw
        header = _header(line)
        if header is not None:
            sections.append(header)
        elif sections and not sections[-1].closed:
            _take(sections[-1], line)
    return sections


def _header(line: str) -> _Section | None:
    for mark, form in _HEADERS:
        if mark not in line:
            continue
        found = form.match(line)
        if found is None or line.startswith(("> Task", "Tests run:", "[ERROR] Tests run:")):
            continue
        parts = found.groupdict()
        name = parts.get("name") or f"{parts['class']}.{parts['method']}"
        return _Section(name=_short(name), lines=[parts["rest"]] if parts.get("rest") else [])
    return None


def _take(section: _Section, line: str) -> None:
    """Add a line to a section, or close it: with a record of the build, or with the blank line behind a stack."""
    stripped = line.strip()
    over = not stripped and section.in_stack
    if over or line.startswith(_MAVEN) or stripped.startswith("- ") or len(section.lines) >= _MAX_SECTION:
        section.closed = True
        return
    bare = _BARE_FRAME.match(line) if line.startswith("       ") else None
    section.in_stack = section.in_stack or bare is not None or stripped.startswith("at ")
    section.lines.append(f"at {bare['frame']}" if bare else stripped.removeprefix("=> "))


def _short(name: str) -> str:
    """Return a test's name without the package of its class."""
    name = name.strip().removesuffix("()")
    found = re.match(r"(?:[a-z_][\w]{0,100}\.){1,20}(?=[A-Z])", name)
    return name[found.end() :] if found else name


# --- members ---------------------------------------------------------------------------------------------------------


def _members(section: _Section) -> Iterator[Member]:
    """Yield what failed in a section, if it says so."""
    chain = next(iter(chains_of(section.lines)), None) or _read_without_stack(section)
    if chain:
        yield _member(section.name, chain)


def _member(name: str, chain: Sequence[Failure]) -> Member:
    facts = facts_of(chain)
    assertion = facts.type.rpartition(".")[2] in _ASSERTIONS
    return Member(
        type=ASSERTION if assertion else facts.type,
        cause=facts.cause,
        location=facts.location,
        name=name,
        details=tuple(line for line in facts.details if not line.startswith("raised in ")),
        key=facts.key_cause,
        assertion=assertion,
    )


def _read_without_stack(section: _Section) -> tuple[Failure, ...]:
    """
    Read a section that prints no frames: where each exception was raised is all that it says, or the bare message.
    """
    lines = [line for line in section.lines if line and not line.startswith("MethodSource [")]
    short = [found for line in lines if (found := _SHORT.match(line)) is not None]
    if short:
        return tuple(
            Failure(found["type"].removeprefix("java.lang."), "", Frame(found["file"], int(found["line"])))
            for found in short
        )
    if not lines:
        return ()
    for form in (_MUNIT_PLACE, _SCALA_PLACE):
        found = form.match(lines[0])
        if found is not None:
            said = [found["message"] or "", *lines[1:]]
            own = Frame(found["file"], int(found["line"]), section.name if form is _MUNIT_PLACE else "")
            return (Failure(ASSERTION, "\n".join(said).strip(), own),)
    return ()


def _summary(lines: Iterable[str], extension: str) -> Iterator[Member]:
    """
    Yield the failures that Surefire lists at the end, which is what is left where the head of an output is cut off.
    """
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
    read=read,
    markers=("FAILED", "Tests run: ", "<<< ", "MethodSource [", "==> X "),
    programs=("mvn", "mvnw", "gradle", "gradlew", "flutter", "dart", "xcodebuild", "swift", "ctest"),
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
