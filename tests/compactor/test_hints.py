"""What is advised, and when nothing is."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.hints import hint_for, hints
from otel_errcompact.errors import Facts
from tests.clock import costs_little


@pytest.mark.parametrize("hint", hints(), ids=lambda hint: hint.example[1])
def test_each_hint_is_given_for_its_example(hint):
    """Each hint is the one that its example gets, in one short line."""
    kind, cause = hint.example

    assert hint.advice == hint_for(Facts(type=kind, cause=cause))
    assert len(hint.advice) <= 110
    assert "\n" not in hint.advice


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        pytest.param("KeyError", "'user_id'", id="the cause says all"),
        pytest.param("AssertionError", "expected 500 rows, got 429", id="numbers that are no statuses"),
        pytest.param("AssertionError", "run failed: exit status 127: sh: x: command not found", id="an assertion"),
        pytest.param("FileNotFoundError", "[Errno 2] No such file or directory: '/tmp/a'", id="another errno"),
        pytest.param("ValueError", "exit code 1", id="another exit code"),
        pytest.param("ValueError", "exit code 1271", id="a longer exit code"),
        pytest.param("OSError", "[Errno 113] No route to host", id="a longer errno"),
        pytest.param("", "", id="nothing"),
        pytest.param("ConnectionResetError", "[Errno 104] Connection reset by peer", id="a connection that was taken"),
        pytest.param("DatabaseError", "401 rows were expected", id="a number like one of authentication"),
        pytest.param("GitError", "git@example.com: Permission denied (publickey).", id="a key that was refused"),
        pytest.param("OSError", "[Errno 130] Owner died", id="a longer errno than that of permission"),
        pytest.param("ValueError", "found 404 duplicates", id="a number like that of a missing page"),
        pytest.param("AssertionError", "TimeoutError: timed out", id="a time-out that was expected"),
        pytest.param("ValueError", "timeout must be positive", id="a time-out as an option"),
        pytest.param("JSONDecodeError", "Expecting ',' delimiter: line 9 column 2 (char 90)", id="JSON with a fault"),
        pytest.param("SyntaxError", "Unexpected token '}'", id="code that is no JSON"),
    ],
)
def test_no_hint_where_it_adds_nothing(kind: str, cause: str):
    """Most failures get no hint."""
    assert hint_for(Facts(type=kind, cause=cause)) == ""


@pytest.mark.parametrize(("format", "is_given"), [("jest", False), ("javascript", True)])
def test_what_a_test_says_of_another_failure_gets_no_hint(format: str, is_given: bool):
    """What began the message is the failure; a program that says the same has failed of it."""
    said = Facts(type="Error", cause="upload failed: Request failed with status code 500", format=format)
    assert (hint_for(said) != "") == is_given
    assert hint_for(Facts(type="Error", cause="connect ECONNREFUSED 127.0.0.1:5432", format=format)) != ""


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        pytest.param("HTTP 503: down", "Retry-After: 30", id="header"),
        pytest.param("HTTP 503: down", "retryable: false, charged: false", id="fields"),
        pytest.param("HTTP 500: do not retry, the order was placed", "", id="sentence"),
        pytest.param("HTTP 429: slow down, try again in 20s", "", id="delay"),
        pytest.param("HTTP 502: timed out; nothing was charged", "", id="what was done"),
    ],
)
def test_no_hint_on_retrying_where_the_server_speaks_of_it(cause: str, line: str):
    """What a server says of a retry is shown as it is; a general rule beside it might contradict it."""
    assert hint_for(Facts(type="APIError", cause=cause.partition(":")[0])) != ""
    assert hint_for(Facts(type="APIError", cause=cause, details=(line,))) == ""


def test_what_may_have_taken_effect_is_not_to_be_retried():
    """The notice beside it says to check first."""
    failed = Facts(type="APIError", cause="HTTP 504: gateway timed out")
    assert hint_for(failed).endswith(": wait, then retry a few times at most")
    assert hint_for(failed, may_retry=False) == ""


def test_another_hint_stays_where_the_server_speaks_of_retrying():
    """Only hints on retrying give way."""
    told = Facts(type="Error", cause="connect ECONNREFUSED 127.0.0.1:5432, will retry in 5s")
    assert "nothing accepts connections" in hint_for(told)


@pytest.mark.parametrize(
    ("kind", "cause", "word"),
    [
        pytest.param("RateLimitError", "Error code: 429 - insufficient_quota", "quota", id="quota before rate limit"),
        pytest.param(
            "BadRequestError", "429 Too Many: context_length_exceeded", "shorten", id="length before rate limit"
        ),
        pytest.param("bash", "timeout: exited with code 124", "time", id="exited with code"),
        pytest.param("HTTPError", "HTTP Error 504: Gateway Timeout", "not available", id="HTTP Error"),
        pytest.param("Error", "Process exited with signal SIGKILL", "memory", id="signal"),
    ],
)
def test_narrower_hint_comes_first(kind: str, cause: str, word: str):
    """Where several hints apply, the one further up in the table is given."""
    assert word in hint_for(Facts(type=kind, cause=cause))


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["exit ", "HTTP", "code ", "a", "Errno ", "JSONDecodeError: Expecting value"])
def test_hostile_cause_costs_little(unit: str):
    """A cause of any length is looked at within its first part only."""
    facts = Facts(type="ValueError", cause=unit * 100_000)

    assert costs_little(lambda: hint_for(facts))
