"""Where the links of an alert lead, as templates of Prometheus: each carries what the alert is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from dashboards.class_cells import ALERTMANAGER_URL
from dashboards.links import VARIABLES
from dashboards.metrics import AGENT, CLASS, ENVIRONMENT, NAMESPACE, SERVICE
from dashboards.panels import variables_of

if TYPE_CHECKING:
    from dashboards.alerts import Alert

GRAFANA_URL: Final = os.environ.get("ERRCOMPACT_GRAFANA_URL", "http://localhost:3000")
"""Where a person who was paged finds Grafana, where Prometheus has no external label `grafana_url`."""

SPAN_S: Final = 6 * 3_600
"""How much time a page shows, all of it before the alert: what is asked for in the future has no answer."""

TIMES: Final = {"from": SPAN_S, "to": 0}
"""The labels with the ends of that time in milliseconds: templates cannot subtract, and queries can."""

WITH_TIMES: Final = " ".join(
    f'* on () group_left ({name}) count_values ("{name}", floor(vector(time() - {ago})) * 1000)'
    for name, ago in TIMES.items()
)
"""PromQL that gives each value these labels."""

_ALWAYS: Final = (ENVIRONMENT, SERVICE)
"""Labels that are set where they are empty too: page and silence are then about what has none, and no other one."""

_BEGIN: Final = "%7B"
_END: Final = "%7D"


def page_url(alert: Alert) -> str:
    """Return the address of the page that answers an alert, with its environment, service, class or run, and time."""
    page = alert.page or alert.panel.dashboard
    there = variables_of(page)
    chosen = "".join(
        f"&var-{name}={{{{ $labels.{label} | urlquery }}}}"
        if label in _ALWAYS
        else f"{{{{ with $labels.{label} }}}}&var-{name}={{{{ . | urlquery }}}}{{{{ end }}}}"
        for label, name in VARIABLES.items()
        if name in there
    )
    time = "&".join(f"{name}={{{{ $labels.{name} }}}}" for name in TIMES)
    return f"{_base('grafana_url', GRAFANA_URL)}/d/{page}?{time}{chosen}"


def silence_url(alert: Alert) -> str:
    """Return the address of Alertmanager's form for a silence, with the labels of the alert filled in."""
    labels = [label for label in (SERVICE, ENVIRONMENT, NAMESPACE, AGENT, CLASS) if label not in alert.only_read]
    # A plus would stay one: Alertmanager reads what stands behind its `#` by itself.
    value = 'urlquery | reReplaceAll "[+]" "%20" }}'
    matchers = "".join(
        f"%2C{label}%3D%22{{{{ $labels.{label} | {value}%22"
        if label in _ALWAYS
        else f"{{{{ with $labels.{label} }}}}%2C{label}%3D%22{{{{ . | {value}%22{{{{ end }}}}"
        for label in labels
    )
    named = f"{_BEGIN}alertname%3D%22{alert.name}%22{matchers}{_END}"
    return f"{_base('alertmanager_url', ALERTMANAGER_URL)}/#/silences/new?filter={named}"


def _base(label: str, default: str) -> str:
    return f"{{{{ with $externalLabels.{label} }}}}{{{{ . }}}}{{{{ else }}}}{default}{{{{ end }}}}"
