"""A call of a model survives overflow: compacted before, compacted again when it is refused, within bounds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import FrozenInstanceError
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context import providers
from otel_errcompact_context.breaker import CircuitBreaker
from otel_errcompact_context.exceptions import ContextOverflowError, ConversationError, LaneError
from otel_errcompact_context.guard.guard import Course, OverflowGuard, Sent
from otel_errcompact_context.guard.guard import guard_of as guard_for
from otel_errcompact_context.guard.lanes import Lanes
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.notes import Overflow
from otel_errcompact_context.window.layers.requests import SummaryRequest
from otel_errcompact_context.window.window import ContextWindow

OPTIONS = ContextOptions(window_tokens=10_000, reserve_tokens=1_000, result_budget_tokens=100_000, preview_tokens=50)


class RefusedError(Exception):
    """As an SDK raises it."""

    def __init__(self, message: str = "prompt is too long: 12000 tokens > 10000 maximum", status: int = 400) -> None:
        super().__init__(message)
        self.status_code = status


def turns(number: int, characters: int = 1_600) -> list[Any]:
    """A chat of so many turns, of 400 tokens and more each."""
    messages: list[Any] = [{"role": "user", "content": "the task"}]
    for turn in range(number):
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": f"{turn} " + "cold " * (characters // 5)},
        ]
    return messages


class Model:
    """Refuses what the script says, then answers; keeps what it was sent."""

    def __init__(self, *refusals: Exception | object) -> None:
        self.script = list(refusals)
        self.lists: list[list[object]] = []

    def __call__(self, messages: list[object]) -> object:
        self.lists.append(messages)
        said = self.script.pop(0) if self.script else "fine"
        if isinstance(said, Exception):
            raise said
        return said


Run = Callable[..., Sent[Any]]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Call through the guard, by either way."""

    def call(guard: OverflowGuard, model: Callable[[list[object]], Any], *args: Any, **kwargs: Any) -> Sent[Any]:
        if request.param == "sync":
            return guard.call(model, *args, **kwargs)

        async def send(messages: list[object]) -> Any:
            await asyncio.sleep(0)
            return model(messages)

        return asyncio.run(guard.acall(send, *args, **kwargs))

    return call


def guard_of(options: ContextOptions = OPTIONS, **kwargs: Any) -> OverflowGuard:
    window = ContextWindow(options, archive=MemoryArchive(), summarize=kwargs.pop("summarize", None))
    return OverflowGuard(window, **kwargs)


def test_what_fits_is_sent_as_it_is(run: Run) -> None:
    """The very messages, in a list of its own."""
    messages, model, guard = turns(3), Model(), guard_of()
    sent = run(guard, model, messages, session="a")
    assert sent.reply == "fine"
    assert sent.messages == messages
    assert all(mine is theirs for mine, theirs in zip(sent.messages, messages, strict=True))
    assert sent.messages is not messages
    assert model.lists == [sent.messages]
    assert [compaction.tokens_after for compaction in sent.compactions] == [sent.compactions[0].tokens_before]
    with pytest.raises(FrozenInstanceError):
        sent.reply = "x"  # type: ignore[misc]


def test_what_is_over_the_trigger_is_compacted_before(run: Run) -> None:
    """So that the provider need not refuse it."""
    messages, model = turns(40), Model()
    before = list(messages)
    sent = run(guard_of(), model, messages)
    assert messages == before
    assert sent.compactions[0].tokens_before > 9_000
    assert sent.compactions[0].fits
    assert len(model.lists) == 1
    assert model.lists[0] == sent.messages == sent.compactions[0].messages


def test_what_is_refused_is_compacted_and_sent_again(run: Run) -> None:
    """The estimate may be too low; a reserve stays free."""
    told: list[tuple[str, str]] = []
    messages, model = turns(15), Model(RefusedError())
    sent = run(guard_of(on_overflow=lambda *what: told.append(what)), model, messages, session="a")
    assert sent.reply == "fine"
    assert [compaction.tokens_before > compaction.tokens_after for compaction in sent.compactions] == [False, True]
    assert sent.compactions[1].fits
    assert model.lists == [messages, sent.messages]
    assert told == [("recovered", "unknown")]


def test_a_named_limit_lowers_the_window_of_that_conversation(run: Run) -> None:
    """The next call is compacted before it is refused; what others have is another matter."""
    guard = guard_of()
    model = Model(RefusedError("prompt is too long: 5200 tokens > 5000 maximum"))
    sent = run(guard, model, turns(15), session="a")
    assert guard.lowered_window("b") == 10_000
    # The provider counted no more than was estimated, so that its limit holds as it is.
    assert guard.lowered_window("a") == 5_000
    assert sent.compactions[1].room_tokens == 4_000
    again = run(guard, model, turns(15), session="a")
    assert again.compactions[0].room_tokens == 4_000
    assert again.compactions[0].fits
    assert len(model.lists) == 3
    guard.forget("a")
    assert guard.lowered_window("a") == 10_000


def test_a_limit_below_what_went_through_is_not_believed(run: Run) -> None:
    """Whatever its number is: the conversation would be cut to it for the rest of its life."""
    guard, messages = guard_of(), turns(15)
    assert run(guard, Model(), messages, session="a").reply == "fine"
    passed = guard.window.compact(messages).tokens_after
    sent = run(guard, Model(RefusedError("Context window exceeded: the limit is 400 tokens")), turns(16), session="a")
    assert len(sent.compactions) == 2
    assert passed <= guard.lowered_window("a") <= sent.compactions[0].tokens_after
    run(guard, Model(RefusedError("Context window exceeded: the limit is 400 tokens")), messages, session="b")
    assert guard.learned_windows == {"a": guard.lowered_window("a"), "b": 400}


@given(
    calls=st.lists(
        st.tuples(
            st.integers(1, 24),
            st.sampled_from(
                [
                    "",
                    "Context window exceeded",
                    "prompt is too long: 9000 tokens > {} maximum",
                    "Context window exceeded: the limit is {} tokens",
                    "context_length_exceeded (status {})",
                ]
            ),
            st.integers(10, 9_000),
        ),
        max_size=8,
    )
)
def test_the_window_is_never_below_what_went_through(calls: list[tuple[int, str, int]]) -> None:
    """Whatever is refused, in whatever order, with whatever number."""
    guard, passed = guard_of(breaker=CircuitBreaker(10**9)), 0
    for length, words, number in calls:
        model = Model(RefusedError(words.format(number))) if words else Model()
        try:
            sent = guard.call(model, turns(length))
        except ContextOverflowError:
            continue
        passed = max(passed, sent.compactions[-1].tokens_after)
        assert guard.learned_windows.get("", 10_000) >= passed


def test_what_a_conversation_has_taught_is_seen_and_forgotten(run: Run) -> None:
    """It goes on with a smaller model: the error says what to do, and then its limit counts."""
    guard, refusal = guard_of(), "Context window exceeded: the limit is 2000 tokens"
    assert guard.learned_windows == {}
    run(guard, Model(), turns(15))
    with pytest.raises(ContextOverflowError, match=r"lists than 2000 tokens went through: `guard.forget` the session"):
        run(guard, Model(*[RefusedError(refusal)] * 9), turns(15))
    guard.forget()
    assert guard.learned_windows == {}
    assert run(guard, Model(RefusedError(refusal)), turns(15)).reply == "fine"
    assert guard.learned_windows == {"": 2_000}


def test_no_more_went_through_than_was_read(run: Run) -> None:
    """A server may have cut the prompt, or count less than is estimated."""
    guard = guard_of()
    run(guard, Model({"usage": {"prompt_tokens": 3_000, "completion_tokens": 9}}), turns(15))
    run(guard, Model(RefusedError("Context window exceeded: the limit is 4000 tokens")), turns(15))
    assert guard.learned_windows == {"": 4_000}


def test_an_estimate_that_was_too_low_is_made_good(run: Run) -> None:
    """Where the provider counts twice as much, half of its limit is what may be estimated."""
    guard, messages = guard_of(), turns(15)
    estimate = guard.window.compact(messages).tokens_after
    run(guard, Model(RefusedError(f"prompt is too long: {2 * estimate} tokens > 10000 maximum")), messages)
    assert guard.lowered_window() == 5_000


def test_a_limit_above_the_options_changes_nothing(run: Run) -> None:
    """Who has chosen a smaller window keeps it."""
    guard = guard_of()
    run(
        guard, Model(RefusedError("prompt is too long: 200251 tokens > 200000 maximum")), turns(15), beside_tokens=2_000
    )
    assert guard.lowered_window() < 10_000
    guard.forget("")
    run(guard, Model(RefusedError("input token count exceeds the maximum number of tokens allowed (99999)")), turns(15))
    assert guard.lowered_window() == 10_000


def test_it_is_sent_again_so_often_and_no_more(run: Run) -> None:
    """Then the provider's error is the cause of ours, which says what was tried."""
    told: list[tuple[str, str]] = []
    refusals = [RefusedError("Input is too long for requested model.") for _ in range(9)]
    model = Model(*refusals)
    guard = guard_of(on_overflow=lambda *what: told.append(what))
    with pytest.raises(ContextOverflowError) as caught:
        run(guard, model, turns(15), session="a")
    error = caught.value
    assert 2 <= len(model.lists) <= 3
    assert error.__cause__ is refusals[len(model.lists) - 1]
    assert (error.session, error.overflow.provider) == ("a", "unknown")
    assert error.tokens_before > error.tokens_after > 0
    assert error.room_tokens == 9_000
    assert set(error.tried) <= {"snip", "micro", "reactive"}
    assert error.tried
    assert len(error.compactions) == len(model.lists)
    assert "the context of session 'a' is too long: it was " in str(error)
    assert "the provider said: Input is too long for requested model." in str(error)
    assert told == [("failed", "unknown")]


def test_each_refusal_without_a_number_halves_the_list(run: Run) -> None:
    """Nothing says by how much the estimate is wrong, and half is soon far enough."""
    model = Model(*[RefusedError("Input is too long for requested model.") for _ in range(3)])
    sent = run(guard_of(OPTIONS.model_copy(update={"retries": 3})), model, turns(20))
    sizes = [compaction.tokens_after for compaction in sent.compactions]
    assert sizes == [7_037, 3_471, 1_098, 398]
    assert all(later <= earlier // 2 for earlier, later in pairwise(sizes))


def test_a_refusal_without_a_number_lowers_the_window_once_a_shorter_list_goes_through(run: Run) -> None:
    """The window is less than what was refused; the next list is compacted before it is that long."""
    guard, model = guard_of(), Model(RefusedError("Input is too long for requested model."))
    sent = run(guard, model, turns(15), session="a", beside_tokens=100)
    refused = sent.compactions[0].tokens_after + 100
    assert refused == 5_377
    assert guard.lowered_window("a") == refused
    assert guard.lowered_window("b") == 10_000
    again = run(guard, model, turns(15), session="a", beside_tokens=100)
    assert again.compactions[0].room_tokens == refused - 1_000 - 100
    assert again.compactions[0].tokens_after < refused - 1_000 - 100
    assert len(model.lists) == 3


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("Input is too long for requested model.", id="no number"),
        pytest.param("prompt is too long: {sent} tokens > 8000 maximum", id="numbers"),
    ],
)
def test_an_unknown_window_costs_one_refusal(run: Run, words: str) -> None:
    """The options say 200,000, the model can do 8,000, and counts a third more than is estimated."""
    guard, messages, refused = guard_of(ContextOptions()), turns(0), 0

    def send(sent: list[object]) -> str:
        nonlocal refused
        tokens = guard.window.compact(sent, window_tokens=10**9).tokens_before * 4 // 3
        if tokens > 8_000:
            refused += 1
            raise RefusedError(words.format(sent=tokens))
        return "fine"

    for turn in turns(60)[1:]:
        messages = [*messages, turn]
        if turn["role"] == "tool":
            messages = run(guard, send, messages).messages
    assert refused == 1
    assert 5_000 < guard.lowered_window() <= 6_500


def test_a_list_that_nothing_helps_teaches_no_window(run: Run) -> None:
    """It may have been something else that was too long."""
    guard = guard_of()
    with pytest.raises(ContextOverflowError):
        run(guard, Model(*[RefusedError("Input is too long for requested model.") for _ in range(9)]), turns(15))
    assert guard.lowered_window() == 10_000


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(RefusedError("too large", 413), id="the status alone"),
        pytest.param(RefusedError("Input is too long for requested model: 40 MB.", 400), id="bytes"),
        pytest.param(RefusedError("Input is too long for requested model: 99,000 characters.", 400), id="characters"),
    ],
)
def test_a_limit_that_is_not_counted_in_tokens_teaches_no_window(run: Run, refusal: Exception) -> None:
    """One large picture would leave room for nothing for the rest of the conversation."""
    guard = guard_of()
    assert len(run(guard, Model(refusal), turns(15)).compactions) == 2
    assert guard.lowered_window() == 10_000


def test_no_retries_are_none(run: Run) -> None:
    """Compacting before the call goes on."""
    model = Model(RefusedError())
    with pytest.raises(ContextOverflowError, match="sent again 0 times"):
        run(guard_of(OPTIONS.model_copy(update={"retries": 0})), model, turns(40))
    assert len(model.lists) == 1


def test_what_cannot_be_made_shorter_is_not_sent_again(run: Run) -> None:
    """It would only be refused again."""
    model = Model(RefusedError("Input is too long for requested model."))
    with pytest.raises(ContextOverflowError, match="compacting did not make it shorter than"):
        run(guard_of(), model, [{"role": "user", "content": "hi"}])
    assert len(model.lists) == 1


def test_a_full_disk_is_named_where_it_keeps_the_context_from_being_cut(run: Run) -> None:
    """Or nobody would look for the cause there."""
    model = Model(RefusedError("Input is too long for requested model."))
    guard = OverflowGuard(ContextWindow(OPTIONS, archive=MemoryArchive(max_characters=10), observers=()))
    with pytest.raises(ContextOverflowError, match=r"\(reactive: .*10 are free"):
        run(guard, model, turns(15))


def test_a_window_smaller_than_the_reserve_leaves_room_all_the_same(run: Run) -> None:
    """The options are for another model; the reserve shrinks with the window."""
    model = Model(RefusedError("This model's maximum context length is 900 tokens. However, you requested 9000 tokens"))
    guard = guard_of()
    sent = run(guard, model, turns(15))
    window = guard.lowered_window()
    # The provider counted 9,000 where 5,276 were estimated.
    assert window == 900 * 5_276 // 9_000
    assert sent.compactions[1].room_tokens == window - window // 4
    assert 0 < sent.compactions[1].tokens_after <= window - window // 4


def test_what_is_beside_the_list_is_counted(run: Run) -> None:
    """As it is handed over, beside what was counted already."""
    sent = run(guard_of(), Model(), turns(3), beside="x" * 4_000, beside_tokens=500)
    counted = guard_of().window.count_tokens("x" * 4_000)
    assert counted > 500
    assert sent.compactions[0].room_tokens == 9_000 - 500 - counted


def test_what_is_beside_the_list_is_named_where_it_leaves_no_room(run: Run) -> None:
    """No shorter list would help."""
    model = Model(RefusedError("This model's maximum context length is 900 tokens. However, you requested 9000 tokens"))
    with pytest.raises(ContextOverflowError, match=r"\(what is sent beside the list, 2000 tokens, leaves nothing of "):
        run(guard_of(), model, turns(15), beside_tokens=2_000)
    assert len(model.lists) == 1


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(RefusedError("rate limit of 40,000 input tokens per minute", 429), id="rate limit"),
        pytest.param(RefusedError("max_tokens: 100000 > 64000, which is the maximum", 400), id="length of the answer"),
        pytest.param(TimeoutError("slow"), id="timeout"),
        pytest.param(KeyError("x"), id="a mistake"),
    ],
)
def test_other_errors_pass_through_untouched(run: Run, error: Exception) -> None:
    """The same object, with nothing added, after one call."""
    model = Model(error)
    with pytest.raises(type(error)) as caught:
        run(guard_of(), model, turns(3))
    assert caught.value is error
    assert (error.__cause__, error.__context__) == (None, None)
    assert len(model.lists) == 1


def test_a_reply_that_was_cut_off_at_the_end_of_the_window_is_an_overflow(run: Run) -> None:
    """Half an answer is not what was asked for; if it stays so, the error holds it."""
    half = {"stop_reason": "model_context_window_exceeded", "content": "half"}
    sent = run(guard_of(), Model(half), turns(15))
    assert sent.reply == "fine"
    with pytest.raises(ContextOverflowError) as caught:
        run(guard_of(), Model(half, half, half), turns(15))
    assert caught.value.reply is half
    assert caught.value.__cause__ is None


def test_a_list_that_breaks_the_rules_is_not_sent(run: Run) -> None:
    """Each break is named; who wants to send it all the same may."""
    messages = [*turns(1), {"role": "tool", "tool_call_id": "nobody", "content": "x"},
                {"role": "tool", "tool_call_id": "no-one", "content": "x"}]  # fmt: skip
    model = Model()
    with pytest.raises(
        ConversationError, match=r"not sent, for the list breaks the provider's rules: .*nobody.*; .*no-one"
    ):
        run(guard_of(), model, messages)
    assert model.lists == []
    assert run(guard_of(validate=False), model, messages).messages == messages


def test_what_we_have_broken_is_never_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even without validation: the caller's list was good."""
    guard, model = guard_of(validate=False), Model()
    compaction = guard.window.compact(turns(1))
    broken = type(compaction)(
        messages=turns(1)[2:],
        session="",
        notes=(),
        tokens_before=9,
        tokens_after=5,
        room_tokens=9,
        problems=("2: orphan",),
    )

    async def acompact(*_: object, **__: object) -> object:
        return broken

    monkeypatch.setattr(guard.window, "compact", lambda *_, **__: broken)
    monkeypatch.setattr(guard.window, "acompact", acompact)
    with pytest.raises(ConversationError, match="2: orphan"):
        run(guard, model, turns(1))
    assert model.lists == []


def test_an_empty_list_is_the_providers_matter(run: Run) -> None:
    """There is nothing to compact, and nothing to check."""
    model = Model()
    assert run(guard_of(), model, []).reply == "fine"
    guard = guard_of()
    for _ in range(3):
        guard.breaker.failed("")
    assert run(guard, model, []).compactions == ()
    assert model.lists == [[], []]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_breaker_leaves_a_conversation_alone_that_compaction_does_not_help(run: Run) -> None:
    """Three failures in a row; after the cool-down one call may try, and a call that goes through closes it."""
    told: list[tuple[str, str]] = []
    clock = Clock()
    guard = guard_of(breaker=CircuitBreaker(3, 60, clock=clock), on_overflow=lambda *what: told.append(what))
    short = [{"role": "user", "content": "hi"}]
    for _ in range(3):
        with pytest.raises(ContextOverflowError, match="did not make it shorter"):
            run(guard, Model(RefusedError("Input is too long for requested model.")), short, session="a")
    model = Model(RefusedError())
    with pytest.raises(ContextOverflowError, match="it is not compacted, for that has not helped lately") as caught:
        run(guard, model, turns(40), session="a")
    assert model.lists == [turns(40)]
    assert caught.value.compactions == ()
    assert (caught.value.tokens_before, caught.value.tokens_after, caught.value.room_tokens) == (0, 0, 0)
    assert told == [("failed", "unknown")] * 3 + [("refused", "unknown")]
    assert run(guard, Model(), turns(40), session="a").compactions == ()
    assert run(guard, Model(), turns(40), session="b").compactions[0].fits
    clock.now += 60
    assert run(guard, Model(), turns(40), session="a").compactions[0].fits
    assert not guard.breaker.is_open("a")


def test_the_breaker_opens_within_a_call(run: Run) -> None:
    """Where one failure is enough, the second refusal ends it."""
    guard = guard_of(OPTIONS.model_copy(update={"breaker_failures": 1, "retries": 5}))
    model = Model(*[RefusedError("Input is too long for requested model.") for _ in range(9)])
    with pytest.raises(ContextOverflowError):
        run(guard, model, turns(15))
    assert len(model.lists) == 2
    assert guard.breaker.is_open("")


def test_a_list_that_breaks_the_rules_is_found_while_the_breaker_is_open(run: Run) -> None:
    """It is not compacted, but read."""
    guard = guard_of(breaker=CircuitBreaker(1, 60))
    guard.breaker.failed("")
    with pytest.raises(ConversationError, match="nobody"):
        run(guard, Model(), [*turns(1), {"role": "tool", "tool_call_id": "nobody", "content": "x"}])


def test_an_observer_that_fails_changes_nothing(run: Run) -> None:
    """Counting is not the call; our own tests see the fault all the same."""

    def fail(result: str, provider: str) -> None:
        raise ValueError(result, provider)

    guard = guard_of(on_overflow=fail)
    type(guard.window.guard).strict = False
    assert run(guard, Model(RefusedError()), turns(15)).reply == "fine"
    assert guard.window.guard.failures["context.on_overflow"] == 1


def test_a_stream_that_fails_with_its_first_item_is_saved() -> None:
    """Many streams connect only when they are read; what comes after the first item passes through."""
    closed: list[str] = []

    def stream(messages: list[object]) -> Iterator[str]:
        if len(messages) > 20:
            raise RefusedError
        try:
            got = yield "one"
            yield f"two {got}"
        finally:
            closed.append("closed")
        return "end"

    sent = guard_of().call(stream, turns(15))
    assert list(sent.reply) == ["one", "two None"]
    assert closed == ["closed"]
    early = guard_of().call(stream, turns(3)).reply
    assert next(early) == "one"
    early.close()  # type: ignore[attr-defined]
    assert closed == ["closed", "closed"]
    assert list(guard_of().call(lambda _: (one for one in ()), turns(3)).reply) == []


async def test_an_asynchronous_stream_that_fails_with_its_first_item_is_saved() -> None:
    """As the other."""

    async def stream(messages: list[object]) -> AsyncIterator[str]:
        if len(messages) > 20:
            raise RefusedError
        for word in ("one", "two")[: len(messages) - 1]:
            yield word

    sent = await guard_of().acall(stream, turns(15))
    assert [word async for word in sent.reply] == ["one", "two"]
    empty = await guard_of().acall(stream, turns(0))
    assert [word async for word in empty.reply] == []


def test_a_send_that_is_asynchronous_is_refused_by_the_synchronous_form() -> None:
    """The cure is named, and no coroutine is left behind."""

    async def send(messages: list[object]) -> str:
        return "fine"

    with pytest.raises(ConfigurationError, match=r"use `await guard\.acall\(\.\.\.\)`"):
        guard_of().call(send, turns(1))


async def test_a_plain_send_works_in_the_asynchronous_form() -> None:
    """As fakes and local models are called."""
    assert (await guard_of().acall(Model(), turns(1))).reply == "fine"


def test_a_summariser_may_call_the_model_through_the_guard(run: Run) -> None:
    """In the same conversation or in one of its own, with one place among all."""

    def summarize(request: SummaryRequest) -> str:
        sent = guard.call(lambda _: "short", [{"role": "user", "content": "sum up"}], session=request.session)
        other = guard.call(lambda _: "and sweet", [{"role": "user", "content": "sum up"}], session="summaries")
        return f"{sent.reply} {other.reply}"

    guard = guard_of(OPTIONS.model_copy(update={"keep_results": 1_000}), lanes=Lanes(1, seconds=5), summarize=summarize)
    text = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "x" * 1_600} for n in range(31)
    ]  # nothing but words, so that only a summary helps
    sent = run(guard, Model(), text, session="a")
    assert [note.layer for note in sent.compactions[0].notes if note.cuts] == ["summary"]
    assert "short and sweet" in str(sent.messages)


def test_one_conversation_is_compacted_by_one_at_a_time() -> None:
    """Whichever way it is called; different conversations at once."""
    inside: list[str] = []
    together: list[int] = []
    lock = threading.Lock()

    def summarize(request: SummaryRequest) -> str:
        with lock:
            inside.append(request.session)
            together.append(inside.count(request.session))
        threading.Event().wait(0.005)
        with lock:
            inside.remove(request.session)
        return "short"

    guard = guard_of(lanes=Lanes(2, seconds=20), summarize=summarize)
    text = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "x" * 1_600} for n in range(31)]

    def work(number: int) -> None:
        if number % 2:
            guard.call(Model(), text, session=f"s{number % 3}")
        else:
            asyncio.run(guard.acall(Model(), text, session=f"s{number % 3}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert together == [1] * 9


async def test_the_synchronous_form_does_not_block_the_loop_for_a_task_of_it() -> None:
    """Which could then never end."""
    entered, go = asyncio.Event(), asyncio.Event()

    async def summarize(request: SummaryRequest) -> str:
        entered.set()
        await go.wait()
        return "short"

    guard = guard_of(summarize=summarize)
    text = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "x" * 1_600} for n in range(31)]
    task: Awaitable[Sent[object]] = asyncio.create_task(guard.acall(Model(), text, session="a"))
    await asyncio.wait_for(entered.wait(), 60)
    with pytest.raises(LaneError, match="would block this event loop"):
        guard.call(Model(), text, session="a")
    go.set()
    assert (await task).reply == "fine"


TOO_LONG_EVENT = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}


class Streams:
    """Opens a stream for each list in the script; says which were closed."""

    def __init__(self, *script: list[object]) -> None:
        self.script = list(script)
        self.closed = 0

    def __call__(self, messages: list[object]) -> Iterator[object]:
        try:
            yield from self.script.pop(0)
        finally:
            self.closed += 1

    async def asynchronous(self, messages: list[object]) -> AsyncIterator[object]:
        try:
            for item in self.script.pop(0):
                yield item
        finally:
            self.closed += 1


OPENED: list[object] = [{"type": "response.created"}, {"type": "response.in_progress"}]


@pytest.mark.parametrize("head", [[], OPENED], ids=["at once", "after it has opened"])
def test_a_stream_that_begins_with_an_error_is_opened_again(head: list[object]) -> None:
    """As providers do that answer 200 before they count; the first stream is closed."""
    streams = Streams([*head, TOO_LONG_EVENT, "never read"], [*head, "a", "b"])
    sent = guard_of().call(streams, turns(20))
    assert streams.closed == 1
    assert list(sent.reply) == [*head, "a", "b"]
    assert len(sent.compactions) == 2


@pytest.mark.parametrize("head", [[], OPENED], ids=["at once", "after it has opened"])
def test_an_asynchronous_stream_that_begins_with_an_error_is_opened_again(head: list[object]) -> None:
    """The same."""
    streams = Streams([*head, TOO_LONG_EVENT, "never read"], [*head, "a", "b"])

    async def read() -> list[object]:
        sent = await guard_of().acall(streams.asynchronous, turns(20))
        return [item async for item in sent.reply]

    assert asyncio.run(read()) == [*head, "a", "b"]
    assert streams.closed == 2


def test_a_stream_that_only_opens_is_handed_on() -> None:
    """Only so many items are read ahead, and none is lost."""
    pings: list[object] = [{"type": "ping"}] * 20
    assert list(guard_of().call(Streams(pings), turns(2)).reply) == pings
    assert list(guard_of().call(Streams([]), turns(2)).reply) == []
    assert list(guard_of().call(Streams(OPENED), turns(2)).reply) == OPENED


def test_an_asynchronous_stream_that_only_opens_is_handed_on() -> None:
    """The same."""

    async def read(items: list[object]) -> list[object]:
        sent = await guard_of().acall(Streams(items).asynchronous, turns(2))
        return [item async for item in sent.reply]

    for items in ([{"type": "ping"}] * 20, [], OPENED):
        assert asyncio.run(read(items)) == items


def test_an_error_later_in_a_stream_passes_through() -> None:
    """What was handed on cannot be taken back."""
    sent = guard_of().call(Streams(["a", TOO_LONG_EVENT]), turns(20))
    assert list(sent.reply) == ["a", TOO_LONG_EVENT]


def test_hooks_of_a_framework_take_the_steps_of_a_call() -> None:
    """Compacted, refused, compacted harder, and sent: what a guarded call does by itself."""
    guard = guard_of()
    messages = turns(20)
    assert not Course(guard, messages, "chat", 0, None).forgets
    course = Course(guard, messages, "chat", 0, None)
    first = course.compact()
    assert len(first) <= len(messages)
    assert course.refused(None, ValueError("something else")) is False
    assert course.refused(Overflow(provider="x", limit_tokens=3_000, sent_tokens=None, message="too long"))
    second = course.compact()
    assert course.forgets
    assert providers.read_list(second, guard.window.count_tokens).tokens <= 3_000
    assert course.sent("reply").messages == second
    assert guard.lowered_window("chat") == 3_000


async def test_the_steps_of_a_call_are_taken_in_asynchronous_code() -> None:
    """In the lane of the session; and while the breaker is open the list goes as it is."""
    guard = guard_of()
    messages = turns(20)
    async with guard.lanes.visit("other"):
        sent = await Course(guard, messages, "chat", 0, None).acompact()
    assert sent == Course(guard, messages, "chat", 0, None).compact()
    for _ in range(3):
        guard.breaker.failed("chat")
    assert await Course(guard, messages, "chat", 0, None).acompact() == messages
    assert Course(guard, messages, "chat", 0, None).compact() == messages


def test_an_integration_is_given_a_guard_a_window_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is made by the environment's options, and lets through what came broken."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_CONTEXT_WINDOW_TOKENS", "7000")
    guard = OverflowGuard(ContextWindow(OPTIONS, archive=MemoryArchive()))
    assert guard_for(guard) is guard
    made = guard_for(guard.window)
    assert (made.window, made.validate) == (guard.window, False)
    assert guard_for(None).window.window_tokens == 7_000


def test_hooks_of_a_framework_calibrate_by_the_usage_that_they_are_told() -> None:
    """From then on the window of that conversation is as much smaller as estimates were too low."""
    guard = guard_of()
    course = Course(guard, turns(10), "chat", 0, None)
    course.calibrate({"input_tokens": 9_000})
    assert guard.lowered_window("chat") == 10_000  # nothing was sent yet
    course.compact()
    course.calibrate({"no usage": 1})
    assert guard.lowered_window("chat") == 10_000
    course.calibrate({"input_tokens": 9_000})
    assert 3_333 <= guard.lowered_window("chat") < 10_000
