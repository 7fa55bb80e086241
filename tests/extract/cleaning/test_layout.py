"""Documents are laid out by what belongs together; nothing but what went well is left out."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.cleaning.layout import MAX_DOCUMENT, fold_document

LONG = "x" * 90


def test_a_name_stands_with_its_value():
    """An object stands in one line where that is not too long."""
    value = {"first": {"name": LONG, "count": 3}, "second": [LONG, LONG], "third": [[1], "é"]}
    assert fold_document(json.dumps(value, indent=1)).split("\n") == [
        "{",
        f'  "first": {{"name": "{LONG}", "count": 3}},',
        '  "second": [',
        f'    "{LONG}",',
        f'    "{LONG}"',
        "  ],",
        '  "third": [[1], "é"]',
        "}",
    ]


def test_items_that_went_well_are_left_out():
    """They stay where none says that it failed."""
    good, bad = {"success": True, "name": LONG}, {"success": False, "name": LONG}
    assert json.loads(fold_document(json.dumps([good, bad, bad, 1], indent=1))) == [bad, bad, 1]
    assert json.loads(fold_document(json.dumps([good, good, 1], indent=1))) == [good, good, 1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1}', id="one line"),
        pytest.param('{\n "a": 1', id="cut off"),
        pytest.param("{\n a\n}", id="no JSON"),
        pytest.param('{\n "a": "\\ud800"\n}', id="half a character"),
        pytest.param(f'{{\n "a": "{"x" * MAX_DOCUMENT}"\n}}', id="too long"),
    ],
)
def test_other_texts_stay(text):
    """What is no whole document is not touched."""
    assert fold_document(text) == text


def test_depth_is_bounded():
    """What stands deeper than any document stays in one line."""
    deep = "[\n" + "[" * 40 + f'"{LONG}", "{LONG}"' + "]" * 40 + "\n]"
    assert json.loads(fold_document(deep)) == json.loads(deep)
