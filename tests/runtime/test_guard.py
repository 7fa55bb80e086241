from __future__ import annotations

import logging

import pytest

from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted
from otel_errcompact.runtime.guard import MAX_LOGGED, Guard


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard, "strict", False)


@pytest.mark.usefixtures("lenient")
def test_a_fault_is_swallowed_and_counted_by_stage() -> None:
    """What our own code raises never reaches the application, and is counted where it happened."""
    guard = Guard()
    with guard.stage("observe"):
        raise ValueError("ours")
    assert dict(guard.failures) == {"observe": 1}


@pytest.mark.usefixtures("lenient")
def test_faults_are_logged_at_most_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """The first fault is logged with its traceback, the next ones only after a minute."""
    now = [0.0]
    guard = Guard(clock=lambda: now[0])
    with caplog.at_level(logging.ERROR, logger="otel_errcompact"):
        for now[0] in (0.0, 59.9, 60.0):
            with guard.stage("observe"):
                raise ValueError("ours")
    assert [record.getMessage() for record in caplog.records] == [
        "internal failure in observe (1 so far); the application is not affected",
        "internal failure in observe (3 so far); the application is not affected",
    ]
    assert all(record.exc_info for record in caplog.records)


@pytest.mark.usefixtures("lenient")
def test_every_fault_is_reported_to_the_listener() -> None:
    """A listener hears the stage of each fault, so that a metric can count it."""
    heard: list[str] = []
    guard = Guard(on_failure=heard.append)
    for stage in ("gate", "observe"):
        with guard.stage(stage):
            raise ValueError("ours")
    assert heard == ["gate", "observe"]


@pytest.mark.usefixtures("lenient")
def test_a_listener_that_fails_is_counted_too() -> None:
    """The way of reporting a fault may fail itself; that is counted and goes no further."""

    def broken(stage: str) -> None:
        raise OSError(stage)

    guard = Guard(on_failure=broken)
    with guard.stage("gate"):
        raise ValueError("ours")
    assert dict(guard.failures) == {"gate": 1, "on_failure": 1}


def test_faults_are_raised_in_our_own_tests() -> None:
    """Under our own tests no fault hides."""
    with pytest.raises(ValueError, match="ours"), Guard().stage("observe"):
        raise ValueError("ours")


def test_a_callback_of_the_user_is_counted_but_never_raised() -> None:
    """The user's own fault is no fault of ours, not even under our tests."""
    guard = Guard()
    guard.record_failure("escalation_handler", ValueError("theirs"), fatal=False)
    assert dict(guard.failures) == {"escalation_handler": 1}


def test_each_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By its name and its error, at most once a minute each, and beside a fault of ours that has just been logged."""
    guard = Guard(clock=lambda: 0.0)
    with caplog.at_level(logging.ERROR, logger="otel_errcompact"):
        for what in ("", "handler shop.ask failed: no", "handler shop.ask failed: no", "handler shop.ask failed: yes"):
            guard.record_failure("escalation_handler", ValueError("theirs"), fatal=False, what=what)
    assert [record.getMessage() for record in caplog.records] == [
        "internal failure in escalation_handler (1 so far); the application is not affected",
        "handler shop.ask failed: no (2 so far); the application is not affected",
        "handler shop.ask failed: yes (4 so far); the application is not affected",
    ]


def test_what_is_logged_is_remembered_within_bounds() -> None:
    """An error whose text is another one each time takes no memory."""
    guard = Guard(clock=lambda: 0.0)
    for number in range(3 * MAX_LOGGED):
        guard.record_failure("escalation_handler", ValueError("theirs"), fatal=False, what=f"failed: {number}")
    assert len(guard._logged_at) <= MAX_LOGGED


def test_a_halt_passes_the_guard(escalation: Escalation) -> None:
    """A halt was asked for: it passes, and is no fault."""
    guard = Guard()
    with pytest.raises(RunHalted), guard.stage("gate"):
        raise RunHalted(escalation, "budget spent")
    assert not guard.failures


def test_what_is_no_ordinary_exception_passes_the_guard() -> None:
    """Cancellation and interrupts are the application's own business."""
    guard = Guard()
    with pytest.raises(KeyboardInterrupt), guard.stage("gate"):
        raise KeyboardInterrupt
    assert not guard.failures


def test_what_had_to_be_given_up_is_counted_and_logged_like_faults(caplog: pytest.LogCaptureFixture) -> None:
    """By number, at most once a minute, and never raised: it is no fault of ours."""
    now = [0.0]
    guard = Guard(clock=lambda: now[0])
    for _ in range(3):
        guard.record_loss("export_dropped", 5)
    now[0] = 60
    guard.record_loss("export_dropped", 1)
    assert guard.failures == {"export_dropped": 16}
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "export_dropped: 5 lost so far; the application is not affected"),
        ("WARNING", "export_dropped: 16 lost so far; the application is not affected"),
    ]
