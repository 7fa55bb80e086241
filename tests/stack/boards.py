"""A generated dashboard read as data: its panels, its queries, and its queries as Grafana would send them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = dict[str, Any]

ROOT: Final = Path(__file__).parents[2]
GENERATED: Final = ROOT / "dashboards" / "generated"

UIDS: Final = (
    "errcompact-context",
    "errcompact-detail",
    "errcompact-escalations",
    "errcompact-health",
    "errcompact-inbox",
    "errcompact-recurrence",
    "errcompact-tokens",
)

WITHOUT_QUERY: Final = frozenset({"alertlist", "dashlist", "row", "text"})
"""Kinds of panels that ask no data source."""

DURATION: Final = "6h"
"""What stands for the dashboard's time range where only the form of a query matters."""

OF_GRAFANA: Final = {
    "__all": ".*",
    "__interval": "30s",
    "__interval_ms": "30000",
    "__rate_interval": "3m",
    "__range": DURATION,
    "__range_s": "21600",
    "__range_ms": "21600000",
    "__from": "1795000000000",
    "__to": "1795021600000",
    "__data": "",
    "__value": "",
    "__field": "",
    "__series": "",
    "__url_time_range": "",
    "__all_variables": "",
    "__dashboard": "",
}
"""Grafana's own variables."""

VARIABLE: Final = re.compile(r"\$\{(?P<braced>\w+)[^}]*\}|\$(?P<bare>[A-Za-z_]\w*)|\[\[(?P<old>\w+)[^\]]*\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    One question of a dashboard.
    """

    where: str
    """The panel, annotation or variable that asks it."""

    language: str
    """The kind of its data source: prometheus, tempo or loki."""

    text: str
    instant: bool
    source: str
    """The data source's uid as it stands there."""


def load(uid: str) -> Json:
    """Return a generated dashboard."""
    board: Json = json.loads((GENERATED / f"{uid}.json").read_text(encoding="utf-8"))
    return board


def panels(board: Json) -> Iterator[Json]:
    """Return all panels, rows and what is folded up in them included."""
    for panel in board.get("panels", ()):
        yield panel
        yield from panel.get("panels", ()) if panel["type"] == "row" else ()


def queries(board: Json) -> Iterator[Query]:
    """Return all that a dashboard asks: its panels, its annotations and its variables."""
    for panel in panels(board):
        for target in panel.get("targets", ()):
            yield _query(f"panel {panel.get('title')!r}", target, panel)
    for annotation in board.get("annotations", {}).get("list", ()):
        if not annotation.get("builtIn"):
            yield _query(f"annotation {annotation.get('name')!r}", annotation, annotation)
    for variable in variables(board):
        if variable["type"] == "query":
            yield Query(
                where=f"variable {variable['name']!r}",
                language=_source(variable, "type"),
                text=_text(variable),
                instant=True,
                source=_source(variable, "uid"),
            )


def variables(board: Json) -> list[Json]:
    """Return the dashboard's variables."""
    found: list[Json] = board.get("templating", {}).get("list", [])
    return found


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a query as Grafana would send it, with these values of the dashboard's variables."""

    def value(match: re.Match[str]) -> str:
        return values[next(name for name in match.groups() if name)]

    return VARIABLE.sub(value, text)


def values_of(board: Json) -> dict[str, str]:
    """Return what every variable of a dashboard stands for when everything is chosen."""
    chosen = {variable["name"]: variable.get("allValue") or _current(variable) for variable in variables(board)}
    return {**OF_GRAFANA, **chosen}


def asked_of_variable(text: str) -> tuple[str, str]:
    """Return the series and the label that a variable's `label_values(series, label)` asks for."""
    match = re.fullmatch(r"label_values\((?:(?P<series>.*),)?\s*(?P<label>\w+)\s*\)", text, re.DOTALL)
    return ((match["series"] or "").strip(), match["label"]) if match else (text, "")


def _query(where: str, asked: Json, owner: Json) -> Query:
    source = asked.get("datasource") or owner.get("datasource") or {}
    return Query(
        where=where,
        language=source.get("type", ""),
        text=_text(asked),
        instant=bool(asked.get("instant")),
        source=source.get("uid", ""),
    )


def _text(asked: Json) -> str:
    """Return the text of a query, which every data source keeps elsewhere."""
    text = asked.get("expr") or asked.get("query") or asked.get("target", {}).get("expr", "")
    return str(text.get("query", "") if isinstance(text, dict) else text)


def _source(owner: Json, field: str) -> str:
    return str((owner.get("datasource") or {}).get(field, ""))


def _current(variable: Json) -> str:
    value = (variable.get("current") or {}).get("value") or variable.get("query", "")
    return str(value[0] if isinstance(value, list) else value)
