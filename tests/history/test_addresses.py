from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_errcompact.config import Options
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.history.stores.redis import RedisBackend
from otel_errcompact.history.stores.sqlite import SqliteBackend
from otel_errcompact.installation.install import install


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
        ("mysql://db/0", "no such store is known; write memory, sqlite:///path or redis://host:port/0"),
        ("foo", "no such store is known; write memory, sqlite:///path or redis://host:port/0"),
        ("redis://db:x/0", "no such store is known; write memory, sqlite:///path or redis://host:port/0"),
        ("sqlite://", "it names no file; write sqlite:///path, or sqlite:////path from the root"),
        ("sqlite://host/runs.db", "it names no file; write sqlite:///path, or sqlite:////path from the root"),
        ("redis://", "it names no server; write redis://host:port/0, or unix:///path of a socket"),
        ("unix://", "it names no server; write redis://host:port/0, or unix:///path of a socket"),
        ("sqlite:///x?foo=1&bar", "a file has no option bar, foo; behind ? write expire_days or wait_seconds"),
        (
            "sqlite:///x?expire_days=soon",
            "expire_days='soon' is no number above 0; write one, such as expire_days=7",
        ),
        ("sqlite:///x?expire_days=", "expire_days='' is no number above 0; write one, such as expire_days=7"),
        ("redis://x?wait_seconds=-1", "wait_seconds='-1' is no number above 0; write one, such as wait_seconds=5"),
        ("redis://x?wait_seconds=inf", "wait_seconds='inf' is no number above 0; write one, such as wait_seconds=5"),
    ],
)
def test_an_address_that_is_none(address: str, problem: str) -> None:
    """One sentence that says what is wrong and what to write, in code and of a variable, which warns alone."""
    with pytest.raises(ConfigurationError) as raised:
        open_backend(address)
    assert str(raised.value) == f"store={address!r}: {problem}"
    with pytest.warns(RuntimeWarning, match=" is ignored ") as warned:
        assert Options.from_environ({"OTEL_ERRCOMPACT_STORE": address}) == Options()
    assert [str(each.message) for each in warned] == [
        f"OTEL_ERRCOMPACT_STORE={address!r} is ignored ({problem}); the default 'memory' is used"
    ]


def test_no_message_shows_a_password() -> None:
    """Warnings end in logs."""
    address = "redis://ann:s3cret@db?wait_seconds=x"
    with pytest.raises(ConfigurationError, match=r"^store='redis://ann:\[REDACTED:password\]@db\?wait_seconds=x': "):
        open_backend(address)
    with pytest.warns(RuntimeWarning, match=r"^OTEL_ERRCOMPACT_STORE='redis://ann:\[REDACTED:password\]@db"):
        Options.from_environ({"OTEL_ERRCOMPACT_STORE": address})


@pytest.mark.parametrize("address", ["sqlite:///r.db?expire_days=x", "sqlite:///r.db?foo=1", "postgres"])
def test_a_variable_that_is_no_address_does_not_stop_the_program(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It warns, and runs are in memory: telemetry must not keep an application from starting."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_STORE", address)
    monkeypatch.chdir(tmp_path)
    with pytest.warns(RuntimeWarning, match="is ignored"):
        installed = install(tracer_provider=TracerProvider())
    assert not installed.ledger.store.is_shared
    installed.uninstall()
    with pytest.raises(ConfigurationError, match=r"^store="):
        install(tracer_provider=TracerProvider(), options=Options(store=address))
