"""Record the cost of model calls in the standard histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

BUCKETS: Final = tuple(4.0**power for power in range(14))
"""Tokens; the bounds that the conventions name."""


class TokenUsage:
    """
    Records the tokens of model calls that no framework measures.

    They are the whole of which the tokens of errors are a part.

    All figures are estimates: a quarter of the characters, and no cache.

    Args:
        meter_provider: Where the histogram is made.
        scope: The instrumentation scope.
        provider: Who would have been asked.
    """

    def __init__(self, meter_provider: MeterProvider, *, scope: str, provider: str) -> None:
        self._provider = provider
        self._histogram = meter_provider.get_meter(scope).create_histogram(
            semconv.TOKEN_USAGE,
            "{token}",
            "Number of input and output tokens used (estimated: characters / 4).",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )

    def record(self, tokens: int, token_type: str, *, agent: str = "", model: str = "") -> None:
        """Record the input or output tokens of one model call."""
        attributes = {
            semconv.GEN_AI_OPERATION_NAME: semconv.CHAT,
            semconv.GEN_AI_PROVIDER_NAME: self._provider,
            semconv.GEN_AI_TOKEN_TYPE: token_type,
            semconv.GEN_AI_REQUEST_MODEL: model,
            semconv.GEN_AI_AGENT_NAME: agent,
        }
        self._histogram.record(tokens, {name: value for name, value in attributes.items() if value})
