"""Tracer providers: ordering and removing span processors, for which the SDK has no public way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import SpanProcessor

    Processors = tuple[SpanProcessor, ...]


@runtime_checkable
class TakesProcessors(Protocol):
    """
    A tracer provider that span processors can be added to.
    """

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Add a processor."""
        ...


def processors_of(tracers: object) -> Processors | None:
    """Return the processors of an SDK's tracer provider in their order; None where it keeps them in another way."""
    processors: object = getattr(getattr(tracers, "_active_span_processor", None), "_span_processors", None)
    return cast("Processors", processors) if isinstance(processors, tuple) else None


def put_first(tracers: object, processor: SpanProcessor) -> None:
    """Let a processor run before all others: an exporter right behind it asks it for the class of what failed."""
    _change(tracers, lambda processors: (processor, *_without(processors, processor)))


def take_out(tracers: object, processor: SpanProcessor) -> None:
    """Remove a processor, where the SDK's shape allows; one that is shut down is inert in any case."""
    _change(tracers, lambda processors: _without(processors, processor))


def _change(tracers: object, change: Callable[[Processors], Processors]) -> None:
    multi: Any = getattr(tracers, "_active_span_processor", None)
    if processors_of(tracers) is None or not hasattr(multi, "_lock"):
        return
    # The SDK itself replaces this tuple as a whole, under this lock, when it adds a processor.
    with multi._lock:  # noqa: SLF001 - there is no public way
        multi._span_processors = change(multi._span_processors)  # noqa: SLF001 - as above


def _without(processors: Processors, processor: SpanProcessor) -> Processors:
    return tuple(other for other in processors if other is not processor)
