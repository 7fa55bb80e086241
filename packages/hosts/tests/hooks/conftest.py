"""The runs of all hosts, as the service has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.runs import LedgerRuns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packages.hosts.tests.service.services import Place


@pytest.fixture
def runs(ledger: Ledger) -> LedgerRuns:
    """Runs without a handler of escalations."""
    return LedgerRuns(ledger=ledger)


@pytest.fixture
def place() -> Iterator[Place]:
    """A home of its own, with the socket of a service that may run there."""
    from packages.hosts.tests.service.services import Place

    found = Place(named=False)
    yield found
    found.close()
