"""The manifests of kubernetes/ as kustomize builds them, and checks of their objects."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from e2e.build import program
from e2e.recipes import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

KINDS_OF_WORKLOADS: Final = ("DaemonSet", "StatefulSet", "Deployment")
MEBIBYTES: Final = {"Mi": 1, "MiB": 1, "Gi": 1024, "GiB": 1024}


@dataclass(frozen=True, slots=True)
class Manifests:
    """
    The objects of one kustomization.
    """

    text: str
    objects: Sequence[Mapping[str, Any]]

    def of(self, *kinds: str) -> list[Mapping[str, Any]]:
        """Return the objects of some kinds."""
        return [each for each in self.objects if each["kind"] in kinds]

    def named(self, kind: str, name: str) -> Mapping[str, Any]:
        """Return the object of a kind that has a name."""
        (found,) = [each for each in self.of(kind) if each["metadata"]["name"] == name]
        return found

    def workloads(self) -> list[Workload]:
        """Return the objects that make pods."""
        return [Workload(each, self) for each in self.of(*KINDS_OF_WORKLOADS)]


@dataclass(frozen=True, slots=True)
class Workload:
    """
    An object that makes pods of one container, and the manifests around it.
    """

    manifest: Mapping[str, Any]
    around: Manifests

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest["metadata"]["name"]

    @property
    def pod(self) -> Mapping[str, Any]:
        """The specification of its pods."""
        return self.manifest["spec"]["template"]["spec"]

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its pods."""
        return self.manifest["spec"]["template"]["metadata"]["labels"]

    @property
    def container(self) -> Mapping[str, Any]:
        """Its container."""
        (found,) = self.pod["containers"]
        return found

    def environ(self, **of_pod: str) -> dict[str, str]:
        """
        Return the environment of its container.

        Args:
            of_pod: Values of the pod's fields, with underscores for dots.
        """
        values: dict[str, str] = {}
        for source in self.container["envFrom"]:
            values |= self.around.named("ConfigMap", source["configMapRef"]["name"])["data"]
        for each in self.container["env"]:
            field = each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "").replace(".", "_")
            values[each["name"]] = of_pod[field] if field else each["value"]
        return values

    def configuration(self) -> tuple[str, str]:
        """Return the name and the content of the file that its argument names."""
        (argument,) = self.container["args"]
        folder, _, file = argument.removeprefix("--config=").rpartition("/")
        (volume,) = [each["name"] for each in self.container["volumeMounts"] if each["mountPath"] == folder]
        (found,) = [each["configMap"]["name"] for each in self.pod["volumes"] if each["name"] == volume]
        return file, self.around.named("ConfigMap", found)["data"][file]


def built(folder: str, root: Path = ROOT) -> Manifests:
    """
    Return the manifests that kustomize builds from a folder.

    Raises:
        subprocess.CalledProcessError: It refuses the folder.
    """
    command = [program("kustomize"), "build", str(root / folder)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Manifests(text, list(yaml.safe_load_all(text)))


def mebibytes(size: str) -> int:
    """Return the size of a memory limit, of a volume, or of a Go program's limit."""
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]+)", size).groups()  # type: ignore[union-attr]
    return int(number) * MEBIBYTES[unit]


def weaknesses(workload: Workload) -> Iterator[str]:
    """Yield each right that a pod has and does not need, and each fact that its cluster lacks."""
    pod, container = workload.pod, workload.container
    of_pod, of_container = pod.get("securityContext", {}), container.get("securityContext", {})
    wanted = {
        "it is not root": of_pod.get("runAsNonRoot") is True and of_pod.get("runAsUser", 0) > 0,
        "its system calls are filtered": of_pod.get("seccompProfile") == {"type": "RuntimeDefault"},
        "it gains no rights": of_container.get("allowPrivilegeEscalation") is False,
        "it writes to its volumes alone": of_container.get("readOnlyRootFilesystem") is True,
        "it has no capabilities": of_container.get("capabilities") == {"drop": ["ALL"]},
        "it holds no token": pod.get("automountServiceAccountToken") is False,
        "it uses nothing of its node": not any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
        and not any("hostPath" in volume for volume in pod.get("volumes", ()))
        and not any("hostPort" in port for port in container.get("ports", ())),
        "it is asked how it is": all(f"{name}Probe" in container for name in ("startup", "readiness", "liveness")),
        "its memory is bounded": "memory" in container.get("resources", {}).get("limits", {}),
        "what it needs is known": set(container.get("resources", {}).get("requests", {})) == {"cpu", "memory"},
        "its image is one": re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", container["image"]) is not None,
    }
    yield from (name for name, holds in wanted.items() if not holds)


def dangling(manifests: Manifests) -> Iterator[str]:
    """Yield the references to pods, ports and objects that do not exist."""
    workloads = manifests.workloads()
    for each in manifests.of("Service"):
        found = [one for one in workloads if _selects(each["spec"]["selector"], one.labels)]
        ports = {port["name"] for one in found for port in one.container["ports"]}
        yield from _missing(each, found, {port["targetPort"] for port in each["spec"]["ports"]} - ports)
    for each in manifests.of("PodDisruptionBudget"):
        yield from _missing(each, _selected(each["spec"]["selector"], workloads), ())
    for each in manifests.of("NetworkPolicy"):
        found = _selected(each["spec"]["podSelector"], workloads)
        ports = {port["name"] for one in found for port in one.container["ports"]}
        rules = each["spec"]["ingress"]
        yield from _missing(each, found, {port["port"] for rule in rules for port in rule["ports"]} - ports)
        senders = [
            sender["podSelector"] for rule in rules for sender in rule.get("from", ()) if "podSelector" in sender
        ]
        yield from (f"{_called(each)}: from no pod" for sender in senders if not _selected(sender, workloads))
    services = {each["metadata"]["name"] for each in manifests.of("Service")}
    for each in manifests.of("StatefulSet"):
        if each["spec"]["serviceName"] not in services:
            yield f"{_called(each)}: no service {each['spec']['serviceName']}"


def _missing(manifest: Mapping[str, Any], found: Sequence[Workload], ports: Iterable[str]) -> Iterator[str]:
    if not found:
        yield f"{_called(manifest)}: no pod"
    yield from (f"{_called(manifest)}: no port {port}" for port in sorted(ports) if found)


def _selected(selector: Mapping[str, Any], workloads: Iterable[Workload]) -> list[Workload]:
    return [one for one in workloads if _selects(selector["matchLabels"], one.labels)]


def _selects(wanted: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return wanted.items() <= labels.items()


def _called(manifest: Mapping[str, Any]) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"
