"""Which code is the user's own follows the roots in blocks of errors and in the window, too."""

from __future__ import annotations

from pathlib import Path

from otel_errcompact.runtime.roots import CodeRoots
from otel_errcompact_context import ContextWindow, compact_errors
from tests.extract.stacks.test_roots import TEXT


def test_blocks_of_recent_errors():
    """The frame inside the roots is the place, though the failure was raised outside of them."""
    event = {"tool": "run", "error": TEXT}
    assert "order (/srv/shop/tools.py:2)" in compact_errors([event], workspace_roots=[Path("/srv/shop")])
    assert "order (" not in compact_errors([event])


def test_the_window_reads_the_option(monkeypatch):
    """The environment names the folders."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_WORKSPACE_ROOTS", "/srv/shop")
    assert ContextWindow()._workspace.roots == CodeRoots(("/srv/shop/",))
