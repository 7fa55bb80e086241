"""The alerts as data: what must hold for each, whichever program reads it."""

from __future__ import annotations

import re
from pathlib import Path

import promql_parser
import pytest
import yaml

from dashboards import metrics
from dashboards.alert_files import alert_files
from dashboards.alert_links import page_url
from dashboards.alerts import ALERTS
from dashboards.grafana_rules import grafana_rules
from dashboards.panels import panel_id, variables_of
from dashboards.prometheus_rules import RECORDINGS, expression, optional_rules, prometheus_rules
from dashboards.wording import filled
from tests.stack.metrics import known
from tests.stack.promql import labels_of

ROOT = Path(__file__).parent.parent.parent
RUNBOOK = ROOT / "dashboards" / "RUNBOOK.md"
CASES = sorted((ROOT / "dashboards" / "rules_test").glob("*.yaml"))

NAMES = {
    "AgentErrorRecurring",
    "AgentErrorsManyClasses",
    "AgentRunEscalated",
    "AgentEscalationUnhandled",
    "AgentFailuresAfterEscalation",
    "AgentErrorBudgetBurning",
    "AgentErrorClassNew",
    "AgentErrorNewInVersion",
    "AgentErrorBackAgain",
    "AgentCallsRepeated",
    "AgentStreakNearThreshold",
    "AgentErrorShareHigh",
    "AgentErrorTelemetryFailing",
    "AgentTelemetrySilent",
}

OPTIONAL = {"AgentErrorBackAgain", "AgentCallsRepeated"}

METRICS = {
    "errcompact_errors_total",
    "errcompact_run_streak",
    "errcompact_class_info",
    "errcompact_resolutions_total",
    "errcompact_repeats_total",
    "errcompact_escalations_total",
    "errcompact_runs_total",
    "errcompact_context_tokens_total",
    "errcompact_internal_failures_total",
    "gen_ai_client_token_usage_sum",
    "otelcol_process_uptime_seconds_total",
    *(
        f"otelcol_{problem}_{signal}_total"
        for problem in ("exporter_send_failed", "exporter_enqueue_failed", "receiver_refused")
        for signal in ("spans", "metric_points", "log_records")
    ),
}

IDENTITY = {
    "service_name",
    "deployment_environment_name",
    "service_namespace",
    "service_version",
    "gen_ai_agent_name",
    "gen_ai_tool_name",
    "error_type",
    "errcompact_class",
    "errcompact_outcome",
    "errcompact_threshold",
    "errcompact_action",
    "errcompact_result",
    "errcompact_form",
    "errcompact_stage",
    "exporter",
    "receiver",
    "component",
    "errcompact_resolution",
}

OF_THE_EVALUATION_BEFORE = {"errcompact:class:failing_since": {"errcompact:class:last_seen"}}
"""What a rule reads of the time before its own, on purpose."""

IN_WORDS = {"errcompact_template", "errcompact_location", "errcompact_hint", "errcompact_transient"}
"""What says in words what failed: of the rows of classes, of which there are as many as classes."""

every_alert = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
every_case = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def prometheus():
    return yaml.safe_load(prometheus_rules())


@pytest.fixture(scope="module")
def grafana():
    return yaml.safe_load(grafana_rules())


def _rules(document):
    return [rule for group in document["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("path", alert_files(), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    """`make dashboards` has been run since the alerts changed."""
    assert path.read_text(encoding="utf-8") == alert_files()[path]


def test_every_alert_is_there_once_and_in_both_programs(prometheus, grafana):
    """Both programs know the same alerts; those that are off by default have a file of their own."""
    assert {alert.name for alert in ALERTS} == NAMES
    assert sorted(rule["alert"] for rule in _rules(prometheus) if "alert" in rule) == sorted(NAMES - OPTIONAL)
    assert {rule["alert"] for rule in _rules(yaml.safe_load(optional_rules()))} == OPTIONAL
    assert sorted(rule["title"] for rule in _rules(grafana)) == sorted(NAMES)


def test_every_alert_has_its_heading_and_every_heading_its_alert():
    """The runbook is about these alerts, in their order."""
    headings = re.findall(r"^## (.+)$", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [alert.name for alert in ALERTS]


@pytest.mark.parametrize("part", ["What it means.", "Why you were told.", "Look first", "What to do.", "False alarm"])
def test_every_heading_says_what_a_person_needs(part):
    """Each part of the runbook stands under each heading."""
    _, *sections = re.split(r"^## ", RUNBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [section.split("\n")[0] for section in sections if f"**{part}" not in section] == []


def test_the_runbook_quotes_thresholds_and_severities_as_they_are():
    """Its table repeats each alert's severity, and its figures are the rules' figures."""
    text = RUNBOOK.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (Agent\w+) \| (\w+) \|", text, re.MULTILINE))
    assert rows == {alert.name: alert.severity for alert in ALERTS}
    burning = next(alert.query for alert in ALERTS if alert.name == "AgentErrorBudgetBurning")
    assert re.findall(r"share\w+ >= (\d+)", burning) == ["72", "72", "30", "30"]
    assert "| 14.4 times too fast (2 % of a month's in an hour) | 72 % of runs fail | 1 hour | 5 minutes |" in text
    assert "| 6 times too fast (5 % of a month's in six hours) | 30 % of runs fail | 6 hours | 30 minutes |" in text


@pytest.mark.parametrize("query", re.findall(r"```promql\n(.+?)\n```", RUNBOOK.read_text(encoding="utf-8"), re.DOTALL))
def test_queries_of_the_runbook_parse_and_name_what_exists(query):
    """What a person pastes at night works."""
    promql_parser.parse(query)
    assert _metrics(query) - {recording.name for recording in RECORDINGS} - METRICS <= {
        "otelcol_exporter_queue_size",
        "otelcol_exporter_queue_capacity",
    }


@every_alert
def test_expressions_parse_and_name_what_exists(alert):
    """An alert reads metrics that are sent, or recording rules."""
    promql_parser.parse(expression(alert))
    assert _metrics(alert.query) <= METRICS | {recording.name for recording in RECORDINGS}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: f"{recording.name}-{dict(recording.labels)}")
def test_recordings_parse_name_what_exists_and_keep_identity_only(recording):
    """A recording rule keeps identity; only the two that say what a class means keep words."""
    promql_parser.parse(recording.expr)
    assert recording.name.startswith("errcompact:")
    assert _metrics(recording.expr) <= METRICS | {recording.name for recording in RECORDINGS}
    kept = {label for labels in re.findall(r"by \(([^)]*)\)", recording.expr) for label in labels.split(", ")}
    joined = {label for labels in re.findall(r"group_left \(([^)]*)\)", recording.expr) for label in labels.split(", ")}
    words = IN_WORDS if recording.name in {"errcompact:class:info", "errcompact:class:row"} else set()
    assert kept | joined - {""} <= IDENTITY | words


@every_alert
def test_comparisons_hold_for_the_whole_query(alert):
    """`a or b >= 1` would fire for every `a`."""
    parsed = promql_parser.parse(expression(alert))
    assert isinstance(parsed, promql_parser.BinaryExpr)
    assert str(parsed.op) == ">="


@every_alert
def test_texts_leave_no_word_unfilled(alert):
    """Each word in brackets is known to the writers."""
    text = filled(alert.summary + alert.description, value="$value", unit=alert.unit)
    assert "[[" not in text
    assert text.count("{{") == text.count("}}")


@every_alert
def test_summaries_are_sentences(alert):
    """A person is told something, not shown a name."""
    assert alert.summary.endswith(".")
    assert len(alert.summary.split()) >= 5


def test_a_word_nobody_knows_is_refused():
    """A typing error in a text does not reach an operator."""
    with pytest.raises(KeyError, match="nobody"):
        filled("[[nobody]]", value="$value", unit="count")


def test_prometheus_alerts_carry_severity_runbook_and_dashboard(prometheus):
    """Every alert leads to the page and the heading it is about."""
    for rule in _rules(prometheus):
        if "alert" not in rule:
            continue
        alert = next(alert for alert in ALERTS if alert.name == rule["alert"])
        annotations = rule["annotations"]
        assert rule["labels"] == {"severity": alert.severity, **dict.fromkeys((*alert.only_read, "from", "to"), "")}
        assert annotations["runbook_url"].endswith(f"dashboards/RUNBOOK.md#{alert.name.lower()}")
        assert f"/d/{alert.page or alert.panel.dashboard}?from=" in annotations["dashboard_url"]
        assert rule.get("for", "") == alert.wait
        assert rule.get("keep_firing_for", "") == alert.keep


def test_recording_rules_stand_before_what_reads_them(prometheus):
    """Rules of a group are evaluated in their order: an alert fires in the evaluation that sees the first sample."""
    for group in prometheus["groups"]:
        made: set[str] = set()
        own = {rule["record"] for rule in group["rules"] if "record" in rule}
        for rule in group["rules"]:
            name = rule.get("record", "")
            assert (_metrics(rule["expr"]) & own) - {name} - OF_THE_EVALUATION_BEFORE.get(name, set()) <= made
            made.add(name)


def test_grafana_is_given_no_policies_and_nothing_to_expand(grafana):
    """A provisioned policy tree would replace the operator's; `${x}` would be read from Grafana's environment."""
    assert set(grafana) == {"apiVersion", "groups"}
    assert grafana["apiVersion"] == 1
    assert "${" not in grafana_rules()
    assert "$$" not in grafana_rules()


def test_grafana_rules_are_as_its_provisioning_reads_them(grafana):
    """The fields are those of Grafana's rule file, with its types."""
    for group in grafana["groups"]:
        assert (group["orgId"], group["folder"]) == (1, "Agent errors: alerts")
        assert int(group["interval"].removesuffix("s")) % 10 == 0
    for rule in _rules(grafana):
        alert = next(alert for alert in ALERTS if alert.name == rule["title"])
        query, threshold = rule["data"]
        assert rule["uid"] == f"errcompact-{alert.name.lower()}"
        assert len(rule["uid"]) <= 40
        assert rule["condition"] == "C"
        assert (query["refId"], query["datasourceUid"]) == ("A", "errcompact-prometheus")
        assert query["model"]["expr"] == alert.query
        assert (threshold["refId"], threshold["datasourceUid"]) == ("C", "__expr__")
        assert threshold["model"]["expression"] == "A"
        assert threshold["model"]["conditions"] == [{"evaluator": {"type": "gte", "params": [alert.at_least]}}]
        assert (rule["noDataState"], rule["execErrState"]) == ("OK", "Error")
        assert "notification_settings" not in rule


def test_active_rules_of_grafana_lead_to_their_panels():
    """Grafana then draws the state of each on its panel; those that are off by default stay paused."""
    every = _rules(yaml.safe_load(grafana_rules(paused=False)))
    assert {rule["title"] for rule in every if rule["isPaused"]} == OPTIONAL
    rules = [rule for rule in every if not rule["isPaused"]]
    places = {(rule["title"], rule["dashboardUid"], rule["panelId"]) for rule in rules}
    noted = {
        (rule["title"], rule["annotations"]["__dashboardUid__"], int(rule["annotations"]["__panelId__"]))
        for rule in rules
    }
    active = [alert for alert in ALERTS if alert.name not in OPTIONAL]
    assert places == noted == {(alert.name, alert.panel.dashboard, panel_id(*alert.panel)) for alert in active}


def test_grafana_texts_use_what_grafana_knows(grafana):
    """Its templates cannot query, and its `$value` is a text of all values."""
    texts = " ".join(text for rule in _rules(grafana) for text in rule["annotations"].values())
    assert "query" not in texts
    assert "$value " not in texts
    assert "$values.A.Value" in texts


def test_only_one_program_pages_by_default(grafana):
    """Grafana's copies are paused: an alert of both would page twice."""
    assert [rule["title"] for rule in _rules(grafana) if rule["isPaused"] is not True] == []


def test_the_budget_can_be_burnt():
    """A burn rate above what failing every run reaches would never fire."""
    burning = next(alert.query for alert in ALERTS if alert.name == "AgentErrorBudgetBurning")
    limits = [int(limit) for limit in re.findall(r"share\w+ >= (\d+)", burning)]
    assert all(0 < limit < 100 for limit in limits)


def test_every_alert_is_tested_for_firing_and_for_silence():
    """A rule that always fires, or never, is found out."""
    fires: dict[str, set[bool]] = {}
    for path in CASES:
        for case in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for asked in case.get("alert_rule_test", ()):
                fires.setdefault(asked["alertname"], set()).add(bool(asked.get("exp_alerts")))
    assert fires == {name: {True, False} for name in NAMES}


@every_case
def test_expected_alerts_say_their_texts(path):
    """Rounding and wording are pinned wherever an alert fires, and no text shows a gap or a template."""
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
        for asked in case.get("alert_rule_test", ()):
            for expected in asked.get("exp_alerts", ()):
                annotations = expected["exp_annotations"]
                assert set(annotations) == {"summary", "description", "runbook_url", "dashboard_url", "silence_url"}
                assert not re.search(r"\{\{|<no value>|<error|  |\d\.\d", annotations["summary"])
                assert not re.search(r"\{\{|<no value>|<error|  | \.|\.\.|[^.!?]$", annotations["description"])


def test_inhibitions_name_alerts_that_exist():
    """A rule about an alert of another name would hold nothing back."""
    text = (ROOT / "collector-config" / "alertmanager.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"Agent[A-Z]\w+", text)) <= NAMES


def test_no_text_asks_prometheus(prometheus):
    """A query for each firing alert makes an evaluation as slow as there is much to report."""
    texts = [text for rule in _rules(prometheus) if "alert" in rule for text in rule["annotations"].values()]
    assert [text for text in texts if re.search(r"\|\s*query\b|\{\{\s*query\b", text)] == []


def test_criticals_stand_apart_from_classes(prometheus):
    """No number of classes holds up what pages a person."""
    groups = {group["name"]: group["rules"] for group in prometheus["groups"]}
    paging = {name for name, rules in groups.items() for rule in rules if _severity(rule) == "critical"}
    assert paging == {"errcompact-critical", "errcompact-slow"}
    per_class = {name for name, rules in groups.items() for rule in rules if "errcompact:class:new5m" in str(rule)}
    assert per_class == {"errcompact-classes", "errcompact-rows", "errcompact-windows"}


def test_alerts_of_classes_are_bounded():
    """Of each service the worst classes have alerts of their own, and one alert counts the others."""
    for alert in ALERTS:
        if alert.pace in {"classes", "rows"} and alert.name != "AgentErrorsManyClasses":
            assert "topk by (service_name, deployment_environment_name, service_namespace) (20, " in alert.query


@every_alert
def test_a_link_carries_what_the_alert_is_about(alert):
    """Each label that tells alerts apart is set in its link, where the page has a variable for it."""
    variables = {"environment": metrics.ENVIRONMENT, "service": metrics.SERVICE, "class": metrics.CLASS}
    variables |= {"run": metrics.RUN_ID, "agent": metrics.AGENT}
    url = page_url(alert)
    there = labels_of(alert.query, known())
    page = alert.page or alert.panel.dashboard
    carried = set(re.findall(r"var-(\w+)=", url))
    assert carried >= {name for name, label in variables.items() if label in there and name in variables_of(page)}
    assert "from={{ $labels.from }}&to={{ $labels.to }}" in url


@every_alert
def test_only_what_a_text_reads_is_left_out_of_the_identity(alert):
    """A label that no alert has is none to leave out; class, service and environment always stay."""
    there = labels_of(alert.query, known())
    assert set(alert.only_read) <= there
    assert not set(alert.only_read) & {metrics.SERVICE, metrics.ENVIRONMENT, metrics.NAMESPACE, metrics.CLASS}
    assert {metrics.TEMPLATE, metrics.LOCATION, metrics.HINT, metrics.RUN_ID} & there <= set(alert.only_read)


def _severity(rule):
    return rule.get("labels", {}).get("severity")


def test_recordings_have_distinct_identities():
    """Two rules must not write one series."""
    assert len({(recording.name, recording.labels) for recording in RECORDINGS}) == len(RECORDINGS)


def _metrics(query):
    names: set[str] = set()

    def visit(node):
        name = getattr(node, "name", None)
        if isinstance(node, promql_parser.VectorSelector) and name:
            names.add(name)
        for field in ("lhs", "rhs", "expr", "vs", "vector_selector", "param"):
            child = getattr(node, field, None)
            if child is not None:
                visit(child)
        for child in getattr(node, "args", None) or ():
            visit(child)

    visit(promql_parser.parse(query))
    return names
