"""
Read what the SDK and the API keep private, in one place.

All else in this package keeps to public names, so that a release of OpenTelemetry that moves something is met here.
What is not where it was makes a processor slower or a provider's order stay as it is; nothing raises, nothing is lost.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import Span, SpanProcessor
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext, SpanKind, StatusCode, get_current_span

from otel_errcompact.otel.data import EndedSpan

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, MutableMapping, Sized
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace import ReadableSpan

    Processors = tuple[object, ...]

_ERROR: Final = StatusCode.ERROR
_TRACE_ID, _SPAN_ID, _IS_REMOTE = 0, 1, 2
"""Items of a span context, a tuple; its properties cost ten times as much."""

_HAS_KNOWN_ITEMS: Final = tuple(SpanContext(1, 2, is_remote=True))[:3] == (1, 2, True)
_SUPPRESS: Final[str] = getattr(
    otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", otel_context.create_key("suppress_instrumentation")
)

_SHAPES: Final = (
    ("_active_span_processor", "_span_processors"),
    ("_multi_log_record_processor", "_log_record_processors"),
)
"""Where the SDK's tracer and logger providers keep their processors."""


class FilteringSpanProcessor(SpanProcessor):
    """
    Passes over healthy spans of no interest, cheaper than one property read.

    Reads `_name`, `_instrumentation_scope._name`, `_status._status_code`, `_events._dq`, `_parent` and `_context` of a
    span: the public ones copy what they return, and would double what a healthy span costs. In the methods themselves,
    since a call costs as much as the reads. Where one is missing, every span is looked at.

    Args:
        plain_names: Names of spans, and the scopes in which those are of no interest.
        open_spans: The places of open boundaries, and of the spans inside them.
        most_spans: How many places are kept before the oldest is dropped.
        left: The boundaries whose end will not be seen, until they are settled.
        open_agents: The open spans of agents.
        open_traces: The open traces that are known.
    """

    def __init__(
        self,
        plain_names: Mapping[str, Container[str]],
        open_spans: MutableMapping[int, Any],
        most_spans: int,
        left: Sized,
        open_agents: Mapping[int, object],
        open_traces: Mapping[int, object],
    ) -> None:
        # Where the items of a span context are not known: no name is plain, and something is always left.
        self._plain_names = plain_names if _HAS_KNOWN_ITEMS else cast("Mapping[str, Container[str]]", {})
        self._left = left if _HAS_KNOWN_ITEMS else (None,)
        self._open_spans = open_spans
        self._find_place = open_spans.get  # a look for the method costs as much as the call
        self._most_spans = most_spans
        self._open_agents = open_agents
        self._open_traces = open_traces

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        """Process a span that starts, unless plain and outside every boundary."""
        try:
            if span._instrumentation_scope._name in self._plain_names[span._name]:
                open_spans = self._open_spans
                if not open_spans:
                    return
                parent = span._parent
                place = None if parent is None else self._find_place(parent[_SPAN_ID])
                if place is not None:
                    inside = place.inside
                    if inside is not None and not self._left and len(open_spans) < self._most_spans:
                        open_spans[span._context[_SPAN_ID]] = inside  # one step of the interpreter takes no lock
                        return
                # Without a context of its own, the span's parent is the current span.
                elif parent_context is None or get_current_span().get_span_context()[_SPAN_ID] not in open_spans:
                    return
                process = self._start_plain
            else:
                process = self._start
        except Exception:  # noqa: BLE001 - a name that is new or no text, or another SDK's span
            process = self._start
        process(span, parent_context)

    def on_end(self, span: Any) -> None:
        """
        Process a span that ends, unless healthy and outside every boundary.

        One that ends a run is processed too.
        """
        try:
            if span._status._status_code is not _ERROR and not span._events._dq:
                open_spans, open_traces = self._open_spans, self._open_traces
                if not open_spans and not open_traces:
                    return
                inner, context, agents = None, span._context, self._open_agents
                span_id = context[_SPAN_ID]
                if not self._left and not (agents and span_id in agents):
                    parent = span._parent
                    if (parent is not None and not parent[_IS_REMOTE]) or context[_TRACE_ID] not in open_traces:
                        place = self._find_place(span_id)
                        if place is None:
                            return
                        if place.inside is place and not place.boundary.pending:
                            del open_spans[span_id]
                            return
                        inner = span._name, span_id, span._instrumentation_scope._name
            else:
                inner = None
        except Exception:  # noqa: BLE001 - another SDK's span
            inner = None
        if inner is None or not self._end_healthy(*inner):
            self._end(span)

    def _start(self, span: Span, parent_context: Context | None) -> None:
        raise NotImplementedError

    def _end(self, span: ReadableSpan) -> None:
        raise NotImplementedError

    def _start_plain(self, span: Span, parent_context: Context | None) -> None:
        raise NotImplementedError

    def _end_healthy(self, name: str, span_id: int, scope: str) -> bool:
        raise NotImplementedError


class WatchedSpan(weakref.ref[Span]):
    """
    Holds what a started span may still say, but not the span.

    Args:
        span: The span.
        on_drop: Called with this object if the span is dropped before anything else drops this object.
    """

    __slots__ = ("attributes", "context", "name", "scope")

    name: str
    context: SpanContext
    scope: str
    attributes: Mapping[str, object]
    """The attributes of the span; those that it gets later are here too."""

    def read(self) -> EndedSpan:
        """Read the span as far as it is known."""
        ids = self.context.trace_id, self.context.span_id
        return EndedSpan(self.name, self.context, *ids, attributes=copy_attributes(self.attributes), scope=self.scope)


def watch_span(
    span: object, scope: str, context: SpanContext, on_drop: Callable[[WatchedSpan], object]
) -> WatchedSpan | None:
    """
    Return a weak reference to a span of the SDK, or None.

    Another SDK's object may be a passing view of its span: its end says nothing.
    """
    if not isinstance(span, Span):
        return None
    watched = WatchedSpan(span, cast("Any", on_drop))
    watched.name = span.name
    watched.scope = scope
    watched.context = context
    watched.attributes = span.attributes or {}
    return watched


def read_span(span: ReadableSpan) -> EndedSpan:
    """
    Read a span that has ended.

    Reads the fields behind thirteen properties of the SDK's span, several of which copy what they return; a failing
    span would cost twice as much. Where one is missing, all are read by their public names.
    """
    try:
        return _read_privately(span)
    except Exception:  # noqa: BLE001 - another SDK's span, or one without ids
        return _read_publicly(span)


def _read_privately(span: Any) -> EndedSpan:
    context, status, scope = span._context, span._status, span._instrumentation_scope
    return EndedSpan(
        span._name,
        context,
        context.trace_id,
        context.span_id,
        span._parent,
        status._status_code is _ERROR,
        status._description,
        span._attributes.copy(),
        tuple(span._events._dq),
        scope.name if scope is not None else "",
        span._start_time or 0,
        span._end_time or 0,
        span._kind is SpanKind.SERVER,
    )


def _read_publicly(span: ReadableSpan) -> EndedSpan:
    context, status, scope = span.get_span_context() or INVALID_SPAN_CONTEXT, span.status, span.instrumentation_scope
    return EndedSpan(
        span.name,
        context,
        context.trace_id,
        context.span_id,
        span.parent,
        status.status_code is _ERROR,
        status.description,
        copy_attributes(span.attributes),
        span.events,
        scope.name if scope is not None else "",
        span.start_time or 0,
        span.end_time or 0,
        getattr(span, "kind", None) is SpanKind.SERVER,
    )


def peek_attributes(span: ReadableSpan) -> Mapping[str, object] | None:
    """
    Return a span's attributes, read-only, if they are all its text.

    None otherwise.

    Reads `_attributes._dict`, `_events._dq`, `_links._dq` and `_status._description`, since every exported span is
    weighed. Where one is missing the answer is None, and the span is read by its public names.
    """
    sdk_span: Any = span
    try:
        if not sdk_span._events._dq and not sdk_span._links._dq and not sdk_span._status._description:
            return cast("Mapping[str, object]", sdk_span._attributes._dict)
    except Exception:  # noqa: BLE001, S110 - another SDK's span
        pass
    return None


def copy_attributes(attributes: Mapping[str, object] | None) -> dict[str, object]:
    """
    Return attributes as a plain dictionary.

    A copy costs less than one look-up in the SDK's mapping.
    """
    return cast("Any", attributes).copy() if attributes else {}


def is_without(log_record: Any, *names: str) -> bool:
    """
    Return whether a log record surely has none of these attributes.

    Reads `attributes._dict`, since looking a name up in the SDK's mapping costs more than all else that is done about
    a record. Where it is missing the answer is no, and the record is read in full.
    """
    try:
        attributes = log_record.attributes._dict
    except Exception:  # noqa: BLE001 - another SDK's record
        return False
    return not any(name in attributes for name in names)


def read_preferences(exporter: MetricExporter) -> dict[str, Any]:
    """
    Return an exporter's preferred temporality and aggregation, as keyword arguments.

    Reads `_preferred_temporality` and `_preferred_aggregation`, which the SDK's reader reads too: there is no public
    way. Where they are missing the new exporter has the SDK's defaults.
    """
    return {
        "preferred_temporality": getattr(exporter, "_preferred_temporality", None),
        "preferred_aggregation": getattr(exporter, "_preferred_aggregation", None),
    }


def free_export_lock(reader: object) -> None:
    """
    Free a metric reader's lock around exports, in a forked child process.

    A thread of the parent may have held it, for as long as a collector does not answer: the child would never export.

    Reads `_export_lock`. Where it is missing, such a child exports no metrics.
    """
    lock: Any = getattr(reader, "_export_lock", None)
    if lock is not None:
        lock._at_fork_reinit()


def suppress_instrumentation() -> Token[Context]:
    """
    Suppress spans of HTTP and gRPC instrumentations in this context.

    Detach the token to end it.

    Reads `_SUPPRESS_INSTRUMENTATION_KEY`, as the SDK's exporters do: there is no public way. Where it is missing,
    exports make spans.
    """
    return otel_context.attach(otel_context.set_value(_SUPPRESS, True))


def forget_counts(instrument: object, scopes: Container[str]) -> None:
    """
    Forget what a provider has counted in some scopes.

    For a forked child process.

    The SDK gives the child an identity of its own and lets it repeat all that its parent has counted. A thread of the
    parent that collected at that moment held the SDK's locks, which nothing would release.

    Reads `_measurement_consumer._reader_storages` and their `_instrument_view_instrument_matches`, which a measurement
    makes again. Where one is missing, the child repeats its parent's counts.

    Args:
        instrument: Any instrument of the provider.
        scopes: The instrumentation scopes.
    """
    try:
        consumer: Any = cast("Any", instrument)._measurement_consumer
        storages: tuple[Any, ...] = tuple(consumer._reader_storages.values())
        for holder in (consumer, *storages):
            holder._lock._at_fork_reinit()
        for storage in storages:
            matches: dict[Any, object] = storage._instrument_view_instrument_matches
            for known in tuple(matches):
                if known.instrumentation_scope.name in scopes:
                    del matches[known]
    except Exception:  # noqa: BLE001, S110 - another SDK's instrument
        pass


def forget_series(gauge: object) -> None:
    """
    Forget the series of an observable gauge, from inside its callback.

    The SDK keeps each attribute set that a gauge has ever had, and folds those beyond 2000 into one; it needs none.
    Reads what `forget_counts` reads, but for locks: the SDK holds them. Where one is missing, series pile up.
    """
    try:
        for storage in cast("Any", gauge)._measurement_consumer._reader_storages.values():
            storage._instrument_view_instrument_matches.pop(gauge, None)
    except Exception:  # noqa: BLE001, S110 - another SDK's instrument
        pass


def read_processors(provider: object) -> Processors | None:
    """
    Return an SDK provider's processors in order, None if kept elsewhere.

    Reads the tuple that the SDK keeps in the provider's processor of processors: there is no public way.
    """
    holder, name = _find_holder(provider)
    processors: object = getattr(holder, name, None)
    return cast("Processors", processors) if isinstance(processors, tuple) else None


def put_first(provider: object, processor: object) -> None:
    """
    Put a processor before all others.

    An exporter right behind it asks it for the class of a failure.

    Replaces the SDK's tuple under the SDK's lock. Where either is missing, the order stays as it is.
    """
    _change_processors(provider, lambda processors: (processor, *_exclude_processor(processors, processor)))


def take_out(provider: object, processor: object) -> None:
    """
    Remove a processor the same way.

    One that is shut down is inert in any case.
    """
    _change_processors(provider, lambda processors: _exclude_processor(processors, processor))


def _find_holder(provider: object) -> tuple[Any, str]:
    provider = unwrap(provider)
    for holder, name in _SHAPES:
        if hasattr(provider, holder):
            return getattr(provider, holder), name
    return None, ""


def unwrap(provider: object) -> object:
    """
    Return the SDK's provider that a wrapper keeps in `provider`.

    Logfire's do. Where there is none, return what is given.
    """
    return getattr(provider, "provider", None) or provider


def sends_by_otlp(provider: object) -> bool:
    """
    Return whether a meter provider may send by OTLP.

    Reads `_metric_readers`, in older SDKs `_sdk_config.metric_readers`, and `_exporter` of each. What is not known may.
    """
    inner: Any = unwrap(provider)
    try:
        readers = inner._metric_readers if hasattr(inner, "_metric_readers") else inner._sdk_config.metric_readers
    except Exception:  # noqa: BLE001 - another SDK's provider
        return True
    senders = (type(getattr(reader, "_exporter", reader)).__module__ for reader in readers)
    return not all(name.startswith(("opentelemetry.sdk.", "opentelemetry.exporter.prometheus")) for name in senders)


def _change_processors(provider: object, change: Callable[[Processors], Processors]) -> None:
    holder, name = _find_holder(provider)
    if read_processors(provider) is None or not hasattr(holder, "_lock"):
        return
    # The SDK itself replaces this tuple as a whole, under this lock, when it adds a processor.
    with holder._lock:
        setattr(holder, name, change(getattr(holder, name)))


def _exclude_processor(processors: Processors, processor: object) -> Processors:
    return tuple(other for other in processors if other is not processor)
