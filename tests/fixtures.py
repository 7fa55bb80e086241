"""What every test starts from: our own faults are raised, and OpenTelemetry is as it was."""

from __future__ import annotations

import logging
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, Phase, settings

from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.installation.install import uninstall
from otel_errcompact.runtime.guard import Guard
from tests.lanes import Lanes
from tests.servers import RedisServer
from tests.tracing import untraced

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.register_assert_rewrite("tests.integrations.conversations")

ANY_MACHINE: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
FOUND_AS_IT_IS: Final = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target)
"""To shrink a counter-example takes up to five minutes, in which the time-out of a test would hide it."""

SAME_EACH_TIME: Final = "CI" in os.environ
"""Whether a commit that has passed passes again; who develops tries other examples each time."""

settings.register_profile("quick", ANY_MACHINE, phases=FOUND_AS_IT_IS, max_examples=20, derandomize=SAME_EACH_TIME)
settings.register_profile("usual", ANY_MACHINE, phases=FOUND_AS_IT_IS, max_examples=100, derandomize=SAME_EACH_TIME)
settings.register_profile("thorough", ANY_MACHINE, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure(config: pytest.Config) -> None:
    uninstall()  # no test installs without being asked
    config.pluginmanager.register(Lanes())


@pytest.fixture(autouse=True)
def _faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard, "strict", True)


@pytest.fixture(autouse=True)
def _environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _home_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is cut from message lists goes to a folder of the user's by default."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


@pytest.fixture(autouse=True)
def _exporters_end() -> Iterator[None]:
    """Their threads draw jitter from `random`, whose state Hypothesis watches: left behind, they fail another test."""
    yield
    exporters = [thread for thread in threading.enumerate() if thread.name.startswith(("Otel", "errcompact-export"))]
    for thread in exporters:
        thread.join(60)
    assert [thread.name for thread in exporters if thread.is_alive()] == []


@pytest.fixture(name="untraced")
def _untraced() -> Iterator[None]:
    """Where time, memory or the turns of threads are tested, a tracer's are not the library's."""
    with untraced():
        yield


@pytest.fixture
def own_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the library logs, and not what exporters of tests before still say of servers that are gone."""
    own = logging.Filter("otel_errcompact")
    # The handler is that of all tests.
    caplog.handler.addFilter(own)
    yield caplog
    caplog.handler.removeFilter(own)


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch folder as the working directory, and for the trajectory file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTEL_ERRCOMPACT_TRAJECTORY_PATH", "errcompact-trajectory.jsonl")
    return tmp_path


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a listener that accepts and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield int(listener.getsockname()[1])


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real server for shared runs."""
    pytest.importorskip("redis", reason="needs the extra 'redis'")
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.programs)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of shared runs."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.db"
    server: RedisServer = request.getfixturevalue("redis_server")
    return server.new_address()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real transcripts and labelled errors; a test that needs it is skipped where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the data for measuring is not there: {SHARED_DATA}")
    return SHARED_DATA


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
