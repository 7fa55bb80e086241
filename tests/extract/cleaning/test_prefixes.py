"""What stands before every line is taken off; what only some lines begin with is part of the text."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.cleaning.prefixes import strip_prefixes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "2026-11-22T02:10:27.1234567Z a\n2026-11-22T02:10:28.1Z\n2026-11-22T02:10:29Z   b", "a\n\n  b", id="runner"
        ),
        pytest.param("2026-11-22T02:10:27+01:00 a", "a", id="one line with a time"),
        pytest.param("web-1  | a\ndb-1   | b\nweb-1  |   c\nweb-1 exited with code 1", None, id="services"),
        pytest.param("@acme/web:test: a\n@acme/web:test: b\n@acme/web:test: c", "a\nb\nc", id="task"),
        pytest.param("[test-unit] a\n[lint] b\nFinished in 3 s", "a\nb\nFinished in 3 s", id="tasks"),
        pytest.param("[lint] a\n[lint] b\n< truncated lines 3-9 >\nc", "a\nb\n< truncated lines 3-9 >\nc", id="a cut"),
        pytest.param("web | a", "web | a", id="too few lines"),
        pytest.param(
            "web-1  | a\nweb-1  | b\nweb-1  | c\nd", "web-1  | a\nweb-1  | b\nweb-1  | c\nd", id="a line without"
        ),
        pytest.param("a\nb", "a\nb", id="no prefix"),
    ],
)
def test_prefixes(text, expected):
    """Time, service and task go only where all lines have them."""
    assert strip_prefixes(text) == (expected or "a\nb\n  c\nweb-1 exited with code 1")
