"""Which calls are identical."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.operation import (
    call_fingerprint,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            {"a": 1, "b": [1, {"x": None, "y": 2}]}, {"b": [1, {"y": 2, "x": None}], "a": 1}, id="order of keys"
        ),
        pytest.param({"a": "ä"}, '{ "a":"\\u00e4" }', id="spaces and escapes"),
        pytest.param("ls -l", "ls -l", id="text"),
        pytest.param(None, None, id="no arguments"),
        pytest.param({"at": complex(1, 2)}, {"at": complex(1, 2)}, id="a value that JSON does not know"),
    ],
)
def test_identical_calls(one, other):
    """
    Equal arguments give one fingerprint, however they were written.
    """
    assert call_fingerprint("query", one) == call_fingerprint("query", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("query", {"a": 1}), ("query", {"a": 2}), id="another value"),
        pytest.param(("query", {"a": 1}), ("query", {"a": "1"}), id="another type"),
        pytest.param(("query", {"a": 1}), ("update", {"a": 1}), id="another tool"),
        pytest.param(("query", {"a": 1}), ("query", {"a": 1}, "/app"), id="another directory"),
        pytest.param(("query", None), ("query", {}), id="no arguments and empty ones"),
        pytest.param(("bash", "ls"), ("bash", "ls -l"), id="another text"),
        pytest.param(("bash", "{ls"), ("bash", "{ls -l"), id="another text that looks like JSON"),
    ],
)
def test_other_calls(one, other):
    """
    Another tool or other arguments give another fingerprint.
    """
    assert call_fingerprint(*one) != call_fingerprint(*other)


def test_unknown_arguments_have_no_fingerprint():
    """
    Where arguments are unknown no two calls are surely identical.
    """
    assert call_fingerprint("query", None) == call_fingerprint("query", "") == ""


def test_fingerprint_is_known():
    """
    The fingerprint is sixteen hexadecimal characters, the same in every process.
    """
    assert call_fingerprint("query", {"a": 1}) == "65cc9de77f049d8a"


def test_arguments_without_a_form_are_never_identical():
    """
    Arguments that cannot be written down have a fingerprint of their own each, so that no call is taken for a repeat.
    """

    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    one, other = {"x": Hostile()}, {"x": Hostile()}

    assert call_fingerprint("query", one) != call_fingerprint("query", other)
    assert call_fingerprint("query", one) == call_fingerprint("query", one)


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers())))
def test_arguments_as_mapping_and_as_json_are_one(arguments: dict[str, object]):
    """
    It does not matter whether arguments come parsed or as JSON.
    """
    assert call_fingerprint("query", arguments) == call_fingerprint("query", json.dumps(arguments))
