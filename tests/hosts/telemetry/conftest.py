"""A receiver that counts in a ledger of its own, and keeps what it passes on."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.hosts.telemetry.counting import ReportedRuns
from otel_errcompact.hosts.telemetry.forwarding import Forwarder
from otel_errcompact.hosts.telemetry.receiver import Receiver, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.hosts.telemetry.bodies import Reply
    from otel_errcompact.hosts.telemetry.forwarding import Message


class Kept:
    """A destination that keeps what arrives."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def send(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    def close(self) -> None:
        pass


class Bench:
    """A receiver with all that is around it."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.kept = Kept()
        self.forwarder = Forwarder(self.kept, self.ledger.guard)
        self.receiver = Receiver(ReportedRuns(self.ledger), self.forwarder, guard=self.ledger.guard)

    def send(self, request: Any) -> Any:
        """Send a request, and return it as it was passed on."""
        signal = "traces" if hasattr(request, "resource_spans") else "logs"
        reply = self.receiver.receive(Request(signal, request.SerializeToString()))
        assert reply.status == 200, reply
        passed_on = type(request)()
        passed_on.ParseFromString(self.newest().body)
        return passed_on

    def post(self, signal: str, body: bytes, content_type: str = "application/x-protobuf", encoding: str = "") -> Reply:
        """Send a body, and return the answer."""
        return self.receiver.receive(Request(signal, body, content_type, encoding))

    def newest(self) -> Message:
        """What was passed on last."""
        assert self.forwarder.flush()
        return self.kept.messages[-1]

    def newest_body(self) -> bytes:
        """The body that was passed on last, unpacked."""
        message = self.newest()
        return gzip.decompress(message.body) if message.encoding == "gzip" else message.body

    def classes(self, run_id: str) -> dict[str, int]:
        """How often each cause was counted in a run."""
        counted: Counter[str] = Counter()
        for found in self.ledger.report(run_id).classes:
            counted[f"{found.type}: {found.cause}"] += found.count
        return dict(counted)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.forwarder.close()
