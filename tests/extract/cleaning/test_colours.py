"""What only colours part stays apart without them."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.cleaning.characters import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("is \x1b[31m29\x1b[m\x1b[32m346\x1b[m euro", "is [-29-]{+346+} euro", id="git --color-words"),
        pytest.param('"#\x1b[30;41m29\x1b[0m\x1b[30;42m34\x1b[0m5"', '"#[-29-]{+34+}5"', id="mocha"),
        pytest.param("\x1b[41ms\x1b[0mi\x1b[41m{}\x1b[0m", "[-s-]i[-{}-]", id="taken out of a word"),
        pytest.param("-\x1b[31ma\x1b[0m\n+\x1b[32ma\x1b[0m", "-\\x1b[31ma\\x1b[0m\n+\\x1b[32ma\\x1b[0m", id="equal"),
        pytest.param("-\x1b[31ma\x1b[0m\n+\x1b[32mb\x1b[0m", "-a\n+b", id="lines that differ"),
        pytest.param("\x1b[41m FAIL \x1b[49m x", " FAIL  x", id="a banner"),
        pytest.param("\x1b[41mError\x1b[0m: x", "Error: x", id="a title"),
        pytest.param("\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m", "F.", id="dots of a runner"),
        pytest.param("\x1b[31m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m", "1 failed, 2 passed", id="a tally"),
    ],
)
def test_a_change_that_colours_show(text: str, expected: str) -> None:
    """A change within a line has both sides; titles, dots and tallies lose their colours alone."""
    assert clean(text) == expected
