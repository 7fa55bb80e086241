"""Where an answer begins behind the progress of a script."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.cleaning.answers import MAX_ANSWER, answer_of
from tests.clock import costs_little

ANSWER = '{"error": {"code": "order_not_found", "message": "No such order"}}'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param(f"+ curl -s shop\n{ANSWER}", ANSWER, id="JSON"),
        pytest.param(f"step 1\n[{ANSWER}]", f"[{ANSWER}]", id="list"),
        pytest.param("step 1\n<!doctype html>\n<p>x</p>", "<!doctype html>\n<p>x</p>", id="page"),
        pytest.param(f"step 1\nHTTP/1.1 404 Not Found\n\n{ANSWER}", f"HTTP/1.1 404 Not Found\n\n{ANSWER}", id="head"),
        pytest.param(
            "HTTP/1.1 301 Moved\nlocation: /x\n\nHTTP/1.1 404 Not Found\n\nno",
            "HTTP/1.1 404 Not Found\n\nno",
            id="last",
        ),
    ],
)
def test_answer_behind_progress(text: str, answer: str):
    """Commands and progress before an answer are left out; of several answers the last one counts."""
    assert answer_of(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ANSWER, id="nothing before"),
        pytest.param(f"error: cannot reach the shop\n{ANSWER}", id="failure told before"),
        pytest.param(f"{ANSWER}\n{ANSWER}", id="records"),
        pytest.param(f"step 1\n{ANSWER}\n{ANSWER}", id="records behind progress"),
        pytest.param("step 1\n{broken}", id="no JSON"),
        pytest.param("step 1\n" + "[{" * 40_000 + "}]", id="too long"),
        pytest.param("step 1\nall done", id="no answer"),
    ],
)
def test_other_texts_stay(text: str):
    """What tells of a failure by itself, or does not end with an answer, is left alone."""
    assert answer_of(text) == text


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["\n{", "\nHTTP/1", "x\n[{", "\n<html"])
def test_hostile_text_costs_little(unit: str):
    """A text of many beginnings is read in linear time."""
    text = "a" + unit * (MAX_ANSWER // len(unit)) + "}"
    assert costs_little(lambda: answer_of(text))


def test_logs_of_github_are_read_without_their_stamps():
    """The time before each line of a recorded job makes no other class."""
    plain = "src/a.c:3:5: error: 'x' undeclared\nmake: *** [Makefile:3: a.o] Error 1"
    stamped = "\n".join(f"build\tcompile\t2026-01-02T03:04:05.1234567Z {line}" for line in plain.split("\n"))
    assert classify(RawError(text=stamped)).key == classify(RawError(text=plain)).key


def test_envelope_behind_progress_is_opened():
    """A result of a tool protocol is opened also where a status follows it."""
    wrapped = json.dumps({"content": [{"type": "text", "text": "Unknown tool: resreve"}], "isError": True})
    keys = {classify(RawError(text=text)).key for text in (wrapped, f"{wrapped}\n\nExit code: 1", f"step 1\n{wrapped}")}
    assert len(keys) == 1
