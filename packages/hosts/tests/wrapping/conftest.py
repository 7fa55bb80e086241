"""A host for each test."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from packages.hosts.tests.wrapping.programs import Host

if TYPE_CHECKING:
    from collections.abc import Generator

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture(autouse=True)
def heeded_signals() -> Generator[None, None, None]:
    """Have programs start as from a terminal, also where these tests run behind `nohup` or in a shell's background."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
