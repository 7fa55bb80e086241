"""The files that are made from the alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboards.grafana_rules import grafana_rules
from dashboards.prometheus_rules import optional_rules, prometheus_rules

_ROOT: Final = Path(__file__).parent.parent

PROMETHEUS_FILE: Final = _ROOT / "dashboards" / "generated" / "rules.yaml"
OPTIONAL_FILE: Final = PROMETHEUS_FILE.with_name("rules-optional.yaml")
GRAFANA_FILE: Final = _ROOT / "collector-config" / "grafana" / "provisioning" / "alerting" / "errcompact.yaml"


def alert_files() -> dict[Path, str]:
    """Return each generated file with its content."""
    return {PROMETHEUS_FILE: prometheus_rules(), OPTIONAL_FILE: optional_rules(), GRAFANA_FILE: grafana_rules()}
