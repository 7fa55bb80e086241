"""
Grafana's provisioning files, checked against what Grafana knows and what the rest of the stack says.

Grafana itself cannot be started here. Its settings are those that its source declares: DataSourceJsonData, PromOptions,
TempoJsonData with the trace links, LokiOptions, AlertManagerDataSourceJsonData, and the provisioning types, at 13.2.
"""

from __future__ import annotations

import json
import re
from string import Template
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import yaml

from otel_errcompact.otel import semconv
from tests.stack.compose import JAEGER, ROOT, configuration, on_host, services

if TYPE_CHECKING:
    from collections.abc import Iterator

PROVISIONING = ROOT / "collector-config" / "grafana" / "provisioning"

PROVISIONED = {
    "access", "basicAuth", "basicAuthUser", "correlations", "database", "editable", "isDefault", "jsonData", "name",
    "orgId", "orgName", "secureJsonData", "type", "uid", "url", "user", "version", "withCredentials",
}  # fmt: skip
COMMON = {"manageAlerts", "alertmanagerUid", "allowAsRecordingRulesTarget", "disableGrafanaCache"}
TRACE_LINK = {"datasourceUid", "tags", "tags.key", "tags.value", "spanStartTimeShift", "spanEndTimeShift"}
KNOWN = {
    "prometheus": COMMON | {
        "timeInterval", "queryTimeout", "httpMethod", "customQueryParameters", "disableMetricsLookup", "prometheusType",
        "prometheusVersion", "cacheLevel", "defaultEditor", "incrementalQuerying", "incrementalQueryOverlapWindow",
        "disableRecordingRules", "seriesEndpoint", "seriesLimit",
        "exemplarTraceIdDestinations", "exemplarTraceIdDestinations.name", "exemplarTraceIdDestinations.datasourceUid",
        "exemplarTraceIdDestinations.url", "exemplarTraceIdDestinations.urlDisplayLabel",
    },
    "tempo": COMMON | {
        "streamingEnabled", "streamingEnabled.search", "streamingEnabled.metrics", "nodeGraph", "nodeGraph.enabled",
        "serviceMap", "serviceMap.datasourceUid", "search", "search.hide", "spanBar", "spanBar.type", "spanBar.tag",
        "traceQuery", "traceQuery.timeShiftEnabled", "tagLimit", "timeRangeForTags",
        "tracesToLogsV2", "tracesToLogsV2.filterByTraceID", "tracesToLogsV2.filterBySpanID",
        "tracesToLogsV2.customQuery", "tracesToLogsV2.query", *(f"tracesToLogsV2.{name}" for name in TRACE_LINK),
        "tracesToMetrics", "tracesToMetrics.queries", "tracesToMetrics.queries.name", "tracesToMetrics.queries.query",
        *(f"tracesToMetrics.{name}" for name in TRACE_LINK),
    },
    "loki": COMMON | {
        "maxLines", "derivedFields", "derivedFields.name", "derivedFields.matcherType", "derivedFields.matcherRegex",
        "derivedFields.url", "derivedFields.urlDisplayLabel", "derivedFields.datasourceUid",
        "derivedFields.targetBlank",
    },
    "alertmanager": COMMON | {"implementation", "handleGrafanaManagedAlerts"},
}  # fmt: skip
KNOWN_OF_JAEGER = {path for path in KNOWN["tempo"] if path.split(".")[0] in {"nodeGraph", "spanBar", "tracesToMetrics"}}
"""Of what Grafana's data source for Jaeger declares, what it has in common with that for Tempo."""


def provisioned(name: str) -> dict[str, Any]:
    return yaml.safe_load((PROVISIONING / name / "errcompact.yaml").read_text(encoding="utf-8"))


def datasources(*overlays: str) -> dict[str, dict[str, Any]]:
    """By their kind, read where the container has its file."""
    file = on_host("grafana", "/etc/grafana/provisioning/datasources/errcompact.yaml", *overlays)
    assert file
    return {source["type"]: source for source in yaml.safe_load(file.read_text(encoding="utf-8"))["datasources"]}


def expanded(node: Any) -> Any:
    """A value as Grafana stores it: `$A` and `${A}` are variables of its environment, `$$` is a dollar."""
    match node:
        case dict():
            return {key: expanded(value) for key, value in node.items()}
        case list():
            return [expanded(value) for value in node]
        case str():
            return Template(node).substitute(services()["grafana"]["environment"])
        case _:
            return node


def paths(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting with its path; items of a list have the path of the list."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield f"{path}{key}", value
            yield from paths(value, f"{path}{key}.")
    elif isinstance(node, list):
        for item in node:
            yield from paths(item, path)


def test_the_data_sources_are_these() -> None:
    """Uids are a promise: dashboards, alerts and links of operators name them."""
    assert {kind: source["uid"] for kind, source in datasources().items()} == {
        "prometheus": "errcompact-prometheus",
        "tempo": "errcompact-tempo",
        "loki": "errcompact-loki",
        "alertmanager": "errcompact-alertmanager",
    }
    assert provisioned("datasources").keys() == {"apiVersion", "datasources"}
    assert provisioned("datasources")["apiVersion"] == 1
    assert [kind for kind, source in datasources().items() if source.get("isDefault")] == ["prometheus"]


@pytest.mark.parametrize("kind", KNOWN)
def test_a_data_source_has_no_setting_that_grafana_does_not_know(kind: str) -> None:
    """It would be stored and read by nobody."""
    source = datasources()[kind]
    assert set(source) <= PROVISIONED
    assert {path for path, _ in paths(source["jsonData"])} <= KNOWN[kind]


@pytest.mark.parametrize("kind", KNOWN)
def test_a_data_source_cannot_be_changed_in_the_browser(kind: str) -> None:
    """The file is the truth; Grafana reads it at each start."""
    source = datasources()[kind]
    assert (source["editable"], source["access"], source["orgId"]) == (False, "proxy", 1)


def test_the_addresses_come_from_the_environment() -> None:
    """Of the container, since Grafana's files know no defaults."""
    assert {kind: expanded(source["url"]) for kind, source in datasources().items()} == {
        "prometheus": "http://prometheus:9090",
        "tempo": "http://tempo:3200",
        "loki": "http://loki:3100",
        "alertmanager": "http://alertmanager:9093",
    }
    assert all(source["url"].startswith("${") for source in datasources().values())


def test_links_lead_to_data_sources_that_exist() -> None:
    """From metrics to traces, from traces to logs and metrics, from logs to traces, from rules to silences."""
    links = {
        (kind, path): value
        for kind, source in datasources().items()
        for path, value in paths(source["jsonData"])
        if path.endswith("Uid")
    }
    assert links == {
        ("prometheus", "alertmanagerUid"): "errcompact-alertmanager",
        ("prometheus", "exemplarTraceIdDestinations.datasourceUid"): "errcompact-tempo",
        ("tempo", "tracesToLogsV2.datasourceUid"): "errcompact-loki",
        ("tempo", "tracesToMetrics.datasourceUid"): "errcompact-prometheus",
        ("loki", "derivedFields.datasourceUid"): "errcompact-tempo",
    }


class TestJaeger:
    """In the place of Tempo and Loki, where docker-compose.jaeger.yml is laid over docker-compose.yml."""

    def test_the_data_sources_are_these(self) -> None:
        """Prometheus and Alertmanager are as ever, but that an exemplar leads to Jaeger's own page; logs have none."""
        ours, before = datasources(JAEGER), datasources()
        assert {kind: source["uid"] for kind, source in ours.items()} == {
            "prometheus": "errcompact-prometheus",
            "jaeger": "errcompact-jaeger",
            "alertmanager": "errcompact-alertmanager",
        }
        gone = configuration("grafana/jaeger.yaml")["deleteDatasources"]
        assert {each["name"] for each in gone} == {before[kind]["name"] for kind in before.keys() - ours.keys()}
        assert ours["alertmanager"] == before["alertmanager"]
        here, there = (dict(each["prometheus"]["jsonData"]) for each in (ours, before))
        (to_jaeger,), (to_tempo,) = (each.pop("exemplarTraceIdDestinations") for each in (here, there))
        assert {**ours["prometheus"], "jsonData": here} == {**before["prometheus"], "jsonData": there}
        assert (to_tempo.keys() ^ to_jaeger.keys(), to_jaeger["name"]) == ({"datasourceUid", "url"}, to_tempo["name"])

    def test_an_exemplar_leads_to_jaeger_s_own_page(self) -> None:
        """By the port that is published; what Grafana fills in later is left to it."""
        (link,) = datasources(JAEGER)["prometheus"]["jsonData"]["exemplarTraceIdDestinations"]
        assert self._expanded(link["url"]) == "http://localhost:16686/trace/${__value.raw}"
        assert services(JAEGER)["jaeger"]["ports"] == ["127.0.0.1:16686:16686"]

    def test_jaeger_has_settings_of_tempo_that_grafana_knows(self) -> None:
        """What leads from a span to its metrics is the same."""
        jaeger, tempo = datasources(JAEGER)["jaeger"], datasources()["tempo"]
        assert {path for path, _ in paths(jaeger["jsonData"])} <= KNOWN_OF_JAEGER
        assert {name: tempo["jsonData"][name] for name in jaeger["jsonData"]} == jaeger["jsonData"]
        same = ("orgId", "access", "editable")
        assert [jaeger[name] for name in same] == [tempo[name] for name in same]
        assert set(jaeger) <= PROVISIONED

    def test_its_address_comes_from_the_environment(self) -> None:
        """Of the container, as that of the others."""
        assert self._expanded(datasources(JAEGER)["jaeger"]["url"]) == "http://jaeger:16686"

    def _expanded(self, text: str) -> str:
        return Template(text).substitute(services(JAEGER)["grafana"]["environment"])


def test_what_grafana_fills_in_later_is_left_to_it() -> None:
    """A single dollar would be taken for a variable of the environment and vanish."""
    tempo = expanded(datasources()["tempo"]["jsonData"])
    assert tempo["tracesToLogsV2"]["query"] == '{${__tags}} | trace_id = "${__trace.traceId}"'
    assert [query["query"] for query in tempo["tracesToMetrics"]["queries"]] == [
        "sum by (error_type, errcompact_class) (increase(errcompact_errors_total{$__tags}[5m]))",
        "sum by (errcompact_outcome) (increase(errcompact_errors_total{$__tags}[5m]))",
    ]
    (derived,) = expanded(datasources()["loki"]["jsonData"]["derivedFields"])
    assert derived["url"] == "${__value.raw}"


def test_the_queries_of_spans_are_ours() -> None:
    """They parse with the labels of a span filled in, and name a counter that exists, by labels it has."""
    links = expanded(datasources()["tempo"]["jsonData"]["tracesToMetrics"])
    tags = ",".join(f'{tag["value"]}="x"' for tag in links["tags"])
    metric = f"{semconv.ERRORS.replace('.', '_')}_total"
    for query in links["queries"]:
        text = query["query"].replace("$__tags", tags)
        promql_parser.parse(text)
        assert set(re.findall(r"\w+(?=\{)", text)) == {metric}
    assert {(tag["key"], tag["value"]) for tag in links["tags"]} == {
        ("service.name", "service_name"),
        (semconv.GEN_AI_TOOL_NAME, "gen_ai_tool_name"),
    }
    assert datasources()["tempo"]["jsonData"]["spanBar"]["tag"] == semconv.GEN_AI_TOOL_NAME


def test_service_name_is_a_label_wherever_links_select_by_it() -> None:
    """Prometheus promotes it; Loki indexes it, or a selector with it finds nothing."""
    assert "service.name" in configuration("prometheus.yaml")["otlp"]["promote_resource_attributes"]
    loki = configuration("loki.yaml")["distributor"]["otlp_config"]["default_resource_attributes_as_index_labels"]
    assert "service.name" in loki


def test_grafana_does_not_stream_searches_of_traces() -> None:
    """A streamed search brings a second table, and the hidden ids of its rows, into panels."""
    assert datasources()["tempo"]["jsonData"]["streamingEnabled"] == {"search": False}


def test_grafana_knows_the_version_of_prometheus() -> None:
    """It asks what that version can answer."""
    source = datasources()["prometheus"]["jsonData"]
    version = services()["prometheus"]["image"].partition(":v")[2].partition("@")[0]
    assert (source["prometheusType"], source["prometheusVersion"]) == ("Prometheus", version)


def test_grafana_s_alerts_are_not_sent_twice() -> None:
    """Its rules are the same alerts as those of Prometheus."""
    assert datasources()["alertmanager"]["jsonData"]["handleGrafanaManagedAlerts"] is False


def test_the_dashboards_come_from_the_generated_files() -> None:
    """In a folder with a uid of its own; what a browser changes is not saved over them."""
    (provider,) = provisioned("dashboards")["providers"]
    assert on_host("grafana", provider.pop("options")["path"]) == ROOT / "dashboards" / "generated"
    assert provider == {
        "name": "errcompact",
        "orgId": 1,
        "type": "file",
        "folder": "Agent errors",
        "folderUid": "errcompact",
        "disableDeletion": True,
        "allowUiUpdates": False,
        "updateIntervalSeconds": 30,
    }


def test_dashboards_name_no_data_source_that_is_not_provisioned() -> None:
    """They ask variables, or Grafana's own sources; an alert needs a uid, and it is one of ours."""
    ours = {source["uid"] for source in datasources().values()}
    named = {
        value["uid"]
        for file in sorted((ROOT / "dashboards" / "generated").glob("*.json"))
        for path, value in paths(json.loads(file.read_text(encoding="utf-8")))
        if path.endswith("datasource") and isinstance(value, dict) and "uid" in value
    }
    assert named
    assert {uid for uid in named if not uid.startswith("$")} <= ours | {"grafana", "-- Grafana --", "-- Mixed --"}
    alerts = {value for path, value in paths(provisioned("alerting")) if path.endswith("datasourceUid")}
    assert alerts
    assert alerts <= ours | {"__expr__"}


def test_alerts_have_a_folder_of_their_own_and_replace_no_routing() -> None:
    """A provisioned policy tree would be the operator's whole routing."""
    alerting = provisioned("alerting")
    # Grafana would make two folders of one title, since rules are read first and cannot name the uid.
    assert {group["folder"] for group in alerting["groups"]} == {"Agent errors: alerts"}
    assert "policies" not in alerting


def test_every_file_is_one_that_grafana_reads() -> None:
    """In the folders and with the endings that it looks for."""
    found = {str(path.relative_to(PROVISIONING)) for path in PROVISIONING.rglob("*") if path.is_file()}
    assert found == {
        "alerting/errcompact.yaml",
        "dashboards/errcompact.yaml",
        "datasources/errcompact.yaml",
        "plugins/errcompact.yaml",
    }
