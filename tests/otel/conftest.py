"""A tracer provider whose failures go through the real processor into a real ledger that tells a recording listener."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_errcompact.engine.events import Ended, Handled, Observation, Resolved
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Tracer

    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import RawError


@dataclass
class Told(Listener):
    """
    Everything a ledger has told.
    """

    observed: list[Observation] = field(default_factory=list)
    handled: list[tuple[str, RawError]] = field(default_factory=list)
    resolved: list[tuple[str, str]] = field(default_factory=list)
    ended: list[RunReport] = field(default_factory=list)

    def receivers(self) -> Receivers:
        return {
            Observation: self.observed.append,
            Handled: lambda event: self.handled.append((event.run_id, event.raw)),
            Resolved: lambda event: self.resolved.append((event.run_id, event.tool)),
            Ended: lambda event: self.ended.append(event.report),
        }

    @property
    def causes(self) -> list[str]:
        """The causes of what was counted, in order."""
        return [observation.found.facts.cause for observation in self.observed]

    @property
    def tools(self) -> list[str]:
        """The tools of what was counted, in order; of what no tool or model was called for, the operation."""
        return [observation.raw.tool or str(observation.raw.operation) for observation in self.observed]

    @property
    def handled_messages(self) -> list[str]:
        """The messages of what was handled, in order."""
        return [raw.message for _, raw in self.handled]


@dataclass
class Rig:
    """
    A tracer provider with the processor, and what came of it.
    """

    provider: TracerProvider
    ledger: Ledger
    processor: ErrorCompactionSpanProcessor
    told: Told
    exporter: InMemorySpanExporter

    def tracer(self, scope: str = "app") -> Tracer:
        return self.provider.get_tracer(scope)


def make_rig(provider: TracerProvider | None = None, ledger: Ledger | None = None) -> Rig:
    provider = provider or TracerProvider(shutdown_on_exit=False, resource=Resource({}))
    ledger = ledger or Ledger()
    told = Told()
    ledger.listeners.add(told)
    processor = ErrorCompactionSpanProcessor(ledger)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Rig(provider, ledger, processor, told, exporter)


@pytest.fixture(name="make_rig", scope="session")
def _make_rig() -> Callable[..., Rig]:
    return make_rig


@pytest.fixture
def rig() -> Rig:
    return make_rig()


@pytest.fixture
def tracer(rig: Rig) -> Tracer:
    return rig.tracer()
