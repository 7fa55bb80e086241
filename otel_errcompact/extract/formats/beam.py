"""Exceptions and exits of Elixir and Erlang: stack traces, crash reports, what `mix` says before it stops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.chain import Failure, facts_of
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.frames import Frame
from otel_errcompact.extract.statements import indentation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text

FORMAT: Final = "beam"
MARKERS: Final = ("** (", "** exception ", "terminating ", "Reason for termination", "escript: ")

_HEADER: Final = re.compile(r"(?P<indent> *)\*\* \((?P<type>[A-Za-z][^)\n]{0,200})\)(?: (?P<message>.*))?$")
_MODULE: Final = r"(?::[a-z]\w{0,60}|[A-Z][\w.]{0,200})"
_FRAME: Final = re.compile(
    r" *(?:\((?P<app>[a-z][a-z0-9_]{0,60})(?: [0-9][^)\s]{0,40})?\) )?"
    r"(?:(?P<file>[^\s:()\"']{1,300}\.(?:exs?|erl|[a-z]?eex|[xy]rl)|nofile|iex):(?P<line>[0-9]{1,9}): "
    r"(?P<function>\S.*)"
    rf"|(?P<call>{_MODULE}\.[^\s(]{{1,200}})\(.*\)$|(?P<bare>{_MODULE}\.[^\s(]{{1,200}}/[0-9]{{1,3}})$)"
)
_ANONYMOUS: Final = re.compile(
    r"anonymous fn/[0-9]{1,3} in |-fun-[0-9]{1,4}-|\"-(?P<of>[^/\"]{1,200})/[0-9]{1,3}-[^\"]{0,100}\""
)
_NOT_FUNCTIONS: Final = ("(file)", "(module)", "(test)")
_RAISED: Final = re.compile(r"an exception was raised:$")
_EXIT_FROM: Final = " from #PID<"
_PLACED: Final = re.compile(r"(?P<file>[^\s:]{1,300}):(?P<line>[0-9]{1,9})(?::[0-9]{1,9})?: (?P<message>[^\n]+)")
_COMPILING: Final = frozenset({"CompileError", "SyntaxError", "TokenMissingError", "MismatchedDelimiterError"})
_LOGGED: Final = "(errors have been logged)"
_TERMINATING: Final = re.compile(
    r"(?:GenServer|Task|Process|:gen_statem|gen_server|Generic server|State machine) (?P<who>\S{1,200})"
    r"[^\n]{0,100} terminating"
)
_LAST_MESSAGE: Final = re.compile(
    r"\n(?:Last message(?: \(from [^)\n]{1,60}\))?:|\*\* Last message in was) (?P<message>[^\n]{1,300})"
)
_NUMBER: Final = re.compile(r"# (?P<number>[0-9]{1,3})$")
_HEADINGS: Final = ("The following arguments were given to ", "Attempted function clauses ")

_ERLANG: Final = re.compile(
    r"\n(?:\{\"init terminating in do_boot\",|init terminating in do_boot \(|escript: exception error: "
    r"|\*\* Reason for termination ==\n\*\* |Runtime terminating during boot \(|\*\* Reason for termination = )"
)
_IN_SHELL: Final = re.compile(
    r"\n *(?:in function|in call from|called as) +(?P<function>\S{1,200})"
    r" \((?P<file>[^,()\n]{1,200}), line (?P<line>[0-9]{1,9})\)"
)
_SHELL_ERROR: Final = re.compile(r"\n\*\* exception (?P<class>error|exit|throw): (?P<reason>[^\n]{1,1000})")
_ERLANG_FRAME: Final = re.compile(
    r"\{(?P<module>[a-z]\w{0,80}|'[^'\n]{1,120}'),(?P<function>[a-z]\w{0,80}|'[^'\n]{1,120}'),(?P<arity>[0-9]{1,3}|\[)"
)
_ERLANG_PLACE: Final = re.compile(r"\{file,\"(?P<file>[^\"\n]{1,300})\"\},\{line,(?P<line>[0-9]{1,9})\}")
_ATOM: Final = re.compile(r"[\s{]*(?P<atom>[a-z]\w{0,80})")
_SPACE: Final = re.compile(r"\s+")
_AFTER_COMMA: Final = re.compile(r"(?<=[,{\[]) ")

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
_OTP_MODULES: Final = frozenset(
    {
        "erlang", "init", "lists", "maps", "io", "io_lib", "file", "code", "proc_lib", "gen", "gen_server",
        "gen_statem", "gen_event", "supervisor", "proplists", "string", "binary", "dict", "ets", "dets", "mnesia",
        "timer", "rpc", "erpc", "escript", "erl_eval", "erl_parse", "shell", "application", "application_master",
        "application_controller", "error_handler", "error_logger", "logger", "global", "inet", "ssl", "httpc",
        "crypto", "os", "re", "sets", "queue", "array", "orddict", "ordsets", "unicode", "calendar", "rand", "math",
        "filename", "filelib", "user", "group", "c", "local",
    }
)  # fmt: skip
_NAMING_NOBODY: Final = frozenset({"undef", "function_clause"})
"""Reasons that say nothing without the call that they are about."""

_MAX_QUOTED: Final = 100
_MAX_BLOCKS: Final = 20
_MAX_LINES: Final = 200


class StackLine(NamedTuple):
    """
    A line of a stack, and whose code it names.
    """

    frame: Frame
    app: str
    """The application; code that was not compiled into one has none."""


@dataclass(slots=True, kw_only=True)
class _Raised:
    """
    One exception or exit as it was printed.
    """

    indent: int
    type: str
    lines: list[str]
    stack: list[StackLine] = field(default_factory=list[StackLine])


def extract(text: Text) -> Facts | None:
    """
    Return the facts of the last exception that ended the program; others that were printed become details.
    """
    return _of_elixir(text) or _of_erlang(f"\n{text.body}")


# --- Elixir ----------------------------------------------------------------------------------------------------------


def _of_elixir(text: Text) -> Facts | None:
    if "** (" not in text.body:
        return None
    lines = text.lines
    starts = _starts(lines)
    found: list[Facts] = []
    for start, end in pairwise((*starts, len(lines))):
        chain = chain_of(lines[start : min(end, start + _MAX_LINES)])
        if any(_LOGGED in failure.message for failure in chain):
            return None  # The compiler has said why, further up.
        found.append(facts_of(chain, form=FORMAT))
    return _with_context(text.body, found) if found else None


def _starts(lines: Sequence[str]) -> list[int]:
    """
    Return the first lines of the exceptions in `lines`; those further to the right belong to the one before.
    """
    starts: list[int] = []
    for number, line in enumerate(lines):
        found = _HEADER.match(line) if "** (" in line else None
        if found is None:
            continue
        # An exception without a stack of its own, or less to the right, begins anew.
        if not starts or not found["indent"] or number > starts[-1] + _MAX_LINES:
            starts.append(number)
    return starts[-_MAX_BLOCKS:]


def _with_context(body: str, found: Sequence[Facts]) -> Facts:
    """
    Return the last facts, with what is known of the process that died and with the other failures.
    """
    facts = found[-1]
    same = [other for other in found if (other.type, other.cause) == (facts.type, facts.cause) and other.location]
    facts = facts if facts.location or not same else replace(facts, location=same[-1].location)
    lines = [f"also {other.type}: {other.cause}" for other in found[:-1] if other.cause not in facts.cause]
    who = _TERMINATING.search(body)
    context = [who[0] if who and not who["who"].startswith("#PID") else "", _last_message(body)]
    return replace(facts, details=details((*facts.details, *context, *dict.fromkeys(lines))))


def _last_message(body: str) -> str:
    """
    Return what the process that died was handling.
    """
    found = _LAST_MESSAGE.search(body)
    return f"last message: {found['message']}" if found is not None else ""


def chain_of(lines: Sequence[str], stack: Iterable[str] = ()) -> tuple[Failure, ...]:
    """
    Return the exception that `lines` begin with and those that caused it, outermost first.

    Args:
        lines: The exception as Elixir prints it, with the exceptions inside it further to the right.
        stack: The outermost exception's stack, where it is printed apart.
    """
    raised: list[_Raised] = []
    for line in lines:
        header = _HEADER.match(line) if "** (" in line else None
        if header is not None:
            raised.append(
                _Raised(indent=len(header["indent"]), type=_type(header["type"]), lines=[header["message"] or ""])
            )
        else:
            _read_line(raised, line)
    raised[0].stack.extend(stack_of(stack))
    return tuple(_joined(raised))


def is_raised(line: str) -> bool:
    """
    Tell whether a line is the first one of an exception or exit.
    """
    return _HEADER.match(line) is not None


def _type(name: str) -> str:
    return name.partition(_EXIT_FROM)[0] if _EXIT_FROM in name else name


def _read_line(raised: list[_Raised], line: str) -> None:
    """
    Add a line to the exception it belongs to: the innermost one that stands further to the left than a frame.
    """
    printed = _stack_line(line)
    if printed is not None:
        indent = indentation(line)
        owner = next((one for one in reversed(raised) if one.indent < indent), raised[-1])
        owner.stack.append(printed)
    elif not any(one.stack for one in raised):
        raised[-1].lines.append(line.strip())


def _joined(raised: Sequence[_Raised]) -> Iterator[Failure]:
    """
    Yield the failures; an exit that only passes on what was raised elsewhere says nothing of its own.
    """
    kept: list[_Raised] = []
    for one in raised:
        if one.type == "EXIT" and _RAISED.search(one.lines[0]):
            continue
        if one.type == "EXIT" and kept and kept[-1].type in {"exit", "Mix"}:
            kept[-1].lines = [f"{kept[-1].lines[0]}: {one.lines[0]}"]
        else:
            kept.append(one)
    for one in kept or raised:
        yield _failure(one)


def _failure(raised: _Raised) -> Failure:
    message = "\n".join(_telling(raised.lines))
    if raised.type in _COMPILING:
        return _compiling(raised.type, message)
    # Frames of Erlang and Elixir themselves say no more than the message does; those of a package tell whose it is.
    raising = next((line for line in raised.stack if line.frame.file and line.app not in _OF_OTP), None)
    return Failure(raised.type, message, first_own(raised.stack), raising.frame if raising is not None else None)


def _telling(lines: Sequence[str]) -> Iterator[str]:
    """
    Yield the lines of a message up to a document that it quotes; arguments that were printed below a number say so.
    """
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


def _compiling(kind: str, message: str) -> Failure:
    """
    Return why code could not be compiled; the place stands in the message.
    """
    found = _PLACED.match(message)
    if found is not None:
        return Failure(kind, message[found.start("message") :], Frame(found["file"], int(found["line"])))
    return Failure(kind, message)


def stack_of(lines: Iterable[str]) -> list[StackLine]:
    """
    Return the frames in `lines`.
    """
    return [printed for line in lines if (printed := _stack_line(line)) is not None]


def _stack_line(line: str) -> StackLine | None:
    found = _FRAME.match(line)
    if found is None:
        return None
    if not found["file"]:
        return StackLine(Frame("", None, found["call"] or found["bare"]), found["app"] or "")
    name = found["function"]
    function = "" if name.endswith(_NOT_FUNCTIONS) else _function(name)
    return StackLine(Frame(found["file"], int(found["line"]), function), found["app"] or "")


def _is_foreign(app: str) -> bool:
    """
    Tell whether an application belongs to Erlang, to Elixir, or to a widely used package.
    """
    return app in _OF_OTP or app in _EXACT_PACKAGES or app.startswith(_OF_PACKAGES)


def _function(name: str) -> str:
    """
    Return the function that a name stands for; functions inside it have no names of their own.
    """
    return _ANONYMOUS.sub(lambda found: found["of"] or "", name) if "fn/" in name or '"-' in name else name


def first_own(stack: Sequence[StackLine]) -> Frame | None:
    """
    Return the innermost frame of the user's own code: one with a file if there is one.
    """
    own = [line.frame for line in stack if not _is_foreign(line.app)]
    located = next((frame for frame in own if frame.file), None)
    return located or next((line.frame for line in stack if line.app and not _is_foreign(line.app)), None)


# --- Erlang ----------------------------------------------------------------------------------------------------------


def _of_erlang(body: str) -> Facts | None:
    """
    Return the facts of the first Erlang term that tells why a process or the whole node ended.
    """
    shell = _SHELL_ERROR.search(body)
    if shell is not None:
        place = _IN_SHELL.search(body, shell.end())
        where = Frame(place["file"], int(place["line"]), place["function"]) if place else None
        return facts_of((Failure(shell["class"], shell["reason"], where),), form=FORMAT)
    found = _ERLANG.search(body)
    if found is None:
        return None
    term = _AFTER_COMMA.sub("", _SPACE.sub(" ", body[found.end() : found.end() + 4_000]))
    frames = list(_erlang_frames(term))
    stack = _ERLANG_FRAME.search(term)
    reason = _reason(term[: stack.start()] if stack is not None else term.partition("\n")[0])
    atom = _ATOM.match(reason)
    if reason in _NAMING_NOBODY and stack is not None:
        reason = f"{reason}: {_called(term[stack.start() : stack.start() + 300])}"
    own = next((frame for frame in frames if frame.function.partition(":")[0] not in _OTP_MODULES), None)
    innermost = next((frame for frame in frames if frame.file), None)
    facts = facts_of((Failure(atom["atom"] if atom else "exit", reason, own, innermost),), form=FORMAT)
    return replace(facts, details=details((*facts.details, _last_message(body))))


def _erlang_frames(term: str) -> Iterator[Frame]:
    """
    Yield the frames of the first stack in a term.
    """
    found = list(_ERLANG_FRAME.finditer(term))
    ends = (*(after.start() for after in found[1:]), len(term))
    for one, end in zip(found, ends, strict=False):
        place = _ERLANG_PLACE.search(term, one.end(), end)
        name = f"{one['module']}:{one['function']}" + (f"/{one['arity']}" if one["arity"] != "[" else "")
        yield Frame(place["file"] if place else "", int(place["line"]) if place else None, name)


def _called(frame: str) -> str:
    """
    Return the call that a frame tells of, up to the end of its arguments.
    """
    parts = frame.lstrip("{").split(",", 2)
    arguments = parts[2].partition("]")[0] + "]" if parts[2].startswith("[") else f"/{parts[2].partition(',')[0]}"
    return f"{parts[0]}:{parts[1]}{arguments}"


def _reason(text: str) -> str:
    """
    Return the reason that stands before a stack, without the brackets that go on behind it.
    """
    text = clip(text.rstrip(", [").strip())
    opened = text.count("{") - text.count("}")
    while opened > 0 and text.startswith("{"):
        text, opened = text[1:], opened - 1
    return text
