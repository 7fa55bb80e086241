"""What a page of a framework shows is all that is needed: digest, metric and trajectory, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FRAMEWORK = os.environ.get("ERRCOMPACT_FRAMEWORK", "")
"""The framework of this environment, as `python -m tests.integrations` names it."""

EXAMPLE = Path(__file__).parents[2] / "examples" / f"with_{FRAMEWORK}.py"
"""It holds the code of the framework's page, and no `install()`."""

PROGRAM = """
import os
import runpy
import sys

sys.path[0] = os.path.dirname(sys.argv[1])  # as where it is started by itself
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
runpy.run_path(sys.argv[1], run_name="__main__")
found = reader.get_metrics_data()
points = [
    point.value
    for resource in (found.resource_metrics if found else ())
    for scope in resource.scope_metrics
    for metric in scope.metrics
    if metric.name == "errcompact.errors"
    for point in metric.data.data_points
]
print("failures:", sum(points))
"""


@pytest.mark.skipif(
    FRAMEWORK == "anthropic" and find_spec("httpx2") is None, reason="the example needs a newer release"
)
@pytest.mark.skipif(not FRAMEWORK, reason="runs where the framework is: python -m tests.integrations")
def test_one_line_gives_digest_metric_and_trajectory(tmp_path: Path) -> None:
    """The application has a meter provider of its own, and calls nothing of the library but the integration."""
    assert "install(" not in EXAMPLE.read_text(encoding="utf-8").partition('"""\n')[2]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    command = [sys.executable, "-c", PROGRAM, EXAMPLE]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True, timeout=120)
    assert re.search(r"#[0-9a-f]{4}\b", done.stdout)
    (counted,) = re.findall(r"^failures: (\d+)$", done.stdout, re.MULTILINE)
    trajectories = (tmp_path / "state" / "otel-errcompact" / "trajectories").glob("*.jsonl")
    kept = sum("resourceSpans" in line for path in trajectories for line in path.read_text().splitlines())
    assert int(counted) == kept > 0
    # An example of a window names the folder of what is cut.
    assert {path.name for path in tmp_path.iterdir()} <= {"state", "cuts"}
