"""Overflow that no error tells, read from a reply's usage, and estimates that are calibrated by it."""

from __future__ import annotations

import asyncio
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.providers.usage import MOST, Calibration, Usage, overflow_in_usage, read_usage
from otel_errcompact_context.window.window import ContextWindow


class FinishReason(Enum):
    """As Google's SDK has it."""

    MAX_TOKENS = "MAX_TOKENS"


@pytest.mark.parametrize(
    ("reply", "prompt", "answer", "by_length"),
    [
        pytest.param(
            {
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 900,
                    "cache_creation_input_tokens": 90,
                    "output_tokens": 5,
                },
                "stop_reason": "max_tokens",
            },
            1_000,
            5,
            True,
            id="anthropic, with a cache beside the input",
        ),
        pytest.param(
            SimpleNamespace(
                usage=SimpleNamespace(prompt_tokens=700, completion_tokens=0),
                choices=[SimpleNamespace(finish_reason="length")],
            ),
            700,
            0,
            True,
            id="openai chat, an object",
        ),
        pytest.param(
            {
                "usage": {"input_tokens": 700, "input_tokens_details": {"cached_tokens": 600}, "output_tokens": 3},
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            700,
            3,
            True,
            id="openai responses, the cache a part of the input",
        ),
        pytest.param(
            SimpleNamespace(
                usage_metadata=SimpleNamespace(prompt_token_count=800, candidates_token_count=None),
                candidates=[SimpleNamespace(finish_reason=FinishReason.MAX_TOKENS)],
            ),
            800,
            None,
            True,
            id="gemini, an object",
        ),
        pytest.param(
            {"usageMetadata": {"promptTokenCount": 800, "candidatesTokenCount": 9}}, 800, 9, False, id="gemini, json"
        ),
        pytest.param(
            {"prompt_eval_count": 2_048, "eval_count": 20, "done_reason": "stop"}, 2_048, 20, False, id="ollama"
        ),
        pytest.param(
            {"usage": {"inputTokens": 5, "cacheReadInputTokens": 95, "outputTokens": 1}, "stopReason": "end_turn"},
            100,
            1,
            False,
            id="bedrock",
        ),
        pytest.param({"prompt_tokens": 50, "completion_tokens": 1}, 50, 1, False, id="the usage alone"),
    ],
)
def test_usage_is_read_whoever_tells_it(reply: object, prompt: int, answer: int | None, by_length: bool) -> None:
    """By the names that each SDK gives the numbers."""
    assert read_usage(reply) == Usage(prompt_tokens=prompt, answer_tokens=answer, ended_by_length=by_length)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(None, id="nothing"),
        pytest.param("usage", id="a text"),
        pytest.param({"usage": None}, id="no usage"),
        pytest.param({"usage": {"prompt_tokens": True}}, id="a flag"),
        pytest.param({"usage": {"prompt_tokens": -1}}, id="a negative number"),
        pytest.param({"usage": {"prompt_tokens": "12"}}, id="a text for a number"),
        pytest.param({"choices": [{"finish_reason": "length"}]}, id="a reason alone"),
    ],
)
def test_what_tells_no_usage_is_not_read(reply: object) -> None:
    """Then nothing is known, and nothing is said."""
    assert read_usage(reply) is None
    assert overflow_in_usage(reply, 100) is None


@pytest.mark.parametrize(
    ("usage", "estimate", "limit", "sent", "says"),
    [
        pytest.param(Usage(prompt_tokens=1_000, answer_tokens=9), 0, 1_000, 1_000, "the window has 1,000", id="full"),
        pytest.param(Usage(prompt_tokens=1_500, answer_tokens=9), 0, 1_000, 1_500, "the window has 1,000", id="beyond"),
        pytest.param(
            Usage(prompt_tokens=999, answer_tokens=0, ended_by_length=True), 0, None, None, "none written", id="empty"
        ),
        pytest.param(Usage(prompt_tokens=333, answer_tokens=9), 1_000, None, None, "was cut", id="cut"),
    ],
)
def test_a_usage_tells_that_it_was_too_long(
    usage: Usage, estimate: int, limit: int | None, sent: int | None, says: str
) -> None:
    """A window is told only where it was counted against it."""
    found = overflow_in_usage(usage, 1_000, estimate)
    assert found is not None
    assert (found.provider, found.limit_tokens, found.sent_tokens) == ("usage", limit, sent)
    assert says in found.message


@pytest.mark.parametrize(
    ("usage", "estimate"),
    [
        pytest.param(Usage(prompt_tokens=999, answer_tokens=9), 0, id="just below the window"),
        pytest.param(Usage(prompt_tokens=500, answer_tokens=0), 500, id="nothing written, and nothing to write"),
        pytest.param(Usage(prompt_tokens=500, answer_tokens=1, ended_by_length=True), 500, id="a short answer"),
        pytest.param(Usage(prompt_tokens=500, answer_tokens=None, ended_by_length=True), 500, id="no count"),
        pytest.param(Usage(prompt_tokens=334, answer_tokens=9), 1_000, id="a third of the estimate"),
        pytest.param(Usage(prompt_tokens=10, answer_tokens=9), 999, id="a short prompt"),
    ],
)
def test_an_ordinary_usage_is_left_alone(usage: Usage, estimate: int) -> None:
    """Estimates may be twice too high, and answers short."""
    assert overflow_in_usage(usage, 1_000, estimate) is None


def test_estimates_are_raised_at_once_and_lowered_slowly() -> None:
    """Too high a figure costs some room, too low a one a refusal."""
    calibration = Calibration(2)
    assert calibration.factor("a") == 1.0
    calibration.learn("a", 10_000, 15_000)
    assert calibration.factor("a") == 1.5
    calibration.learn("a", 10_000, 10_000)
    assert calibration.factor("a") == 1.25
    calibration.learn("a", 10_000, 20_000)
    assert calibration.factor("a") == 2.0
    calibration.learn("a", 999, 9_000)
    assert calibration.factor("a") == 2.0
    assert calibration.factor("b") == 1.0
    calibration.forget("a")
    assert calibration.factor("a") == 1.0


@given(calls=st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**9)), max_size=8))
def test_an_estimate_is_only_ever_raised_and_within_bounds(calls: list[tuple[int, int]]) -> None:
    """Whatever a provider counts."""
    calibration = Calibration(1)
    for estimate, counted in calls:
        calibration.learn("", estimate, counted)
        assert 1.0 <= calibration.factor("") <= MOST


OPTIONS = ContextOptions(window_tokens=20_000, reserve_tokens=1_000, result_budget_tokens=100_000, preview_tokens=50)


def turns(number: int, characters: int = 1_600) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "the task"}]
    for turn in range(number):
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": f"{turn} " + "cold " * (characters // 5)},
        ]
    return messages


def told(prompt: int, answer: int = 9, reason: str = "stop") -> dict[str, Any]:
    return {
        "choices": [{"finish_reason": reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer},
    }


class Server:
    """Answers as the script says; what it was sent is kept."""

    def __init__(self, *script: object) -> None:
        self.script = list(script)
        self.lists: list[list[object]] = []

    def __call__(self, messages: list[object]) -> Any:
        self.lists.append(messages)
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


class Watch:
    """Keeps what is told of calls that were refused."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def __call__(self, result: str, provider: str) -> None:
        self.told.append((result, provider))


def make_guard(watch: Watch | None = None, **options: Any) -> OverflowGuard:
    window = ContextWindow(OPTIONS.model_copy(update=options), archive=MemoryArchive(), observers=())
    return OverflowGuard(window, on_overflow=watch or Watch())


def test_a_prompt_that_was_cut_is_compacted_and_sent_again() -> None:
    """As Ollama cuts it; what was read is the window from now on."""
    watch = Watch()
    guard = make_guard(watch)
    server = Server(told(3_000), told(2_500))
    sent = guard.call(server, turns(40), session="s")
    assert sent.reply == told(2_500)
    assert len(server.lists) == 2
    assert sent.compactions[0].tokens_after > 9_000
    assert sent.compactions[1].tokens_after < 3_000
    assert guard.lowered_window("s") == 3_000
    assert watch.told == [("recovered", "usage")]


def test_an_answer_of_nothing_for_want_of_space_is_asked_for_again() -> None:
    """Some servers fill the window with the prompt and stop; a shorter list that is answered tells the window."""
    guard = make_guard()
    server = Server(told(12_000, 0, "length"), told(5_000))
    sent = guard.call(server, turns(30), session="s")
    assert sent.reply == told(5_000)
    assert sent.compactions[1].tokens_after * 2 <= sent.compactions[0].tokens_after
    assert guard.lowered_window("s") == sent.compactions[0].tokens_after


def test_a_reply_is_handed_back_where_the_list_cannot_be_shorter() -> None:
    """No error was told, so that none is raised."""
    watch = Watch()
    server = Server(told(10))
    messages = [{"role": "user", "content": "word " * 4_000}]
    sent = make_guard(watch).call(server, messages)
    assert sent.reply == told(10)
    assert sent.messages == messages
    assert watch.told == [("failed", "usage")]


def test_a_reply_is_handed_back_after_the_last_attempt() -> None:
    """As many attempts as for a refusal."""
    watch = Watch()
    server = Server(*[told(12_000 - turn, 0, "length") for turn in range(3)])
    sent = make_guard(watch, retries=1).call(server, turns(30))
    assert sent.reply == told(11_999, 0, "length")
    assert len(server.lists) == 2
    assert watch.told == [("failed", "usage")]


def test_a_reply_is_handed_back_where_the_next_attempt_fails() -> None:
    """What has come is better than an error."""
    watch = Watch()
    server = Server(told(3_000), RuntimeError("the server is gone"))
    sent = make_guard(watch).call(server, turns(40))
    assert sent.reply == told(3_000)
    assert watch.told == [("failed", "usage")]


def test_later_lists_are_compacted_by_what_was_counted() -> None:
    """A provider that counts half as much again has a window that is as much smaller by our estimates."""
    guard = make_guard()
    estimate = guard.call(Server("fine"), turns(20)).compactions[0].tokens_after
    guard.call(Server(told(estimate * 3 // 2)), turns(20), session="s")
    assert guard.lowered_window("s") == pytest.approx(20_000 / 1.5, abs=2)
    assert guard.lowered_window("another") == 20_000
    before = guard.call(Server("fine"), turns(40)).compactions[0]
    after = guard.call(Server("fine"), turns(40), session="s").compactions[0]
    assert after.tokens_after < before.tokens_after
    guard.forget("s")
    assert guard.lowered_window("s") == 20_000


def test_more_than_the_window_that_was_answered_is_not_sent_again() -> None:
    """The answer is whole; the next list is compacted sooner."""
    watch = Watch()
    guard = make_guard(watch)
    server = Server(told(25_000))
    assert guard.call(server, turns(20), session="s").reply == told(25_000)
    assert watch.told == []
    assert guard.lowered_window("s") < 10_000


def test_a_conversation_that_is_left_alone_is_not_read() -> None:
    """While the breaker is open nothing was estimated."""
    guard = make_guard(breaker_failures=1)
    guard.breaker.failed("s")
    assert guard.call(Server(told(10)), turns(20), session="s").reply == told(10)


def test_asynchronous_calls_are_read_as_well() -> None:
    """By the same steps."""
    guard = make_guard()
    server = Server(told(3_000), told(2_500))

    async def send(messages: list[object]) -> object:
        return server(messages)

    assert asyncio.run(guard.acall(send, turns(40))).reply == told(2_500)
