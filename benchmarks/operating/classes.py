"""
What many error classes cost, all of which fail: `python -m benchmarks.operating.classes [--classes 250 2000 10000]`.

The shipped rules and dashboards, in a real Prometheus with the shipped configuration and a day of history. Of the last
70 minutes there is a sample every 10 s, of the time before one every 5 min, so that what looks further back reads fewer
samples than it would. Samples are the same on each machine; seconds are of the wall, and are worth what the machine is.
What Grafana asks of Prometheus when a page is opened is asked one query after the other; what is not answered in time
counts as unanswered and as no samples. Alertmanager does not run. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx

from benchmarks.operating.report import table
from benchmarks.operating.watch import usage
from e2e.backends import Cost
from e2e.many_classes import loaded
from tests.stack.boards import GENERATED, WITHOUT_QUERY, asked_of_variable, filled, load, values_of, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from e2e.many_classes import Loaded
    from tests.stack.boards import Json

RANGE_S: Final = 21_600
STEP_S: Final = 30
"""Of a graph of six hours on a screen of usual width."""

DATA_SOURCE_S: Final = 30
"""Seconds for which Grafana waits for an answer."""

SETTLING_S: Final = 300
WATCHED_S: Final = 90
MIB: Final = 2**20
BARE: Final = "topk(200, sum by (errcompact_class) (errcompact_errors_total))"
"""The least that a list of the worst classes can cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    A query of a page, as Grafana sends it.
    """

    what: str
    text: str
    instant: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print tables."""
    pages = [path.stem for path in sorted(GENERATED.glob("*.json"))]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.operating.classes", description=__doc__.strip().splitlines()[0]
    )
    parser.add_argument("--classes", type=int, nargs="+", default=[250, 2_000, 10_000])
    parser.add_argument("--pages", nargs="*", choices=pages, default=pages, help="which dashboards are opened")
    parser.add_argument("--json", type=Path, help="also write what was measured, query by query, to this file")
    asked = parser.parse_args(arguments)
    measured = []
    for classes in asked.classes:
        with (
            tempfile.TemporaryDirectory(prefix="errcompact-classes-", ignore_cleanup_errors=True) as folder,
            loaded(Path(folder), classes) as running,
        ):
            measured.append({"classes": classes, **_measure(running, f"{classes:,} classes", asked.pages)})
        if asked.json:
            asked.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return 0


def _measure(running: Loaded, classes: str, pages: Sequence[str]) -> dict[str, Any]:
    """Measure, and print each table as soon as it is known: what Prometheus cannot answer takes long."""
    running.settle(SETTLING_S)
    rules = {"groups": _groups(running), "firing": running.firing(), "resident": _resident(running)}
    print(_rules_table(classes, rules), end="\n\n", flush=True)
    bare = running.prometheus.cost(BARE)
    assert bare is not None
    opened = [_page(running, uid) for uid in pages]
    print(_pages_table(classes, opened, bare), end="\n\n", flush=True)
    peak = usage(running.program).peak_bytes
    print(f"Resident after the pages {_resident(running) / MIB:,.0f} MiB, at most {peak / MIB:,.0f} MiB.", flush=True)
    return {**rules, "bare": bare._asdict(), "pages": opened, "peak": peak}


def _groups(running: Loaded) -> list[dict[str, Any]]:
    """Watch the evaluations of each group for a while, and ask what each of its rules reads."""
    missed = running.own("prometheus_rule_group_iterations_missed_total")
    took: list[dict[str, float]] = []
    deadline = time.monotonic() + WATCHED_S
    while time.monotonic() < deadline:
        took.append(running.own("prometheus_rule_group_last_duration_seconds"))
        time.sleep(2)
    after = running.own("prometheus_rule_group_iterations_missed_total")
    return [
        {
            "name": group.name,
            "interval_s": group.interval_s,
            "median_s": statistics.median(each[group.key] for each in took),
            "longest_s": max(each[group.key] for each in took),
            "missed": after[group.key] - missed[group.key],
            "texts_that_ask": sum("| query" in str(rule.get("annotations")) for rule in group.rules),
            "samples": running.samples(group),
        }
        for group in running.groups()
    ]


def _page(running: Loaded, uid: str) -> dict[str, Any]:
    board = load(uid)
    now = int(time.time()) // STEP_S * STEP_S
    values = {**values_of(board), "__from": str(now - RANGE_S), "__to": str(now)}
    queries = []
    for asked in _opened(board):
        text = filled(asked.text, values)
        times = {"time": now} if asked.instant else {"start": now - RANGE_S, "end": now, "step": STEP_S}
        cost = running.prometheus.cost(text, seconds=DATA_SOURCE_S, **times)
        queries.append({"what": asked.what, "characters": len(text), **(cost._asdict() if cost else {})})
    lists = [_list(running, filled(text, values), now) for text in _lists(board)]
    return {"uid": uid, "queries": queries + lists}


def _opened(board: Json) -> Iterator[Asked]:
    """Yield what a page asks Prometheus when it is opened; what is folded up does not ask."""
    for panel in board["panels"]:
        if panel["type"] not in WITHOUT_QUERY:
            for target in panel["targets"]:
                if target["datasource"]["type"] == "prometheus" and not target.get("hide"):
                    what = f"{panel['title']} {target['refId']}"
                    yield Asked(what=what, text=target["expr"], instant=bool(target.get("instant")))
    for annotation in board.get("annotations", {}).get("list", ()):
        if annotation.get("enable") and annotation["datasource"]["type"] == "prometheus":
            text = annotation.get("expr") or annotation["target"]["expr"]
            yield Asked(what=annotation["name"], text=text, instant=False)


def _lists(board: Json) -> Iterator[str]:
    """Yield what the variables of a page ask for, at each refresh of it."""
    for variable in variables(board):
        if variable["type"] == "query" and variable["datasource"]["type"] == "prometheus":
            query = variable["query"]
            yield query["query"] if isinstance(query, dict) else query


def _list(running: Loaded, text: str, now: int) -> dict[str, Any]:
    series, label = asked_of_variable(text)
    asked = {"what": f"variable {label}", "characters": len(text)}
    path, began = f"/api/v1/label/{label}/values", time.monotonic()
    try:
        found = running.prometheus.get(path, **{"match[]": series, "start": now - RANGE_S, "end": now})["data"]
    except httpx.TimeoutException:
        return asked
    took, size = time.monotonic() - began, len(json.dumps(found, separators=(",", ":")))
    # Of the names of series alone, no samples are read.
    return asked | Cost(samples=0, decoded=0, peak_samples=0, seconds=took, series=len(found), bytes=size)._asdict()


def _resident(running: Loaded) -> int:
    assert running.program.process is not None
    status = Path(f"/proc/{running.program.process.pid}/status").read_text(encoding="ascii")
    return 1_024 * int(status.partition("VmRSS:")[2].split()[0])


def _rules_table(classes: str, rules: dict[str, Any]) -> str:
    header = ("interval, s", "samples read", "median, s", "longest, s", "of the interval", "missed", "texts that ask")
    rows = [
        (
            each["name"],
            f"{each['interval_s']:.0f}",
            f"{each['samples']:,}",
            f"{each['median_s']:.2f}",
            f"{each['longest_s']:.2f}",
            f"{100 * each['median_s'] / each['interval_s']:.0f} %",
            f"{each['missed']:.0f}",
            f"{each['texts_that_ask']}",
        )
        for each in rules["groups"]
    ]
    firing = ", ".join(f"{name} {count:,}" for name, count in sorted(rules["firing"].items()))
    resident = f"Resident {rules['resident'] / MIB:,.0f} MiB, load of the machine {os.getloadavg()[0]:.1f}"
    return f"{table((f'rules, {classes}', *header), rows)}\n\nFiring: {firing}. {resident}."


def _pages_table(classes: str, pages: Sequence[dict[str, Any]], bare: Cost) -> str:
    header = (
        "queries",
        "characters",
        "samples",
        "times bare",
        "decoded",
        "times bare",
        "s",
        "times bare",
        "series",
        "kB",
        "unanswered",
    )
    return table((f"a refresh, {classes}", *header), [_row(each, bare) for each in pages])


def _row(page: dict[str, Any], bare: Cost) -> tuple[str, ...]:
    def total(name: str) -> float:
        return sum(each.get(name, 0) for each in page["queries"])

    return (
        page["uid"],
        f"{len(page['queries'])}",
        f"{total('characters'):,}",
        f"{total('samples'):,}",
        f"{total('samples') / bare.samples:,.0f}",
        f"{total('decoded'):,}",
        f"{total('decoded') / bare.decoded:,.0f}",
        f"{total('seconds'):,.1f}",
        f"{total('seconds') / bare.seconds:,.0f}",
        f"{total('series'):,}",
        f"{total('bytes') / 1_000:,.0f}",
        f"{sum('samples' not in each for each in page['queries'])}",
    )


if __name__ == "__main__":
    sys.exit(main())
