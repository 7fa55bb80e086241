"""Alerting beside very many alerts: what an evaluation of the rules reads, and whether a page still comes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from dashboards import metrics
from e2e.backends import eventually
from e2e.build import BuildError, program
from e2e.many_classes import SCRAPE_S, Fleet, Series, loaded, running, turns
from otel_errcompact.config import Options
from tests.stack.boards import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.conftest import Measured
    from e2e.many_classes import Group, Loaded

pytestmark = pytest.mark.timeout(1_200)

CLASSES: Final = 10_000
"""All failing, so that every alert about a class is due for each."""

PART: Final = 10
"""The samples are counted with one class of so many: they grow as the classes do."""

SAMPLES_PER_S: Final = 5_000_000
"""
What one core reads, with something to spare: Prometheus 3.14 read 8 million per second for `new()` of 32,000 counters.

A bound on seconds would be one on the machine.
"""

SETTLING_S: Final = 600
GROUPS: Final = yaml.safe_load((GENERATED / "rules.yaml").read_text(encoding="utf-8"))["groups"]
LATE: Final = "late"
"""A service of which nothing was known before its escalation."""


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    try:
        program("prometheus")
    except BuildError as error:
        pytest.fail(f"{error}; `make e2e` builds first")


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """One part of the classes, with a day of history."""
    with loaded(tmp_path_factory.mktemp("part"), CLASSES // PART) as found:
        wait_failing(found, CLASSES // PART)
        yield found


@pytest.mark.parametrize("group", [pytest.param(group, id=group["name"]) for group in GROUPS])
def test_an_evaluation_takes_less_than_half_of_its_interval(part: Loaded, measured: Measured, group) -> None:
    """One core reads what a group reads of ten thousand failing classes within half of the group's interval."""
    found = next(each for each in part.groups() if each.name == group["name"])
    samples = PART * part.samples(found)
    measured(f"{found.name}, {CLASSES:,} classes, {found.interval_s:.0f} s", samples / 1_000_000, "million samples")
    assert samples <= SAMPLES_PER_S * found.interval_s / 2


def test_what_pages_is_read_apart_from_the_classes(part: Loaded) -> None:
    """The group that pages reads less than a tenth of what all groups read: it waits for nothing that has no bound."""
    samples = {group.name: part.samples(group) for group in part.groups()}
    assert samples[_paging(part).name] <= sum(samples.values()) / 10


@pytest.mark.parametrize("group", [pytest.param(group, id=group["name"]) for group in GROUPS])
def test_no_text_asks(group) -> None:
    """No text of an alert queries: that is one query more for each alert that fires, at each evaluation."""
    asking = [rule["alert"] for rule in group["rules"] if "| query" in str(rule.get("annotations"))]
    assert asking == []


def test_a_page_comes_beside_ten_thousand_failing_classes(tmp_path, measured: Measured) -> None:
    """Whatever else fires, an escalation pages; how long that took is said and not held, since it is the machine's."""
    with running(tmp_path / "all", Fleet(classes=CLASSES, now=time.time(), history_s=600)) as found:
        wait_failing(found, CLASSES)
        missed = found.own("prometheus_rule_group_iterations_missed_total")
        found.processes.add(_escalation())
        time.sleep(SCRAPE_S)
        arrived = f'{metrics.ESCALATIONS}{{service_name="{LATE}"}}'
        paged = f'ALERTS{{alertname="AgentRunEscalated", service_name="{LATE}", alertstate="firing"}}'
        eventually(lambda: found.prometheus.query(paged), seconds=SETTLING_S, what=paged)
        seconds = _first(found, paged) - _first(found, arrived)
        measured(f"a page beside {CLASSES:,} failing classes, {sum(found.firing().values()):,} alerts", seconds)
        took = found.own("prometheus_rule_group_last_duration_seconds")
        for group in found.groups():
            late = found.own("prometheus_rule_group_iterations_missed_total")[group.key] - missed[group.key]
            measured(f"{group.name} beside them, {late:.0f} turns missed", took[group.key])


def _paging(found: Loaded) -> Group:
    return next(group for group in found.groups() if any(rule["name"] == "AgentRunEscalated" for rule in group.rules))


def wait_failing(found: Loaded, classes: int) -> None:
    """Wait until all classes fail often enough for every alert about a class, and the rules have seen that."""
    failing = f"count(sum by ({metrics.CLASS}) (increase({metrics.ERRORS}[5m])) >= {Options().thresholds.same})"
    eventually(lambda: found.prometheus.total(failing) == classes, seconds=SETTLING_S, what=failing)
    seen = turns(found)
    eventually(lambda: turns(found) >= seen + 3, seconds=SETTLING_S, what="three turns of all rules")


def _escalation() -> Series:
    labels = {metrics.SERVICE: LATE, metrics.ENVIRONMENT: "production", metrics.AGENT: "agent", "job": LATE}
    labels |= {metrics.CLASS: "c0ffee", metrics.ACTION: "halt", metrics.THRESHOLD: "same", "instance": LATE}
    return Series(labels=(("__name__", metrics.ESCALATIONS), *sorted(labels.items())), begin=time.time())


def _first(found: Loaded, selector: str) -> float:
    """Return when a series had its first sample."""
    answer = found.prometheus.get("/api/v1/query", query=f"{selector}[10m]")["data"]["result"]
    return min(float(series["values"][0][0]) for series in answer)
