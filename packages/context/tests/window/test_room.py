"""How many tokens a list may have."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from otel_errcompact.config import ContextOptions, Options
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.window.room import count_beside, reserve_of, window_by_options
from otel_errcompact_context.window.window import ContextWindow

TASK = [{"role": "user", "content": "the task"}]


def room(options: ContextOptions, **kwargs: object) -> int:
    window = ContextWindow(options, archive=MemoryArchive(), count_tokens=len, observers=())
    return window.compact(TASK, format="openai-chat", **kwargs).room_tokens  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        pytest.param({}, 180_000, id="the defaults"),
        pytest.param({"window_tokens": 80_000}, 60_000, id="where both are the same"),
        pytest.param({"window_tokens": 6_000}, 4_500, id="a quarter of a small window"),
        pytest.param({"window_tokens": 1}, 1, id="the least window"),
        pytest.param({"window_tokens": 6_000, "reserve_tokens": 0}, 6_000, id="none"),
        pytest.param({"window_tokens": 6_000, "reserve_tokens": 5_999}, 1, id="the most"),
        pytest.param({"model": "gpt-4"}, 6_144, id="the model's window"),
        pytest.param({"model": "gpt-4", "window_tokens": 100_000}, 80_000, id="what is given counts first"),
        pytest.param({"model": "gpt-4", "reserve_tokens": 1_000}, 7_192, id="the model's window, and a reserve"),
        pytest.param({"model": "nobody-knows-me"}, 180_000, id="a model that is not known"),
    ],
)
def test_the_room_is_the_window_less_the_reserve(options: dict[str, object], tokens: int) -> None:
    """The reserve is 20,000 tokens or a quarter of the window, unless one is given."""
    assert room(ContextOptions(**options)) == tokens  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("window", "reserve"),
    [
        pytest.param(10_000, 6_000, id="the window of the options"),
        pytest.param(5_000, 3_000, id="half of it: the same share"),
        pytest.param(20_000, 6_000, id="a larger one"),
    ],
)
def test_a_reserve_that_is_given_shrinks_with_the_window(window: int, reserve: int) -> None:
    """It never grows."""
    options = ContextOptions(window_tokens=10_000, reserve_tokens=6_000)
    assert reserve_of(options, window) == reserve
    assert room(options, window_tokens=window) == window - reserve


@given(window=st.integers(1, 10**7), data=st.data())
def test_no_window_is_left_without_room(window: int, data: st.DataObject) -> None:
    """Whatever the options, and whatever a provider has named."""
    reserve = data.draw(st.none() | st.integers(0, window - 1))
    options = ContextOptions(window_tokens=window, reserve_tokens=reserve)
    learned = data.draw(st.integers(1, window))
    assert 0 <= reserve_of(options, learned) < learned


def test_a_reserve_that_leaves_nothing_of_the_models_window_is_refused() -> None:
    """With the window that the table has."""
    with pytest.raises(ConfigurationError, match=r"reserve_tokens \(8192\) leaves nothing of window_tokens \(8192\)"):
        room(ContextOptions(model="gpt-4", reserve_tokens=8_192))


def test_a_reserve_below_what_answers_need_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Less than 4,096 tokens and than an eighth of the window; what is computed never is."""
    for options in ({}, {"reserve_tokens": 4_096}, {"window_tokens": 800, "reserve_tokens": 100}, {"window_tokens": 9}):
        room(ContextOptions(**options))
    assert caplog.messages == []
    for _ in range(2):
        room(ContextOptions(window_tokens=123_000, reserve_tokens=4_095))
    (said,) = caplog.messages
    assert said.startswith("reserve_tokens (4095) is less than many answers need in a window of 123000 tokens: ")
    assert said.endswith("; set it to what you ask for at most (max_tokens), or leave it out for 20000")


def test_the_model_may_stand_in_the_environment() -> None:
    """Its window counts unless one is given there too."""
    named = {"OTEL_ERRCOMPACT_CONTEXT_MODEL": "claude-sonnet-4-6"}
    assert window_by_options(Options.from_environ(named).context) == 1_000_000
    both = {**named, "OTEL_ERRCOMPACT_CONTEXT_WINDOW_TOKENS": "64000"}
    assert window_by_options(Options.from_environ(both).context) == 64_000


class Tool(BaseModel):
    """As an SDK has it."""

    name: str
    strict: bool = False


@pytest.mark.parametrize(
    ("beside", "tokens"),
    [
        pytest.param(None, 0, id="nothing"),
        pytest.param("", 0, id="an empty text"),
        pytest.param("You are an agent.", 17, id="a system prompt"),
        pytest.param({"name": "read"}, len('{"name": "read"}'), id="a schema"),
        pytest.param(Tool(name="read"), len('{"name": "read"}'), id="an SDK's object, as it is sent"),
        pytest.param(["Be brief.", [{"a": 1}, {"b": 2}], None], 9 + 8 + 8, id="several"),
        pytest.param(({"text": "über"},), len('{"text": "über"}'), id="other scripts are not escaped"),
    ],
)
def test_what_is_sent_beside_is_counted_as_it_is_sent(beside: object, tokens: int) -> None:
    """A text as text, everything else as JSON."""
    assert count_beside(beside, len) == tokens
    assert room(ContextOptions(), beside=beside) == 180_000 - tokens
    assert room(ContextOptions(), beside=beside, beside_tokens=7) == 180_000 - 7 - tokens


def test_what_cannot_be_counted_is_refused() -> None:
    """A function is no schema: nobody knows what the framework sends for it."""
    with pytest.raises(ConfigurationError, match="beside holds a function, whose tokens cannot be counted"):
        room(ContextOptions(), beside=["system", test_what_cannot_be_counted_is_refused])


def test_what_is_sent_beside_lets_the_layers_begin_earlier() -> None:
    """A list that fits alone does not fit beside tools that fill the window."""
    window = ContextWindow(ContextOptions(window_tokens=4_000), archive=MemoryArchive(), count_tokens=len, observers=())
    messages = [{"role": "user", "content": "task"}]
    messages += [{"role": "assistant" if n % 2 else "user", "content": "x" * 100} for n in range(1, 21)]
    tools = [{"name": "read", "description": "y" * 2_000}]
    assert window.compact(messages, format="openai-chat").messages == messages
    compaction = window.compact(messages, format="openai-chat", beside=tools)
    assert compaction.fits
    assert compaction.room_tokens == 3_000 - len(json.dumps(tools[0]))
    assert compaction.tokens_after < compaction.tokens_before
