"""What is wrong with a summary."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Message

_ANALYSIS: Final = lazy_pattern(r"<analysis>.*?(?:</analysis>|(?=<summary>)|\Z)", re.DOTALL | re.IGNORECASE)
_SUMMARY: Final = lazy_pattern(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)

_STEM: Final = 5
"""Letters by which a word is known again: `module` in `Modules`."""

_LEAST_WORDS: Final = 2
"""Words that a task must have before its absence means anything."""

_WORDS: Final = lazy_pattern(r"[^\W\d_]{4,}")
_LATIN: Final = lazy_pattern(r"[a-z\u00c0-\u024f]+\Z")


def cut_analysis(text: str) -> str:
    """Return a summary without analysis and tags."""
    text = _ANALYSIS.sub("", text)
    found = _SUMMARY.search(text)
    return (found[1] if found is not None else text).strip()


def find_problem(text: str, limit_tokens: int, said: Sequence[Message], count_tokens: TokenCounter) -> str:
    """Say what is wrong with a summary; empty if nothing is."""
    if not text:
        return "the summary is empty"
    tokens = count_tokens(text)
    if tokens > limit_tokens:
        return f"the summary costs {tokens} tokens, more than the {limit_tokens} it may"
    if calls_a_tool(text):
        return "the summary calls a tool"
    return "" if names_task(text, said) else "the summary does not name the task"


def names_task(text: str, said: Sequence[Message]) -> bool:
    """
    Tell whether a text names what the user wants.

    That is any word of the task, or of what was said last at some length.

    Unknown counts as yes: a task of few words, or one in a script whose words nothing separates.
    """
    tasks = [stems for message in said if len(stems := _stems_of(_text_of(message))) >= _LEAST_WORDS]
    if not tasks:
        return True
    found = _stems_of(text)
    return any(not found.isdisjoint(stems) for stems in (tasks[0], tasks[-1]))


def _text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if part.kind == "text")


def _stems_of(text: str) -> set[str]:
    words = (word.casefold() for word in _WORDS.findall(text))
    return {word[:_STEM] for word in words if _LATIN.match(word) is not None}


_CALL_MARKUP: Final = lazy_pattern(
    # What models write where they may not call a tool but want to: at the beginning of a line, since a summary may
    # well speak of such things within a sentence.
    r"^[ \t]*(?:<(?:antml:)?(?:tool_use|tool_calls?|function_calls?|function=|invoke\b)|"
    r"<\|(?:tool_call|python_tag|plugin)|<start_function_call>|\[TOOL_CALLS\]|```(?:tool_code|tool_call|tool_use)\b)",
    re.MULTILINE,
)
_JSON_OPENING: Final = lazy_pattern(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_CALL_TYPES: Final = frozenset({"tool_use", "function_call", "tool_call", "server_tool_use", "function"})
_CALL_INPUTS: Final = ("arguments", "input", "parameters", "args")


def calls_a_tool(text: str) -> bool:
    """Tell whether a text is or holds a tool call, as models write it."""
    return _CALL_MARKUP.search(text) is not None or any(_is_call(value) for value in _read_json_values(text))


def _read_json_values(text: str) -> Iterator[object]:
    position = 0
    while found := _JSON_OPENING.search(text, position):
        try:
            value, position = json.JSONDecoder().raw_decode(text, found.end())
            yield value
        except (ValueError, RecursionError):
            end = text.find("\n", found.end())
            position = len(text) if end < 0 else end


def _is_call(value: object) -> bool:
    if isinstance(value, list):
        return any(_is_call(item) for item in cast("list[object]", value))
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, object]", value)
    kind = fields.get("type")
    if isinstance(kind, str) and kind in _CALL_TYPES:
        return True
    if isinstance(fields.get("tool_calls"), list) or "functionCall" in fields:
        return True
    return isinstance(fields.get("name"), str) and any(key in fields for key in _CALL_INPUTS)
