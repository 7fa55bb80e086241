"""Repair lists of Gemini contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.context.providers.native import copy_of
from otel_errcompact.context.providers.repairing.wording import LOST_TURN, UNKNOWN_OUTCOME, tell_orphan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message, Part


def repair(messages: Sequence[Message]) -> list[object]:
    """Return the list with as many responses as calls."""
    made: list[object] = []
    asked: list[Part] = []
    spoke = ""
    for message in messages:
        if not message.parts:
            continue
        results = [part for part in message.parts if part.kind == "result"]
        if asked and not results:
            made.append({"role": "user", "parts": [_answer(call) for call in asked]})
            asked, spoke = [], "user"
        calls = [part for part in message.parts if part.kind == "call"]
        if calls and spoke in ("", "assistant"):
            made.append({"role": "user", "parts": [{"text": LOST_TURN}]})
        made.append(_with_answers(message, asked) if results else message.native)
        asked, spoke = calls, message.role
    return [*made, {"role": "user", "parts": [_answer(call) for call in asked]}] if asked else made


def _with_answers(message: Message, asked: list[Part]) -> object:
    left = list(asked)
    parts: list[object] = []
    for part in message.parts:
        if part.kind != "result":
            parts.append(part.native)
            continue
        call = next((call for call in left if _answers(part, call)), None)
        if call is None:
            parts.append({"text": tell_orphan(part.tool, part.text)})
        else:
            left.remove(call)
            parts.append(part.native)
    if not left and all(part.native is native for part, native in zip(message.parts, parts, strict=True)):
        return message.native
    return {**copy_of(message.native), "parts": [*parts, *map(_answer, left)]}


def _answers(result: Part, call: Part) -> bool:
    if result.call_id and call.call_id:
        return result.call_id == call.call_id
    return result.tool == call.tool


def _answer(call: Part) -> object:
    response: dict[str, object] = {"name": call.tool, "response": {"error": UNKNOWN_OUTCOME}}
    return {"functionResponse": {"id": call.call_id, **response} if call.call_id else response}
