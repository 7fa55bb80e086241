"""Exceptions that cannot be printed, and calls of the wrong types: counted, kept and told like all others."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from otel_errcompact import Options
from otel_errcompact.boundary import arguments
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.runtime.foreign import attribute_of, string_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from otel_errcompact import Run


class Spoken(Exception):
    spoken = 0

    def __str__(self) -> str:
        type(self).spoken += 1
        return f"said {type(self).spoken} times"


class StrRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no str")


class StrInterrupts(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class StrExits(Exception):
    def __str__(self) -> str:
        raise SystemExit(5)


class StrIsNone(Exception):
    def __str__(self) -> str:
        return 42  # type: ignore[return-value]  # noqa: PLE0307 - as weird code does


class AttributesRaise(Exception):
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class NothingIsReadable(Exception):
    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


class ClassRaises(Exception):
    @property
    def __class__(self) -> Any:
        raise RuntimeError("class")


class NotesRaise(Exception):
    @property
    def __notes__(self) -> list[str]:
        raise RuntimeError("notes")


class BoolRaises(Exception):
    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class EqRaises(Exception):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")


class Frozen(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("frozen")


class Unhashable(type):
    def __hash__(cls) -> int:
        raise RuntimeError("unhashable class")


class UnhashableClass(Exception, metaclass=Unhashable):
    pass


class Nameless(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("name")

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("module")


class NamelessClass(Exception, metaclass=Nameless):
    pass


def weird_syntax(message: str) -> SyntaxError:
    error = SyntaxError(message)
    error.lineno, error.offset, error.text, error.filename = "a", [], 5, object()  # type: ignore[assignment]
    return error


WEIRD: dict[str, Callable[[], BaseException]] = {
    kind: partial(made, "m")
    for kind, made in {
        "StrRaises": StrRaises,
        "StrInterrupts": StrInterrupts,
        "StrExits": StrExits,
        "StrIsNone": StrIsNone,
        "AttributesRaise": AttributesRaise,
        "NothingIsReadable": NothingIsReadable,
        "ClassRaises": ClassRaises,
        "NotesRaise": NotesRaise,
        "BoolRaises": BoolRaises,
        "EqRaises": EqRaises,
        "Frozen": Frozen,
        "UnhashableClass": UnhashableClass,
        "NamelessClass": NamelessClass,
        "SyntaxError": weird_syntax,
    }.items()
}
"""By their names, since a test runner cannot look at them."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(Options(trajectory=TrajectoryOptions(path=tmp_path / "kept.jsonl")))


@pytest.fixture
def installed(ledger: Ledger) -> Iterator[None]:
    installation = errcompact.install(
        tracer_provider=TracerProvider(shutdown_on_exit=False),
        meter_provider=MeterProvider(shutdown_on_exit=False),
        ledger=ledger,
    )
    yield
    installation.uninstall()


def raised_by(function: Callable[[], object]) -> BaseException | None:
    """Return what a function raises: a test runner could not print it."""
    try:
        function()
    except BaseException as error:
        return error
    return None


@pytest.mark.parametrize("kind", WEIRD)
@pytest.mark.usefixtures("installed")
def test_an_exception_is_counted_kept_and_told_whatever_its_code_does(ledger: Ledger, kind: str) -> None:
    """By its type at least, and none of what its own code raises leaves the call."""
    error = WEIRD[kind]()
    texts: list[str] = []

    def fail() -> None:
        with errcompact.run("r", ledger=ledger) as run:
            with run.tool("t") as call:
                raise error
            assert run.report().occurrences == 1
            # Handed over by a framework, and declared: the same.
            texts.extend([call.text, run.port.record_call("v", error=error).text, run.fail(error, tool="u")])
            (found,) = {found.key: found for found in run.report().classes}.values()
            texts.extend([found.type, run.raw(found.key) or ""])

    assert raised_by(fail) is None
    assert [text for text in texts if kind not in text] == []
    assert kind in ledger.options.trajectory.path.read_text()


def test_an_exception_leaves_the_run_as_it_is(ledger: Ledger) -> None:
    """The host gets its own exception, and no other."""
    for kind, make in WEIRD.items():
        error = make()

        def fail(error: BaseException = error) -> None:
            with errcompact.run(ledger=ledger):
                raise error

        is_the_same = raised_by(fail) is error
        assert is_the_same, kind


def test_an_exception_is_printed_once(ledger: Ledger) -> None:
    """Its `__str__` may take a second, or say something else each time: raw error and digest hold the same."""
    Spoken.spoken = 0
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("t") as call:
            raise Spoken
        assert Spoken.spoken == 1
        assert "said 1 times" in call.text
        with run.tool("t") as call:
            try:
                raise Spoken
            except Spoken as cause:
                raise ValueError("on top") from cause
        assert Spoken.spoken == 2
        with run.tool("t") as call:
            raise ExceptionGroup("several", [Spoken(), Spoken()])
        assert Spoken.spoken == 4


def test_an_interrupt_of_the_program_is_not_taken_for_the_value_s_own() -> None:
    """What a signal handler raises while a text is made leaves it; what the value's own code raises does not."""

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    class Own:
        def __str__(self) -> str:
            return interrupt(self)

        @property
        def status(self) -> str:
            return interrupt(self)

    class Handled:
        __str__ = interrupt
        status = property(interrupt)

    assert string_of(Own()) == "<exception str() failed>"
    assert attribute_of(Own(), "status", "none") == "none"
    with pytest.raises(KeyboardInterrupt):
        string_of(Handled())
    with pytest.raises(KeyboardInterrupt):
        attribute_of(Handled(), "status")


@pytest.fixture
def warned(own_log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.LogCaptureFixture]:
    monkeypatch.setattr(arguments, "_warned", {})
    with own_log.at_level(logging.WARNING, "otel_errcompact"):
        yield own_log


@pytest.mark.parametrize("wrong", [None, 5, b"x", ["a"]], ids=repr)
def test_a_tool_s_name_of_another_type(ledger: Ledger, warned: pytest.LogCaptureFixture, wrong: Any) -> None:
    """By every way to make a call: it goes on, its failure counts, and one warning says what was wrong."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail("x", tool=wrong)
        run.port.record_call(wrong, error="x")
        with run.tool(wrong) as call:
            call.result = "fine"
        assert run.port.refuse(wrong) == ""
        assert run.report().occurrences == 2
    (warning,) = [record.getMessage() for record in warned.records]
    assert warning == f"a call is malformed: the tool's name is {str(wrong)!r}, of the type {type(wrong).__name__}"
    assert ledger.guard.failures["malformed_call"] == 4


@pytest.mark.usefixtures("warned")
@pytest.mark.parametrize(
    "details",
    [
        {"call_id": 5}, {"exit_code": "a"}, {"exit_code": 10**30}, {"arguments": 5}, {"arguments": [1]},
        {"arguments": b"x"}, {"arguments": {(1, 2): 3}}, {"arguments": {"a": StrRaises()}}, {"call_id": "\udc00"},
        {"tool": "\ud800"},
    ],
    ids=repr,
)  # fmt: skip
def test_details_of_another_type(ledger: Ledger, details: dict[str, Any]) -> None:
    """The failure counts all the same, and what telemetry cannot carry is left out or written as it can."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail("x", **{"tool": "t", **details})
        assert run.report().occurrences == 1


@pytest.mark.parametrize("text", [None, b"abc", 5, ""], ids=repr)
def test_a_text_of_another_type(ledger: Ledger, text: Any) -> None:
    """It is a failure, for so it was declared."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail(text=text, tool="t")
        assert run.report().occurrences == 1


def test_a_run_of_another_type(ledger: Ledger) -> None:
    """Conversations are often numbered."""

    def failures(run: Run) -> int:
        with run:
            run.fail("x", tool="t")
        return ledger.guard.failures["malformed_call"]

    assert failures(errcompact.run(7, agent=None, ledger=ledger)) == 2  # type: ignore[arg-type]


def test_a_result_that_cannot_be_printed(ledger: Ledger) -> None:
    """Nothing failed, and nothing of it leaves the call."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("t") as call:
            call.result = StrRaises()
        assert call.text == "<exception str() failed>"
