"""What every integration is tested with: the real SDK, what the counters say, and what the matrix is made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_errcompact as errcompact
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Ended
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.engine.report import RunReport
from otel_errcompact.otel import semconv
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import RecordedLife, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.sdk.trace import ReadableSpan

    from otel_errcompact.engine.listeners import Receivers

MODULES = {
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "claude_agent": "claude_agent_sdk",
    "google_adk": "google.adk",
    "strands": "strands",
    "agent_framework": "agent_framework",
    "fastmcp": "fastmcp",
    "mcp": "mcp",
    "anthropic": "anthropic",
    "openai": "openai",
    "crewai": "crewai",
    "llama_index": "llama_index",
    "smolagents": "smolagents",
    "agno": "agno",
}
MATRIX = "ERRCOMPACT_MATRIX"
"""The file that the results of the duties are written to."""


def _is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:
        return True


def _links(name: str) -> list[str]:
    folder = Path(__file__).parent
    return [str(path.relative_to(folder)) for path in (folder / "links").glob(f"test_{name}_*.py")]


collect_ignore = [
    path
    for name, module in MODULES.items()
    if _is_missing(module)
    for path in (f"test_{name}.py", f"windows/test_{name}_window.py", *_links(name))
]
"""Frameworks exclude one another: `python -m tests.integrations` gives each an environment of its own."""

AT_THREE = errcompact.Thresholds(same=3, halts=frozenset({"same"}), refuse=99, loop=99, loop_halt=99)
"""Halts, or asks, at the third failure, and refuses nothing: short scripts show how a framework is stopped."""

_provider = TracerProvider(shutdown_on_exit=False)
_exporter = InMemorySpanExporter()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """
    A ledger that is installed on the global tracer provider, and what went out.
    """

    ledger: Ledger
    trajectory: Path
    _reader: InMemoryMetricReader

    def errors(self) -> dict[str, int]:
        """`errcompact.errors` by outcome."""
        return self._sums(semconv.ERRORS, semconv.OUTCOME)

    def escalations(self) -> dict[str, int]:
        """`errcompact.escalations` by action."""
        return self._sums(semconv.ESCALATIONS, semconv.ACTION)

    def runs(self) -> dict[str, int]:
        """`errcompact.runs` by result."""
        return self._sums(semconv.RUNS, semconv.RESULT)

    def resolutions(self) -> int:
        """`errcompact.resolutions`, all together."""
        return sum(self._sums(semconv.RESOLUTIONS, semconv.CLASS).values())

    def internal_failures(self) -> dict[str, int]:
        """`errcompact.internal.failures` by stage."""
        return self._sums(semconv.INTERNAL_FAILURES, semconv.STAGE)

    def spans(self) -> tuple[ReadableSpan, ...]:
        """The spans that have ended."""
        return _exporter.get_finished_spans()

    def classes_on_spans(self) -> list[str]:
        """The dedup keys on the exception events of all spans."""
        events = [event for span in self.spans() for event in span.events]
        return [str(event.attributes[semconv.CLASS]) for event in events if semconv.CLASS in (event.attributes or {})]

    def raw_errors(self) -> list[str]:
        """The stack texts in the trajectory file."""
        lines = self.trajectory.read_text().splitlines() if self.trajectory.exists() else []
        texts: list[str] = []
        for line in lines:
            for resource in json.loads(line).get("resourceSpans", ()):
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        for event in span.get("events", ()):
                            found = {one["key"]: one["value"].get("stringValue") for one in event["attributes"]}
                            texts.append(str(found[semconv.EXCEPTION_STACKTRACE]))
        return texts

    def _sums(self, instrument: str, attribute: str) -> dict[str, int]:
        data = self._reader.get_metrics_data()
        sums: Counter[str] = Counter()
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points if metric.name == instrument else ():
                        sums[str((point.attributes or {}).get(attribute, ""))] += int(point.value)
        return dict(sums)


class Reports(Listener):
    """The reports of the runs that have ended and in which something has failed."""

    def __init__(self) -> None:
        self.ended: list[RunReport] = []

    def receivers(self) -> Receivers:
        """Return what keeps reports."""
        return {Ended: lambda event: self.ended.extend([event.report] if event.report.occurrences else [])}

    def read_back(self, path: Path) -> list[RunReport]:
        """What the trajectory file says of the same runs."""
        if not path.exists():
            return []
        options = errcompact.Options(trajectory=TrajectoryOptions(enabled=False))
        with open_pipeline(options) as pipeline:
            lives = [record for record in read(path, on_problem=pytest.fail) if isinstance(record, RecordedLife)]
            played = [run for life in lives for run in pipeline.play(life)]
        return [run.report for run in played if run.failures and not run.lacks]


def _by_id(reports: list[RunReport]) -> list[dict[str, object]]:
    return sorted((report.model_dump(mode="json") for report in reports), key=lambda report: str(report["run_id"]))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A fresh ledger, installed on the global tracer provider, whose counters and spans can be asked for."""
    if trace.get_tracer_provider() is not _provider:
        trace.set_tracer_provider(_provider)
        _provider.add_span_processor(SimpleSpanProcessor(_exporter))
    _exporter.clear()
    reader = InMemoryMetricReader()
    path = tmp_path / "trajectory.jsonl"
    options = errcompact.Options(thresholds=AT_THREE, trajectory=TrajectoryOptions(path=path))
    ledger = Ledger(options)
    meters = MeterProvider([reader], shutdown_on_exit=False)
    installed = errcompact.install(tracer_provider=_provider, meter_provider=meters, ledger=ledger)
    reports = Reports()
    ledger.listeners.add(reports)
    yield World(ledger=ledger, trajectory=path, _reader=reader)
    installed.uninstall()
    # The record equals the run, whatever the framework.
    assert _by_id(reports.read_back(path)) == _by_id(reports.ended)


@pytest.fixture
def recipe_says(tmp_path: Path) -> Callable[[str], list[str]]:
    """Run the example of a recipe, whose model says what it reads until the agent is stopped, and return the lines."""

    def run(name: str) -> list[str]:
        path = Path(__file__).parents[2] / "examples" / name
        done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=True)
        told = ("model reads:", "stopped:", "result:")
        return [line for line in done.stdout.splitlines() if line.startswith(told)]

    return run


_duties: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that puts a test into the matrix."""
    config.addinivalue_line(
        "markers",
        "duty(name, says='yes'): proves render, success, gate, ask, span or window; `says` is what the matrix says.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Note whether a duty holds: where several tests prove one, all must pass."""
    report = yield
    for marker in item.iter_markers("duty") if report.when == "call" or report.failed else ():
        name = marker.args[0]
        says = marker.kwargs.get("says", "yes") if report.passed else "no"
        _duties[name] = says if _duties.get(name) != "no" else "no"
    return report


def pytest_sessionfinish() -> None:
    """Write the row of this framework where the runner wants it."""
    if (path := os.environ.get(MATRIX)) and _duties:
        Path(path).write_text(json.dumps(_duties))
