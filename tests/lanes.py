"""Lanes of tests: each stands in exactly one, by its mark, and what has no mark is behaviour."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BEHAVIOUR: Final = "behaviour"
LANES: Final = frozenset({BEHAVIOUR, "programs", "cost", "meta", "integrations", "wheel"})
"""Each has a target in the Makefile; pyproject.toml says what stands in it."""

INTEGRATIONS: Final = Path(__file__).with_name("integrations")
"""Tests that need a framework, but for one file."""

PROGRAMS: Final = frozenset({"redis_server", "service", "played", "demo_output", "exported"})
"""Fixtures of several tests that start programs."""

STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""Events of the interpreter at which a process begins."""


class Lanes:
    """The plugin that puts tests into lanes, and holds those of behaviour to what they may do."""

    def __init__(self) -> None:
        self.started: Final[list[str]] = []
        # Not beside a tracer, as for coverage: a hook in Python lets another thread in while one installs its tracer,
        # which CPython 3.11 refuses, and a thread that is refused never says that it has started.
        if sys.gettrace() is None:
            sys.addaudithook(self._watch)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Iterable[pytest.Item]) -> None:
        """Mark what has no lane, before marks select what runs."""
        for item in items:
            if item.path.is_relative_to(INTEGRATIONS) and item.path.stem != "test_integrations":
                item.add_marker("integrations")
            elif PROGRAMS & set(getattr(item, "fixturenames", ())):
                item.add_marker("programs")
            if not _lanes_of(item):
                item.add_marker(BEHAVIOUR)

    def pytest_collection_finish(self) -> None:
        """Let no collection of garbage look through what lasts: 16,000 tests cost each half a second."""
        gc.collect()
        gc.freeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """Look at one test at a time, with the fixtures that it is the first to need."""
        self.started.clear()
        return (yield)

    @pytest.fixture(autouse=True)
    def _stands_in_its_lane(self, request: pytest.FixtureRequest) -> Iterator[None]:
        (lane,) = _lanes_of(request.node)
        yield
        assert lane != BEHAVIOUR or self.started == [], "it starts a process: mark it `programs`"

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in STARTS:
            self.started.append(f"{event} {arguments[0] if arguments else ''}")


def _lanes_of(item: pytest.Item) -> set[str]:
    return LANES & {mark.name for mark in item.iter_markers()}
