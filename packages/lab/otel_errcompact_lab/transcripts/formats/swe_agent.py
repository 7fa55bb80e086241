"""
SWE-agent: a `.traj` file per run; SWE-smith writes the same.

The steps of `trajectory` are the tool calls; the prompt comes from `history`, without demonstrations. The record has
no times but, in 1.x, durations, so times are made up (see `run_builder`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import documents, fields_of, is_list
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "swe-agent"
SHELL: Final = "bash"
"""The tool of every action that is no command of SWE-agent's own."""

_COMMANDS: Final = frozenset(
    {
        *("connect_exec", "connect_sendline", "connect_start", "connect_stop", "create"),
        *("debug_add_breakpoint", "debug_continue", "debug_exec", "debug_start", "debug_step", "debug_stop"),
        *("decompile", "disassemble", "edit", "exit_forfeit", "filemap", "find_file", "goto", "insert"),
        *("open", "scroll_down", "scroll_up", "search_dir", "search_file", "str_replace_editor", "submit"),
        *("undo_edit", "view_image"),
    }
)
_EDITOR: Final = "str_replace_editor"
"""A tool of several operations, of which the first argument names one."""

_SUBMITTED: Final = "submitted"
"""How a run ends that the agent itself ended with a solution."""

_SALVAGED: Final = "submitted ("
"""How a run ends that a limit or a fault ended, and whose unfinished work was handed in: it may be right or wrong."""

_NS_PER_SECOND: Final = 1_000_000_000
_MAX_SECONDS: Final = 86_400.0
"""A day; so that no absurd duration pushes the run's times out of range."""


def detect(value: object) -> bool:
    """Recognise a trajectory with its history or its summary."""
    fields = fields_of(value)
    return is_list(fields.get("trajectory")) and ("history" in fields or "info" in fields)


def read(values: Values) -> Runs:
    """Read each document as a run."""
    yield from map(_read_run, documents(values))


def _read_run(trajectory: Record) -> RecordedRun:
    builder = RunBuilder()
    for text in _list_prompts(trajectory):
        builder.say(text)
    for step in trajectory.children("trajectory"):
        _take_step(step, builder)
    return builder.build(
        _name_run(trajectory),
        AGENT,
        trajectory.place.path,
        outcome=trajectory.child("info").text("exit_status"),
        succeeded=_read_success(trajectory),
    )


def _read_success(trajectory: Record) -> bool | None:
    # A run that a limit, a fault or the agent itself ended, or that submitted nothing, has failed. One that submitted
    # something only came to its own end: SWE-agent keeps the evaluation's report in other files.
    info = trajectory.child("info")
    for holder in (trajectory, info):
        resolved = holder.lenient_flag("resolved")
        if resolved is not None:
            return resolved
    status = info.text("exit_status")
    if not status or status.startswith(_SALVAGED):
        return None
    return status == _SUBMITTED and ("submission" not in info.fields or bool(info.text("submission").strip()))


def _name_run(trajectory: Record) -> str:
    # SWE-agent names the file by the task; a file of many runs needs the line, too.
    place = trajectory.place
    return f"{place.stem}:{place.line}" if place.line > 1 else place.stem


def _list_prompts(trajectory: Record) -> Iterator[str]:
    told = (entry for entry in trajectory.children("history") if not entry.flag("is_demo"))
    for entry in itertools.takewhile(lambda entry: entry.text("role") != "assistant", told):
        yield entry.prose("content")


def _take_step(step: Record, builder: RunBuilder) -> None:
    action, observation = step.text("action"), step.text("observation")
    response = step.text("response")
    if not action.strip() and not observation:
        # The step at which a limit ended the run.
        builder.say(response)
        return
    # In 0.x, and in 1.x without function calling, the action is a part of the response.
    builder.say(response.replace(action.strip(), "", 1))
    tool, operation = _tool_of_action(action)
    builder.request("", tool=tool, operation=operation, arguments=action)
    builder.answer("", result=observation, time_ns=_end_of_step(step, builder))


def _end_of_step(step: Record, builder: RunBuilder) -> int | None:
    seconds = step.number("execution_time")
    if seconds is None:
        return None
    return builder.after(int(min(seconds, _MAX_SECONDS) * _NS_PER_SECOND))


def _tool_of_action(action: str) -> tuple[str, str]:
    name, *arguments = action.split(maxsplit=2) or [""]
    if name not in _COMMANDS:
        return SHELL, ""
    return name, f"{name} {arguments[0]}" if name == _EDITOR and arguments else ""
