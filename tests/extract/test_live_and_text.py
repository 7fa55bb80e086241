"""One failure has one class, whether the exception is at hand or only its printed traceback."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import multiprocessing
import os
import socket
import sqlite3
import subprocess
import sys
import traceback
import urllib.request
from pathlib import Path
from typing import NoReturn

import pydantic
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from tests.extract.reading import extract
from tests.tracing import untraced


class ToolError(Exception):
    pass


class Item(pydantic.BaseModel):
    qty: int


class Order(pydantic.BaseModel):
    items: list[Item]
    price: float


class Quoting(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def missing_key():
    return {}["cursor"]


def wrapped():
    try:
        missing_key()
    except KeyError as error:
        raise ToolError("step failed") from error


def wrapped_twice():
    try:
        wrapped()
    except ToolError as error:
        raise RuntimeError(f"worker {os.getpid()} failed to start") from error


def while_handling():
    try:
        missing_key()
    except KeyError:
        return int("abc")


def suppressed():
    try:
        missing_key()
    except KeyError:
        raise ToolError("no cursor") from None


def caused_by_unraised():
    raise ToolError("late") from ValueError("never raised")


def json_decode():
    json.loads('{"a": ')


def syntax_error():
    compile("def f(:\n    pass\n", "generated/plan.py", "exec")


def syntax_error_in_string():
    eval("1 +")


def indentation_error():
    compile("a = 1\n    b = 2\n", "generated/plan.py", "exec")


def bare_syntax_error():
    raise SyntaxError("not in this grammar")


def recursion(depth=0):
    return recursion(depth + 1)


def ping(depth=0):
    return pong(depth + 1)


def pong(depth=0):
    return ping(depth + 1)


def invalid_order():
    Order.model_validate({"items": [{"qty": "x"}, {"qty": "y"}], "price": "free"})


def invalid_item():
    Item.model_validate({"qty": "x"})


def no_file():
    return Path("/nowhere/at-all/config.json").read_text(encoding="utf-8")


def connection_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/items", timeout=2)


def unique():
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("create table users (email unique)")
            connection.execute("insert into users values ('a'), ('a')")
        finally:
            connection.close()


def command_failed():
    subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)"], check=True)


def timed_out():
    async def page():
        await asyncio.wait_for(asyncio.sleep(9), timeout=0.001)

    asyncio.run(page())


def in_thread():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(missing_key).result()


def in_process():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(missing_key)


def suggestion():
    class Connection:
        cursor = 1

    return Connection().curser


def name_suggestion():
    return jsn.dumps  # noqa: F821


def unimported():
    import pandaz_core  # noqa: F401


def several_lines():
    raise ToolError("build failed:\n  step 1 ok\n  step 2: error: no rule for 'x'\n\nsee the log")


def blank_first_line():
    raise ToolError("\n  nothing worked")


def no_message():
    raise AssertionError


def body_in_message():
    raise ToolError(
        "Error code: 429 - {'error': {'message': \"It's too much\", 'code': 'rate_limit_exceeded'}, 'request_id': 'r1'}"
    )


def page_in_message():
    raise ToolError("HTTP 502: <html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>")


def hostile_string():
    raise Quoting


def with_notes():
    error = ToolError("no such row")
    error.add_note("table users")
    error.add_note("error: index is stale")
    raise error


def local_class():
    class Inner(Exception):
        pass

    raise Inner("from within")


def unicode_error():
    return b"\xff\xfe".decode("utf-8")


def generated_code():
    exec("def deep():\n    return {}['x']\ndeep()")


def group_of(*errors: BaseException) -> NoReturn:
    raised = []
    for error in errors:
        try:
            raise error
        except BaseException as caught:
            raised.append(caught)
    raise ExceptionGroup("several failed", raised)


def group():
    group_of(TimeoutError("shard 2: no reply after 30.01 s"), KeyError("checksum"), PermissionError(13, "denied", "/x"))


def group_of_one_kind():
    group_of(ValueError("bad shard 0"), ValueError("bad shard 1"), ValueError("bad shard 2"))


def nested_group():
    try:
        group_of(ValueError("bad shard 0"), KeyError("a"))
    except ExceptionGroup as inner:
        group_of(inner, OSError("disk"))


def group_with_chains():
    try:
        wrapped()
    except ToolError as error:
        group_of(error, ZeroDivisionError("n"))


def wrapped_group():
    try:
        group()
    except ExceptionGroup as error:
        raise RuntimeError("sync failed") from error


def group_while_handling():
    try:
        missing_key()
    except KeyError:
        group()


def task_group():
    async def child(n):
        raise ValueError(f"bad shard {n}")

    async def parent():
        async with asyncio.TaskGroup() as tasks:
            for n in range(3):
                tasks.create_task(child(n))

    asyncio.run(parent())


ZOO = [
    missing_key,
    wrapped,
    wrapped_twice,
    while_handling,
    suppressed,
    caused_by_unraised,
    json_decode,
    syntax_error,
    syntax_error_in_string,
    indentation_error,
    bare_syntax_error,
    recursion,
    ping,
    invalid_order,
    invalid_item,
    no_file,
    connection_refused,
    unique,
    command_failed,
    timed_out,
    in_thread,
    in_process,
    suggestion,
    name_suggestion,
    unimported,
    several_lines,
    blank_first_line,
    no_message,
    body_in_message,
    page_in_message,
    hostile_string,
    local_class,
    unicode_error,
    generated_code,
    *(
        pytest.param(raiser)
        for raiser in (
            with_notes,
            group,
            group_of_one_kind,
            nested_group,
            group_with_chains,
            wrapped_group,
            group_while_handling,
            task_group,
        )
    ),
]


def caught(raiser) -> BaseException:
    try:
        raiser()
    except BaseException as error:
        return error
    raise AssertionError(f"{raiser.__name__} did not fail")


def printed(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


@pytest.mark.programs
@pytest.mark.parametrize("raiser", ZOO)
def test_facts_of_exception_and_of_printed_traceback_agree(raiser):
    """Type, place, keyed cause and wrappers are the same from the exception and from its text."""
    error = caught(raiser)
    live = extract(RawError(text="", exception=error))
    text = extract(RawError(text=printed(error)))
    assert (live.type, live.location, live.cause, live.keyed_cause, live.wrappers) == (
        text.type,
        text.location,
        text.cause,
        text.keyed_cause,
        text.wrappers,
    )
    assert text.format == "python"


@pytest.mark.programs
@pytest.mark.parametrize("raiser", ZOO)
def test_key_of_exception_and_of_printed_traceback_agree(raiser):
    """The dedup key is the same from the exception and from its text."""
    error = caught(raiser)
    assert classify(RawError(text="", exception=error)).key == classify(RawError(text=printed(error))).key


KINDS = [ValueError, KeyError, ToolError, OSError, RecursionError, ImportError]
# Python breaks a group's lines at the excluded separators and puts its margin in between.
SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
MESSAGES = st.text(st.characters(codec="utf-8", exclude_characters='"' + SEPARATORS), max_size=60).filter(
    lambda message: "Traceback" not in message and "above exception" not in message
)


def raised_on(error: BaseException, depth: int) -> NoReturn:
    if depth:
        raised_on(error, depth - 1)
    raise error


def raised(error: BaseException, depth: int) -> BaseException:
    return caught(lambda: raised_on(error, depth))


def chained(outer: BaseException, inner: BaseException, *, link: str, depth: int) -> BaseException:
    if link == "cause":
        outer.__cause__ = inner
        return raised(outer, depth)

    def handled() -> None:
        try:
            raise inner
        except BaseException:
            raised_on(outer, depth)

    error = caught(handled)
    error.__suppress_context__ = link == "suppressed"
    return error


SINGLE = st.builds(
    raised, st.builds(lambda kind, message: kind(message), st.sampled_from(KINDS), MESSAGES), st.integers(0, 3)
)


def grown(children):
    links = st.builds(
        chained, SINGLE, children, link=st.sampled_from(["cause", "context", "suppressed"]), depth=st.integers(0, 2)
    )
    if ExceptionGroup is None:
        return links
    groups = st.builds(
        lambda message, members, depth: raised(ExceptionGroup(message, members), depth),
        MESSAGES,
        st.lists(children, min_size=1, max_size=4),
        st.integers(0, 2),
    )
    return links | groups


@given(st.recursive(SINGLE, grown, max_leaves=8))
@example(chained(RuntimeError("cannot load the plan"), ValueError("0"), link="cause", depth=1))
@example(raised(ExceptionGroup("cannot load a|b", [raised(ValueError("0"), 1)]), 1))
def test_any_chain_has_one_key(error):
    """However exceptions are chained and grouped, the printed traceback leads to the key of the exception."""
    with untraced():
        live = extract(RawError(text="", exception=error))
        text = extract(RawError(text=printed(error)))
    assert (live.type, live.location, live.keyed_cause) == (text.type, text.location, text.keyed_cause)


def test_exceptions_of_a_group_that_were_not_raised():
    """They have no stack of their own, and count all the same."""

    def fail(*errors: Exception) -> NoReturn:
        raise ExceptionGroup("sync", errors)

    inner = ExceptionGroup("inner", [KeyError("sku"), OSError("gone")])
    for errors in ((TypeError("x"), ValueError("y")), (TypeError("x"), inner)):
        with pytest.raises(ExceptionGroup) as caught:
            fail(*errors)
        printed = "".join(traceback.format_exception(caught.value))
        live, text = (
            classify(RawError(text=printed, exception=caught.value)),
            classify(RawError(text=printed)),
        )
        assert live.key == text.key
        assert text.facts.type == "ExceptionGroup"
