"""Which failures leave open whether the call took effect."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.kinds import MAX_CAUSE, kind_of
from otel_errcompact.detector.outcomes import is_outcome_unknown
from otel_errcompact.errors import Facts, RawError
from tests.clock import costs_little


def is_unknown(text: str, *, exit_code: int | None = None) -> bool:
    raw = RawError(text=text, tool="pay", exit_code=exit_code)
    return is_outcome_unknown(raw, classify(raw).facts)


ROWS = [json.loads(line) for line in Path(__file__).with_name("outcomes.jsonl").read_text("utf-8").splitlines()]
"""Failures labelled by one who had not read the rule; the half `unseen` by those who tuned it."""

TRACE = 'Traceback (most recent call last):\n  File "/app/tool.py", line 7, in pay\n    answer = post()\n'


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        (f"{TRACE}TimeoutError: read timed out after 30 s while charging card tok_9", None),
        (f"{TRACE}requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out.", None),
        (f"{TRACE}subprocess.TimeoutExpired: Command '['deploy']' timed out after 30 seconds", None),
        (f"{TRACE}ConnectionResetError: [Errno 104] Connection reset by peer", None),
        (f"{TRACE}httpx.HTTPStatusError: Server error '504 Gateway Timeout' for url 'https://x.test'", None),
        ("rpc error: code = DeadlineExceeded desc = context deadline exceeded", None),
        ("Error: socket hang up", None),
        ("Error: ESOCKETTIMEDOUT", None),
        ("rpc error: code = Unavailable desc = error reading from server: read: connection reset by peer", None),
        (f"{TRACE}requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'x'))", None),
        ('I/O error on POST request for "https://pool.acquire.test/a": Read timed out', None),
        ("ERROR 2013 (HY000): Lost connection to MySQL server during query", 1),
        (
            'Post "http://x.test/a": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
            1,
        ),
        ("HTTP Error 500: Internal Server Error", None),
        ("uploaded 3 of 9 files", 124),
        ("uploaded 3 of 9 files", 143),
        ("go: deploy failed: signal: killed", 1),
    ],
)
def test_an_answer_that_did_not_come_says_nothing_of_the_work(text: str, exit_code: int | None) -> None:
    """The request was sent, or the command ran, before the end."""
    assert is_unknown(text, exit_code=exit_code)


@pytest.mark.parametrize(
    "text",
    [
        f"{TRACE}ConnectionRefusedError: [Errno 111] Connection refused",
        f"{TRACE}requests.exceptions.ConnectTimeout: HTTPSConnectionPool(host='x', port=443): Max retries exceeded",
        f"{TRACE}sqlite3.OperationalError: database is locked",
        f"{TRACE}psycopg2.errors.DeadlockDetected: deadlock detected",
        "dial tcp 10.0.0.1:443: i/o timeout",
        "net/http: TLS handshake timeout",
        "curl: (28) Failed to connect to api.test port 443 after 30001 ms: Connection timed out",
        "canceling statement due to lock timeout",
        "QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00",
        "timed out waiting for a free connection",
        'Get "https://x.test/v2/": request canceled while waiting for connection (Client.Timeout exceeded)',
        "HikariPool-1 - Connection is not available, request timed out after 30002ms.",
        "An attempt by a client to checkout a Connection has timed out.",
        "Knex: Timeout acquiring a connection. The pool is probably full.",
        "HTTP Error 503: Service Unavailable",
        "Error code: 429 - {'error': {'message': 'request timed out in the rate limiter'}}",
        "the model is warming up",
    ],
)
def test_a_step_before_the_work_is_no_outcome(text: str) -> None:
    """Nothing was begun, or the work was taken back."""
    assert not is_unknown(text)


@pytest.mark.parametrize("text", ["Error: ETIMEDOUT", "Connection timed out", "Try again later"])
def test_where_the_words_do_not_say_which_nothing_is_claimed(text: str) -> None:
    """While connecting, or later: both are called so."""
    assert not is_unknown(text)


def test_a_status_decides_alone() -> None:
    """What stands beside it is the server's words."""
    assert is_unknown("HTTP 502: connection refused")
    assert not is_unknown("HTTP 503: upstream timed out")


def test_what_is_quoted_is_no_statement() -> None:
    """It is a value that the message names."""
    assert not is_unknown("the answer was 'the read timed out'")


@given(st.text(max_size=400))
def test_any_text_is_judged(text: str) -> None:
    """Without an error."""
    is_outcome_unknown(RawError(text=text), Facts(type=text[:50], cause=text))


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["connect to ", "timed-", "deadline has been ", "for a ", "connection was "])
def test_a_long_cause_is_judged_in_a_moment(unit: str) -> None:
    """Of any cause only the beginning is read."""
    facts = Facts(type=unit * 10_000, cause=unit * (10 * MAX_CAUSE))
    assert costs_little(lambda: is_outcome_unknown(RawError(text=""), facts))


def test_failures_labelled_by_another() -> None:
    """Of the transient ones most that are open are told so, and few of those that were not done."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    for row in ROWS:
        message = row["text"] if row["type"] else ""
        raw = RawError(**{name: row[name] for name in ("text", "tool", "type", "exit_code")}, message=message)
        facts = classify(raw).facts
        if kind_of(raw, facts).transient:
            counts[row["half"], row["label"], is_outcome_unknown(raw, facts)] += 1
    assert counts["unseen", "open", True] >= 22
    assert counts["unseen", "open", False] <= 6
    assert counts["unseen", "not_done", False] >= 19
    assert counts["unseen", "not_done", True] <= 3
    assert counts["seen", "open", True] >= 26
    assert counts["seen", "open", False] <= 1
    assert counts["seen", "not_done", False] >= 26
    assert counts["seen", "not_done", True] <= 2
