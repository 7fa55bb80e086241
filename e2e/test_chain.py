"""What agents fail with arrives: counted exactly, whole, without secrets, at the pager, and in spite of outages."""

from __future__ import annotations

import base64
import json
import re
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from e2e.backends import eventually
from e2e.conftest import BESIDE_THE_SECRET, BURST, RAW, SECRET, TRANSCRIPT
from e2e.counters import AGENT, RESOURCE, arrived, counted
from e2e.driving import Agent, table
from tests.stack.boards import filled, load, panels, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from e2e.backends import Prometheus, Span
    from e2e.conftest import Measured, Paged, Printed, Story
    from e2e.counters import Counters
    from e2e.stack import Stack

pytestmark = pytest.mark.timeout(300)

PAGED_WITHIN = 30
"""Seconds from the failure to the webhook, with the shipped intervals."""

ARRIVAL = 30
"""Seconds that counters may take once they were handed over: they do not wait on the way."""


def agrees(prometheus: Prometheus, service: str, own: Counters, **options: frozenset[str]) -> Callable[[], bool]:
    """Make a check that Prometheus says the same as the library."""

    def check() -> bool:
        return arrived(prometheus, service, **options) == own

    return check


def assert_agrees(prometheus: Prometheus, service: str, own: Counters, **options: frozenset[str]) -> float:
    """Wait until Prometheus says the same as the library; if it never does, show the difference."""
    try:
        return eventually(agrees(prometheus, service, own, **options), seconds=ARRIVAL, what=f"counters of {service}")
    except AssertionError:
        assert arrived(prometheus, service, **options) == own
        raise


def exceptions(spans: Sequence[Span]) -> list[Mapping[str, object]]:
    """Return the attributes of all exception events of a trace."""
    return [attributes for span in spans for name, attributes in span.events if name == "exception"]


def arrived_trace(stack: Stack, trace_id: str, seconds: float = 20) -> list[Span]:
    """Wait until a trace is in Jaeger."""
    eventually(lambda: stack.backends.jaeger.trace(trace_id), seconds=seconds, what=f"trace {trace_id}")
    return stack.backends.jaeger.trace(trace_id)


DEMO_ERRORS = (
    ("read_json", "json.decoder.JSONDecodeError", "d4e6ac218ba45407", "new", 1),
    ("query", "sqlite3.OperationalError", "36bc9f7d255d72c1", "new", 1),
    ("run_tests", "ZeroDivisionError", "e3e3e7ad11f97c9b", "new", 1),
    ("shell", "UsageError", "7301a3f7e0150e69", "new", 1),
    ("publish", "uploads_closed", "587ff577ec420257", "new", 1),
    ("publish", "uploads_closed", "587ff577ec420257", "repeat", 2),
    ("publish", "read_only", "c4db1048d68d13fa", "new", 1),
    ("publish", "read_only", "c4db1048d68d13fa", "repeat", 1),
    ("publish", "http.client.BadStatusLine", "e58872d0411542c8", "new", 1),
    ("publish", "http.client.BadStatusLine", "e58872d0411542c8", "repeat", 2),
)
"""The demo's failures: tool, type, class, outcome, how many. `packages/lab/tests/cli/test_demo.py` holds it to that."""


def test_the_demo_s_counters_are_in_prometheus(stack: Stack, demo: Printed) -> None:
    """Over gRPC: what the demo provokes, and the tokens of its bill, is what Prometheus says, by every attribute."""
    names = ("gen_ai.tool.name", "error.type", "errcompact.class", "errcompact.outcome")
    points = [("errcompact.errors", dict(zip(names, row[:4], strict=True)), row[4]) for row in DEMO_ERRORS]
    bill = table(demo.stdout, "tokens (characters / 4)")[0]
    for form, column in (("raw", "raw"), ("sent", "sent"), ("digest", "digests")):
        points.append(("errcompact.context.tokens", {"errcompact.form": form}, int(bill[column].replace(",", ""))))
    for action, key in (("continue", "587ff577ec420257"), ("halt", "e58872d0411542c8")):
        attributes = {"errcompact.action": action, "errcompact.class": key, "errcompact.threshold": "same"}
        points.append(("errcompact.escalations", attributes, 1))
    for tool, _, key, *_ in DEMO_ERRORS[:4]:
        attributes = {"errcompact.class": key, "errcompact.resolution": "resolved", "gen_ai.tool.name": tool}
        points.append(("errcompact.resolutions", attributes, 1))
    points.append(("errcompact.runs", {"errcompact.result": "halted"}, 1))
    told = [{"instrument": name, "attributes": about, "value": value} for name, about, value in points]
    # The agent's name is one, and how a failure is known is left out.
    own = counted(told, without=frozenset({"gen_ai_agent_name"}))
    assert_agrees(stack.backends.prometheus, demo.service, own, without=frozenset({AGENT, "errcompact_certainty"}))
    named = stack.backends.prometheus.query(
        f'last_over_time(errcompact_errors_total{{service_name="{demo.service}"}}[2h])'
    )
    assert {labels[AGENT] for labels, _ in named} == {"sales-report"}


def test_a_replay_s_counters_are_in_prometheus(stack: Stack, replay: Printed) -> None:
    """Over HTTP: what `errcompact replay --json` totals is what Prometheus says."""
    total = json.loads(replay.stdout)["total"]
    assert (total["runs"], total["failures"], total["classes"]) == (len(TRANSCRIPT), 5, 2)
    prometheus, service = stack.backends.prometheus, f'service_name="{replay.service}"'

    def sum_of(metric: str, by: str) -> dict[str, float]:
        samples = prometheus.query(f"sum by ({by}) (last_over_time({metric}{{{service}}}[2h]))")
        return {sample.labels.get(by, ""): sample.value for sample in samples}

    # An escalation stops no recorded run, and is answered with fresh counters.
    expected = {
        ("errcompact_errors_total", "errcompact_outcome"): {"new": 2, "repeat": 2, "after_escalation": 1},
        ("errcompact_runs_total", "errcompact_result"): {"unresolved": 1, "recovered": 1, "clean": 1},
        ("errcompact_escalations_total", "errcompact_threshold"): {"same": total["escalations"]},
        ("errcompact_resolutions_total", ""): {"": 1},
        ("errcompact_context_tokens_total", "errcompact_form"): {
            "raw": total["raw_error_tokens"],
            "sent": total["raw_error_tokens"],
            "digest": total["digest_tokens"],
        },
    }

    def found() -> dict[tuple[str, str], dict[str, float]]:
        return {asked: sum_of(*asked) for asked in expected}

    with suppress(AssertionError):
        eventually(lambda: found() == expected, seconds=ARRIVAL, what="the replay's counters")
    assert found() == expected


def test_an_agent_s_counters_are_in_prometheus(stack: Stack, story: Story) -> None:
    """Every counter, by every attribute set, equals what the agent's own reader says."""
    own = counted(story.points)
    seconds = assert_agrees(stack.backends.prometheus, story.service, own)
    assert seconds < ARRIVAL
    by_outcome: Counter[str] = Counter()
    for (metric, labels), value in own.items():
        if metric == "errcompact_errors_total":
            by_outcome[dict(labels)["errcompact_outcome"]] += int(value)
    # A secret, a raw error, two that recover, a burst, three up to each of two escalations, and five after those.
    assert by_outcome == {"new": 6, "repeat": 1 + BURST - 1 + 2 + 2, "after_escalation": 4 + 1}


def test_nothing_but_errors_is_counted_as_a_failure_of_our_own(stack: Stack) -> None:
    """No agent has had an internal failure."""
    assert stack.backends.prometheus.query('errcompact_internal_failures_total{service_name=~"e2e-.*"} > 0') == []


def test_an_exemplar_leads_to_the_raw_error(stack: Stack, story: Story) -> None:
    """From the counter's exemplar to a trace in Jaeger, whose event holds the raw error byte for byte."""
    (failed,) = story.raw.answer
    selector = f'errcompact_errors_total{{service_name="{story.service}", errcompact_class="{failed["key"]}"}}'
    found: list[Mapping[str, str]] = []

    def look() -> bool:
        found[:] = stack.backends.prometheus.exemplars(selector)
        return bool(found)

    eventually(look, seconds=ARRIVAL, what="an exemplar")
    assert [exemplar["trace_id"] for exemplar in found] == [failed["trace"]]
    spans = arrived_trace(stack, found[0]["trace_id"])
    (event,) = exceptions(spans)
    assert event["exception.message"] == RAW
    assert event["exception.stacktrace"] == failed["raw"]
    assert failed["raw"].endswith(f"ToolFailedError: {RAW}\n")
    assert event["errcompact.class"] == failed["key"]


def test_bytes_that_are_no_text_arrive(stack: Stack, agent: Agent) -> None:
    """What no string attribute can hold exactly stands beside the text, as bytes."""
    (failed,) = agent.do("burst", message="no such file: 'caf\udce9.txt'", tool="open").answer
    agent.do("flush")
    (event,) = exceptions(arrived_trace(stack, failed["trace"]))
    raw = base64.b64decode(str(event["errcompact.raw"]))
    assert raw.decode("utf-8", "surrogatepass") == failed["raw"]
    assert "caf\udce9.txt" in failed["raw"]


def test_a_class_leads_to_its_traces(stack: Stack, agent: Agent, measured: Measured) -> None:
    """A search for the class, which only an event on the span holds, finds its trace and no other."""
    (failed,) = agent.do("burst", message="the shelf is empty", tool="fetch").answer
    agent.do("burst", message="the shelf is gone", tool="fetch")
    jaeger, sought = stack.backends.jaeger, {"errcompact.class": failed["key"]}
    by_id = eventually(lambda: jaeger.trace(failed["trace"]), seconds=20, what="the trace by its id")
    searched = eventually(lambda: jaeger.search(agent.service, **sought), seconds=20, what=f"search for {sought}")
    assert jaeger.search(agent.service, **sought) == [failed["trace"]]
    measured("failure to trace by id", by_id)
    measured("failure to trace by search", by_id + searched)


def test_a_class_leads_to_its_log_records(bare_stack: Stack, tmp_path: Path) -> None:
    """Where failures are sent as log records, the class finds span and record, and nothing is lost."""
    agent = Agent(bare_stack, "e2e-records", "grpc", tmp_path, OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN="logs")
    try:
        (failed,) = agent.do("burst", message=f"the shelf is empty\n{RAW}", tool="fetch").answer
        escalated = agent.do("escalate", message="the shelf is gone").answer
        own = counted(agent.points())
    finally:
        agent.close()
    assert_agrees(bare_stack.backends.prometheus, agent.service, own)
    jaeger, sought = bare_stack.backends.jaeger, {"errcompact.class": failed["key"]}
    eventually(lambda: jaeger.search(agent.service, **sought), seconds=20, what=f"search for {sought}")
    assert jaeger.search(agent.service, **sought) == [failed["trace"]]
    assert exceptions(jaeger.trace(failed["trace"])) == []
    (record,) = arrived_records(bare_stack, agent.service, failed["key"])
    assert record["exception.stacktrace"] == failed["raw"]
    assert (record["trace_id"], record["span_id"]) == (failed["trace"], failed["span"])
    # Each of its failures, and the escalation.
    expected = escalated["failures"] + 1
    assert len(arrived_records(bare_stack, agent.service, escalated["key"], expected)) == expected


def arrived_records(stack: Stack, service: str, key: str, number: int = 1) -> Sequence[Mapping[str, str]]:
    """Wait until so many log records of a service about a class, or more, are in VictoriaLogs."""
    logs, query = stack.backends.victorialogs, f'"service.name":="{service}" "errcompact.class":="{key}"'
    eventually(lambda: len(logs.query(query)) >= number, seconds=ARRIVAL, what=query)
    return logs.query(query)


def test_what_jaeger_could_not_keep_is_cut(stack: Stack, agent: Agent) -> None:
    """A raw error that is too long for Jaeger's store costs its end, and neither its trace nor its class."""
    message = "0123456789abcdef" * 5_000
    (failed,) = agent.do("burst", message=message, tool="dump").answer
    agent.do("flush")
    (event,) = exceptions(arrived_trace(stack, failed["trace"]))
    assert event["errcompact.class"] == failed["key"]
    assert len(failed["raw"]) > len(message)
    for name, whole in (("message", message), ("stacktrace", failed["raw"])):
        kept = str(event[f"exception.{name}"])
        assert (len(kept), whole.startswith(kept)) == (60_000, True), name


def test_a_secret_reaches_no_back_end(stack: Stack, story: Story) -> None:
    """What stood beside the secret has arrived everywhere, the secret nowhere."""
    (failed,) = story.secret.answer
    assert SECRET in failed["raw"]
    spans = arrived_trace(stack, failed["trace"])
    everything = repr(spans)
    (event,) = exceptions(spans)
    assert BESIDE_THE_SECRET in str(event["exception.message"])
    assert BESIDE_THE_SECRET in str(event["exception.stacktrace"])
    assert any(BESIDE_THE_SECRET in span.status for span in spans)
    assert SECRET not in everything
    texts = set(stack.backends.prometheus.texts())
    assert any(BESIDE_THE_SECRET in text for text in texts)
    assert not any(SECRET in text for text in texts)
    records = stack.backends.victorialogs.query(f'"service.name":="{story.service}"')
    assert records
    assert SECRET not in repr(records)


def test_a_secret_is_on_no_disk(stack: Stack, story: Story, agent: Agent) -> None:
    """Neither in what the back ends keep nor in the collector's queue, which held it while Jaeger was away."""
    assert story.secret.answer
    jaeger = stack.programs["jaeger"]
    beside = f"{BESIDE_THE_SECRET}-again"
    jaeger.kill()
    try:
        done = agent.do("burst", message=f"login of {beside} failed: key {SECRET} was refused", tool="login")
        agent.do("flush")
        queue = stack.programs["otelcol"].directory
        # That the grep can find what is there is shown by what stood beside the secret.
        eventually(lambda: holds(queue, beside), seconds=30, what=f"{beside} in the queue on disk")
    finally:
        jaeger.restart()
    (event,) = exceptions(arrived_trace(stack, done.answer[0]["trace"], seconds=60))
    assert beside in str(event["exception.message"])
    for program in stack.programs.values():
        assert not holds(program.directory, SECRET), program.name
        assert SECRET.encode() not in program.log.read_bytes(), program.name


def holds(folder: Path, text: str) -> bool:
    """Tell whether a file in a folder holds a text."""
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "alert",
    [
        pytest.param("AgentErrorRecurring", id="recurrence"),
        pytest.param("AgentRunEscalated", id="escalation"),
    ],
)
def test_the_pager_rings_on_a_first_burst(pages: Sequence[Paged], measured: Measured, alert: str) -> None:
    """The very first burst of a new service calls the webhook in under half a minute, at any phase of the intervals."""
    seconds = sorted(paged.seconds for paged in pages if paged.alert == alert)
    assert len(seconds) == 3
    measured(f"failure to webhook: {alert}", ", ".join(f"{each:.1f}" for each in seconds) + " s")
    assert max(seconds) < PAGED_WITHIN


def test_an_alert_says_what_happened(stack: Stack, pages: Sequence[Paged]) -> None:
    """The webhook gets a text with the number that was counted, and links."""
    paged = next(paged for paged in pages if paged.alert == "AgentErrorRecurring")
    (alert, *_) = stack.webhook.firing(paged.alert, **paged.labels)
    assert alert.labels["severity"] == "warning"
    assert re.search(rf"\b{BURST} times\b", alert.annotations["summary"])
    assert alert.annotations["runbook_url"].endswith("#agenterrorrecurring")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("AgentErrorRecurring", "connection to <ip>:5432 refused", id="class"),
        pytest.param("AgentRunEscalated", "quota of project exceeded", id="run"),
    ],
)
def test_a_link_leads_to_the_answer(stack: Stack, pages: Sequence[Paged], name: str, shown: str) -> None:
    """The page that an alert opens shows its class, in its service, with the message that the alert has named."""
    paged = next(paged for paged in pages if paged.alert == name)
    (alert, *_) = stack.webhook.firing(paged.alert, **paged.labels)
    link = urlsplit(alert.annotations["dashboard_url"])
    board = load(link.path.removeprefix("/d/"))
    chosen = {key.removeprefix("var-"): value for key, value in parse_qsl(link.query, keep_blank_values=True)}
    assert int(chosen["to"]) / 1000 == pytest.approx(alert.at, abs=120)
    assert int(chosen["to"]) - int(chosen["from"]) == pytest.approx(6 * 3_600_000, abs=60_000)
    assert {"service", "class", "environment"} <= chosen.keys()
    (panel,) = (each for each in panels(board) if each["title"] == "What the class is")
    query = filled(panel["targets"][0]["expr"], {**values_of(board), **chosen})
    ((labels, _),) = stack.backends.prometheus.query(query)
    assert labels["errcompact_template"] == shown
    assert labels["service_name"] == paged.labels["service_name"]
    assert shown in alert.annotations["description"]


def test_an_unanswered_escalation_rings_too(stack: Stack, story: Story) -> None:
    """A run that nobody has opened, so that nobody could stop it."""
    told = eventually(
        lambda: stack.webhook.firing("AgentEscalationUnhandled", service_name=story.service),
        seconds=60,
        what="AgentEscalationUnhandled",
    )
    assert told < 60


def test_healthy_traces_are_runs_and_page_nobody(bare_stack: Stack, agent: Agent) -> None:
    """Twenty traces of healthy agents that nobody wraps, and one that fails: 20 clean, 1 failed, and no alert."""
    agent.do("trace", healthy=20, message="the shelf is being moved")
    own = counted(agent.points())
    prometheus, selector = bare_stack.backends.prometheus, f'service_name="{agent.service}"'
    assert_agrees(prometheus, agent.service, own)
    runs = prometheus.query(f'last_over_time(errcompact_runs_total{{{selector}, {AGENT}!="e2e"}}[2h])')
    by_result: Counter[str] = Counter()
    for labels, value in runs:
        by_result[labels["errcompact_result"]] += int(value)
    assert by_result == Counter(clean=20, failed=1)
    # What the alert asks has been asked when the share is known; with the agent's first run they are 22.
    share = f"errcompact:runs:failed_share5m{{{selector}}}"
    eventually(lambda: prometheus.query(share), seconds=120, what=share)
    assert prometheus.total(share) == pytest.approx(1 / 22)
    assert prometheus.query(f'ALERTS{{alertname="AgentErrorBudgetBurning", {selector}}}') == []
    assert not bare_stack.webhook.firing("AgentErrorBudgetBurning", service_name=agent.service)


def test_escalations_are_log_records(stack: Stack, story: Story) -> None:
    """At ERROR, with the class as a field, in a stream of the service and its environment."""
    (record, *_) = arrived_records(stack, story.service, story.escalated.answer["key"])
    assert record["severity_text"] == "ERROR"
    assert record["_stream"] == f'{{deployment.environment.name="e2e",service.name="{story.service}"}}'


def test_an_agent_without_the_library_is_counted_coarsely(stack: Stack, plain: str) -> None:
    """Plain exception events of anybody's instrumentation become the same metric, by type, tool and agent."""
    selector = f'errcompact_errors_total{{service_name="{plain}"}}'
    prometheus = stack.backends.prometheus
    eventually(lambda: prometheus.total(selector) == 3, seconds=ARRIVAL, what=selector)
    (sample,) = prometheus.query(selector)
    told = {name: value for name, value in sample.labels.items() if name not in RESOURCE}
    assert told.pop("errcompact_class").startswith("coarse-")
    assert told == {
        "error_type": "TimeoutError",
        "errcompact_outcome": "coarse",
        "errcompact_certainty": "declared",
        "gen_ai_tool_name": "fetch",
        "gen_ai_agent_name": "other",
    }


class TestOutages:
    """A program dies while an agent is at work, and comes back: nothing that was counted is missing."""

    def test_of_the_collector(self, stack: Stack, agent: Agent, measured: Measured) -> None:
        """Killed under load: all counters in the end, and every trace of a failure."""
        collector = stack.programs["otelcol"]
        agent.tell("work", message="no answer from 10.0.0.9", seconds=9)
        time.sleep(4)
        killed = time.time()
        collector.kill()
        time.sleep(4)
        collector.restart()
        back = time.time()
        # However long the start has taken.
        agent.tell("work", message="no answer from 10.0.0.9", seconds=4)
        traces = [*agent.answer().answer, *agent.answer().answer]
        own = counted(agent.points())
        seconds = assert_agrees(stack.backends.prometheus, agent.service, own)
        missing = self._missing(stack, [trace for trace, _ in traces])
        measured("collector killed under load: away for", back - killed)
        measured("collector killed under load: counters right after", seconds)
        measured("collector killed under load: failures", str(len(traces)))
        measured("collector killed under load: traces missing", str(len(missing)))
        assert any(ended < killed for _, ended in traces)
        assert any(killed < ended < back for _, ended in traces)
        assert any(ended > back for _, ended in traces)
        assert missing == []

    def test_of_prometheus(self, stack: Stack, agent: Agent, measured: Measured) -> None:
        """Away for a while: the collector's queue holds what it would have got."""
        prometheus = stack.programs["prometheus"]
        agent.tell("work", message="no answer from 10.0.0.10", seconds=18)
        time.sleep(2)
        prometheus.kill()
        time.sleep(14)
        before = time.monotonic()
        prometheus.restart()
        agent.answer()
        seconds = assert_agrees(stack.backends.prometheus, agent.service, counted(agent.points()))
        measured("Prometheus away for 14 s: counters right after its return", time.monotonic() - before)
        assert seconds < ARRIVAL
        # What was exported while it was away came out of the queue, with the times at which it was counted.
        values = stack.backends.prometheus.query_range(
            f'sum(errcompact_errors_total{{service_name="{agent.service}"}})', time.time() - 60, time.time(), step=1
        )
        assert len({value for _, value in values[0]["values"]}) >= 2

    def _missing(self, stack: Stack, traces: Sequence[str]) -> list[str]:
        missing = list(traces)

        def look() -> bool:
            missing[:] = [trace for trace in missing if not stack.backends.jaeger.trace(trace)]
            return not missing

        with suppress(AssertionError):
            eventually(look, seconds=30, what="all traces")
        return missing
