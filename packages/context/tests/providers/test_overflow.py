"""Which errors say that the context was too long: the bodies as providers send them, and what only looks like it."""

# ruff: noqa: E501 - the bodies stand as they were sent.

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_context.notes import Overflow
from otel_errcompact_context.providers.overflow import (
    MESSAGE_CHARS,
    overflow_in_body,
    overflow_in_error,
    overflow_in_event,
    overflow_in_reply,
)
from otel_errcompact_context.providers.refusal_rules import read_by_rules
from otel_errcompact_context.providers.refusals import REFUSALS
from packages.context.tests.providers.refused import FORMS, Form

OPENAI_SAYS = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. "
    "Please reduce the length of the messages."
)


def openai_body(message: str, code: object = "context_length_exceeded") -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": code}}


def anthropic_body(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011CWdepJvA2D819tdYYq4h7"}


def gemini_body(message: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


BODIES = [
    pytest.param(
        anthropic_body("prompt is too long: 200251 tokens > 200000 maximum"),
        200_000,
        200_251,
        id="anthropic",
    ),
    pytest.param(
        anthropic_body(
            "input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648, decrease input length or "
            "`max_tokens` and try again"
        ),
        204_648,
        209_136,
        id="anthropic, with the answer",
    ),
    pytest.param(
        anthropic_body("Request exceeds the maximum size", "request_too_large"),
        None,
        None,
        id="anthropic 413",
    ),
    pytest.param(openai_body(OPENAI_SAYS), 128_000, 204_308, id="openai"),
    pytest.param(
        openai_body(
            "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens (3703 in the "
            "messages, 500 in the completion). Please reduce the length of the messages or completion."
        ),
        4_097,
        4_203,
        id="openai, with the answer",
    ),
    pytest.param(
        openai_body(
            "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your "
            "prompt; 5 for the completion). Please reduce your prompt; or completion length.",
            None,
        ),
        8_191,
        10_346,
        id="openai, older",
    ),
    pytest.param(
        openai_body(
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. "
            "Please reduce the length of the messages."
        ),
        272_000,
        289_650,
        id="openai, configured limit",
    ),
    pytest.param(
        {
            "type": "error",
            "sequence_number": 2,
            "error": {
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
                "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                "param": "input",
            },
        },
        None,
        None,
        id="openai responses",
    ),
    pytest.param(
        openai_body(
            "This model's maximum context length is 65536 tokens. However, you requested 66794 tokens (58602 in the "
            "messages, 8192 in the completion). Please reduce the length of the messages or completion."
        ),
        65_536,
        66_794,
        id="deepseek",
    ),
    pytest.param(
        {
            "error": {
                "message": OPENAI_SAYS,
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
                "innererror": {"code": "BadRequest"},
            }
        },
        128_000,
        204_308,
        id="azure",
    ),
    pytest.param(
        gemini_body("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."),
        1_048_576,
        1_200_293,
        id="gemini",
    ),
    pytest.param(
        [gemini_body("The input token count exceeds the maximum number of tokens allowed (1048576).")],
        1_048_576,
        None,
        id="gemini, without the count, in a list",
    ),
    pytest.param(
        gemini_body(
            "Unable to submit request because the input token count is 48261 but model only supports up to 32768. "
            "Reduce the input token count and try again. You can also use the CountTokens API to calculate prompt token "
            "count and billable characters."
        ),
        32_768,
        48_261,
        id="vertex",
    ),
    pytest.param(
        {
            "Error": {
                "Code": "ValidationException",
                "Message": "The model returned the following errors: Input is too long for requested model.",
            }
        },
        None,
        None,
        id="bedrock",
    ),
    pytest.param(
        {"message": "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 "},
        8_192,
        9_279,
        id="bedrock titan",
    ),
    pytest.param(
        {
            "object": "error",
            "message": "Prompt contains 150004 tokens and 0 draft tokens, too large for model with 131072 maximum "
            "context length",
            "type": "invalid_request_invalid_args",
            "param": None,
            "code": "3051",
        },
        131_072,
        150_004,
        id="mistral",
    ),
    pytest.param(
        {
            "id": "bda42bf8-db3f-4c32-bb2c-f76466e42a1e",
            "message": "too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs. "
            "The limit for this model is 132000 tokens.",
        },
        132_000,
        151_296,
        id="cohere",
    ),
    pytest.param(
        {
            "message": "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received "
            "6354. Try using a shorter prompt or a smaller max_tokens value."
        },
        2_048,
        6_354,
        id="cohere generate",
    ),
    pytest.param(openai_body("Please reduce the length of the messages or completion."), None, None, id="groq"),
    pytest.param(
        openai_body(
            "Please reduce the length of the messages or completion. Current length is 8527 while limit is 8192"
        ),
        8_192,
        8_527,
        id="cerebras",
    ),
    pytest.param(
        {
            "code": "Client specified an invalid argument",
            "error": "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        },
        131_072,
        136_973,
        id="xai",
    ),
    pytest.param(
        openai_body(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens "
            "and 4096 `max_new_tokens`",
            None,
        ),
        4_097,
        80_125,
        id="together",
    ),
    pytest.param(
        openai_body("The input (516368 tokens) is longer than the model's context length (262144 tokens).", None),
        262_144,
        516_368,
        id="together, newer",
    ),
    pytest.param(
        {
            "error": {
                "message": "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 "
                'tokens (42832 of text input). Please reduce the length of either one, or use the "middle-out" '
                "transform to compress your prompt automatically.",
                "code": 400,
            }
        },
        32_768,
        42_832,
        id="openrouter",
    ),
    pytest.param(
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "raw": '{"message":"input length and `max_tokens` exceed context limit: 149674 + 64000 > 204658, '
                    'decrease input length or `max_tokens` and try again"}',
                    "provider_name": "Amazon Bedrock",
                },
            },
            "user_id": "user_2uqLSwEPUxV3eobBtagk2bR7nQw",
        },
        204_658,
        213_674,
        id="openrouter, the provider's own inside",
    ),
    pytest.param(
        openai_body(
            "This model's maximum context length is 131072 tokens. However, you requested 102400 output tokens and your "
            "prompt contains at least 28673 input tokens, for a total of at least 131073 tokens. Please reduce the "
            "length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=28673)",
            400,
        ),
        131_072,
        131_073,
        id="vllm",
    ),
    pytest.param(
        "The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that "
        "`max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
        4_096,
        25_938,
        id="vllm, in process",
    ),
    pytest.param(
        {
            "error": {
                "code": 400,
                "message": "request (104052 tokens) exceeds the available context size (88064 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 104_052,
                "n_ctx": 88_064,
            }
        },
        88_064,
        104_052,
        id="llama.cpp",
    ),
    pytest.param(
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing the context size or enable "
                "context shift",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 1_407,
                "n_ctx": 256,
            }
        },
        256,
        1_407,
        id="llama.cpp, older",
    ),
    pytest.param("Requested tokens (516) exceed context window of 512", 512, 516, id="llama-cpp-python"),
    pytest.param(
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the context length "
            "(n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."
        },
        4_096,
        13_055,
        id="lm studio",
    ),
    pytest.param(
        {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"},
        7_424,
        15_028,
        id="lm studio, newer",
    ),
    pytest.param(
        {"error": "prompt too long; exceeded max context length by 540451 tokens (ref: 00ad71bb-fea0-4639-9dc9)"},
        None,
        None,
        id="ollama",
    ),
    pytest.param(
        {
            "error": {
                "message": "prompt token count of 138898 exceeds the limit of 64000",
                "code": "model_max_prompt_tokens_exceeded",
            }
        },
        64_000,
        138_898,
        id="github copilot",
    ),
    pytest.param(
        openai_body("Invalid request: Your request exceeded model token limit: 262144 (requested: 287431)", None),
        262_144,
        287_431,
        id="moonshot",
    ),
    pytest.param(
        openai_body(
            "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of "
            "140000 tokens: 130000 tokens from the input messages and 10000 tokens for the completion.",
            400,
        ),
        131_072,
        140_000,
        id="sglang",
    ),
    pytest.param(
        {
            "error": {
                "message": "litellm.ContextWindowExceededError: litellm.BadRequestError: this is too much",
                "code": "400",
            }
        },
        None,
        None,
        id="litellm proxy",
    ),
]

OTHERS = [
    pytest.param(
        413,
        openai_body(
            "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on "
            "tokens per minute (TPM): Limit 6000, Used 5200, Requested 1481. Please try again in 6.8s.",
            "rate_limit_exceeded",
        ),
        id="groq, tokens per minute",
    ),
    pytest.param(
        429,
        openai_body(
            "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, "
            "Requested 4000. Please try again in 6s.",
            "rate_limit_exceeded",
        ),
        id="openai, tokens per minute",
    ),
    pytest.param(
        429,
        anthropic_body(
            "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
            "rate_limit_error",
        ),
        id="anthropic, tokens per minute",
    ),
    pytest.param(
        400,
        anthropic_body("Your credit balance is too low to access the Anthropic API."),
        id="anthropic, billing",
    ),
    pytest.param(
        402,
        {
            "error": {
                "message": "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, "
                "but can only afford 1200.",
                "code": 402,
            }
        },
        id="openrouter, billing",
    ),
    pytest.param(
        400,
        anthropic_body(
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4"
        ),
        id="anthropic, length of the answer",
    ),
    pytest.param(
        400,
        openai_body(
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided "
            "100000.",
            "invalid_value",
        ),
        id="openai, length of the answer",
    ),
    pytest.param(
        400,
        {
            "error": {
                "message": "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 "
                "tokens (7884 of text input, 131072 in the output). Please reduce the length of either one.",
                "code": 400,
            }
        },
        id="openrouter, an answer as long as the window",
    ),
    pytest.param(
        400,
        openai_body(
            "'max_tokens' or 'max_completion_tokens' is too large: 200000. This model's maximum context length is 131072 "
            "tokens and your request has 500 input tokens (200000 > 131072 - 500).",
            400,
        ),
        id="vllm, an answer longer than the window",
    ),
    pytest.param(
        400,
        {
            "message": "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model "
            "- received 8192."
        },
        id="cohere, length of the answer",
    ),
    pytest.param(
        400,
        {"Error": {"Code": "ThrottlingException", "Message": "Too many tokens, please wait before trying again."}},
        id="bedrock, throttled",
    ),
    pytest.param(
        429,
        {
            "error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "status": "RESOURCE_EXHAUSTED",
            }
        },
        id="gemini, quota",
    ),
    pytest.param(
        400,
        anthropic_body("input length and `max_tokens` exceed context limit: 99 + 300000 > 200000"),
        id="anthropic, an answer longer than the window",
    ),
    pytest.param(400, gemini_body("Invalid value at `temperature`"), id="gemini, another argument"),
    pytest.param(
        400, openai_body("Invalid schema for function 'read'", "invalid_function_parameters"), id="another 400"
    ),
    pytest.param(
        400,
        anthropic_body("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after"),
        id="order of turns",
    ),
    pytest.param(500, "<html><body>Internal Server Error</body></html>", id="an HTML page"),
    pytest.param(None, "", id="nothing"),
    pytest.param(None, None, id="no body"),
]


@pytest.mark.parametrize("form", ["dict", "text", "bytes"])
@pytest.mark.parametrize(("body", "limit", "sent"), BODIES)
def test_a_refusal_is_recognised_with_its_numbers(body: object, limit: int | None, sent: int | None, form: str) -> None:
    """Whether the body was read already or is text yet."""
    text = body if isinstance(body, str) else json.dumps(body)
    found = overflow_in_body({"dict": body, "text": text, "bytes": text.encode()}[form], 400)
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (limit, sent)
    assert found.message


@pytest.mark.parametrize(("status", "body"), OTHERS)
def test_other_refusals_are_left_alone(status: int | None, body: object) -> None:
    """Limits over time, of the answer's length and of money are not cured by a shorter context."""
    assert overflow_in_body(body, status) is None
    assert overflow_in_body(json.dumps(body), status) is None


@pytest.mark.parametrize(
    ("status", "text", "limit", "sent"),
    [
        pytest.param(
            413,
            "Request too large for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on "
            "tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
            6_000,
            14_810,
            id="groq",
        ),
        pytest.param(
            429,
            "Request too large for gpt-4.1 in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. "
            "The input or output tokens must be reduced in order to run successfully.",
            30_000,
            40_000,
            id="openai",
        ),
        pytest.param(429, "Your prompt is too long for the limit of tokens per day", None, None, id="without numbers"),
    ],
)
def test_a_request_larger_than_a_whole_rate_is_too_long(
    status: int, text: str, limit: int | None, sent: int | None
) -> None:
    """However long one waits: no request of that size is ever let through."""
    found = overflow_in_body(openai_body(text, "rate_limit_exceeded"), status)
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (limit, sent)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.text[:40])
def test_a_form_is_read_with_its_numbers(form: Form) -> None:
    """Of whichever provider it is, as its server, its SDK or a gateway hands it on."""
    for text in (form.text, json.dumps({"error": {"message": form.text}}), form.text.replace(" ", "\n  ")):
        found = overflow_in_body(text, 400)
        assert found is not None
        assert (found.limit_tokens, found.sent_tokens) == (form.limit, form.sent)


def test_every_form_is_needed() -> None:
    """What the rules read needs no form."""
    shown = [form.text for form in FORMS if read_by_rules(form.text) is None]
    assert [[one.search(text) is not None for one in REFUSALS] for text in shown] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


class StatusError(Exception):
    """As the SDKs of OpenAI, Anthropic, Groq and Mistral raise it."""

    def __init__(self, body: Any, status: int = 400, code: str | None = None) -> None:
        super().__init__(f"Error code: {status} - {body}")
        self.status_code = status
        self.body = body
        self.code = code


class ClientError(Exception):
    """As botocore raises it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"An error occurred ({code}) when calling the Converse operation: {message}")
        self.response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}


class GenaiError(Exception):
    """As Google's SDK raises it."""

    def __init__(self, code: int, message: str, status: str) -> None:
        super().__init__(f"{code} {status}. {gemini_body(message)}")
        self.code, self.message, self.status, self.details = code, message, status, gemini_body(message)


class HTTPStatusError(Exception):
    """As a plain HTTP client raises it: what is wrong stands in the response alone."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"Client error '{status}' for url 'https://models.test'")
        self.response = SimpleNamespace(status_code=status, text=text)


class ContextWindowExceededError(Exception):
    """As LiteLLM raises it."""


class ContextOverflowError(Exception):
    """As LangChain raises it."""


class Hostile(Exception):
    """What can be wrong with an exception of somebody else's."""

    @property
    def message(self) -> str:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise ValueError("no")


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


PACKAGE = __name__.partition(".")[0]
TOO_LONG = StatusError(openai_body(OPENAI_SAYS)["error"], code="context_length_exceeded")


@pytest.mark.parametrize(
    ("error", "provider", "limit"),
    [
        pytest.param(TOO_LONG, PACKAGE, 128_000, id="sdk"),
        pytest.param(
            ClientError("ValidationException", "Input is too long for requested model."), "unknown", None, id="botocore"
        ),
        pytest.param(
            GenaiError(400, "The input token count (12) exceeds the maximum number of tokens allowed (10).", "INVALID"),
            "unknown",
            10,
            id="google",
        ),
        pytest.param(
            HTTPStatusError(400, json.dumps(anthropic_body("prompt is too long: 12 tokens > 10 maximum"))),
            "unknown",
            10,
            id="http client",
        ),
        pytest.param(HTTPStatusError(413, "<h1>413</h1>"), "http", None, id="gateway's 413"),
        pytest.param(ContextWindowExceededError("no details"), "unknown", None, id="litellm, without details"),
        pytest.param(
            ContextWindowExceededError("prompt is too long: 12 tokens > 10 maximum; fallback: rate limit"),
            "unknown",
            10,
            id="litellm, and a fallback that failed otherwise",
        ),
        pytest.param(
            caused(ContextOverflowError("too much"), TOO_LONG), PACKAGE, 128_000, id="langchain, numbers below"
        ),
        pytest.param(caused(RuntimeError("the model failed"), TOO_LONG), PACKAGE, 128_000, id="wrapped"),
        pytest.param(caused(Hostile(), TOO_LONG), PACKAGE, 128_000, id="wrapped in something hostile"),
        pytest.param(ValueError("Requested tokens (516) exceed context window of 512"), "unknown", 512, id="local"),
    ],
)
def test_exceptions_are_read_by_what_they_show(error: Exception, provider: str, limit: int | None) -> None:
    """Status, code, body and message, wherever in the chain of causes."""
    found = overflow_in_error(error)
    assert found is not None
    assert (found.provider, found.limit_tokens) == (provider, limit)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ValueError("no such file"), id="another"),
        pytest.param(
            StatusError(openai_body("Rate limit reached", "rate_limit_exceeded")["error"], status=429), id="rate limit"
        ),
        pytest.param(caused(ErrcompactError("ours"), TOO_LONG), id="ours"),
        pytest.param(Hostile(), id="hostile"),
        pytest.param(HTTPStatusError(413, "Too many tokens per minute (TPM)"), id="413 of a limit"),
    ],
)
def test_other_exceptions_are_left_alone(error: Exception) -> None:
    """What another guard has been through already is not tried again."""
    assert overflow_in_error(error) is None


def test_a_group_and_a_circle_of_causes_are_read_once() -> None:
    """Task groups wrap what failed in them; a chain may bite its tail."""
    group = ExceptionGroup("tasks", [ValueError("another"), TOO_LONG])
    TOO_LONG.__cause__ = group
    try:
        found = overflow_in_error(group)
    finally:
        TOO_LONG.__cause__ = None
    assert found is not None
    assert found.limit_tokens == 128_000


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"type": "message", "stop_reason": "model_context_window_exceeded"}, id="anthropic"),
        pytest.param(SimpleNamespace(stop_reason="model_context_window_exceeded"), id="anthropic's object"),
        pytest.param({"stopReason": "model_context_window_exceeded", "output": {}}, id="bedrock"),
        pytest.param({"choices": [{"finish_reason": "model_context_window_exceeded"}]}, id="z.ai"),
        pytest.param({"finish_reason": "ERROR_LIMIT"}, id="cohere"),
        pytest.param({"choices": [{"finish_reason": "model_length"}]}, id="mistral"),
        pytest.param(
            {"status": "incomplete", "incomplete_details": {"reason": "context_length_exceeded"}},
            id="incomplete",
        ),
        pytest.param(
            SimpleNamespace(status="failed", error=SimpleNamespace(code="context_length_exceeded", message="too long")),
            id="responses that failed",
        ),
        pytest.param(
            {"error": {"code": 400, "message": "This endpoint's maximum context length is 128000 tokens."}},
            id="openrouter's 200",
        ),
        pytest.param(
            SimpleNamespace(response_metadata={"stop_reason": "model_context_window_exceeded"}),
            id="langchain",
        ),
        pytest.param(SimpleNamespace(status_code=400, text=json.dumps(openai_body(OPENAI_SAYS))), id="http response"),
    ],
)
def test_replies_that_say_so_are_recognised(reply: object) -> None:
    """A provider may answer with half an answer, or with an error that is no exception."""
    assert overflow_in_reply(reply) is not None


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"stop_reason": "end_turn"}, id="anthropic"),
        pytest.param({"stop_reason": "max_tokens"}, id="length of the answer"),
        pytest.param({"choices": [{"finish_reason": "length"}]}, id="openai"),
        pytest.param({"choices": []}, id="nothing chosen"),
        pytest.param(SimpleNamespace(incomplete_details=SimpleNamespace(reason="max_output_tokens")), id="incomplete"),
        pytest.param(SimpleNamespace(error=None), id="no error"),
        pytest.param({"error": {"code": 500, "message": "server error"}}, id="another error"),
        pytest.param("prompt is too long: 12 tokens > 10 maximum", id="what a model has said"),
        pytest.param(SimpleNamespace(status_code=200, text="context_length_exceeded"), id="http response"),
        pytest.param(None, id="none"),
    ],
)
def test_other_replies_are_left_alone(reply: object) -> None:
    """The text of an answer may speak of context windows."""
    assert overflow_in_reply(reply) is None


EXCEEDED = "Your input exceeds the context window of this model. Please adjust your input and try again."


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(
            {"type": "error", "sequence_number": 2, "code": "context_length_exceeded", "message": EXCEEDED},
            id="openai responses",
        ),
        pytest.param(
            SimpleNamespace(type="error", code="context_length_exceeded", message=EXCEEDED), id="openai, an object"
        ),
        pytest.param(
            {"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "no"}}},
            id="openai responses, failed",
        ),
        pytest.param(anthropic_body("prompt is too long: 12 tokens > 10 maximum"), id="anthropic"),
        pytest.param(
            SimpleNamespace(type="error", error=SimpleNamespace(message="prompt is too long", type="x")),
            id="anthropic, an object",
        ),
        pytest.param({"choices": [], "error": {"message": OPENAI_SAYS, "code": 400}}, id="a chunk with an error"),
        pytest.param('event: error\ndata: {"error":{"message":"Context size has been exceeded"}}\n\n', id="text"),
        pytest.param('event: response.failed\ndata: {"code":"context_length_exceeded"}', id="a failed response"),
        pytest.param('data: {"type":"response.failed","code":"context_length_exceeded"}', id="its data alone"),
        pytest.param('data: {"id":"1","error":{"message":"The prompt is too long"}}', id="an error further on"),
        pytest.param(b'data: {"error": {"message": "Context size has been exceeded"}}', id="bytes"),
        pytest.param('{"type": "error", "error": {"message": "Prompt is too long"}}', id="json"),
        pytest.param({"choices": [{"finish_reason": "model_context_window_exceeded"}]}, id="a reason"),
    ],
)
def test_an_event_of_a_stream_that_says_so_is_recognised(event: object) -> None:
    """An error may come as an item of a stream that was opened well."""
    assert overflow_in_event(event) is not None


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"type": "response.output_text.delta", "delta": EXCEEDED}, id="what a model says"),
        pytest.param(EXCEEDED, id="what a model says, as text"),
        pytest.param('data: {"choices":[{"delta":{"content":"prompt is too long"}}]}', id="a chunk as text"),
        pytest.param({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, id="another"),
        pytest.param(b"event: error\ndata: {}", id="an error without words"),
        pytest.param(
            'data: {"delta":"\\"error\\": {\\"message\\": \\"prompt is too long\\"}"}', id="text that talks of one"
        ),
        pytest.param('data: {"parts":[{"args":{"error":"prompt is too long"}}]}', id="a call that quotes one"),
        pytest.param(
            'data: {"type":"response.mcp_call.failed","item":{"error":"prompt is too long"}}', id="a tool's failure"
        ),
        pytest.param('data: {"error": ', id="half an event"),
        pytest.param(None, id="none"),
    ],
)
def test_other_events_are_left_alone(event: object) -> None:
    """Deltas hold what a model says, and that may be anything."""
    assert overflow_in_event(event) is None


def test_the_message_begins_with_what_was_meant_and_is_short() -> None:
    """A gateway may put a page around it."""
    found = overflow_in_body("x" * 900 + ". prompt is too long: 12 tokens > 10 maximum\n" + "y" * 9_000)
    assert found == Overflow(
        provider="unknown",
        limit_tokens=10,
        sent_tokens=12,
        message=f"prompt is too long: 12 tokens > 10 maximum {'y' * 457}",
    )
    assert len(found.message) == MESSAGE_CHARS


keys = st.sampled_from(["error", "message", "code", "choices", "stop_reason", "status", "response", "x"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(body=json_values)
def test_any_body_can_be_read(body: object) -> None:
    """Nothing that a server answers raises, and nothing without the words is taken for an overflow."""
    assert overflow_in_body(body, 400) is None
    assert overflow_in_reply(body) is None


@pytest.mark.parametrize(
    ("body", "status", "provider"),
    [
        pytest.param("", 413, "http", id="413 without a body"),
        pytest.param("413 status code (no body)", None, "http", id="413 as an SDK writes it"),
        pytest.param("<html><h1>413 Request Entity Too Large</h1></html>", None, "unknown", id="a page"),
        pytest.param("upstream_status: HTTP 413; cause: refused", None, "http", id="within a text"),
        pytest.param("The history has 12,000 tokens > 10,000", 413, "unknown", id="a window in tokens"),
        pytest.param(anthropic_body("Request exceeds the maximum size"), 413, "unknown", id="in words"),
    ],
)
def test_a_413_is_an_overflow_whoever_sends_it(body: object, status: int | None, provider: str) -> None:
    """A shorter list is smaller in bytes as well."""
    found = overflow_in_body(body, status)
    assert found is not None
    assert found.provider == provider


@pytest.mark.parametrize("text", ["File too large: 30 MB", "HTTP 413: multipart body exceeds the limit for uploads"])
def test_a_413_of_an_upload_is_none(text: str) -> None:
    """The list is not what was too large."""
    assert overflow_in_body(text, 413) is None


def test_the_words_beside_a_code_tell_the_numbers() -> None:
    """A gateway keeps OpenAI's code, and words the rest itself; without numbers the code stays."""
    body = openai_body("The prompt has 40,000 tokens, and our cluster a context window of only 32,000 tokens.")
    found = overflow_in_body(body)
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (32_000, 40_000)
    sloppy = overflow_in_body("Prompt is too long! It has 12,000 tokens, the context window only 10,000.")
    assert sloppy is not None
    assert (sloppy.limit_tokens, sloppy.sent_tokens) == (10_000, 12_000)
    bare = overflow_in_body({"error": {"code": "context_length_exceeded"}})
    assert bare is not None
    assert (bare.provider, bare.limit_tokens) == ("unknown", None)


def test_a_text_of_json_is_read_alike_as_error_and_as_body() -> None:
    """Its fields tell the numbers, whoever hands it on."""
    text = '{"reason": "context_overflow", "tokens": {"requested": 5120, "context_window": 4096}}'
    found = overflow_in_body(text)
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (4_096, 5_120)
    assert overflow_in_error(ValueError(text)) == found


def test_text_that_only_begins_like_json_is_read_as_text() -> None:
    """A body may be cut, or nested beyond all reason."""
    found = overflow_in_body('{"error": {"message": "the prompt is too long for the model"')
    assert found is not None
    assert overflow_in_body("[" * 15_000) is None


def test_a_huge_body_costs_little() -> None:
    """Only the beginning of each text and the first items are looked at."""
    body = {"error": {"message": "maximum context length is " * 100_000, "details": [{"a": "b" * 10_000}] * 10_000}}
    assert overflow_in_body(body, 400) is None


def test_numbers_are_taken_from_whoever_tells_them() -> None:
    """A gateway says that it was too large, and the provider behind it how much."""
    found = overflow_in_body(
        "request_too_large: The input (12 tokens) is longer than the model's context length (10 tokens)."
    )
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (10, 12)
