"""The rules as Prometheus reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards.alerts import ALERTS, GRAFANA_URL, INTERVAL_S, RECORDINGS
from dashboards.panels import panel_id
from dashboards.wording import filled
from dashboards.yaml_text import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboards.alerts import Alert, Pace, Recording

_TEMPLATE: Final = (
    '{{ with printf "topk(1, errcompact_class_info{service_name=%q, errcompact_class=%q})" '
    "$labels.service_name $labels.errcompact_class | query }}"
    "{{ with first . }}{{ .Labels.errcompact_template }}"
    "{{ with .Labels.errcompact_location }} (at {{ . }}){{ end }}{{ end }}"
    "{{ else }}its text has not arrived yet{{ end }}"
)
"""An error class in words. The labels hold only its key: a location moves with every edit of the program."""

_LOOSER: Final = (" and ", " or ", " unless ")
"""Operators that bind less tightly than a comparison."""

_FILTERS: Final = (
    "{{ with $labels.service_name }}&var-service={{ . | urlquery }}{{ end }}"
    "{{ with $labels.errcompact_class }}&var-class={{ . | urlquery }}{{ end }}"
)


def prometheus_rules() -> str:
    """Return the rule file."""
    groups = [
        {"name": f"errcompact-{pace}", "interval": f"{seconds}s", "rules": _rules(pace)}
        for pace, seconds in INTERVAL_S.items()
    ]
    return document({"groups": groups})


def optional_rules() -> str:
    """Return the rule file of the alerts that are off unless Prometheus is given it."""
    groups = [
        {"name": f"errcompact-optional-{pace}", "interval": f"{seconds}s", "rules": rules}
        for pace, seconds in INTERVAL_S.items()
        if (rules := [_alert(alert) for alert in ALERTS if alert.pace == pace and alert.optional])
    ]
    return document({"groups": groups})


def expression(alert: Alert) -> str:
    """Return an alert's condition."""
    compound = any(operator in f" {alert.query} ".replace("\n", " ") for operator in _LOOSER)
    query = f"(\n{_indented(alert.query)}\n)" if compound else alert.query
    return f"{query} >= {alert.at_least:g}"


def _rules(pace: Pace) -> list[Mapping[str, Any]]:
    recordings = [_recording(recording) for recording in RECORDINGS if recording.pace == pace]
    return [*recordings, *(_alert(alert) for alert in ALERTS if alert.pace == pace and not alert.optional)]


def _recording(recording: Recording) -> dict[str, Any]:
    labels = {"labels": dict(recording.labels)} if recording.labels else {}
    return {"record": recording.name, "expr": recording.expr, **labels}


def _alert(alert: Alert) -> dict[str, Any]:
    times = {"for": alert.wait, "keep_firing_for": alert.keep}
    return {
        "alert": alert.name,
        "expr": expression(alert),
        **{name: time for name, time in times.items() if time},
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": _filled(alert, alert.summary),
            "description": _filled(alert, alert.description),
            "runbook_url": alert.runbook_url,
            "dashboard_url": (
                f"{GRAFANA_URL}/d/{alert.panel.dashboard}?viewPanel=panel-{panel_id(*alert.panel)}{_FILTERS}"
            ),
        },
    }


def _filled(alert: Alert, text: str) -> str:
    return filled(text, value="$value", unit=alert.unit, template=_TEMPLATE)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
