"""Find what other packages add by entry points."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from otel_errcompact.runtime.forks import FORKS_WAIT

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> list[EntryPoint]:
    """
    Return the entry points of a group, in no order.

    Args:
        group: The name of the group.
    """
    # OpenTelemetry has loaded the same under its older name; the import costs more than the search.
    metadata: Any = sys.modules.get("importlib_metadata")
    if metadata is None:
        with FORKS_WAIT:
            from importlib import metadata
    return list(metadata.entry_points(group=group))
