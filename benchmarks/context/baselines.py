"""Ways to compact that anybody would write first, with the same stand-in for a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.context.measure import tokens_of
from benchmarks.context.peers import summary_limit
from benchmarks.context.stand_in import extract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.context.data import Messages
    from benchmarks.context.measure import MakeCandidate

TRIGGER: Final = 0.8
"""The share of a window at which a summary is written."""


class Newest:
    """The task and the newest messages that fit four fifths of the window, calls with their results."""

    persists = True

    def __init__(self, window_tokens: int) -> None:
        self._room = int(window_tokens * TRIGGER)

    def compact(self, messages: Sequence[dict[str, Any]]) -> Messages:
        """Return the list that is sent instead."""
        # A result stays with its call, and the newest call with its results, even if they are too large.
        starts = [index for index, message in enumerate(messages) if index and message["role"] != "tool"]
        lists = ([*messages[:1], *messages[start:]] for start in starts)
        last: Messages = list(messages)
        for last in lists:
            if tokens_of(last) <= self._room:
                break
        return last


class ThreeLayers:
    """
    Three layers as the chapter on compaction of shareAI-lab/learn-claude-code describes them, written anew.

    Of more than 50 messages the middle goes, the first 3 and the last 47 stay. Of all results but the last three those
    of more than 120 characters become one line. If the list is still over four fifths of the window, one summary takes
    the place of everything.
    """

    persists = True

    def __init__(self, window_tokens: int) -> None:
        self._room = int(window_tokens * TRIGGER)
        self._limit = summary_limit(window_tokens)

    def compact(self, messages: Sequence[dict[str, Any]]) -> Messages:
        """Return the list that is sent instead."""
        made = self._clear(self._snip(list(messages)))
        if tokens_of(made) <= self._room:
            return made
        text = "\n\n".join(f"[{message['role']}]\n{_text_of(message)}" for message in made)
        return [{"role": "user", "content": f"[Compacted]\n\n{extract(text, self._limit)}"}]

    @staticmethod
    def _snip(messages: Messages) -> Messages:
        if len(messages) <= 50:
            return messages
        head, tail = 3, len(messages) - 47
        # A result stays with its call.
        while head < tail and messages[head]["role"] == "tool":
            head += 1
        while tail > head and messages[tail]["role"] == "tool":
            tail -= 1
        gap = {"role": "user", "content": f"[snipped {tail - head} messages from the middle]"}
        return messages if tail - head <= 1 else [*messages[:head], gap, *messages[tail:]]

    @staticmethod
    def _clear(messages: Messages) -> Messages:
        results = [index for index, message in enumerate(messages) if message["role"] == "tool"]
        old = {index for index in results[:-3] if len(messages[index]["content"]) > 120}
        cleared = "[An earlier result was here; call again if it is needed.]"
        return [{**message, "content": cleared} if index in old else message for index, message in enumerate(messages)]


def _text_of(message: dict[str, Any]) -> str:
    calls = (f"{call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls") or ())
    return "\n".join([message.get("content") or "", *calls])


BASELINES: Final[dict[str, MakeCandidate]] = {
    "task and newest messages": Newest,
    "three layers of a course, summary": ThreeLayers,
}
