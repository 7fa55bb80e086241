from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores import absence
from otel_errcompact.history.stores.address import open_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.history.stores.parts import Backend
    from tests.servers import RedisServer


@pytest.fixture
def backends() -> Iterator[list[Backend]]:
    opened: list[Backend] = []
    yield opened
    for backend in opened:
        backend.close()


@pytest.fixture
def join(backends: list[Backend]) -> Callable[..., Ledger]:
    """Opens a ledger on an address, as a further process does."""

    def join(address: str, **options: Any) -> Ledger:
        backend = open_backend(address)
        assert backend is not None
        backends.append(backend)
        return Ledger(Options(**options), backend=backend)

    return join


@pytest.fixture
def address_of_server(redis_server: RedisServer) -> str:
    return redis_server.new_address()


@pytest.fixture
def asks_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that is away is tried again by the next change."""
    monkeypatch.setattr(absence, "FIRST_WAIT_S", 0.0)
