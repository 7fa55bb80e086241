"""What the chain is built from: modules of the Go proxy in exactly the versions that the compose file runs."""

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

    `go install MODULE@VERSION` would need less, but refuses a module that replaces dependencies (Prometheus, Tempo,
    Loki), and embeds files that the module proxy does not carry (Alertmanager).
    """

    name: str
    module: Module
    packages: tuple[str, ...]
    """What is built; the programs are named by the last part."""

    tags: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """What the module proxy leaves out and the compiler wants: path to text."""

    nested: Mapping[str, Module] = field(default_factory=dict)
    """Modules inside the module's own repository, which the proxy carries apart: path to module."""

    optional: str = ""
    """The environment variable that asks for it; always built if empty."""

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
    optional: str = ""

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

TEMPO: Final = Recipe(
    name="tempo",
    # Tempo 3 has no module path either, and pseudo-versions instead of tags: this is the newest commit that the
    # module proxy carries, from shortly before 3.0.
    module=Module(
        "github.com/grafana/tempo",
        "v1.5.1-0.20260423183749-e1676d825c43",
        "h1:u+6u18QCm3tmEbE77QlUIpV2NvyBQqbXXuA+39/wIyc=",
    ),
    packages=("./cmd/tempo",),
)

LOKI: Final = Recipe(
    name="loki",
    module=Module("github.com/grafana/loki/v3", "v3.7.6", "h1:PpAdmaml1H2ASRqDXruvpM6z3uwLTpewjhTZE38FZ4A="),
    packages=("./cmd/loki",),
    optional="ERRCOMPACT_E2E_LOKI",
    nested={
        "pkg/push": Module(
            "github.com/grafana/loki/pkg/push",
            "v0.0.0-20260611205623-ac76b402773c",
            "h1:LkZ1Nl9mXkkrZo9WGp46WG/H6kSSJpoNhJN+EqtocNk=",
        )
    },
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

RECIPES: Final = (ALERTMANAGER, COLLECTOR, KUSTOMIZE, KUBECTL_VALIDATE, PROMETHEUS, TEMPO, LOKI)
"""In the order in which they are built: the quick ones first, so that what is wrong with Go shows at once."""
