"""The rules for refusals of anybody: what is found, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_context.providers.overflow import overflow_in_body
from otel_errcompact_context.providers.refusal_rules import ANSWER_ALONE, read_by_rules
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
        pytest.param("context length exceeded: 100 + 200 > 8192", 8_192, None, id="a sum that is not larger"),
        pytest.param("The prompt is too long (9,000 tokens). At most 8,192 are allowed.", 8_192, 9_000, id="sentences"),
        pytest.param("The context window is full.", None, None, id="no numbers"),
        pytest.param("The prompt exceeds the maximum length of 30000 characters", None, None, id="characters"),
        pytest.param(
            "Request 5000 input tokens exceeds the maximum context length 8192", 8_192, None, id="with an answer"
        ),
        pytest.param("The prompt exceeds the context window by 500 tokens", None, None, id="how much beyond"),
        pytest.param("The prompt exceeds the limit of 8192 tokens by 500 tokens", 8_192, 8_692, id="beyond a limit"),
        pytest.param("context length exceeded: 7000 2000 > 8192", 8_192, 9_000, id="a sum without its sign"),
        pytest.param("Context window exceeded at http://host:9090/: 9000 tokens > 8192", 8_192, 9_000, id="a port"),
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
        pytest.param('Error code: 400 - {"error":{"type":"context_window_exceeded","code":400}}', id="a code"),
        pytest.param("ContextWindowExceededError: status 400", id="a status"),
        pytest.param("HTTP 400 Context window exceeded", id="a status before"),
        pytest.param("context length: 400 Bad Request, prompt is too long", id="a status with its words"),
        pytest.param("<h1>413</h1> <p>413 prompt is too long for the context window</p>", id="a status in HTML"),
        pytest.param("413 token limit exceeded for the prompt", id="a status before a unit"),
        pytest.param('{"error" => {"code" => 400, "message" => "prompt is too long"}}', id="an arrow"),
        pytest.param("Your context window exceeds limit (2013)", id="a code in brackets"),
        pytest.param("Context length not allowed (403): prompt too long", id="what is not allowed"),
        pytest.param("Context limit reached at turn 37", id="a turn"),
        pytest.param("context_length_exceeded: message 214 is too long", id="a message"),
        pytest.param("The conversation (312 messages) is too long for the context window", id="a number of messages"),
        pytest.param("maximum context length exceeded, trace 88123", id="a trace"),
        pytest.param("The prompt exceeds the context limit, see https://models.test/requests/88123", id="an address"),
        pytest.param("Context length exceeded for model gpt-oss-120b at 2026-03-01", id="a model and a date"),
        pytest.param("maximum context length exceeded on 30/11/2026", id="a date with the year last"),
        pytest.param("maximum context length exceeded on 2026/11/30 at 14:02:11", id="a date and a time"),
        pytest.param("Context overflow at step 400 of 500", id="a step"),
    ],
)
def test_a_number_without_unit_or_word_is_no_limit(text: str) -> None:
    """Else a status would be the window for the rest of the conversation."""
    found = overflow_in_body(text)
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (None, None)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        pytest.param('{"error":{"code":"prompt_too_long","message":"rejected"}}', None, id="a code: too long"),
        pytest.param('{"error":{"code":"input_tokens_exceeded","status":400}}', None, id="a code: exceeded"),
        pytest.param('{"error":{"code":"prompt_token_quantity"}}', None, id="a code: quantity"),
        pytest.param('{"code":"InputTokenLimitExceeded","requestId":"4455667788"}', None, id="a code in capitals"),
        pytest.param("Invalid 'input[0]': maximum context length is 8192 tokens.", 8_192, id="of a field"),
        pytest.param("Max prompt tokens is 8,192.", 8_192, id="max tokens is"),
        pytest.param("Number of tokens (40000) is above the limit (32768)", 32_768, id="above the limit"),
        pytest.param("cannot truncate to 8192, required 9000", 8_192, id="cannot truncate"),
        pytest.param("This model accepts at most 16384 input tokens; the request has 20000.", 16_384, id="accepts"),
        pytest.param("Prompt too long: the limit of this deployment for one call is 8192 tokens", 8_192, id="far off"),
        pytest.param("The prompt exceeds the 8192-token limit", 8_192, id="before its word"),
        pytest.param("The request could not be served because the prompt is too long", None, id="a reason"),
        pytest.param("The prompt can not exceed 8192 tokens", 8_192, id="what is not allowed"),
        pytest.param("context length exceeded: 20000/16384", 16_384, id="a share"),
        pytest.param(
            '{"object":"error","message":"Prompt too long","prompt_length":140000,"model_length":131072,"code":3051}',
            131_072,
            id="fields",
        ),
        pytest.param(
            '{"code":"prompt_too_long","message":"Context window is full. The limit is 8192."}', 8_192, id="further on"
        ),
    ],
)
def test_forms_that_nothing_names_are_read_by_general_rules(text: str, limit: int | None) -> None:
    """A code, a statement of the limit, a word for beyond, a field."""
    found = overflow_in_body(text)
    assert found is not None
    assert found.limit_tokens == limit


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The input and 9000 output tokens exceed the context window of 8192 tokens", id="output tokens"),
        pytest.param(
            "The prompt is too long: with max_tokens: 9000 it exceeds a context window of 8192", id="max_tokens"
        ),
        pytest.param("input length and `max_tokens` exceed context limit: 90 + 9000 > 8192", id="in a sum"),
    ],
)
def test_an_answer_longer_than_the_window_is_no_overflow(text: str) -> None:
    """No context is short enough for it."""
    assert read_by_rules(text) is ANSWER_ALONE
    assert overflow_in_body(text) is None


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
@pytest.mark.parametrize(
    "piece",
    [
        *("context length ", "the prompt, 1,1,1 is ", "1,", "exceeds 999 > ", "(((", "max ", "10 + ", "limit of the "),
        *("prompt too long 99 ", "prompt too long. limit 99 for a-b is ", "for a-", "A_b", "limit: 99\n"),
        *("e'\"", "'a b' ", "error: '\"", 'input {"a b" ', "1 000 000 "),
    ],
)
def test_hostile_text_costs_little(piece: str) -> None:
    """No rule goes back over what it has read, however often its words come."""
    assert costs_little(lambda: overflow_in_body(piece * 5_000))
