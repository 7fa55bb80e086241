"""Repair lists of OpenAI Responses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from otel_errcompact.context.providers.native import fields_of, text_in
from otel_errcompact.context.providers.openai_responses import count_opening, is_reasoning
from otel_errcompact.context.providers.repairing.wording import UNKNOWN_OUTCOME, tell_orphan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.context.messages import Message, Part


def repair(messages: Sequence[Message]) -> list[object]:
    """Return the list with outputs for all calls and no others."""
    opening = count_opening(messages)
    answered = _find_answered(messages)
    doubled = _find_doubled(messages)
    made: list[object] = [message.native for message in messages[:opening]]
    waiting: list[object] = []
    for index in range(opening, len(messages)):
        message = messages[index]
        part = message.parts[0] if message.parts else None
        if message.role != "assistant":
            made += waiting
            waiting = []
        if part is not None and part.kind == "result" and index not in answered.values():
            made.append({"role": "user", "content": tell_orphan(part.tool, part.text)})
        elif not (is_reasoning(message.native) and _leads_nowhere(messages, index)):
            made.append(message.native)
        if part is not None and part.kind == "call" and index not in answered and part.call_id not in doubled:
            # Behind the whole answer, since reasoning and parallel calls stand together.
            waiting.append(_answer(message.native, part))
    return [*made, *waiting]


def _find_answered(messages: Sequence[Message]) -> dict[int, int]:
    open_calls: dict[str, int] = {}
    found: dict[int, int] = {}
    for index, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "call":
                open_calls[part.call_id] = index
            elif part.kind == "result" and part.call_id in open_calls:
                found[open_calls.pop(part.call_id)] = index
    return found


def _find_doubled(messages: Sequence[Message]) -> set[str]:
    # Of two calls with one id nobody can tell which was answered.
    counts = Counter(part.call_id for message in messages for part in message.parts if part.kind == "call")
    return {call_id for call_id, count in counts.items() if count > 1}


def _leads_nowhere(messages: Sequence[Message], index: int) -> bool:
    following: Iterator[Message] = (message for message in messages[index + 1 :] if not is_reasoning(message.native))
    after = next(following, None)
    return after is None or after.role != "assistant"


def _answer(native: object, call: Part) -> object:
    kind = text_in(fields_of(native), "type")
    made: dict[str, object] = {"type": f"{kind}_output", "call_id": call.call_id, "output": UNKNOWN_OUTCOME}
    if kind == "local_shell_call":
        return {"type": made["type"], "id": call.call_id, "output": UNKNOWN_OUTCOME}
    if kind == "shell_call":
        # No outcome of a command can say that it is unknown; a time-out comes nearest.
        return {**made, "output": [{"stdout": "", "stderr": UNKNOWN_OUTCOME, "outcome": {"type": "timeout"}}]}
    return {**made, "status": "failed"} if kind == "apply_patch_call" else made
