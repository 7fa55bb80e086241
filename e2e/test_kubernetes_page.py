"""docs/kubernetes.md, compared with the manifests and the configuration files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from e2e.recipes import ROOT
from e2e.test_kubernetes import MONITORING, SHIPPED, definitions, manifests, refusal
from tests.docs.pages import BLOCKS
from tests.stack.compose import configuration, services

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.manifests import Workload

__all__ = ("definitions", "manifests")

NAME: Final = "docs/kubernetes.md"
PAGE: Final = (ROOT / NAME).read_text(encoding="utf-8")
COMMANDS: Final = "".join(block.code for block in BLOCKS if block.page == NAME and block.language == "console")
(PROMETHEUS,) = (block.code for block in BLOCKS if block.page == NAME and block.language == "yaml")


def rows(*header: str) -> list[list[str]]:
    """Return the rows of the table with these columns, without code marks."""
    _, _, rest = PAGE.partition(f"| {' | '.join(header)} |\n")
    lines = re.match(r"\|[-|]+\|\n((?:\|.*\n)*)", rest)
    assert lines, header
    return [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in lines[1].splitlines()]


def size(workload: Workload) -> list[str]:
    """Return the size of a workload as the page shows it."""
    spec, resources = workload.manifest["spec"], workload.container["resources"]
    claims = [each["spec"]["resources"]["requests"]["storage"] for each in spec.get("volumeClaimTemplates", ())]
    pods = str(spec.get("replicas", "one per node"))
    asked, limits = resources["requests"], resources["limits"]
    return [workload.name, pods, asked["cpu"], asked["memory"], limits["memory"], *(claims or ["none"])]


def test_sizes_are_those_of_the_manifests(manifests) -> None:
    """Numbers, requests, limits and volumes of the base."""
    shown = rows("part", "pods", "CPU request", "memory request", "memory limit", "volume")
    assert sorted(shown) == sorted(size(workload) for workload in manifests[SHIPPED[0]].workloads())


def test_parts_are_those_of_the_manifests(manifests) -> None:
    """Each with its kind and its configuration file."""
    shown = [[name, kind, file] for name, kind, _, file in rows("part", "kind", "what it does", "configuration")]
    found = [
        [each.name, each.manifest["kind"], f"collector-config/{each.configuration()[0]}"]
        for each in manifests[SHIPPED[0]].workloads()
    ]
    assert sorted(shown) == sorted(found)


def test_commands_name_folders_and_objects_that_exist(manifests) -> None:
    """What is applied, waited for, and sent to."""
    applied = re.findall(r"apply -k (\S+)", COMMANDS)
    assert applied == [SHIPPED[0], MONITORING]
    assert [folder for folder, _ in rows("folder", "holds")] == list(SHIPPED)
    base = manifests[SHIPPED[0]]
    for kind, name in re.findall(r"rollout status (\w+)/(\S+)", COMMANDS):
        assert kind == "statefulset"
        assert base.named("StatefulSet", name)
    (address,) = set(re.findall(r"http://(errcompact-\w+)\.errcompact:4317", PAGE))
    assert 4317 in {port["port"] for port in base.named("Service", address)["spec"]["ports"]}


def test_the_operator_takes_the_prometheus_of_the_page(definitions: Path, tmp_path: Path) -> None:
    """And refuses it with a field that is nearly right."""
    assert refusal(PROMETHEUS, definitions, tmp_path) == ""
    assert "unknown field" in refusal(PROMETHEUS.replace("enableOTLP", "enableOtlp"), definitions, tmp_path)


def test_the_prometheus_of_the_page_is_set_as_that_of_compose() -> None:
    """Each setting that dashboards and rules rely on."""
    spec: dict[str, Any] = yaml.safe_load(PROMETHEUS)["spec"]
    shipped = configuration("prometheus.yaml")
    flags = dict(flag.lstrip("-").partition("=")[::2] for flag in services()["prometheus"]["command"])
    assert spec["enableOTLPReceiver"] is ("web.enable-otlp-receiver" in flags)
    assert spec["enableFeatures"] == flags["enable-feature"].split(",")
    assert spec["evaluationInterval"] == shipped["global"]["evaluation_interval"]
    assert set(spec["externalLabels"]) == set(shipped["global"]["external_labels"])
    (alertmanager,) = spec["alerting"]["alertmanagers"]
    assert alertmanager["alertRelabelings"] == shipped["alerting"]["alert_relabel_configs"]
    otlp = shipped["otlp"]
    assert spec["otlp"]["keepIdentifyingResourceAttributes"] is otlp["keep_identifying_resource_attributes"]
    assert spec["otlp"]["promoteResourceAttributes"] == otlp["promote_resource_attributes"]
    assert spec["tsdb"]["outOfOrderTimeWindow"] == shipped["storage"]["tsdb"]["out_of_order_time_window"]
    assert spec["exemplars"]["maxSize"] == shipped["storage"]["exemplars"]["max_exemplars"]
    assert spec["retention"] == shipped["storage"]["tsdb"]["retention"]["time"]


def test_the_prometheus_of_the_page_selects_the_rules(manifests) -> None:
    """By the labels of the object and of its namespace."""
    spec: dict[str, Any] = yaml.safe_load(PROMETHEUS)["spec"]
    (rule,) = manifests[MONITORING].of("PrometheusRule")
    assert spec["ruleSelector"]["matchLabels"].items() <= rule["metadata"]["labels"].items()
    named = {"kubernetes.io/metadata.name": rule["metadata"]["namespace"]}
    assert spec["ruleNamespaceSelector"]["matchLabels"] == named


def test_what_was_measured_stands_among_the_results() -> None:
    """A figure is on the page only as the benchmark has printed it."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8").splitlines()
    shown = PAGE.partition("<!-- limits -->\n")[2].partition("<!-- /limits -->")[0].splitlines()
    assert len(shown) >= 6
    assert [line for line in shown if line not in results] == []


@pytest.mark.parametrize(("table", "least"), [("docker-compose.yml", 5), ("kubernetes/base", 4)])
def test_measured_limits_are_those_that_are_set(table, least, manifests) -> None:
    """A limit that changes is measured again."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {table} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", results, re.MULTILINE)
    assert found
    shown = re.findall(r"^\| (\S+) \| (\S+) \|", found[1], re.MULTILINE)
    measured = {name: int(limit.replace(",", "")) for name, limit in shown}
    assert len(measured) >= least
    if table == "kubernetes/base":
        parts = {each.name.removeprefix("errcompact-"): each for each in manifests[table].workloads()}
        limits = {name: parts[name.rpartition("-")[0]].container["resources"]["limits"]["memory"] for name in measured}
        assert {name: f"{limit}Mi" for name, limit in measured.items()} == limits
    else:
        limits = {name: services()[name]["mem_limit"].replace("1g", "1024m") for name in measured}
        assert {name: f"{limit}m" for name, limit in measured.items()} == limits
