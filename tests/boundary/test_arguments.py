"""The arguments of a call as text."""

from __future__ import annotations

import datetime as dt
import json
from json import encoder
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.boundary import arguments
from otel_errcompact.boundary.arguments import as_text

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(dt.date(2026, 1, 1))
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9)


@given(given_=st.dictionaries(st.text() | st.integers() | st.floats() | st.booleans(), _VALUES))
def test_arguments_are_written_as_json_writes_them(given_: dict[Any, Any]) -> None:
    """Character for character, unknown values by their `str`."""
    expected = json.JSONEncoder(default=str, ensure_ascii=False).encode(given_)
    assert as_text(given_) == expected


def test_without_an_encoder_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other Pythons have none; the text is the same."""
    monkeypatch.setattr(encoder, "c_make_encoder", None)
    assert arguments._make_encoder()({"a": ["\u00e9", dt.date(2026, 1, 1)]}) == '{"a": ["\u00e9", "2026-01-01"]}'


def test_what_cannot_be_written_is_unknown() -> None:
    """Cyclic arguments, or ones that nest too deeply."""
    cyclic: dict[str, object] = {}
    cyclic["itself"] = cyclic
    assert as_text(cyclic) == ""
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"deeper": deep}
    assert as_text(deep) == ""
