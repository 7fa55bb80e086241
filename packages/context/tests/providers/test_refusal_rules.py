"""The rules for refusals of anybody: what is found in words that no form names, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_context.providers.overflow import overflow_in_body
from otel_errcompact_context.providers.refusal_rules import read_by_rules
from packages.context.tests.providers.refused import IN_OTHER_WORDS, LOOK_ALIKES, REFUSED, Said
from tests.clock import costs_little


def name(said: Said) -> str:
    return f"{said.source} {said.text[:40]}"


@pytest.mark.parametrize("said", [*REFUSED, *IN_OTHER_WORDS], ids=name)
def test_refusals_are_found_with_their_limit(said: Said) -> None:
    """Whoever says it; where no limit is told in tokens, none is guessed."""
    found = overflow_in_body(said.text, said.status)
    assert found is not None
    assert found.limit_tokens == said.limit


@pytest.mark.parametrize("said", LOOK_ALIKES, ids=name)
def test_what_only_sounds_like_it_is_left_alone(said: Said) -> None:
    """Answers, uploads, tools, time and money: a shorter list would help with none of them."""
    assert overflow_in_body(said.text, said.status) is None


@pytest.mark.parametrize(
    ("text", "limit", "sent"),
    [
        pytest.param("Input of 9000 tokens exceeds the context window of 8192 tokens", 8_192, 9_000, id="both"),
        pytest.param("context length exceeded: 7000 + 2000 > 8192", 8_192, 9_000, id="a sum"),
        pytest.param("context length exceeded: 100 + 200 > 8192", None, None, id="a sum that is not larger"),
        pytest.param("The prompt is too long (9,000 tokens). At most 8,192 are allowed.", 8_192, 9_000, id="sentences"),
        pytest.param("The context window is full.", None, None, id="no numbers"),
        pytest.param("The prompt exceeds the maximum length of 30000 characters", None, None, id="characters"),
        pytest.param(
            "Request 5000 input tokens exceeds the maximum context length 8192", 8_192, None, id="with an answer"
        ),
        pytest.param("The prompt exceeds the context window by 500 tokens", None, None, id="how much beyond"),
    ],
)
def test_numbers_are_read_where_they_are_beyond_doubt(text: str, limit: int | None, sent: int | None) -> None:
    """An unknown window is better than a guessed one: the guard lowers a session's window to it."""
    ruling = read_by_rules(text)
    assert ruling is not None
    assert (ruling.start, ruling.limit_tokens, ruling.sent_tokens) == (0, limit, sent)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The input and 9000 output tokens exceed the context window of 8192 tokens", id="output tokens"),
        pytest.param(
            "The prompt is too long: with max_tokens: 9000 it exceeds a context window of 8192", id="max_tokens"
        ),
    ],
)
def test_an_answer_longer_than_the_window_is_no_overflow(text: str) -> None:
    """No context is short enough for it."""
    assert read_by_rules(text) is None


def test_the_sentence_is_told_that_says_it() -> None:
    """What a gateway says before it, and other fields, are left out."""
    text = "code: 400\nmessage: The upstream failed. The prompt is too long for it."
    ruling = read_by_rules(text)
    assert ruling is not None
    assert text[ruling.start :] == "The prompt is too long for it."


def test_text_far_behind_is_not_read() -> None:
    """There stands what was sent, and that may talk of context windows."""
    assert read_by_rules("a wrong value. " * 300 + "The prompt is too long.") is None
    assert read_by_rules("no. " * 70 + "The prompt is too long.") is None


@given(
    words=st.lists(
        st.sampled_from(
            ["the", "prompt", "tokens", "context", "length", "exceeds", "1,000", "max", "is", ",", ":", "("]
        )
    )
)
def test_any_words_are_read_and_numbers_are_consistent(words: list[str]) -> None:
    """Whatever is said, what was counted is more than the limit."""
    ruling = read_by_rules(" ".join(words))
    if ruling is not None and ruling.sent_tokens is not None:
        assert ruling.limit_tokens is not None
        assert ruling.sent_tokens > ruling.limit_tokens


@pytest.mark.cost
@pytest.mark.parametrize("piece", ["context length ", "the prompt, 1,1,1 is ", "1,", "exceeds 999 > ", "(((", "max "])
def test_hostile_text_costs_little(piece: str) -> None:
    """No rule goes back over what it has read, however often its words come."""
    assert costs_little(lambda: read_by_rules(piece * 5_000))
