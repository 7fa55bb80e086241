"""Exceptions and exits of Elixir and Erlang: stack traces, crash reports, what `mix` says before it stops."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Lines, Text, clip, details, form
from otel_errcompact.extract.stacks.beam import HEADER, chain_of
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LOGGED: Final = "(errors have been logged)"
_TERMINATING: Final = form(
    r"(?:GenServer|Task|Process|:gen_statem|gen_server|Generic server|State machine) (?P<who>{word})"
    r"[^\n]{0,100} terminating"
)
_LAST_MESSAGE: Final = form(
    r"\n(?:Last message(?: \(from [^)\n]{1,60}\))?:|\*\* Last message in was) (?P<message>[^\n]{1,300})"
)
_ERLANG: Final = form(
    r"\n(?:\{\"init terminating in do_boot\",|init terminating in do_boot \(|escript: exception error: "
    r"|\*\* Reason for termination ==\n\*\* |Runtime terminating during boot \(|\*\* Reason for termination = )"
)
_IN_SHELL: Final = form(
    r"\n *(?:in function|in call from|called as) +(?P<function>{word}) \((?P<file>[^,()\n]{1,200}), line {line}\)"
)
_SHELL_ERROR: Final = form(r"\n\*\* exception (?P<class>error|exit|throw): (?P<reason>[^\n]{1,1000})")
_ERLANG_FRAME: Final = form(
    r"\{(?P<module>[a-z]\w{0,80}|'[^'\n]{1,120}'),(?P<function>[a-z]\w{0,80}|'[^'\n]{1,120}'),(?P<arity>[0-9]{1,3}|\[)"
)
_ERLANG_PLACE: Final = form(r"\{file,\"(?P<file>[^\"\n]{1,300})\"\},\{line,{line}\}")
_ATOM: Final = form(r"[\s{]*(?P<atom>[a-z]\w{0,80})")
_SPACE: Final = form(r"\s+")
_AFTER_COMMA: Final = form(r"(?<=[,{\[]) ")
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

_MAX_BLOCKS: Final = 20
_MAX_LINES: Final = 200


def read(text: Text) -> Facts | None:
    """Return the facts of the last exception that ended the program; others that were printed become details."""
    return _read_elixir(text) or _read_erlang(f"\n{text.body}")


# --- Elixir ----------------------------------------------------------------------------------------------------------


def _read_elixir(text: Text) -> Facts | None:
    if "** (" not in text.body:
        return None
    lines = text.lines
    starts = _find_starts(lines)
    found: list[Facts] = []
    for start, end in pairwise((*starts, len(lines))):
        chain = chain_of(lines[start : min(end, start + _MAX_LINES)])
        if any(_LOGGED in failure.message for failure in chain):
            return None  # The compiler has said why, further up.
        found.append(facts_of(chain))
    return _add_context(text.body, found) if found else None


def _find_starts(lines: Lines) -> list[int]:
    # Return the first lines of the exceptions in `lines`; those further to the right belong to the one before.
    starts: list[int] = []
    for number, line in enumerate(lines):
        found = HEADER.match(line) if "** (" in line else None
        if found is None:
            continue
        # An exception without a stack of its own, or less to the right, begins anew.
        if not starts or not found["indent"] or number > starts[-1] + _MAX_LINES:
            starts.append(number)
    return starts[-_MAX_BLOCKS:]


def _add_context(body: str, found: Sequence[Facts]) -> Facts:
    facts = found[-1]
    same = [other for other in found if (other.type, other.cause) == (facts.type, facts.cause) and other.location]
    facts = facts if facts.location or not same else replace(facts, location=same[-1].location)
    lines = [f"also {other.type}: {other.cause}" for other in found[:-1] if other.cause not in facts.cause]
    who = _TERMINATING.search(body)
    context = [who[0] if who and not who["who"].startswith("#PID") else "", _last_message(body)]
    return replace(facts, details=details((*facts.details, *context, *dict.fromkeys(lines))))


def _last_message(body: str) -> str:
    found = _LAST_MESSAGE.search(body)
    return f"last message: {found['message']}" if found is not None else ""


# --- Erlang ----------------------------------------------------------------------------------------------------------


def _read_erlang(body: str) -> Facts | None:
    # Return the facts of the first Erlang term that tells why a process or the whole node ended.
    shell = _SHELL_ERROR.search(body)
    if shell is not None:
        place = _IN_SHELL.search(body, shell.end())
        where = Frame(place["file"], int(place["line"]), place["function"]) if place else None
        return facts_of((Failure(shell["class"], shell["reason"], where),))
    found = _ERLANG.search(body)
    if found is None:
        return None
    term = _AFTER_COMMA.sub("", _SPACE.sub(" ", body[found.end() : found.end() + 4_000]))
    frames = list(_erlang_frames(term))
    stack = _ERLANG_FRAME.search(term)
    reason = _trim_reason(term[: stack.start()] if stack is not None else term.partition("\n")[0])
    atom = _ATOM.match(reason)
    if reason in _NAMING_NOBODY and stack is not None:
        reason = f"{reason}: {_write_call(term[stack.start() : stack.start() + 300])}"
    own = next((frame for frame in frames if frame.function.partition(":")[0] not in _OTP_MODULES), None)
    innermost = next((frame for frame in frames if frame.file), None)
    facts = facts_of((Failure(atom["atom"] if atom else "exit", reason, own, innermost),))
    return replace(facts, details=details((*facts.details, _last_message(body))))


def _erlang_frames(term: str) -> Iterator[Frame]:
    found = list(_ERLANG_FRAME.finditer(term))
    ends = (*(after.start() for after in found[1:]), len(term))
    for one, end in zip(found, ends, strict=False):
        place = _ERLANG_PLACE.search(term, one.end(), end)
        name = f"{one['module']}:{one['function']}" + (f"/{one['arity']}" if one["arity"] != "[" else "")
        yield Frame(place["file"] if place else "", int(place["line"]) if place else None, name)


def _write_call(frame: str) -> str:
    # Return the call that a frame tells of, up to the end of its arguments.
    parts = frame.lstrip("{").split(",", 2)
    arguments = parts[2].partition("]")[0] + "]" if parts[2].startswith("[") else f"/{parts[2].partition(',')[0]}"
    return f"{parts[0]}:{parts[1]}{arguments}"


def _trim_reason(text: str) -> str:
    # Return the reason that stands before a stack, without the brackets that go on behind it.
    text = clip(text.rstrip(", [").strip())
    opened = text.count("{") - text.count("}")
    while opened > 0 and text.startswith("{"):
        text, opened = text[1:], opened - 1
    return text


FORMAT: Final = Format(
    name="beam",
    read=read,
    markers=("** (", "** exception ", "terminating ", "Reason for termination", "escript: "),
    commands=(
        Command("mix", prints="beam exunit", subcommands="*"),
        Command("mix dialyzer, mix credo, rebar3 dialyzer", prints="dialyzer"),
        Command("elixir, erl, rebar3, iex", speaks="escript"),
    ),
    closings=(
        r"(?:could not compile dependency :?[a-z]\w{0,80}, |Compilation failed due to warnings while using )",
        r"[^\n]{0,300}\[Yn\] \*\* \(Mix\) ",
    ),
    stacks=(
        r"== Compilation error [io]n file ",
        r"\*\* exception (?:error|exit|throw): ",
        r"\*\* \([A-Z][\w.]{0,80}\) ",
    ),
)
