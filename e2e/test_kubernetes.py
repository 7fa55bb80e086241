"""The manifests of kubernetes/: built by kustomize, and validated as an API server does."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest
import yaml

from e2e.build import BuildError, fetched, go_is_missing, program
from e2e.manifests import Manifests, Workload, built, dangling, mebibytes, weaknesses
from e2e.programs import QUICK
from e2e.recipes import PROMETHEUS_OPERATOR, ROOT
from e2e.test_collector import OTELCOL
from otel_errcompact_lab.cli.stack import export
from tests.stack.compose import services, settings_read

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED: Final = ("kubernetes/base", "kubernetes/overlays/small", "kubernetes/overlays/production")
MONITORING: Final = "kubernetes/monitoring"
KINDS: Final = ("prometheuses", "prometheusrules")
VERSION: Final = "1.30"
"""Of Kubernetes: the newest whose schemas kubectl-validate brings."""

LARGEST_ANNOTATION: Final = 262_144
"""Bytes: `kubectl apply` without --server-side keeps each object whole in an annotation of itself."""


def unavailable(reason: str) -> NoReturn:
    """Fail in CI for a program that is not there, and skip on a developer's machine."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def manifests() -> dict[str, Manifests]:
    """Everything that is shipped."""
    if reason := go_is_missing():
        unavailable(reason)
    try:
        return {folder: built(folder) for folder in (*SHIPPED, MONITORING)}
    except BuildError as error:
        unavailable(f"{error}; `make e2e` builds first")


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kinds of Prometheus' operator."""
    if reason := go_is_missing():
        unavailable(reason)
    folder = tmp_path_factory.mktemp("kinds")
    try:
        source = fetched(PROMETHEUS_OPERATOR) / "example" / "prometheus-operator-crd"
        program("kubectl-validate")
    except BuildError as error:
        unavailable(str(error))
    for kind in KINDS:
        name = f"monitoring.coreos.com_{kind}.yaml"
        shutil.copyfile(source / name, folder / name)
    return folder


def refusal(text: str, definitions: Path, folder: Path) -> str:
    """Return the objections of an API server to manifests; empty if it takes them."""
    (folder / "manifests.yaml").write_text(text, encoding="utf-8")
    command = [program("kubectl-validate"), "manifests.yaml", f"--local-crds={definitions}", f"--version={VERSION}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize("folder", [*SHIPPED, MONITORING])
def test_an_api_server_takes_the_manifests(folder, manifests, definitions, tmp_path) -> None:
    """Each object has a kind that exists, and no field that its kind does not have."""
    assert len(manifests[folder].objects) > 5
    assert refusal(manifests[folder].text, definitions, tmp_path) == ""


@pytest.mark.parametrize(
    ("folder", "right", "wrong", "said"),
    [
        (SHIPPED[0], "readOnlyRootFilesystem:", "readOnlyRootFileSystem:", "unknown field"),
        (SHIPPED[0], "replicas: 2", "replicas: two", "must be of type integer"),
        (SHIPPED[0], "apiVersion: policy/v1\n", "apiVersion: policy/v9\n", "failed to locate OpenAPI spec"),
        (SHIPPED[0], "  serviceName: errcompact-gateway\n", "  service: errcompact-gateway\n", "unknown field"),
        (MONITORING, "- alert:", "- alarm:", "unknown field"),
        (MONITORING, "interval: 5s", "interval: often", "should match"),
        (MONITORING, "kind: PrometheusRule", "kind: PrometheusRules", "PrometheusRules"),
    ],
)
def test_a_broken_manifest_is_refused(folder, right, wrong, said, manifests, definitions, tmp_path) -> None:
    """Names that are nearly right, values of another type, versions and kinds that do not exist."""
    text = manifests[folder].text
    assert right in text
    assert said in refusal(text.replace(right, wrong), definitions, tmp_path)


@pytest.mark.parametrize("folder", SHIPPED)
def test_pods_can_do_no_more_than_they_need(folder, manifests) -> None:
    """Its namespace takes no others: it enforces the strictest standard."""
    found = {workload.name: list(weaknesses(workload)) for workload in manifests[folder].workloads()}
    assert found
    assert [lines for lines in found.values() if lines] == []
    labels = manifests[folder].named("Namespace", "errcompact")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize(
    ("place", "value", "weakness"),
    [
        (("securityContext", "runAsUser"), 0, "it is not root"),
        (("securityContext", "seccompProfile"), {"type": "Unconfined"}, "its system calls are filtered"),
        (("hostNetwork",), True, "it uses nothing of its node"),
        (("volumes",), [{"name": "queue", "hostPath": {"path": "/var"}}], "it uses nothing of its node"),
        (("automountServiceAccountToken",), True, "it holds no token"),
        (("containers", 0, "image"), "otel/opentelemetry-collector-contrib:0.159.0", "its image is one"),
        (("containers", 0, "resources"), {"requests": {"cpu": 1, "memory": 1}}, "its memory is bounded"),
        (("containers", 0, "resources"), {"limits": {"memory": 1}}, "what it needs is known"),
        (("containers", 0, "livenessProbe"), None, "it is asked how it is"),
        (("containers", 0, "securityContext", "readOnlyRootFilesystem"), False, "it writes to its volumes alone"),
        (("containers", 0, "securityContext", "allowPrivilegeEscalation"), True, "it gains no rights"),
        (("containers", 0, "securityContext", "capabilities"), {"drop": []}, "it has no capabilities"),
    ],
)
def test_a_pod_that_could_do_more_is_found(place, value, weakness, manifests) -> None:
    """One weakness at a time; None takes the field away."""
    broken = copy.deepcopy(manifests[SHIPPED[0]].workloads()[0].manifest)
    node: Any = broken["spec"]["template"]["spec"]
    for step in place[:-1]:
        node = node[step]
    if value is None:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    assert list(weaknesses(Workload(broken, manifests[SHIPPED[0]]))) == [weakness]


@pytest.mark.parametrize("folder", SHIPPED)
def test_nothing_refers_to_what_is_not_there(folder, manifests) -> None:
    """Services, budgets and policies select pods and name their ports."""
    assert list(dangling(manifests[folder])) == []


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        ("targetPort: otlp-http", "targetPort: otlp", "no port otlp"),
        ('errcompact/takes-otlp: "true"\n  policyTypes', 'errcompact/takes: "true"\n  policyTypes', "no pod"),
        ("serviceName: errcompact-gateway", "serviceName: errcompact-gateways", "no service errcompact-gateways"),
    ],
)
def test_a_dangling_reference_is_found(right, wrong, found, manifests) -> None:
    """One at a time."""
    text = manifests[SHIPPED[0]].text
    assert right in text
    broken = text.replace(right, wrong)
    assert any(found in line for line in dangling(Manifests(broken, list(yaml.safe_load_all(broken)))))


def test_an_export_builds_the_same(manifests, tmp_path) -> None:
    """`errcompact stack export` writes every file that the manifests refer to."""
    export(tmp_path)
    assert {folder: built(folder, tmp_path).text for folder in manifests} == {
        folder: each.text for folder, each in manifests.items()
    }


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_image_is_that_of_the_compose_file(folder, manifests) -> None:
    """With the tag and the digest of .env."""
    images = {workload.container["image"] for workload in manifests[folder].workloads()}
    assert images == {services()["otelcol"]["image"]}


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_configuration_is_that_of_the_repository(folder, manifests) -> None:
    """Byte for byte, whatever the overlay."""
    found = dict(workload.configuration() for workload in manifests[folder].workloads())
    assert "otelcol.yaml" in found
    for file, content in found.items():
        assert content == (ROOT / "collector-config" / file).read_text(encoding="utf-8")


def test_dashboards_and_rules_are_those_of_the_repository(manifests) -> None:
    """Each dashboard is a map of its own, by which Grafana's sidecar knows it, in the folder that all are in."""
    generated = ROOT / "dashboards" / "generated"
    maps = {each["metadata"]["name"]: each for each in manifests[MONITORING].of("ConfigMap")}
    assert {name: dict(each["data"]) for name, each in maps.items()} == {
        path.stem: {path.name: path.read_text(encoding="utf-8")} for path in generated.glob("*.json")
    }
    for each in maps.values():
        assert each["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert set(each["metadata"]["annotations"].values()) == {"Agent errors"}
    (rule,) = manifests[MONITORING].of("PrometheusRule")
    assert rule["spec"] == yaml.safe_load((generated / "rules.yaml").read_bytes())


@pytest.mark.parametrize("folder", [*SHIPPED, MONITORING])
def test_every_object_can_be_applied_either_way(folder, manifests) -> None:
    """With and without --server-side."""
    sizes = {each["metadata"]["name"]: len(yaml.safe_dump(each).encode()) for each in manifests[folder].objects}
    assert [name for name, size in sizes.items() if size > LARGEST_ANNOTATION * 0.9] == []


@pytest.mark.parametrize("folder", SHIPPED)
def test_what_is_set_is_read(folder, manifests) -> None:
    """No variable is set that nothing reads; what all of them get in common may be for others."""
    for workload in manifests[folder].workloads():
        file, _ = workload.configuration()
        own = {each["name"] for each in workload.container["env"]} - {"GOMEMLIMIT"}
        assert own <= set(settings_read(file)), workload.name


@pytest.mark.parametrize("folder", SHIPPED)
def test_a_collector_refuses_before_it_is_killed(folder, manifests) -> None:
    """New data is refused first, then the garbage collector works harder, and last the kernel ends it."""
    for workload in manifests[folder].workloads():
        environ = workload.environ(metadata_name="pod", spec_nodeName="node")
        limit = mebibytes(workload.container["resources"]["limits"]["memory"])
        assert int(environ["MEMORY_LIMIT_MIB"]) < mebibytes(environ["GOMEMLIMIT"]) <= 0.85 * limit, workload.name


@pytest.mark.parametrize("folder", SHIPPED)
def test_three_queues_fit_on_a_volume(folder, manifests) -> None:
    """With a quarter for what compaction needs."""
    kept = manifests[folder].of("StatefulSet")
    assert kept
    for manifest in kept:
        environ = Workload(manifest, manifests[folder]).environ(metadata_name="pod", spec_nodeName="node")
        (claim,) = manifest["spec"]["volumeClaimTemplates"]
        volume = mebibytes(claim["spec"]["resources"]["requests"]["storage"]) * 2**20
        assert 3 * int(environ["QUEUE_BYTES"]) <= 0.75 * volume


@pytest.mark.parametrize("folder", [SHIPPED[0], SHIPPED[2]])
def test_balancers_know_each_gateway(folder, manifests) -> None:
    """By the names that the set gives its pods; one too many would hold back what is for it."""
    assert named(manifests[folder]) == expected(manifests[folder])


def named(manifests: Manifests) -> list[str]:
    """The gateways that balancers send to."""
    balancer = Workload(manifests.named("StatefulSet", "errcompact-balancer"), manifests)
    return yaml.safe_load(balancer.environ(metadata_name="pod")["COLLECTORS"])


def expected(manifests: Manifests) -> list[str]:
    """The gateways that there are."""
    gateway = manifests.named("StatefulSet", "errcompact-gateway")
    name, service = gateway["metadata"]["name"], gateway["spec"]["serviceName"]
    return [f"{name}-{number}.{service}:4317" for number in range(gateway["spec"]["replicas"])]


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_collector_takes_its_configuration(folder, manifests, tmp_path) -> None:
    """With the variables that the manifest sets, and no others."""
    if not OTELCOL:
        unavailable("no collector: `make e2e` builds it")
    for workload in manifests[folder].workloads():
        name, content = workload.configuration()
        (tmp_path / name).write_text(content, encoding="utf-8")
        environ = {**QUICK, **workload.environ(metadata_name="pod-0", spec_nodeName="node-1")}
        done = subprocess.run(
            [OTELCOL, "validate", "--config", tmp_path / name], capture_output=True, check=False, env=environ
        )
        assert (done.returncode, done.stderr) == (0, b""), workload.name
