"""Which whole answers of functions are one error value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.error_values import MAX_ANSWER, read_error_value
from tests.clock import costs_little

ROWS = [
    json.loads(line) for line in Path(__file__).with_name("error_values.jsonl").read_text("utf-8").split("\n") if line
]
"""What real clients raised or printed, and harmless answers that look alike."""

ERRORS = [row["raw"] for row in ROWS if row["is"]]


@pytest.mark.parametrize("row", ROWS, ids=[f"{number} {row['raw'][:40]!r}" for number, row in enumerate(ROWS, 1)])
def test_a_whole_answer_is_an_error_value_or_none(row: dict[str, str]) -> None:
    """As its row states; in doubt it is none."""
    assert read_error_value(row["raw"]) == row["is"]


@pytest.mark.parametrize("raw", [row["raw"] for row in ROWS if not row["is"]])
def test_space_around_an_answer_makes_no_error_of_it(raw: str) -> None:
    """Nor does it hide one: blank lines come from templates."""
    assert read_error_value(f"\n {raw}\n\n") == ""


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("no such column: amount", "a client's error"),
        ("404 Client Error: Not Found for url: https://x.test/a", "a client's error"),
        ("Connection error.", "a client's error"),
        ("KeyError: 'orders'", "an exception"),
    ],
)
@pytest.mark.parametrize(
    ("wrapped", "kind_of_wrapped"),
    [
        ("Error: {}", "an error statement"),
        ("ValueError: {}", "an exception"),
        ("Error executing tool query: {}", "a client's error"),
        ("Failed to run the query: {}", ""),
        ("<error>{}</error>", "an error statement"),
    ],
)
def test_what_names_an_error_as_its_reason_is_one(raw: str, kind: str, wrapped: str, kind_of_wrapped: str) -> None:
    """Whatever says that it failed counts by what it names: without a known reason it is a sentence."""
    assert read_error_value(wrapped.format(raw)) == (kind_of_wrapped or kind)


@pytest.mark.parametrize("wrap", [lambda text: [{"type": "text", "text": text}], lambda text: text, json.dumps])
def test_an_answer_in_parts_is_what_its_only_text_is(wrap) -> None:
    """Protocols send a text as a part, or as a string in JSON."""
    assert read_error_value(json.dumps(wrap("Error: no such order"))) == "an error statement"
    assert read_error_value(json.dumps(wrap("Errors: 0"))) == ""


@pytest.mark.parametrize("behind", ["\n\n300 rows written", "\nINFO: 300 rows written", "\n| a | b |", '\n{"rows": 3}'])
def test_an_error_before_an_answer_is_no_error_value(behind: str) -> None:
    """Whoever answers after an error has answered."""
    rows = "\n".join(f"row {number}" for number in range(9))
    for start in (
        "Error: cache is cold",
        "KeyError: 'x'",
        "[Errno 2] No such file or directory: 'x'",
        '{"error": "x"}',
    ):
        assert read_error_value(f"{start}{behind}\n{rows}") == ""


@given(st.sampled_from(ERRORS), st.text(max_size=40))
def test_any_text_is_read_to_an_end(raw: str, noise: str) -> None:
    """Cut anywhere, with anything before or behind it, an answer gives a verdict."""
    for text in (raw[: len(noise)] + noise, noise + raw, raw + noise):
        assert isinstance(read_error_value(text), str)


def test_an_answer_above_the_bound_is_none() -> None:
    """What is that long is more than one error."""
    assert read_error_value("Error: no such order" + " " * MAX_ANSWER) == ""
    assert read_error_value(json.dumps({"error": "x" * MAX_ANSWER})) == ""


@pytest.mark.parametrize(
    "raw",
    [
        "Error: " * 9000,
        "Failed to run: " * 4000,
        "[" * 30_000 + "]" * 30_000,
        '{"error": ' + "[" * 20_000 + "]" * 20_000 + "}",
        "{'error': " + "[" * 1000 + "]" * 1000 + "}",
        '[{"type": "text", "text": ' * 2000 + "1" + "}]" * 2000,
        "Traceback (most recent call last):\n" + '  File "a"\n' * 6000,
        "connect " + "x" * 60_000,
        '(1146, "' + "'a'" * 20_000,
        "{'error': '" + "x" * 5_000 + "'}",
        "<status>completed</status>\n<exit_code>0</exit_code>\n<output><h1>504 Gateway Time-out</h1></output>",
        json.dumps(json.dumps(json.dumps(json.dumps(json.dumps("Error: no such user"))))),
    ],
)
def test_what_nests_or_repeats_is_none(raw: str) -> None:
    """Nobody reports an error so."""
    assert read_error_value(raw) == ""


@pytest.mark.cost
def test_an_ordinary_answer_costs_little() -> None:
    """Most are decided by how they begin."""
    answers = ["Your order was shipped on Monday.\n" * 1800, json.dumps([{"id": n, "name": "x"} for n in range(2400)])]
    assert costs_little(lambda: [read_error_value(answer) for answer in answers])
