"""A folder for a service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packages.hosts.tests.service.services import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder of one test alone."""
    from packages.hosts.tests.service.services import Place

    found = Place()
    yield found
    found.close()
