"""The cells of a class: the colour of its state, where it leads, and what can be decided on it."""

from __future__ import annotations

import os
from typing import Any, Final

from dashboards import classes, colours
from dashboards.layout import cell
from dashboards.links import Link, explore, explore_spans, of_row, row_link
from dashboards.metrics import CLASS, ENVIRONMENT, SERVICE, TEMPLATE
from dashboards.queries import records_of, traces_of

ALERTMANAGER_URL: Final = os.environ.get("ERRCOMPACT_ALERTMANAGER_URL", "http://localhost:9093")
"""Where people find Alertmanager, whose form mutes a class for a while."""

TRACKER_URL: Final = os.environ.get("ERRCOMPACT_TRACKER_URL", "")
"""A form for a new issue, with `{message}`, `{class}` and `{service}` where these belong; no link where it is empty."""


def links_of_class() -> tuple[Link, ...]:
    """Lead from a row to what is known of its class, and to what can be decided on it."""
    key, service = of_row(CLASS), of_row(SERVICE)
    spans = explore_spans(traces_of(key, f'resource.service.name = "{service}"'))
    records = explore("loki", {"queryType": "range", "expr": records_of(key, f'{SERVICE}="{service}"')})
    return (
        row_link("All about this class", "errcompact-detail", CLASS),
        Link("Traces", spans, new_tab=True),
        Link("Logs", records, new_tab=True),
        *deciding_on_class(),
    )


def deciding_on_class() -> tuple[Link, ...]:
    """Lead to what can be decided on a class: to mute it for a while, or to hand it to a tracker."""
    return (Link("Mute in Alertmanager", _silence(), new_tab=True), *_tracker())


def _silence() -> str:
    labels = (CLASS, SERVICE, ENVIRONMENT)
    matchers = "%2C".join(f"{label}%3D%22{of_row(label)}%22" for label in labels)
    return f"{ALERTMANAGER_URL}/#/silences/new?filter=%7B{matchers}%7D"


def _tracker() -> tuple[Link, ...]:
    said = {"message": TEMPLATE, "class": CLASS, "service": SERVICE}
    url = TRACKER_URL.format(**{word: of_row(label) for word, label in said.items()})
    return (Link("New issue", url, new_tab=True),) if url else ()


def coloured_states() -> dict[str, Any]:
    """Show a state in its colour."""
    named: list[dict[str, Any]] = [
        {"type": "value", "options": {each.name: {"color": each.colour, "index": index}}}
        for index, each in enumerate(classes.STATES)
    ]
    in_version = {"pattern": "^new in .*", "result": {"color": colours.NEW, "index": len(named)}}
    return {"mappings": [*named, {"type": "regex", "options": in_version}], **cell(type="color-text")}
