"""The gauges that name a run: which are shown, how they end, and that no id is kept."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.events import Refused
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.actions import Continue, Halt, Pause
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.otel import sdk
from otel_errcompact.otel.metrics import instruments, runs
from tests.otel.metrics.metering import Metered, metered, raw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from otel_errcompact.escalator.escalation import Escalation

STREAK = "errcompact.run.streak"
PENDING = "errcompact.run.pending"
TOKENS = "errcompact.run.tokens"
RUN = "errcompact.run.id"
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")


@pytest.fixture
def meter() -> Iterator[Metered]:
    made = metered()
    yield made
    made.telemetry.close()


def fail(meter: Metered, run_id: str, times: int, **details: object) -> str:
    """Let a run fail; return the key of the class."""
    return [meter.ledger.observe(run_id, raw(**details)).found.key for _ in range(times)][-1]


def kept_by_the_sdk(meter: Metered, name: str) -> int:
    """How many attribute sets of a gauge the SDK holds."""
    gauge = meter.telemetry._instruments[0]._run_gauges[name]
    (storage,) = gauge._measurement_consumer._reader_storages.values()
    (match,) = storage._instrument_view_instrument_matches[gauge]
    return len(match._attributes_aggregation)


class TestStreaks:
    def test_labels(self, meter):
        """One series for each run, that of its longest streak, with the threshold once the class has reached one."""
        key = fail(meter, "short", 2)
        fail(meter, "long", 2, message="no route", tool="net")
        fail(meter, "long", 3)
        labels = (RUN, "gen_ai.agent.name", "gen_ai.tool.name", "errcompact.class", "errcompact.threshold")
        assert meter.values(STREAK, *labels) == {
            ("short", "shop", "db", key, ""): 2,
            ("long", "shop", "db", key, "same"): 3,
        }

    def test_a_single_failure_is_no_streak(self, meter):
        """Nor are failures of two classes."""
        fail(meter, "r", 1)
        fail(meter, "r", 1, message="no route")
        assert meter.points(STREAK) == {}

    def test_fresh_counters(self, meter):
        """A threshold that a human has lifted is not reached."""
        meter.ledger.open("r", thresholds=Thresholds(same=2), asks=True)
        fail(meter, "r", 2)
        assert meter.values(STREAK, RUN, "errcompact.threshold") == {("r", "same"): 2}
        meter.ledger.answer("r", Continue())
        meter.ledger.open("r", thresholds=Thresholds(same=9), asks=True)
        fail(meter, "r", 2)
        assert meter.values(STREAK, RUN, "errcompact.threshold") == {("r", "same"): 0, ("r", ""): 2}

    @pytest.mark.parametrize("end", [lambda ledger: ledger.end("r"), lambda ledger: ledger.succeed("r", "db")])
    def test_a_series_that_is_over_is_forgotten(self, meter, end):
        """It is 0 twice, since a gauge without new points keeps its last value."""
        fail(meter, "r", 2)
        seen = [meter.values(STREAK, RUN)]
        end(meter.ledger)
        seen += [meter.values(STREAK, RUN) for _ in range(3)]
        assert seen == [{("r",): 2}, {("r",): 0}, {("r",): 0}, {}]

    def test_a_run_that_escalates_and_ends_between_two_collections(self, meter):
        """Its id is there for the alert, with no streak."""
        meter.ledger.open("r", agent="shop", thresholds=Thresholds(same=2), asks=True)
        key = fail(meter, "r", 2)
        meter.ledger.answer("r", Halt())
        meter.ledger.end("r")
        labels = (RUN, "gen_ai.agent.name", "gen_ai.tool.name", "errcompact.class", "errcompact.threshold")
        seen = [meter.values(STREAK, *labels) for _ in range(5)]
        assert seen == [{("r", "shop", "db", key, "same"): 0}] * 4 + [{}]

    def test_a_run_that_is_back(self, meter):
        """It counts again, and is over again."""
        seen = []
        for _ in range(2):
            fail(meter, "r", 2)
            seen.append(meter.values(STREAK, RUN))
            meter.ledger.succeed("r", "db")
            seen.append(meter.values(STREAK, RUN))
        assert seen == [{("r",): 2}, {("r",): 0}] * 2

    def test_the_newest_are_shown(self, meter):
        """A run that newer ones push out is not over: it is no more reported, and not as 0."""
        fail(meter, "first", 2)
        assert meter.values(STREAK, RUN) == {("first",): 2}
        for number in range(runs.MAX_RUNS):
            fail(meter, f"run {number}", 2)
        shown = meter.values(STREAK, RUN)
        assert (len(shown), ("first",) in shown) == (runs.MAX_RUNS, False)
        fail(meter, "first", 1)
        assert meter.values(STREAK, RUN)["first",] == 3

    def test_long_ids(self, meter):
        """An id has as many characters as other labels, on one line."""
        fail(meter, "a\n" + "x" * 500, 2)
        ((shown,),) = meter.values(STREAK, RUN)
        assert (len(shown), shown[:3]) == (120, "a x")

    def test_ids_do_not_pile_up(self, meter, monkeypatch):
        """Neither here nor in the SDK, which would fold those beyond 2000 into one point."""
        monkeypatch.setattr(runs, "MAX_RUNS", 4)
        for number in range(100):
            fail(meter, f"run {number}", 2)
            assert meter.values(STREAK, RUN)[f"run {number}",] == 2
            meter.ledger.end(f"run {number}")
        assert kept_by_the_sdk(meter, STREAK) <= 4
        assert len(meter.telemetry._run_readings._labels) <= 4
        assert len(meter.telemetry._instruments[0]._ended[STREAK]) <= 4

    def test_another_sdk(self):
        """Its instruments are left alone."""
        sdk.forget_series(object())

    def test_agents_beyond_the_bound_are_counted_once(self, meter, monkeypatch):
        """And not at each collection."""
        monkeypatch.setattr(meter.telemetry, "_agents", instruments.Labels(0))
        fail(meter, "r", 2)
        for _ in range(3):
            counted = meter.values("errcompact.internal.failures", "errcompact.stage")[("label_overflow",)]
        assert counted == meter.telemetry._agents.overflowed
        assert meter.values(STREAK, "gen_ai.agent.name") == {("other",): 2}
        assert meter.telemetry._agents.overflowed == counted

    def test_two_providers(self, meter):
        """Each reports the end of a series."""
        other = Metered(meter.ledger, meter.telemetry, InMemoryMetricReader())
        assert meter.telemetry.join(MeterProvider([other.reader], shutdown_on_exit=False), leave=False)
        fail(meter, "r", 2)
        assert [one.values(STREAK, RUN) for one in (meter, other)] == [{("r",): 2}] * 2
        meter.ledger.end("r")
        for expected in ({("r",): 0}, {("r",): 0}, {}):
            assert [one.values(STREAK, RUN) for one in (meter, other)] == [expected] * 2

    def test_a_process_shows_its_own_runs(self, tmp_path: Path):
        """Of runs that processes share, those that it works on."""
        address, options = f"sqlite:///{tmp_path}/runs.db", Options(thresholds=Thresholds(same=9))
        with closing(open_backend(address)) as here, closing(open_backend(address)) as there:
            first, second = metered(options, backend=here), metered(options, backend=there)
            first.ledger.open("r")
            fail(first, "r", 2)
            assert (first.values(STREAK, RUN), second.values(STREAK, RUN)) == ({("r",): 2}, {})
            second.ledger.open("r")
            fail(second, "r", 1)
            assert (first.values(STREAK, RUN), second.values(STREAK, RUN)) == ({("r",): 3}, {("r",): 3})

    @FORKS
    @pytest.mark.programs
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork(self, meter):
        """A child process has no run of its parent, not even as 0."""
        fail(meter, "r", 2)
        assert meter.values(STREAK, RUN) == {("r",): 2}
        child = os.fork()
        if child == 0:
            os._exit(len(meter.points(STREAK)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert meter.values(STREAK, RUN) == {("r",): 2}


class TestPending:
    LABELS = (RUN, "gen_ai.agent.name", "gen_ai.tool.name", "errcompact.threshold")
    PLACE = ("r", "shop", "query", "same")

    def test_while_a_handler_is_asked(self, meter):
        """The seconds since the threshold was reached, then 0 twice."""
        seen = []

        def handler(_: Escalation) -> Continue:
            time.sleep(0.02)
            seen.append(meter.values(PENDING, *self.LABELS))
            return Continue()

        with errcompact.run("r", agent="shop", ledger=meter.ledger, on_escalation=handler) as run:
            fail_calls(run, 3)
            run.check()
            seen += [meter.values(PENDING, *self.LABELS) for _ in range(3)]
        (waited,) = seen.pop(0).values()
        assert 0.02 <= waited < 60
        assert seen == [{self.PLACE: 0}, {self.PLACE: 0}, {}]

    async def test_while_a_handler_is_awaited(self, meter):
        """As in synchronous code; nothing waits for a collection."""
        seen = []

        async def handler(_: Escalation) -> Halt:
            await asyncio.sleep(0.02)
            seen.append(meter.values(PENDING, *self.LABELS))
            return Halt()

        async with errcompact.run("r", agent="shop", ledger=meter.ledger, on_escalation=handler) as run:
            fail_calls(run, 3)
            with pytest.raises(RunHalted):
                await run.acheck()
            seen.append(meter.values(PENDING, *self.LABELS))
        (waited,) = seen.pop(0).values()
        assert 0.02 <= waited < 60
        assert seen == [{self.PLACE: 0}]

    def test_pause(self, meter):
        """A paused run waits until it is resumed: `Pause` says that there is no answer yet."""
        with errcompact.run("r", ledger=meter.ledger, on_escalation=lambda _: Pause("ask Ann")) as run:
            fail_calls(run, 3)
            with pytest.raises(RunPaused):
                run.check()
            waits = [*meter.values(PENDING, RUN).values(), *meter.values(PENDING, RUN).values()]
            assert 0 < waits[0] < waits[1]
            run.resume("Ann says go")
            assert meter.values(PENDING, RUN) == {("r",): 0}

    def test_a_paused_run_that_ends(self, meter):
        """It waits for nothing any more."""
        with errcompact.run("r", ledger=meter.ledger, on_escalation=lambda _: Pause()) as run:
            fail_calls(run, 3)
            assert run.gate() is not None
            assert meter.values(PENDING, RUN)["r",] > 0
        assert [meter.values(PENDING, RUN) for _ in range(3)] == [{("r",): 0}, {("r",): 0}, {}]

    def test_a_refusal_that_escalates(self, meter):
        """The wait begins with the refusal, and not with the failure before it, minutes ago."""
        now_ns, minute_ns = time.time_ns(), 60_000_000_000
        meter.ledger.open("r", asks=True, thresholds=Thresholds(same=9, loop=3))
        error = RawError(text="KeyError: 'sku'", tool="db", arguments="{}", time_ns=now_ns - 4 * minute_ns)
        for _ in range(2):
            meter.ledger.observe("r", error)
        assert meter.ledger.refuse(Refused(run_id="r", tool="db", arguments="{}", time_ns=now_ns - minute_ns))
        for _ in range(2):
            (waited,) = meter.values(PENDING, RUN).values()
            assert 60 <= waited < 120

    def test_without_a_handler(self, meter):
        """Nothing is waited for."""
        with errcompact.run("r", ledger=meter.ledger) as run:
            fail_calls(run, 8)
            assert meter.points(PENDING) == {}

    def test_without_a_time(self, meter):
        """Since when is not known: nothing is reported, rather than 0."""
        meter.ledger.open("r", thresholds=Thresholds(same=2), asks=True)
        fail(meter, "r", 2)
        assert meter.points(PENDING) == {}

    def test_the_newest_are_shown(self, meter):
        """Those that have begun to wait last."""
        for number in range(runs.MAX_RUNS + 5):
            meter.ledger.open(f"run {number}", thresholds=Thresholds(same=2), asks=True)
            fail(meter, f"run {number}", 2, time_ns=number + 1)
        shown = meter.values(PENDING, RUN)
        assert set(shown) == {(f"run {number}",) for number in range(5, runs.MAX_RUNS + 5)}

    def test_a_question_that_another_process_asks(self, tmp_path: Path):
        """Each process in which the run has failed reports it, until it is answered."""
        address = f"sqlite:///{tmp_path}/runs.db"
        with closing(open_backend(address)) as here, closing(open_backend(address)) as there:
            first, second = metered(backend=here), metered(backend=there)
            for each in (first, second):
                each.ledger.open("r", thresholds=Thresholds(same=2), asks=True)
                fail(each, "r", 1, time_ns=time.time_ns())
            assert min(*first.values(PENDING, RUN).values(), *second.values(PENDING, RUN).values()) > 0
            second.ledger.answer("r", Continue())
            assert [each.values(PENDING, RUN) for each in (first, second)] == [{("r",): 0}] * 2


def fail_calls(run: errcompact.Run, times: int) -> None:
    for _ in range(times):
        run.fail("KeyError: 'sku'", tool="query")


class TestTokens:
    def test_of_a_run(self, meter):
        """The digests of all its failures, until the run is over."""
        observed = [meter.ledger.observe("r", raw(message)) for message in ("no", "never")]
        tokens = sum(observation.digest_tokens for observation in observed)
        seen = [meter.values(TOKENS, RUN, "gen_ai.agent.name")]
        meter.ledger.end("r")
        seen += [meter.values(TOKENS, RUN, "gen_ai.agent.name") for _ in range(5)]
        assert seen == [{("r", "shop"): value} for value in (tokens, tokens, tokens, 0, 0)] + [{}]

    def test_a_run_between_two_collections(self, meter):
        """It is reported after its end, if anything has failed in it."""
        tokens = meter.ledger.observe("r", raw()).digest_tokens
        meter.ledger.open("healthy")
        for run_id in ("healthy", "r"):
            meter.ledger.end(run_id)
        assert meter.values(TOKENS, RUN) == {("r",): tokens}

    def test_those_with_the_most(self, meter):
        """Of live runs and of those that have ended."""
        for number in range(2 * runs.MAX_RUNS):
            for run_id, message in ((f"small {number}", "no"), (f"big {number}", "no such table, or no such view")):
                meter.ledger.observe(run_id, raw(message))
                if number % 2:
                    meter.ledger.end(run_id)
        shown = meter.values(TOKENS, RUN)
        assert len(shown) == runs.MAX_RUNS
        assert {run_id.partition(" ")[0] for (run_id,) in shown} == {"big"}

    @FORKS
    @pytest.mark.programs
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork(self, meter):
        """A child process reports no run that has ended in its parent."""
        fail(meter, "r", 1)
        meter.ledger.end("r")
        child = os.fork()
        if child == 0:
            os._exit(len(list(meter.telemetry.run_points(STREAK))) + len(list(meter.telemetry.run_points(TOKENS))))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
