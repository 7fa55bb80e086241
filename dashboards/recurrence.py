"""The page an operator opens first: which failures recur, where, and since when."""

from __future__ import annotations

from typing import Final

from dashboards import queries, variables
from dashboards.layout import Caption, Line, Page, Section, Stat, TimeSeries, instant, promql, stat, timeseries
from dashboards.metrics import CLASS

UID: Final = "errcompact-recurrence"


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: recurrence",
        description="Which failures of agents recur, where, and since when.",
        variables=variables.everything(),
        sections=(
            Section(
                id=100,
                title="Now",
                lines=(Line(4, ((24, failures()),)),),
            ),
            Section(id=200, title="Over time", lines=(Line(10, ((24, top_classes()),)),)),
        ),
    )


def failures() -> Stat:
    """How many failures there were."""
    return stat(
        Caption(
            id=1,
            title="Failures",
            description="Occurrences in the time range that were not handled inside a call that succeeded after all.",
            unit="short",
            empty="No failures",
        ),
        instant(queries.failures_in_range()),
    )


def top_classes() -> TimeSeries:
    """Which classes fail most, over time."""
    return timeseries(
        Caption(
            id=20,
            title="Top classes over time",
            description="Occurrences of the ten classes that fail most. Diamonds are exemplars: they lead to a trace.",
            unit="short",
            empty="No failures",
        ),
        promql(queries.failures_over_time_by_class(), f"{{{{{CLASS}}}}}", exemplar=True),
        stacked=True,
        bars=True,
        calcs=("sum",),
    )
