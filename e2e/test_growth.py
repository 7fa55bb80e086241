"""What the dashboards' queries answer to counters as they are: born late, ended, begun again, away for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from dashboards import queries
from dashboards.metrics import CLASS, CLASS_INFO_KEPT, ENVIRONMENT, MESSAGE, OUTCOME, SERVICE, TEMPLATE
from e2e import questions
from e2e.questions import counter, written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from e2e.questions import Series

NOW: Final = "30m"
RANGE: Final = "10m"

CHOSEN: Final = {
    "$__range": RANGE,
    "$__range_s": "600",
    "$__interval": "10s",
    "${__from:date:seconds}": "1200",
    "$environment": ".*",
    "$service": ".*",
    "$owner": ".*",
    "$agent": ".*",
    "$tool": ".*",
    "$error_type": ".*",
    "$class": ".*",
}
"""The values of the variables: all of everything, over the last ten minutes."""

NOBODY: Final = ()
LONG_AGO: Final = "5x60"
"""Five failures, in a process that ended 20 minutes ago."""

FIRST_BURST: Final = "_x177 7 7 7"
"""A class that nobody had seen 30 seconds ago, with seven failures at once."""

STEADY: Final = "3+0x120 4 5 6x58"
"""Three failures before the time range, three more in it."""

ENDED: Final = "_x140 2 4 4 _x37"
"""A process that came and went within the time range: nothing is left of it at the end of the range."""

BEGAN_AGAIN: Final = "0+1x150 0+1x29"
"""A failure every ten seconds, in a process that began again under the same name."""

AWAY: Final = "3x100 _x50 5x29"
"""No sample for eight minutes: the collector was away, the counter went on."""


def known(template: str, *, key: str = "c1a2b3", place: str = "prod") -> Series:
    """What Prometheus has recorded of the meaning of a class, in one environment."""
    labels = {CLASS: key, TEMPLATE: template, SERVICE: "shop", ENVIRONMENT: place}
    return {"series": f"{CLASS_INFO_KEPT}{written(labels)}", "values": "1x180"}


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param([counter(FIRST_BURST)], 7, id="first burst"),
        pytest.param([counter("_x180 1")], 1, id="one failure, seen once"),
        pytest.param([counter(STEADY)], 3, id="only what came in the range"),
        pytest.param([counter(ENDED)], 4, id="a process that has ended"),
        pytest.param([counter(AWAY)], 2, id="a collector that was away"),
        pytest.param([counter("9x180")], 0, id="nothing new"),
        pytest.param([counter(FIRST_BURST), counter(FIRST_BURST, instance="i2")], 14, id="two processes"),
        pytest.param([counter(STEADY), counter(ENDED, key="c2")], 7, id="two classes"),
        pytest.param([counter(FIRST_BURST, outcome="handled"), counter(STEADY)], 3, id="handled failures are none"),
        pytest.param(
            [counter(FIRST_BURST, region="north"), counter(STEADY, region="south")], 10, id="unknown attribute"
        ),
        pytest.param([counter(LONG_AGO)], None, id="long ago"),
        pytest.param(NOBODY, None, id="no data"),
    ],
)
def test_failures_in_range(tmp_path, series, expected):
    """Failures are counted one by one, whenever a counter was born, with whatever attributes nobody here knows."""
    ask(tmp_path, series, queries.failures_in_range(), [] if expected is None else [("{}", expected)])


def test_began_again(tmp_path):
    """A counter that began again within the range is estimated, to a whole number and within two failures."""
    # 30 failures in the range before the process began again, and 29 after it.
    estimate = queries.failures_in_range()
    ask(tmp_path, [counter(BEGAN_AGAIN)], f"abs({estimate} - 59) <= bool 2", [("{}", 1)])
    ask(tmp_path, [counter(BEGAN_AGAIN)], f"{estimate} == bool round({estimate})", [("{}", 1)])


def test_bars_add_up(tmp_path):
    """The bars of a graph are what came between two points, also in a counter's first burst."""
    bars = f"sum_over_time(({queries.outcomes()})[{RANGE}:10s])"
    for values, failures in ((FIRST_BURST, 7), (STEADY, 3), (ENDED, 4), (AWAY, 2)):
        ask(tmp_path, [counter(values)], bars, [(written({OUTCOME: "first in its run"}), failures)])


def test_resolution_rate(tmp_path):
    """Without any resolution the rate is zero; without any failure there is none."""
    ask(tmp_path, [counter(FIRST_BURST)], queries.resolution_rate(), [("{}", 0)])
    ask(tmp_path, NOBODY, queries.resolution_rate(), [])


@pytest.mark.parametrize(
    ("series", "message"),
    [
        pytest.param([known("timed out")], "timed out #c1a2", id="known"),
        pytest.param([known("timed out"), known("no answer", place="test")], "timed out #c1a2", id="twice"),
        pytest.param([known("no such file", key="c9d8e7")], "c1a2b3", id="of another class only"),
        pytest.param([], "c1a2b3", id="not"),
    ],
)
def test_messages_of_classes(tmp_path, series, message):
    """Each class has one line with its message, whether or not that is known, and in however many environments."""
    failures = f"sum by ({CLASS}) ({queries.failures()})"
    counters = [counter(FIRST_BURST, key="c1a2b3"), counter(FIRST_BURST, key="c1a2b3", instance="i2")]
    line = (written({CLASS: "c1a2b3", MESSAGE: message}), 14)
    ask(tmp_path, [*counters, *series], queries.with_message(failures, queries.failures()), [line])


def ask(tmp_path: Path, series: Iterable[Series], expr: str, expected: Iterable[tuple[str, float]]) -> None:
    """Let promtool ask a Prometheus that holds these series, half an hour after the first sample."""
    questions.ask(tmp_path, series, expr, expected, chosen=CHOSEN, now=NOW)
