"""The page on cost: what digests keep out of the context, always beside the whole bill."""

from __future__ import annotations

from typing import Final

from dashboards import queries_tokens as queries
from dashboards import variables
from dashboards.layout import (
    NEUTRAL,
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
from dashboards.links import links_of, row_link
from dashboards.metrics import AGENT, CLASS, ENVIRONMENT, MODEL, NAMESPACE, RUN_ID, SERVICE, TEMPLATE
from dashboards.objectives import MAX_SHARE
from dashboards.targets import instant, promql, rows
from dashboards.transformations import columns, difference, merged
from otel_errcompact.otel import semconv

UID: Final = "errcompact-tokens"

NO_BILL: Final = "No gen_ai.client.token.usage metric: instrument the model's client to see the whole bill"
NO_FAILURE: Final = "No failures"

WITHOUT: Final = "without digests"

FORMS: Final = {WITHOUT: "light-purple", "digests": "dark-blue"}
USAGE: Final = {"input": "super-light-blue", "output": "super-light-green"}

MEANING: Final = """\
- **Errors and digests are estimates**: characters / 4, rounded up. The agent's own tokenizer will differ, most of
  all for stack traces and for other languages than English. All forms are counted in the same way, so their ratio is
  better than either figure.
- **Input and output are what the models report**, through whatever instrumentation sends `gen_ai.client.token.usage`.
  Without it there is no whole bill, and these panels say so; shares are of those services that have one.
- **An error counts once here, and many times on the bill.** It is counted when it enters the context; the model reads
  the context again with every later call. So the shares are lower bounds, of what errors cost and of what digests save.
  `errcompact replay` counts a recorded run prompt by prompt.
- **Saved is against what frameworks send.** Of an exception most send `str(e)`, not the traceback; of a result that
  tells of a failure, its whole text. Short errors cost a few tokens more with the mark of their class, so *Saved* may
  be below zero where all errors are short. *Raw errors* counts whole tracebacks: what the trace keeps for people.
- **Saved is not money.** Prompt caches make repeated input cheaper; what it costs depends on them.
- **The block of recent errors** that `run.digest()` renders for a prompt is not in these counters.
"""


_NARROW: Final = ("/^(Digests|Without digests|Service|Environment|Agent)$/", {"custom.width": 128})
"""Of 150 pixels each, as Grafana has it, the last columns of half a page would be off the screen."""


def page() -> Page:
    """Return the whole page."""
    return Page(
        uid=UID,
        title="Agent errors: tokens, the whole bill",
        description="What errors would have cost in the context as frameworks send them, what their digests cost, and "
        "what share of the whole bill that is.",
        variables=(
            *variables.data_sources(),
            *variables.scope(),
            variables.model(),
            variables.price("price_input", "Price of a million input tokens"),
            variables.price("price_output", "Price of a million output tokens"),
        ),
        sections=(
            Section(
                id=100,
                title="In the time range",
                lines=(
                    Line(3, ((8, without_digests()), (8, let_in()), (8, saved()))),
                    Line(3, ((8, size_of_digests()), (8, digest_per_failure()), (8, raw_errors()))),
                    Line(3, ((6, all_input()), (6, all_output()), (6, share_of_digests()), (6, share_of_sent()))),
                ),
            ),
            Section(
                id=400,
                title="Money: enter the price of the models that are chosen above",
                lines=(
                    Line(
                        4,
                        (
                            (6, money(40, "Input costs", queries.money_of_models("input"))),
                            (6, money(41, "Output costs", queries.money_of_models("output"))),
                            (6, money(42, "Digests cost", queries.money_of_digests())),
                            (6, money(43, "Without them", queries.money_without_digests())),
                        ),
                    ),
                    Line(8, ((24, meaning()),)),
                ),
            ),
            Section(
                id=200,
                title="Over time",
                lines=(
                    Line(9, ((12, errors_over_time()), (12, bill_over_time()))),
                    Line(9, ((24, share_over_time()),)),
                ),
            ),
            Section(
                id=300,
                title="Where",
                lines=(
                    Line(8, ((14, services()), (10, models()))),
                    Line(9, ((12, agents()), (12, runs()))),
                    Line(9, ((24, classes_by_cost()),)),
                ),
            ),
        ),
    )


# In the time range.


def without_digests() -> Stat:
    """What errors would have cost."""
    return stat(
        Caption(
            1,
            "Without digests",
            "Tokens (characters / 4) that the agents would have read of the errors of the time range: "
            "of an exception its message, as frameworks send it, and of a result its whole text.",
            empty=NO_FAILURE,
        ),
        instant(queries.sent_in_range()),
        decimals=None,
    )


def let_in() -> Stat:
    """What digests cost."""
    return stat(
        Caption(
            2,
            "Digests",
            "Tokens (characters / 4) of the digests that the agents read in their place.",
            empty=NO_FAILURE,
        ),
        instant(queries.digest_in_range()),
        decimals=None,
    )


def saved() -> Stat:
    """The difference."""
    return stat(
        Caption(
            3,
            "Saved",
            "What frameworks send less the digests. Below zero where errors are so short "
            "that the mark of their class makes them longer.",
            empty=NO_FAILURE,
        ),
        instant(queries.saved_in_range()),
        decimals=None,
        steps=((None, WARNING), (0, OK)),
    )


def size_of_digests() -> Stat:
    """How large digests are."""
    return stat(
        Caption(
            4,
            "Digests / without",
            "Tokens of the digests of the time range, as a share of what frameworks would have sent of the "
            "same errors. Above 100 % the digests cost more than they saved: many short errors.",
            unit="percentunit",
            empty=NO_FAILURE,
        ),
        instant(queries.size_in_range()),
        decimals=0,
        steps=((None, OK), (1, WARNING)),
    )


def raw_errors() -> Stat:
    """What the trace keeps whole."""
    return stat(
        Caption(
            5,
            "Raw errors, whole",
            "Tokens (characters / 4) of the raw errors of the time range, with whole tracebacks: kept for "
            "people in the trace. No framework sends all of it.",
            empty=NO_FAILURE,
        ),
        instant(queries.raw_in_range()),
        decimals=None,
    )


def digest_per_failure() -> Stat:
    """How long a digest is."""
    return stat(
        Caption(
            6,
            "Digest, per failure",
            "Tokens of one digest, on average over first failures and repeats.",
            empty=NO_FAILURE,
        ),
        instant(queries.per_failure(semconv.FORM_DIGEST)),
    )


def all_input() -> Stat:
    """The whole bill, one half."""
    return stat(
        Caption(
            7,
            "Input tokens",
            "What the models report to have read, from the standard metric gen_ai.client.token.usage.",
            empty=NO_BILL,
        ),
        instant(queries.billed_in_range("input")),
        decimals=None,
    )


def all_output() -> Stat:
    """The whole bill, the other half."""
    return stat(
        Caption(
            8,
            "Output tokens",
            "What the models report to have written, from the standard metric gen_ai.client.token.usage.",
            empty=NO_BILL,
        ),
        instant(queries.billed_in_range("output")),
        decimals=None,
    )


def share_of_digests() -> Stat:
    """What errors cost of the whole."""
    return stat(
        Caption(
            9,
            "Share of digests",
            "Digests as a share of all input tokens. A digest counts once, when it is made; see what the "
            "figures mean, below.",
            unit="percentunit",
            empty=NO_BILL,
        ),
        instant(queries.digest_share_in_range()),
        decimals=2,
        steps=((None, OK), (MAX_SHARE, WARNING)),
    )


def share_of_sent() -> Stat:
    """What errors would have cost of the whole."""
    return stat(
        Caption(
            10,
            "Share without",
            "Errors as frameworks send them, as a share of what the input would have been with them "
            "instead of the digests.",
            unit="percentunit",
            empty=NO_BILL,
        ),
        instant(queries.sent_share_in_range()),
        decimals=2,
        steps=((None, NEUTRAL),),
    )


# Over time.


def errors_over_time() -> TimeSeries:
    """Errors without digests, beside digests."""
    return bars(
        Caption(
            20,
            "Errors, with digests and without",
            "Tokens of the errors of each interval, as digests and as frameworks send them.",
            empty=NO_FAILURE,
        ),
        promql(queries.sent_over_time(), WITHOUT, ref="A"),
        promql(queries.digest_over_time(), "digests", ref="B"),
        colours=FORMS,
        stacked=False,
    )


def bill_over_time() -> TimeSeries:
    """The whole bill, with what digests are of it."""
    return bars(
        Caption(
            21,
            "The whole bill",
            "Tokens that the models report for each interval, and the digests among their input.",
            empty=NO_BILL,
        ),
        promql(queries.billed_over_time("input"), "input", ref="A"),
        promql(queries.billed_over_time("output"), "output", ref="B"),
        promql(queries.digest_over_time(), "digests", ref="C"),
        colours={**USAGE, **FORMS},
        stacked=False,
    )


def share_over_time() -> TimeSeries:
    """The share of errors, as it is and as it would have been."""
    return timeseries(
        Caption(
            22,
            "Share of errors in the context",
            f"Of the input tokens of the {queries.SHARE_WINDOW} before each point: digests as they are, "
            f"and errors as they would have been without. Above the dashed line ({MAX_SHARE:.0%}) the task is "
            "crowded out.",
            unit="percentunit",
            empty=NO_BILL,
        ),
        promql(queries.digest_share(), "digests", ref="A"),
        promql(queries.sent_share(), WITHOUT, ref="B"),
        colours=FORMS,
        threshold=MAX_SHARE,
    )


# Where.


def services() -> Table:
    """Which services save most."""
    return table(
        Caption(
            30,
            "By service",
            "Tokens of the time range, by service. Saved is against what frameworks send. Input is empty "
            "for services whose models are not instrumented.",
            empty=NO_FAILURE,
        ),
        rows(queries.sent_by_service(), ref="A"),
        rows(queries.digest_by_service(), ref="B"),
        rows(queries.input_by_service(), ref="C"),
        transformations=(
            merged(),
            difference("Value #A", "Value #B", "Saved"),
            columns(
                {
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    "Value #A": "Without digests",
                    "Value #B": "Digests",
                    "Saved": "Saved",
                    "Value #C": "All input",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(("/.*/", {"custom.width": 110}),),
        sort_by="Saved",
    )


def models() -> Table:
    """Which models read and write how much."""
    return table(
        Caption(
            31,
            "By model",
            "What each model reports of the time range: its calls, and the tokens it read and wrote.",
            empty=NO_BILL,
        ),
        rows(queries.calls_by_model(), ref="A"),
        rows(queries.billed_by_model("input"), ref="B"),
        rows(queries.billed_by_model("output"), ref="C"),
        transformations=(
            merged(),
            columns(
                {MODEL: "Model", "Value #A": "Calls", "Value #B": "Input", "Value #C": "Output"},
                hidden=("Time",),
            ),
        ),
        sort_by="Input",
    )


def agents() -> Table:
    """Whose errors cost most."""
    return table(
        Caption(33, "By agent", "Tokens of the time range, of the 50 agents whose errors cost most.", empty=NO_FAILURE),
        rows(queries.by_agent(semconv.FORM_DIGEST), ref="A"),
        rows(queries.by_agent(semconv.FORM_SENT), ref="B"),
        transformations=(
            merged(),
            columns(
                {
                    AGENT: "Agent",
                    "Value #A": "Digests",
                    "Value #B": "Without digests",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            _NARROW,
            ("Agent", links_of(row_link("Failures of this agent", "errcompact-recurrence", AGENT))),
        ),
        sort_by="Digests",
    )


def runs() -> Table:
    """Which runs cost most."""
    return table(
        Caption(
            34,
            "By run",
            "Tokens of the digests of live runs, of the 50 with the most; each process reports its 50.",
            empty="No run has failed that is still going",
        ),
        rows(queries.by_run()),
        transformations=(
            columns(
                {
                    RUN_ID: "Run",
                    "Value": "Digests",
                    AGENT: "Agent",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(_NARROW, ("Run", links_of(row_link("This run", "errcompact-detail", RUN_ID)))),
        sort_by="Digests",
    )


def classes_by_cost() -> Table:
    """Which classes cost most."""
    return table(
        Caption(
            35,
            "By class",
            "Tokens of the digests of the time range, of the 50 classes with the most.",
            empty=NO_FAILURE,
        ),
        rows(queries.by_class()),
        transformations=(
            columns(
                {
                    TEMPLATE: "Message",
                    "Value": "Digests",
                    NAMESPACE: "Owner",
                    SERVICE: "Service",
                    ENVIRONMENT: "Environment",
                    CLASS: "Class",
                },
                hidden=("Time",),
            ),
        ),
        overrides=(
            ("Message", {"custom.minWidth": 300, "custom.inspect": True}),
            ("Digests", {"custom.width": 110}),
            ("/^(Message|Class)$/", links_of(row_link("All about this class", "errcompact-detail", CLASS))),
        ),
        sort_by="Digests",
    )


def money(panel_id: int, title: str, expr: str) -> Stat:
    """What tokens cost at the price that was entered."""
    return stat(
        Caption(
            panel_id,
            title,
            "Tokens of the time range times the price of a million that was entered, in its currency. The "
            "models report input and output; digests and errors without them are input.",
            unit="none",
            empty="No price was entered, or there are no tokens",
        ),
        instant(expr),
        decimals=2,
    )


def meaning() -> Text:
    """What the figures do not say."""
    return text(
        Caption(
            32, "What the figures mean", "How tokens are counted here, and what that leaves out.", unit="", empty=""
        ),
        MEANING,
    )
