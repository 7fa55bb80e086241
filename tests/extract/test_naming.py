"""What a wrapper names is what it is."""

from __future__ import annotations

import pytest

from otel_errcompact.detector.kinds import kind_of
from otel_errcompact.errors import TRANSIENT, RawError
from tests.extract.reading import extract

ALL = "All connection attempts failed"


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        (f"Tool 'get' failed after 2 attempts with ConnectError: {ALL}. Please try again.", "ConnectError", ALL),
        (f"giving up after 5 tries, last error: httpx.ConnectError: {ALL}", "httpx.ConnectError", ALL),
        (f"the job was stopped by ConnectError('{ALL}')", "ConnectError", ALL),
        ("request failed due to ReadTimeout: no answer in 30 s", "ReadTimeout", "no answer in 30 s"),
        (
            "RetryError[<Future at 0x7f11 state=finished raised ConnectError>]",
            "ConnectError",
            "RetryError[<Future at 0x7f11 state=finished raised ConnectError>]",
        ),
    ],
)
def test_a_text_has_the_type_and_cause_that_it_names(text: str, kind: str, cause: str) -> None:
    """However the wrapper words it, and whether it gives a reason or the name alone."""
    found = extract(RawError(text=text))
    assert (found.type, found.cause) == (kind, cause)


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: cannot be used with KeyError: 'a'",
        "the test failed with 3 errors",
        "failed with exit code 2: see ConnectError.md",
        "the handler for ConnectError: not registered",
    ],
)
def test_a_name_that_is_only_mentioned_stays_in_the_cause(text: str) -> None:
    """It takes a verb of failure, a link and the name of an exception in a row."""
    assert extract(RawError(text=text)).wrappers == ()
    assert extract(RawError(text=text)).type not in ("KeyError", "ConnectError")


def test_an_exception_keeps_what_its_wrapper_says() -> None:
    """Its type and its own words stand below the cause."""
    found = extract(RawError(text="", exception=RuntimeError(f"sync failed after 3 attempts with ConnectError: {ALL}")))
    assert (found.type, found.cause, found.wrappers) == ("ConnectError", ALL, ("RuntimeError",))
    assert found.details == ("raised as RuntimeError: sync failed after 3 attempts",)


@pytest.mark.parametrize(
    ("members", "passes"),
    [
        ([TimeoutError("read timed out"), ConnectionResetError(104, "Connection reset by peer")], True),
        ([TimeoutError("read timed out"), KeyError("sku")], False),
        ([ExceptionGroup("inner", [TimeoutError("read timed out")]), ConnectionRefusedError("refused")], True),
    ],
)
def test_a_group_passes_if_all_its_members_do(members: list[Exception], *, passes: bool) -> None:
    """One that stays is enough for the same call to fail again."""
    raw = RawError(text="", exception=ExceptionGroup("several", members))
    assert (kind_of(raw, extract(raw)) == TRANSIENT) is passes
