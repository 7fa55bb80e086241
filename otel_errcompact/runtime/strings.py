"""Look for strings in texts, without regular expressions."""

from __future__ import annotations


def has_any(text: str, parts: tuple[str, ...]) -> bool:
    """Tell whether a text holds one of the strings."""
    for part in parts:  # noqa: SIM110 - a generator costs more than what it looks for
        if part in text:
            return True
    return False
