from __future__ import annotations

import gc
import os

import pytest

from otel_errcompact.runtime.forks import reset_in_child


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
