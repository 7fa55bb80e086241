"""
tau2-bench: results with their simulations, or a file for each simulation.

Calls of the simulated user (`requestor`) are left out: the agent neither makes nor sees them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import documents, fields_of, is_list
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Record
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "tau2-bench"

_USER: Final = "user"


def detect(value: object) -> bool:
    """Recognise results, or one simulation."""
    fields = fields_of(value)
    return is_list(fields.get("simulations")) or {"messages", "task_id", "termination_reason"} <= fields.keys()


def read(values: Values) -> Runs:
    """Read each simulation as a run."""
    for found in documents(values):
        yield from map(_read_run, found.children("simulations") if "simulations" in found.fields else (found,))


def _read_run(simulation: Record) -> RecordedRun:
    builder = RunBuilder()
    for message in simulation.children("messages"):
        # Several results may stand in one message.
        for one in message.children("tool_messages") if "tool_messages" in message.fields else (message,):
            _take_message(one, builder)
    task, trial = simulation.label("task_id"), simulation.label("trial")
    return builder.build(
        f"{task}.{trial}" if trial else task or simulation.label("id"),
        AGENT,
        simulation.place.path,
        outcome=simulation.text("termination_reason"),
        reward=simulation.child("reward_info").number("reward"),
    )


def _take_message(message: Record, builder: RunBuilder) -> None:
    if message.text("requestor") == _USER:
        return
    text, time_ns = message.text("content"), message.time("timestamp")
    if message.text("role") != "tool":
        builder.say(text)
        for call in message.children("tool_calls"):
            if call.text("requestor") != _USER:
                builder.request_call(call, time_ns=time_ns)
        return
    builder.answer(message.text("id"), result=text, flagged=message.flag("error"), time_ns=time_ns)
