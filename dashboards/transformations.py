"""Transformations of answers to the rows and columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.models import dashboard as models

if TYPE_CHECKING:
    from collections.abc import Sequence


def only(ref: str, transformation: models.DataTransformerConfig) -> models.DataTransformerConfig:
    """Transform the answers to one question, and leave the others as they are."""
    transformation.filter_val = models.MatcherConfig("byRefId", ref)
    return transformation


def trends(*refs: str) -> models.DataTransformerConfig:
    """Turn each series into a row, with the values over time in one cell."""
    return models.DataTransformerConfig("timeSeriesTable", options={ref: {"stat": "sum"} for ref in refs})


def joined(field: str) -> models.DataTransformerConfig:
    """Put the answers to several questions side by side, where a field has the same value."""
    return models.DataTransformerConfig("joinByField", options={"byField": field, "mode": "outer"})


def sorted_by(field: str) -> models.DataTransformerConfig:
    """Put the rows with the greatest values first."""
    return models.DataTransformerConfig("sortBy", options={"sort": [{"field": field, "desc": True}]})


def merged() -> models.DataTransformerConfig:
    """Make one row of the answers with the same labels."""
    return models.DataTransformerConfig("merge", options={})


def extracted(field: str) -> models.DataTransformerConfig:
    """Make a column of each label of a log record, which stand in one field together."""
    options = {"source": field, "format": "json", "replace": False, "keepTime": False}
    return models.DataTransformerConfig("extractFields", options=options)


def difference(minuend: str, subtrahend: str, name: str) -> models.DataTransformerConfig:
    """Add a column: one less the other."""
    binary = {"left": minuend, "operator": "-", "right": subtrahend}
    return models.DataTransformerConfig("calculateField", options={"alias": name, "binary": binary, "mode": "binary"})


def columns(names: dict[str, str], *, hidden: Sequence[str] = ()) -> models.DataTransformerConfig:
    """Order and name the columns of a table, and hide those nobody reads."""
    return models.DataTransformerConfig(
        "organize",
        options={
            "excludeByName": dict.fromkeys(hidden, True),
            "indexByName": {name: index for index, name in enumerate(names)},
            "renameByName": names,
        },
    )
