"""A ledger of its own for each scenario."""

from __future__ import annotations

import pytest

from otel_errcompact.engine.ledger import Ledger


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()
