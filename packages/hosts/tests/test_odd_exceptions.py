"""Exceptions of others run code of theirs when they are read: whatever it does, the failure is counted and told."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from tests.clock import costs_little

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ledger import Ledger


def raises(*_: object) -> Any:
    raise RuntimeError("no value for you")


def is_of_another_type(*_: object) -> Any:
    return 5


def is_no_text(*_: object) -> Any:
    return b"\xff\x00"


def is_huge(*_: object) -> Any:
    return "x" * 300_000


def is_broken_text(*_: object) -> Any:
    return "\ud800\x00\x1b[2J"


def asks_itself(self: Any, *_: object) -> Any:
    return str(self)


def is_itself(self: Any, *_: object) -> Any:
    return self


BEHAVIOURS = (*(raises, is_of_another_type, is_no_text, is_huge, is_broken_text, asks_itself, is_itself),)
METHODS = (
    *("__str__", "__repr__", "__bool__", "__len__", "__iter__", "__eq__", "__hash__", "__format__", "__getattr__"),
    *("__reduce__", "__reduce_ex__", "__dir__", "__sizeof__", "__getitem__", "__contains__"),
)
PROPERTIES = (
    *("__notes__", "__class__", "__cause__", "__context__", "__traceback__", "__suppress_context__", "__dict__"),
    *("args", "message", "errors", "exceptions", "response", "code", "returncode", "stdout", "stderr", "filename"),
    *("errno", "strerror", "status_code", "body", "request", "__module__", "__doc__", "detail", "reason"),
)


def odd(name: str, behaviour: Callable[..., Any]) -> type[Exception]:
    member = property(behaviour) if name in PROPERTIES else behaviour
    return type("OddError", (Exception,), {name: member})


ODD = [
    pytest.param(odd(name, behaviour), id=f"{name} {behaviour.__name__}")
    for name, behaviour in itertools.product((*METHODS, *PROPERTIES), BEHAVIOURS)
]


class LyingMeta(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in {"__name__", "__qualname__", "__module__", "__mro__"}:
            raise RuntimeError(name)
        return super().__getattribute__(name)

    def __instancecheck__(cls, _: object) -> bool:
        raise RuntimeError("instancecheck")

    def __eq__(cls, _: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = type.__hash__


class LyingError(Exception, metaclass=LyingMeta):
    pass


def fail_in_each_way(ledger: Ledger, make: Callable[[], BaseException]) -> tuple[list[str], int]:
    """Return what the agent reads of a failure in a block, of one that is handed in, and of a decorated tool."""

    @errcompact.compacted
    def tool() -> str:
        raise make()

    with errcompact.run(ledger=ledger) as run:
        with run.tool("block") as call:
            raise make()
        texts = [call.text, run.fail(make(), tool="handed in"), tool()]
        texts.append(run.digest())
    return texts, run.report().occurrences


@pytest.mark.parametrize("kind", [*ODD, pytest.param(LyingError, id="metaclass")])
def test_an_odd_exception_is_counted_and_told(ledger: Ledger, kind: type[Exception]) -> None:
    """Nothing of what its code raises reaches the program, and its own text is told where it has one."""
    escaped = ""
    try:
        texts, occurrences = fail_in_each_way(ledger, lambda: kind("lost the connection"))
    except BaseException as error:  # pytest cannot print it either
        escaped = type.__call__(type, error).__name__
    assert escaped == ""
    assert occurrences == 3
    assert all(isinstance(text, str) and text for text in texts)
    assert not any("\x00" in text or "\ud800" in text or "\x1b" in text for text in texts)


def chain(length: int) -> BaseException:
    first = error = ValueError("the last")
    for number in range(length):
        error.__cause__ = ValueError(f"cause {number}")
        error = error.__cause__
    return first


def cycle() -> BaseException:
    one, other = ValueError("one"), KeyError("other")
    one.__cause__, other.__context__ = other, one
    return one


def nested(depth: int) -> BaseException:
    error: Exception = ValueError("inside")
    for _ in range(depth):
        error = ExceptionGroup("around", [error])
    return error


@pytest.mark.cost
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: chain(100_000), id="a hundred thousand causes"),
        pytest.param(cycle, id="a cycle"),
        pytest.param(lambda: nested(900), id="groups in groups"),
        pytest.param(lambda: ExceptionGroup("many", [ValueError(str(n)) for n in range(20_000)]), id="a wide group"),
        pytest.param(lambda: ValueError("x" * 100_000_000), id="a hundred megabytes"),
        pytest.param(lambda: ValueError("\n".join(["line"] * 2_000_000)), id="two million lines"),
        pytest.param(lambda: ValueError(*range(200_000)), id="many arguments"),
    ],
)
def test_a_huge_exception_takes_bounded_time(ledger: Ledger, make: Callable[[], BaseException]) -> None:
    """Also where reading it whole would take minutes, or more memory than there is."""
    error = make()
    with errcompact.run(ledger=ledger) as run:
        assert costs_little(lambda: run.fail(error, tool="t"))
    assert run.report().occurrences == 1
