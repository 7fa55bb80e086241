from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.digest.changes import shorten_known

HEAD = 20


@pytest.mark.parametrize(
    ("text", "before", "written"),
    [
        ("card 17 refused", "card 16 refused", "card 17 refused"),
        ("w" * 60, "w" * 60, "w" * 60),
        ("the bank has refused this card", "the bank has refused this card", "the bank has refused this card"),
        (
            "the bank has refused this card since its owner owes too much",
            "the bank has refused this card since its owner owes too much",
            "the bank has refused...",
        ),
        (
            "the bank has refused to pay what card 17 owes",
            "the bank has refused to pay what card 16 owes",
            "the bank has refused to pay what card 17 owes",
        ),
        (
            "the bank has refused to pay for all that card 17 owes",
            "the bank has refused to pay for all that card 16 owes",
            "the bank has refused ... 17 owes",
        ),
        (
            "the bank has refused 17 EUR since the owner of the card owes too much",
            "the bank has refused 16 EUR since the owner of the card owes too much",
            "the bank has refused 17...",
        ),
        (
            "17 banks have refused the card since its owner owes too much",
            "16 banks have refused the card since its owner owes too much",
            "17 banks have refused the card since its owner owes too much",
        ),
    ],
)
def test_long_stretches_of_known_words_are_left_out(text: str, before: str, written: str) -> None:
    """The head stays, and each word that differs; a cut is visible, and worth its mark."""
    assert shorten_known(text, before, HEAD) == written


@given(st.text("ab 1", max_size=120), st.text("ab 1", max_size=120))
def test_nothing_gets_longer_and_heads_stay(text: str, before: str) -> None:
    """Whatever the two lines have in common."""
    written = shorten_known(text, before, HEAD)
    assert len(written) <= len(text)
    assert written[: HEAD - 1].startswith(text[: HEAD - 1])
