"""All dashboards, and where each panel is found: what alerts refer to."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards import context, detail, escalations, health, inbox, recurrence, tokens
from dashboards.layout import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grafana_foundation_sdk.models import dashboard as models

    from dashboards.layout import Page

GENERATED: Final = Path(__file__).resolve().parent / "generated"


@functools.cache
def pages() -> tuple[Page, ...]:
    """Return the definition of each dashboard, in the order in which an operator reads them."""
    return tuple(each.page() for each in (inbox, recurrence, detail, escalations, tokens, context, health))


def board_files() -> dict[Path, str]:
    """Return the file of each dashboard, and what it must hold."""
    return {GENERATED / f"{page.uid}.json": as_json(page) for page in pages()}


def as_json(page: Page) -> str:
    """Return a dashboard as Grafana reads it; sorted, so that a change shows as just that."""
    return JSONEncoder(sort_keys=True, indent=2).encode(build(page)) + "\n"


def panel_id(dashboard_uid: str, title: str) -> int:
    """
    Return the id of a panel by its dashboard and title.

    Raises:
        LookupError: If there is not exactly one such panel.
    """
    found = [panel.id_val for panel in _panels(dashboard_uid) if panel.title == title]
    if len(found) != 1:
        titles = sorted(str(panel.title) for panel in _panels(dashboard_uid))
        raise LookupError(f"{len(found)} panels {title!r} on dashboard {dashboard_uid!r}; it has {titles}")
    return found[0]


@functools.cache
def variables_of(dashboard_uid: str) -> frozenset[str]:
    """
    Return the names of the variables of a dashboard.

    Raises:
        LookupError: If there is no such dashboard.
    """
    for page in pages():
        if page.uid == dashboard_uid:
            return frozenset(each.build().name for each in page.variables)
    raise LookupError(f"no dashboard {dashboard_uid!r}")


@functools.cache
def _panels(dashboard_uid: str) -> tuple[models.Panel, ...]:
    return tuple(panel for page in pages() if page.uid == dashboard_uid for panel in _of(build(page)))


def _of(board: models.Dashboard) -> Iterator[models.Panel]:
    for panel in board.panels or ():
        if panel.type_val == "row":
            yield from panel.panels
        else:
            yield panel
