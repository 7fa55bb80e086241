"""The line beside a block goes wherever the block stands; beside other lines it is part of the text."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.cleaning.markup import strip_margins


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\n╷\n│ Error: b\n│ \n│   c\n╵\nd", "a\n╷\nError: b\n\n  c\n╵\nd", id="inside a text"),
        pytest.param("╷\n│ Error: b\n│ c", "╷\nError: b\nc", id="cut off"),
        pytest.param("a │ b\n│ c", "a │ b\n│ c", id="a table"),
        pytest.param("   ╷\n12 │ x\n   ╵", "   ╷\n12 │ x\n   ╵", id="a line of code"),
    ],
)
def test_margins(text, expected):
    """Corners stay, since they part the block from what stands beside it."""
    assert strip_margins(text) == expected
