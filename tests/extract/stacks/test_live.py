"""Facts of live exceptions."""

from __future__ import annotations

import json
import linecache
import subprocess
import traceback
from typing import Any

import pytest

from otel_errcompact.errors import Location, RawError
from otel_errcompact.extract.stacks.live import read_chain
from tests.extract.reading import extract


class ToolError(Exception):
    pass


def facts(error: BaseException):
    return extract(RawError(text="", exception=error))


def caught(function, *args) -> BaseException:
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError("did not fail")


def missing():
    return {}["tenant"]


def test_type_cause_and_place():
    """Type, message, and the innermost own frame with its line."""
    found = facts(caught(missing))
    line = missing.__code__.co_firstlineno + 1
    assert (found.type, found.cause, found.format) == ("KeyError", "'tenant'", "python")
    assert found.location == Location(function="missing", file=__file__, line=line)


def test_qualified_type():
    """Types are named as Python prints them: with their module, but for built-in ones and the main module's."""
    assert facts(ToolError("x")).type == f"{__name__}.ToolError"
    assert facts(type("Local", (Exception,), {"__module__": "__main__"})("x")).type == "Local"
    assert facts(OSError(13, "Permission denied", "/x")).cause == "[Errno 13] Permission denied: '/x'"


def test_exception_that_was_never_raised():
    """Without a traceback there is no place."""
    assert facts(ValueError("x")).location == Location()


def test_source_line_is_shown_if_it_was_loaded():
    """No file is opened for the source line; it is shown where a traceback was formatted before."""
    linecache.clearcache()
    error = caught(missing)
    assert facts(error).details == ()
    traceback.format_exception(error)
    assert facts(error).details == ('> return {}["tenant"]',)


def test_source_line_of_changed_file(monkeypatch):
    """A line that the loaded file does not have, or a file not loaded yet, is left out."""
    error = caught(missing)
    monkeypatch.setitem(linecache.cache, __file__, (1, None, ["only one line\n"], __file__))
    assert facts(error).details == ()
    monkeypatch.setitem(linecache.cache, __file__, (lambda: "",))
    assert facts(error).details == ()


def test_frames_of_libraries_are_passed_over():
    """What failed inside a library is placed where own code called it, with the line that did and the one in there."""
    error = caught(json.loads, '{"a" 1}')
    traceback.format_exception(error)
    found = facts(error)
    assert found.location.function == "caught"
    source, near, raised = found.details
    assert near == 'near: {"a" 1}'
    assert source == "> function(*args)"
    assert raised.startswith("raised in raw_decode (json/decoder.py:")


def test_notes_are_details():
    """Notes follow the message; what is no string does not disturb."""
    error = ToolError("boom")
    error.__notes__ = ["while loading", 7]
    assert facts(error).details == ("while loading", "7")
    error.__notes__ = 7
    assert facts(error).details == ()


def test_cycle_of_causes():
    """Exceptions that cause one another end where they begin."""
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    found = facts(first)
    assert (found.type, found.wrappers) == ("KeyError", ("ValueError",))


def test_long_chain_is_bounded():
    """A chain of any length is followed for a bounded number of steps."""
    error = ValueError("root")
    for number in range(10_000):
        outer = ValueError(number)
        outer.__cause__ = error
        error = outer
    found = facts(error)
    assert len(read_chain(error)) == 100
    assert len(found.wrappers) == 16


def test_suppressed_context_is_no_cause():
    """`raise ... from None` says that what was being handled does not matter."""

    def fail():
        try:
            missing()
        except KeyError:
            raise ToolError("no tenant") from None

    assert facts(caught(fail)).cause == "no tenant"


def test_recursion_is_placed_at_one_function():
    """Where a recursion meets its limit is chance; the place is not."""

    def ping(n):
        return pong(n + 1)

    def pong(n):
        return ping(n + 1)

    assert facts(caught(ping, 0)).location.function == facts(caught(pong, 0)).location.function == "ping"


def test_syntax_error():
    """A syntax error is placed in the code that does not compile."""
    found = facts(caught(compile, "a = 1\ndef f(:\n", "generated/plan.py", "exec"))
    assert (found.type, found.cause) == ("SyntaxError", "invalid syntax")
    assert found.location == Location(file="generated/plan.py", line=2)
    assert found.details == ("> def f(:",)


def test_syntax_error_with_notes():
    """The place in a syntax error's message goes, its notes stay."""
    error: Any = caught(compile, "1 +", "plan.py", "exec")
    error.__notes__ = ["while planning"]
    assert facts(error).details[0] == "while planning"


@pytest.mark.parametrize(
    ("attributes", "detail"),
    [
        pytest.param(
            {"_content": b'{"error": {"message": "no quota", "code": "quota"}}'}, "quota: no quota", id="json"
        ),
        pytest.param({"_content": b"<html><h1>Bad gateway</h1></html>", "text": "unread"}, "Bad gateway", id="html"),
        pytest.param({"text": "no quota left"}, "no quota left", id="text"),
        pytest.param({"_content": False, "text": "unread"}, None, id="not received"),
        pytest.param({"text": len}, None, id="text is a method"),
    ],
)
def test_body_of_a_response(attributes, detail):
    """What the server said is a detail, as far as it was received; asking for more would read from the network."""
    response = type("Response", (), attributes)()
    error = ToolError("Client error '400 Bad Request' for url 'https://x.io'")
    error.response = response
    assert facts(error).details == ((detail,) if detail else ())
    assert facts(error).key_cause == ""


def test_body_that_the_message_holds_already():
    """A body that stands in the message is not repeated."""
    error = ToolError("Error code: 429 - {'error': {'message': 'slow down'}}")
    error.response = type("Response", (), {"text": "slow down"})()
    assert facts(error).details == ()


@pytest.mark.parametrize("name", ["body", "stderr", "output"])
def test_what_else_an_exception_carries(name):
    """A body or standard error that hangs on the exception itself is a detail."""
    error = ToolError("request failed")
    setattr(error, name, b"quota exceeded\nsee docs")
    assert facts(error).details == ("quota exceeded", "see docs")


def shell(script: str) -> str:
    """A tool as agents have it: it raises what the command has printed."""
    return subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout


@pytest.mark.programs
def test_the_output_of_a_command_is_looked_into():
    """What the command printed tells the cause; the exception is what it was raised as."""
    found = facts(caught(lambda: shell("ls /no/such >&2; exit 3")))
    assert (found.type, found.format, found.output) == ("ENOENT", "shell", "")
    assert found.cause == "ls: cannot access '/no/such': No such file or directory"
    assert found.location.function == "shell"
    assert found.wrappers == ("subprocess.CalledProcessError",)
    assert found.details[-1].startswith("raised as subprocess.CalledProcessError at shell (")
    assert found.details[-1].endswith("returned non-zero exit status 3.")


PYTEST = """\
FAILED tests/test_cart.py::test_total - assert 683 == 0
1 failed in 0.1s
"""


@pytest.mark.programs
def test_the_output_may_be_long_and_on_both_streams():
    """The cause is found behind warnings on the other stream, and at the end of a long output."""
    found = facts(caught(lambda: shell(f"echo warn >&2; yes progress | head -9999; echo '{PYTEST}'; exit 1")))
    assert (found.type, found.cause, found.format) == ("AssertionError", "assert 683 == 0", "pytest")


@pytest.mark.parametrize("encode", [str, str.encode], ids=["text", "bytes"])
def test_bytes_are_read_as_text(encode):
    """Commands run without `text=True` give bytes, of which both ends are looked at too."""
    error = ToolError("command failed")
    error.stderr = encode("x" * 20_000 + "\n" + PYTEST)
    assert facts(error).format == "pytest"


def test_a_message_that_repeats_an_output_is_looked_into():
    """Whatever the exception is called; nothing is said twice."""

    def run_tests() -> None:
        raise ToolError(PYTEST)

    found = facts(caught(run_tests))
    assert (found.cause, found.wrappers) == ("assert 683 == 0", (f"{__name__}.ToolError",))
    assert found.details[-1].startswith(f"raised as {__name__}.ToolError at run_tests (")
    assert "FAILED" not in "".join(found.details)


def test_an_output_that_no_format_recognises_changes_nothing():
    """The exception's own type and message stay the cause."""
    error = ToolError("command failed")
    error.stderr = "something went wrong\nsomewhere"
    found = facts(error)
    assert (found.type.rpartition(".")[2], found.cause, found.output) == ("ToolError", "command failed", "")


# --- groups ----------------------------------------------------------------------------------------------------------


def test_group_counts_its_children():
    """Distinct children with their counts; the same child twice is the same failure."""
    one = ValueError("bad shard 1")
    group = ExceptionGroup("sync failed", [one, one, KeyError("x")])
    found = facts(group)
    assert found.cause == "sync failed: 2 x ValueError: bad shard 1; and 1 other (KeyError)"
    assert found.details == ("ValueError: bad shard 1; x 2", "KeyError: 'x'")


def test_group_in_any_order():
    """The order in which children failed does not count for the key."""
    errors = [ValueError("bad shard 1"), KeyError("x"), TimeoutError()]
    keys = {facts(ExceptionGroup("sync", list(order))).key_cause for order in (errors, errors[::-1])}
    assert len(keys) == 1


def test_large_groups_are_bounded():
    """Only so many exceptions are looked at, in one group and in all."""
    group = ExceptionGroup("all", [ValueError(f"no {n}") for n in range(100_000)])
    assert facts(group).type == "ValueError"
    nested = ExceptionGroup("all", [ExceptionGroup("each", [KeyError(m) for m in range(100)]) for n in range(100)])
    assert sum(len(chain[0].children) for chain in read_chain(nested)[0].children) <= 1_000


def test_deep_groups_are_bounded():
    """Groups in groups are looked into as deep as Python prints them."""
    group = ValueError("root")
    for _ in range(100):
        group = ExceptionGroup("level", [group])
    assert facts(group).type == "ExceptionGroup"


def test_attribute_named_exceptions_makes_no_group():
    """Only exception groups have children."""
    error = ToolError("retries used up")
    error.exceptions = [ValueError("x")]
    assert facts(error).type == f"{__name__}.ToolError"


# --- hostile exceptions ----------------------------------------------------------------------------------------------


class Speechless(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class Wordless(Exception):
    def __str__(self):
        return 7  # noqa: PLE0307 - that is what is hostile about it


class Untouchable(Exception):
    def __getattr__(self, name):
        raise SystemExit(name)


class Unexplained(Exception):
    __cause__ = property(lambda self: 1 / 0)


class SlyString(str):
    __slots__ = ()

    def __hash__(self):
        raise ValueError


class Sly(Exception):
    def __str__(self):
        return SlyString("sly")


@pytest.mark.parametrize(
    ("error", "kind", "cause"),
    [
        pytest.param(Speechless(), f"{__name__}.Speechless", "<exception str() failed>", id="str raises"),
        pytest.param(Wordless(), f"{__name__}.Wordless", "<exception str() failed>", id="str is no string"),
        pytest.param(Untouchable("x"), f"{__name__}.Untouchable", "x", id="attributes raise"),
        pytest.param(Unexplained("x"), f"{__name__}.Unexplained", "x", id="the chain itself raises"),
        pytest.param(Sly(), f"{__name__}.Sly", "sly", id="a string of its own kind"),
    ],
)
def test_hostile_exceptions(error, kind, cause):
    """Whatever an exception's own code does, there are facts."""
    found = facts(error)
    assert (found.type, found.cause) == (kind, cause)
    hash(read_chain(error))


def test_what_the_call_has_handled_itself_is_the_root_cause():
    """It was caught in a frame that the failure has passed, however deep."""

    def inner():
        try:
            missing()
        except KeyError:
            raise ToolError("no tenant")  # noqa: B904 - the context is what is tested

    def outer():
        try:
            inner()
        except ToolError:
            raise RuntimeError("gave up")  # noqa: B904 - as above

    assert facts(caught(outer)).type == "KeyError"


def test_what_is_being_handled_around_the_call_is_no_cause():
    """A program may find in an `except` that no event loop is running, and start its agent there."""

    def program():
        try:
            raise LookupError("no running event loop")
        except LookupError:
            return caught(missing)

    def deeper():
        try:
            raise LookupError("no running event loop")
        except LookupError:
            return caught(translating)

    def translating():
        try:
            missing()
        except KeyError:
            raise ToolError("no tenant")  # noqa: B904 - the context is what is tested

    assert facts(program()).type == "KeyError"
    assert [failure.type for failure in read_chain(deeper())] == [f"{__name__}.ToolError", "KeyError"]
