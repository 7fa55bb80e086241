"""The words that are looked for before the patterns of refusals."""

from __future__ import annotations

import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from otel_errcompact.detector import clauses, refusals
from otel_errcompact.detector.refusal_words import holds_word_of_refusal

NEEDING = {
    name: getattr(module, name)
    for module, names in (
        (refusals, ("TIMED_OUT", "_NO_SESSION", "_USAGE", "_STATEMENT", "_BARE", "_REFUSAL", "_SEARCH_FAILED")),
        (refusals, ("_OF_SEARCH", "_ERRNO", "_OF_TOOL", "UNABLE")),
        (clauses, ("_ALTERNATIVES",)),
    )
    for name in names
}
"""The patterns that are tried only where a text holds such a word."""


@pytest.mark.parametrize("name", NEEDING)
def test_each_pattern_needs_one_of_the_words(name: str) -> None:
    """Whatever a pattern matches holds a word, in letters of any size."""
    pattern = NEEDING[name]
    begun = re.compile(rf"\A(?:{pattern.pattern.removeprefix('(?i)')})", pattern.flags)

    @settings(max_examples=20, deadline=None, database=None, phases=[Phase.generate])
    @given(st.from_regex(begun))
    def check(text: str) -> None:
        assert holds_word_of_refusal(text)

    check()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\u0130nvalid query", id="a capital with a dot"),
        pytest.param("\u0131nvalid query", id="a small letter without its dot"),
        pytest.param("u\u017fage: price ITEM", id="a long s"),
        pytest.param("the tas\u212a timed out", id="the sign of a unit"),
    ],
)
def test_letters_that_patterns_take_for_others_are_known(text: str) -> None:
    """Patterns that do not tell capitals apart match some letters of other alphabets too."""
    assert holds_word_of_refusal(text)


@pytest.mark.parametrize(
    "text", ["tea: 2.40 EUR a cup, 12 left on the shelf", "Wrote 14 lines.", "Grüße aus Köln", "paid", ""]
)
def test_most_answers_hold_no_such_word(text: str) -> None:
    """Then no pattern is tried."""
    assert not holds_word_of_refusal(text)
