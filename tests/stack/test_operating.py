"""docs/operating.md, held against the files and the code it speaks of."""

from __future__ import annotations

import re
from functools import cache, reduce
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from dashboards import metrics
from dashboards.alerts import ALERTS
from otel_errcompact.config import environment_variables
from otel_errcompact.runtime.models import FrozenModel

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```.*?```", "", PAGE))
FOLDERS = ("collector-config/", "dashboards/", "tests/", "benchmarks/", "docs/")
DEFAULT = re.compile(r"\$\{env:\w+:-([^}]*)\}|\$\{\w+:-([^}]*)\}")


def tables(*header: str) -> list[tuple[str, ...]]:
    """The rows of all tables with these columns."""
    found: list[tuple[str, ...]] = []
    reading = False
    for line in PAGE.splitlines():
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))
        if line.startswith("|") and len(cells) >= len(header) and cells[-len(header) :] == header:
            reading = True
        elif not line.startswith("|"):
            reading = False
        elif reading and not line.startswith("|-"):
            found.append(cells[-len(header) :])
    return found


@cache
def setting(file: str, key: str) -> str:
    """The value that a shipped file has at a key, as it is without any environment."""
    if file == ".env":
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))[key]
    found = reduce(lambda inner, name: inner[name], key.split("."), yaml.safe_load((ROOT / file).read_bytes()))
    default = DEFAULT.fullmatch(str(found))
    return next(filter(None, default.groups())) if default else str(found)


def constant(name: str) -> object:
    """What a dotted name of the code stands for; a field of an options class stands for its default."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(import_module(module), last)
    except ModuleNotFoundError:
        options = constant(module)
        assert isinstance(options, type)
        assert issubclass(options, FrozenModel)
        return options.model_fields[last].default


@pytest.mark.parametrize(("value", "name"), tables("value", "set by"), ids=lambda cell: cell.strip("`"))
def test_bounds_are_those_of_the_code(value: str, name: str) -> None:
    """A bound on the page is the constant it names."""
    assert constant(name.strip("`")) == int(value)


@pytest.mark.parametrize(("value", "file", "key"), tables("value", "file", "key"), ids=lambda cell: cell.strip("`"))
def test_settings_are_those_of_the_files(value: str, file: str, key: str) -> None:
    """A setting on the page is what the shipped file says."""
    assert setting(file.strip("`"), key.strip("`")) == value


@pytest.mark.parametrize(("kept", "file", "key"), tables("kept", "file", "key"), ids=lambda cell: cell.strip("`"))
def test_retention_is_that_of_the_files(kept: str, file: str, key: str) -> None:
    """How long a signal is kept is what the shipped file says."""
    assert setting(file.strip("`"), key.strip("`")) == kept


def test_the_tables_are_found() -> None:
    """The tests above have something to compare."""
    assert len(tables("value", "set by")) == 12
    assert len(tables("value", "file", "key")) == 12
    assert len(tables("kept", "file", "key")) == 3


def test_what_was_measured_stands_among_the_results() -> None:
    """A figure is on this page only as the benchmark has printed it."""
    results = set((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8").splitlines())
    rows = [f"| {' | '.join(row)} |" for row in tables("the chain", "measured")]
    assert len(rows) >= 4
    assert [row for row in rows if row not in results] == []


def test_every_alert_is_routed() -> None:
    """With the severity that its rule has."""
    routed = {(name.strip("`"), severity) for name, severity, _, _ in tables("alert", "severity", "whom", "within")}
    assert routed == {(alert.name, alert.severity) for alert in ALERTS}


def test_files_that_are_named_exist() -> None:
    """Neither a moved nor a mistyped path survives."""
    named = {text.split(":")[0] for text in CODE if text.startswith(FOLDERS)}
    assert len(named) >= 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_metrics_that_are_named_exist() -> None:
    """As Prometheus calls them."""
    known = {value for name, value in vars(metrics).items() if name.isupper() and isinstance(value, str)}
    named = {name for text in CODE for name in re.findall(r"\berrcompact_\w+", text)}
    assert len(named) > 8
    assert sorted(named - known) == []


def test_variables_that_are_named_exist() -> None:
    """Those of the library, of the collector, and of .env."""
    shipped = "".join(
        (ROOT / path).read_text(encoding="utf-8")
        for path in (
            ".env",
            "docker-compose.yml",
            "collector-config/otelcol.yaml",
            "collector-config/otelcol-balancer.yaml",
        )
    )
    known = set(re.findall(r"[A-Z][A-Z0-9_]+", shipped)) | set(environment_variables())
    texts = [text for text in CODE if not text.startswith("otel_errcompact.")]
    named = {name for text in texts for name in re.findall(r"\b(?:[A-Z]+_)+[A-Z]+\b", text)}
    of_others = {"OTEL_TRACES_SAMPLER", "OTEL_RESOURCE_ATTRIBUTES", "POD_NAME"}
    code = "".join((ROOT / f"dashboards/{name}.py").read_text(encoding="utf-8") for name in ("alerts", "classes"))
    code += (ROOT / "dashboards/class_cells.py").read_text(encoding="utf-8")
    constants = {name for name in named if name in code}
    assert sorted(named - known - of_others - constants) == []
