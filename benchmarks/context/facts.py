"""
Which facts an agent goes on to use, and met early.

A list is cut after three quarters of its messages. A *fact* is a word of four characters and more that holds a digit,
or one of `_ / . @` between letters; the agent writes it as a value in a call after the cut; a result or a message of
the user before the cut holds it; and no message after the cut has shown it before that call. It is *early* if it stands
only in the first half of what lies before the cut, and not in the task, which every compaction keeps.
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
_FACT: Final = re.compile(r"(?=.*\d|.*[^\W_][_/.@][^\W_]).{4,100}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    A list at its cut.
    """

    messages: list[dict[str, Any]]
    """What lies before the cut."""

    facts: frozenset[str]
    """What the agent goes on to use, and met early."""


def find_case(messages: Sequence[dict[str, Any]]) -> Case | None:
    """Return a list up to its cut, and the early facts; None if there are none."""
    cut = int(len(messages) * CUT)
    # A call and its results stay together, and a list ends with what the model is to answer.
    while cut < len(messages) and messages[cut]["role"] != "assistant":
        cut += 1
    before, after = list(messages[:cut]), messages[cut:]
    half = int(len(before) * EARLY)
    early = words_in(before[1:half]) - words_in(before[half:]) - words_in(before[:1])
    facts: set[str] = set()
    seen: set[str] = set()
    for message in after:
        used = {word for text in _values_of(message) for word in _words(text)}
        facts |= (used & early) - seen
        seen |= words_in([message])
    return Case(messages=before, facts=frozenset(facts)) if facts else None


def _values_of(message: dict[str, Any]) -> Iterator[str]:
    """Yield the values of a message's calls, not the names of their fields: those stand in the tool's schema."""
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


def words_in(messages: Iterable[dict[str, Any]]) -> set[str]:
    """Return the words of messages that may be facts."""
    return {word for message in messages for text in texts_of(message) for word in _words(text)}


def texts_of(message: dict[str, Any]) -> list[str]:
    """Return what a model reads of a message."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [part.get("text", "") for part in content or ()]
    return [*texts, *(call["function"]["arguments"] for call in message.get("tool_calls") or ())]


def _words(text: str) -> set[str]:
    trimmed = (word.strip("./:+-@") for word in _WORD.findall(text.replace("\\n", "\n")))
    return {word for word in trimmed if _FACT.match(word)}


def kept_facts(facts: Iterable[str], messages: Sequence[dict[str, Any]]) -> set[str]:
    """Return the facts that a list still holds, whole."""
    held = "\n".join(text for message in messages for text in texts_of(message))
    return {fact for fact in facts if re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", held)}
