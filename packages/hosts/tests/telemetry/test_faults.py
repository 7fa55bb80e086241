"""What senders do wrong: nobody else waits for it, and nothing is lost in silence."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.telemetry.bodies import PROTOBUF
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from packages.hosts.tests.telemetry.messages import span, spans

if TYPE_CHECKING:
    from pathlib import Path

    from packages.hosts.tests.telemetry.conftest import Bench

FAILED = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}


def failed(number: int) -> Any:
    return spans(span("execute_tool query", FAILED, span_id=number, failed=True, description="no such table: orders"))


def test_a_body_packed_in_several_pieces_is_read_whole(bench: Bench) -> None:
    """As what is written to a gzip file twice is."""
    first, second = (failed(number).SerializeToString() for number in (1, 2))
    assert bench.post("traces", gzip.compress(first) + gzip.compress(second), PROTOBUF, "gzip").status == 200
    assert bench.ledger.report("c").occurrences == 2


def test_a_run_that_another_receiver_still_hears_of_does_not_end(tmp_path: Path) -> None:
    """Each has heard nothing of it for so long, and the store has: its counts stay until nobody hears of it."""
    backends = [open_backend(f"sqlite:///{tmp_path}/runs.db") for _ in range(2)]
    ledgers = [Ledger(backend=backend) for backend in backends]
    now = [0.0]
    first, second = (ReportedRuns(each, idle_s=10.0, clock=lambda: now[0]) for each in ledgers)
    for each in ledgers:
        each.store._ticks._clock_ns = lambda: int(now[0] * 1e9)  # type: ignore[attr-defined]
    call, other = (HostCall(run_id=name, tool="query", arguments="{}") for name in ("c", "other"))
    result = HostResult(text="no such table: orders", failed=True)
    first.conclude(call, result)
    now[0] = 8.0
    assert second.conclude(call, result).count == 2
    now[0] = 15.0
    first.conclude(other, result)
    assert second.conclude(call, result).count == 3
    now[0] = 30.0
    second.conclude(other, result)
    assert ledgers[1].report("c").occurrences == 0
    for backend in filter(None, backends):
        backend.close()
