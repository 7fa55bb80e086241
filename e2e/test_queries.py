"""
Every question that the dashboards and the alerts ask Prometheus, asked of it after failures that are known.

What they ask Tempo and Loki is checked as text (`tests/stack/test_dashboards.py`): neither is built here.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from e2e.backends import eventually
from e2e.build import cache
from e2e.counters import counted
from tests.stack import lookups
from tests.stack.boards import (
    GENERATED,
    UIDS,
    asked_of_variable,
    filled,
    load,
    panels,
    values_of,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from e2e.conftest import Story
    from e2e.stack import Stack
    from tests.stack.boards import Json

pytestmark = pytest.mark.timeout(300)

DEMO: Final = "e2e-demo"
REPLAY: Final = "e2e-replay"
AGENT: Final = "e2e-agent"

STEP: Final = 30
"""Seconds between two points of a graph."""

RANGE: Final = {"__range": "1h", "__range_s": "3600", "__interval": f"{STEP}s", "__rate_interval": "1m"}
"""A dashboard that shows the last hour."""

ARRIVAL: Final = 60
"""Seconds until everything has arrived."""

LEGEND_LABEL: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    One query of one panel.
    """

    board: str
    panel: str
    ref: str
    language: str
    text: str
    instant: bool
    bars: bool
    """Whether it is drawn as bars, of which each says what its interval has added."""
    legend: str

    def name(self, labels: Mapping[str, str]) -> str:
        """Return what a series is called: by its legend, or by the values of its labels where there is none."""
        if self.legend in {"", "__auto"}:
            return " ".join(value for _, value in sorted(labels.items()))
        return LEGEND_LABEL.sub(lambda match: labels.get(match[1], ""), self.legend)

    def __str__(self) -> str:
        return f"{self.board.removeprefix('errcompact-')}: {self.panel} {self.ref}"


def _questions() -> Iterator[Question]:
    for uid in UIDS:
        for panel in panels(load(uid)):
            custom = panel.get("fieldConfig", {}).get("defaults", {}).get("custom", {})
            for target in panel.get("targets", ()):
                yield Question(
                    board=uid,
                    panel=panel["title"],
                    ref=target["refId"],
                    language=target["datasource"]["type"],
                    text=target.get("expr") or target["query"],
                    instant=bool(target.get("instant")),
                    bars=custom.get("drawStyle") == "bars",
                    legend=target.get("legendFormat", ""),
                )


QUESTIONS: Final = tuple(_questions())
OF_PROMETHEUS: Final = [pytest.param(q, id=str(q)) for q in QUESTIONS if q.language == "prometheus"]


def ask(stack: Stack, question: Question, service: str = ".*") -> dict[str, float]:
    """Ask Prometheus as Grafana would, and return the values by the names of their series."""
    chosen = {**RANGE, "__to": str(int(time.time())), "service": service}
    text = filled(question.text, {**values_of(load(question.board)), **chosen})
    answer: dict[str, float] = {}
    if question.instant:
        for labels, value in stack.backends.prometheus.query(text):
            answer[question.name(labels)] = value
        return answer
    # Grafana puts the points of a graph on multiples of the step.
    end = int(time.time()) // STEP * STEP + STEP
    for series in stack.backends.prometheus.query_range(text, end - 3_600, end, STEP):
        values = [float(value) for _, value in series["values"]]
        answer[question.name(series["metric"])] = sum(values) if question.bars else values[-1]
    return answer


def agreed(stack: Stack, question: Question, service: str, own: Callable[[], Mapping[str, float]]) -> None:
    """Wait until a panel says the same as the service itself; if it never does, show the difference."""

    def agrees() -> bool:
        return ask(stack, question, service) == pytest.approx(dict(own()))

    with suppress(AssertionError):
        eventually(agrees, seconds=ARRIVAL, what=str(question))
    assert ask(stack, question, service) == pytest.approx(dict(own()))


@pytest.fixture(scope="module")
def filled_stack(stack: Stack, story: Story) -> Stack:
    """The stack once everything that was counted has arrived."""
    own = {DEMO: 12.0, REPLAY: 5.0, AGENT: _errors(story)}

    def there() -> dict[str, float]:
        services = "|".join(own)
        errors = f'errcompact_errors_total{{service_name=~"{services}"}}'
        samples = stack.backends.prometheus.query(f"sum by (service_name) (last_over_time({errors}[1h]))")
        return {labels["service_name"]: value for labels, value in samples}

    # The agent goes on in other tests.
    try:
        eventually(lambda: all(there().get(name, 0) >= own[name] for name in own), seconds=ARRIVAL, what="failures")
    except AssertionError:
        assert there() == own
        raise
    return stack


def _errors(story: Story) -> float:
    return sum(value for (metric, _), value in counted(story.points).items() if metric == "errcompact_errors_total")


@pytest.fixture(scope="module")
def answers(filled_stack: Stack) -> Iterator[dict[str, str]]:
    """What was answered, by the question; written down as a table when all have been asked."""
    found: dict[str, str] = {}
    yield found
    rows = [f"| {name} | `{_cell(text)}` | {_cell(found[name])} |" for name, text in _asked() if name in found]
    table = ["| panel or rule | query | answer |", "|---|---|---|", *rows]
    path = cache() / "queries.md"
    path.write_text("\n".join(table) + "\n", encoding="utf-8")


def _asked() -> Iterator[tuple[str, str]]:
    for question in QUESTIONS:
        yield str(question), question.text
    for rule in RULES:
        yield f"rule {rule.get('alert') or rule['record']}", rule["expr"]


def _cell(text: str) -> str:
    """Return a text that keeps within its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def shown(answer: Mapping[str, float], most: int = 4) -> str:
    """Return an answer in one line."""
    parts = [f"{name}: {value:g}" if name else f"{value:g}" for name, value in list(answer.items())[:most]]
    return ", ".join(parts) + (f" and {len(answer) - most} more" if len(answer) > most else "") or "nothing"


def _rules() -> list[Json]:
    groups = yaml.safe_load((GENERATED / "rules.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


RULES: Final = tuple(_rules())

QUIET: Final = {
    "detail: Failing and resolved C": "no resolution was taken back",
    "recurrence: Failing and resolved C": "no resolution was taken back",
    "health: Faults A": "nothing went wrong within the library",
    "health: Own faults A": "nothing went wrong within the library",
    "health: Overflow A": "few classes",
    "health: Evictions A": "few runs",
    "health: Forgotten to stay within bounds A": "few classes and runs",
    "recurrence: Handled failures by type A": "no failure was handled",
    "context: Lost calls A": "every call recovered",
    "inbox: New A": "the stack is younger than a day",
    "inbox: New B": "the stack is younger than a day",
    "tokens: Input costs A": "no price was entered",
    "tokens: Output costs A": "no price was entered",
    "tokens: Digests cost A": "no price was entered",
    "tokens: Without them A": "no price was entered",
}
"""Questions whose answer is that there is nothing."""

RED_TESTS: Final = (
    *("TestStats.test_a_day_without_orders", "TestStats.test_a_week_of_holidays"),
    *("TestStats.test_a_week_with_a_holiday", "TestStats.test_the_best_day"),
)
"""Those of the demo's suite."""

PERHAPS: Final = {
    "health: Dropped by the SDK A": "only where an export failed",
    "health: Span queue of the SDK A": "only with the SDK's own metrics",
    "health: Span queue of the SDK B": "only with the SDK's own metrics",
    "health: Refused and lost A": "only where the collector was stopped",
    "health: Refused and lost B": "only where the collector was stopped",
    "health: Refused and lost C": "only where the collector was stopped",
    "health: Samples that Prometheus refused A": "only where samples came twice",
    "recurrence: Streaks now A": "only while a run goes on that fails",
    "recurrence: Live streaks A": "only while a run goes on that fails",
    "detail: Streaks A": "only while a run goes on that fails",
    "escalations: Stuck now A": "only while a run goes on that fails",
    "escalations: Stuck now B": "only while a run waits for an answer",
    "tokens: By run A": "only while a run goes on that failed",
    "inbox: Classes: ${state:text} C": "only once windows of five minutes were recorded",
    "inbox: Classes: ${state:text} F": "only once windows of five minutes were recorded",
    "inbox: Classes: ${state:text} G": "only once windows of five minutes were recorded",
    "inbox: New C": "only where a version followed another one",
    "inbox: Alerts A": "only while an alert fires",
    "recurrence: Transient classes, by how long they have lasted A": "only where waiting helps",
    "detail: What the library advises A": "only for classes with a hint",
}
"""Questions whose answer depends on what other tests did to the stack."""


@pytest.mark.parametrize("question", OF_PROMETHEUS)
def test_prometheus_answers(filled_stack: Stack, answers: dict[str, str], question: Question) -> None:
    """Prometheus answers every question, with the labels of its legend; what has no answer is named here, and why."""
    if str(question) not in {*QUIET, *PERHAPS}:
        # What Prometheus says of itself is there after its first scrape, a quarter of a minute after its start.
        eventually(lambda: ask(filled_stack, question), seconds=ARRIVAL, what=str(question))
    answer = ask(filled_stack, question)
    answers[str(question)] = shown(answer)
    if str(question) in QUIET:
        assert answer == {}
    assert not any("  " in name or name != name.strip() for name in answer if question.legend not in {"", "__auto"})


class TestKnownAnswers:
    """
    Services that have done what is known, and are no more: a demo, a replay; and one whose own counters are known.
    """

    @pytest.mark.parametrize(
        ("service", "question", "expected"),
        [
            pytest.param(service, question, expected, id=f"{service} {question}")
            for service, known in {
                REPLAY: {
                    "recurrence: Failures A": {"": 5},
                    # The stack is younger than a day: what is new cannot be known.
                    "inbox: Classes by state A": {"no history yet": 2},
                    "recurrence: By agent A": {"tau-bench": 5},
                    "recurrence: By tool A": {"db.query": 5},
                    "recurrence: By type A": {"Error": 4, "SQLiteError": 1},
                    "recurrence: Resolution rate A": {"": 0.5},
                    "detail: Runs hit A": {"": 2},
                    "detail: Resolved A": {"": 1},
                    "detail: Services A": {REPLAY: 5},
                    "escalations: Escalations A": {"": 1},
                    "escalations: Escalations by threshold A": {"same": 1},
                    "escalations: Escalations over time A": {"tau-bench same": 1},
                    "escalations: Agents that escalate most A": {f"e2e tau-bench {REPLAY}": 1},
                    "escalations: Agents that escalate most C": {f"e2e tau-bench {REPLAY}": 3},
                    "escalations: Agents that escalate most D": {},
                    "escalations: Runs A": {"": 3},
                    "escalations: Runs by result A": {"clean": 1, "recovered": 1, "unresolved": 1},
                    "escalations: Halted runs A": {},
                    "escalations: Refused calls A": {},
                    "escalations: Unresolved runs A": {"": 1},
                    # A class was left open in one of three; none has failed.
                    "escalations: Budget left A": {f"{REPLAY} e2e": 1},
                    "escalations: Failed or halted runs, share A": {f"{REPLAY} e2e 1 hour": 0},
                    "escalations: Failed or halted runs, share B": {f"{REPLAY} e2e 6 hours": 0},
                },
                DEMO: {
                    "recurrence: Failures A": {"": 12},
                    "recurrence: By agent A": {"sales-report": 12},
                    "recurrence: By tool A": {"publish": 8, "read_json": 1, "query": 1, "run_tests": 1, "shell": 1},
                    "recurrence: Outcomes over time A": {"first in its run": 7, "repeat": 5},
                    "recurrence: Red tests A": dict.fromkeys(RED_TESTS, 1),
                    "escalations: Escalations A": {"": 2},
                    "escalations: Unhandled A": {},
                    "escalations: Failures since A": {},
                    "escalations: Escalations by threshold A": {"same": 2},
                    "escalations: Escalations by action A": {"continue": 1, "halt": 1},
                    "escalations: Escalations over time A": {"sales-report same": 2},
                    "escalations: Runs by result A": {"halted": 1},
                    "escalations: Halted runs A": {"": 1},
                    "escalations: Budget left A": {f"{DEMO} e2e": -19},
                    "escalations: Refused calls A": {"": 1},
                    "escalations: Unresolved runs A": {},
                    "escalations: Stuck now A": {},
                },
            }.items()
            for question, expected in known.items()
        ],
    )
    def test_of_the_past(self, filled_stack: Stack, service: str, question: str, expected: dict[str, float]) -> None:
        """What is known to have happened is what the panel says, to the last digit."""
        agreed(filled_stack, _named(question), service, lambda: expected)

    @pytest.mark.parametrize(
        ("question", "metric", "labels"),
        [
            pytest.param(question, metric, labels, id=question)
            for question, metric, labels in (
                ("escalations: Escalations by action A", "errcompact_escalations_total", ("errcompact_action",)),
                ("escalations: Escalations by threshold A", "errcompact_escalations_total", ("errcompact_threshold",)),
                ("escalations: Runs by result A", "errcompact_runs_total", ("errcompact_result",)),
                ("recurrence: Outcomes over time A", "errcompact_errors_total", ("errcompact_outcome",)),
                ("recurrence: Declared and stated A", "errcompact_errors_total", ("errcompact_certainty",)),
                ("recurrence: By tool A", "errcompact_errors_total", ("gen_ai_tool_name",)),
                ("recurrence: By type A", "errcompact_errors_total", ("error_type",)),
                ("context: Overflows over time A", "errcompact_context_overflows_total", ("errcompact_result",)),
            )
        ],
    )
    def test_of_the_living(
        self, filled_stack: Stack, story: Story, question: str, metric: str, labels: tuple[str, ...]
    ) -> None:
        """Of an agent that still runs, a panel says what the agent's own instruments say."""

        def own() -> dict[str, float]:
            summed: dict[str, float] = defaultdict(float)
            for (name, series), value in counted(story.agent.points()).items():
                if name == metric:
                    said = " ".join(dict(series).get(label, "") for label in labels)
                    # `new` is a state of a class; of an occurrence the page says what it means.
                    summed["first in its run" if said == "new" else said] += value
            return summed

        agreed(filled_stack, _named(question), AGENT, own)

    def test_tokens(self, filled_stack: Stack, story: Story) -> None:
        """Raw, sent, digest and what was saved against that are those of the agent's own counters."""
        own: dict[str, float] = defaultdict(float)
        for (metric, series), value in counted(story.agent.points()).items():
            if metric == "errcompact_context_tokens_total":
                own[dict(series)["errcompact_form"]] += value
        expected = {
            "Raw errors, whole": own["raw"],
            "Without digests": own["sent"],
            "Digests": own["digest"],
            "Saved": own["sent"] - own["digest"],
        }
        for name, tokens in expected.items():
            agreed(filled_stack, _named(f"tokens: {name} A"), AGENT, lambda tokens=tokens: {"": tokens})

    def test_layers(self, filled_stack: Stack, story: Story) -> None:
        """What each layer has taken out, and what that cost a prompt cache, are those of the agent's own counters."""
        own: dict[tuple[str, str], float] = {
            (dict(series)["errcompact_layer"], dict(series)["errcompact_form"]): value
            for (name, series), value in counted(story.agent.points()).items()
            if name == "errcompact_context_layer_tokens_total"
        }
        layers = {layer for layer, _ in own}
        assert len(layers) > 1
        saved = {layer: own[layer, "before"] - own[layer, "after"] for layer in layers}
        agreed(filled_stack, _named("context: By layer B"), AGENT, lambda: saved)
        invalidated = {layer: own[layer, "invalidated"] for layer in layers}
        agreed(filled_stack, _named("context: By layer C"), AGENT, lambda: invalidated)

    def test_a_share_is_of_its_own_whole(self, filled_stack: Stack) -> None:
        """Services whose models report nothing are left out of the share, instead of making it greater than it is."""
        share, tokens, bill = (
            ask(filled_stack, _named(name), f"{DEMO}|{AGENT}")[""]
            for name in ("tokens: Share of digests A", "tokens: Digests A", "tokens: Input tokens A")
        )
        of_demo = ask(filled_stack, _named("tokens: Digests A"), DEMO)[""]
        assert share == pytest.approx(of_demo / bill)
        assert of_demo < tokens

    def test_no_bill(self, filled_stack: Stack) -> None:
        """Where models report nothing there is no share, and no division by nothing."""
        names = [str(q) for q in QUESTIONS if q.board == "errcompact-tokens" and "hare" in q.panel]
        assert [name for name in names if ask(filled_stack, _named(name), AGENT)] == []


def _named(name: str) -> Question:
    (found,) = (question for question in QUESTIONS if str(question) == name)
    return found


@pytest.mark.parametrize("uid", UIDS)
def test_variables_have_values(filled_stack: Stack, uid: str) -> None:
    """Every chooser offers what has been sent: services, agents, tools, types and classes."""
    board = load(uid)
    offered = {}
    for variable in variables(board):
        if variable["type"] == "query":
            series, label = asked_of_variable(filled(_text(variable), {**values_of(board), **RANGE}))
            answer = filled_stack.backends.prometheus.get(f"/api/v1/label/{label}/values", **{"match[]": series})
            offered[variable["name"]] = set(answer["data"])
    assert {DEMO, REPLAY, AGENT} <= offered["service"]
    assert {"sales-report", "tau-bench"} <= offered.get("agent", {"sales-report", "tau-bench"})
    assert {"publish", "db.query"} <= offered.get("tool", {"publish", "db.query"})
    assert "SQLiteError" in offered.get("error_type", {"SQLiteError"})
    assert all(offered.values())


def _text(variable: Json) -> str:
    query: Any = variable["query"]
    return str(query["query"] if isinstance(query, dict) else query)


@pytest.mark.parametrize("uid", UIDS)
def test_annotations_are_answered(filled_stack: Stack, uid: str) -> None:
    """Prometheus answers what marks the graphs."""
    board = load(uid)
    end = int(time.time())
    for annotation in board.get("annotations", {}).get("list", ()):
        if "expr" in annotation:
            text = filled(annotation["expr"], {**values_of(board), **RANGE})
            filled_stack.backends.prometheus.query_range(text, end - 3_600, end, 60)


ASKED_OF_TEMPO: Final = [pytest.param(q, id=str(q)) for q in QUESTIONS if q.language == "tempo"]
ASKED_OF_LOKI: Final = [pytest.param(q, id=str(q)) for q in QUESTIONS if q.language == "loki"]

OF_OTHERS: Final = {"session.id", "errcompact.run.id"}
"""What else a run's id may be called on spans; those of our boundaries say `gen_ai.conversation.id`."""


@pytest.mark.parametrize("question", ASKED_OF_TEMPO)
def test_what_tempo_is_asked_for_is_on_spans(filled_stack: Stack, story: Story, question: Question) -> None:
    """Every attribute that TraceQL names has arrived, on a span, on an event or on a resource, as the query says."""
    wanted = {match[0] for match in lookups.ATTRIBUTE.finditer(question.text) if match["name"] not in OF_OTHERS}
    assert wanted
    traces = [done.answer[0]["trace"] for done in (story.raw, story.burst)]
    found: set[str] = set()

    def look() -> bool:
        for span in chain.from_iterable(map(filled_stack.backends.jaeger.trace, traces)):
            found.update(f"span.{name}" for name in span.attributes)
            found.update(f"event.{name}" for _, attributes in span.events for name in attributes)
            found.update({"resource.service.name"} if span.service == AGENT else ())
        return wanted <= found

    with suppress(AssertionError):
        eventually(look, seconds=ARRIVAL, what=str(question))
    assert wanted - found == set()


@pytest.mark.parametrize("question", ASKED_OF_LOKI)
def test_what_loki_is_asked_for_is_on_records(filled_stack: Stack, question: Question) -> None:
    """Every label that LogQL names has arrived on the records of an escalation; Loki writes `_` for each dot."""
    logs, query = filled_stack.backends.victorialogs, f'"service.name":="{DEMO}" "errcompact.threshold":*'
    eventually(lambda: len(logs.query(query)) == 2, seconds=ARRIVAL, what=query)
    records = logs.query(query)
    for record in records:
        assert lookups.names(question.text) <= {re.sub(r"\W", "_", name) for name in record}
    assert {re.sub(r"^escalation, \w+: [^:]+: | \(agent .*", "", record["_msg"]) for record in records} == {
        "[uploads_closed] HTTP 410: uploads have moved away from here",
        "[http.client.BadStatusLine] mirror: cannot start the server",
    }
    assert len({record["errcompact.run.id"] for record in records}) == 1
    assert len({record["errcompact.class"] for record in records}) == 2
    assert {(record["gen_ai.agent.name"], record["errcompact.threshold"]) for record in records} == {
        ("sales-report", "same")
    }


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, id=f"{rule.get('alert') or rule['record']} {n}") for n, rule in enumerate(RULES)]
)
def test_rules_are_answered(filled_stack: Stack, answers: dict[str, str], rule: Json) -> None:
    """Prometheus answers the expression of every rule, also of those that must not fire now."""
    samples = filled_stack.backends.prometheus.query(rule["expr"])
    named = {" ".join(value for _, value in sorted(labels.items())): value for labels, value in samples}
    answers[" ".join(["rule", rule.get("alert") or rule["record"], *rule.get("labels", {}).values()])] = shown(
        named, most=2
    )
    assert all(value == value for value in named.values()), "a rule's answer is a number"  # noqa: PLR0124


def test_rules_are_healthy(filled_stack: Stack) -> None:
    """Prometheus itself has no complaint about any rule it evaluates."""

    def states(most: float) -> dict[str, str]:
        groups = filled_stack.backends.prometheus.get("/api/v1/rules")["data"]["groups"]
        found = [rule for group in groups if group["interval"] <= most for rule in group["rules"]]
        return {rule["name"]: rule["health"] for rule in found}

    # A rule is of unknown health until its group's first turn; some groups have one in half an hour.
    eventually(lambda: "unknown" not in states(60).values(), seconds=90, what="a first evaluation of every rule")
    assert set(states(60).values()) == {"ok"}
    every = states(3_600)
    assert len(every) == len({rule.get("alert") or rule["record"] for rule in RULES})
    assert set(every.values()) <= {"ok", "unknown"}
