"""Waiting is not looping: what may pass is never refused or halted, and the agent reads how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from otel_errcompact.boundary.scope import RunScope
from tests.scenarios.agents import attempt, raising, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ledger import Ledger

SECOND = 1_000_000_000
ORDER = {"order": 31, "cents": 1995}


class Answers:
    """A tool that raises or returns one thing after the other."""

    def __init__(self, *answers: object) -> None:
        self.left = list(answers)

    def __call__(self) -> object:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Response(Exception):
    """An error of an HTTP client, with the headers of the answer."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.response = type("Answered", (), {"headers": {"retry-after": str(seconds)}, "text": "", "status_code": 429})


def played(
    ledger: Ledger, tool: str, arguments: dict[str, object], *answers: object
) -> tuple[list[str], errcompact.Run]:
    """Call one tool again and again, each time in a turn of its own: what the agent reads."""
    ask = Answers(*answers)
    read: list[str] = []
    with errcompact.run(agent="shop", ledger=ledger) as run:
        while ask.left:
            run.check()
            run.begin_turn()
            call = attempt(run, tool, arguments, ask)
            assert not call.refused
            read.append(call.text)
    return read, run


@pytest.mark.parametrize(
    "unready",
    [
        RuntimeError("export 9 is still running"),
        RuntimeError("phase 2 of 5 not finished"),
        AssertionError("the button is not visible yet"),
        PermissionError("waiting for approval of the owner"),
        "Error: the report is not ready yet, try again in a few seconds",
        '{"error": "the deployment is still in progress"}',
    ],
)
def test_a_job_that_is_polled_until_it_is_done_is_left_in_peace(ledger: Ledger, unready: object) -> None:
    """Seven times it is not ready, and the eighth call has the answer."""
    read, run = played(ledger, "status", {"job": 9}, *[unready] * 7, "done: 12 rows")
    assert read[-1] == "done: 12 rows"
    assert ["stopped" in text or "ESCALATED" in text or "something else" in text for text in read] == [False] * 8
    assert (steps(run), run.report().result) == ([], "recovered")


def test_a_limit_says_how_long_to_wait(ledger: Ledger) -> None:
    """By the header of the answer, each time with its own number."""
    limits = [Response("Client error '429 Too Many Requests'", seconds) for seconds in (7, 7, 60)]
    read, run = played(ledger, "search", {"q": "shoes"}, *limits, "3 hits")
    assert [
        "7" in read[0],
        "wait 7 s before you try again" in read[1],
        "wait 60 s before you try again" in read[2],
    ] == [True] * 3
    assert (read[-1], steps(run)) == ("3 hits", [])


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("429 Too Many Requests: Retry-After: 7", "wait 7 s before"),
        ("Rate limit reached. Please try again in 2.5s.", "wait 2.5 s before"),
        ("HTTP 503: warming up, retry after 3 minutes", "wait 3 minutes before"),
        ("rate limited, wait 90 seconds", "wait 90 seconds before"),
    ],
)
def test_the_number_may_stand_in_the_words(ledger: Ledger, said: str, waits: str) -> None:
    """Then the second failure repeats it."""
    read, _ = played(ledger, "search", {"q": "shoes"}, *[RuntimeError(said)] * 2)
    assert waits in read[1]


@pytest.mark.parametrize("answer", [{"error": "quota"}, '{"ok": false, "error": "quota"}', "Error: no rows"])
def test_values_that_only_state_a_failure_refuse_nothing(ledger: Ledger, answer: object) -> None:
    """A function that returns one has not declared that it failed."""
    read, run = played(ledger, "lookup", {"id": 4}, *[answer] * 9)
    assert len(read) == 9
    assert "halted" not in run.report().result
    assert {threshold for threshold, _, _ in steps(run)} <= {"same"}


def test_a_charge_that_times_out_says_at_once_that_it_may_have_been_made(ledger: Ledger) -> None:
    """Read at the second failure only, the card is charged twice."""
    read, _ = played(ledger, "charge_card", ORDER, *[TimeoutError("read timed out")] * 2)
    assert "it may have taken effect: check before you try again" in read[0]
    assert "wait and check whether it took effect before you try again" in read[1]


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ("charge_card", ConnectionRefusedError(111, "Connection refused")),
        ("charge_card", ValueError("card declined")),
        ("get_order", TimeoutError("read timed out")),
    ],
)
def test_what_surely_had_no_effect_is_not_doubted(ledger: Ledger, tool: str, error: Exception) -> None:
    """A server that was not reached, a refusal, and a question that changes nothing."""
    read, _ = played(ledger, tool, ORDER, error)
    assert "taken effect" not in read[0]


def test_a_time_out_lifts_a_refusal(ledger: Ledger) -> None:
    """What it has begun may have changed what the refused call needs."""
    with errcompact.run(agent="shop", ledger=ledger) as run:
        for _ in range(2):
            attempt(run, "ship", ORDER, raising(ValueError("not paid")))
        assert run.port.refuse("ship", arguments=ORDER) != ""
        attempt(run, "charge_card", ORDER, raising(TimeoutError("read timed out")))
        assert run.port.refuse("ship", arguments=ORDER) == ""
        assert not attempt(run, "ship", ORDER, lambda: "shipped").failed


@pytest.mark.parametrize(
    "text",
    [
        "Tool 'fetch' failed after 2 attempts with ConnectError: All connection attempts failed. Please try again.",
        "RetryError[<Future at 0x7f0c2a state=finished raised ConnectError>]",
        "fetch gave up after 3 tries with httpx.ConnectTimeout: timed out",
    ],
)
def test_middleware_that_tries_again_ends_as_without_us(ledger: Ledger, text: str) -> None:
    """What a wrapper names is what it is, so that an outage of minutes ends by itself."""
    read: list[str] = []
    with errcompact.run(agent="shop", ledger=ledger) as run:
        for _ in range(7):
            run.check()
            run.begin_turn()
            with run.tool("fetch", arguments={"url": "https://shop.example"}) as call:
                assert not call.refused
                call.fail(text)
            read.append(call.text)
        assert attempt(run, "fetch", {"url": "https://shop.example"}, lambda: "fine").text == "fine"
    assert read[0].startswith(text)
    assert "wait before you try again" in read[6]
    (found,) = run.report().classes
    assert (found.type.rpartition(".")[2][:7], found.count, steps(run)) == ("Connect", 7, [])


def test_a_wrapper_and_what_it_names_are_one_class(ledger: Ledger) -> None:
    """Whoever raised it: the tool itself, or middleware in its words."""
    plain = "ConnectError: All connection attempts failed"
    with errcompact.run(agent="shop", ledger=ledger) as run:
        for text in (plain, f"Tool 'fetch' failed after 2 attempts with {plain}. Please try again."):
            with run.tool("fetch") as call:
                call.fail(text)
    assert [(found.type, found.cause, found.count) for found in run.report().classes] == [
        ("ConnectError", "All connection attempts failed", 2)
    ]


@pytest.fixture
def clocked(ledger: Ledger) -> tuple[errcompact.Run, Callable[[int], None]]:
    """A run, and how to let seconds pass in it."""
    now = [1_700_000_000 * SECOND]

    def wait(seconds: int) -> None:
        now[0] += seconds * SECOND

    return errcompact.Run(RunScope("r", agent="shop", ledger=ledger, clock_ns=lambda: now[0])), wait


def test_an_outage_of_minutes_alerts_once_and_halts_nothing(
    clocked: tuple[errcompact.Run, Callable[[int], None]],
) -> None:
    """Three hundred seconds without a success are news for operators; twenty failures before are none."""
    run, wait = clocked
    with run:
        for number in range(29):
            run.check()
            run.begin_turn()
            call = attempt(run, "orders", {"id": 1}, raising(ConnectionRefusedError(111, "Connection refused")))
            assert (call.refused, bool(steps(run))) == ("", number >= 20)
            wait(15)
        run.check()
        assert steps(run) == [("same", 21, "unhandled")]
        run.begin_turn()
        attempt(run, "orders", {"id": 1}, lambda: "3 orders")
    assert run.report().result == "recovered"


def test_a_success_begins_the_wait_afresh(clocked: tuple[errcompact.Run, Callable[[int], None]]) -> None:
    """Short outages with work between are no long one."""
    run, wait = clocked
    with run:
        for _ in range(4):
            for _ in range(4):
                attempt(run, "orders", {"id": 1}, raising(ConnectionRefusedError(111, "Connection refused")))
                wait(60)
            attempt(run, "orders", {"id": 1}, lambda: "3 orders")
    assert steps(run) == []


def test_a_refusal_expires(clocked: tuple[errcompact.Run, Callable[[int], None]]) -> None:
    """After five minutes the call may be made once, since the world may have changed without the agent."""
    run, wait = clocked
    with run:
        for _ in range(2):
            attempt(run, "read", {"path": "out.csv"}, raising(FileNotFoundError(2, "No such file", "out.csv")))
        wait(299)
        assert attempt(run, "read", {"path": "out.csv"}, lambda: "rows").refused
        wait(1)
        assert attempt(run, "read", {"path": "out.csv"}, lambda: "rows").text == "rows"


def test_what_stays_is_refused_at_the_third_and_halted_at_the_sixth(ledger: Ledger) -> None:
    """Nothing of this holds for a failure that no waiting ends."""
    refused: list[bool] = []
    with errcompact.run(agent="shop", ledger=ledger) as run, pytest.raises(errcompact.RunHalted):
        while True:
            run.check()
            run.begin_turn()
            refused.append(bool(attempt(run, "pay", ORDER, raising(ValueError("card declined"))).refused))
    assert refused == [False, False, True, True, True, True]
    assert run.report().result == "halted"


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError("exporting to xlsx is not implemented yet"),
        RuntimeError("streaming is not yet supported"),
        RuntimeError("this endpoint is not available in your plan yet"),
        RuntimeError("syntax error: unexpected EOF while parsing"),
        RuntimeError("syntax error: unexpected end of file"),
        RuntimeError("FAILED tests/test_wait.py::test_waiting_for_lock - assert 1 == 2"),
        RuntimeError("HTTP 404 Not Found"),
        RuntimeError("404 Client Error: Not Found for url: https://shop.example/retry/later"),
        TypeError("fetch() got an unexpected keyword argument 'timeout'"),
        ValueError("timeout must be a positive number"),
        ValueError("invalid value for retry_after: 'soon'"),
        KeyError("pending"),
        RuntimeError("no column named is_pending"),
        RuntimeError("unknown state 'waiting for approval'"),
        PermissionError(13, "Permission denied", "/srv/try_again_later.txt"),
        RuntimeError("import failed with ValueError: the timeout is no number"),
        RuntimeError("fetch failed after 3 attempts with HTTPStatusError: Client error '404 Not Found'"),
        ExceptionGroup("two", [TimeoutError("read timed out"), ValueError("no such column")]),
    ],
    ids=str,
)
def test_what_only_looks_like_waiting_stays(ledger: Ledger, error: Exception) -> None:
    """Words of waiting in a name, in what is quoted, or about what is not built help no call."""
    with errcompact.run(agent="shop", ledger=ledger) as run:
        texts = [attempt(run, "load", {"n": 1}, raising(error)).text for _ in range(3)]
    assert "wait" not in texts[1].rpartition("; ")[2].rpartition(": ")[2]
    assert texts[2].startswith("NOT EXECUTED")
