"""Calls that a model asks for: found, or refused with what the model needs to do better."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from otel_errcompact.boundary.requested import MAX_NAMES, Misfit, Requested, find_requested, why_no_json


def price(item: str, count: int = 1) -> str:
    return item * count


def anything(**_: Any) -> None:
    pass


TOOLS: Any = {"price": price, "anything": anything, "dict": dict, "next": next}


def test_a_call_that_fits_is_found():
    """Nothing written counts as no arguments; what has no signature is called as it is."""
    assert find_requested(TOOLS, "price", '{"item": "tea"}') == Requested(price, {"item": "tea"})
    assert find_requested(TOOLS, "anything", "") == Requested(anything, {})
    assert find_requested(TOOLS, "anything", '{"x": 1}') == Requested(anything, {"x": 1})
    assert find_requested(TOOLS, "dict", '{"x": 1}') == Requested(dict, {"x": 1})


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "text"),
    [
        ("prize", "{}", "UnknownTool", "unknown tool 'prize'; known tools: price, anything, dict, next"),
        (
            "price",
            '{"item": "tea" "count": 2}',
            "InvalidArguments",
            (
                "bad JSON arguments: Expecting ',' delimiter: line 1 column 16 (char 15); "
                'before it: {"item": "tea" ; from there: "count": 2}'
            ),
        ),
        (
            "price",
            '{"item": "tea',
            "InvalidArguments",
            (
                "bad JSON arguments: Unterminated string starting at: line 1 column 10 (char 9); "
                'before it: {"item": ; from there: "tea'
            ),
        ),
        (
            "price",
            '{"item": "tea"',
            "InvalidArguments",
            (
                "bad JSON arguments: Expecting ',' delimiter: line 1 column 15 (char 14); "
                'the arguments end there: {"item": "tea"'
            ),
        ),
        (
            "price",
            "tea",
            "InvalidArguments",
            "bad JSON arguments: Expecting value: line 1 column 1 (char 0); before it: nothing; from there: tea",
        ),
        ("price", "[1]", "InvalidArguments", "bad JSON arguments: expected an object, got list"),
        ("price", "[" * 100_000, "InvalidArguments", "bad JSON arguments: they nest too deeply"),
        (
            "price",
            '{"thing": 1}',
            "ValidationError",
            (
                "2 validation errors for price\nitem\n  Field required [type=missing_argument]\n"
                "thing\n  Unexpected keyword argument [type=unexpected_keyword_argument]"
            ),
        ),
        (
            "price",
            "{}",
            "ValidationError",
            "1 validation error for price\nitem\n  Field required [type=missing_argument]",
        ),
    ],
)
def test_a_call_that_does_not_fit_says_why(name: str, arguments: str, kind: str, text: str):
    """In words that name what was wrong, and where."""
    assert find_requested(TOOLS, name, arguments) == Misfit(kind, text)


def test_long_arguments_and_many_tools_are_cut():
    """What surrounds the fault is enough."""
    found = find_requested(TOOLS, "price", f'{{"item": "{"a" * 100}" "b": "{"c" * 100}"}}')
    assert isinstance(found, Misfit)
    assert f'; before it: ...{"a" * 28}" ; from there: "b": "{"c" * 24}...' in found.text
    many = {f"tool{number}": price for number in range(MAX_NAMES + 2)}
    assert find_requested(many, "x", "{}").text.endswith(f"tool{MAX_NAMES - 1} and 2 more")  # type: ignore[union-attr]
    assert find_requested({}, "x", "{}") == Misfit("UnknownTool", "unknown tool 'x'; known tools: none")


def test_numbers_of_thousands_of_digits_are_refused():
    """Python reads no such number."""
    digits = "1" * (sys.get_int_max_str_digits() + 1)
    found = find_requested(TOOLS, "price", f'{{"item": {digits}}}')
    assert isinstance(found, Misfit)
    assert found.text.startswith("bad JSON arguments: Exceeds the limit")


def test_arguments_that_are_json_have_no_fault():
    """Nor has what is no text."""
    assert why_no_json(json.dumps({"a": 1})) == ""
    assert why_no_json({"a": 1}) == ""
    assert why_no_json("") == ""
    assert why_no_json("{").startswith("Expecting property name")
