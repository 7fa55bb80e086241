"""Stacks of .NET and Mono, errors of the C# compiler and MSBuild, and failed tests of xUnit, NUnit and MSTest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Found, Lines, Location, Text, form
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members, to_member
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import MAX_CHILDREN, Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.extract.statements import is_exception_name

if TYPE_CHECKING:
    from collections.abc import Iterable

ASSERTION: Final = "AssertionError"
_FOREIGN: Final = (
    "System.", "Microsoft.", "Mono.", "MS.", "Xunit.", "NUnit.", "Moq.", "Castle.", "FluentAssertions.", "Shouldly.",
    "Newtonsoft.", "Npgsql.", "MySql.", "MySqlConnector.", "StackExchange.", "Serilog.", "Polly.", "MediatR.",
    "AutoMapper.", "Dapper.", "Grpc.", "Google.", "Azure.", "Amazon.", "MongoDB.", "RabbitMQ.", "MassTransit.",
    "Hangfire.", "Quartz.", "Autofac.", "Swashbuckle.", "Internal.", "Interop.", "FSharp.", "JetBrains.",
    "NSubstitute.", "Bogus.",
)  # fmt: skip
"""Namespaces of the runtime, of test frameworks and of what nearly everybody only depends on."""

_BUILT_ELSEWHERE: Final = ("/_/", "<")
"""How source files of packages, and of code without symbols, are named."""

_FRAME: Final = form(
    r"at (?:\(wrapper [^)\n]{1,80}\) )?(?P<name>[^\s(][^(\n]{0,500}?) ?\((?P<arguments>.{0,2000}?)\)"
    r"(?: \[0x[0-9a-f]{1,8}\])?(?: in (?P<file>.{1,500}):(?:line )?{line})?(?: ?<---)?$"
)
_TYPE: Final = r"(?P<type>[A-Za-z_][\w.+`\[\]]{1,300})"
_HEADER: Final = form(
    r"(?:\[ERROR\] FATAL UNHANDLED EXCEPTION: |Unhandled [Ee]xception[:.] |[\w.]{1,60}: )?"
    rf"{_TYPE}(?: \(0x[0-9A-Fa-f]{{8}}\))?(?:: (?P<message>.*))?$"
)
_INNER: Final = "---> "
_JOINT: Final = form(rf" ---> (?={_TYPE.replace('?P<type>', '?:')}: )")
_CHILD: Final = form(r"---> \(Inner Exception #[0-9]{1,5}\) ")
_END_OF_INNER: Final = "--- End of inner exception stack trace"
_COMPILED_NAME: Final = form(
    r"<{1,2}(?P<name>\w{1,200})>(?:\$>?)?(?:[a-z]__(?:(?P<local>[A-Za-z_]\w{0,100})\|)?[\w|]{0,100})?"
)
_SYNTHETIC: Final = form(r"[.+/]?<>c(?:__DisplayClass[0-9_]{1,20})?|`[0-9]{1,3}|\[[\w,. ]{0,200}\]")
_MAX_MESSAGE: Final = 40
"""Lines of one message."""

_BUILD: Final = form(
    r"\s{0,20}(?:{number}>)?(?P<file>[^\s(][^(\n:]{0,400}(?::[^(\n:]{1,400})?)(?:\({line}(?:,[0-9,]{1,30})?\))? ?: "
    r"(?:fatal )?error (?P<code>[A-Z]{2,8}{number}): (?P<message>.*?)(?: \[[^\]\n]{1,400}proj\])?$"
)
_FAILED: Final = form(r" {1,4}(?:Failed|X) (?P<name>\S.{0,400}?)(?: \[[^\]\n]{1,40}\])?$")
_NUNIT: Final = form(r"{number}\) (?:Failed|Error|Test Failure|Test Error) : (?P<name>{word})$")
_TOTALS: Final = (
    form(r"Failed! {1,3}- Failed: {1,10}(?P<count>{number})"),
    form(r"Total tests: {number}[^\n]{0,100}\n(?:[^\n]{0,80}\n){0,3}?\s{1,20}Failed: (?P<count>{number})"),
    form(r"Test Count: {number}, Passed: {number}, Failed: (?P<count>{number})"),
)
_TITLES: Final = ("Error Message:", "Stack Trace:", "Standard Output Messages:", "Standard Error Messages:")
_VALUES: Final = ("Expected", "Actual", "But was", "String lengths", "Expected:", "actual")


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests, of a failed build, or of the last chain of exceptions in `text`."""
    lines = text.lines
    members = _read_tests(lines)
    if members:
        return facts_of_members(members, unit="test", total=_count_failures(text.body))
    members = _build_errors(lines)
    if members:
        return facts_of_members(members, unit="error", first_is_root=True)
    chains = _read_chains(lines)
    return facts_of_stacks(chains) if chains else None


# --- stacks ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Stack:
    """One printed exception with the inner ones it was printed with, outermost first."""

    failures: list[_Exception]
    at: int
    """The exception to which the next frame belongs; inner ones print their frames first."""

    children: list[_Stack] = field(default_factory=list["_Stack"])


@dataclass(slots=True, kw_only=True)
class _Exception:
    """An exception, its message and the frames that count."""

    type: str
    message: list[str]
    own: Frame | None = None
    innermost: Frame | None = None
    raised: Frame | None = None
    """The innermost frame outside of .NET itself."""

    def failure(self) -> Failure:
        """Return what counts of this exception."""
        innermost = self.raised or self.innermost
        return Failure(_shorten_class(self.type), "\n".join(self.message), self.own, innermost)


def _read_chains(lines: Iterable[str]) -> list[tuple[Failure, ...]]:
    stacks = _read_stacks(lines)
    return list(
        dict.fromkeys(_build_failures(stack) for stack in stacks if any(each.innermost for each in stack.failures))
    )


def _read_stacks(lines: Iterable[str]) -> list[_Stack]:
    stacks: list[_Stack] = []
    stack: _Stack | None = None
    for raw in lines:
        line = raw.strip()
        if stack is not None and _goes_on(stack, line):
            continue
        child = _CHILD.match(line) if stacks and line.startswith(_INNER) else None
        opened = _open_quote(line[child.end() :] if child is not None else line)
        if opened is not None and (child is not None or not _is_message(stack, raw)):
            stack = opened
            siblings = stacks if child is None else stacks[-1].children
            siblings.extend([opened] if child is None or len(siblings) < MAX_CHILDREN else ())
        elif stack is not None and line and stack.failures[-1].innermost is None:
            stack.failures[-1].message[_MAX_MESSAGE:] = [line]
    return stacks


def _goes_on(stack: _Stack, line: str) -> bool:
    # Take a line into account that can only belong to the exception before it.
    if line.startswith("at "):
        found = _FRAME.match(line)
        if found is not None:
            _add_frame(stack.failures[stack.at], found)
        return found is not None
    if line.startswith(_END_OF_INNER):
        stack.at = max(0, stack.at - 1)
        return True
    if line.startswith(_INNER) and _CHILD.match(line) is None:
        for said in _JOINT.split(line[len(_INNER) :]):
            _add_exception(stack, said)
        return True
    return False


def _is_message(stack: _Stack | None, line: str) -> bool:
    return stack is not None and stack.failures[-1].innermost is None and line.startswith("  ")


def _open_quote(line: str) -> _Stack | None:
    # Open a stack at a line with type and message, and with those of inner exceptions behind an arrow.
    head, *inner = _JOINT.split(line)
    found = _HEADER.match(head)
    if found is None or not is_exception_name(found["type"]):
        return None
    stack = _Stack(failures=[_Exception(type=found["type"], message=[found["message"] or ""])], at=0)
    for each in inner:
        _add_exception(stack, each)
    return stack


def _add_exception(stack: _Stack, said: str) -> None:
    found = _HEADER.match(said)
    if found is not None:
        stack.failures.append(_Exception(type=found["type"], message=[found["message"] or ""]))
        stack.at = len(stack.failures) - 1


def _add_frame(exception: _Exception, found: Found) -> None:
    # Take a frame into account, from the innermost outwards; one with a source file is rather the user's own.
    if exception.own is not None and exception.own.file:
        return
    name, file, line = found["name"], found["file"] or "", found["line"]
    foreign = name.startswith(_FOREIGN) or file.startswith("/_/")
    frame = (
        Frame("", None, function_of(name))
        if file.startswith(_BUILT_ELSEWHERE)
        else Frame(file, int(line) if line else None, function_of(name))
    )
    exception.innermost = exception.innermost or frame
    if exception.raised is None and not name.startswith("System."):
        exception.raised = frame
    if not foreign and (exception.own is None or frame.file):
        exception.own = frame


def function_of(name: str) -> str:
    """Return a method as a person would name it: without namespace, and without the names that the compiler made up."""
    name = _SYNTHETIC.sub("", name)
    compiled = _COMPILED_NAME.search(name) if "<" in name else None
    if compiled is not None:
        name = name[: compiled.start()].rstrip(".+/") + "." + (compiled["local"] or compiled["name"])
    owner, _, method = name.replace("..", ".").replace("+", ".").rpartition(".")
    owner = owner.rpartition(".")[2]
    return f"{owner}.{method}" if owner else method


def _build_failures(stack: _Stack) -> tuple[Failure, ...]:
    # Turn a stack into failures; an aggregate prints the first of its exceptions apart from the others, or twice.
    chain = [each.failure() for each in stack.failures]
    if not stack.children:
        return tuple(chain)
    place = next((number for number, each in enumerate(chain) if each.type.endswith("AggregateException")), 0)
    group, first = chain[place], tuple(chain[place + 1 :])
    listed = [first, *(_build_failures(child) for child in stack.children)]
    children = tuple(child for child in dict.fromkeys(listed) if child)
    message = group.message.partition(" (")[0]
    return (*chain[:place], group._replace(message=message, children=children))


def _shorten_class(name: str) -> str:
    # Return a class of .NET itself without its namespace.
    return name.rpartition(".")[2] if name.startswith("System.") else name


# --- builds ----------------------------------------------------------------------------------------------------------


def _build_errors(lines: Iterable[str]) -> list[Member]:
    # Return the errors of compiler, package manager and MSBuild, which are printed again at the end.
    found: dict[tuple[str, ...], Member] = {}
    for line in lines:
        match = _BUILD.match(line) if ": error " in line or ": fatal error " in line else None
        if match is None or (match["line"] is None and "proj" not in match["file"]):
            continue
        place = Location(file=match["file"].rstrip(), line=int(match["line"]) if match["line"] else None)
        key = (match["file"], match["line"] or "", match["code"], match["message"])
        found.setdefault(key, Member(match["code"], match["message"].rstrip("."), place))
    return list(found.values()) if any(not code.startswith("TS") for _, _, code, _ in found) else []


# --- tests -----------------------------------------------------------------------------------------------------------


def _read_tests(lines: Lines) -> list[Member]:
    # Return the failed tests that `dotnet test` or a runner's own console lists.
    starts = [
        (number, found["name"])
        for number, line in enumerate(lines)
        if (found := _failed_test(line, lines[number + 1 : number + 2])) is not None
    ]
    members: list[Member] = []
    for index, (start, name) in enumerate(starts[:MAX_MEMBERS]):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(lines)
        members.append(_read_test(name, lines[start + 1 : end]))
    return members


def _failed_test(line: str, following: Lines) -> Found | None:
    if line.startswith("  ") and following and following[0].strip() == "Error Message:":
        return _FAILED.match(line)
    return _NUNIT.match(line) if line[:1].isdigit() else None


def _read_test(name: str, lines: Lines) -> Member:
    # Read one failed test: message and stack.
    said: list[str] = []
    failure = _Exception(type="", message=said)
    for raw in lines:
        line = raw.strip()
        frame = _FRAME.match(line) if line.startswith("at ") else None
        if frame is not None:
            _add_frame(failure, frame)
        elif (not line and failure.innermost is not None) or line in _TITLES[2:]:
            break
        elif line and line not in _TITLES and failure.innermost is None:
            said.append(line)
    found = _HEADER.match(said[0].replace(" : ", ": ", 1)) if said else None
    name = _short_test(name)
    if (
        found is not None
        and found["message"] is not None
        and is_exception_name(found["type"])
        and "Assert" not in found["type"]
    ):
        message = "\n".join((found["message"], *said[1:]))
        member = to_member(
            facts_of((Failure(_shorten_class(found["type"]), message, failure.own, failure.innermost),)), name
        )
        return member._replace(details=member.details[:2])
    place = failure.own or failure.innermost
    cause = " ".join(said[:1] + [line for line in said[1:4] if line.startswith(_VALUES)])
    at = place.place() if place else Location(function=name)
    return Member(ASSERTION, cause or "no message", at, name, tuple(said[1:5]), assertion=True)


def _short_test(name: str) -> str:
    # Return a test's name without its namespace.
    method, bracket, arguments = name.partition("(")
    return ".".join(method.split(".")[-2:]) + bracket + arguments


def _count_failures(body: str) -> int:
    for total in _TOTALS:
        counts = [int(found["count"]) for found in total.finditer(body)]
        if counts:
            return sum(counts)
    return 0


FORMAT: Final = Format(
    name="dotnet",
    read=read,
    markers=(":line ", ".cs:", ".cs(", "nhandled ", "error NU"),
    commands=(Command("dotnet", subcommands="*"), Command("msbuild")),
    closings=(
        r" {1,8}[1-9][0-9]{0,6} Error\(s\)$",
        r" {1,4}Failed \S{1,200} \[",
        r"Build FAILED\.$",
        r"Unhandled exception\. [A-Z]",
        r"[^\s(]{1,300} : error [A-Z]{2,8}[0-9]{1,5}: ",
        r"Failed! +- +Failed: ",
    ),
    passes=(r"Build succeeded\.$", r"Passed! +- +Failed: +0"),
)
