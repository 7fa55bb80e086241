"""What senders do wrong: nobody else waits for it, and nothing is lost in silence."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.telemetry.bodies import PROTOBUF
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import AT_ONCE, Receiver
from packages.hosts.tests.telemetry.messages import span, spans

if TYPE_CHECKING:
    from pathlib import Path

    from packages.hosts.tests.telemetry.conftest import Bench

FAILED = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}


def failed(number: int) -> Any:
    return spans(span("execute_tool query", FAILED, span_id=number, failed=True, description="no such table: orders"))


def test_senders_that_stop_in_the_middle_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a machine that sleeps: each is answered after a while, and its place is free again."""
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    from otel_errcompact_hosts.telemetry import app

    monkeypatch.setattr(app, "BODY_S", 0.05)
    application = app.telemetry_app(Receiver(ReportedRuns(Ledger())))
    answers: list[tuple[int, bytes]] = []

    async def ask(body: bytes | None) -> None:
        async def receive() -> dict[str, Any]:
            if body is None:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answers.append((message["status"], b""))
            else:
                answers[-1] = (answers[-1][0], message["body"])

        headers = [(b"content-type", b"application/json")]
        await application({"type": "http", "path": "/v1/traces", "method": "POST", "headers": headers}, receive, send)

    async def ask_all() -> None:
        stalled = [asyncio.create_task(ask(None)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0)
        await asyncio.wait_for(asyncio.gather(ask(b"{}"), *stalled), 30)

    asyncio.run(ask_all())
    assert answers.count((200, b"{}")) == 1
    problem = {"code": 4, "message": "the body has not come within 0.05 seconds; send it at once"}
    assert [json.loads(body) for status, body in answers if status == 408] == [problem] * AT_ONCE


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
