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
    """Which environment, service and owner; of all that run, whether anything failed or not."""
    return (
        _values("environment", "Environment", metrics.ENVIRONMENT, metrics.CONTEXT_TOKENS),
        _values("service", "Service", metrics.SERVICE, queries.of_environment(metrics.CONTEXT_TOKENS)),
        _values("owner", "Owner", metrics.NAMESPACE, queries.of_environment(metrics.CONTEXT_TOKENS)),
    )


def failures() -> tuple[QueryVariable, ...]:
    """Which agent, tool, type and class of failures."""
    within = queries.scoped(metrics.ERRORS)
    return (
        _values("agent", "Agent", metrics.AGENT, queries.scoped(metrics.RUNS)),
        _values("tool", "Tool", metrics.TOOL, within),
        _values("error_type", "Type", metrics.ERROR_TYPE, within),
        _values("class", "Class", metrics.CLASS, queries.without_class()),
    )


def of_runs() -> tuple[Variable, ...]:
    """Which agent, tool and class; a run is of no type, which takes no room."""
    hidden = VariableHide.HIDE_VARIABLE
    return tuple(each.hide(hidden) if each.build().name == "error_type" else each for each in failures())


def run() -> TextBoxVariable:
    """Which run, as text: run ids are far too many to be labels of a metric."""
    return (
        TextBoxVariable("run")
        .label("Run")
        .description("Id of a run or a conversation, from a trace or from a log record; empty shows all runs.")
        .default_value("")
    )


def state() -> QueryVariable:
    """Which states of classes; chosen by a click on a state, so it takes no room."""
    return _values("state", "State", metrics.STATE, queries.scoped(metrics.CLASS_ROW)).hide(VariableHide.HIDE_VARIABLE)


def search() -> TextBoxVariable:
    """What the message of a class holds."""
    return (
        TextBoxVariable("search")
        .label("Message")
        .description("A part of the message of a class, in capital or small letters; empty shows all.")
        .default_value("")
    )


def price(name: str, label: str) -> TextBoxVariable:
    """What a million tokens cost; none is built in."""
    return (
        TextBoxVariable(name)
        .label(label)
        .description("Price of a million tokens of the models that are chosen; empty shows no money.")
        .default_value("")
    )


def model() -> QueryVariable:
    """Which models."""
    return _values("model", "Model", metrics.MODEL, queries.scoped(metrics.TOKEN_USAGE_SUM))


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
