"""Failures that come faster than they are read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.digest import DigestOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.load import BURST_NS, SHARE, Load
from otel_errcompact.engine.pipeline import CLASS_UNREAD
from otel_errcompact.errors import RawError

if TYPE_CHECKING:
    pass

REFUSED = "psycopg2.OperationalError: connection to server at 10.0.0.7 failed: Connection refused"


class Clock:
    """Time that passes, and work that takes part of it."""

    def __init__(self) -> None:
        self.now = 0
        self.worked = 0

    def work(self, nanoseconds: int) -> None:
        self.now += nanoseconds
        self.worked += nanoseconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Reading a failure takes four times as long as may be read at once."""
    clock = Clock()

    def read(*given: object) -> object:
        clock.work(4 * BURST_NS)
        return classify(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("otel_errcompact.engine.pipeline.classify", read)
    return clock


def ledger_of(clock: Clock) -> Ledger:
    options = Options(digest=DigestOptions(way_back="errcompact raw {key}"))
    return Ledger(options, timer=lambda: clock.now, work_timer=lambda: clock.worked)


def test_reading_takes_a_share_of_a_processor() -> None:
    """Beyond a burst, a quarter of the time that passes is for reading."""
    clock = Clock()
    load = Load(lambda: clock.worked)
    read = 0
    for _ in range(40_000):
        if load.is_high(clock.now):
            clock.now += 1_000_000
            continue
        began = load.work_timer()
        clock.work(1_000_000)
        load.add(began)
        read += 1
    assert read == 40_000 // SHARE + BURST_NS // 1_000_000


def test_without_a_timer_every_failure_is_read() -> None:
    """A replay and a test read all, however fast."""
    ledger = Ledger()
    found = {ledger.observe("r", RawError(text=REFUSED, tool="db")).found.facts.type for _ in range(3)}
    assert found == {"psycopg2.OperationalError"}


def test_a_text_that_is_not_read_reaches_the_agent_as_it_is(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """It keeps its text, with a mark by which it can be asked for; that it was not read is counted and logged."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    with caplog.at_level(logging.WARNING):
        unread = ledger.observe("r", RawError(text=f"{REFUSED} again", tool="db"))
    assert unread.text == f"{REFUSED} again #{unread.found.key[:4]}"
    assert unread.found.facts.cause == "not read: failures came faster than they are read"
    assert ledger.guard.failures == {CLASS_UNREAD: 1}
    assert caplog.messages == ["class_unread: 1 lost so far; the application is not affected"]


def test_a_long_text_that_is_not_read_keeps_its_ends(clock: Clock) -> None:
    """Its middle can be asked for, as that of any text that no parser has read."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    lines = [f"step {number} of the migration has failed" for number in range(2_000)]
    unread = ledger.observe("r", RawError(text="\n".join(lines), tool="db"))
    shown = unread.text.splitlines()
    assert shown[0] == lines[0]
    assert lines[-1] in shown
    assert len(shown) < 200


def test_texts_that_are_not_read_are_the_same_only_if_they_are_equal(clock: Clock) -> None:
    """What is not known to be one failure is not counted as one, and stops no run."""
    ledger = ledger_of(clock)
    ledger.open("r")
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    others = [ledger.observe("r", RawError(text=f"row {number} is locked", tool="db")) for number in range(3)]
    assert [each.count for each in others] == [1, 1, 1]
    same = [ledger.observe("r", RawError(text="row 9 is locked", tool="db")) for _ in range(3)]
    assert [each.count for each in same] == [1, 2, 3]


def test_failures_are_read_again_when_there_is_time(clock: Clock) -> None:
    """The burst is paid back by the time that passes."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    clock.now += 4 * SHARE * BURST_NS
    assert ledger.observe("r", RawError(text=REFUSED, tool="db")).found.facts.type == "psycopg2.OperationalError"


def test_a_live_exception_is_always_read(clock: Clock) -> None:
    """Its frames are not in any text, and are given back to the application."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    error = KeyError("user_id")
    assert ledger.observe("r", RawError(text="", exception=error, tool="db")).found.facts.type == "KeyError"
