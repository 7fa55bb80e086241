"""The page on the context window: what each layer of compaction takes out, what that costs, and what overflowed."""

from __future__ import annotations

from typing import Final

from dashboards import queries_context as queries
from dashboards import variables
from dashboards.layout import (
    BAD,
    NONE_BAD,
    OK,
    WARNING,
    Caption,
    Line,
    Page,
    Section,
    Stat,
    Table,
    Text,
    TimeSeries,
    bars,
    stat,
    table,
    text,
    timeseries,
)
from dashboards.metrics import LAYER, REASON, RESULT, SERVICE
from dashboards.targets import instant, legend, promql, rows
from dashboards.transformations import columns, merged

UID: Final = "errcompact-context"

NO_COMPACTION: Final = "Nothing was compacted"
NO_OVERFLOW: Final = "No overflow"

RESULTS: Final = {"recovered": OK, "failed": BAD, "refused": WARNING}

MEANING: Final = """\
- **Layers run in this order**: `results` (the largest of the newest results go to disk), `summary` (a model writes it),
  `snip` (the middle of a long conversation), `errors` (raw errors become digests), `micro` (old results become one
  line), `repeats` (what an earlier result says already), and if it still does not fit `reactive`.
- **Taken out is not money.** What stands behind the first change is read again by the provider's prompt cache: a layer
  that takes out little and invalidates much costs more than it saves.
- **Nothing is lost**: the whole of what was cut is in the folder that the options name, and the model is told where.
- **Tokens are estimates**, by the counter that the application gave.
"""


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: context window",
        description="What each layer of compaction takes out of the agents' contexts, what that costs, and which calls "
        "were too long all the same.",
        variables=(*variables.data_sources(), *variables.scope()),
        sections=(
            Section(
                id=100,
                title="In the time range",
                lines=(
                    Line(
                        4,
                        (
                            (4, compactions()),
                            (4, saved()),
                            (4, invalidated()),
                            (4, overflows()),
                            (4, lost_calls()),
                            (4, problems()),
                        ),
                    ),
                    Line(6, ((24, layers()),)),
                ),
            ),
            Section(
                id=200,
                title="Over time",
                lines=(
                    Line(9, ((12, saved_over_time()), (12, cut_over_time()))),
                    Line(9, ((8, overflows_over_time()), (8, problems_over_time()), (8, duration()))),
                    Line(6, ((24, meaning()),)),
                ),
            ),
        ),
    )


# In the time range.


def compactions() -> Stat:
    """How often something was cut."""
    return stat(
        Caption(
            1,
            "Layer cuts",
            "How often a layer of compaction has taken something out of a context.",
            empty=NO_COMPACTION,
        ),
        instant(queries.cut_in_range()),
        decimals=None,
    )


def saved() -> Stat:
    """What was taken out."""
    return stat(
        Caption(2, "Tokens cut", "Tokens of contexts before less those after, over all layers.", empty=NO_COMPACTION),
        instant(queries.saved_in_range()),
        decimals=None,
    )


def invalidated() -> Stat:
    """What the prompt cache lost."""
    return stat(
        Caption(
            3,
            "Cache lost",
            "Tokens that stood behind the first change of a compaction: a provider's prompt cache has to "
            "read them again.",
            empty=NO_COMPACTION,
        ),
        instant(queries.invalidated_in_range()),
        decimals=None,
    )


def overflows() -> Stat:
    """What was too long all the same."""
    return stat(
        Caption(
            4,
            "Overflows",
            "Calls that a provider refused because the context was too long. Most of them recover: the "
            "context is compacted, and the call is made again.",
            empty=NO_OVERFLOW,
        ),
        instant(queries.overflows_in_range()),
    )


def lost_calls() -> Stat:
    """How many calls were never answered."""
    return stat(
        Caption(
            7,
            "Lost calls",
            "Overflows that did not recover: the call failed after all retries, or was not made again "
            "because compactions had kept failing.",
        ),
        instant(queries.lost_in_range()),
        steps=NONE_BAD,
    )


def problems() -> Stat:
    """What could not be compacted."""
    return stat(
        Caption(
            5,
            "Problems",
            "How often a layer could not do its work: a full disk, a summary that was refused. Nothing is "
            "cut then, and nothing lost.",
        ),
        instant(queries.problems_in_range()),
        steps=NONE_BAD,
    )


def layers() -> Table:
    """What each layer did."""
    return table(
        Caption(
            6,
            "By layer",
            "How often each layer has cut something, the tokens it took out, and those a prompt cache had "
            "to read again for it.",
            empty=NO_COMPACTION,
        ),
        rows(queries.cut_by_layer(), ref="A"),
        rows(queries.saved_in_range(LAYER), ref="B"),
        rows(queries.invalidated_in_range(LAYER), ref="C"),
        transformations=(
            merged(),
            columns(
                {LAYER: "Layer", "Value #A": "Cut", "Value #B": "Taken out", "Value #C": "Invalidated"},
                hidden=("Time",),
            ),
        ),
        sort_by="Taken out",
    )


# Over time.


def saved_over_time() -> TimeSeries:
    """What each layer takes out."""
    return bars(
        Caption(
            20,
            "Tokens taken out over time",
            "Tokens that each layer has taken out in each interval.",
            empty=NO_COMPACTION,
        ),
        promql(queries.saved_over_time(), legend(LAYER)),
    )


def cut_over_time() -> TimeSeries:
    """How often each layer cuts."""
    return bars(
        Caption(
            21,
            "Layers that cut, and why",
            "always: the layer's own limit; over_trigger: the context came near the window; over_window: "
            "it did not fit; overflow: the provider refused it; asked: the application wanted it; cache_expired: the "
            "provider's cache was lost anyway.",
            empty=NO_COMPACTION,
        ),
        promql(queries.cut_over_time(), legend(LAYER, REASON)),
    )


def overflows_over_time() -> TimeSeries:
    """What became of calls that were too long."""
    return bars(
        Caption(
            22,
            "Overflows over time",
            "Calls that a provider refused as too long: recovered by a compaction, failed in spite of it, "
            "or refused by the circuit breaker.",
            empty=NO_OVERFLOW,
        ),
        promql(queries.overflows_over_time(), legend(RESULT)),
        colours=RESULTS,
    )


def problems_over_time() -> TimeSeries:
    """What could not be compacted, and where."""
    return bars(
        Caption(
            23,
            "Problems over time",
            "Layers that could not do their work, by service; the spans compact_context say why.",
        ),
        promql(queries.problems_over_time(), legend(SERVICE, LAYER)),
    )


def duration() -> TimeSeries:
    """How long the layers take."""
    return timeseries(
        Caption(
            24,
            "Duration, 90th percentile",
            "How long each layer takes; a summary waits for its model.",
            unit="s",
            empty=NO_COMPACTION,
        ),
        promql(queries.duration(0.9), legend(LAYER)),
    )


def meaning() -> Text:
    """How to read the figures."""
    return text(
        Caption(
            25, "What the figures mean", "What the layers are, and what the figures do not say.", unit="", empty=""
        ),
        MEANING,
    )
