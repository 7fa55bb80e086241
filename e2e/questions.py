"""Questions to a Prometheus that holds made-up series, put by promtool: what a dashboard would be answered."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final

import yaml

from dashboards.metrics import AGENT, CLASS, ERROR_TYPE, ERRORS, OUTCOME, SERVICE, TOOL
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
    case = {
        "interval": f"{INTERVAL}s",
        "input_series": list(series),
        "promql_expr_test": [question(expr, now, expected)],
    }
    judge(directory, {"evaluation_interval": "1m", "tests": [case]})


def question(expr: str, now: str, expected: Iterable[tuple[str, float]]) -> dict[str, Any]:
    """What is asked, when, and the answer: labels and values."""
    return {
        "expr": expr,
        "eval_time": now,
        "exp_samples": [{"labels": labels, "value": value} for labels, value in expected],
    }


def judge(directory: Path, cases: Mapping[str, Any]) -> None:
    """Let promtool judge cases, which it reads from a directory."""
    file = directory / "case.yaml"
    file.write_text(yaml.safe_dump(cases), encoding="utf-8")
    done = subprocess.run(
        [program("promtool"), "test", "rules", file.name], cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
