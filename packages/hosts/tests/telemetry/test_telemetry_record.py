"""What is counted from telemetry in a shared store is what its trajectory reports."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request
from packages.hosts.tests.telemetry.messages import span, spans
from packages.lab.tests.replay.test_shared_record import Process, read_back

if TYPE_CHECKING:
    from pathlib import Path


def test_nine_failed_spans(address: str, tmp_path: Path) -> None:
    """They are nine failures in the report, each of its own tool."""
    process = Process(address, tmp_path / "trajectory.jsonl", time.time_ns)
    receiver = Receiver(ReportedRuns(process.ledger))
    for number in range(9):
        tool = f"tool_{number % 3}"
        call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.conversation.id": "c"}
        failed = span(f"execute_tool {tool}", call, span_id=number + 1, failed=True, description=f"no table {tool}")
        assert receiver.receive(Request("traces", spans(failed).SerializeToString())).status == 200
    (played,) = read_back(process.path)
    told = {found.tool: (found.cause, found.count) for found in played.report.classes}
    assert told == {f"tool_{number}": (f"no table tool_{number}", 3) for number in range(3)}
    assert played.failures == 9
    assert process.backend is not None
    process.backend.close()
