"""What compaction did to a context, as spans and metrics: a part for each layer."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from opentelemetry import trace
from opentelemetry.trace import set_span_in_context

from otel_errcompact.installation.install import current_meter_provider
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

    from otel_errcompact_context.notes import Compaction, LayerNote

OverflowResult = Literal["recovered", "failed", "refused"]
"""The call went through after a compaction, or did not; or the circuit breaker let nobody try."""

DURATION_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Seconds: from a pass over a short list to a summary that a model writes."""

_FORMS: Final = (semconv.FORM_BEFORE, semconv.FORM_AFTER, semconv.FORM_INVALIDATED)


@cache
def global_telemetry() -> ContextTelemetry:
    """Return what tells the global providers; one for all windows, since an SDK may warn of instruments made twice."""
    return ContextTelemetry()


class ContextTelemetry:
    """
    Tells operators what was compacted, why, and what it saved; an observer of a `ContextWindow` and of its guard.

    A compaction that found nothing to cut, as on most turns, is not told of.

    Args:
        meter_provider: Where the instruments are made; the global one if None.
        tracer_provider: Where the spans are made; the global one if None.
    """

    def __init__(
        self, *, meter_provider: MeterProvider | None = None, tracer_provider: TracerProvider | None = None
    ) -> None:
        meter = (meter_provider or current_meter_provider()).get_meter(semconv.CONTEXT_SCOPE)
        self._tracer: Tracer = (tracer_provider or trace.get_tracer_provider()).get_tracer(semconv.CONTEXT_SCOPE)
        self._compactions = meter.create_counter(
            semconv.COMPACTIONS, "{compaction}", "Layers that have cut something, or could not, by why they ran."
        )
        self._tokens = meter.create_counter(
            semconv.LAYER_TOKENS,
            "{token}",
            "Tokens of contexts before and after a layer, and of those that a prompt cache has to read anew.",
        )
        self._duration = meter.create_histogram(
            semconv.LAYER_DURATION,
            "s",
            "What a layer took; a summary waits for its model.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._overflows = meter.create_counter(
            semconv.OVERFLOWS, "{overflow}", "Calls that a provider refused as too long, by what became of them."
        )

    def __call__(self, compaction: Compaction) -> None:
        """Tell of one compaction."""
        notes = [note for note in compaction.notes if note.cuts or note.problem]
        if not notes:
            return
        for note in notes:
            self._measure_layer(note)
        self._trace_layers(compaction, notes)

    def overflowed(self, result: OverflowResult, provider: str = "") -> None:
        """Count a call that did not fit, once it is known what became of it."""
        attributes = {semconv.RESULT: result, semconv.GEN_AI_PROVIDER_NAME: provider}
        self._overflows.add(1, {name: value for name, value in attributes.items() if value})

    def _measure_layer(self, note: LayerNote) -> None:
        layer = {semconv.LAYER: note.layer}
        result = "problem" if note.problem else "cut"
        self._compactions.add(1, {**layer, semconv.REASON: note.reason, semconv.RESULT: result})
        for form, tokens in zip(_FORMS, (note.tokens_before, note.tokens_after, note.invalidated_tokens), strict=True):
            self._tokens.add(tokens, {**layer, semconv.FORM: form})
        self._duration.record(note.duration_ns / 1e9, layer)

    def _trace_layers(self, compaction: Compaction, notes: list[LayerNote]) -> None:
        # Make the spans afterwards: a layer reads no tracer, and of most compactions there is nothing to tell.
        whole = self._tracer.start_span(
            semconv.SPAN_COMPACT,
            start_time=notes[0].start_ns,
            attributes={
                semconv.TOKENS_BEFORE: compaction.tokens_before,
                semconv.TOKENS_AFTER: compaction.tokens_after,
                semconv.TOKENS_ROOM: compaction.room_tokens,
                **({semconv.GEN_AI_CONVERSATION_ID: compaction.session} if compaction.session else {}),
            },
        )
        inside = set_span_in_context(whole)
        for note in notes:
            span = self._tracer.start_span(
                f"{semconv.SPAN_COMPACT} {note.layer}",
                inside,
                start_time=note.start_ns,
                attributes={
                    semconv.LAYER: note.layer,
                    semconv.REASON: note.reason,
                    semconv.TOKENS_BEFORE: note.tokens_before,
                    semconv.TOKENS_AFTER: note.tokens_after,
                    semconv.TOKENS_INVALIDATED: note.invalidated_tokens,
                    semconv.CUTS: len(note.cuts),
                    **({semconv.PROBLEM: note.problem} if note.problem else {}),
                },
            )
            span.end(note.start_ns + note.duration_ns)
        whole.end(max(note.start_ns + note.duration_ns for note in notes))
