"""Questions of panels: queries for Prometheus, Tempo and Loki."""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders import loki, prometheus, tempo
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.tempo import SearchTableType

from dashboards.variables import LOKI, PROMETHEUS, TEMPO

Target = prometheus.Dataquery | tempo.Dataquery | loki.Dataquery

NEWEST_FIRST: Final = "with (most_recent=true)"
"""Without this hint Tempo returns the first spans it finds, whatever their age."""


def promql(expr: str, legend: str = "", *, ref: str = "A", exemplar: bool = False) -> prometheus.Dataquery:
    """Ask Prometheus for values over time."""
    query = prometheus.Dataquery().ref_id(ref).datasource(PROMETHEUS).expr(expr).range().exemplar(exemplar)
    return query.legend_format(legend or "__auto")


def instant(expr: str, legend: str = "", *, ref: str = "A") -> prometheus.Dataquery:
    """Ask Prometheus for values at the end of the time range."""
    query = prometheus.Dataquery().ref_id(ref).datasource(PROMETHEUS).expr(expr).instant()
    return query.legend_format(legend or "__auto")


def rows(expr: str, *, ref: str = "A") -> prometheus.Dataquery:
    """Ask Prometheus for values at the end of the time range, as rows of a table."""
    return instant(expr, ref=ref).format(PromQueryFormat.TABLE)


def legend(*labels: str) -> str:
    """Name series by their labels."""
    return " ".join(f"{{{{{label}}}}}" for label in labels)


def traceql(query: str, *, ref: str = "A", spans: bool = False, limit: int = 50) -> tempo.Dataquery:
    """Ask Tempo for the newest traces, or for the newest spans that match."""
    kind = SearchTableType.SPANS if spans else SearchTableType.TRACES
    asked = tempo.Dataquery().ref_id(ref).datasource(TEMPO).query_type("traceql").query(f"{query} {NEWEST_FIRST}")
    return asked.limit(limit).table_type(kind)


def logql(expr: str, *, ref: str = "A", max_lines: int = 200) -> loki.Dataquery:
    """Ask Loki for lines."""
    return loki.Dataquery().ref_id(ref).datasource(LOKI).expr(expr).query_type("range").max_lines(max_lines)
