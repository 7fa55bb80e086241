"""A place for each session, and the hosts that can be installed here."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosts_rig.hosts import HOSTS
from hosts_rig.install import HostMissingError, find
from hosts_rig.place import end_programs, make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place


@pytest.fixture(params=HOSTS, scope="session")
def host(request: pytest.FixtureRequest) -> Host:
    """Each host that can be installed here."""
    found = HOSTS[request.param]
    try:
        find(found)
    except HostMissingError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture
def place() -> Iterator[Place]:
    """An empty home; its path is short, since a socket's may have 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="rig") as base:
        made = make(Path(base).resolve() / "r")
        yield made
        # A service that the last hook has started would make its folder again, and stay.
        end_programs(made)
