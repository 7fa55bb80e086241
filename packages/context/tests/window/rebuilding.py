"""
The original list from the compacted one and the archive alone, as a program could do it that has nothing else.

What comes back is what the model read: roles, texts, calls, results with their ids, pictures, unknown blocks. Not told
apart is how a provider's form said it: a text as a text or as a block, one text or several joined by line ends, a
result as an object or as the JSON of it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.messages import Conversation, Message, Part, with_text
from otel_errcompact_context.window.pairs import followers_of

if TYPE_CHECKING:
    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.memory.markers import Marker
    from otel_errcompact_context.messages import FormatName

_IN_ARGUMENTS = re.compile(r"\[errcompact (?:errors|reactive): .*?; whole: ([^\]]+)\]")
_OF_MESSAGES = re.compile(r"[\d,]+ messages?, |[\d,]+ tokens of the task$")


def rebuilt(messages: list[Any], archive: Archive, format: FormatName) -> list[Any]:
    """The list as it was before anything was cut, out of each marker what is kept at its place."""
    made: list[Any] = []
    followers = 0
    for message in providers.read_list(messages, estimate_tokens, format).messages:
        if followers:
            # Of those that the marker before it stands for: they are kept at its place.
            followers -= 1
            continue
        place = _place_of_messages(message)
        if place:
            followers = followers_of(message)
            kept = [json.loads(line) for line in archive.read(place).split("\n")]
            made += rebuilt(kept, archive, format)
            continue
        whole = _with_wholes(message, archive, format)
        natives = providers.write_list(Conversation(format=format, messages=(whole,)))
        # What was cut may have been the marker of an earlier cut.
        made += natives if whole is message else rebuilt(natives, archive, format)
    return made


def as_read(messages: list[Any], format: FormatName) -> list[Any]:
    """What a model reads of a list, to the character, in one form whichever way the provider says it."""
    return [
        (message.role, message.tokens, [_said(part) for part in message.parts])
        for message in providers.read_list(messages, estimate_tokens, format).messages
    ]


def _said(part: Part) -> tuple[object, ...]:
    if part.kind == "other":
        return ("other", json.dumps(providers.plain(part.native), sort_keys=True))
    text = json.dumps(json.loads(part.text), sort_keys=True) if part.kind == "call" else part.text
    return (part.kind, text, part.tool, part.call_id, part.failed, part.tokens)


def _place_of_messages(message: Message) -> str:
    found = _marker_in(message.parts[0]) if message.role == "user" and message.parts else None
    if found is None or not (found.layer in ("snip", "summary") or _OF_MESSAGES.match(found.what)):
        return ""
    return found.place


def _marker_in(part: Part) -> Marker | None:
    return marker_of(part.text) if part.kind == "text" else None


def _with_wholes(message: Message, archive: Archive, format: FormatName) -> Message:
    """A message with what is kept of each part that was cut; the very message if none was."""
    for index in range(len(message.parts)):
        if place := _place_in(message.parts[index]):
            message = _replaced(message, index, archive.read(place), format)
    return message


def _place_in(part: Part) -> str:
    if part.kind == "call":
        found = _IN_ARGUMENTS.search(part.text)
        return json.loads(f'"{found[1]}"') if found else ""
    marker = marker_of(part.text) if part.kind != "other" else None
    return marker.place if marker else ""


def _replaced(message: Message, index: int, whole: str, format: FormatName) -> Message:
    part = message.parts[index]
    block = _result_block(whole, part) if part.kind == "result" else None
    if block is None:
        return with_text(message, index, whole, estimate_tokens)
    if format in ("openai-chat", "openai-responses"):
        return providers.read_list([block], estimate_tokens, format).messages[0]
    held = {"role": "user", ("parts" if format == "gemini" else "content"): [block]}
    whole_part = providers.read_list([held], estimate_tokens, format).messages[0].parts[0]
    parts = (*message.parts[:index], whole_part, *message.parts[index + 1 :])
    tokens = message.tokens - part.tokens + whole_part.tokens
    return message._replace(parts=parts, tokens=tokens, edited=True)


def _result_block(whole: str, result: Part) -> Any:
    """The provider's own result, where more than its text was kept; None where that is a text."""
    try:
        value = json.loads(whole)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    answer = value.get("functionResponse") or value.get("function_response")
    if isinstance(answer, dict):
        return value if answer.get("name") == result.tool else None
    ids = [value[key] for key in ("tool_use_id", "call_id", "tool_call_id") if key in value]
    return value if ids == [result.call_id] else None
