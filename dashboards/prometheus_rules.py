"""The rules as Prometheus reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards import classes, recordings
from dashboards.alert_links import TIMES, WITH_TIMES, page_url, silence_url
from dashboards.alerts import ALERTS
from dashboards.recordings import INTERVAL_S
from dashboards.wording import filled
from dashboards.yaml_text import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboards.alerts import Alert
    from dashboards.recordings import Pace, Recording

RECORDINGS: Final = (*classes.RECORDINGS, *recordings.RECORDINGS)
"""Of each group in the order in which they read one another."""


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
    return f"(\n{_indented(alert.query)}\n) {WITH_TIMES} >= {alert.at_least:g}"


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
        # An empty label is none: what only the text reads does not tell alerts apart.
        "labels": {"severity": alert.severity, **dict.fromkeys((*alert.only_read, *TIMES), "")},
        "annotations": {
            "summary": _filled(alert, alert.summary),
            "description": _filled(alert, alert.description),
            "runbook_url": alert.runbook_url,
            "dashboard_url": page_url(alert),
            "silence_url": silence_url(alert),
        },
    }


def _filled(alert: Alert, text: str) -> str:
    return filled(text, value="$value", unit=alert.unit)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
