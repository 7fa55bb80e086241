"""Decode the entities of HTML and XML."""

from __future__ import annotations

from otel_errcompact.runtime.forks import FORKS_WAIT


def unescape(text: str) -> str:
    """Return a text with its entities decoded."""
    if "&" not in text:
        return text
    with FORKS_WAIT:
        from html import unescape as decode  # a table of 2,000 names, for few texts
    return decode(text)
