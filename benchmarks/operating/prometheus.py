"""What Prometheus tells of itself, and what its data takes in the form in which it stays on the disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import httpx

from benchmarks.operating.watch import disk

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.stack import Stack

LINE: Final = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")


class Head(NamedTuple):
    """
    What Prometheus holds and does.
    """

    series: int
    samples: float
    """Appended since its start, those of its own rules included."""

    rule_samples_per_s: float
    """Appended by rules."""

    rule_seconds_per_s: float
    """The share of a core that one round of all rules takes."""


class Block(NamedTuple):
    """
    A block, as it stays on the disk for the time of the retention.
    """

    series: int
    samples: int
    chunk_bytes: int
    index_bytes: int


def head(stack: Stack) -> Head:
    """Return what Prometheus says of itself."""
    text = httpx.get(f"{stack.prometheus}/metrics", trust_env=False, timeout=30).text
    status = stack.backends.prometheus.get("/api/v1/status/tsdb")["data"]["headStats"]
    interval = _by_group(text, "prometheus_rule_group_interval_seconds")
    samples = _by_group(text, "prometheus_rule_group_last_evaluation_samples")
    took = _by_group(text, "prometheus_rule_group_last_duration_seconds")
    return Head(
        series=status["numSeries"],
        samples=sum(_by_group(text, "prometheus_tsdb_head_samples_appended_total").values()),
        rule_samples_per_s=sum(samples.get(group, 0) / interval[group] for group in interval),
        rule_seconds_per_s=sum(took.get(group, 0) / interval[group] for group in interval),
    )


def series_by_name(stack: Stack) -> dict[str, int]:
    """Return how many series each metric has, and how many come from the rules."""
    samples = stack.backends.prometheus.query('count by (__name__) (last_over_time({__name__!=""}[1h]))')
    return {sample.labels["__name__"]: int(sample.value) for sample in samples}


def block(stack: Stack) -> Block:
    """Let Prometheus write all it holds as a block, and return what that takes; it is started anew for this."""
    program = stack.programs["prometheus"]
    program.stop()
    program.command = [*program.command, "--web.enable-admin-api"]
    program.restart()
    answer = httpx.post(f"{stack.prometheus}/api/v1/admin/tsdb/snapshot", trust_env=False, timeout=300).json()
    folder = program.directory / "snapshots" / answer["data"]["name"]
    blocks = [_read(path.parent) for path in folder.glob("*/meta.json")]
    return Block(
        series=max(each.series for each in blocks),
        samples=sum(each.samples for each in blocks),
        chunk_bytes=sum(each.chunk_bytes for each in blocks),
        index_bytes=sum(each.index_bytes for each in blocks),
    )


def _read(folder: Path) -> Block:
    stats = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["stats"]
    return Block(
        series=stats["numSeries"],
        samples=stats["numSamples"],
        chunk_bytes=disk(folder / "chunks"),
        index_bytes=disk(folder, "index"),
    )


def _by_group(text: str, metric: str) -> dict[str, float]:
    found = (LINE.match(line) for line in text.splitlines())
    return {match[2] or "": float(match[3]) for match in found if match and match[1] == metric}
