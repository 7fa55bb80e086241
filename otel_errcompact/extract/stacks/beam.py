"""Exceptions that Elixir prints, with their stacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.statements import indentation
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADER: Final = lazy_pattern(
    r"(?:\S.{0,200} (?:\[Yn\]|failed to connect:) )?"
    r"(?P<indent> *)\*\* \((?P<type>[A-Za-z][^)\n]{0,200})\)(?: (?P<message>.*))?$"
)
_MODULE: Final = r"(?::[a-z]\w{0,60}|[A-Z][\w.]{0,200})"
_FRAME: Final = lazy_pattern(
    r" *(?:\((?P<app>[a-z][a-z0-9_]{0,60})(?: [0-9][^)\s]{0,40})?\) )?"
    r"(?:(?P<file>[^\s:()\"']{1,300}\.(?:exs?|erl|[a-z]?eex|[xy]rl)|nofile|iex):(?P<line>[0-9]{1,9}): "
    r"(?P<function>\S.*)"
    rf"|(?P<call>{_MODULE}\.[^\s(]{{1,200}})\(.*\)$|(?P<bare>{_MODULE}\.[^\s(]{{1,200}}/[0-9]{{1,3}})$)"
)
_ANONYMOUS: Final = lazy_pattern(
    r"anonymous fn/[0-9]{1,3} in |-fun-[0-9]{1,4}-|\"-(?P<of>[^/\"]{1,200})/[0-9]{1,3}-[^\"]{0,100}\""
)
_NOT_FUNCTIONS: Final = ("(file)", "(module)", "(test)")
_RAISED: Final = lazy_pattern(r"an exception was raised:$")
_EXIT_FROM: Final = " from #PID<"
_PLACED: Final = lazy_pattern(r"(?P<file>[^\s:]{1,300}):(?P<line>[0-9]{1,9})(?::[0-9]{1,9})?: (?P<message>[^\n]+)")
_COMPILING: Final = frozenset({"CompileError", "SyntaxError", "TokenMissingError", "MismatchedDelimiterError"})
_NUMBER: Final = lazy_pattern(r"# (?P<number>[0-9]{1,3})$")
_HEADINGS: Final = ("The following arguments were given to ", "Attempted function clauses ")
_OF_OTP: Final = frozenset(
    {
        "erts", "kernel", "stdlib", "elixir", "ex_unit", "mix", "iex", "logger", "eex", "compiler", "sasl", "ssl",
        "crypto", "inets", "public_key", "mnesia", "runtime_tools", "ssh", "os_mon", "xmerl", "tools", "asn1",
        "syntax_tools", "parsetools", "hex", "rebar",
    }
)  # fmt: skip
_OF_PACKAGES: Final = (
    "phoenix", "ecto", "plug", "ash", "spark", "reactor", "splode", "oban", "absinthe", "telemetry", "opentelemetry",
    "nimble_", "cowboy", "cowlib", "ranch", "bandit", "thousand_island", "websock", "postgrex", "myxql", "tds",
    "exqlite", "db_connection", "decimal", "jason", "poison", "tesla", "finch", "mint", "hpax", "hackney",
    "httpoison", "gettext", "swoosh", "bamboo", "broadway", "gen_stage", "flow", "mox", "bypass", "wallaby", "floki",
    "stream_data", "libcluster", "horde", "cachex", "redix", "mongodb", "amqp", "brod", "quantum", "guardian",
    "timex", "tzdata", "sentry", "credo", "ex_doc", "excoveralls", "castore", "mime", "dataloader", "commanded",
    "eventstore", "nx", "exla", "req_",
)  # fmt: skip
_EXACT_PACKAGES: Final = frozenset({"req", "ex_machina", "pow", "lazy_html", "fine"})
_MAX_QUOTED: Final = 100


class StackLine(NamedTuple):
    """A line of a stack, and whose code it names."""

    frame: Frame
    app: str
    """The application; code that was not compiled into one has none."""


@dataclass(slots=True, kw_only=True)
class _Raised:
    """One exception or exit as it was printed."""

    indent: int
    type: str
    lines: list[str]
    stack: list[StackLine] = field(default_factory=list[StackLine])


# --- Elixir ----------------------------------------------------------------------------------------------------------


def chain_of(lines: Sequence[str], stack: Iterable[str] = ()) -> tuple[Failure, ...]:
    """
    Return the exception in `lines`, outermost first, and its causes.

    Elixir prints exceptions inside it further to the right. The outermost one's stack may be printed apart.
    """
    raised: list[_Raised] = []
    for line in lines:
        header = HEADER.match(line) if "** (" in line else None
        if header is not None:
            kind = header["type"].partition(_EXIT_FROM)[0]
            raised.append(_Raised(indent=len(header["indent"]), type=kind, lines=[header["message"] or ""]))
        else:
            _read_line(raised, line)
    raised[0].stack.extend(stack_of(stack))
    return tuple(_join_messages(raised))


def is_raised(line: str) -> bool:
    """Tell whether a line is the first one of an exception or exit."""
    return HEADER.match(line) is not None


def _read_line(raised: list[_Raised], line: str) -> None:
    # Add a line to the exception it belongs to: the innermost one that stands further to the left than a frame.
    printed = _stack_line(line)
    if printed is not None:
        indent = indentation(line)
        owner = next((one for one in reversed(raised) if one.indent < indent), raised[-1])
        owner.stack.append(printed)
    elif not any(one.stack for one in raised):
        raised[-1].lines.append(line.strip())


def _join_messages(raised: Sequence[_Raised]) -> Iterator[Failure]:
    # Yield the failures; an exit that only passes on what was raised elsewhere says nothing of its own.
    kept: list[_Raised] = []
    for one in raised:
        if one.type == "EXIT" and _RAISED.search(one.lines[0]):
            continue
        if one.type == "EXIT" and kept and kept[-1].type in {"exit", "Mix"}:
            kept[-1].lines = [f"{kept[-1].lines[0]}: {one.lines[0]}"]
        else:
            kept.append(one)
    for one in kept or raised:
        yield _build_failure(one)


def _build_failure(raised: _Raised) -> Failure:
    message = "\n".join(_list_message_lines(raised.lines))
    if raised.type in _COMPILING:
        return _build_compile_failure(raised.type, message)
    # Frames of Erlang and Elixir themselves say no more than the message does; those of a package tell whose it is.
    raising = next((line for line in raised.stack if line.frame.file and line.app not in _OF_OTP), None)
    return Failure(raised.type, message, first_own(raised.stack), raising.frame if raising is not None else None)


def _list_message_lines(lines: Sequence[str]) -> Iterator[str]:
    # Yield the lines of a message up to a document that it quotes; arguments that were printed below a number say so.
    number = ""
    for line in lines:
        if line.startswith("<") and len(line) > _MAX_QUOTED:
            break
        numbered = _NUMBER.match(line)
        if numbered is not None:
            number = numbered["number"]
        elif line and not line.startswith(_HEADINGS):
            yield f"argument {number}: {line}" if number else line
            number = ""


def _build_compile_failure(kind: str, message: str) -> Failure:
    found = _PLACED.match(message)
    if found is not None:
        return Failure(kind, message[found.start("message") :], Frame(found["file"], int(found["line"])))
    return Failure(kind, message)


def stack_of(lines: Iterable[str]) -> list[StackLine]:
    """Return the frames in `lines`."""
    return [printed for line in lines if (printed := _stack_line(line)) is not None]


def _stack_line(line: str) -> StackLine | None:
    found = _FRAME.match(line)
    if found is None:
        return None
    if not found["file"]:
        return StackLine(Frame("", None, found["call"] or found["bare"]), found["app"] or "")
    name = found["function"]
    function = "" if name.endswith(_NOT_FUNCTIONS) else _clean_function_name(name)
    return StackLine(Frame(found["file"], int(found["line"]), function), found["app"] or "")


def _is_foreign(app: str) -> bool:
    return app in _OF_OTP or app in _EXACT_PACKAGES or app.startswith(_OF_PACKAGES)


def _clean_function_name(name: str) -> str:
    return _ANONYMOUS.sub(lambda found: found["of"] or "", name) if "fn/" in name or '"-' in name else name


def first_own(stack: Sequence[StackLine]) -> Frame | None:
    """Return the innermost frame of the user's own code: one with a file if there is one."""
    own = [line.frame for line in stack if not _is_foreign(line.app)]
    located = next((frame for frame in own if frame.file), None)
    return located or next((line.frame for line in stack if line.app and not _is_foreign(line.app)), None)
