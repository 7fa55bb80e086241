"""What is not worth judging: told for less than judging costs, and never of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from otel_errcompact.detector import hidden as recognise
from otel_errcompact.detector import refusals, results
from otel_errcompact.detector.results import classify_result, may_have_failed
from otel_errcompact.extract.format import Sign
from otel_errcompact.extract.table import listings

CORPUS = sorted((Path(__file__).parents[2] / "corpus").rglob("*.txt"))
TOOLS = [
    ("bash", '{"command": "make"}'),
    ("bash", "cat a.py"),
    ("read_file", '{"path": "a.py"}'),
    ("grep", ""),
    ("query", "{}"),
    ("", ""),
]


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


@settings(max_examples=60, deadline=None)
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


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        pytest.param("Traceback (most recent call last):\n", "read_file", id="a file"),
        pytest.param("a.py:3: raise ValueError('failed')\n", "grep", id="a search"),
        pytest.param("12 passed in 0.3s\n", "run_tests", id="the output of a program"),
        pytest.param("four rows", "query", id="an answer"),
    ],
)
def test_healthy_results_are_not_worth_judging(text: str, tool: str) -> None:
    """Files and search results may say what they like."""
    assert not may_have_failed(text, tool=tool)


def test_what_zsh_cannot_evaluate_is_judged() -> None:
    """It says in which line, between the name and the words."""
    assert not overlooked("(eval):1: no matches found: *.toml", "bash", '{"command": "make"}')


def test_a_huge_output_is_judged() -> None:
    """Judging looks at its ends alone, which costs less than looking through all of it."""
    assert may_have_failed("x" * 70_000, tool="bash")


def test_a_silent_result_is_judged() -> None:
    """An exit status may stand alone in it."""
    assert may_have_failed("", tool="read_file")
