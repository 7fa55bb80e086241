"""What can be wrong with a dashboard; each check returns a complaint per fault, and nothing if there is none."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from tests.stack import lookups, promql
from tests.stack.boards import (
    OF_GRAFANA,
    UIDS,
    VARIABLE,
    WITHOUT_QUERY,
    asked_of_variable,
    filled,
    load,
    panels,
    queries,
    values_of,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.stack.boards import Json
    from tests.stack.promql import Known

COLUMNS: Final = 24

CHARACTERS_PER_COLUMN: Final = 2.75
"""What fits at 1280 pixels with the menu open, beside the icon of the description."""

HIDDEN: Final = 2
"""Grafana's `hideVariable`."""

WITHOUT_NUMBERS: Final = WITHOUT_QUERY | {"logs"}
WITHOUT_EMPTY_STATE: Final = frozenset({"dashlist", "row", "text"})
"""Text is never empty."""

DATA_SOURCES: Final = {"datasource": "prometheus", "tempo": "tempo", "loki": "loki"}
"""The variables that stand for data sources, and of which kind."""

LEGEND_LABEL: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
ESCAPED_IN_QUOTES: Final = re.compile(r'"[^"`]*\$\{\w+:regex\}[^"`]*"')
UNESCAPED_IN_TRACES: Final = re.compile(
    r"\$(?:service|agent|tool|error_type)\b|\$\{(?:service|agent|tool|error_type)\}"
)
BOARD_LINK: Final = re.compile(r"/d/(?P<uid>[\w-]+)(?P<rest>[^\s)\"']*)")
LINKED_VARIABLE: Final = re.compile(r"[?&]var-(\w+)=")
LINKED_RAW: Final = re.compile(
    r"[?&]var-(\w+)=\$\{(?!__data\.fields\.errcompact_class\}|__field\.labels\.errcompact_class\})[^}:]*\}"
)
EXPLORED: Final = re.compile(r"/explore\?[^ )\"']*?\bpanes=([^&)\s]+)")
ROWS_ONLY: Final = re.compile(r"\band on \((?:service_name, [^)]*errcompact_class|errcompact_run_id)\)")
"""A table's other columns are limited to the rows of the first, by what a row is told apart by."""

FIXED_RATE: Final = re.compile(r"\b(?:rate|irate)\((?:[^()]|\([^()]*\))*\[(?!\$__)")


def texts(board: Json) -> list[str]:
    """Every panel has an id, a title and a description, and text has something to say."""
    found = []
    for panel in panels(board):
        missing = [name for name in ("id", "title") if not panel.get(name)]
        missing += ["description"] if panel["type"] != "row" and not panel.get("description") else []
        missing += ["content"] if panel["type"] == "text" and not panel.get("options", {}).get("content") else []
        found += [f"{_name(panel)} has no {name}" for name in missing]
    return found


def units(board: Json) -> list[str]:
    """Numbers have a unit."""
    shown = (panel for panel in panels(board) if panel["type"] not in WITHOUT_NUMBERS)
    return [f"{_name(panel)} has no unit" for panel in shown if not _defaults(panel).get("unit")]


def empty_states(board: Json) -> list[str]:
    """A panel without data says what that means."""
    shown = (panel for panel in panels(board) if panel["type"] not in WITHOUT_EMPTY_STATE)
    return [f"{_name(panel)} has no empty state" for panel in shown if not _defaults(panel).get("noValue")]


def ids(board: Json) -> list[str]:
    """No two panels have the same id, and no two queries of a panel the same name."""
    counted = Counter(panel.get("id") for panel in panels(board))
    found = [f"{number} panels have the id {key}" for key, number in counted.items() if number > 1]
    for panel in panels(board):
        refs = Counter(target.get("refId") for target in panel.get("targets", ()))
        found += [f"{_name(panel)} has {number} queries {ref}" for ref, number in refs.items() if number > 1]
    return found


def questions(board: Json) -> list[str]:
    """Every panel that shows data asks for some."""
    asking = (panel for panel in panels(board) if panel["type"] not in WITHOUT_QUERY)
    return [f"{_name(panel)} asks nothing" for panel in asking if not panel.get("targets")] + [
        f"{query.where} asks nothing" for query in queries(board) if not query.text
    ]


def positions(board: Json) -> list[str]:
    """No panel lies on another, and none reaches beyond the grid."""
    placed = [(panel, panel["gridPos"]) for panel in board["panels"]]
    found = [f"{_name(panel)} reaches beyond the grid" for panel, at in placed if at["x"] + at["w"] > COLUMNS]
    for row in board["panels"]:
        folded = [(panel, panel["gridPos"]) for panel in row.get("panels", ())]
        found += [*_overlaps(folded)]
    return [*found, *_overlaps(placed)]


def data_sources(board: Json) -> list[str]:
    """Every data source is a variable of the right kind."""
    kinds = {v["name"]: v.get("query") for v in variables(board) if v["type"] == "datasource"}
    found = [f"variable {name} is no {kind}" for name, kind in DATA_SOURCES.items() if kinds.get(name, kind) != kind]
    for query in queries(board):
        match = re.fullmatch(r"\$\{(\w+)\}", query.source)
        if match is None or kinds.get(match[1]) != query.language:
            found.append(f"{query.where} asks {query.source or 'nobody'} of kind {query.language or 'unknown'}")
    for panel in panels(board):
        uid = (panel.get("datasource") or {}).get("uid", "${datasource}")
        if VARIABLE.fullmatch(uid) is None:
            found.append(f"{_name(panel)} has the data source {uid}")
    return found


def sources_of_panels(board: Json) -> list[str]:
    """A panel names the data source of its queries: Grafana sends all of them to the panel's."""
    return [
        f"{_name(panel)} sends {target['refId']} to another data source"
        for panel in panels(board)
        for target in panel.get("targets", ())
        if panel.get("datasource") != target["datasource"]
    ]


def variables_used(board: Json) -> list[str]:
    """Every variable that is used is defined, in queries, titles, texts and links."""
    defined = {variable["name"] for variable in variables(board)} | OF_GRAFANA.keys()
    return [
        f"{where} uses the variable {name}"
        for where, text in _strings(board)
        for name in dict.fromkeys(next(filter(None, match.groups())) for match in VARIABLE.finditer(text))
        if name not in defined and not _is_backreference(name)
    ]


def metrics(board: Json, known: Known) -> list[str]:
    """Every PromQL expression parses; its metrics, its labels and those of its legend exist."""
    values = values_of(board)
    found = []
    for query in queries(board):
        if query.language != "prometheus":
            continue
        text = query.text
        if query.where.startswith("variable"):
            text, label = asked_of_variable(text)
            found += [] if label else [f"{query.where} does not ask for values of a label"]
            expression = f"count by ({label}) ({filled(text, values)})" if label else filled(text, values)
        else:
            expression = filled(text, values)
        found += [f"{query.where}: {complaint}" for complaint in dict.fromkeys(promql.complaints(expression, known))]
    return [*found, *_legends(board, known)]


def rates(board: Json) -> list[str]:
    """A rate is taken over what Grafana finds right for the graph, not over a fixed time."""
    return [f"{query.where} has a fixed rate window" for query in queries(board) if FIXED_RATE.search(query.text)]


def traces(board: Json) -> list[str]:
    """TraceQL has a form that Tempo takes, and asks for attributes that spans, events or resources have."""
    return _lookups(board, "tempo", lookups.of_traces)


def records(board: Json) -> list[str]:
    """LogQL has a form that Loki takes, can be answered, and asks for labels that records have."""
    return _lookups(board, "loki", lookups.of_records)


def escapes(board: Json) -> list[str]:
    """
    What people have named (services, agents, tools) is found, whatever it is made of.

    Grafana's `regex` escapes by backslashes, which Tempo and Loki refuse in quotes; Tempo's data source escapes nothing
    by itself; and a link ends at a `&`.
    """
    asked = [query for query in queries(board) if query.language != "prometheus"]
    found = [f"{query.where} escapes in quotes" for query in asked if ESCAPED_IN_QUOTES.search(query.text)]
    found += [
        f"{query.where} does not escape names"
        for query in asked
        if query.language == "tempo" and UNESCAPED_IN_TRACES.search(query.text)
    ]
    for where, text in _strings(board):
        for match in BOARD_LINK.finditer(text):
            found += [f"{where} sets {name} as it is" for name in LINKED_RAW.findall(match["rest"])]
    return found


def links(board: Json) -> list[str]:
    """Every dashboard, panel and variable that a link names exists."""
    found = []
    for where, text in _strings(board):
        for match in BOARD_LINK.finditer(text):
            if match["uid"] not in UIDS:
                found.append(f"{where} leads to the dashboard {match['uid']}")
                continue
            target = load(match["uid"])
            names = {variable["name"] for variable in variables(target)}
            found += [
                f"{where} sets {name}, which {match['uid']} has not"
                for name in LINKED_VARIABLE.findall(match["rest"])
                if name not in names
            ]
            panel_ids = {str(panel["id"]) for panel in panels(target)}
            viewed = re.search(r"viewPanel=(?:panel-)?(\d+)", match["rest"])
            if viewed is not None and viewed[1] not in panel_ids:
                found.append(f"{where} leads to the panel {viewed[1]} of {match['uid']}")
    return found


def counts(board: Json) -> list[str]:
    """A count is shown as it is: with the unit `short` and no decimals 1563 is `2 K`."""
    found = []
    for panel in panels(board):
        defaults = _defaults(panel)
        fields = [defaults]
        fields += [
            {**defaults, **{each["id"]: each["value"] for each in override["properties"]}}
            for override in panel.get("fieldConfig", {}).get("overrides", ())
        ]
        if any(field.get("unit") == "short" and field.get("decimals") == 0 for field in fields):
            found.append(f"{_name(panel)} rounds counts to thousands")
    return found


def empty_cells(board: Json) -> list[str]:
    """An empty cell is empty: it does not say what the empty table says."""
    cured = {"matcher": {"id": "byRegexp", "options": ".*"}, "properties": [{"id": "noValue", "value": ""}]}
    tables = (panel for panel in panels(board) if panel["type"] == "table")
    return [
        f"{_name(panel)} says in each empty cell that it is empty"
        for panel in tables
        if panel["fieldConfig"].get("overrides", [])[:1] != [cured]
    ]


def bar_gauges(board: Json) -> list[str]:
    """A bar has its name and its height, also if it is the only one."""
    gauges = [panel for panel in panels(board) if panel["type"] == "bargauge"]
    found = [
        f"{_name(panel)} does not name a single bar" for panel in gauges if not _defaults(panel).get("displayName")
    ]
    by_hand = (panel for panel in gauges if panel.get("options", {}).get("sizing") != "manual")
    return found + [f"{_name(panel)} draws a single bar as high as the panel" for panel in by_hand]


def newest_first(board: Json) -> list[str]:
    """A search for traces returns the newest, in panels and behind links."""
    hint = "with (most_recent=true)"
    asked = [query for query in queries(board) if query.language == "tempo"]
    found = [f"{query.where} may return old spans" for query in asked if not query.text.endswith(hint)]
    for where, text in _strings(board):
        if "/explore?" in text and "traceql" in text and quote(hint) not in text:
            found.append(f"{where} leads to a search that may return old spans")
    return found


def annotations(board: Json) -> list[str]:
    """An annotation marks the onset: one that lasts becomes a region, and many regions hide a graph."""
    asked = (query for query in queries(board) if query.where.startswith("annotation"))
    return [
        f"{query.where} lasts" for query in asked if not re.search(r"\bunless\b.*\boffset\b", query.text, re.DOTALL)
    ]


def names_in_tables(board: Json) -> list[str]:
    """A table asks for labels by name: a bare metric brings `__name__` and all labels as columns."""
    values = values_of(board)
    tables = (panel for panel in panels(board) if panel["type"] == "table")
    return [
        f"{_name(panel)} shows all labels of {target['refId']}"
        for panel in tables
        for target in panel.get("targets", ())
        if target["datasource"]["type"] == "prometheus" and promql.keeps_name(filled(target["expr"], values))
    ]


def kinds_with_empty_states(board: Json) -> list[str]:
    """
    A panel shows its sentence when it is empty.

    State timelines and logs do not, so the first are not used, and a text stands in the row of the second.
    """
    found = [
        f"{_name(panel)} cannot say that it is empty" for panel in panels(board) if panel["type"] == "state-timeline"
    ]
    for section in _sections(board):
        if not any(panel["type"] == "text" for panel in section):
            found += [f"{_name(panel)} has no text beside it" for panel in section if panel["type"] == "logs"]
    return found


def titles(board: Json) -> list[str]:
    """The title of a number fits above it, at 1280 pixels with the menu open."""
    stats = (panel for panel in panels(board) if panel["type"] == "stat")
    return [
        f"{_name(panel)} needs a shorter title or more than {panel['gridPos']['w']} columns"
        for panel in stats
        if len(panel.get("title", "")) > CHARACTERS_PER_COLUMN * panel["gridPos"]["w"]
    ]


def controls(board: Json) -> list[str]:
    """What nearly all operators leave alone takes no room: choosers of data sources, links as one menu."""
    choosers = (variable for variable in variables(board) if variable["type"] == "datasource")
    found = [f"variable {each['name']} takes room" for each in choosers if each.get("hide") != HIDDEN]
    return found + [
        f"link {each['title']!r} takes room" for each in board.get("links", ()) if not each.get("asDropdown")
    ]


def joins(board: Json) -> list[str]:
    """
    Every answer of a joined table is limited to the rows of the first.

    Where the first is empty, Grafana shows another one alone: a lone column.
    """
    found = []
    for panel in panels(board):
        if not any(each["id"] == "joinByField" for each in panel.get("transformations", ())):
            continue
        found += [
            f"{_name(panel)} may show {target['refId']} alone"
            for target in panel.get("targets", ())[1:]
            if not ROWS_ONLY.search(target["expr"])
        ]
    return found


def row_links(board: Json) -> list[str]:
    """A link from a row carries the environment and the service of that row, and the data sources of the page."""
    found = []
    for panel in panels(board):
        shown = {name for each in panel.get("transformations", ()) for name in each["options"].get("indexByName", ())}
        for url in (url for _, text in _strings(panel) for url in [text] if "/d/" in url and "__data.fields" in url):
            found += [
                f"{_name(panel)} does not carry the {name} of the row"
                for name, label in (("environment", "deployment_environment_name"), ("service", "service_name"))
                if f"var-{name}=${{__data.fields.{label}:percentencode}}" not in url
            ]
            found += [
                f"{_name(panel)} loses the choice of {name}"
                for name in ("datasource", "tempo", "loki", "__url_time_range")
                if f"${{{name}" not in url
            ]
            fields = re.findall(r"__data\.fields\.(\w+)", url)
            found += [f"{_name(panel)} reads the hidden column {name}" for name in fields if name not in shown]
    return list(dict.fromkeys(found))


def colours(board: Json, meanings: Mapping[str, str]) -> list[str]:
    """What has a colour of its own has that one, on every page."""
    return [
        f"{where} shows {name} in {colour}"
        for where, name, colour in _coloured(board)
        if meanings.get(name, colour) != colour
    ]


def reserved_colours(board: Json, meanings: Mapping[str, str]) -> list[str]:
    """A colour that stands for one thing stands for no other."""
    return [
        f"{where} shows {name} in the colour of another"
        for where, name, colour in _coloured(board)
        if name not in meanings and colour in meanings.values()
    ]


def _coloured(board: Json) -> Iterator[tuple[str, str, str]]:
    """Return each name that has a fixed colour, with where and which."""
    for panel in panels(board):
        for override in panel.get("fieldConfig", {}).get("overrides", ()):
            for each in override["properties"]:
                if each["id"] == "color" and override["matcher"]["id"] == "byName":
                    yield _name(panel), override["matcher"]["options"], each["value"]["fixedColor"]
                for mapping in each["value"] if each["id"] == "mappings" else ():
                    if mapping["type"] == "value":
                        yield from ((_name(panel), name, to["color"]) for name, to in mapping["options"].items())
    for each in board.get("annotations", {}).get("list", ()):
        yield "annotations", each["name"].lower(), each["iconColor"]


def paused_rules(rules: list[Json]) -> list[str]:
    """A paused rule names no panel: Grafana draws its state there, a green heart, while Prometheus fires."""
    return [
        f"{rule['title']} names a panel"
        for rule in rules
        if rule["isPaused"] and ("panelId" in rule or "__panelId__" in rule["annotations"])
    ]


def _lookups(board: Json, language: str, complaints: Callable[[str], Iterable[str]]) -> list[str]:
    """What is wrong with the queries in a language, in panels and behind links to Explore."""
    values = values_of(board)
    asked = [(query.where, query.text) for query in queries(board) if query.language == language]
    for where, text in _strings(board):
        for panes in EXPLORED.findall(text):
            asked += [
                (f"{where}, its link", each.get("query") or each["expr"])
                for pane in json.loads(unquote(panes)).values()
                for each in pane["queries"]
                if each["datasource"]["type"] == language
            ]
    # A class or a service stands in a link as the value of a field.
    chosen = {name: value or "chosen" for name, value in values.items()}
    return [f"{where} {complaint}" for where, text in asked for complaint in complaints(filled(text, chosen))]


def _sections(board: Json) -> Iterator[list[Json]]:
    """Return the panels of each row."""
    section: list[Json] = []
    for panel in board["panels"]:
        if panel["type"] != "row":
            section.append(panel)
            continue
        yield section
        section = []
        yield panel.get("panels", [])
    yield section


def _legends(board: Json, known: Known) -> Iterator[str]:
    values = values_of(board)
    for panel in panels(board):
        for target in panel.get("targets", ()):
            wanted = LEGEND_LABEL.findall(target.get("legendFormat") or "")
            if not wanted or promql.complaints(text := filled(target["expr"], values), known):
                continue
            there = promql.labels_of(text, known)
            yield from (f"{_name(panel)} has the legend {name}" for name in wanted if name not in there)


def _overlaps(placed: list[tuple[Json, Json]]) -> Iterator[str]:
    for (one, a), (other, b) in combinations(placed, 2):
        beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        above = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        if not beside and not above:
            yield f"{_name(one)} lies on {_name(other)}"


def _strings(value: Any, where: str = "the dashboard") -> Iterator[tuple[str, str]]:
    """Return every text within a dashboard, with the panel it stands in."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        within = _name(value) if "gridPos" in value else where
        for each in value.values():
            yield from _strings(each, within)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, where)


def _is_backreference(name: str) -> bool:
    return name.isdigit()


def _defaults(panel: Json) -> Json:
    defaults: Json = panel.get("fieldConfig", {}).get("defaults", {})
    return defaults


def _name(panel: Json) -> str:
    return f"{panel['type']} {panel.get('title', '')!r}"
