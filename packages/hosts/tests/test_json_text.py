"""Changes of JSON files that keep all else byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.json_text import JsonText

SETTINGS = """{
    // what the user wrote
    "model": "opus",
    "hooks": {
        "Stop": [{"command": "beep"}]
    }, /* and more */
    "env": {},
}
"""


def test_a_member_is_added_last_in_the_style_of_its_object() -> None:
    """Comments, the indentation of four and the trailing comma stay."""
    changed = JsonText(SETTINGS).set(("hooks", "PreToolUse"), [{"type": "http"}])
    assert (
        changed.text
        == """{
    // what the user wrote
    "model": "opus",
    "hooks": {
        "Stop": [{"command": "beep"}],
        "PreToolUse": [
            {
                "type": "http"
            }
        ]
    }, /* and more */
    "env": {},
}
"""
    )
    assert changed.remove(("hooks", "PreToolUse")).text == SETTINGS


def test_an_element_is_added_to_an_array_on_one_line() -> None:
    """It stays on that line but for its own lines."""
    changed = JsonText('{"a": [1, 2]}').append(("a",), {"b": 3})
    assert changed.text == '{"a": [1, 2, {"b": 3}]}'
    assert changed.remove(("a", 2)).text == '{"a": [1, 2]}'


def test_objects_on_the_way_are_made() -> None:
    """Also in an empty object, whose removal leaves it empty again."""
    changed = JsonText(SETTINGS).set(("env", "a", "b"), True)
    assert changed.get(("env",)) == {"a": {"b": True}}
    assert '    "env": {\n        "a": {\n            "b": true\n        }\n    },\n}\n' in changed.text
    assert changed.remove(("env", "a")).text == SETTINGS


@pytest.mark.parametrize("blank", ["", " \n", "// nothing yet\n", "\ufeff"])
def test_a_blank_text_is_an_empty_object(blank: str) -> None:
    """As hosts read an empty settings file."""
    assert JsonText(blank).root.value == {}
    assert JsonText(JsonText(blank).set(("a",), 1).text).root.value == {"a": 1}


def test_a_value_is_replaced() -> None:
    """The last of two members with one key, which is the one that counts."""
    assert JsonText('{"a": 1, "a": 2}').set(("a",), "x").text == '{"a": 1, "a": "x"}'


def test_lines_of_windows_stay_so() -> None:
    """What is added has the same line ends."""
    text = '{\r\n\t"a": 1\r\n}\r\n'
    changed = JsonText(text).set(("b",), {"c": 2})
    assert changed.text == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'
    assert changed.remove(("b",)).text == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1', "line 1, column 8: ',' or '}' was expected"),
        ('{\n  "a" 1}', "line 2, column 7: ':' was expected"),
        ("{a: 1}", "line 1, column 2: a key in double quotes, or '}' was expected"),
        ('{"a": }', "line 1, column 7: a value was expected"),
        ('{"a": "\\x"}', "line 1, column 7: a string without unknown escapes was expected"),
        ("{} {}", "line 1, column 4: the end of the file was expected"),
        ("[" * 200, "line 1, column 102: no more than 100 levels was expected"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(text: str, words: str) -> None:
    """The user has to find it."""
    with pytest.raises(ConfigurationError) as caught:
        JsonText(text, "settings.json")
    assert str(caught.value) == f"settings.json is no JSON: {words}"


@pytest.mark.parametrize(("change", "words"), [("set", "a is no object"), ("append", "a is no array")])
def test_what_is_of_another_kind_is_left_alone(change: str, words: str) -> None:
    """Nothing of the user's is replaced unasked."""
    path = ("a", "b") if change == "set" else ("a",)
    with pytest.raises(ConfigurationError, match=words):
        getattr(JsonText('{"a": "text"}'), change)(path, 1)


def test_what_is_not_there_is_not_removed() -> None:
    """Nothing changes."""
    assert JsonText(SETTINGS).remove(("hooks", "PostToolUse")).text == SETTINGS
    assert JsonText(SETTINGS).remove(("permissions", "deny")).text == SETTINGS


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', '{\n  "b": 2\n}'),
        ('{ /* c */ "a": 1, }', "{ /* c */  }"),
        ('{"a": 1}', "{}"),
        ('{"a": 1 }', "{ }"),
    ],
)
def test_the_first_member_goes_with_its_comma(text: str, left: str) -> None:
    """What is left is JSON."""
    assert JsonText(text).remove(("a",)).text == left


VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
OBJECTS: Any = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
STYLES: Any = st.sampled_from([None, 2, 4, "\t"])


@given(OBJECTS, STYLES, st.text(max_size=5), VALUES, st.booleans())
def test_what_was_added_goes_without_a_trace(
    document: dict[str, Any], indent: Any, key: str, value: Any, comma: bool
) -> None:
    """Whatever the file looks like, at every level of it."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    if comma and document:
        text = f"{text[:-1]},}}"
    places = [(), *((name,) for name, inner in document.items() if isinstance(inner, dict))]
    for place in places:
        path = (*place, key)
        if JsonText(text).find(path) is not None:
            continue
        changed = JsonText(text).set(path, value)
        assert changed.get(path) == value
        assert changed.remove(path).text == text
        assert {**changed.root.value, **document}.keys() == changed.root.value.keys()


@given(OBJECTS, STYLES, VALUES)
def test_an_added_element_goes_without_a_trace(document: dict[str, Any], indent: Any, value: Any) -> None:
    """Of every array in the file."""
    text = json.dumps(document, indent=indent)
    for name, inner in document.items():
        if isinstance(inner, list):
            changed = JsonText(text).append((name,), value)
            assert changed.get((name,)) == [*inner, value]
            assert changed.remove((name, len(inner))).text == text


@given(VALUES, STYLES)
def test_it_reads_what_json_reads(value: Any, indent: Any) -> None:
    """The same values, each at its place."""
    text = json.dumps(value, indent=indent)
    node = JsonText(text).root
    assert node.value == value
    assert text[node.start : node.end] == text
