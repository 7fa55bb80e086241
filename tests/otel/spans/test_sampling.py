"""Spans that the sampler drops: what is told of them all the same, and what recording them takes."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanLimits, TracerProvider, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.sdk.version import __version__ as sdk_version

from otel_errcompact.boundary import run
from otel_errcompact.config import Options, TelemetryOptions, TrajectoryOptions
from otel_errcompact.installation import install as installation
from otel_errcompact.installation.install import Installation, install, uninstall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.trace import Tracer

pytestmark = pytest.mark.usefixtures("own_log")

RECORDING = Options(
    telemetry=TelemetryOptions(record_unsampled=True),
    trajectory=TrajectoryOptions(path=Path("errcompact-trajectory.jsonl")),
)
HAS_SAMPLER = hasattr(sampling, "AlwaysRecordSampler")

records_all = pytest.mark.skipif(not HAS_SAMPLER, reason="this SDK has no sampler that records everything")


class Telemetry:
    """What reaches the operator: spans, metrics and the trajectory file, from real providers."""

    def __init__(self, folder: Path, sampler: Sampler | None = None, limits: SpanLimits | None = None) -> None:
        self.tracers = TracerProvider(sampler, span_limits=limits, shutdown_on_exit=False)
        self.exporter = InMemorySpanExporter()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self._reader = InMemoryMetricReader()
        self._meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self._file = folder / "errcompact-trajectory.jsonl"

    def install(self, options: Options | None = None) -> Installation:
        return install(tracer_provider=self.tracers, meter_provider=self._meters, options=options)

    @property
    def errors(self) -> list[tuple[str, int, int]]:
        """Outcome, count and number of exemplars of each point of the counter of errors."""
        data = self._reader.get_metrics_data()
        return [
            (str(point.attributes["errcompact.outcome"]), point.value, len(point.exemplars))
            for one in (data.resource_metrics if data else ())
            for scope in one.scope_metrics
            for metric in scope.metrics
            if metric.name == "errcompact.errors"
            for point in metric.data.data_points
        ]

    @property
    def raw_errors(self) -> list[str]:
        """The raw texts in the trajectory file."""
        lines = self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else []
        lines = [line for line in lines if "resourceSpans" in line]
        return [_raw(json.loads(line)) for line in lines]


def _raw(document: dict) -> str:
    (event,) = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"]
    return {one["key"]: one["value"]["stringValue"] for one in event["attributes"]}["exception.stacktrace"]


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch, in_tmp: Path) -> Iterator[None]:
    monkeypatch.setattr(installation, "_installed", [])
    monkeypatch.setattr(installation, "_default", [])
    yield
    uninstall()


def fail(tracer: Tracer) -> None:
    with pytest.raises(ValueError, match="boom"), tracer.start_as_current_span("work"):
        raise ValueError("boom")


def fail_calls(times: int) -> list[str]:
    """What an agent reads whose tool fails in the same way again and again."""
    texts = []
    with run("r", agent="shop") as one:
        for _ in range(times):
            with one.tool("sql", arguments={"query": "select 1"}) as call:
                raise LookupError("no such column: amount")
            texts.append(call.text)
    return texts


class TestOurOwnCalls:
    @pytest.mark.parametrize(
        "sampler",
        [
            pytest.param(ALWAYS_OFF, id="off"),
            pytest.param(TraceIdRatioBased(0.0), id="ratio 0"),
            pytest.param(ParentBased(TraceIdRatioBased(0.0)), id="ratio 0 by parent"),
            pytest.param(None, id="by variable"),
        ],
    )
    def test_a_dropped_trace_takes_nothing_from_the_agent_or_the_counts(self, in_tmp, monkeypatch, sampler):
        """The digest is as always, each failure is counted, without an exemplar, and kept raw; no span goes out."""
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
        telemetry = Telemetry(in_tmp, sampler)
        telemetry.install()
        texts = fail_calls(2)
        assert texts[0].startswith("[LookupError] at ")
        assert texts[0].splitlines()[0].partition(": ")[2].startswith("no such column: amount #")
        assert "again (x2, 2 in a row; 2 identical calls failed and no call has succeeded since" in texts[1]
        assert sorted(telemetry.errors) == [("new", 1, 0), ("repeat", 1, 0)]
        assert [raw.splitlines()[-1] for raw in telemetry.raw_errors] == ["LookupError: no such column: amount"] * 2
        assert telemetry.exporter.get_finished_spans() == ()

    def test_a_sampled_trace_has_exemplars(self, in_tmp):
        """The difference that the sampler makes: an exemplar for each point, and the spans."""
        telemetry = Telemetry(in_tmp, ALWAYS_ON)
        telemetry.install()
        fail_calls(2)
        assert sorted(telemetry.errors) == [("new", 1, 1), ("repeat", 1, 1)]
        assert len(telemetry.exporter.get_finished_spans()) == 3

    def test_a_disabled_sdk_keeps_the_digest_and_the_raw_errors(self, in_tmp, monkeypatch):
        """No span, no metric: what the agent reads and what the file holds do not depend on either."""
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        telemetry = Telemetry(in_tmp)
        telemetry.install()
        assert "again (x2" in fail_calls(2)[1]
        assert len(telemetry.raw_errors) == 2
        assert telemetry.errors == []

    def test_a_provider_that_makes_no_spans_loses_nothing_but_the_spans(self, in_tmp, monkeypatch):
        """Counts and raw errors are there, each with ids of its own in the file."""
        provider = trace.NoOpTracerProvider()
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
        telemetry = Telemetry(in_tmp)
        install(meter_provider=telemetry._meters)
        assert "again (x2" in fail_calls(2)[1]
        assert sorted(telemetry.errors) == [("new", 1, 0), ("repeat", 1, 0)]
        assert len(telemetry.raw_errors) == 2

    def test_limits_of_spans_cut_neither_the_digest_nor_the_file(self, in_tmp):
        """A span that may hold next to nothing loses the error; the count, the digest and the raw error are whole."""
        telemetry = Telemetry(
            in_tmp,
            limits=SpanLimits(
                max_span_attributes=1,
                max_events=1,
                max_event_attributes=1,
                max_attribute_length=8,
                max_span_attribute_length=8,
            ),
        )
        telemetry.install()
        assert "no such column: amount" in fail_calls(1)[0]
        assert telemetry.errors == [("new", 1, 1)]
        assert telemetry.raw_errors[0].startswith("Traceback (most recent call last):\n")
        assert telemetry.raw_errors[0].rstrip().endswith("LookupError: no such column: amount")
        spans = {span.name: span for span in telemetry.exporter.get_finished_spans()}
        (event,) = spans["execute_tool sql"].events
        assert all(len(str(value)) <= 8 for value in event.attributes.values())


class TestSpansNobodyWrapped:
    def test_a_dropped_span_is_not_seen(self, in_tmp):
        """The SDK does not even build it, so that nothing can be counted: that is what the option is for."""
        telemetry = Telemetry(in_tmp, ALWAYS_OFF)
        telemetry.install()
        fail(telemetry.tracers.get_tracer("app"))
        assert (telemetry.errors, telemetry.raw_errors) == ([], [])

    @records_all
    @pytest.mark.parametrize("sampler", [ALWAYS_OFF, ParentBased(TraceIdRatioBased(0.0))], ids=["off", "ratio 0"])
    def test_recorded_it_is_counted_and_kept_but_not_exported(self, in_tmp, sampler):
        """One count through two spans, no exemplar, the whole raw error in the file, and no span goes out."""
        telemetry = Telemetry(in_tmp, sampler)
        telemetry.install(RECORDING)
        tracer = telemetry.tracers.get_tracer("app")
        with (
            pytest.raises(ValueError, match="boom"),
            tracer.start_as_current_span("outer"),
            tracer.start_as_current_span("inner"),
        ):
            raise ValueError("boom")
        assert telemetry.errors == [("new", 1, 0)]
        assert [raw.splitlines()[-1] for raw in telemetry.raw_errors] == ["ValueError: boom"]
        assert telemetry.exporter.get_finished_spans() == ()

    @records_all
    def test_what_is_sampled_is_so_as_before(self, in_tmp):
        """Only what would be dropped changes."""
        telemetry = Telemetry(in_tmp, ALWAYS_ON)
        telemetry.install(RECORDING)
        fail(telemetry.tracers.get_tracer("app"))
        assert telemetry.errors == [("new", 1, 1)]
        assert len(telemetry.exporter.get_finished_spans()) == 1

    @records_all
    def test_a_tracer_made_before_keeps_its_sampler(self, in_tmp):
        """Tracers take the sampler with them, and the SDK hands out the same one for the same name."""
        telemetry = Telemetry(in_tmp, ALWAYS_OFF)
        early = telemetry.tracers.get_tracer("early")
        telemetry.install(RECORDING)
        fail(early)
        fail(telemetry.tracers.get_tracer("early"))
        assert telemetry.errors == []
        fail(telemetry.tracers.get_tracer("late"))
        assert telemetry.errors == [("new", 1, 0)]

    @records_all
    def test_uninstalling_gives_the_sampler_back(self, in_tmp):
        """Tracers made afterwards drop as before, and it can be installed again."""
        telemetry = Telemetry(in_tmp, ALWAYS_OFF)
        telemetry.install(RECORDING)
        assert telemetry.tracers.sampler.get_description() == "AlwaysRecordSampler{AlwaysOffSampler}"
        uninstall()
        assert telemetry.tracers.sampler is ALWAYS_OFF
        assert not telemetry.tracers.get_tracer("app").start_span("work").is_recording()

    @records_all
    def test_a_sampler_that_records_already_stays(self, in_tmp, caplog):
        """The application's own is not wrapped once more, nor taken out."""
        own = sampling.AlwaysRecordSampler(ALWAYS_OFF)
        telemetry = Telemetry(in_tmp, own)
        telemetry.install(RECORDING)
        assert telemetry.tracers.sampler is own
        uninstall()
        assert telemetry.tracers.sampler is own
        assert caplog.records == []

    @records_all
    def test_a_provider_without_a_sampler_is_named(self, in_tmp, caplog):
        """It cannot be helped there, and that is said."""

        class Other:
            def add_span_processor(self, processor: object) -> None: ...

        install(tracer_provider=Other(), options=RECORDING)
        (record,) = [record for record in caplog.records if "sampled" in record.getMessage()]
        assert record.levelno == logging.WARNING
        assert "Other object" in record.getMessage()
        assert record.getMessage().endswith("has no sampler to be replaced")

    def test_an_sdk_without_such_a_sampler_is_named_once(self, in_tmp, caplog, monkeypatch):
        """The warning names the version that is needed and the one that is there; all else is installed."""
        monkeypatch.delattr(sampling, "AlwaysRecordSampler", raising=False)
        telemetry = Telemetry(in_tmp, ALWAYS_OFF)
        telemetry.install(RECORDING)
        telemetry.install(RECORDING)
        (record,) = caplog.records
        assert record.getMessage() == (
            "spans that are not sampled stay unseen: to record them takes opentelemetry-sdk 1.45 or later, "
            f"this is {sdk_version}"
        )
        assert telemetry.tracers.sampler is ALWAYS_OFF
        fail_calls(1)
        assert telemetry.errors == [("new", 1, 0)]
