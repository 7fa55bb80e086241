"""Log records by OpenTelemetry's own interface."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from opentelemetry import _logs

from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
from otel_errcompact.otel.sdk import read_processors
from otel_errcompact.otel.spans.context import context_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from otel_errcompact.errors import SpanRef


def emit(
    provider: _logs.LoggerProvider | None,
    event: str,
    body: str,
    attributes: Mapping[str, str | bytes],
    *,
    span: SpanRef | None,
    time_ns: int,
    severity: _logs.SeverityNumber = _logs.SeverityNumber.ERROR,
) -> None:
    """
    Emit a log record.

    Args:
        provider: Where it goes; the global one if None.
        event: The event's name.
        body: The text.
        attributes: The attributes.
        span: The span it belongs to; the current one if None.
        time_ns: Nanoseconds since the epoch; now if zero.
        severity: How severe it is.
    """
    (provider or _logs.get_logger_provider()).get_logger(semconv.SCOPE).emit(
        timestamp=time_ns or None,
        severity_text=severity.name,
        severity_number=severity,
        body=body,
        attributes=dict(attributes),
        event_name=event,
        context=context_of(span),
    )


def is_exported(provider: _logs.LoggerProvider) -> bool:
    """
    Return whether a provider exports log records.

    The SDK's needs a processor that is not ours.
    """
    processors = read_processors(provider)
    if processors is None:
        return hasattr(provider, "force_flush")
    return any(not isinstance(processor, ErrorCompactionLogRecordProcessor) for processor in processors)


def is_bridged(logger: logging.Logger) -> bool:
    """Return whether a handler turns a standard logger's errors into records."""
    link: logging.Logger | None = logger if logger.isEnabledFor(logging.ERROR) else None
    while link is not None:
        if any(_is_bridge(handler) and handler.level <= logging.ERROR for handler in link.handlers):
            return True
        link = link.parent if link.propagate else None
    return False


@contextmanager
def grouped_by(key: str) -> Generator[None]:
    """Have a loaded Sentry group by class what is logged inside."""
    # Its handler takes a fingerprint from the scope alone, and groups by the format of the text otherwise.
    new_scope = getattr(sys.modules.get("sentry_sdk"), "new_scope", None)
    with nullcontext() if new_scope is None else new_scope() as scope:
        if scope is not None:
            scope.fingerprint = [semconv.SCOPE, key]
        yield


def _is_bridge(handler: logging.Handler) -> bool:
    """
    Return whether a handler is a bridge, by name.

    The class has moved out of the SDK into a package of its own.
    """
    return any(
        kind.__name__ == "LoggingHandler" and kind.__module__.startswith("opentelemetry.")
        for kind in type(handler).__mro__
    )
