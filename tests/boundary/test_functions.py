from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otel_errcompact as errcompact
from otel_errcompact import compacted
from otel_errcompact.boundary.functions import _Signature
from otel_errcompact.engine.events import Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import current_ledger


def divide(a: int, b: int = 0) -> float:
    return a / b


async def adivide(a: int, b: int = 0) -> float:
    await asyncio.sleep(0)
    return a / b


def test_a_function_is_called_as_a_tool(ledger: Ledger) -> None:
    """Its result is returned, or the compacted text."""
    with errcompact.run("r", ledger=ledger) as run:
        assert run.call(divide, 6, b=3) == 2.0
        assert str(run.call(divide, 6)).startswith("[ZeroDivisionError] at divide (")
        assert run.report().classes[0].tool == "divide"


async def test_a_coroutine_function_is_awaited(ledger: Ledger) -> None:
    """The same for asynchronous tools."""
    async with errcompact.run("r", ledger=ledger) as run:
        assert await run.call(adivide, 6, 3) == 2.0
        assert str(await run.call(adivide, 6)).startswith("[ZeroDivisionError] at adivide (")


def test_a_callable_without_a_name_or_signature_will_do(ledger: Ledger) -> None:
    """A partial is named by its type; a built-in without a signature gives its arguments by position."""
    with errcompact.run("r", ledger=ledger) as run:
        run.call(partial(divide, 1))
        run.call(min, 5)
        assert [found.tool for found in run.report().classes] == ["partial", "min"]


def test_arguments_that_do_not_fit_are_the_tool_s_failure(ledger: Ledger) -> None:
    """A model that calls a tool wrongly gets told so."""
    with errcompact.run("r", ledger=ledger) as run:
        assert "TypeError" in str(run.call(divide, 1, 2, 3))  # type: ignore[call-overload]


def test_the_decorator_makes_a_tool_of_the_open_run(ledger: Ledger) -> None:
    """A decorated function belongs to whatever run is open where it is called."""

    @compacted
    def parse(text: str) -> int:
        """Parse a number."""
        return int(text)

    @compacted(tool="math.divide")
    def halve(number: int, by: int) -> float:
        return number / by

    with errcompact.run("r", ledger=ledger) as run:
        assert parse("7") == 7
        assert str(parse("seven")).startswith("[ValueError] at parse (")
        assert str(halve(1, 0)).startswith("[ZeroDivisionError] at halve (")
        assert [found.tool for found in run.report().classes] == ["parse", "math.divide"]
    assert (parse.__name__, parse.__doc__) == ("parse", "Parse a number.")


async def test_the_decorator_takes_coroutine_functions(ledger: Ledger) -> None:
    """Also with a name of its own."""

    @compacted(tool="slow.divide")
    async def halve(number: int, by: int) -> float:
        return await adivide(number, by)

    async with errcompact.run("r", ledger=ledger) as run:
        assert await halve(4, 2) == 2.0
        assert "ZeroDivisionError" in str(await halve(4, 0))
        assert run.report().classes[0].tool == "slow.divide"


def test_without_a_run_the_failure_is_counted_all_the_same() -> None:
    """Code that opened no run still gets a digest; it is counted in the process's own ledger, which keeps no run."""
    counted: list[str] = []
    listener = Listener({Observation: lambda observation: counted.append(observation.text)})
    current_ledger().listeners.add(listener)

    @compacted
    def parse(text: str) -> int:
        return int(text)

    assert str(parse("eight")).startswith("[ValueError] at parse (")
    current_ledger().listeners.remove(listener)
    assert (len(counted), current_ledger().store.run_ids()) == (1, ())


@pytest.mark.parametrize("wrong", ["name", 3], ids=repr)
def test_only_functions_can_be_decorated(wrong: object) -> None:
    """The message says what was given and what to write."""
    with pytest.raises(ConfigurationError, match=r"@compacted got .*; give it a function"):
        compacted(wrong)  # type: ignore[call-overload]


def test_generators_are_refused() -> None:
    """A generator fails while it is consumed, outside the call."""

    def numbers() -> object:
        yield 1

    with pytest.raises(ConfigurationError, match="got the generator"):
        compacted(numbers)


class ToolError(Exception):
    """What some framework takes for an error."""


def test_a_framework_s_own_error_is_raised_with_the_digest(ledger: Ledger) -> None:
    """The tool's exception stays its cause; refused calls, which raise nothing, fail the same way."""

    @errcompact.compacted(failure=ToolError)
    def parse(text: str) -> int:
        return int(text)

    with errcompact.run("r", ledger=ledger, on_escalation=lambda escalation: errcompact.Continue()) as run:
        with pytest.raises(ToolError, match=r"\[ValueError\] at parse \(") as caught:
            parse("seven")
        assert isinstance(caught.value.__cause__, ValueError)
        assert parse("7") == 7
    assert run.report().result == "recovered"


async def test_a_framework_s_own_result_is_returned_with_the_digest(ledger: Ledger) -> None:
    """Also where an error is told by a value, and in asynchronous code."""

    @errcompact.compacted(tool="parser", failure=lambda text: {"error": text.split(" at ")[0]})
    async def parse(text: str) -> int:
        return int(text)

    async with errcompact.run("r", ledger=ledger) as run:
        assert await parse("seven") == {"error": "[ValueError]"}
        assert await parse("7") == 7
    assert run.report().classes[0].tool == "parser"


async def test_an_object_that_is_called_asynchronously_is_awaited(ledger: Ledger) -> None:
    """Its failure must not leave the call that was wrapped."""

    class Parse:
        async def __call__(self, text: str) -> int:
            return int(text)

    async with errcompact.run("r", ledger=ledger) as run:
        assert str(await errcompact.compacted(Parse())("seven")).startswith("[ValueError] at __call__")
        assert str(await run.call(Parse(), "seven")).startswith(
            "[ValueError]: invalid literal for int() with base 10: 'seven' #"
        )
    assert run.report().classes[0].tool == "Parse"


async def test_asynchronous_control_flow_goes_on(ledger: Ledger) -> None:
    """No framework's error takes its place."""

    class ModelRetry(Exception): ...

    @errcompact.compacted(failure=ToolError)
    async def ask() -> None:
        raise ModelRetry

    async with errcompact.run("r", ledger=ledger):
        with pytest.raises(ModelRetry):
            await ask()


def test_a_run_that_is_given_needs_not_be_open_here(ledger: Ledger) -> None:
    """Some frameworks call tools in threads that know nothing of the context."""
    run = errcompact.run("r", ledger=ledger)
    run.port.open()

    @errcompact.compacted(run=run)
    def parse(text: str) -> int:
        return int(text)

    with ThreadPoolExecutor(1) as pool:
        assert "[ValueError]" in str(pool.submit(parse, "seven").result())
    assert run.report().occurrences == 1


def divided(ledger: Ledger, failure: object, *args: object) -> object:
    """Call a failing tool where the library only observes."""
    with errcompact.run("r", ledger=ledger, mode="observe"):
        return compacted(failure=failure)(divide)(*args)  # type: ignore[call-overload]


def test_where_the_library_only_observes_a_loop_still_gets_a_text(ledger: Ledger) -> None:
    """The raw error, whole, as often as the call is made: a loop that counts on a text does not break."""
    with errcompact.run("r", ledger=ledger, mode="observe") as run:
        texts = [str(run.call(divide, 6)) for _ in range(7)]
        assert run.digest() == ""
    assert {text.splitlines()[0] for text in texts} == {"Traceback (most recent call last):"}
    assert {text.splitlines()[-1] for text in texts} == {"ZeroDivisionError: division by zero"}
    assert run.report().occurrences == 7
    assert {one.action for one in run.report().escalations} == {"unhandled"}
    assert (run.verdict.standing, run.digest()) == ("carry_on", "")


async def test_where_the_library_only_observes_a_coroutine_gets_a_text_too(ledger: Ledger) -> None:
    """The same for asynchronous tools."""
    async with errcompact.run("r", ledger=ledger, mode="observe") as run:
        assert str(await run.call(adivide, 6)).endswith("ZeroDivisionError: division by zero\n")


def test_where_the_library_only_observes_a_result_that_is_a_failure_stays_what_it_is(ledger: Ledger) -> None:
    """The very object that the tool has returned."""
    answer = {"error": "no such table: orders"}
    with errcompact.run("r", ledger=ledger, mode="observe") as run:
        assert run.call(lambda: answer) is answer
        assert compacted(failure=RuntimeError)(lambda: answer)() is answer
    assert run.report().occurrences == 2


def test_a_value_that_only_states_a_failure_stays_what_it_is(ledger: Ledger) -> None:
    """It counts, and the program that called reads its fields; a text, and what asks for a framework's own, change."""
    declined = {"ok": False, "error": "card declined", "decline_code": "do_not_honor"}
    with errcompact.run("r", ledger=ledger) as run:
        assert run.call(lambda: declined) is declined
        assert compacted(lambda: declined)() is declined
        with pytest.raises(RuntimeError, match="card declined"):
            compacted(failure=RuntimeError)(lambda: declined)()
        assert run.call(lambda: "Error: card declined").startswith("Error: card declined #")
    assert run.report().occurrences == 4


def test_where_the_library_only_observes_a_type_of_error_gives_way_to_the_tool_s_own(ledger: Ledger) -> None:
    """What a framework knows as an error it gets as it would without the library; a value holds the raw text."""
    with pytest.raises(ZeroDivisionError):
        divided(ledger, RuntimeError, 6)
    assert str(divided(ledger, lambda text: ("failed", text), 6)).endswith("ZeroDivisionError: division by zero\\n')")


def _plain(a: int, b: int = 2, *, c: int = 3) -> None: ...


def _mixed(a: int, /, b: int = 2, *rest: int, c: int, **more: int) -> None: ...


@pytest.mark.parametrize("function", [_plain, _mixed, min])
@given(args=st.lists(st.integers(), max_size=4), kwargs=st.dictionaries(st.sampled_from("abcd"), st.integers()))
def test_arguments_are_named_as_python_binds_them(function: Any, args: list[int], kwargs: dict[str, int]) -> None:
    """In the order of the parameters; arguments that do not fit by their positions."""
    try:
        expected = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        expected = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    found = _Signature(function).bind(tuple(args), kwargs)
    assert list(found.items()) == list(expected.items())


def test_a_signature_is_read_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the decorated function is called."""
    read: list[object] = []
    signature = inspect.signature

    def counted(function: Any) -> inspect.Signature:
        read.append(function)
        return signature(function)

    monkeypatch.setattr(inspect, "signature", counted)
    tool = compacted(divide)
    with errcompact.run("r", ledger=ledger):
        assert [tool(6, b) for b in (1, 2, 3)] == [6.0, 3.0, 2.0]
    assert read == [divide]
