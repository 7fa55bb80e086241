"""Callables of users that may be asynchronous."""

from __future__ import annotations

import asyncio
import sys

import pytest

from otel_errcompact.runtime import coroutines
from otel_errcompact.runtime.coroutines import (
    is_asynchronous,
    loop_is_running,
    run_awaited,
    run_synchronously,
    running_library,
)


async def later() -> int:
    return 3


class Later:
    """An object that is called like a coroutine function."""

    async def __call__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(later, True, id="coroutine function"),
        pytest.param(Later(), True, id="object whose call is one"),
        pytest.param(Later, False, id="its class, which makes the object at once"),
        pytest.param(len, False, id="plain function"),
    ],
)
def test_what_gives_a_coroutine_when_it_is_called(function: object, expected: bool) -> None:
    """Told without calling it."""
    assert is_asynchronous(function) is expected


def test_a_loop_runs_inside_of_a_coroutine_only() -> None:
    """In this thread."""

    async def inside() -> bool:
        return loop_is_running()

    assert (loop_is_running(), asyncio.run(inside())) == (False, True)


def test_an_awaitable_is_waited_for_on_a_loop_of_its_own() -> None:
    """Its result comes back."""
    assert run_awaited(later()) == 3


def test_no_library_runs_in_plain_code_and_asyncio_does_in_a_coroutine() -> None:
    """Also where trio is loaded."""
    assert running_library() == ""

    async def inside() -> str:
        return running_library()

    assert asyncio.run(inside()) == "asyncio"


def test_trio_is_known_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is asked of it where it is not loaded."""
    trio = pytest.importorskip("trio")

    async def inside() -> str:
        return running_library()

    assert trio.run(inside) == "trio"
    monkeypatch.setattr(coroutines, "loaded_trio", lambda: None)
    assert running_library() == ""


def test_a_coroutine_that_never_suspends_runs_without_a_loop() -> None:
    """It returns its result; one that suspends is an error of ours, and is closed."""
    closed = []

    async def returns(*, blocking: bool) -> bool:
        return blocking

    async def suspends(*, blocking: bool) -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    assert run_synchronously(returns)
    with pytest.raises(RuntimeError, match="has suspended"):
        run_synchronously(suspends)
    assert closed == [True]


def test_without_asyncio_no_loop_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not imported to find that out, which takes longer than a tool call."""
    monkeypatch.delitem(sys.modules, "asyncio")
    monkeypatch.delitem(sys.modules, "trio", raising=False)
    assert running_library() == ""
    assert "asyncio" not in sys.modules
