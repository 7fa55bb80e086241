"""The generated dashboards as an operator would find them, and that each check finds what it is there for."""

from __future__ import annotations

import copy
import importlib
import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from dashboards.links import explore_spans
from tests.stack import checks, promql
from tests.stack.boards import GENERATED, ROOT, UIDS, load, panels, queries, variables
from tests.stack.metrics import known

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.stack.boards import Json

EVERY_BOARD: Final = [pytest.param(uid, id=uid) for uid in UIDS]
KNOWN: Final = known()

MEANINGS: Final = {
    "new": "purple",
    "new in version": "purple",
    "back again": "blue",
    "chronic": "semi-dark-yellow",
    "deployments": "#8e8e8e",
}
"""Colours that mean one thing only; a class that grows has that of a warning, and a quiet one that of what is well."""

CHECKS: Final[dict[str, Callable[[Json], list[str]]]] = {
    "texts": checks.texts,
    "units": checks.units,
    "empty states": checks.empty_states,
    "ids": checks.ids,
    "questions": checks.questions,
    "positions": checks.positions,
    "data sources": checks.data_sources,
    "sources of panels": checks.sources_of_panels,
    "variables": checks.variables_used,
    "metrics": lambda board: checks.metrics(board, KNOWN),
    "rates": checks.rates,
    "traces": checks.traces,
    "records": checks.records,
    "escapes": checks.escapes,
    "links": checks.links,
    "counts": checks.counts,
    "empty cells": checks.empty_cells,
    "bar gauges": checks.bar_gauges,
    "newest first": checks.newest_first,
    "annotations": checks.annotations,
    "names in tables": checks.names_in_tables,
    "kinds with empty states": checks.kinds_with_empty_states,
    "titles": checks.titles,
    "controls": checks.controls,
    "joins": checks.joins,
    "row links": checks.row_links,
    "colours": lambda board: checks.colours(board, MEANINGS),
    "reserved colours": lambda board: checks.reserved_colours(board, MEANINGS),
}

# Alerts and bookmarks lead to panels by these ids; whoever changes one breaks them.
FIXED: Final = {
    ("errcompact-inbox", "Classes: ${state:text}"): 10,
    ("errcompact-recurrence", "Top classes over time"): 20,
    ("errcompact-recurrence", "Live streaks"): 21,
    ("errcompact-escalations", "Escalations over time"): 20,
    ("errcompact-escalations", "Escalations by action"): 21,
    ("errcompact-escalations", "Failures after escalation"): 22,
    ("errcompact-escalations", "Failed or halted runs, share"): 23,
    ("errcompact-tokens", "Share of errors in the context"): 22,
    ("errcompact-health", "Own faults"): 20,
    ("errcompact-health", "Services reporting"): 21,
}


@pytest.mark.parametrize("uid", EVERY_BOARD)
@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in CHECKS.items()])
def test_dashboard(check, uid):
    """Nothing is wrong with a dashboard."""
    assert check(load(uid)) == []


@pytest.mark.parametrize("uid", EVERY_BOARD)
def test_identity(uid):
    """A dashboard has the uid of its file, a title, a description, the tag of its siblings, and is not to be edited."""
    board = load(uid)
    assert (board["uid"], board["schemaVersion"], board["editable"], board["tags"]) == (uid, 42, False, ["errcompact"])
    assert board["title"].startswith("Agent errors")
    assert board["description"].endswith(".")
    assert board.get("id") is None


def test_titles_are_different():
    """No two dashboards have the same title, so that a list of them can be read."""
    assert len({load(uid)["title"] for uid in UIDS}) == len(UIDS)


@pytest.mark.parametrize(("uid", "title", "panel_id"), [(*place, number) for place, number in FIXED.items()])
def test_fixed_panels(uid, title, panel_id):
    """The panels that alerts lead to are there, once, with the ids they had."""
    assert [panel["id"] for panel in panels(load(uid)) if panel.get("title") == title] == [panel_id]


@pytest.mark.parametrize("uid", EVERY_BOARD)
def test_variables(uid):
    """The choosers of data sources, environment and service come first, in this order; all others select failures."""
    names = [variable["name"] for variable in variables(load(uid))]
    assert names[:6] == ["datasource", "tempo", "loki", "environment", "service", "owner"]
    selecting = {"agent", "tool", "error_type", "class", "run", "state", "search"}
    assert set(names[6:]) <= {*selecting, "model", "price_input", "price_output"}


@pytest.mark.parametrize("uid", EVERY_BOARD)
def test_everything_is_chosen_at_first(uid):
    """A chooser of values takes several, and at first everything: `.*`, which also keeps series without the label."""
    choosers = [variable for variable in variables(load(uid)) if variable["type"] == "query"]
    assert {(v["multi"], v["includeAll"], v["allValue"], str(v["current"]["value"])) for v in choosers} == {
        (True, True, ".*", "['$__all']")
    }


class TestGenerated:
    @pytest.fixture
    def generator(self) -> ModuleType:
        pytest.importorskip("grafana_foundation_sdk", reason="the SDK of Grafana needs Python 3.11")
        return importlib.import_module("dashboards.__main__")

    def test_as_the_code_makes_them(self, generator, capsys):
        """The committed files are what the code writes."""
        assert (generator.main(["--check"]), capsys.readouterr().out) == (0, "")

    def test_a_difference_is_found(self, generator, monkeypatch, capsys):
        """A file that was changed by hand, or that is missing, is named, and the exit status is not zero."""
        must = {ROOT / "README.md": "something else", ROOT / "MISSING.md": ""}
        monkeypatch.setattr(generator, "files", lambda: must)
        assert generator.main(["--check"]) == 1
        assert capsys.readouterr().out == "differs: README.md\ndiffers: MISSING.md\n"

    def test_same_every_time(self, generator):
        """Generating twice gives the same bytes."""
        assert generator.files() == generator.files()


def test_nothing_left_over():
    """No file is left of a dashboard that is no more."""
    assert {path.name for path in GENERATED.glob("*.json")} == {f"{uid}.json" for uid in UIDS}


class TestElsewhere:
    """
    What other files say about dashboards, panels and data sources.
    """

    def test_alerts_of_grafana(self):
        """Each alert rule of Grafana asks a provisioned data source, and names no panel while it is paused."""
        rules = [rule for group in _grafana_alerts()["groups"] for rule in group["rules"]]
        assert checks.paused_rules(rules) == []
        asked = {each["datasourceUid"] for rule in rules for each in rule["data"]}
        assert asked <= {*_provisioned_data_sources(), "__expr__"}

    def test_alerts_of_prometheus(self):
        """Each alert of Prometheus leads to one of these pages, and sets variables that it has."""
        groups = yaml.safe_load((GENERATED / "rules.yaml").read_text(encoding="utf-8"))["groups"]
        notes = [rule["annotations"] for group in groups for rule in group["rules"] if "alert" in rule]
        for note in notes:
            uid = re.findall(r"/d/([\w-]+)", note["dashboard_url"])
            assert set(uid) <= set(UIDS)
            there = {variable["name"] for variable in variables(load(uid[0]))}
            assert set(re.findall(r"&var-(\w+)=", note["dashboard_url"])) <= there

    def test_rules_ask_for_what_there_is(self):
        """Every expression of a rule names metrics and labels that exist."""
        groups = yaml.safe_load((GENERATED / "rules.yaml").read_text(encoding="utf-8"))["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        wrong = {rule.get("alert") or rule["record"]: promql.complaints(rule["expr"], KNOWN) for rule in rules}
        assert {name: complaints for name, complaints in wrong.items() if complaints} == {}

    def test_provisioned_data_sources(self):
        """The data sources have the uids that rules and links name, and name one another by them."""
        assert _provisioned_data_sources() == {
            "errcompact-alertmanager",
            "errcompact-loki",
            "errcompact-prometheus",
            "errcompact-tempo",
        }

    def test_links_between_data_sources(self):
        """What a data source names as another's uid is one of them."""
        text = "\n".join(path.read_text(encoding="utf-8") for path in _provisioning("datasources"))
        named = re.findall(r"datasourceUid: *['\"]?([\w-]+)", text, re.IGNORECASE)
        assert named
        assert set(named) <= _provisioned_data_sources()


def _provisioning(kind: str) -> list[Any]:
    folder = ROOT / "collector-config" / "grafana" / "provisioning" / kind
    return sorted(folder.glob("*.yaml"))


def _provisioned_data_sources() -> set[str]:
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in _provisioning("datasources")]
    return {source["uid"] for file in files for source in file["datasources"]}


def _grafana_alerts() -> Json:
    (path,) = (path for path in _provisioning("alerting") if path.name == "errcompact.yaml")
    rules: Json = yaml.safe_load(path.read_text(encoding="utf-8"))
    return rules


def _variable(name: str, **more: Any) -> Json:
    source = {"type": "prometheus", "uid": "${datasource}"}
    query = "label_values(errcompact_errors_total, service_name)"
    return {"name": name, "type": "query", "datasource": source, "query": query, "allValue": ".*", **more}


def _target(expr: str, ref: str = "A", **more: Any) -> Json:
    return {"refId": ref, "datasource": {"type": "prometheus", "uid": "${datasource}"}, "expr": expr, **more}


def _panel(number: int, kind: str, *targets: Json, x: int = 0, y: int = 0, **more: Any) -> Json:
    asked = {"datasource": dict(targets[0]["datasource"])} if targets else {}
    return {
        **asked,
        "id": number,
        "type": kind,
        "title": f"Panel {number}",
        "description": "What it shows.",
        "gridPos": {"h": 8, "w": 12, "x": x, "y": y},
        "fieldConfig": {"defaults": {"unit": "locale", "noValue": "None"}, "overrides": []},
        "targets": list(targets),
        **more,
    }


TEMPO: Final = {"type": "tempo", "uid": "${tempo}"}
LOKI: Final = {"type": "loki", "uid": "${loki}"}
FAILURES: Final = (
    'sum by (errcompact_class) (rate(errcompact_errors_total{service_name=~"$service"}[$__rate_interval]))'
)

SPANS: Final = '{ event.errcompact.class =~ "$class" } with (most_recent=true)'
EMPTY_CELLS: Final = {"matcher": {"id": "byRegexp", "options": ".*"}, "properties": [{"id": "noValue", "value": ""}]}

RIGHT: Final[Json] = {
    "uid": "errcompact-recurrence",
    "templating": {
        "list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus", "hide": 2},
            {"name": "tempo", "type": "datasource", "query": "tempo", "hide": 2},
            {"name": "loki", "type": "datasource", "query": "loki", "hide": 2},
            _variable("service"),
            _variable("class"),
        ]
    },
    "panels": [
        _panel(1, "timeseries", _target(FAILURES, legendFormat="{{errcompact_class}}")),
        _panel(2, "text", x=12, options={"content": "[All](/d/errcompact-detail?var-class=$class)"}),
        _panel(
            3,
            "table",
            {"refId": "A", "datasource": TEMPO, "query": SPANS},
            y=8,
            fieldConfig={"defaults": {"unit": "locale", "noValue": "No span"}, "overrides": [EMPTY_CELLS]},
        ),
        _panel(
            4,
            "logs",
            {"refId": "A", "datasource": LOKI, "expr": '{service_name=~".+"} | errcompact_class=~"$class"'},
            x=12,
            y=8,
        ),
    ],
}


def _broken(number: int, *path: str | int, to: Any) -> Json:
    """The right dashboard, with one thing in one panel made wrong, or taken away."""
    board = copy.deepcopy(RIGHT)
    place: Any = board["panels"][number - 1]
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return board


def _with(**more: Any) -> Json:
    """Return the right dashboard with something else in it."""
    return {**copy.deepcopy(RIGHT), **more}


def _and(panel: Json) -> Json:
    """Return the right dashboard with one more panel."""
    return _with(panels=[*copy.deepcopy(RIGHT["panels"]), panel])


def _noted(expr: str) -> Json:
    """Return the right dashboard with an annotation."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    return _with(annotations={"list": [{"name": "Alerts", "datasource": source, "expr": expr}]})


def _colouring(name: str, colour: str) -> Json:
    fixed = {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}
    override = {"matcher": {"id": "byName", "options": name}, "properties": [fixed]}
    return _broken(1, "fieldConfig", "overrides", to=[override])


def _asking(expr: str, **more: Any) -> Json:
    return _broken(1, "targets", to=[_target(expr, **more)])


@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in CHECKS.items()])
def test_the_right_dashboard(check):
    """The dashboard that the following tests break is itself right."""
    assert check(RIGHT) == []


@pytest.mark.parametrize(
    ("check", "board", "complaints"),
    [
        pytest.param("texts", _broken(1, "title", to=""), ["timeseries '' has no title"], id="no title"),
        pytest.param("texts", _broken(1, "id", to=None), ["timeseries 'Panel 1' has no id"], id="no id"),
        pytest.param(
            "texts", _broken(4, "description", to=None), ["logs 'Panel 4' has no description"], id="no description"
        ),
        pytest.param("texts", _broken(2, "options", to={}), ["text 'Panel 2' has no content"], id="text without text"),
        pytest.param(
            "units",
            _broken(1, "fieldConfig", "defaults", "unit", to=None),
            ["timeseries 'Panel 1' has no unit"],
            id="no unit",
        ),
        pytest.param(
            "empty states",
            _broken(4, "fieldConfig", "defaults", "noValue", to=None),
            ["logs 'Panel 4' has no empty state"],
            id="no empty state",
        ),
        pytest.param("ids", _broken(2, "id", to=1), ["2 panels have the id 1"], id="same id"),
        pytest.param(
            "ids",
            _broken(1, "targets", to=[_target(FAILURES), _target(FAILURES)]),
            ["timeseries 'Panel 1' has 2 queries A"],
            id="same name of queries",
        ),
        pytest.param("questions", _broken(1, "targets", to=[]), ["timeseries 'Panel 1' asks nothing"], id="no query"),
        pytest.param("questions", _asking(""), ["panel 'Panel 1' asks nothing"], id="empty query"),
        pytest.param(
            "positions",
            _broken(2, "gridPos", "x", to=11),
            ["timeseries 'Panel 1' lies on text 'Panel 2'"],
            id="one panel on another",
        ),
        pytest.param(
            "positions",
            _broken(2, "gridPos", "w", to=13),
            ["text 'Panel 2' reaches beyond the grid"],
            id="beyond the grid",
        ),
        pytest.param(
            "data sources",
            _broken(4, "targets", 0, "datasource", "uid", to="errcompact-loki"),
            ["panel 'Panel 4' asks errcompact-loki of kind loki"],
            id="fixed data source",
        ),
        pytest.param(
            "data sources",
            _broken(4, "targets", 0, "datasource", "uid", to="${tempo}"),
            ["panel 'Panel 4' asks ${tempo} of kind loki"],
            id="data source of another kind",
        ),
        pytest.param(
            "data sources",
            _broken(1, "datasource", to={"type": "prometheus", "uid": "abc"}),
            ["timeseries 'Panel 1' has the data source abc"],
            id="panel with a fixed data source",
        ),
        pytest.param(
            "sources of panels",
            _broken(4, "datasource", to={"type": "prometheus", "uid": "${datasource}"}),
            ["logs 'Panel 4' sends A to another data source"],
            id="query to the data source of another",
        ),
        pytest.param(
            "variables", _asking("up{job=~'$jobs'}"), ["timeseries 'Panel 1' uses the variable jobs"], id="in a query"
        ),
        pytest.param(
            "variables",
            _broken(2, "options", "content", to="${who:queryparam}"),
            ["text 'Panel 2' uses the variable who"],
            id="in a text",
        ),
        pytest.param(
            "variables",
            _broken(1, "title", to="Of [[whom]]"),
            ["timeseries 'Of [[whom]]' uses the variable whom"],
            id="in a title, as of old",
        ),
        pytest.param(
            "metrics",
            _asking("sum(errcompact_error_total)"),
            ["panel 'Panel 1': there is no metric errcompact_error_total"],
            id="metric that nobody sends",
        ),
        pytest.param(
            "metrics",
            _asking('errcompact_errors_total{gen_ai_agent="a"}'),
            ["panel 'Panel 1': errcompact_errors_total has no label gen_ai_agent"],
            id="matcher of a label that the metric has not",
        ),
        pytest.param(
            "metrics",
            _asking("sum by (errcompact_class) (errcompact_runs_total)"),
            ["panel 'Panel 1': sum by or without a label that is not there: errcompact_class"],
            id="sum by a label that the metric has not",
        ),
        pytest.param(
            "metrics",
            _asking("max by (error_type) (sum by (errcompact_class) (errcompact_errors_total))"),
            ["panel 'Panel 1': max by or without a label that is not there: error_type"],
            id="label that a sum within has taken away",
        ),
        pytest.param(
            "metrics",
            _asking(
                "errcompact_errors_total * on (errcompact_class) group_left (errcompact_stage) errcompact_class_info"
            ),
            ["panel 'Panel 1': the one side of a grouping has no label errcompact_stage"],
            id="label that a join cannot bring",
        ),
        pytest.param(
            "metrics",
            _asking("errcompact_errors_total and on (errcompact_class) errcompact_runs_total"),
            ["panel 'Panel 1': right of and there is no label errcompact_class"],
            id="label that one side lacks",
        ),
        pytest.param(
            "metrics",
            _asking("histogram_quantile(0.9, sum(rate(errcompact_compaction_duration_seconds_bucket[5m])))"),
            ["panel 'Panel 1': histogram_quantile needs the label le"],
            id="quantile of buckets that were summed up",
        ),
        pytest.param(
            "metrics",
            _asking("sum by (errcompact_class) (errcompact_errors_total)", legendFormat="{{error_type}}"),
            ["timeseries 'Panel 1' has the legend error_type"],
            id="legend that the answer has not",
        ),
        pytest.param(
            "rates",
            _asking("sum(rate(errcompact_errors_total[5m]))"),
            ["panel 'Panel 1' has a fixed rate window"],
            id="rate over a fixed time",
        ),
        pytest.param(
            "traces",
            _broken(3, "targets", 0, "query", to='{ event.errcompact.class =~ "$class'),
            ["panel 'Panel 3' is no TraceQL"],
            id="string that is not closed",
        ),
        pytest.param(
            "traces",
            _broken(3, "targets", 0, "query", to='{ event.errcompact.klass = "a" }'),
            ["panel 'Panel 3' asks for the attribute errcompact.klass"],
            id="attribute that no span has",
        ),
        pytest.param(
            "records",
            _broken(4, "targets", 0, "expr", to='{service_name=~"$service"} | errcompact_class=~"$class"'),
            ["panel 'Panel 4' could match everything"],
            id="selector that Loki refuses",
        ),
        pytest.param(
            "records",
            _broken(4, "targets", 0, "expr", to='{service_name=~".+"} | errclass=~"$class"'),
            ["panel 'Panel 4' asks for the label errclass"],
            id="label that no record has",
        ),
        pytest.param(
            "traces",
            _broken(3, "targets", 0, "query", to='{ event.errcompact.class ~ "a" }'),
            ["panel 'Panel 3' has the condition 'event.errcompact.class ~ \\x00'"],
            id="comparison that TraceQL has not",
        ),
        pytest.param(
            "traces",
            _broken(3, "targets", 0, "query", to='{ event.errcompact.class =~ "a(" } | select(event)'),
            ["panel 'Panel 3' selects 'event'", "panel 'Panel 3' has the pattern 'a('"],
            id="column and pattern that are none",
        ),
        pytest.param(
            "traces",
            _broken(2, "options", "content", to=explore_spans('{ event.errcompact.klass = "a" }')),
            ["text 'Panel 2', its link asks for the attribute errcompact.klass"],
            id="link to what no span has",
        ),
        pytest.param(
            "records",
            _broken(4, "targets", 0, "expr", to='{service_name=~".+", errcompact_class="a"} | uniq'),
            ["panel 'Panel 4' selects by errcompact_class", "panel 'Panel 4' has the stage 'uniq'"],
            id="label of no stream, and a stage that LogQL has not",
        ),
        pytest.param(
            "records",
            _broken(4, "targets", 0, "expr", to='{service_name=~".+"} | keep errclass | line_format "{{shout .who}}"'),
            [
                "panel 'Panel 4' asks for the label errclass",
                "panel 'Panel 4' asks for the label who",
                "panel 'Panel 4' calls shout",
            ],
            id="names that no record has, and a function of nobody",
        ),
        pytest.param(
            "records",
            _broken(4, "targets", 0, "expr", to='service_name=~".+"'),
            ["panel 'Panel 4' is no LogQL"],
            id="no selector",
        ),
        pytest.param(
            "escapes",
            _broken(4, "targets", 0, "expr", to='{service_name=~".+"} | errcompact_class=~".*${class:regex}"'),
            ["panel 'Panel 4' escapes in quotes"],
            id="backslashes in quotes",
        ),
        pytest.param(
            "escapes",
            _broken(3, "targets", 0, "query", to='{ resource.service.name =~ "$service" }'),
            ["panel 'Panel 3' does not escape names"],
            id="name that is no regular expression",
        ),
        pytest.param(
            "escapes",
            _broken(2, "options", "content", to="/d/errcompact-tokens?var-service=${__value.text}"),
            ["text 'Panel 2' sets service as it is"],
            id="name that may end the address",
        ),
        pytest.param(
            "links",
            _broken(2, "options", "content", to="/d/errcompact-details"),
            ["text 'Panel 2' leads to the dashboard errcompact-details"],
            id="dashboard that there is not",
        ),
        pytest.param(
            "links",
            _broken(2, "options", "content", to="/d/errcompact-tokens?var-class=a"),
            ["text 'Panel 2' sets class, which errcompact-tokens has not"],
            id="variable that the dashboard has not",
        ),
        pytest.param(
            "links",
            _broken(2, "options", "content", to="/d/errcompact-tokens?viewPanel=999"),
            ["text 'Panel 2' leads to the panel 999 of errcompact-tokens"],
            id="panel that the dashboard has not",
        ),
        pytest.param(
            "counts",
            _broken(1, "fieldConfig", to={"defaults": {"unit": "short", "decimals": 0, "noValue": "None"}}),
            ["timeseries 'Panel 1' rounds counts to thousands"],
            id="1563 as 2 K",
        ),
        pytest.param(
            "counts",
            _broken(
                1,
                "fieldConfig",
                "overrides",
                to=[{"properties": [{"id": "unit", "value": "short"}, {"id": "decimals", "value": 0}]}],
            ),
            ["timeseries 'Panel 1' rounds counts to thousands"],
            id="1563 as 2 K in one column",
        ),
        pytest.param(
            "empty cells",
            _broken(3, "fieldConfig", "overrides", to=[]),
            ["table 'Panel 3' says in each empty cell that it is empty"],
            id="sentence in empty cells",
        ),
        pytest.param(
            "bar gauges",
            _and(_panel(5, "bargauge", _target(FAILURES), y=16, options={"sizing": "manual"})),
            ["bargauge 'Panel 5' does not name a single bar"],
            id="bar without a name",
        ),
        pytest.param(
            "bar gauges",
            _and(_panel(5, "bargauge", _target(FAILURES), y=16, fieldConfig={"defaults": {"displayName": "a"}})),
            ["bargauge 'Panel 5' draws a single bar as high as the panel"],
            id="bar as high as the panel",
        ),
        pytest.param(
            "newest first",
            _broken(3, "targets", 0, "query", to='{ event.errcompact.class =~ "$class" }'),
            ["panel 'Panel 3' may return old spans"],
            id="search without the hint",
        ),
        pytest.param(
            "newest first",
            _broken(2, "options", "content", to="/explore?left={%22queryType%22:%22traceql%22}"),
            ["text 'Panel 2' leads to a search that may return old spans"],
            id="link to a search without the hint",
        ),
        pytest.param(
            "annotations",
            _noted('ALERTS{alertstate="firing"}'),
            ["annotation 'Alerts' lasts"],
            id="annotation while an alert fires",
        ),
        pytest.param(
            "names in tables",
            _broken(3, "targets", to=[_target("errcompact_class_info")]),
            ["table 'Panel 3' shows all labels of A"],
            id="bare metric in a table",
        ),
        pytest.param(
            "kinds with empty states",
            _and(_panel(5, "state-timeline", _target(FAILURES), y=16)),
            ["state-timeline 'Panel 5' cannot say that it is empty"],
            id="state timeline",
        ),
        pytest.param(
            "kinds with empty states",
            _broken(2, "type", to="timeseries"),
            ["logs 'Panel 4' has no text beside it"],
            id="logs without a text",
        ),
        pytest.param(
            "titles",
            _and(_panel(5, "stat", _target(FAILURES), y=16, gridPos={"h": 4, "w": 4, "x": 0, "y": 16})),
            [],
            id="title that fits",
        ),
        pytest.param(
            "titles",
            _and(_panel(5, "stat", _target(FAILURES), y=16, gridPos={"h": 4, "w": 2, "x": 0, "y": 16})),
            ["stat 'Panel 5' needs a shorter title or more than 2 columns"],
            id="title that is cut",
        ),
        pytest.param(
            "controls",
            _with(templating={"list": [{"name": "tempo", "type": "datasource", "query": "tempo"}]}),
            ["variable tempo takes room"],
            id="chooser of a data source",
        ),
        pytest.param(
            "controls", _with(links=[{"title": "Health"}]), ["link 'Health' takes room"], id="links side by side"
        ),
        pytest.param(
            "row links",
            _broken(2, "options", "content", to="/d/errcompact-detail?var-class=${__data.fields.errcompact_class}"),
            [
                "text 'Panel 2' does not carry the environment of the row",
                "text 'Panel 2' does not carry the service of the row",
                "text 'Panel 2' loses the choice of datasource",
                "text 'Panel 2' loses the choice of tempo",
                "text 'Panel 2' loses the choice of loki",
                "text 'Panel 2' loses the choice of __url_time_range",
                "text 'Panel 2' reads the hidden column errcompact_class",
            ],
            id="link that loses its row",
        ),
        pytest.param(
            "colours",
            _colouring("new", "orange"),
            ["timeseries 'Panel 1' shows new in orange"],
            id="another colour for the same",
        ),
        pytest.param(
            "reserved colours",
            _colouring("input", "purple"),
            ["timeseries 'Panel 1' shows input in the colour of another"],
            id="one colour for two things",
        ),
        pytest.param(
            "joins",
            _and(
                _panel(
                    5,
                    "table",
                    _target("max by (row) (up)"),
                    _target("max by (row) (up)", "B"),
                    y=16,
                    transformations=[{"id": "joinByField", "options": {"byField": "row"}}],
                )
            ),
            ["table 'Panel 5' may show B alone"],
            id="column that may stand alone",
        ),
    ],
)
def test_a_broken_dashboard(check, board, complaints):
    """Each check finds what it is there for, and nothing else."""
    assert CHECKS[check](board) == complaints


@pytest.mark.parametrize("place", [{"panelId": 20}, {"annotations": {"__panelId__": "20"}}])
def test_a_paused_rule_that_names_a_panel(place):
    """A paused rule that names a panel is found, wherever it names it."""
    rule = {"title": "AgentErrorRecurring", "isPaused": True, "annotations": {}, **place}
    assert checks.paused_rules([rule]) == ["AgentErrorRecurring names a panel"]
    assert checks.paused_rules([{**rule, "isPaused": False}]) == []


def test_an_expression_that_does_not_parse():
    """An expression that is no PromQL is found."""
    (complaint,) = checks.metrics(_asking("sum(errcompact_errors_total"), KNOWN)
    assert complaint.startswith("panel 'Panel 1': does not parse: ")


def test_all_languages_are_there():
    """The dashboards ask Prometheus, Tempo and Loki; otherwise the checks of their languages would check nothing."""
    assert {query.language for uid in UIDS for query in queries(load(uid))} == {"prometheus", "tempo", "loki"}
