"""Links from a value to another page, and to Explore."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote

from dashboards.targets import NEWEST_FIRST


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


def board_link(title: str, uid: str, variable: str, value: str) -> Link:
    """Return the way to another dashboard with a variable set, within the same place and time."""
    chosen = f"var-{variable}={value}&${{datasource:queryparam}}&${{environment:queryparam}}&${{service:queryparam}}"
    return Link(title, f"/d/{uid}?{chosen}&${{__url_time_range}}")


def explore_spans(query: str) -> str:
    """Return the address of Explore with the newest spans that match."""
    return explore("tempo", {"queryType": "traceql", "tableType": "spans", "query": f"{query} {NEWEST_FIRST}"})
