"""Ids at the end leave the template."""

from __future__ import annotations

import pytest

from otel_errcompact.dedup.masking import mask
from otel_errcompact.dedup.tails import drop_tails


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("quota exceeded (tid: 2025082103291044)", "quota exceeded"),
        ("quota exceeded (pid 12)", "quota exceeded"),
        ("gone [request_id=abc123]", "gone"),
        ("denied. Request ID: 0f3a9b1c", "denied."),
        ("denied, trace: 0f3a9b1c2d", "denied"),
        ("denied - reference #12ab", "denied"),
        ("{'error': {'code': 'Busy'}, 'request_id': 'req_abc123'}", "{'error': {'code': 'Busy'}}"),
    ],
)
def test_an_optional_tail_is_dropped(text: str, template: str):
    """With and without its id a failure is one class."""
    assert drop_tails(mask(text)) == template
    assert drop_tails(template) == template


@pytest.mark.parametrize(
    "text", ["no user with id 5", "bad row (line 5)", "request_id=5", "(tid: 5)", "at line 12", "all is lost"]
)
def test_what_is_said_stays(text: str):
    """An id that the sentence is about is no tail."""
    assert drop_tails(mask(text)) == mask(text)


@pytest.mark.parametrize("unit", ["(", "(id: <id>), ", "a ", ", request id <id>", "- ", "[id "])
def test_tails_are_bounded(unit: str):
    """Only the end of a long template is read."""
    text = unit * 20_000 + "<id>"

    assert len(drop_tails(text)) > len(text) - 1_000
