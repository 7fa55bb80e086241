"""Failures that come faster than they are read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from otel_errcompact import run
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

    monkeypatch.setattr("otel_errcompact.late.classify", read)
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
    assert unread.found.template == "not read: failures came faster than they are read"
    assert ledger.guard.failures == {CLASS_UNREAD: 1}
    assert caplog.messages == ["class_unread: 1 left unread so far; the application is not affected"]


def test_a_long_text_that_is_not_read_keeps_its_ends(clock: Clock) -> None:
    """Its middle can be asked for, as that of any text that no parser has read."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    lines = [f"step {number} of the migration has failed" for number in range(2_000)]
    unread = ledger.observe("r", RawError(text="\n".join(lines), tool="db"))
    assert unread.found.facts.cause == lines[-1]
    shown = unread.text.splitlines()
    assert shown[0] == lines[0]
    assert lines[-1] in shown
    assert len(shown) < 200


def test_texts_that_are_not_read_are_the_same_only_if_they_are_equal(clock: Clock) -> None:
    """What is not known to be one failure is not counted as one."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    texts = ["row 1 is locked", "row 2 is locked", "row 2 is locked"]
    assert [ledger.observe("r", RawError(text=text, tool="db")).count for text in texts] == [1, 1, 2]


@pytest.mark.parametrize("texts", [["HTTP 503: service unavailable"], ["pending"], [f"pending {n}" for n in range(9)]])
def test_what_is_not_read_stops_and_refuses_nothing(clock: Clock, texts: list[str]) -> None:
    """Whether waiting helps is not known: the same call is made again and again, and none is refused or asked about."""
    ledger = ledger_of(clock)
    ledger.observe("flood", RawError(text=REFUSED, tool="db"))
    with run("r", ledger=ledger) as made:
        for number in range(20):
            with made.tool("poll", arguments={"job": 7}) as call:
                call.fail(texts[number % len(texts)])
    assert (made.report().occurrences, made.report().escalations) == (20, ())


def test_the_cause_of_a_text_that_is_not_read_is_a_line_without_secrets(clock: Clock) -> None:
    """A long line is none: half a secret shows no longer that it is one."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    texts = ["request failed\npassword='hunter2x'\n", "x" * 501, ""]
    causes = [ledger.observe("r", RawError(text=text, tool="db")).found.facts.cause for text in texts]
    not_read = "not read: failures came faster than they are read"
    assert causes == ["password='[REDACTED:password]'", not_read, not_read]


def test_failures_are_read_again_when_there_is_time(clock: Clock) -> None:
    """The burst is paid back by the time that passes."""
    ledger = ledger_of(clock)
    ledger.observe("r", RawError(text=REFUSED, tool="db"))
    clock.now += 4 * SHARE * BURST_NS
    assert ledger.observe("r", RawError(text=REFUSED, tool="db")).found.facts.type == "psycopg2.OperationalError"


def test_a_live_exception_is_always_read(clock: Clock) -> None:
    """Its agent reads no more of it than before; and it takes no time from texts, which would stay unread after it."""
    ledger = ledger_of(clock)
    error = KeyError("user_id")
    for _ in range(2):
        assert ledger.observe("r", RawError(text="", exception=error, tool="db")).found.facts.type == "KeyError"
    assert ledger.observe("r", RawError(text=REFUSED, tool="db")).found.facts.type == "psycopg2.OperationalError"
