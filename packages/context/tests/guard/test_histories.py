"""Whole histories are sent compacted from where they were, and conversations never mix."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import otel_errcompact as errcompact
from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import ContextWindow, MemoryArchive, OverflowGuard
from otel_errcompact_context.guard.histories import HistoryGuard

TEXT = "\n".join(f"line {number} of a long result" for number in range(60))


def window() -> ContextWindow:
    options = ContextOptions(window_tokens=2_000, reserve_tokens=500, keep_results=1)
    return ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_tokens, observers=())


def history(calls: int, text: str = "Read all.") -> list[Any]:
    """A list of so many calls and their results."""
    messages: list[Any] = [{"role": "user", "content": text}]
    for number in range(calls):
        asked = {"name": "read", "arguments": f'{{"path": "{number}.py"}}'}
        call = {"id": f"c{number}", "type": "function", "function": asked}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}\n{TEXT}"},
        ]
    return messages


def test_a_window_or_a_guard_or_the_environment_s() -> None:
    """A guard is used as it is."""
    guard = OverflowGuard(window())
    assert HistoryGuard(guard, "openai-chat").guard is guard
    own = window()
    assert HistoryGuard(own, "openai-chat").guard.window is own
    assert HistoryGuard(None, "openai-chat").guard.window.options == ContextOptions()


def test_the_same_beginning_is_sent_the_same_way() -> None:
    """Though the whole history is handed over each time; what was not cut is the caller's own."""
    histories = HistoryGuard(window(), "openai-chat")
    sent: list[list[Any]] = []
    whole = history(8)
    for end in range(3, len(whole) + 1, 2):
        histories.call(sent.append, whole[:end])
    assert sent[0][0] is whole[0]
    assert "[errcompact " in str(sent[-1])
    same = [later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(sent)]
    assert same.count(True) >= 2


def test_asynchronous_code_gets_the_same() -> None:
    """Called, or only compacted where the framework calls the model."""

    async def run() -> tuple[list[Any], list[Any]]:
        async def send(messages: list[Any]) -> list[Any]:
            return messages

        called = await HistoryGuard(window(), "openai-chat").acall(send, history(8))
        return called, await HistoryGuard(window(), "openai-chat").acompact(history(8))

    called, compacted = asyncio.run(run())
    assert called == compacted
    assert estimate_tokens(str(compacted)) < 2_500


def test_no_history_is_nothing_to_remember() -> None:
    """A model may be asked with nothing but its system prompt."""
    assert HistoryGuard(window(), "openai-chat").call(lambda messages: messages, []) == []


def test_a_run_says_all_again_once_something_was_cut() -> None:
    """What a digest said at length may be gone."""
    histories = HistoryGuard(window(), "openai-chat")
    with errcompact.run("chat") as run:
        forgotten: list[int] = []
        run.forget_shown = lambda: forgotten.append(1)  # type: ignore[method-assign]
        histories.call(len, history(1))
        assert forgotten == []
        histories.call(len, history(8))
        assert forgotten == [1]
