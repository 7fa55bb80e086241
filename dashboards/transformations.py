"""What tables do with the answers of several queries before they show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.models.dashboard import DataTransformerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping


def merge() -> DataTransformerConfig:
    """Make one row of all answers with the same labels."""
    return DataTransformerConfig(id_val="merge", options={})


def columns(names: Mapping[str, str]) -> DataTransformerConfig:
    """Show fields in this order and under these names, and hide when they were asked for."""
    order = {field: number for number, field in enumerate(names)}
    options = {"excludeByName": {"Time": True}, "indexByName": order, "renameByName": dict(names)}
    return DataTransformerConfig(id_val="organize", options=options)


def difference(minuend: str, subtrahend: str, name: str) -> DataTransformerConfig:
    """Add a field: one less the other."""
    binary = {"left": minuend, "operator": "-", "right": subtrahend}
    options = {"alias": name, "binary": binary, "mode": "binary", "reduce": {"reducer": "sum"}}
    return DataTransformerConfig(id_val="calculateField", options=options)
