"""
OpenHands: `output.jsonl`, a task per line, with actions and observations.

Three shapes exist: events with ids, where an observation names its action by `cause`; older flat events in order; and
`[action, observation]` pairs. Events without times get made-up ones (see `run_builder`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.records import Record, as_json, fields_of, is_list, record, records
from otel_errcompact_lab.transcripts.run_builder import RunBuilder, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "openhands"

_TASK_FIELDS: Final = frozenset({"instance_id", "instruction", "issue"})

_MESSAGES: Final = frozenset({"message", "system"})
"""Actions that say something and call no tool."""

_INTERNAL: Final = frozenset({"agent_state_changed", "change_agent_state", "condensation", "null", "recall"})
"""Actions and observations of the framework's own doings."""

_THINK: Final = "think"
"""The tool whose argument is the thought."""

_FILE_RESULTS: Final = frozenset({"edit", "read"})
_FAILED: Final = "ERROR:"
"""How the file editor begins the answer of a call that failed."""

_RUNNING: Final = -1
"""The exit code of a command that has not ended."""

_BOOKKEEPING: Final = frozenset(
    {
        *("action", "action_risk", "blocking", "confirmation_state", "hidden", "id", "is_confirmed"),
        *("is_input", "is_static", "keep_prompt", "kernel_init_code", "llm_metrics", "message"),
        *("security_risk", "source", "thought", "timeout", "timestamp", "tool_call_metadata"),
    }
)
"""Fields of an action that are no arguments of the call."""


def detect(value: object) -> bool:
    """Recognise a task with its history."""
    fields = fields_of(value)
    return "history" in fields and "trajectory" not in fields and not _TASK_FIELDS.isdisjoint(fields)


def read(values: Values) -> Runs:
    """Read each task as a run."""
    for number, (value, place) in enumerate(values, start=1):
        task = record(value, place)
        if task is not None:
            yield _read_run(task, number)


def _read_run(task: Record, number: int) -> RecordedRun:
    builder = RunBuilder()
    for event in _list_events(task):
        if "observation" in event.fields:
            _take_observation(event, builder)
        else:
            _take_action(event, builder)
    return builder.build(
        task.text("instance_id") or _name_issue(task.child("issue")) or f"{task.place.stem}:{number}",
        task.child("metadata").text("agent_class") or AGENT,
        task.place.path,
        outcome=_read_outcome(task),
        succeeded=_read_success(task),
    )


def _name_issue(issue: Record) -> str:
    number = issue.label("number")
    return f"{issue.text('owner')}/{issue.text('repo')}#{number}" if number else ""


def _read_outcome(task: Record) -> str:
    error = task.text("error").strip()
    if error:
        return error.splitlines()[0]
    return words_of(task.flag("success"))


def _read_success(task: Record) -> bool | None:
    # By the evaluation's report, by the resolver's own guess, or by an error at the end.
    tested = fields_of(task.fields.get("test_result"))
    for holder in (task.fields.get("report"), tested.get("report"), tested):
        resolved = Record(fields_of(holder), task.place).lenient_flag("resolved")
        if resolved is not None:
            return resolved
    success = task.flag("success")
    return False if success is None and task.text("error").strip() else success


def _list_events(task: Record) -> Iterator[Record]:
    place = task.place.inner("history")
    for index, entry in enumerate(task.items("history")):
        yield from records(entry if is_list(entry) else [entry], place.inner(index))


def _take_action(event: Record, builder: RunBuilder) -> None:
    action = event.text("action")
    arguments = event.child("args") if "args" in event.fields else event
    if action in _MESSAGES:
        builder.say(arguments.text("content"))
    elif action not in _INTERNAL:
        if action != _THINK:
            builder.say(arguments.text("thought"))
        call = event.child("tool_call_metadata")
        builder.request(
            event.label("id"),
            tool=call.text("function_name") or action,
            operation=action,
            call_id=call.text("tool_call_id"),
            arguments=_model_arguments(call) or _event_arguments(arguments),
            time_ns=event.time("timestamp"),
        )


def _model_arguments(call: Record) -> str:
    for choice in call.child("model_response").children("choices"):
        for asked in choice.child("message").children("tool_calls"):
            if asked.text("id") == call.text("tool_call_id"):
                return asked.child("function").json("arguments")
    return ""


def _event_arguments(arguments: Record) -> str:
    kept = {key: value for key, value in arguments.fields.items() if key not in _BOOKKEEPING and value is not None}
    return as_json(kept, arguments.place)


def _take_observation(event: Record, builder: RunBuilder) -> None:
    observation, content = event.text("observation"), event.text("content")
    if observation in _INTERNAL:
        builder.say(content)
        return
    call = event.child("tool_call_metadata")
    exit_code = _exit_code(event)
    builder.answer(
        event.label("cause"),
        tool=call.text("function_name"),
        call_id=call.text("tool_call_id"),
        result=content,
        flagged=_read_flag(event, observation, content, exit_code),
        exit_code=None if exit_code == _RUNNING else exit_code,
        time_ns=event.time("timestamp"),
    )


def _exit_code(event: Record) -> int | None:
    extras = event.child("extras")
    for holder in (extras.child("metadata"), extras, event):
        if "exit_code" in holder.fields:
            return holder.integer("exit_code")
    return None


def _read_flag(event: Record, observation: str, content: str, exit_code: int | None) -> bool | None:
    if observation == "error" or (observation in _FILE_RESULTS and content.startswith(_FAILED)):
        return True
    success = event.flag("success")
    return None if success is None or exit_code == _RUNNING else not success
