from __future__ import annotations

from pathlib import Path

import pytest

from otel_errcompact.config import Options
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.history.stores.redis import RedisBackend
from otel_errcompact.history.stores.sqlite import SqliteBackend


def test_memory_has_no_backend() -> None:
    """The default: each process for itself."""
    assert open_backend(Options().store) is None


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("sqlite:////srv/runs.db", Path("/srv/runs.db")),
        ("sqlite:////srv/with%20blank.db?wait_seconds=2", Path("/srv/with blank.db")),
        ("sqlite:///runs.db", Path.cwd() / "runs.db"),
        ("sqlite:///~/runs.db", Path.home() / "runs.db"),
    ],
)
def test_the_path_of_a_file(address: str, path: Path) -> None:
    """As SQLAlchemy writes it: four slashes from the root, three from the working directory."""
    backend = open_backend(address)
    assert isinstance(backend, SqliteBackend)
    assert backend._path == path


@pytest.mark.parametrize(
    ("address", "url", "name"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://ann:s3cret@db:1/2?namespace=shop&expire_days=1", "redis://ann:s3cret@db:1/2", "redis://db:1/2"),
        ("unix:///run/s?db=3&wait_seconds=1", "unix:///run/s?db=3", "unix:///run/s"),
        ("rediss://db?ssl_cert_reqs=none", "rediss://db?ssl_cert_reqs=none", "rediss://db"),
    ],
)
def test_the_address_of_a_server(address: str, url: str, name: str) -> None:
    """As redis-py takes it, without what is ours; messages name it without a password."""
    backend = open_backend(address)
    assert isinstance(backend, RedisBackend)
    assert (backend._url, backend.name) == (url, name)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("mysql://db/0", "store='mysql://db/0' is unknown; give memory, sqlite:///path or redis://host:port/0"),
        ("sqlite://", "store='sqlite://' is no address of a file; give it as sqlite:///path"),
        ("sqlite://host/runs.db", "store='sqlite://host/runs.db' is no address of a file; give it as sqlite:///path"),
        ("sqlite:///x?cache=1", "store='sqlite:///x?cache=1' is no address of a file; give it as sqlite:///path"),
        (
            "sqlite:///x?expire_days=soon",
            "store='sqlite:///x?expire_days=soon': expire_days='soon' is no number above 0",
        ),
        ("redis://x?wait_seconds=-1", "store='redis://x?wait_seconds=-1': wait_seconds='-1' is no number above 0"),
        ("redis://x?wait_seconds=inf", "store='redis://x?wait_seconds=inf': wait_seconds='inf' is no number above 0"),
    ],
)
def test_an_address_that_is_none(address: str, problem: str) -> None:
    """One sentence that says what, and what to give instead."""
    with pytest.raises(ConfigurationError) as raised:
        open_backend(address)
    assert str(raised.value) == problem


def test_a_variable_that_is_no_address() -> None:
    """It warns, and runs are in memory: telemetry must not keep an application from starting."""
    with pytest.warns(RuntimeWarning, match=r"OTEL_ERRCOMPACT_STORE='postgres' is ignored"):
        assert Options.from_environ({"OTEL_ERRCOMPACT_STORE": "postgres"}).store == "memory"
