"""Repair lists of Anthropic Messages."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from otel_errcompact.context.providers.anthropic import begins_compacted, is_thinking
from otel_errcompact.context.providers.native import copy_of
from otel_errcompact.context.providers.repairing.wording import LOST_TURN, UNKNOWN_OUTCOME, tell_orphan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact.context.messages import Message, Part


def repair(messages: Sequence[Message]) -> list[object]:
    """Return the list with all calls answered, and nothing empty."""
    made: list[object] = []
    asked: dict[str, Part] = {}
    if messages and messages[0].role == "assistant" and not begins_compacted(messages[0]):
        made.append({"role": "user", "content": LOST_TURN})
    for role, group in groupby(messages, key=lambda message: message.role):
        turn = list(group)
        if role == "assistant":
            if asked:
                made.append({"role": "user", "content": [_answer(call) for call in asked.values()]})
            said = [kept for message in turn if (kept := _without_loose_ends(message)) is not None]
            made += said
            asked = {part.call_id: part for message in turn for part in message.parts if part.kind == "call"}
        else:
            made += _repair_turn(turn, asked)
            asked = {}
    if asked:
        made.append({"role": "user", "content": [_answer(call) for call in asked.values()]})
    return made


def _repair_turn(turn: Sequence[Message], asked: Mapping[str, Part]) -> list[object]:
    if _is_in_order(turn, asked):
        return [message.native for message in turn]
    open_calls = dict(asked)
    results: list[object] = []
    rest: list[object] = []
    for message in turn:
        blocks: list[object] = []
        for part in message.parts:
            if part.kind == "result" and open_calls.pop(part.call_id, None) is not None:
                results.append(part.native)
            elif part.kind == "result":
                blocks.append({"type": "text", "text": tell_orphan(part.tool, part.text)})
            elif not _is_empty(part):
                blocks.append(_block(part))
        if len(blocks) == len(message.parts) and all(part.kind != "result" for part in message.parts):
            rest.append(message.native)
        elif blocks:
            rest.append({**copy_of(message.native), "content": blocks})
    results += [_answer(call) for call in open_calls.values()]
    return [*([{"role": "user", "content": results}] if results else []), *rest]


def _is_in_order(turn: Sequence[Message], asked: Mapping[str, Part]) -> bool:
    # Each call is answered once, the results stand before anything else, and nothing is empty.
    parts = [part for message in turn for part in message.parts]
    answered = [part.call_id for part in parts if part.kind == "result"]
    first = parts[: len(answered)]
    return (
        sorted(answered) == sorted(asked)
        and all(part.kind == "result" for part in first)
        and all(message.parts for message in turn)
        and not any(map(_is_empty, parts))
    )


def _without_loose_ends(message: Message) -> object:
    kept = [part for part in message.parts if not _is_empty(part)]
    while kept and is_thinking(kept[-1]):
        kept.pop()
    if not kept:
        return None
    if len(kept) == len(message.parts):
        return message.native
    return {**copy_of(message.native), "content": [_block(part) for part in kept]}


def _is_empty(part: Part) -> bool:
    return part.kind == "text" and not part.text.strip()


def _block(part: Part) -> object:
    return {"type": "text", "text": part.text} if part.native is None else part.native


def _answer(call: Part) -> object:
    return {"type": "tool_result", "tool_use_id": call.call_id, "content": UNKNOWN_OUTCOME, "is_error": True}
