"""The alerts as Grafana reads them from its provisioning folder."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Final

from dashboards.alerts import ALERTS
from dashboards.panels import panel_id
from dashboards.recordings import INTERVAL_S, WINDOW_S
from dashboards.wording import filled
from dashboards.yaml_text import document

if TYPE_CHECKING:
    from dashboards.alerts import Alert
    from dashboards.recordings import Pace

DATA_SOURCE: Final = "errcompact-prometheus"
FOLDER: Final = "Agent errors: alerts"
"""
Not the dashboards' folder: rules come first and cannot name the uid of a folder, so Grafana would make one with a uid
of its own, and then a second one of the same title for the dashboards (grafana/grafana#125079).
"""

PAUSED: Final = os.environ.get("ERRCOMPACT_GRAFANA_RULES", "paused") != "active"
"""
Whether Grafana leaves evaluating them to Prometheus, whose Alertmanager pages. With both, everything would page twice.
"""

SCHEDULER_S: Final = 10
"""Grafana evaluates at multiples of this only."""

_EXPRESSIONS: Final = "__expr__"


def grafana_rules(*, paused: bool = PAUSED) -> str:
    """Return the provisioning file. It holds no notification policies: they would replace the operator's own."""
    groups = [
        {
            "orgId": 1,
            "name": f"errcompact-{pace}",
            "folder": FOLDER,
            "interval": f"{math.ceil(seconds / SCHEDULER_S) * SCHEDULER_S}s",
            "rules": _rules(pace, paused=paused),
        }
        for pace, seconds in INTERVAL_S.items()
        if any(alert.pace == pace for alert in ALERTS)
    ]
    return document({"apiVersion": 1, "groups": groups})


def _rules(pace: Pace, *, paused: bool) -> list[dict[str, Any]]:
    return [_rule(alert, paused=paused or alert.optional) for alert in ALERTS if alert.pace == pace]


def _rule(alert: Alert, *, paused: bool) -> dict[str, Any]:
    board, panel = alert.panel.dashboard, panel_id(*alert.panel)
    # Grafana draws the state of a rule on its panel: a green heart for one that is paused, even while Prometheus fires.
    place = {} if paused else {"dashboardUid": board, "panelId": panel}
    noted = {} if paused else {"__dashboardUid__": board, "__panelId__": str(panel)}
    times = {"for": alert.wait or "0s", "keepFiringFor": alert.keep or "0s"}
    return {
        "uid": f"errcompact-{alert.name.lower()}",
        "title": alert.name,
        "condition": "C",
        "data": [_query(alert.query), _threshold(alert.at_least)],
        **place,
        # No failure is no data.
        "noDataState": "OK",
        "execErrState": "Error",
        **times,
        "annotations": {
            "summary": _filled(alert, alert.summary),
            "description": _filled(alert, alert.description),
            "runbook_url": alert.runbook_url,
            **noted,
        },
        "labels": {"severity": alert.severity},
        "isPaused": paused,
    }


def _filled(alert: Alert, text: str) -> str:
    return filled(text, value="$values.A.Value", unit=alert.unit)


def _query(expr: str) -> dict[str, Any]:
    return {
        "refId": "A",
        "relativeTimeRange": {"from": WINDOW_S, "to": 0},
        "datasourceUid": DATA_SOURCE,
        "model": {"refId": "A", "expr": expr, "instant": True, "range": False, "editorMode": "code"},
    }


def _threshold(at_least: float) -> dict[str, Any]:
    return {
        "refId": "C",
        "relativeTimeRange": {"from": 0, "to": 0},
        "datasourceUid": _EXPRESSIONS,
        "model": {
            "refId": "C",
            "type": "threshold",
            "expression": "A",
            "datasource": {"type": _EXPRESSIONS, "uid": _EXPRESSIONS},
            "conditions": [{"evaluator": {"type": "gte", "params": [at_least]}}],
        },
    }
