"""What an operator gets: metrics with exemplars and bounded labels, and a log record for each escalation."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import logging
import os
import sys
import threading
from collections import Counter, deque
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import Counter as CounterOfSDK
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    InMemoryMetricReader,
    MetricExporter,
    MetricExportResult,
    PeriodicExportingMetricReader,
)

from otel_errcompact.compactor.classify import Classified
from otel_errcompact.config import Options, TelemetryOptions
from otel_errcompact.engine.events import Refused, Repeated, Settled
from otel_errcompact.errors import Facts, Location, RawError, SpanRef
from otel_errcompact.escalator.actions import Halt
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.otel import sdk
from otel_errcompact.otel.metrics import instruments
from otel_errcompact.otel.metrics import labels as labels_of_metrics
from otel_errcompact.runtime.guard import Guard
from tests.otel.metrics.metering import Metered, metered, raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from opentelemetry.sdk.metrics.export import MetricsData


@pytest.fixture
def meter() -> Iterator[Metered]:
    made = metered()
    yield made
    made.telemetry.close()


SUITE = """\
FAILED tests/test_cart.py::test_add - ValueError: bad id
FAILED tests/test_cart.py::test_pay - ValueError: bad id
==================== 2 failed, 2 passed in 0.12s ====================
"""
PERMANENT = RawError(text="KeyError: 'sku'", tool="db", arguments="{}")
"""One that waiting does not mend, so that the identical call is refused in the end."""


class TestErrors:
    def test_occurrences(self, meter):
        """Occurrences are counted by type, tool, agent, class and outcome."""
        observation = meter.ledger.observe("r", raw())
        meter.ledger.observe("r", raw())
        labels = ("error.type", "gen_ai.tool.name", "gen_ai.agent.name", "errcompact.class", "errcompact.outcome")
        key = observation.found.key
        assert meter.values("errcompact.errors", *labels) == {
            ("ConnectionError", "db", "shop", key, "new"): 1,
            ("ConnectionError", "db", "shop", key, "repeat"): 1,
        }

    def test_handled(self, meter):
        """Handled failures are counted as that."""
        meter.ledger.handled("r", raw())
        assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): 1}

    def test_after_escalation(self, meter):
        """Failures that go on after an escalation nobody lifted are counted apart."""
        for _ in range(5):
            meter.ledger.observe("r", raw())
        assert meter.values("errcompact.errors", "errcompact.outcome") == {
            ("new",): 1,
            ("repeat",): 2,
            ("after_escalation",): 2,
        }

    def test_unknown_labels(self, meter):
        """A label whose value is not known is left out."""
        meter.ledger.observe("r", raw(agent="", tool=""))
        (point,) = meter.points("errcompact.errors").values()
        assert set(point.attributes) == {"error.type", "errcompact.class", "errcompact.outcome", "errcompact.certainty"}

    def test_run_is_no_label(self, meter):
        """The run's id never becomes an attribute of a counter; see `test_runs.py`."""
        for run_id in ("run-1", "run-2"):
            for _ in range(2):
                meter.ledger.observe(run_id, raw())
        named = {name for name, metric in meter.metrics().items() if "run-1" in str(metric)}
        assert {name.rpartition(".")[0] for name in named} == {"errcompact.run"}

    def test_secrets(self, meter):
        """No secret of a message gets into an attribute."""
        secret = "ghp_" + "a1B2" * 9
        meter.ledger.observe("r", raw(f"bad token {secret} refused"))
        assert secret not in str(meter.metrics())


class TestExemplars:
    def test_span_of_the_occurrence(self, meter):
        """The exemplar leads to the span of the occurrence, not to the one that happens to be current."""
        meter.ledger.observe("r", raw(span=SpanRef(trace_id=0xA, span_id=0xB)))
        (point,) = meter.points("errcompact.errors").values()
        (exemplar,) = point.exemplars
        assert (exemplar.trace_id, exemplar.span_id) == (0xA, 0xB)

    def test_unsampled(self, meter):
        """A span that is not exported is no exemplar."""
        meter.ledger.observe("r", raw(span=SpanRef(trace_id=0xA, span_id=0xB, sampled=False)))
        (point,) = meter.points("errcompact.errors").values()
        assert not point.exemplars

    def test_handled(self, meter):
        """Handled failures have exemplars too."""
        meter.ledger.handled("r", raw(span=SpanRef(trace_id=0xA, span_id=0xB)))
        (point,) = meter.points("errcompact.errors").values()
        assert point.exemplars[0].span_id == 0xB

    def test_newest_of_many(self, meter):
        """Of many occurrences the newest one whose span is exported has the exemplar, also that of their duration."""
        for number in range(1, 6):
            span = SpanRef(trace_id=0xA, span_id=number, sampled=number < 4)
            meter.ledger.handled("r", raw(span=span))
            meter.ledger.observe("r", raw(span=span))
        found = meter.metrics()
        points = found["errcompact.errors"].data.data_points
        handled = next(point for point in points if point.attributes["errcompact.outcome"] == "handled")
        assert (handled.value, [one.span_id for one in handled.exemplars]) == (5, [3])
        (point,) = found["errcompact.compaction.duration"].data.data_points
        assert [one.span_id for one in point.exemplars] == [3]


class TestHandOver:
    """Counts wait in one cell for each series, until the SDK collects."""

    def test_calls_of_the_sdk(self, meter, monkeypatch):
        """A collection calls the SDK once for each series, and for the newest durations, however many failures wait."""
        monkeypatch.setattr(meter.telemetry, "_durations", deque(maxlen=10))
        (used,) = meter.telemetry._instruments
        calls: Counter[str] = Counter()
        for name, counter in used.counters.items():
            monkeypatch.setitem(used.counters, name, Spied(counter.add, name, calls))
        monkeypatch.setattr(used, "duration", Spied(used.duration.record, "duration", calls))
        for _ in range(100):
            for tool in ("db", "files"):
                meter.ledger.observe("r", raw(tool=tool))
                meter.ledger.handled("r", raw(tool=tool))
        assert not calls
        found = meter.values("errcompact.errors", "gen_ai.tool.name", "errcompact.outcome")
        assert calls["errcompact.errors"] == len(found)
        assert calls["duration"] == 10
        assert sum(found.values()) == 400

    def test_several_collections(self, meter):
        """Sums go on, and a series in which nothing has happened keeps its count."""
        for count in (1, 2, 3):
            meter.ledger.handled("r", raw())
            assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): count}
        assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): 3}

    def test_several_readers(self):
        """Each reader of a provider gets the whole count, with its own temporality."""
        whole = InMemoryMetricReader()
        steps = InMemoryMetricReader({CounterOfSDK: AggregationTemporality.DELTA})
        meter = metered(provider=MeterProvider([whole, steps], shutdown_on_exit=False))
        meter.reader = whole
        other = Metered(meter.ledger, meter.telemetry, steps)
        for times in (3, 4):
            for _ in range(times):
                meter.ledger.handled("r", raw())
            assert other.values("errcompact.errors", "errcompact.outcome") == {("handled",): times}
        assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): 7}

    def test_end_of_the_provider(self):
        """What waits when the process ends is handed over by the last collection."""
        exporter = InMemoryExporter()
        provider = MeterProvider([PeriodicExportingMetricReader(exporter, 3_600_000)], shutdown_on_exit=False)
        meter = metered(provider=provider)
        for _ in range(3):
            meter.ledger.handled("r", raw())
        provider.shutdown()
        assert exporter.sums["errcompact.errors"] == 3

    @pytest.mark.usefixtures("untraced")
    def test_threads(self, meter):
        """Threads that count while others collect lose nothing: as many as a counter behind a lock has counted."""
        counted: Counter[tuple[str, str]] = Counter()
        lock, rounds = threading.Lock(), 150
        done = threading.Event()

        def fail(thread: int) -> None:
            for number in range(rounds):
                tool = f"tool {(thread + number) % 3}"
                meter.ledger.handled(f"run {thread}", raw(tool=tool))
                outcome = meter.ledger.observe(f"run {thread}", raw(tool=tool)).outcome
                with lock:
                    counted.update([(tool, "handled"), (tool, outcome)])

        def collect() -> None:
            while not done.is_set():
                meter.reader.collect()

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            failing = [threading.Thread(target=fail, args=(number,)) for number in range(4)]
            collecting = [threading.Thread(target=collect) for _ in range(2)]
            for thread in (*failing, *collecting):
                thread.start()
            for thread in failing:
                thread.join()
            done.set()
            for thread in collecting:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        labels = ("gen_ai.tool.name", "errcompact.outcome")
        assert meter.values("errcompact.errors", *labels) == counted
        assert len(meter.telemetry._waiting) == 0

    def test_interrupted(self, meter):
        """A signal handler that fails, or collects, between any two lines of a hand-over counts as all others do."""
        lines = interrupted_at_each_line(
            lambda: (meter.ledger.handled("r", raw()), meter.telemetry.flush()),
            lambda: (meter.ledger.handled("other", raw()), meter.telemetry.flush()),
            instruments.__file__,
            labels_of_metrics.__file__,
        )
        assert lines > 10
        assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): 2 * lines + 1}

    def test_hand_over_is_given_up(self, meter):
        """An interrupt that raises in the middle of a hand-over loses no count, and counts none twice."""
        for event in itertools.count():
            meter.ledger.handled("r", raw())
            with raised_at(event, instruments.__file__, labels_of_metrics.__file__) as raised:
                meter.telemetry.flush()
            if not raised:
                break
        assert event > 10
        assert meter.values("errcompact.errors", "errcompact.outcome") == {("handled",): event + 1}

    def test_count_is_given_up(self, meter):
        """An interrupt that raises in the middle of a count leaves it made or not made, and all others as they are."""
        for event in itertools.count():
            with raised_at(event, instruments.__file__, labels_of_metrics.__file__) as raised:
                meter.ledger.handled("r", raw())
            if not raised:
                break
            meter.ledger.handled("r", raw())
        assert event > 10
        (counted,) = meter.values("errcompact.errors", "errcompact.outcome").values()
        assert event + 1 <= counted <= 2 * event + 1
        assert not any(cell.count for cell in meter.telemetry._series.values())


@contextlib.contextmanager
def raised_at(event: int, *files: str) -> Iterator[list[bool]]:
    """
    Raise once at an event of these files' code, and swallow it; the list is empty if there are fewer events.

    Events are where CPython looks for signals: a function is entered, or has returned.
    """
    left = event
    raised: list[bool] = []

    def profile(frame: FrameType, _: str, __: object) -> None:
        nonlocal left
        if frame.f_code.co_filename in files:
            left -= 1
            if left == -1:
                raised.append(True)
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        yield raised
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)


def interrupted_at_each_line(call: Callable[[], object], interrupt: Callable[[], object], *files: str) -> int:
    """Make a call again and again, interrupted at its first line, its second, and so on; return how many it has."""
    for line in itertools.count():
        left = line

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in files:
                return None
            if event == "line":
                left -= 1
                if left == -1:
                    sys.settrace(None)
                    interrupt()
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
        if left >= 0:
            return line
    raise AssertionError("there is no end")


class Spied:
    """An instrument whose calls are counted."""

    def __init__(self, call: Callable[..., None], name: str, calls: Counter[str]) -> None:
        def spy(*arguments: Any) -> None:
            calls[name] += 1
            call(*arguments)

        self.add = self.record = spy


class InMemoryExporter(MetricExporter):
    """Sums up what it gets of each metric."""

    def __init__(self) -> None:
        super().__init__()
        self.sums: dict[str, float] = {}

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> MetricExportResult:
        for scope in (scope for one in metrics_data.resource_metrics for scope in one.scope_metrics):
            for metric in scope.metrics:
                self.sums[metric.name] = sum(getattr(point, "value", 0) for point in metric.data.data_points)
        return MetricExportResult.SUCCESS

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        pass

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return True


def _tokens(meter: Metered) -> int:
    return sum(tokens for _, tokens in meter.telemetry.context_tokens())


def _durations(meter: Metered) -> deque[Any]:
    return meter.telemetry._durations


class TestOtherInstruments:
    def test_units_and_descriptions(self, meter):
        """Every instrument has the unit the design gives it, and says what it counts."""
        meter.ledger.open("r")
        for _ in range(3):
            meter.ledger.observe("r", PERMANENT)
        meter.ledger.refuse(Refused(run_id="r", tool="db", arguments="{}"))
        meter.ledger.succeed("r", "db")
        meter.ledger.apply(Repeated(run_id="r", tool="db"))
        meter.ledger.observe("r", raw(SUITE))
        meter.ledger.end("r")
        meter.ledger.open("s", asks=True)
        for _ in range(3):
            meter.ledger.observe("s", raw(time_ns=1))
        meter.ledger.guard.failures["on_end"] += 1
        found = meter.metrics()
        assert {name: metric.unit for name, metric in found.items()} == {
            "errcompact.errors": "{error}",
            "errcompact.class.info": "{class}",
            "errcompact.run.streak": "{error}",
            "errcompact.run.pending": "s",
            "errcompact.run.tokens": "{token}",
            "errcompact.class.tokens": "{token}",
            "errcompact.escalations": "{escalation}",
            "errcompact.resolutions": "{error}",
            "errcompact.refusals": "{call}",
            "errcompact.repeats": "{call}",
            "errcompact.members": "{error}",
            "errcompact.runs": "{run}",
            "errcompact.context.tokens": "{token}",
            "errcompact.compaction.duration": "s",
            "errcompact.internal.failures": "{failure}",
        }
        assert all(metric.description.endswith(".") for metric in found.values())

    def test_class_info(self, meter):
        """What a class key means can be joined on."""
        observation = meter.ledger.observe("r", raw("port 5432 refused"))
        labels = ("errcompact.class", "error.type", "errcompact.template")
        assert meter.values("errcompact.class.info", *labels) == {
            (observation.found.key, "ConnectionError", observation.found.template): 1
        }

    def test_advice(self, meter):
        """What agents are advised, and that waiting helps, where a class says so; also after a handled failure."""
        labels = ("errcompact.template", "errcompact.hint", "errcompact.transient")
        texts = ("KeyError: 'sku'", "sh: 1: jq: command not found", "OperationalError: database is locked")
        for handle in (meter.ledger.handled, meter.ledger.observe):
            for text in texts:
                handle("r", RawError(text=text, tool="bash"))
            found = sorted(key[1:] for key in meter.values("errcompact.class.info", *labels))
            if handle == meter.ledger.handled:
                assert found == [("", "")] * 3
        locked = "another connection is writing: close it, shorten its transaction, or set a busy time-out"
        assert found == [("", ""), (locked, "true"), ("the program is not installed or not on PATH", "")]

    def test_tokens(self, meter):
        """The tokens of raw errors and of their digests are summed up by agent, beside a sign of life for each form."""
        forms = (("raw",), ("sent",), ("digest",))
        assert meter.values("errcompact.context.tokens", "errcompact.form") == dict.fromkeys(forms, 0)
        observations = [meter.ledger.observe("r", raw("x" * 400)) for _ in range(2)]
        meter.ledger.handled("r", raw(agent="helper"))
        raw_tokens, digest_tokens = (
            sum(getattr(observation, name) for observation in observations) for name in ("raw_tokens", "digest_tokens")
        )
        assert meter.values("errcompact.context.tokens", "errcompact.form", "gen_ai.agent.name") == {
            **{(form, agent): 0 for (form,) in forms for agent in ("", "helper")},
            ("raw", "shop"): raw_tokens,
            ("sent", "shop"): raw_tokens,
            ("digest", "shop"): digest_tokens,
        }

    def test_tokens_without_an_agent(self, meter):
        """They are in the point that is a sign of life."""
        tokens = meter.ledger.observe("r", raw(agent="")).raw_tokens
        values = meter.values("errcompact.context.tokens", "errcompact.form", "gen_ai.agent.name")
        assert (len(values), values["raw", ""]) == (3, tokens)

    def test_tokens_of_classes(self, meter):
        """What the agent read of each class, whatever its outcome."""
        observations = [meter.ledger.observe("r", raw(message)) for message in ("no", "no", "never")]
        meter.ledger.handled("r", raw("handled"))
        expected: Counter[tuple[str, str]] = Counter()
        for observation in observations:
            expected[observation.found.key, "shop"] += observation.digest_tokens
        assert meter.values("errcompact.class.tokens", "errcompact.class", "gen_ai.agent.name") == expected

    def test_duration(self, meter):
        """What the compaction cost is measured in seconds."""
        meter.ledger.observe("r", raw())
        (point,) = meter.points("errcompact.compaction.duration").values()
        assert (point.count, point.sum) == (1, 0.00025)

    def test_resolutions(self, meter):
        """Recoveries are counted by class and tool, and those that are taken back beside them."""
        key = meter.ledger.observe("r", raw(arguments="{}")).found.key
        meter.ledger.succeed("r", "db", arguments='{"sql": "select 1"}')
        labels = ("errcompact.class", "gen_ai.tool.name", "errcompact.resolution")
        assert meter.values("errcompact.resolutions", *labels) == {(key, "db", "resolved"): 1}
        meter.ledger.observe("r", raw(arguments="{}"))
        assert meter.values("errcompact.resolutions", *labels) == {
            (key, "db", "resolved"): 1,
            (key, "db", "taken_back"): 1,
        }

    def test_refusals(self, meter):
        """Calls that were not executed again are counted by class, tool and agent, and are no occurrences."""
        meter.ledger.open("r", agent="shop")
        for _ in range(2):
            key = meter.ledger.observe("r", PERMANENT).found.key
        for _ in range(3):
            assert meter.ledger.refuse(Refused(run_id="r", tool="db", arguments="{}"))
        labels = ("errcompact.class", "gen_ai.tool.name", "gen_ai.agent.name")
        assert meter.values("errcompact.refusals", *labels) == {(key, "db", "shop"): 3}
        assert sum(meter.values("errcompact.errors", "errcompact.outcome").values()) == 2

    def test_repeats(self, meter):
        """Identical successes are counted by tool and agent, and are no occurrences."""
        meter.ledger.open("r", agent="shop")
        for _ in range(2):
            meter.ledger.apply(Repeated(run_id="r", tool="poll"))
        assert meter.values("errcompact.repeats", "gen_ai.tool.name", "gen_ai.agent.name") == {("poll", "shop"): 2}
        assert "errcompact.errors" not in meter.metrics()
        assert meter.ledger.report("r").repeats == 2

    def test_members(self, meter):
        """Each red test of a suite is counted by its name, once for each output, whichever class the suite is of."""
        for text in (SUITE, SUITE.replace("test_pay", "test_tax")):
            meter.ledger.observe("r", RawError(text=text, tool="bash"))
        assert meter.values("errcompact.members", "errcompact.member", "gen_ai.tool.name") == {
            ("test_add", "bash"): 2,
            ("test_pay", "bash"): 1,
            ("test_tax", "bash"): 1,
        }

    def test_a_member_that_is_a_path_has_no_folder_of_the_machine(self, meter):
        """As the places of classes have none."""
        facts = Facts(type="E", cause="no", names=("/srv/build/17/shop/tests/cart.py", r"Shop\Cart::test_add"))
        found = Classified(facts=facts, key="k", template="no")
        meter.telemetry.count_observation(replace(meter.ledger.observe("r", raw()), found=found))
        names = meter.values("errcompact.members", "errcompact.member")
        assert names == {("shop/tests/cart.py",): 1, (r"Shop\Cart::test_add",): 1}

    def test_runs(self, meter):
        """Runs are counted by how they ended, and by the agent where it is known."""
        meter.ledger.observe("unresolved", raw())
        meter.ledger.open("clean")
        for run_id in ("unresolved", "clean"):
            meter.ledger.end(run_id)
        meter.ledger.open("failed", agent="shop")
        meter.ledger.end("failed", failed=True)
        assert meter.values("errcompact.runs", "errcompact.result", "gen_ai.agent.name") == {
            ("unresolved", "shop"): 1,
            ("clean", ""): 1,
            ("failed", "shop"): 1,
        }

    def test_internal_failures(self):
        """Our own faults, forgotten runs and labels beyond their bound are counted by stage."""
        limits = MemoryLimits(runs=1)
        meter = metered(Options(memory=limits, telemetry=TelemetryOptions(class_labels=1)))
        meter.ledger.guard.failures["on_end"] += 2
        for number, name in enumerate(("alpha", "beta", "gamma")):
            meter.ledger.observe(f"run {number}", raw(f"no {name}"))
        assert meter.values("errcompact.internal.failures", "errcompact.stage") == {
            ("on_end",): 2,
            ("run_evicted",): 2,
            ("class_label_overflow",): 2,
        }


class TestEscalations:
    @pytest.fixture
    def attended(self, meter) -> Metered:
        meter.ledger.open("r", agent="shop", thresholds=Thresholds(same=2), asks=True)
        for _ in range(2):
            meter.ledger.observe("r", raw(span=SpanRef(trace_id=0xA, span_id=0xB)))
        return meter

    def test_unanswered(self, attended):
        """A breach is counted when it is answered."""
        assert attended.points("errcompact.escalations") == {}

    def test_answered(self, attended):
        """It is counted by threshold, by what was done about it, and by whose class of error it was."""
        ((key,),) = attended.values("errcompact.run.streak", "errcompact.class")
        attended.ledger.answer("r", Halt("enough"))
        labels = ("errcompact.threshold", "errcompact.action", "gen_ai.agent.name", "errcompact.class")
        assert attended.values("errcompact.escalations", *labels) == {("same", "halt", "shop", key): 1}

    def test_unhandled(self, meter):
        """Without a handler it is unhandled, in a run that is opened as in one that is not."""
        meter.ledger.open("opened")
        for run_id in ("opened", "known from its spans"):
            for _ in range(3):
                meter.ledger.observe(run_id, raw())
        assert meter.values("errcompact.escalations", "errcompact.action") == {("unhandled",): 2}

    def test_loop(self, meter):
        """A loop is reported, and halts where no handler decides: two escalations of one threshold."""
        meter.ledger.open("r", thresholds=Thresholds(same=100))
        for _ in range(6):
            meter.ledger.observe("r", raw(arguments="{}"))
        assert meter.values("errcompact.escalations", "errcompact.threshold", "errcompact.action") == {
            ("loop", "unhandled"): 1,
            ("loop", "halt"): 1,
        }

    def test_log_record(self, meter, caplog):
        """A breach is a log record at ERROR, with attributes that a handler can export."""
        for _ in range(3):
            key = meter.ledger.observe("r", raw()).found.key
        (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert record.name == "otel_errcompact"
        assert record.getMessage() == (
            "escalation, unhandled: one error class keeps recurring (3 of 3): [ConnectionError] no such host "
            "(agent shop, run r, call db, class #200a)"
        )
        expected = {
            "errcompact.run.id": "r",
            "gen_ai.agent.name": "shop",
            "gen_ai.tool.name": "db",
            "errcompact.threshold": "same",
            "errcompact.class": key,
            "error.type": "ConnectionError",
        }
        assert {name: record.__dict__[name] for name in expected} == expected

    @pytest.mark.parametrize(
        ("answer", "level"),
        [
            (lambda ledger: ledger.answer("r", Halt("enough")), logging.WARNING),
            (
                lambda ledger: ledger.apply(Settled(run_id="r", action=None, message="the handler failed")),
                logging.ERROR,
            ),
            (lambda ledger: ledger.close("r"), logging.ERROR),
        ],
        ids=["handler", "failed", "never"],
    )
    def test_severity(self, attended, caplog, answer, level):
        """An error only where no handler has answered, and nothing before it is known."""
        assert caplog.records == []
        answer(attended.ledger)
        (record,) = [record for record in caplog.records if hasattr(record, "errcompact.class")]
        assert record.levelno == level

    def test_sentry(self, meter):
        """A Sentry that is loaded has an issue for each class, and not one for all escalations."""
        sentry_sdk = pytest.importorskip("sentry_sdk")
        events = []

        class Kept(sentry_sdk.transport.Transport):
            def capture_envelope(self, envelope):
                events.append(envelope.get_event())

        logs = importlib.import_module("sentry_sdk.integrations.logging").LoggingIntegration()
        settings = {"default_integrations": False, "release": "1", "auto_session_tracking": False}
        sentry_sdk.init(dsn="https://key@sentry.invalid/1", transport=Kept, integrations=[logs], **settings)
        try:
            keys = [
                meter.ledger.observe("r", RawError(text=text, tool="db")).found.key
                for text in ("KeyError: 'sku'", "ValueError: no tea")
                for _ in range(3)
            ]
            logging.getLogger("shop").error("another error")
        finally:
            sentry_sdk.init(**settings)
        grouped = [event.get("fingerprint") for event in events]
        assert grouped == [["otel_errcompact", keys[0]], ["otel_errcompact", keys[3]], None]


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("{cwd}/shop/orders.py", "shop/orders.py"),
        ("{imported}/httpx/_models.py", "httpx/_models.py"),
        ("/srv/elsewhere/app/shop/orders.py", "app/shop/orders.py"),
        ("C:\\Users\\ann\\app\\orders.py", "ann/app/orders.py"),
        ("shop/orders.py", "shop/orders.py"),
    ],
)
def test_a_label_names_no_folder_of_the_machine(file, shown, tmp_path, monkeypatch):
    """A class is one over all machines: the place is relative to the working directory or to where it is imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    path = file.format(cwd=tmp_path, imported=tmp_path / "site-packages")
    assert labels_of_metrics.shorten_place(Location(function="pay", file=path, line=7)) == f"pay ({shown}:7)"


class TestBounds:
    def test_class_labels(self):
        """The first classes of a process get their key as label, later ones are `other`, and that is counted."""
        meter = metered(Options(telemetry=TelemetryOptions(class_labels=2)))
        keys = [meter.ledger.observe("r", raw(f"no {name}")).found.key for name in ("alpha", "beta", "gamma", "delta")]
        assert meter.values("errcompact.errors", "errcompact.class") == {(keys[0],): 1, (keys[1],): 1, ("other",): 2}
        assert set(meter.values("errcompact.class.info", "errcompact.class")) == {(keys[0],), (keys[1],)}
        assert meter.values("errcompact.internal.failures", "errcompact.stage") == {("class_label_overflow",): 2}

    def test_texts_that_there_was_no_time_to_read(self, monkeypatch):
        """Each is a class of its own, and none takes the label of a class that is known."""
        meter = metered(Options(telemetry=TelemetryOptions(class_labels=2)))
        monkeypatch.setattr("otel_errcompact.engine.load.BURST_NS", -1)
        for name in ("alpha", "beta", "gamma"):
            meter.ledger.observe("r", raw(f"no {name}"))
        assert meter.values("errcompact.errors", "errcompact.class") == {("other",): 3}
        assert meter.values("errcompact.internal.failures", "errcompact.stage") == {("class_unread",): 3}

    def test_tools_agents_and_types(self, meter, monkeypatch):
        """Names of tools, agents and types are bounded too, since an application may make them up."""
        for number in range(instruments.MAX_AGENTS + 1):
            meter.ledger.observe("r", raw(agent=f"agent {number}"))
        agents = meter.values("errcompact.errors", "gen_ai.agent.name")
        assert len(agents) == instruments.MAX_AGENTS + 1
        assert agents[("other",)] == 1
        assert meter.values("errcompact.internal.failures", "errcompact.stage") == {("label_overflow",): 1}

    def test_series(self, monkeypatch):
        """However the labels combine, a counter's attribute sets stay below what the SDK folds into one point."""
        monkeypatch.setattr(instruments, "MAX_SERIES", 3)
        meter = metered()
        for number in range(6):
            meter.ledger.observe("r", raw(tool=f"tool {number}"))
        counts = meter.values("errcompact.errors", "gen_ai.tool.name", "errcompact.class")
        assert len(counts) == 4
        assert counts[("", "other")] == 3
        assert meter.values("errcompact.internal.failures", "errcompact.stage") == {("label_overflow",): 3}

    def test_series_of_escalations_and_resolutions(self, monkeypatch):
        """The other counters with a class are bounded too; what breached and what was done about it stays told."""
        monkeypatch.setattr(instruments, "MAX_SERIES", 1)
        meter = metered(Options(thresholds=Thresholds(same=1)))
        for number in range(3):
            meter.ledger.observe(f"run {number}", raw(tool=f"tool {number}", agent=f"agent {number}"))
            meter.ledger.succeed(f"run {number}", f"tool {number}")
        labels = ("errcompact.threshold", "errcompact.action", "gen_ai.agent.name")
        assert meter.values("errcompact.escalations", *labels) == {
            ("same", "unhandled", "agent 0"): 1,
            ("same", "unhandled", ""): 2,
        }
        assert meter.values("errcompact.resolutions", "gen_ai.tool.name") == {("tool 0",): 1, ("",): 2}

    def test_names_without_a_label_of_their_own_are_not_kept(self, monkeypatch):
        """However many tools an application makes up."""
        monkeypatch.setattr(instruments, "MAX_TOOLS", 1)
        monkeypatch.setattr(instruments, "MAX_SERIES", 5)
        meter = metered()
        for number in range(20):
            meter.ledger.observe("r", raw(tool=f"tool {number}"))
        assert meter.values("errcompact.errors", "gen_ai.tool.name", "errcompact.outcome") == {
            ("tool 0", "new"): 1,
            ("other", "repeat"): 19,
        }
        assert len(meter.telemetry._series) <= 5

    def test_long_names(self, meter):
        """A label has at most 120 characters."""
        meter.ledger.observe("r", raw(tool="t" * 10_000))
        assert list(meter.values("errcompact.errors", "gen_ai.tool.name")) == [("t" * 120,)]


class TestInstruments:
    def test_again_on_one_provider(self, caplog):
        """A second telemetry on one meter provider uses the same instruments, without a warning."""
        reader = InMemoryMetricReader()
        provider = MeterProvider([reader], shutdown_on_exit=False)
        first = metered(provider=provider)
        first.ledger.observe("r", raw())
        first.telemetry.close()
        second = metered(provider=provider)
        second.reader = reader
        second.ledger.observe("r", raw("another"))
        assert caplog.records == []
        assert len(second.points("errcompact.errors")) == 2
        assert len(second.points("errcompact.run.tokens")) == 1

    def test_two_ledgers(self):
        """Two ledgers on one meter provider add up; the longer streak wins."""
        reader = InMemoryMetricReader()
        provider = MeterProvider([reader], shutdown_on_exit=False)
        first, second = metered(provider=provider), metered(provider=provider)
        first.reader = reader
        tokens = [first.ledger.observe("r", raw()).raw_tokens, second.ledger.observe("r", raw()).raw_tokens]
        second.ledger.observe("r", raw())
        assert first.values("errcompact.run.streak", "gen_ai.tool.name") == {("db",): 2}
        found = first.values("errcompact.context.tokens", "errcompact.form", "gen_ai.agent.name")
        assert found["raw", "shop"] == sum(tokens) + tokens[1]

    def test_placeholder(self, monkeypatch):
        """Before the application sets its meter provider counts wait for it, however many series there are."""
        monkeypatch.setattr(instruments, "MAX_WAITING", 1)
        placeholder = type(
            "_ProxyMeterProvider", (metrics.NoOpMeterProvider,), {"__module__": "opentelemetry.metrics"}
        )()
        chosen: list[metrics.MeterProvider] = [placeholder]
        monkeypatch.setattr(metrics, "get_meter_provider", lambda: chosen[-1])
        meter = metered(provider=placeholder)
        for _ in range(5):
            meter.ledger.handled("r", raw())
            meter.ledger.handled("r", raw(tool="files"))
        meter.telemetry.flush()
        chosen.append(MeterProvider([meter.reader], shutdown_on_exit=False))
        meter.ledger.observe("r", raw())
        assert meter.values("errcompact.errors", "gen_ai.tool.name", "errcompact.outcome") == {
            ("db", "handled"): 5,
            ("files", "handled"): 5,
            ("db", "new"): 1,
        }
        assert list(meter.values("errcompact.run.tokens", "errcompact.run.id")) == [("r",)]

    def test_closed_before_there_is_a_provider(self):
        """Closed before there is any, it has nothing to take back."""
        placeholder = type(
            "_ProxyMeterProvider", (metrics.NoOpMeterProvider,), {"__module__": "opentelemetry.metrics"}
        )()
        meter = metered(provider=placeholder)
        meter.telemetry._meter_provider = placeholder
        meter.telemetry.close()

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork(self, meter):
        """A child process does not report again what its parent has to report."""
        meter.ledger.observe("r", raw())
        child = os.fork()
        if child == 0:
            os._exit(_tokens(meter) + len(meter.telemetry._waiting) + len(_durations(meter)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert _tokens(meter) > 0

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_fork_while_a_series_is_handed_over(self, meter):
        """Another thread had a count of the parent in its hands then: the child counts from zero, and hands over."""
        meter.ledger.handled("r", raw())
        meter.telemetry._waiting.clear()
        child = os.fork()
        if child == 0:
            meter.ledger.handled("r", raw())
            os._exit(meter.telemetry._waiting[0].count)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    @pytest.mark.parametrize("counted", [None, "errors", "escalations", "resolutions"])
    def test_fork_while_a_label_is_learnt(self, meter, counted):
        """Another thread held the lock then: in the child nobody does, who would not release it."""
        bounded = meter.telemetry._counted[f"errcompact.{counted}"] if counted else meter.telemetry._classes
        with bounded._lock:
            child = os.fork()
            if child == 0:
                os._exit(bounded._lock.is_mine())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_forked_process_counts_from_zero(self, meter):
        """The SDK gives it an identity of its own and keeps its parent's counts, which would then be counted twice."""
        for _ in range(5):
            meter.ledger.observe("r", raw())
        meter.ledger.guard.record_loss("export_dropped", 4)
        before = sum(meter.values("errcompact.errors", "errcompact.outcome").values())
        child = os.fork()
        if child == 0:
            meter.ledger.observe("r", raw())
            meter.ledger.guard.record_loss("export_dropped", 3)
            seen = (
                sum(meter.values("errcompact.errors", "errcompact.outcome").values()),
                meter.values("errcompact.internal.failures", "errcompact.stage"),
                [point.count for point in meter.points("errcompact.compaction.duration").values()],
            )
            os._exit(0 if seen == (1, {("export_dropped",): 3}, [1]) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        after = sum(meter.values("errcompact.errors", "errcompact.outcome").values())
        assert (before, after, meter.values("errcompact.internal.failures", "errcompact.stage")) == (
            5,
            5,
            {("export_dropped",): 4},
        )

    @pytest.mark.programs
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_process_forked_during_a_collection_collects(self, meter):
        """Another thread held the SDK's locks then, which nothing would release: the end of the child would hang."""
        consumer = meter.telemetry._instruments[0].duration._measurement_consumer
        (storage,) = consumer._reader_storages.values()
        with consumer._lock:
            child = os.fork()
            if child == 0:
                os._exit(consumer._lock.locked() or len(storage._instrument_view_instrument_matches))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def test_another_sdk_s_instrument_keeps_its_counts(self):
        """What is not where it was is left alone."""
        sdk.forget_counts(SimpleNamespace(_measurement_consumer=SimpleNamespace(_reader_storages=None)), ("a",))

    def test_collected_by_two_at_once(self, meter):
        """Of two readers that collect at once one hands a series over, and the other finds nothing left."""
        meter.telemetry._hand_over_oldest(meter.telemetry._instruments)
        meter.telemetry._hand_over_duration(meter.telemetry._instruments)
        assert meter.points("errcompact.errors") == {}

    def test_never_collected(self, meter, monkeypatch):
        """Without a collection series do not pile up: the oldest are handed over at once."""
        monkeypatch.setattr(instruments, "MAX_WAITING", 2)
        for number in range(5):
            for _ in range(3):
                meter.ledger.handled("r", raw(tool=f"tool {number}"))
        assert len(meter.telemetry._waiting) == 2
        assert meter.values("errcompact.errors", "gen_ai.tool.name") == {(f"tool {number}",): 3 for number in range(5)}

    def test_own_fault(self, monkeypatch):
        """A fault of the instruments never reaches the application."""
        monkeypatch.setattr(Guard, "strict", False)
        meter = metered()
        broken = SimpleNamespace(add=lambda *_: 1 / 0)
        monkeypatch.setitem(meter.telemetry._instruments[0].counters, "errcompact.errors", broken)
        meter.ledger.handled("r", raw())
        meter.telemetry.flush()
        assert meter.ledger.guard.failures == {"instruments": 1}
