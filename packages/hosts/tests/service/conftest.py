"""A folder for a service, and a service that several tests ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packages.hosts.tests.service.services import Place

# What is imported inside skips a module of tests where the extra is not installed.


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder of one test alone."""
    from packages.hosts.tests.service.services import Place

    found = Place()
    yield found
    found.close()


@pytest.fixture(scope="module")
def service() -> Iterator[Place]:
    """A service with a port, for all tests of a module."""
    from packages.hosts.tests.service.services import Place

    found = Place()
    try:
        found.start("--port", "0", "--store", "memory")
        yield found
    finally:
        found.close()
