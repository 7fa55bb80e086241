"""The pages of the reference are run and compared, not believed."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_errcompact import Continue, Options, Thresholds
from otel_errcompact.config import environment_variables
from otel_errcompact.engine.events import Observation, Refused, Repeated
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import RawError
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact_context.telemetry import ContextTelemetry
from packages.context.tests.compactions import COMPACTION

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md"))}
EXAMPLES = [
    pytest.param(code, output, id=f"{name} {number}")
    for name, text in PAGES.items()
    for number, (code, output) in enumerate(re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL))
]


def rows(page: str) -> list[list[str]]:
    """The cells of the first table of a page, without its head."""
    text = PAGES[page]
    table = text[text.index("\n|") + 1 :].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.meta
def test_every_program_of_the_reference_has_its_output() -> None:
    """The expression that finds them finds them all."""
    assert len(EXAMPLES) == sum(text.count("```python") for text in PAGES.values()) > 0


@pytest.mark.programs
@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_an_example_prints_what_its_page_says(code: str, output: str, tmp_path: Path) -> None:
    """Each block runs as it stands, and its output is the block below it."""
    (tmp_path / "shop.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (done.stdout.replace(str(tmp_path), "/srv"), done.returncode) == (output, 0), done.stderr


@pytest.mark.meta
def test_the_variables_are_those_of_the_options() -> None:
    """Names and defaults."""
    listed = {name.strip("`"): default.strip("`") for name, default in rows("options")}
    assert listed == environment_variables()


@pytest.mark.meta
def test_the_thresholds_are_the_defaults() -> None:
    """Names and values; no threshold halts unless it is asked for."""
    listed = {name.strip("`"): default for name, default, *_ in rows("escalation")}
    limits = {name: str(limit) for name, limit in Thresholds().model_dump(exclude={"halts"}).items()}
    assert listed == {**limits, "halts": ",".join(Thresholds().halts)}


def fail(_: object) -> None:
    raise OSError("an internal failure to count")


class Measured:
    """Every instrument with one real point of each kind."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        ledger = Ledger(Options(thresholds=Thresholds(same=2)))
        meters = MeterProvider([self.reader], shutdown_on_exit=False)
        ledger.listeners.add(Telemetry(meters, ledger))
        ledger.listeners.add(Listener({Observation: fail}))
        ledger.guard.strict = False  # type: ignore[misc]  # this instance alone
        error = RawError(text="app/db.py:7: error: no such column", tool="sql", type="SqlError", arguments="{}")
        ledger.open("r", agent="shop", asks=True)
        ledger.observe("r", error)
        ledger.observe("r", error)
        ledger.refuse(Refused(run_id="r", tool="sql", arguments="{}"))
        ledger.answer("r", Continue())
        ledger.observe("r", error)
        ledger.succeed("r", "sql")
        ledger.apply(Repeated(run_id="r", tool="sql"))
        ledger.observe(
            "r", RawError(text="FAILED test_a.py::test_f - ValueError: no\n=== 1 failed in 0.1s ===", tool="sql")
        )
        ledger.open("other", agent="shop")
        ledger.observe("other", error)
        ledger.observe("other", RawError(text="make: jq: command not found", tool="sql"))
        ledger.observe("other", RawError(text="ConnectionError: HTTP 503 Service Unavailable", tool="sql"))
        ledger.end("r")
        for _ in range(2):
            ledger.observe("stuck", replace(error, agent="shop"))
        ledger.open("waiting", agent="shop", asks=True)
        for _ in range(2):
            ledger.observe("waiting", replace(error, time_ns=1))
        context = ContextTelemetry(meter_provider=meters)
        context(COMPACTION)
        context.overflowed("recovered", "anthropic")

    def instruments(self) -> dict[str, tuple[str, set[str]]]:
        """Unit and attribute names of each instrument."""
        data = self.reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: (metric.unit, {name for point in metric.data.data_points for name in point.attributes or {}})
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.mark.meta
def test_the_instruments_are_those_that_are_made() -> None:
    """Names, units and attributes."""
    listed = {
        name.strip("`"): (unit.strip("`"), set(re.findall(r"`([^`]+)`", attributes)))
        for name, _, unit, attributes in rows("telemetry")
    }
    assert listed == Measured().instruments()
