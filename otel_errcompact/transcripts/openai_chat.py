"""
OpenAI chat messages: a list of messages, `{"messages": [...]}`, or tau-bench's list of tasks with a `traj` each.

One document, or one conversation a line. These records hold no times, so times are made up (see `draft`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.transcripts.draft import Draft
from otel_errcompact.transcripts.records import Record, fields_of, is_list, items_of, record, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from otel_errcompact.transcripts.model import RecordedRun
    from otel_errcompact.transcripts.records import Place, Value

CHAT: Final = "openai-chat"
TAU_BENCH: Final = "tau-bench"
_FAILED: Final = "Error:"
"""How tau-bench's environments begin the answer of a call that failed."""

_FULL_REWARD: Final = 1 - 1e-6
"""From where on a reward is that of a task that was done, as tau-bench counts."""


def detect(value: object) -> bool:
    """
    Recognise a conversation, or a list of messages or of conversations.
    """
    if _is_conversation(value):
        return True
    return any(_is_message(item) or _is_conversation(item) for item in items_of(value)[:1])


def read(values: Iterable[Value]) -> Iterator[RecordedRun]:
    """
    Read each conversation as a run.
    """
    number = 0
    for value, place in values:
        for conversation in _conversations(value, place):
            number += 1
            yield _run(conversation, number)


def _is_message(value: object) -> bool:
    return isinstance(fields_of(value).get("role"), str)


def _is_conversation(value: object) -> bool:
    fields = fields_of(value)
    if "task_id" in fields and is_list(fields.get("traj")):
        return True
    return any(_is_message(message) for key in ("messages", "traj") for message in items_of(fields.get(key))[:1])


def _conversations(value: object, place: Place) -> Iterator[Record]:
    items = items_of(value)
    if any(_is_message(item) for item in items[:1]):
        yield Record({"messages": items}, place)
    elif is_list(value):
        yield from records(items, place)
    else:
        conversation = record(value, place)
        if conversation is not None:
            yield conversation


def _run(conversation: Record, number: int) -> RecordedRun:
    is_tau_bench = "traj" in conversation.fields
    draft = Draft()
    for message in conversation.children("traj" if is_tau_bench else "messages"):
        _take(message, draft, is_tau_bench=is_tau_bench)
    reward, resolved = conversation.number("reward"), conversation.verdict("resolved")
    return draft.build(
        run_id=_name(conversation) or f"{conversation.place.stem}:{number}",
        agent=TAU_BENCH if is_tau_bench else CHAT,
        source=conversation.place.path,
        outcome="" if reward is None else f"reward {reward:g}",
        succeeded=resolved if reward is None else reward >= _FULL_REWARD,
    )


def _name(conversation: Record) -> str:
    task, trial = conversation.label("task_id"), conversation.label("trial")
    return f"{task}.{trial}" if task and trial else task or conversation.label("id")


def _take(message: Record, draft: Draft, *, is_tau_bench: bool) -> None:
    text, call_id = message.prose("content"), message.text("tool_call_id")
    if message.text("role") != "tool":
        draft.say(text)
        for call in message.children("tool_calls"):
            _request(call, draft)
        return
    draft.answer(
        call_id,
        call_id=call_id,
        tool=message.text("name"),
        result=text,
        # Other answers may be failures all the same, as "Unknown action".
        flagged=True if is_tau_bench and text.startswith(_FAILED) else None,
    )


def _request(call: Record, draft: Draft) -> None:
    function, call_id = call.child("function"), call.text("id")
    draft.request(
        call_id,
        call_id=call_id,
        tool=function.text("name"),
        arguments=function.json("arguments"),
    )
