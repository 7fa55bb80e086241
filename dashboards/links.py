"""Links from a value to another page, and to Explore; each carries what stands in its own row."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from dashboards.metrics import AGENT, CLASS, ENVIRONMENT, RUN_ID, SERVICE
from dashboards.targets import NEWEST_FIRST

VARIABLES: Final = {ENVIRONMENT: "environment", SERVICE: "service", AGENT: "agent", CLASS: "class", RUN_ID: "run"}
"""The variables that links set, by the labels or columns they are set from."""

SOURCES: Final = "${datasource:queryparam}&${tempo:queryparam}&${loki:queryparam}"
HERE: Final = "${__url_time_range}"
ROW: Final = (ENVIRONMENT, SERVICE)
"""The columns that every row of a table has which leads elsewhere."""


class Link(NamedTuple):
    """
    A way from a value to another page.

    The SDK's builder is for links of whole dashboards and writes what only those have.
    """

    title: str
    url: str
    new_tab: bool = False

    def build(self) -> dict[str, Any]:
        """Return what Grafana calls a data link."""
        return {"title": self.title, "url": self.url, "targetBlank": self.new_tab}


def links_of(*links: Link) -> dict[str, Any]:
    """Give the values of a field links."""
    return {"links": [each.build() for each in links]}


def of_row(label: str) -> str:
    """Return the value of a column in the row that is clicked."""
    return f"${{__data.fields.{label}:percentencode}}"


def of_series(label: str) -> str:
    """Return the value of a label of the series that is clicked."""
    return f"${{__field.labels.{label}:percentencode}}"


def row_link(title: str, uid: str, *labels: str) -> Link:
    """Return the way from a row to a page about what stands in its columns; environment and service always do."""
    chosen = (f"var-{VARIABLES[label]}={of_row(label)}" for label in (*ROW, *labels))
    return page_link(title, uid, *chosen)


def page_link(title: str, uid: str, *chosen: str) -> Link:
    """Return the way to a page, with variables as they are chosen, the data sources and the time range."""
    return Link(title, f"/d/{uid}?{'&'.join((*chosen, SOURCES, HERE))}")


def kept(*names: str) -> tuple[str, ...]:
    """Return variables of this page as the next one gets them."""
    return tuple(f"${{{name}:queryparam}}" for name in names)


def explore(data_source: str, query: dict[str, Any]) -> str:
    """Return the address of Explore with a query; the variable of a data source is called like its type."""
    pane = {
        "datasource": f"${{{data_source}}}",
        "queries": [{"refId": "A", "datasource": {"type": data_source, "uid": f"${{{data_source}}}"}, **query}],
        "range": {"from": "${__from}", "to": "${__to}"},
    }
    # Variables stay as they are: Grafana puts the values in before it follows the link.
    parts = re.split(r"(\$\{[^}]*\})", json.dumps({"A": pane}, separators=(",", ":")))
    panes = "".join(part if part.startswith("${") else quote(part) for part in parts)
    return f"/explore?schemaVersion=1&panes={panes}"


def explore_spans(query: str) -> str:
    """Return the address of Explore with the newest spans that match."""
    return explore("tempo", {"queryType": "traceql", "tableType": "spans", "query": f"{query} {NEWEST_FIRST}"})
