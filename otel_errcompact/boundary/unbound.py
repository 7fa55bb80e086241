"""Calls outside any open run, as in a thread without its context."""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING, Final

from opentelemetry import trace

from otel_errcompact.boundary.runs import Run, current_call, current_run
from otel_errcompact.boundary.scope import RunScope
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.context import is_unbound, unbound_run_id

if TYPE_CHECKING:
    from typing import Unpack

    from opentelemetry.trace import Span

    from otel_errcompact.boundary.scope import RunSettings
    from otel_errcompact.engine.events import Observation
    from otel_errcompact.errors import RawError

_logger: Final = logging.getLogger(semconv.SCOPE)


class UnboundScope(RunScope):
    """
    The run of one call outside any open run: told whole, counted.

    Operators find it in the run of the call's trace. Which agent reads it is not known: two calls of one trace may be
    two conversations', so that neither is shown or refused for the other's. Without a trace nothing of it is kept.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        super().__init__(_run_id_of(trace.get_current_span()), **settings)

    @property
    def conversation(self) -> str:
        """The id of the conversation that spans name; empty without a trace."""
        return "" if is_unbound(self.run_id) else self.run_id

    def bind(self, span: Span) -> None:
        """Count the call in its span's trace, if that is recorded."""
        if span.get_span_context().is_valid:
            self.run_id = _run_id_of(span)

    def _observe(self, raw: RawError) -> Observation:
        _warn_once()
        observation = self.ledger.observe(self.run_id, raw, whole=True)
        if is_unbound(self.run_id):
            self.ledger.store.discard(self.run_id)
        return observation


def run_here() -> Run:
    """Return the open run, or the open call's, or one call's alone."""
    run = current_run()
    if run is None:
        call = current_call()
        run = Run(call.scope if call is not None else UnboundScope())
    return run


def _run_id_of(span: Span) -> str:
    context = span.get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else unbound_run_id()


_failures = itertools.count()
"""Counts calls that have failed outside any open run: of threads that fail side by side only one is the first."""


def _warn_once() -> None:
    if next(_failures):
        return
    _logger.warning(
        "a call has failed outside any open run: it is told whole and counted by itself. Call it inside "
        "`with errcompact.run():`; in a thread that did not inherit the context of an open run, bind it with "
        "`contextvars.copy_context().run(...)`, `asyncio.to_thread(...)` or `@errcompact.compacted(run=run)`"
    )
