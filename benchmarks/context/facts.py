"""
Which facts an agent goes on to use, and met early.

The cut: a list of n messages is cut after int(0.75 n) of them, or later, before the next message of the agent, so that
a call keeps its results and the list ends with what the model is to answer. Early is the first half of the messages
before the cut.

A *fact* is a string that the agent writes as a value in a call after the cut, and that

- is a path, an address, a URL, an id, a dotted or snake_case or CamelCase name, a date or a number of four digits and
  more: a word of 4 to 100 characters that holds a digit, or one of `_ / . @` or a hump between letters; or it is a
  whole value of 4 to 60 characters in one line that begins with a capital, such as a name;
- stands in a result or in a user's message of the early half, after the task;
- stands nowhere else: not in the task or the system prompt, which every compaction keeps, not in the later half before
  the cut, whoever wrote it, and in no message between the cut and the call.

What only the agent has written, early, is no fact, for it was not met. A string stands in a text if no word character
touches either end of it there. Of calls the values are read, not the names of fields, which the tools' schemas hold.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CUT: Final = 0.75
EARLY: Final = 0.5

_WORD: Final = re.compile(r"[\w./@:+-]+")
_FACT: Final = re.compile(r"(?=.*[^\W\d_]).*(?:\d|[^\W_][_/.@][^\W_]|[a-z][A-Z])")
_NUMBER: Final = re.compile(r"\d{4,}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_LENGTHS: Final = range(4, 101)
_VALUE: Final = re.compile(r"[A-Z][^\n]{3,59}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    A list at its cut.
    """

    messages: list[dict[str, Any]]
    """What lies before the cut."""

    facts: frozenset[str]
    """What the agent goes on to use, and met early; empty if there is nothing of that kind."""


def cut_of(messages: Sequence[dict[str, Any]]) -> int:
    """Return how many messages lie before the cut."""
    cut = int(len(messages) * CUT)
    while cut < len(messages) and messages[cut]["role"] != "assistant":
        cut += 1
    return cut


def find_case(messages: Sequence[dict[str, Any]], system: str = "") -> Case:
    """
    Return a list up to its cut, with the early facts.

    Args:
        messages: OpenAI chat messages, the first of which is the task.
        system: The system prompt that is sent beside them.
    """
    cut = cut_of(messages)
    before, after = list(messages[:cut]), messages[cut:]
    half = int(cut * EARLY)
    met = _joined(before[1:half], of=("user", "tool"))
    visible = "\n".join([system, _joined(before[:1]), _joined(before[half:])])
    facts: set[str] = set()
    used: set[str] = set()
    for message in after:
        # What the agent has used once stands in the list from then on.
        new = {string for value in values_of(message) for string in strings_in(value)} - used
        facts |= {string for string in new if stands_in(string, met) and not stands_in(string, visible)}
        used |= new
        visible = f"{visible}\n{_joined([message])}"
    return Case(messages=before, facts=frozenset(facts))


def strings_in(value: str) -> set[str]:
    """Return what of a value in a call may be a fact."""
    trimmed = {word.strip("./:+-@") for word in _WORD.findall(value)}
    found = {word for word in trimmed if len(word) in _LENGTHS and _is_fact(word)}
    whole = value.strip()
    return found | {whole} if _VALUE.fullmatch(whole) else found


def _is_fact(word: str) -> bool:
    return bool(_FACT.match(word) or _NUMBER.fullmatch(word) or _DATE.fullmatch(word))


def values_of(message: dict[str, Any]) -> Iterator[str]:
    """Yield the values in a message's calls."""
    todo: list[object] = [_parse(call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif value is not None:
            yield str(value)


def _parse(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def texts_of(message: dict[str, Any]) -> list[str]:
    """Return what a model reads of a message."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [part.get("text") or "" for part in content or ()]
    return [*texts, *values_of(message)]


def _joined(messages: Iterable[dict[str, Any]], of: Sequence[str] = ()) -> str:
    return "\n".join(text for message in messages if not of or message["role"] in of for text in texts_of(message))


def stands_in(string: str, text: str) -> bool:
    """Tell whether a string stands in a text, not as a part of a longer word."""
    return string in text and re.search(rf"(?<!\w){re.escape(string)}(?!\w)", text) is not None


def kept_facts(facts: Iterable[str], messages: Sequence[dict[str, Any]]) -> set[str]:
    """Return the facts that a list still holds, whole."""
    held = _joined(messages)
    return {fact for fact in facts if stands_in(fact, held)}
