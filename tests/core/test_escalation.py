from __future__ import annotations

import pytest
from pydantic import ValidationError

from otel_errcompact.escalation import (
    Continue,
    Decision,
    Escalation,
    Halt,
    Pause,
    Thresholds,
    action_name,
    decide,
)
from otel_errcompact.history import History
from tests.core.builders import classified, raw


def decision_after(failures: int, thresholds: Thresholds, *, classes: int = 1) -> Decision:
    history = History(max_classes=100)
    for number in range(failures):
        made = history.record(raw(), classified(f"{number % classes:04}0"))
    return decide(made, history, thresholds)


def test_the_defaults_are_three_six_and_thirty() -> None:
    """All thresholds are set by default."""
    assert Thresholds() == Thresholds(same=3, consecutive=6, total=30)


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(1, Decision(), id="the first failure carries on"),
        pytest.param(2, Decision(level="notice", threshold="same", count=2, limit=3), id="one before the limit"),
        pytest.param(3, Decision(level="escalate", threshold="same", count=3, limit=3), id="at the limit"),
        pytest.param(4, Decision(level="escalate", threshold="same", count=4, limit=3), id="beyond the limit"),
    ],
)
def test_the_streak_of_one_class(failures: int, expected: Decision) -> None:
    """A class that keeps recurring is noticed one step before it escalates."""
    assert decision_after(failures, Thresholds(consecutive=100, total=100)) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(4, Decision(), id="two before the limit"),
        pytest.param(5, Decision(level="notice", threshold="consecutive", count=5, limit=6), id="one before"),
        pytest.param(6, Decision(level="escalate", threshold="consecutive", count=6, limit=6), id="at the limit"),
    ],
)
def test_failures_in_a_row_of_any_class(failures: int, expected: Decision) -> None:
    """Calls that fail in a row escalate although each fails differently."""
    assert decision_after(failures, Thresholds(), classes=100) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(26, Decision(), id="four left"),
        pytest.param(27, Decision(level="notice", threshold="total", count=27, limit=30), id="a tenth left"),
        pytest.param(30, Decision(level="escalate", threshold="total", count=30, limit=30), id="spent"),
    ],
)
def test_the_error_budget_of_a_run(failures: int, expected: Decision) -> None:
    """The budget is noticed when a tenth of it is left."""
    assert decision_after(failures, Thresholds(consecutive=100), classes=100) == expected


def test_an_escalation_outranks_a_notice() -> None:
    """Where one threshold is near and another reached, the reached one decides."""
    decision = decision_after(6, Thresholds(same=7), classes=1)
    assert decision == Decision(level="escalate", threshold="consecutive", count=6, limit=6)


def test_the_first_notice_stands() -> None:
    """Where two thresholds are near, the finer one is named."""
    decision = decision_after(2, Thresholds(same=3, consecutive=3), classes=1)
    assert decision == Decision(level="notice", threshold="same", count=2, limit=3)


def test_a_limit_of_one_escalates_at_once() -> None:
    """The strictest setting lets nothing recur."""
    assert decision_after(1, Thresholds(same=1)).level == "escalate"


@pytest.mark.parametrize("name", ["same", "consecutive", "total"])
def test_a_threshold_below_one_is_refused(name: str) -> None:
    """The message says which value is wrong and what is allowed."""
    with pytest.raises(ValidationError, match=rf"{name}\n.*greater than or equal to 1 .*input_value=0"):
        Thresholds(**{name: 0})


def test_an_escalation_reads_as_a_sentence(escalation: Escalation) -> None:
    """What was reached, how far, and by which error."""
    assert str(escalation) == "one error class keeps recurring (3 of 3): [ConnectionError] connection refused"


@pytest.mark.parametrize(
    ("action", "name"), [(Halt(), "halt"), (Continue("go on"), "continue"), (Pause(), "pause")], ids=repr
)
def test_actions_have_names(action: Halt | Continue | Pause, name: str) -> None:
    """Telemetry and reports know an answer by its name."""
    assert action_name(action) == name
