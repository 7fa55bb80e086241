from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.runtime import forks
from otel_errcompact.runtime.forks import FORKS_WAIT, reset_in_child

if TYPE_CHECKING:
    from pathlib import Path

BEGUN, LET_GO = threading.Event(), threading.Event()


class Counter:
    def __init__(self) -> None:
        self.count = 5

    def reset(self) -> None:
        self.count = 0


def registered(monkeypatch: pytest.MonkeyPatch, counter: Counter) -> object:
    handlers: list[object] = []
    monkeypatch.setattr(
        os, "register_at_fork", lambda *, after_in_child: handlers.append(after_in_child), raising=False
    )
    reset_in_child(counter.reset)
    return handlers[0]


def test_the_object_is_reset_in_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registered handler calls the method."""
    counter = Counter()
    registered(monkeypatch, counter)()  # type: ignore[operator]
    assert counter.count == 0


def test_an_object_that_is_gone_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registration does not keep the object alive, and outlives it without harm."""
    counter = Counter()
    handler = registered(monkeypatch, counter)
    del counter
    gc.collect()
    handler()  # type: ignore[operator]


def test_a_platform_that_cannot_fork_needs_no_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is registered, and nothing fails."""
    monkeypatch.delattr(os, "register_at_fork", raising=False)
    counter = Counter()
    reset_in_child(counter.reset)
    assert counter.count == 5


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_waits_for_an_import_that_a_failure_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child imports the same module: without the wait it would stay locked there for ever."""
    (tmp_path / "errcompact_slow_module.py").write_text(
        "from tests.runtime import test_forks\ntest_forks.BEGUN.set()\ntest_forks.LET_GO.wait(60)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "tests.runtime.test_forks", sys.modules[__name__])

    def load() -> None:
        with FORKS_WAIT:
            importlib.import_module("errcompact_slow_module")

    thread = threading.Thread(target=load)
    thread.start()
    assert BEGUN.wait(60)
    threading.Timer(0.2, LET_GO.set).start()
    child = os.fork()
    if not child:
        signal.alarm(30)
        load()
        os._exit(7)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_fork_that_gave_up_waiting_leaves_the_child_a_free_lock() -> None:
    """Who holds it is in the parent; the parent's own lock stays as it is."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        FORKS_WAIT.acquire()
        held.set()
        done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    forks._release_in_parent()
    assert not FORKS_WAIT.acquire(blocking=False)
    forks._release_in_child()
    assert FORKS_WAIT.acquire(blocking=False)
    FORKS_WAIT.release()
    done.set()
    thread.join()


WORKING = '''
import sys
from contextlib import suppress

import otel_errcompact as errcompact
from opentelemetry import trace

from otel_errcompact.installation.install import current_meter_provider
from otel_errcompact.runtime.forks import FORKS_WAIT

unheld = []


class Finder:
    """Notes what is imported while a fork does not wait for it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not FORKS_WAIT._is_owned():
            unheld.append(name)


errcompact.install()
sys.meta_path.insert(0, Finder)
with errcompact.run(agent="worker") as run:
    for text in ("KeyError: 'a'", "HTTP 503: try later", '{"error": {"code": 7, "message": "no such table: b"}}'):
        for attempt in range(7):
            run.fail(text, tool="read")
    with suppress(OSError), run.tool("write"):
        raise OSError(28, "No space left on device")
    run.report()
for provider in (trace.get_tracer_provider(), current_meter_provider()):
    provider.force_flush(2_000)
print(unheld)
'''


@pytest.mark.programs
@pytest.mark.parametrize(
    ("protocol", "store"),
    [
        ("http/protobuf", "memory"),
        ("grpc", "memory"),
        ("http/protobuf", "sqlite:///runs.db"),
        ("http/protobuf", "redis://127.0.0.1:9"),
    ],
)
def test_calls_failures_and_exports_import_nothing_that_a_fork_does_not_wait_for(
    tmp_path: Path, protocol: str, store: str
) -> None:
    """All else would be locked for ever in a child that is forked meanwhile: its export, and with it its end."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    if store.startswith("redis"):
        pytest.importorskip("redis")
    environ = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_ERRCOMPACT_STORE": store,
    }
    done = subprocess.run(
        [sys.executable, "-c", WORKING], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
