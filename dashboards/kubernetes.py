"""Rules and dashboards for Kubernetes: an object for Prometheus' operator, config maps for Grafana's sidecar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml

from dashboards.panels import GENERATED, board_files
from dashboards.yaml_text import document

if TYPE_CHECKING:
    from pathlib import Path

RULE_FILE: Final = GENERATED / "prometheusrule.yaml"
KUSTOMIZATION_FILE: Final = GENERATED / "kustomization.yaml"

_LABELS: Final = {"app.kubernetes.io/name": "errcompact", "app.kubernetes.io/part-of": "errcompact"}
_FOLDER: Final = "Agent errors"


def kubernetes_files(rules: str) -> dict[Path, str]:
    """
    Return each file with its content.

    Args:
        rules: The rule file of Prometheus, whose groups the object holds.
    """
    return {RULE_FILE: document(_prometheus_rule(rules)), KUSTOMIZATION_FILE: document(_kustomization(), "kubernetes")}


def _prometheus_rule(rules: str) -> dict[str, Any]:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "errcompact", "labels": _LABELS},
        "spec": yaml.safe_load(rules),
    }


def _kustomization() -> dict[str, Any]:
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [RULE_FILE.name],
        "configMapGenerator": [{"name": path.stem, "files": [path.name]} for path in sorted(board_files())],
        "generatorOptions": {
            # A map of another name would be a second dashboard with the same uid.
            "disableNameSuffixHash": True,
            "labels": {**_LABELS, "grafana_dashboard": "1"},
            # The folder, for Grafana's chart and for its sidecar: each reads one of them.
            "annotations": {"grafana_folder": _FOLDER, "k8s-sidecar-target-directory": _FOLDER},
        },
    }
