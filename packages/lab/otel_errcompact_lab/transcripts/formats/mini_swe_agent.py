"""
mini-swe-agent: a `.traj.json` file per run.

An answer of the model has one command in a block of code, and the next message is what it printed, below its exit
status. Since version 2 commands may be tool calls, and messages hold the exit status apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import documents, fields_of
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "mini-swe-agent"

_TOOL: Final = "bash"
_COMMAND: Final = lazy_pattern(r"^```(?:mswea_bash_command|bash)[^\S\n]*\n(.*?)\n```", re.DOTALL | re.MULTILINE)
_STATUS: Final = lazy_pattern(
    r"\s*(?P<fault><exception>.*?</exception>\s*)?<returncode>(?P<code>-?[0-9]{1,9})</returncode>", re.DOTALL
)
_SUBMITTED: Final = "Submitted"
_NS: Final = 1_000_000_000


def detect(value: object) -> bool:
    """Recognise a trajectory by the name of its format."""
    return isinstance(fields_of(value).get("trajectory_format"), str)


def read(values: Values) -> Runs:
    """Read each document as a run."""
    for trajectory in documents(values):
        run = _Run()
        for message in trajectory.children("messages"):
            run.take(message)
        info = trajectory.child("info")
        status = info.text("exit_status")
        yield run.builder.build(
            trajectory.text("instance_id") or trajectory.place.stem.removesuffix(".traj"),
            AGENT,
            trajectory.place.path,
            outcome=status,
            succeeded=status == _SUBMITTED if status else None,
        )


@dataclass(slots=True)
class _Run:
    builder: RunBuilder = field(default_factory=RunBuilder)
    is_asked: bool = False
    """Whether a command in a text waits for its output."""

    def take(self, message: Record) -> None:
        role, text, extra = message.text("role"), message.prose("content"), message.child("extra")
        time_ns = (extra if "timestamp" in extra.fields else message).unix_time("timestamp", _NS)
        if role == "tool" or (role == "user" and self.is_asked):
            self.answer(message, text, time_ns)
            return
        self.builder.say(text)
        calls = list(message.children("tool_calls"))
        for call in calls:
            self.builder.request_call(call, time_ns=time_ns)
        commands = _COMMAND.findall(text) if role == "assistant" and not calls else []
        if len(commands) == 1:  # others are refused
            self.is_asked = True
            self.builder.request("", tool=_TOOL, arguments=commands[0], spoken=True, time_ns=time_ns)

    def answer(self, message: Record, text: str, time_ns: int | None) -> None:
        self.is_asked = False
        told, extra = _STATUS.match(text), message.child("extra")
        code = int(told["code"]) if told else extra.integer("returncode")
        # Without a status of its own, a command that did not end has -1.
        is_fault = bool(told and told["fault"]) or bool(extra.text("exception_info"))
        self.builder.answer(
            message.text("tool_call_id"),
            tool=_TOOL,
            result=text,
            flagged=True if is_fault else None,
            exit_code=None if is_fault else code,
            time_ns=time_ns,
        )
