"""A host for each test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.hosts.wrapping.programs import Host

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)
