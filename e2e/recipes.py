"""
What the chain is built from: modules of the Go proxy in exactly the versions that the compose files run.

All are under permissive licences. Tempo and Loki, which docker-compose.yml runs too, are not, and are not built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).resolve().parent.parent
MANIFEST: Final = ROOT / "collector-config" / "builder.yaml"


class Module(NamedTuple):
    """
    A module in one version.
    """

    path: str
    version: str
    sum: str
    """What its content must hash to: the module's own go.sum, which it brings, holds that of everything it needs."""

    def __str__(self) -> str:
        return f"{self.path}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """
    How a program is built: a release's source, with the dependencies that the release itself names.

    `go install MODULE@VERSION` would need less, but refuses a module that replaces dependencies (Prometheus), and
    embeds files that the module proxy does not carry (Alertmanager).
    """

    name: str
    module: Module
    packages: tuple[str, ...]
    """What is built; the programs are named by the last part."""

    tags: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """What the module proxy leaves out and the compiler wants: path to text."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of what is built."""
        # Go calls a program by its path, without the major version at its end.
        return tuple(re.sub(r"/v\d+$", "", package).rpartition("/")[2] for package in self.packages)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorRecipe:
    """
    How the collector is built: by its own builder, from the manifest of the components that our configuration names.
    """

    name: str
    builder: Module
    manifest: Path
    program: str

    @property
    def programs(self) -> tuple[str, ...]:
        """The name of what is built."""
        return (self.program,)


ALERTMANAGER: Final = Recipe(
    name="alertmanager",
    module=Module("github.com/prometheus/alertmanager", "v0.34.0", "h1:z75n0NoypggESmt3HD4JlTXOaOZj1EBz1ACHO4Z6EUk="),
    packages=("./cmd/alertmanager", "./cmd/amtool"),
    # Its web interface is made by Node and embedded; the HTTP interface is all that the chain asks.
    files={"ui/app/dist/index.html": "<!doctype html><title>Alertmanager</title>\n"},
)

PROMETHEUS: Final = Recipe(
    name="prometheus",
    # A program of major version 3 whose module path has no /v3: 3.14.0 is v0.314.0 to Go.
    module=Module("github.com/prometheus/prometheus", "v0.314.0", "h1:YjsimqsIi6/mOtzZcrPEYUALO6zpfaht9O5sXqDz2vg="),
    packages=("./cmd/prometheus", "./cmd/promtool"),
    # Discovery by the clouds' own interfaces is half of the build; static and file discovery stay.
    tags="remove_all_sd",
)

JAEGER: Final = Recipe(
    name="jaeger",
    # Jaeger 2 has no module path of its own: 2.13.0 was tagged on the same commit as 1.76.0, the newest that the module
    # proxy carries. Its older half, cmd/all-in-one, costs a third less to build and has had no release since.
    module=Module("github.com/jaegertracing/jaeger", "v1.76.0", "h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g="),
    packages=("./cmd/jaeger",),
)

VICTORIALOGS: Final = Recipe(
    name="victorialogs",
    module=Module(
        "github.com/VictoriaMetrics/VictoriaLogs", "v1.52.1", "h1:B83xu4usTNPrpsFZFH/Dei3nWIsQizIeSRghFxj4ZJo="
    ),
    packages=("./app/victoria-logs",),
)

COLLECTOR: Final = CollectorRecipe(
    name="collector",
    builder=Module(
        "go.opentelemetry.io/collector/cmd/builder", "v0.159.0", "h1:5pq4bsa/Y26aQqpZKLQxdwrIDDSCrybk+BjVkKmNqow="
    ),
    manifest=MANIFEST,
    program="otelcol",
)

KUSTOMIZE: Final = Recipe(
    name="kustomize",
    module=Module("sigs.k8s.io/kustomize/kustomize/v5", "v5.7.1", "h1:sYJsarwy/SDJfjjLMUqwFDGPwzUtMOQ1i1Ed49+XSbw="),
    packages=("sigs.k8s.io/kustomize/kustomize/v5",),
)

KUBECTL_VALIDATE: Final = Recipe(
    name="kubectl-validate",
    # What an API server checks, with the schemas of its versions inside: no cluster and no network is asked.
    module=Module("sigs.k8s.io/kubectl-validate", "v0.0.4", "h1:tGKuv0awYHn11Cb6KPsZKxUmHgavF46K3NvVH0Nse9U="),
    packages=("sigs.k8s.io/kubectl-validate",),
)

PROMETHEUS_OPERATOR: Final = Module(
    "github.com/prometheus-operator/prometheus-operator", "v0.90.1", "h1:n/+FkLB6WpftBxJC8IEHrWXSA6uzNTocFmwU/ACkfeg="
)
"""Holds the definitions of its kinds in example/prometheus-operator-crd/; nothing of it is built."""

RECIPES: Final = (ALERTMANAGER, COLLECTOR, KUSTOMIZE, KUBECTL_VALIDATE, VICTORIALOGS, PROMETHEUS, JAEGER)
"""In the order in which they are built: the quick ones first, so that what is wrong with Go shows at once."""
