"""Building blocks of the core's tests."""

from __future__ import annotations

import pytest

from otel_errcompact.escalation import Escalation


@pytest.fixture
def escalation() -> Escalation:
    """A run whose database call failed three times with one class."""
    return Escalation(
        run_id="run-1",
        agent="shop",
        threshold="same",
        count=3,
        limit=3,
        key="3f2a000000000000",
        type="ConnectionError",
        location="query (db.py:42)",
        cause="connection refused",
        tool="db.query",
        digest="[RECENT ERRORS]\n[/RECENT ERRORS]",
        time_ns=1,
    )
