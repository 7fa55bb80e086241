"""The path of hooks: what goes to the adapters of hosts, and what a host gets where they fail."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.guard import Guard
from otel_errcompact_hosts import hooks
from otel_errcompact_hosts.hooks import profiles
from otel_errcompact_hosts.runs import LedgerRuns
from otel_errcompact_hosts.service.api import create_app
from packages.hosts.tests.service.services import PATIENCE_S


class Adapters:
    """Stands where the adapters are: notes what it gets, and answers or raises what it is given."""

    def __init__(self, answer: dict[str, object] | Exception) -> None:
        self.got: list[tuple[str, Mapping[str, object], LedgerRuns]] = []
        self._answer = answer

    def answer(self, host: str, event: Mapping[str, object], runs: LedgerRuns) -> dict[str, object]:
        self.got.append((host, event, runs))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def post(
    monkeypatch: pytest.MonkeyPatch, adapters: object, path: str, runs: LedgerRuns, event: object = None
) -> tuple[int, Any]:
    monkeypatch.setitem(sys.modules, "otel_errcompact_hosts.hooks", adapters)
    transport = httpx.ASGITransport(create_app(runs, {}))
    async with httpx.AsyncClient(transport=transport, base_url="http://errcompact", timeout=PATIENCE_S) as client:
        answer = await client.post(path, json={} if event is None else event)
    return answer.status_code, answer.json()


@pytest.fixture
def runs(ledger: Ledger) -> LedgerRuns:
    return LedgerRuns(ledger=ledger)


async def test_an_event_goes_to_the_adapter_of_its_host(monkeypatch: pytest.MonkeyPatch, runs: LedgerRuns) -> None:
    """As it came, with the runs that it may count in; the answer goes back as it is."""
    adapters = Adapters({"decision": "block", "reason": "größer"})
    answered = await post(monkeypatch, adapters, "/v1/hooks/codex", runs, {"hook_event_name": "PostToolUse"})
    assert answered == (200, {"decision": "block", "reason": "größer"})
    assert adapters.got == [("codex", {"hook_event_name": "PostToolUse"}, runs)]


@pytest.mark.parametrize(("event", "named"), [({"a": 1}, "postToolUse"), ({"hook_event_name": "Stop"}, "Stop")])
async def test_the_name_of_an_event_may_stand_in_the_path(
    monkeypatch: pytest.MonkeyPatch, runs: LedgerRuns, event: dict[str, object], named: str
) -> None:
    """For hosts whose payload lacks it; one that has it is believed."""
    adapters = Adapters({})
    await post(monkeypatch, adapters, "/v1/hooks/copilot?event=postToolUse", runs, event)
    assert adapters.got[0][1]["hook_event_name"] == named


async def test_a_fault_of_an_adapter_is_no_fault_of_its_host(
    monkeypatch: pytest.MonkeyPatch, runs: LedgerRuns, caplog: pytest.LogCaptureFixture
) -> None:
    """It has nothing to say, and the log has the traceback."""
    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr(profiles, "answer_event", Adapters(KeyError("x")).answer)
    with caplog.at_level(logging.ERROR, "otel_errcompact"):
        assert await post(monkeypatch, hooks, "/v1/hooks/codex", runs) == (200, {})
    assert "internal failure in hook" in caplog.text
    assert "KeyError: 'x'" in caplog.text


async def test_an_unknown_host_is_named(monkeypatch: pytest.MonkeyPatch, runs: LedgerRuns) -> None:
    """By the sentence of the adapters."""
    answered = await post(monkeypatch, Adapters(ConfigurationError("no host 'x'")), "/v1/hooks/x", runs)
    assert answered == (404, {"error": "no host 'x'"})


async def test_an_event_is_an_object(monkeypatch: pytest.MonkeyPatch, runs: LedgerRuns) -> None:
    """What is none does not reach an adapter."""
    adapters = Adapters({})
    status, answer = await post(monkeypatch, adapters, "/v1/hooks/codex", runs, [1])
    assert (status, adapters.got) == (422, [])
    assert answer["error"].startswith("body: Input should be a valid dictionary")


async def test_a_fault_of_the_service_itself_is_one_sentence(runs: LedgerRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log has the rest."""

    def fail(_: object) -> str:
        raise ValueError("x")

    monkeypatch.setattr(runs.ledger, "digest", fail)
    runs.begin_turn("r")
    transport = httpx.ASGITransport(create_app(runs, {}), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://errcompact", timeout=PATIENCE_S) as client:
        answer = await client.get("/v1/runs/r/digest")
    assert answer.status_code == 500
    assert answer.json() == {"error": "a fault of the service itself, which its log describes: ValueError"}
