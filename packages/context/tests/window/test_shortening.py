from __future__ import annotations

import json
import re
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.window.shortening import shorten, shorten_arguments
from tests.clock import grows_linearly, processor_seconds

MARK = re.compile(r"\[\.\.\. [0-9,]+ characters cut \.\.\.\]")
ANY_TEXT = st.text(st.characters(), max_size=3_000)


def count_words(text: str) -> int:
    """Another way to count: a token for each word, and one for each other character that is not a space."""
    return len(re.findall(r"\w+|[^\w\s]", text))


COUNTERS = [
    pytest.param(estimate_tokens, id="estimated"),
    pytest.param(count_words, id="words"),
    pytest.param(lambda text: len(text.encode("utf-8", "surrogatepass")), id="bytes"),
]
LOG = "".join(f"line {number} of the log\n" for number in range(1_000))


def test_head_and_tail_stay_in_whole_lines_and_the_cut_is_seen() -> None:
    """What was asked for stands at the head, how it ended at the tail."""
    assert shorten(LOG, 40, estimate_tokens) == (
        "line 0 of the log\n"
        "line 1 of the log\n"
        "line 2 of the log\n"
        "line 3 of the log\n"
        "[... 19,778 characters cut ...]\n"
        "line 998 of the log\n"
        "line 999 of the log\n"
    )


def test_one_long_line_is_cut_in_its_middle() -> None:
    """Minified files and data have no line ends."""
    text = shorten("ab" * 5_000, 16, estimate_tokens)
    assert re.fullmatch(r"(ab)+a? \[\.\.\. 9,9\d\d characters cut \.\.\.\] b?(ab)+", text)


def test_a_text_within_the_budget_is_the_very_text() -> None:
    """Nothing is copied."""
    assert shorten(LOG, 100_000, estimate_tokens) is LOG


def test_a_budget_too_small_for_anything_leaves_the_mark() -> None:
    """A reader always sees that there was something."""
    assert shorten(LOG, 1, estimate_tokens) == "[... 19,890 characters cut ...]"


@pytest.mark.parametrize("count_tokens", COUNTERS)
def test_the_budget_is_used(count_tokens) -> None:
    """Most of what may stay does, however tokens are counted."""
    assert 350 <= count_tokens(shorten(LOG, 500, count_tokens)) <= 500


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x " * 400 + "世" * 100_000 + " x" * 400, id="dense in the middle"),
        pytest.param("世" * 400 + "x " * 100_000 + "界" * 400, id="dense at the ends"),
    ],
)
def test_the_budget_is_used_where_text_is_not_even(text: str) -> None:
    """The ends of a text may cost more or less than the mean of it."""

    def count_tokens(text: str) -> int:
        return sum(1 if character > "\u2e80" else 0.25 for character in text).__ceil__()

    assert 300 <= count_tokens(shorten(text, 500, count_tokens)) <= 500


@pytest.mark.parametrize("count_tokens", COUNTERS)
@given(text=ANY_TEXT, max_tokens=st.integers(12, 400))
def test_what_stays_is_within_the_budget_and_from_both_ends(count_tokens, text: str, max_tokens: int) -> None:
    """The mark alone says what is missing between them, to the character."""
    shorter = shorten(text, max_tokens, count_tokens)
    if count_tokens(text) <= max_tokens:
        assert shorter == text
        return
    marks = [found for found in MARK.finditer(shorter) if _is_the_cut(found, shorter, text)]
    assert len(marks) >= 1
    assert count_tokens(shorter) <= max_tokens or shorter == marks[0].group()


def _is_the_cut(found: re.Match[str], shorter: str, text: str) -> bool:
    head, tail = shorter[: found.start()], shorter[found.end() :]
    cut = int(re.sub(r"\D", "", found.group()))
    return any(
        text.startswith(inner_head)
        and text.endswith(inner_tail)
        and len(inner_head) + cut + len(inner_tail) == len(text)
        for inner_head in (head, head[:-1])
        for inner_tail in (tail, tail[1:])
    )


@given(text=ANY_TEXT, max_tokens=st.integers(12, 400))
def test_shortening_again_changes_nothing(text: str, max_tokens: int) -> None:
    """What is within its budget stays."""
    shorter = shorten(text, max_tokens, estimate_tokens)
    assert shorten(shorter, max_tokens, estimate_tokens) == shorter


@pytest.mark.parametrize(
    "character",
    [
        pytest.param("e\u0301", id="letter and accent"),
        pytest.param("\ud83d\ude00", id="two halves of a surrogate pair"),
        pytest.param("👩\u200d👩\u200d👧", id="a family"),
        pytest.param("👋🏽", id="a hand of some colour"),
    ],
)
def test_no_character_is_cut_in_two(character: str) -> None:
    """What is read as one stays one, at every place where a cut may fall."""
    for before in range(8):
        shorter = shorten("x" * before + character * 1_000, 30, estimate_tokens)
        head, tail = MARK.split(shorter)
        assert head.strip().lstrip("x").replace(character, "") == ""
        assert tail.strip().replace(character, "") == ""


def test_a_character_of_thousands_of_marks_is_cut_all_the_same() -> None:
    """No text can keep itself whole."""
    assert estimate_tokens(shorten("a" + "\u0301" * 100_000, 100, estimate_tokens)) <= 100


def test_arguments_stay_an_object_of_the_same_names() -> None:
    """Only long strings are shortened; the rest stays as it was written."""
    arguments = (
        '{"path": "a.py", "content": ' + json.dumps(LOG) + ', "mode": 1e300, "path": "\\u0061", "deep": [{"x": "y"}]}'
    )
    assert shorten_arguments(arguments, 60, estimate_tokens) == (
        '{"path": "a.py", "content": "line 0 of the log\\nline 1 of the log\\nline 2 of the log\\n'
        '[... 19,816 characters cut ...]\\nline 999 of the log\\n"'
        ', "mode": 1e300, "path": "\\u0061", "deep": [{"x": "y"}]}'
    )


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param('{"path": "a.py"}', id="within the budget"),
        pytest.param('{"content": "' + "x" * 10_000, id="not finished"),
        pytest.param('["' + "x" * 10_000 + '"]', id="no object"),
        pytest.param("x" * 10_000, id="no JSON"),
        pytest.param('{"a":' * 100_000, id="nested without an end"),
        pytest.param('{"numbers": [' + ",".join("1234567890" for _ in range(1_000)) + "]}", id="no strings"),
        pytest.param('{"' + "x" * 10_000 + '": 1}', id="a long name"),
        pytest.param('{"number": ' + "1" * 10_000 + "}", id="a long number"),
    ],
)
def test_arguments_that_cannot_be_shortened_are_the_very_text(arguments: str) -> None:
    """A call whose arguments are no object any more would be refused by its provider."""
    assert shorten_arguments(arguments, 50, estimate_tokens) is arguments


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.text(min_size=100, max_size=500),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=80), inner, max_size=4)
    ),
    max_leaves=6,
)


@settings(max_examples=max(settings().max_examples // 4, 10))
@given(
    value=st.dictionaries(st.text(max_size=80), JSON, max_size=4),
    max_tokens=st.integers(1, 300),
    ascii_only=st.booleans(),
)
def test_shortened_arguments_differ_in_long_strings_alone(value, max_tokens: int, ascii_only: bool) -> None:
    """Whatever the object is, it is read back with its names and its other values, and never costs more."""
    arguments = json.dumps(value, ensure_ascii=ascii_only)
    shorter = shorten_arguments(arguments, max_tokens, estimate_tokens)
    assert estimate_tokens(shorter) <= estimate_tokens(arguments)
    _differ_in_long_strings_alone(json.loads(arguments), json.loads(shorter))


def _differ_in_long_strings_alone(before, after) -> None:
    if isinstance(before, dict):
        assert list(before) == list(after)
        for key in before:
            _differ_in_long_strings_alone(before[key], after[key])
    elif isinstance(before, list):
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            _differ_in_long_strings_alone(one, other)
    elif isinstance(before, str) and len(json.dumps(before)) > 64:
        assert before == after or MARK.search(after)
    else:
        assert before == after or (before != before and after != after)  # noqa: PLR0124 - no number


@pytest.mark.cost
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 3_000_000, id="one line"),
        pytest.param("\n" * 3_000_000, id="empty lines"),
        pytest.param("\u0301" * 3_000_000, id="marks"),
    ],
)
def test_a_huge_text_is_shortened_at_once(text: str) -> None:
    """No pass over the text but the counter's own."""
    whole = processor_seconds(lambda: max(text))
    assert processor_seconds(lambda: shorten(text, 500, partial(estimate_tokens)), runs=3) < whole


@pytest.mark.cost
@pytest.mark.parametrize("character", [pytest.param('"', id="quotes"), pytest.param("\\", id="backslashes")])
def test_huge_arguments_are_shortened_in_linear_time(character: str) -> None:
    """No expression tries twice."""

    def work(size: int):
        arguments = json.dumps({"content": character * size, "other": [character * 20] * (size // 100)})
        return lambda: shorten_arguments(arguments, 500, estimate_tokens)

    assert grows_linearly(work, small=20_000)
