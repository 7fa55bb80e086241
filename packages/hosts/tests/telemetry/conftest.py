"""A receiver that counts in a ledger of its own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request

if TYPE_CHECKING:
    from otel_errcompact_hosts.telemetry.bodies import Reply


class Bench:
    """A receiver with all that is around it."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        # Its time stands still: what a request may take is no matter of this machine.
        self.receiver = Receiver(ReportedRuns(self.ledger), clock=lambda: 0.0)

    def send(self, request: Any) -> None:
        """Send a request, which is taken."""
        signal = "traces" if hasattr(request, "resource_spans") else "logs"
        reply = self.receiver.receive(Request(signal, request.SerializeToString()))
        assert reply == (200, "application/x-protobuf", b"")

    def post(self, signal: str, body: bytes, content_type: str = "application/x-protobuf", encoding: str = "") -> Reply:
        """Send a body, and return the answer."""
        return self.receiver.receive(Request(signal, body, content_type, encoding))

    def total(self) -> int:
        """How many failures were counted, in all runs."""
        return sum(self.ledger.report(run_id).occurrences for run_id in self.ledger.store.run_ids())

    def classes(self, run_id: str) -> dict[str, int]:
        """How often each cause was counted in a run."""
        counted: Counter[str] = Counter()
        for found in self.ledger.report(run_id).classes:
            counted[f"{found.type}: {found.cause}"] += found.count
        return dict(counted)


@pytest.fixture
def bench() -> Bench:
    return Bench()
