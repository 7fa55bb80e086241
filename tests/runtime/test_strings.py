"""Strings that are looked for in texts."""

from __future__ import annotations

from otel_errcompact.runtime.strings import has_any


def test_one_of_several_strings_is_enough() -> None:
    """No pattern is needed to tell whether a text holds one of them."""
    assert has_any("the quota is used up", ("retry", "quota"))
    assert not has_any("the quota is used up", ("retry", "limit"))
    assert not has_any("the quota is used up", ())
