"""Where a failure lies whose traceback begins inside an instrumentation."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract.stacks.callers import MAX_CALLERS, callers_of
from otel_errcompact.otel.spans.tracebacks import insert_callers, print_exception
from tests.extract.reading import extract

if TYPE_CHECKING:
    from collections.abc import Callable

INSTRUMENTATION = "/venv/lib/python3.12/site-packages/opentelemetry/instrumentation/store/__init__.py"
LIBRARY = "/venv/lib/python3.12/site-packages/store/client.py"


def loaded(file: str, code: str) -> dict[str, Any]:
    """A module as if it came from a file."""
    module: dict[str, Any] = {}
    exec(compile(code, file, "exec"), module)
    return module


WRAPPED = """
def wrapped(function, seen):
    try:
        function()
    except Exception as error:
        return seen(error)

def recurse(depth, function, seen):
    return recurse(depth - 1, function, seen) if depth else wrapped(function, seen)
"""
wrapped: Callable[..., Any] = loaded(INSTRUMENTATION, WRAPPED)["wrapped"]
fetch: Callable[..., Any] = loaded(LIBRARY, "def fetch(): raise KeyError('sku')")["fetch"]
call: Callable[..., Any] = loaded(LIBRARY, "def call(function, *arguments): return function(*arguments)")["call"]


def told(error: Exception) -> tuple[Facts, Facts]:
    """What is found in the exception itself, and in its text as it is kept."""
    text = insert_callers(print_exception(error)[0], error)
    live = RawError(text=text, exception=error, type="KeyError", message=str(error))
    return extract(live), extract(RawError(text=text, type="KeyError", message=str(error)))


def test_the_caller_is_the_place() -> None:
    """The innermost own function above the instrumentation, in the exception and in its text alike."""
    live, kept = call(wrapped, fetch, told)
    assert (live.location.function, live.location.file) == ("test_the_caller_is_the_place", __file__)
    assert (kept.location, kept.type, kept.cause) == (live.location, live.type, live.cause)


def test_the_text_has_what_was_called() -> None:
    """All frames from the own one to the failure, as Python would have printed them."""
    text: str = call(wrapped, fetch, lambda error: insert_callers(print_exception(error)[0], error))
    functions = [line.rpartition(" in ")[2] for line in text.splitlines() if line.startswith("  File ")]
    assert functions == ["test_the_text_has_what_was_called", "call", "wrapped", "fetch"]


def test_own_code_that_failed_is_the_place() -> None:
    """Where the own function is a part of the traceback nothing is put before it."""

    def mine() -> None:
        raise KeyError("sku")

    assert wrapped(mine, lambda error: callers_of(error.__traceback__)) == ()
    assert wrapped(mine, told)[0].location.function == "mine"


def test_a_traceback_of_a_library_is_whole() -> None:
    """One that begins in no instrumentation has all its frames."""
    with pytest.raises(KeyError) as caught:
        fetch()
    traceback = caught.tb.tb_next
    assert callers_of(traceback) == ()
    assert callers_of(None) == ()


def test_a_call_that_is_over_has_no_callers() -> None:
    """Its frames may have gone on, or be gone."""
    error: Exception = wrapped(fetch, lambda error: error)
    assert callers_of(error.__traceback__) == ()
    live, kept = told(error)
    assert (live.location.function, kept.location.function) == ("fetch", "fetch")


def test_a_thread_without_own_code() -> None:
    """The place is in the library, and never in the instrumentation."""
    found: list[tuple[Facts, Facts]] = []
    thread = Thread(target=wrapped, args=(fetch, lambda error: found.append(told(error))))
    thread.start()
    thread.join()
    assert [(live.location, kept.location) for live, kept in found] == [(found[0][0].location,) * 2]
    assert found[0][0].location.function == "fetch"


def test_a_failure_of_the_instrumentation_itself() -> None:
    """It has no place of its own: only its caller has."""
    broken = loaded(INSTRUMENTATION, f"def broken(): raise KeyError('sku')\n{WRAPPED}")
    live, kept = call(broken["wrapped"], broken["broken"], told)
    assert live.location.function == kept.location.function == "test_a_failure_of_the_instrumentation_itself"
    found: list[tuple[Facts, Facts]] = []
    thread = Thread(target=broken["wrapped"], args=(broken["broken"], lambda error: found.append(told(error))))
    thread.start()
    thread.join()
    assert [(bool(live.location), bool(kept.location)) for live, kept in found] == [(False, False)]


def test_callers_are_bounded() -> None:
    """However deep a library calls itself."""
    deep = loaded(LIBRARY, WRAPPED)
    deep["wrapped"] = wrapped
    assert deep["recurse"](MAX_CALLERS + 1, fetch, lambda error: callers_of(error.__traceback__)) == ()
