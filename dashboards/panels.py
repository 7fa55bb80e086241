"""Where a panel stands: a stub until the dashboards are built, with the same function."""

from __future__ import annotations

from typing import Final

_IDS: Final = {
    ("errcompact-recurrence", "Top classes over time"): 1,
    ("errcompact-recurrence", "New classes"): 2,
    ("errcompact-recurrence", "Live streaks"): 3,
    ("errcompact-escalations", "Escalations over time"): 1,
    ("errcompact-escalations", "Escalations by action"): 2,
    ("errcompact-escalations", "Failures after escalation"): 3,
    ("errcompact-escalations", "Error budget"): 4,
    ("errcompact-tokens", "Share of errors in the context"): 1,
    ("errcompact-health", "Own faults"): 1,
    ("errcompact-health", "Services reporting"): 2,
}


def panel_id(dashboard_uid: str, title: str) -> int:
    """Return the id of the panel with this title."""
    return _IDS[dashboard_uid, title]
