"""No payload makes an adapter raise, and what is odd counts nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.runtime.guard import Guard
from otel_errcompact_hosts.hooks import HOSTS, answer
from otel_errcompact_hosts.runs import LedgerRuns
from packages.hosts.tests.hooks.sessions import FAILING, RECORDED_HOSTS, after, before, recorded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("x" * 100_000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
EVENTS = {host: recorded(host) for host in RECORDED_HOSTS} | {
    "cursor": [before("cursor", FAILING, 1), after("cursor", FAILING, 1)]
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a payload, with each of its keys."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@pytest.mark.parametrize("host", HOSTS)
@given(data=st.data())
def test_no_changed_payload_raises(host: str, data: st.DataObject) -> None:
    """A field of a recorded event is missing or holds anything else; in tests our guard raises, and hides nothing."""
    event = copy.deepcopy(data.draw(st.sampled_from(EVENTS[host])))
    for _ in range(data.draw(st.integers(1, 3))):
        if found := places(event):
            holder, key = data.draw(st.sampled_from(found))
            if data.draw(st.booleans()):
                holder[key] = data.draw(VALUES)
            else:
                del holder[key]
    said = answer(host, event, LedgerRuns(ledger=Ledger()))
    json.dumps(said)


@pytest.mark.parametrize("host", HOSTS)
@given(event=st.dictionaries(st.sampled_from(["hook_event_name", "event", "session_id", "tool_name", "x"]), VALUES))
def test_no_other_object_raises(host: str, event: dict[str, Any]) -> None:
    """Objects that are no event at all."""
    json.dumps(answer(host, event, LedgerRuns(ledger=Ledger())))


@pytest.mark.parametrize("host", HOSTS)
def test_without_session_or_tool_nothing_counts(host: str, runs: LedgerRuns) -> None:
    """Whose failure it is would be a guess."""
    event = after(host, FAILING, 1)
    needed = {"session_id", "sessionId", "sessionID", "conversation_id", "tool_name", "toolName", "tool"} & event.keys()
    assert len(needed) == 2
    for name in needed:
        assert answer(host, {**event, name: None}, runs) == {}
        assert answer(host, {key: value for key, value in event.items() if key != name}, runs) == {}
    assert runs.ledger.store.run_ids() == ()


def test_a_fault_of_ours_is_counted_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host does what it does without us."""
    monkeypatch.setattr(Guard, "strict", False)

    class Broken(LedgerRuns):
        def conclude(self, call: Any, result: Any, *, is_read: bool = True) -> Any:
            raise RuntimeError("the disk is full")

    guard = Guard()
    assert answer("codex", after("codex", FAILING, 1), Broken(ledger=Ledger()), guard=guard) == {}
    assert guard.failures == {"hook": 1}
