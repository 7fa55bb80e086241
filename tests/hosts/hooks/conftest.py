"""The runs of all hosts, as the service has them."""

from __future__ import annotations

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.hosts.runs import LedgerRuns


@pytest.fixture
def runs(ledger: Ledger) -> LedgerRuns:
    """Runs without a handler of escalations."""
    return LedgerRuns(ledger=ledger)
