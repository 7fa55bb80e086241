"""A ledger that every program under test installs, and what OpenTelemetry itself complains of."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.engine.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture(autouse=True)
def _opentelemetry_complains_of_nothing(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Such as of a context that could not be detached, which hosts find in their logs as an error."""
    with caplog.at_level(logging.WARNING, "opentelemetry"):
        yield
    assert [record for record in caplog.get_records("call") if record.name.startswith("opentelemetry")] == []
