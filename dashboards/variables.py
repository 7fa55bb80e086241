"""The variables at the top of the dashboards, and how a query refers to them."""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders.dashboard import DatasourceVariable, QueryVariable, TextBoxVariable
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.dashboard import VariableHide, VariableOption, VariableRefresh, VariableSort

from dashboards import metrics, queries

PROMETHEUS: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
TEMPO: Final = DataSourceRef(type_val="tempo", uid="${tempo}")
LOKI: Final = DataSourceRef(type_val="loki", uid="${loki}")

Variable = DatasourceVariable | QueryVariable | TextBoxVariable


def data_sources() -> tuple[Variable, ...]:
    """Where metrics, traces and logs are; a missing Tempo or Loki leaves the panels of the others as they are."""
    return (
        _data_source("datasource", "Metrics", "prometheus"),
        _data_source("tempo", "Traces", "tempo"),
        _data_source("loki", "Logs", "loki"),
    )


def scope() -> tuple[Variable, ...]:
    """Which environment and service."""
    return (
        _values("environment", "Environment", metrics.ENVIRONMENT, queries.everything()),
        _values("service", "Service", metrics.SERVICE, queries.of_environment()),
    )


def failures() -> tuple[Variable, ...]:
    """Which agent, tool, type and class of failures."""
    within = queries.of_service()
    return (
        _values("agent", "Agent", metrics.AGENT, within),
        _values("tool", "Tool", metrics.TOOL, within),
        _values("error_type", "Type", metrics.ERROR_TYPE, within),
        _values("class", "Class", metrics.CLASS, queries.without_class()),
    )


def run() -> TextBoxVariable:
    """Which run, as text: run ids are far too many to be labels of a metric."""
    return (
        TextBoxVariable("run")
        .label("Run")
        .description("Id of a run or a conversation, from a trace or from a log record; empty shows all runs.")
        .default_value("")
    )


def everything() -> tuple[Variable, ...]:
    """All variables that select failures."""
    return (*data_sources(), *scope(), *failures())


def _data_source(name: str, label: str, kind: str) -> DatasourceVariable:
    # Hidden, since most have one of each; `?var-datasource=` in the address chooses another.
    return DatasourceVariable(name).label(label).type(kind).hide(VariableHide.HIDE_VARIABLE)


def _values(name: str, label: str, values_of: str, series: str) -> QueryVariable:
    return (
        QueryVariable(name)
        .label(label)
        .datasource(PROMETHEUS)
        # The short form of the query: with it, Grafana 10 to 13 need no editor's internal fields.
        .query(f"label_values({series}, {values_of})")
        .multi(multi=True)
        .include_all(include_all=True)
        # `.*` and not the list of all values: it also keeps series that lack the label.
        .all_value(".*")
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
    )
