"""Comparisons that failed, as a printed difference tells them."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.messages.comparison import Changes, read_changes


@pytest.mark.parametrize(
    ("lines", "expected", "changes"),
    [
        pytest.param(["+ actual - expected", "", "+ 4", "- 3"], "-", Changes(("3",), ("4",)), id="Node"),
        pytest.param(["+ expected - actual", "-4", "+3"], "+", Changes(("3",), ("4",)), id="Mocha"),
        pytest.param(
            ["- Expected  - 1", "+ Received  + 1", "  {", '-   "a": 1,', '+   "a": 2,', "  }"],
            "-",
            Changes(('"a": 1',), ('"a": 2',)),
            id="Jest",
        ),
        pytest.param(["- Expected: ", "null", "+ Received: ", "-null"], "-", Changes(("null",)), id="one value"),
        pytest.param(["", "4 !== 3", ""], "-", Changes(("3",), ("4",)), id="two numbers"),
    ],
)
def test_changes(lines, expected, changes):
    """The signs tell the lines of either value; what they mean differs from tool to tool."""
    assert read_changes(lines, expected=expected) == changes


def test_told():
    """A claim with both values is one line; of many changed lines the first are told."""
    many = Changes(("1", "2", "3", "4"), ("5",))
    assert many.told("equal") == "equal: expected 1, 2, 3, ..., actual 5"
    assert many.told("equal", actual="received").endswith("received 5")
    assert Changes().told("equal") == "equal"
