"""Error answers of language model APIs: rate limits, contexts that are too long, keys, quotas, bad requests."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Facts, Format, Hint, Text, details, form
from otel_errcompact.extract.messages import http_answers
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.statements import GENERIC_TYPES
from otel_errcompact.runtime.records import replace

_OPENING: Final = form(r"[{\[]|HTTP/[0-9]|API Error|(?:Error code|HTTP|Status|status)[: ]|[45][0-9]{2}\b|An error occ")
_SIGNS: Final = (
    "_error", "_exceeded", "context", "quota", "oken", "odel", "RESOURCE_", "content_filter", "verloaded", "credit",
    "api_key", "tool_",
)  # fmt: skip
"""Parts of words of which any such answer has at least one."""

_CODES: Final = frozenset((
    # OpenAI, and the many that answer as it does
    "context_length_exceeded", "insufficient_quota", "invalid_api_key", "model_not_found", "content_policy_violation",
    "content_filter", "string_above_max_length", "unsupported_parameter", "unsupported_value", "unsupported_model",
    "invalid_function_parameters", "tokens", "requests", "billing_hard_limit_reached", "billing_not_active",
    "account_deactivated", "invalid_image", "invalid_prompt",
    # Anthropic
    "overloaded_error", "request_too_large", "billing_error",
    # Mistral, Azure, Bedrock, Groq, Ollama
    "invalid_model", "DeploymentNotFound", "ModelNotReadyException", "ModelTimeoutException", "ModelErrorException",
    "ModelStreamErrorException", "model_decommissioned", "tool_use_failed", "json_validate_failed",
))  # fmt: skip
"""Codes that only such APIs answer with."""

_SHARED_CODES: Final = frozenset((
    "rate_limit_error", "rate_limit_exceeded", "invalid_request_error", "authentication_error", "permission_error",
    "not_found_error", "api_error", "timeout_error", "server_error", "RESOURCE_EXHAUSTED", "ThrottlingException",
    "ValidationException", "ServiceQuotaExceededException", "invalid_request_message_order", "429",
    "OperationNotSupported",
))  # fmt: skip
"""Codes that other APIs answer with too, so that something else must speak for a model."""

_ABOUT_MODELS: Final = form(
    r"(?i)\bmodels?\b|\btokens?\b|\"type\": ?\"error\"|'type': 'error'|[\"']param[\"']:|max_tokens|\btool_"
    r"|messages[.\[]"
)
_PHRASES: Final = (
    ("context_length_exceeded", form(
        r"maximum context length|prompt is too long|[Ii]nput is too long|context (?:window|length)|input token count"
    )),
    ("insufficient_quota", form(r"exceeded your current quota|credit balance is too low|requires more credits")),
    ("rate_limit_exceeded", form(r"[Rr]ate limit (?:reached|exceeded) for|tokens per min|rate limit of [0-9]")),
    ("invalid_api_key", form(r"Incorrect API key provided|invalid x-api-key|API key not valid")),
    ("model_not_found", form(r"The model `[^`]{1,100}` does not exist|No endpoints found for ")),
    ("content_filter", form(r"content management policy|content[ _]filter")),
    ("overloaded_error", form(r"[Mm]odel is (?:currently )?overloaded|: Overloaded\b")),
    ("invalid_request_error", form(r"tool_use.? ids? |tool_call_ids?\b|\bmax_tokens\b")),
)  # fmt: skip
"""What is said where no code is, and the code that others give it."""

_INDEX: Final = form(r"\b(?P<name>messages|input|contents|tools|content)(?:\.{number}|\[{number}\])")
_CALL_ID: Final = form(r"\b(?:toolu|call|srvtoolu|msg|fc|rs)_[\w-]{6,80}")
_LIMIT_OF_CONTEXT: Final = frozenset({"context_length_exceeded", "request_too_large", "string_above_max_length"})
_MAX_DETAILS: Final = 3


def read(text: Text) -> Facts | None:
    """Return the facts of an answer that is read as any other, and then known by its code or its words."""
    body = http_answers.strip_warnings(text.body)
    if _OPENING.match(body) is None or not any(sign in body for sign in _SIGNS):
        return None
    facts = http_answers.read(text)
    kind = _kind_of(facts, body) if facts is not None else ""
    if facts is None or not kind:
        return None
    key = _CALL_ID.sub("<id>", _INDEX.sub(r"\g<name>.<num>", facts.keyed_cause))
    return replace(
        facts,
        type=kind,
        cause=strip_advice(facts.cause),
        details=details(_filter_details(facts, kind), _MAX_DETAILS),
        key_cause=strip_advice(key) if key != facts.cause else facts.key_cause,
    )


def _kind_of(facts: Facts, body: str) -> str:
    # Return the type of an answer if it is that of a model's API, else nothing.
    if facts.type in _CODES or (facts.type in _SHARED_CODES and _ABOUT_MODELS.search(body)):
        return facts.type
    named = next((kind for kind, phrase in _PHRASES if phrase.search(facts.cause)), "")
    return named if facts.type in GENERIC_TYPES or facts.type.startswith("HTTP ") else named and facts.type


def _filter_details(facts: Facts, kind: str) -> tuple[str, ...]:
    # Return the details but for the parameter that every request has; of a list of large messages the largest is
    # enough.
    lines = tuple(line for line in facts.details if line != "param: messages")
    return lines[:1] if kind in _LIMIT_OF_CONTEXT else lines


FORMAT: Final = Format(
    name="llm",
    is_of_service=True,
    read=read,
    # None: how a text begins shows more cheaply than a search through it.
    markers=(),
    hints=(
        Hint(
            "shorten the context: sending the same again cannot succeed",
            ("context_length_exceeded", "maximum context length", "[Pp]rompt is too long", "[Ii]nput is too long"),
            ("openai.BadRequestError", "This model's maximum context length is 131072 tokens."),
        ),
        Hint(
            "the account has no quota left: retrying does not help until someone adds credit",
            ("insufficient_quota", "credit balance is too low"),
            ("openai.RateLimitError", "Error code: 429 - insufficient_quota: You exceeded your current quota"),
        ),
    ),
)
