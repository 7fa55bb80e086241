"""Questions to a Prometheus that holds made-up series, put by promtool: what a dashboard would be answered."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Final

import yaml

from dashboards.metrics import AGENT, CLASS, CLASS_INFO, ERROR_TYPE, ERRORS, OUTCOME, SERVICE, TEMPLATE, TOOL
from e2e.build import program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

INTERVAL: Final = 10
"""Seconds between two samples, as shipped."""

Series = dict[str, str]


def counter(values: str, *, key: str = "c1", outcome: str = "new", service: str = "shop", **others: str) -> Series:
    """One counter of occurrences, sample by sample from the time 0 on; `_` is a sample that is missing."""
    labels = {
        CLASS: key,
        OUTCOME: outcome,
        SERVICE: service,
        "instance": "i1",
        ERROR_TYPE: "TimeoutError",
        TOOL: "search",
        AGENT: "sales",
        **others,
    }
    return {"series": f"{ERRORS}{written(labels)}", "values": values}


def info(template: str, *, key: str = "c1", instance: str = "i1") -> Series:
    """What the key of a class means, as one process says."""
    labels = {CLASS: key, ERROR_TYPE: "TimeoutError", TEMPLATE: template, SERVICE: "shop", "instance": instance}
    return {"series": f"{CLASS_INFO}{written(labels)}", "values": "1x180"}


def written(labels: dict[str, str]) -> str:
    """Labels as PromQL writes them."""
    return "{" + ", ".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def ask(
    directory: Path,
    series: Iterable[Series],
    expr: str,
    expected: Iterable[tuple[str, float]],
    *,
    chosen: Mapping[str, str],
    now: str,
) -> None:
    """
    Let promtool ask a question, and compare the answer.

    Args:
        directory: Gets the case.
        series: What Prometheus holds, from the time 0 on.
        expr: The question, with variables of the dashboard.
        expected: The answer: labels and values.
        chosen: The values of the variables.
        now: When it is asked.
    """
    # The longest names first: one may be the beginning of another.
    for name in sorted(chosen, key=len, reverse=True):
        expr = expr.replace(name, chosen[name])
    samples = [{"labels": labels, "value": value} for labels, value in expected]
    question = {"expr": expr, "eval_time": now, "exp_samples": samples}
    case = {"interval": f"{INTERVAL}s", "input_series": list(series), "promql_expr_test": [question]}
    file = directory / "case.yaml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [case]}), encoding="utf-8")
    done = subprocess.run(
        [program("promtool"), "test", "rules", file.name], cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
