"""Repair lists of OpenAI Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.context.providers.repairing.wording import UNKNOWN_OUTCOME, tell_orphan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message, Part


def repair(messages: Sequence[Message]) -> list[object]:
    """Return the list with all calls answered and no other results."""
    made: list[object] = []
    asked: dict[str, Part] = {}
    orphans: list[object] = []
    for message in messages:
        if message.role == "tool":
            part = message.parts[0]
            if asked.pop(_key(part), None) is not None:
                made.append(message.native)
            else:
                # A text of the user must not stand between results.
                orphans.append({"role": "user", "content": tell_orphan(part.tool, part.text)})
            continue
        made += [*map(_answer, asked.values()), *orphans]
        asked, orphans = {}, []
        if message.role != "assistant" or message.parts:
            made.append(message.native)
            asked = {_key(part): part for part in message.parts if part.kind == "call"}
    return [*made, *map(_answer, asked.values()), *orphans]


def _key(part: Part) -> str:
    return part.call_id or part.tool


def _answer(call: Part) -> object:
    if call.call_id:
        return {"role": "tool", "tool_call_id": call.call_id, "content": UNKNOWN_OUTCOME}
    return {"role": "function", "name": call.tool, "content": UNKNOWN_OUTCOME}
