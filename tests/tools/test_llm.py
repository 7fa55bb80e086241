"""Error answers of language model APIs; the bodies follow the providers' documentation."""

from __future__ import annotations

import json

import pytest

from tests.clock import costs_little
from tests.extract.reading import facts, key


def openai(message: str, kind: str | None = "invalid_request_error", code: str | None = None, **more: object) -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code, **more}})


def anthropic(kind: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011CS"})


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            openai(
                "Rate limit reached for gpt-4.1 on tokens per min (TPM): Limit 30000. Please try again in 1.9s. "
                "Visit https://platform.openai.com/account/rate-limits to learn more.",
                "tokens",
                "rate_limit_exceeded",
            ),
            "rate_limit_exceeded",
            "Rate limit reached for gpt-4.1 on tokens per min (TPM): Limit 30000. Please try again in 1.9s.",
            id="rate limit",
        ),
        pytest.param(
            openai(
                "You exceeded your current quota, please check your plan and billing details. For more information "
                "on this error, read the docs: https://platform.openai.com/docs.",
                "insufficient_quota",
                "insufficient_quota",
            ),
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
            id="quota",
        ),
        pytest.param(
            anthropic(
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50,000 input "
                "tokens per minute. For details, refer to: https://docs.anthropic.com. You can see more.",
            ),
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
            id="rate limit of Anthropic",
        ),
        pytest.param(
            anthropic("invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum"),
            "invalid_request_error",
            "prompt is too long: 215000 tokens > 200000 maximum",
            id="context of Anthropic",
        ),
        pytest.param(
            anthropic("authentication_error", "invalid x-api-key"),
            "authentication_error",
            "invalid x-api-key",
            id="key of Anthropic",
        ),
        pytest.param(
            f"API Error: 529 {anthropic('overloaded_error', 'Overloaded')}",
            "overloaded_error",
            "API Error: 529: Overloaded",
            id="overloaded",
        ),
        pytest.param(
            "Error code: 400 - This model's maximum context length is 128000 tokens. However, your messages resulted "
            "in 130527 tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
            "Error code: 400 - This model's maximum context length is 128000 tokens. However, your messages resulted "
            "in 130527 tokens.",
            id="message alone",
        ),
        pytest.param(
            "404 NOT_FOUND. {'error': {'code': 404, 'message': 'The model `gemini-9` does not exist', 'status': "
            "'NOT_FOUND'}}",
            "NOT_FOUND",
            "404 NOT_FOUND: The model `gemini-9` does not exist",
            id="known by its words",
        ),
        pytest.param(
            "An error occurred (ThrottlingException) when calling the InvokeModel operation (reached max retries: 4): "
            "Too many tokens, please wait before trying again.",
            "ThrottlingException",
            "InvokeModel: Too many tokens, please wait before trying again.",
            id="Bedrock",
        ),
        pytest.param(
            json.dumps(
                {
                    "object": "error",
                    "message": "Invalid model: mistral-x",
                    "type": "invalid_model",
                    "param": None,
                    "code": "1500",
                }
            ),
            "invalid_model",
            "Invalid model: mistral-x",
            id="Mistral",
        ),
    ],
)
def test_answers(text: str, kind: str, cause: str):
    """The provider's own code is the type; limits and waiting times stay, links and advice go."""
    found = facts(text)
    assert (found.type, found.cause) == (kind, cause)
    assert found.format == "llm"


def test_context_that_is_too_long():
    """The limit counts for the key, the size of the request does not, and the largest message is enough to show."""
    text = (
        'HTTP/1.1 400 Bad Request\nx: y\n\n{"error": {"code": "context_length_exceeded", "param": "messages",'
        ' "message": "maximum context length is %s tokens, but the request has %s tokens. Please reduce the length.",'
        ' "details": [{"loc": ["messages", 7], "hint": "largest"}, {"loc": ["messages", 2], "hint": "second"}]}}'
    )
    found = facts(text % (200000, 248213))
    assert (found.type, found.details) == ("context_length_exceeded", ())
    assert found.cause == (
        "HTTP 400: maximum context length is 200000 tokens, but the request has 248213 tokens: messages.7: largest; "
        "messages.2: second"
    )
    assert key(text % (200000, 248213)) == key(text % (200000, 248301))
    assert key(text % (200000, 248213)) != key(text % (128000, 248213))


def test_key_of_an_invalid_request():
    """The number of a message and the ids of calls play no part in the key, the kind of fault does."""
    text = anthropic("invalid_request_error", "messages.{}: `tool_use` ids were found without `tool_result`: {}")
    one = text.replace("messages.{}", "messages.3").replace(": {}", ": toolu_01A09q90qw")
    other = text.replace("messages.{}", "messages.17").replace(": {}", ": toolu_99ZZZ0qaa")
    assert facts(one).cause.startswith("messages.3: `tool_use` ids")
    assert key(one) == key(other)
    assert key(one) != key(one.replace("`tool_result`", "`thinking`"))


def test_warnings_before_the_answer():
    """What an interpreter warns of before the client's message is no part of the failure."""
    text = "a.py:3: DeprecationWarning: the model is deprecated\n  call()\nError code: 529 - " + anthropic(
        "overloaded_error", "Overloaded"
    )
    assert (facts(text).type, facts(text).cause) == ("overloaded_error", "Error code: 529: Overloaded")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"error": {"code": "not_found_error", "message": "no such flight"}}', id="shared code"),
        pytest.param('{"error": "the tokens are sold out"}', id="words in prose"),
        pytest.param("openai.RateLimitError: Error code: 429 - Rate limit reached for gpt-4.1", id="exception"),
        pytest.param("[tokens] are counted\nper model", id="no answer"),
        pytest.param("maximum context length is in the docs", id="another beginning"),
    ],
)
def test_what_is_no_model(text: str):
    """Answers of other APIs, exceptions and prose are left to others."""
    assert facts(text).format != "llm"


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["[model", '{"error": "tokens"}', "Error code: 429 ", "4", "\nError code: 400 - {"])
def test_hostile_text_costs_little(unit: str):
    """A megabyte of anything is looked at in a moment."""
    assert costs_little(lambda: facts(unit * (1_000_000 // len(unit))))
