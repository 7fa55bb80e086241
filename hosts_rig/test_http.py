"""A session of Claude Code that calls the service's port itself."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from hosts_rig.hosts import HOSTS
from hosts_rig.install import HostMissingError, find
from hosts_rig.model import StandInModel
from hosts_rig.probes import FINE, ORDERS
from hosts_rig.script import CLOSING, do
from hosts_rig.service import Service
from hosts_rig.session import run

if TYPE_CHECKING:
    from hosts_rig.place import Place


def install(place: Place) -> None:
    """Install the hooks over HTTP, on a port that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (place.home / ".claude" / "settings.json").chmod(0o600)
    command = [sys.executable, "-m", "otel_errcompact", "hooks", "install", "claude-code", "--http", str(port), "--yes"]
    subprocess.run(command, cwd=place.work, env=place.environ, capture_output=True, check=True)


def test_events_over_http_are_counted_answered_and_refused(place: Place) -> None:
    """With the token that stands in the settings: digest, count and refusal, and a success as it is."""
    host = HOSTS["claude-code"]
    try:
        find(host)
    except HostMissingError as error:
        pytest.skip(str(error))
    script = [*(do(host.shell(ORDERS)) for _ in range(3)), do(host.shell(FINE)), CLOSING]
    with closing(StandInModel(script)) as model:
        host.prepare(place, model.url)
        install(place)
        service = Service(place)
        service.start()
        session = run(host, place, model)
        service.stop()
    assert "#7265 again (x2, 2 in a row" in model.turn(2)
    assert "NOT EXECUTED: this exact call has failed 2 times" in model.turn(3)
    assert "3 orders, all paid" in model.turn(4)
    assert session.status == 0
