"""Which frames are the user's own code."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Location
from otel_errcompact.extract.stacks import frames
from otel_errcompact.extract.stacks.frames import Frame, is_own, library_place


@pytest.mark.parametrize(
    "file",
    [
        *("/app/orders/gateway.py", "/home/ann/lib/app.py", "C:\\Users\\ann\\proj\\app.py", "app.py"),
        *("/srv/python/app.py", "<stdin>", "<ipython-input-3-1f>", "<python-input-0>"),
        *("/src/otel_errcompact/tests/test_x.py", "/x/otel_errcompact_lab/cli/demo/tools.py"),
        "/srv/opentelemetry/app.py",
    ],
)
def test_own_code(file):
    """Files of a project are own code, as is code that somebody typed in."""
    assert is_own(file, "f")


@pytest.mark.parametrize(
    "file",
    [
        "/app/.venv/lib/python3.11/site-packages/httpx/_client.py",
        *("/usr/lib/python3/dist-packages/apt/cache.py", "/usr/local/lib/python3.11/asyncio/runners.py"),
        *("/usr/lib64/python3.9/json/decoder.py", "/opt/pypy/lib/pypy3.9/json/decoder.py"),
        "C:\\Python311\\Lib\\json\\decoder.py",
        "C:\\hostedtoolcache\\windows\\Python\\3.11.4\\x64\\Lib\\asyncio\\base_events.py",
        "C:\\Users\\ann\\miniconda3\\envs\\py\\Lib\\socket.py",
        "<frozen importlib._bootstrap>",
        "<attrs generated init x>",
        "/src/opentelemetry/sdk/trace/__init__.py",
        "/src/otel_errcompact/boundary/core.py",
        "/x/otel_errcompact/otel_errcompact/ledger.py",
        "/x/otel_errcompact/packages/context/otel_errcompact_context/window.py",
    ],
)
def test_foreign_code(file):
    """Installed packages, the standard library, generated code, telemetry and this library are not own code."""
    assert not is_own(file, "f")


def test_generated_methods_are_foreign():
    """What libraries generate stands in `<string>`, as does a script on a command line; only that has a module."""
    assert not is_own("<string>", "__init__")
    assert not is_own("<string>", "create_engine")
    assert is_own("<string>", "<module>")


def test_memory_of_files_is_bounded(monkeypatch):
    """However many files are asked for, only some are remembered."""
    monkeypatch.setattr(frames, "MAX_REMEMBERED_FILES", 10)
    for number in range(100):
        assert is_own(f"/app/{number}.py")
    assert len(frames._own_files) <= 10


def test_place_of_a_frame():
    """A frame knows where it is."""
    assert Frame("a.py", 3, "f").place() == Location(file="a.py", line=3, function="f")


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        pytest.param("/usr/lib/python3.11/json/decoder.py", "json/decoder.py", id="standard library"),
        pytest.param("/app/.venv/lib/python3.11/site-packages/net/client.py", "net/client.py", id="package"),
        pytest.param("C:\\app\\Lib\\site-packages\\net\\client.py", "net\\client.py", id="windows"),
        pytest.param("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", id="no file"),
    ],
)
def test_installed_code_is_shown_without_its_folder(file: str, shown: str) -> None:
    """Where a library is installed tells nobody anything; which of its modules failed does."""
    place = library_place(Frame(file=file, line=7, function="send"))
    assert (place.file, place.line, place.function) == (shown, 7, "send")


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("/home/ann/shop/.venv/bin/rdfpipe", False),
        ("/usr/local/bin/deploy", False),
        ("/home/ann/.local/bin/tool", False),
        ("/home/ann/shop/bin/deploy", True),
    ],
)
def test_launchers_of_installed_programs(file, own):
    """A script that an installer has made only calls the program."""
    assert is_own(file) is own
