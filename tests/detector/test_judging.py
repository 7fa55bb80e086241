"""The laws of judging: of any text, in a moment, and what looks whether it is worth it overlooks no failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from otel_errcompact.detector import hidden as recognise
from otel_errcompact.detector import refusals, results
from otel_errcompact.detector.hidden import MAX_LOOKED_AT
from otel_errcompact.detector.results import classify_result, may_have_failed
from otel_errcompact.extract.format import Sign
from otel_errcompact.extract.table import listings
from tests.clock import costs_little

CORPUS = sorted((Path(__file__).parents[2] / "corpus").rglob("*.txt"))
TOOLS = [
    ("bash", '{"command": "make"}'),
    ("bash", "cat a.py"),
    ("read_file", '{"path": "a.py"}'),
    ("grep", ""),
    ("query", "{}"),
    ("", ""),
]


@given(st.text(), st.text(), st.text(), st.none() | st.booleans(), st.none() | st.integers())
def test_any_result_is_judged(text: str, tool: str, arguments: str, flagged: bool | None, exit_code: int | None):
    """Judging raises for nothing, only a failure can be detected, and a success needs no reason."""
    verdict = classify_result(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)
    assert verdict.outcome in {"failure", "success", "ignored"}
    assert verdict.outcome == "failure" or not verdict.detected
    assert verdict.outcome != "success" or not verdict.reason


def test_long_output_is_searched_at_both_ends():
    """Of a very long result the first and the last part are searched."""
    traceback = "x\nTraceback (most recent call last):\n  x\nKeyError: 1"
    filler = "y\n" * MAX_LOOKED_AT
    assert classify_result(f"{traceback}\n{filler}", tool="bash").detected
    assert classify_result(f"{filler}{traceback}\nz", tool="bash").detected
    assert not classify_result(f"{filler}{traceback}\n{filler}", tool="bash").detected


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "\r\n", "a\n", "a:1:", "a: ", "= ", "1 ", "FAILED ", "Exit", "<", "(no output)"]
)
def test_hostile_result_costs_little(unit: str):
    """A megabyte of anything is judged in a fraction of a second."""
    text = unit * (1_000_000 // len(unit))
    assert costs_little(lambda: classify_result(text, tool="bash", arguments="make"))
    assert costs_little(lambda: classify_result(text, exit_code=1, tool="bash", arguments="grep x"))


@pytest.mark.cost
@pytest.mark.parametrize("label", ["[Exit", "Wall time:", "Output:", "Chunk ID:"])
def test_a_line_of_labels_takes_no_longer_than_others(label: str):
    """Each label may have stood for the rest of the line, which was tried in all combinations: 20 took minutes."""
    text = f"{label} a " * 60 + "\nnothing else"
    assert costs_little(lambda: classify_result(text, tool="bash", arguments="make"))


def test_recorded_tool_errors(shared_data: Path):
    """In a recorded run all failures are found, and they are as many as a reader counted."""
    runs = json.loads((shared_data / "transcripts/openai_chat_taubench/gpt-4o-airline.json").read_text())
    said = [message for run in runs for message in run["traj"] if message["role"] == "tool"]
    failures = [each for each in said if classify_result(each["content"], tool=each["name"]).outcome == "failure"]
    assert len(said) == 1164
    assert len(failures) == 73


def overlooked(text: str, tool: str, arguments: str) -> bool:
    """Whether a failure would not have been judged."""
    worth_it = may_have_failed(text, tool=tool, arguments=arguments)
    return not worth_it and classify_result(text, tool=tool, arguments=arguments).outcome == "failure"


@pytest.mark.parametrize(("tool", "arguments"), TOOLS)
def test_no_failure_of_a_real_tool_is_overlooked(tool: str, arguments: str) -> None:
    """Whatever the tool is called that said it."""
    texts = [path.read_text("utf-8", "replace") for path in CORPUS]
    assert len(texts) > 400
    assert [text[:80] for text in texts if overlooked(text, tool, arguments)] == []


SIGNS = [*(sign for listing in listings() for sign in listing.signs), *recognise._SIGNS]


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: sign.pattern[:40])
def test_no_sign_of_a_failure_is_overlooked(sign: Sign) -> None:
    """Each text with a sign holds one of its words."""

    @settings(max_examples=3, deadline=None, database=None, phases=[Phase.generate])
    @given(st.from_regex(rf"\A(?:{sign.pattern})"))
    def check(text: str) -> None:
        assert any(word in f"\n{text.lower()}" for word in sign.words)
        assert not overlooked(text, "bash", "")

    check()


@given(
    st.one_of(
        *(st.from_regex(form.pattern) for form in (refusals.SAID_BY_TOOL, recognise._LAST_WORDS)),
        st.from_regex(results._EXIT_CODE.pattern),
        st.sampled_from(
            ['{"isError": true, "error": "x"}', '{"ok": false, "msg": "x"}', '{"status": "failed", "msg": 1}']
        ),
    ),
    st.sampled_from(TOOLS),
)
def test_no_words_of_a_tool_are_overlooked(text: str, call: tuple[str, str]) -> None:
    """Nor do shells, harnesses and JSON answers say that they failed in other words."""
    assert not overlooked(text, *call)
