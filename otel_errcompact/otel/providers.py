"""Providers: ordering and removing processors, for which the SDK has no public way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk._logs import LogRecordProcessor
    from opentelemetry.sdk.trace import SpanProcessor

    Processors = tuple[object, ...]

_SHAPES: Final = (
    ("_active_span_processor", "_span_processors"),
    ("_multi_log_record_processor", "_log_record_processors"),
)
"""Where the SDK's tracer and logger providers keep their processors."""


@runtime_checkable
class TakesProcessors(Protocol):
    """
    A tracer provider that span processors can be added to.
    """

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Add a processor."""
        ...


@runtime_checkable
class TakesLogProcessors(Protocol):
    """
    A logger provider that processors of log records can be added to.
    """

    def add_log_record_processor(self, log_record_processor: LogRecordProcessor) -> None:
        """Add a processor."""
        ...


def processors_of(provider: object) -> Processors | None:
    """Return the processors of an SDK's provider in their order; None where it keeps them in another way."""
    holder, name = _holder(provider)
    processors: object = getattr(holder, name, None)
    return cast("Processors", processors) if isinstance(processors, tuple) else None


def put_first(provider: object, processor: object) -> None:
    """Let a processor run before all others: an exporter right behind it asks it for the class of what failed."""
    _change(provider, lambda processors: (processor, *_without(processors, processor)))


def take_out(provider: object, processor: object) -> None:
    """Remove a processor, where the SDK's shape allows; one that is shut down is inert in any case."""
    _change(provider, lambda processors: _without(processors, processor))


def _holder(provider: object) -> tuple[Any, str]:
    for holder, name in _SHAPES:
        if hasattr(provider, holder):
            return getattr(provider, holder), name
    return None, ""


def _change(provider: object, change: Callable[[Processors], Processors]) -> None:
    holder, name = _holder(provider)
    if processors_of(provider) is None or not hasattr(holder, "_lock"):
        return
    # The SDK itself replaces this tuple as a whole, under this lock, when it adds a processor.
    with holder._lock:  # noqa: SLF001 - there is no public way
        setattr(holder, name, change(getattr(holder, name)))


def _without(processors: Processors, processor: object) -> Processors:
    return tuple(other for other in processors if other is not processor)
