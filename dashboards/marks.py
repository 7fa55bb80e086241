"""What graphs mark: new classes, those that came back, critical alerts and deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards import colours, queries
from dashboards.classes import BACK_AGAIN, NEW_CLASS, NEW_IN_VERSION
from dashboards.layout import events
from dashboards.metrics import CLASS, ERROR_TYPE, SERVICE, SERVICE_VERSION, STATE
from dashboards.targets import legend

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders.dashboard import AnnotationQuery


def everything() -> tuple[AnnotationQuery, ...]:
    """Mark all of them."""
    of_class = legend(SERVICE, ERROR_TYPE, CLASS)
    return (
        events("New", queries.began_to_be(NEW_CLASS, NEW_IN_VERSION), colours.NEW, title=legend(STATE), text=of_class),
        events("Back again", queries.began_to_be(BACK_AGAIN), colours.BACK, title=legend(STATE), text=of_class),
        events(
            "Alerts",
            queries.alerts_began(),
            colours.BAD,
            title=legend("alertname"),
            text="Critical, in some service",
        ),
        events(
            "Deployments",
            queries.deployed(),
            colours.DEPLOYMENT,
            title="New version",
            text=legend("job", SERVICE_VERSION),
        ),
    )
