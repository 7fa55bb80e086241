"""What only steers a program, and is no failure."""

from __future__ import annotations

import asyncio
import concurrent.futures

import pytest

from otel_errcompact.detector.control_flow import CONTROL_FLOW, is_control_flow
from otel_errcompact.escalator.exceptions import RunHalted


class GraphInterrupt(Exception):
    """Stands for the framework's class, which is known by its name."""


class Interrupt(GraphInterrupt):
    """A class of an application's own."""


class BackportedExceptionGroup(Exception):
    """A group as the backport makes it."""

    def __init__(self, *exceptions: object) -> None:
        super().__init__("several")
        self.exceptions = exceptions


class Halted(RunHalted):
    def __init__(self) -> None:
        Exception.__init__(self)


def nested(depth: int, leaf: BaseException) -> BaseException:
    """
    Return `leaf` in that many groups.
    """
    for _ in range(depth):
        leaf = BackportedExceptionGroup(leaf)
    return leaf


@pytest.mark.parametrize(
    "exception",
    [
        pytest.param(KeyboardInterrupt(), id="no Exception"),
        pytest.param(SystemExit(1), id="exit"),
        pytest.param(asyncio.CancelledError(), id="cancellation in asyncio"),
        pytest.param(concurrent.futures.CancelledError(), id="cancellation of a future"),
        pytest.param(StopIteration(), id="end of an iterator"),
        pytest.param(StopAsyncIteration(), id="end of an asynchronous iterator"),
        pytest.param(GraphInterrupt(), id="interrupt"),
        pytest.param(Interrupt(), id="subclass of an interrupt"),
        pytest.param(Halted(), id="our own decision"),
        pytest.param(BackportedExceptionGroup(GraphInterrupt(), Interrupt()), id="group of interrupts"),
        pytest.param(nested(50_000, GraphInterrupt()), id="groups without end"),
    ],
)
def test_control_flow_is_no_failure(exception: BaseException):
    """
    Interrupts, cancellation and our own decisions are left alone.
    """
    assert is_control_flow(exception)


@pytest.mark.parametrize(
    "exception",
    [
        pytest.param(ValueError("x"), id="exception"),
        pytest.param(TimeoutError(), id="time-out"),
        pytest.param(BackportedExceptionGroup(GraphInterrupt(), ValueError()), id="group with a failure"),
        pytest.param(nested(50, ValueError()), id="failure in many groups"),
        pytest.param(BackportedExceptionGroup(), id="empty group"),
    ],
)
def test_other_exceptions_are_failures(exception: BaseException):
    """
    Everything else is a failure, also beside an interrupt in one group.
    """
    assert not is_control_flow(exception)


def test_more_names_can_be_given():
    """
    An application adds the names of its own control flow.
    """
    assert is_control_flow(ValueError(), frozenset({"ValueError"}))


def test_an_unfit_reply_is_no_failure():
    """LangGraph marks what it raises where a human's reply does not fit; it goes on to whoever can reply again."""
    error = ValueError("approved: Input should be a valid boolean")
    assert not is_control_flow(error)
    error._langgraph_invalid_resume = True
    assert is_control_flow(error)
    assert "ModelRetry" in CONTROL_FLOW
    assert "UserError" not in CONTROL_FLOW
