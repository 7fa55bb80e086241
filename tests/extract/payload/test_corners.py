"""Corners of payloads: what is cut, empty, odd or said twice."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.payload.documents import read_outline, read_xml
from otel_errcompact.extract.payload.literals import parse
from otel_errcompact.extract.payload.logs import read_log
from otel_errcompact.extract.payload.validation import read_validation
from otel_errcompact.extract.payload.violation import Violation, describe
from otel_errcompact.extract.payload.walk import read_body
from tests.extract.reading import facts, key


def test_long_lines_stay_apart():
    """Values beside an error share a line as long as there is room."""
    body = read_body({"message": "no", "first": "a" * 90, "second": "b" * 90, "third": None, "fourth": True})
    assert body.details == (f"first: {'a' * 90}", f"second: {'b' * 90}, fourth: true")


def test_an_inner_error_without_room_for_its_context():
    """A long error of a list has its values in lines of their own."""
    body = read_body({"message": "no", "errors": [{"code": "A1", "message": "m" * 150, "row": "r" * 90}]})
    assert body.details == (f"A1: {'m' * 150}", f"row: {'r' * 90}")


def test_a_wrapper_that_repeats_its_error():
    """What a wrapper says again is dropped, also where it adds words."""
    said = {"message": "call failed: no seat is left", "response": {"code": "E1", "message": "no seat is left"}}
    assert read_body(said).details == ()


@pytest.mark.parametrize(
    ("message", "violations", "expected"),
    [
        ("qty is too low", [Violation("qty", "qty is too low")], ("qty is too low", ())),
        ("m" * 300, [Violation("a", "b" * 190)] * 2, (f"{'m' * 300}: a: {'b' * 190}", ())),
        (
            "m" * 300,
            [Violation("a", "b" * 190), Violation("c", "d" * 20)],
            ("m" * 300, (f"a: {'b' * 190}", f"c: {'d' * 20}")),
        ),
        ("no", [Violation("a", "b" * 150), Violation("c", "d" * 150)], (f"no: a: {'b' * 150}", (f"c: {'d' * 150}",))),
        ("", [Violation("a", rule="odd", got="1")], ("a: odd, got 1", ())),
        ("", [Violation("a")], ("a: invalid", ())),
        ("", [Violation("a", "is bad", got="7", expected="8")], ("a: is bad (got 7, expected 8)", ())),
    ],
)
def test_violations_in_a_line(message, violations, expected):
    """A violation is told once, with what was received and what is expected."""
    assert describe(message, violations) == expected


def test_values_in_lines():
    """Lists, flags and nothing have their own forms."""
    entry = {"field": "qty", "message": "is bad", "value": [1, 2], "allowed": ["a", "b"]}
    assert read_body([entry]).message == "qty: is bad (got 1, 2, expected a, b)"
    assert read_body([{"field": "on", "message": "is bad", "value": True}]).message == "on: is bad (got true)"
    assert read_body([{"field": "on", "message": "is bad", "value": None}]).message == "on: is bad"


def test_a_place_in_words_is_none():
    """Words beside a message name no field, unless they stand where fields do."""
    assert read_body([{"loc": "some words", "message": "is bad"}]).violations == ()
    assert read_body([{"field": "some words", "message": "is bad"}]).message == "some words: is bad"


def test_text_that_only_looks_like_data():
    """A text in braces that is no data stays a text."""
    assert read_body({"message": "{not data}"}).message == "{not data}"
    assert read_body({"message": "[x] failed"}).message == "[x] failed"
    assert parse("{'a': \x00'").value is not None


def test_lists_under_other_names():
    """Words and data beside an error are none."""
    assert read_body({"message": "no", "tags": ["a sentence of words"]}).details == ()
    assert read_body({"message": "no", "rows": ["a sentence of words"]}).details == ("rows: a sentence of words",)


@pytest.mark.parametrize("text", ["a:\n  - b: 1\n    c: 2\n  - d: 3\ne: 4", "a:\n  b:\n    - c\n  d: 1\nf: x"])
def test_nested_outlines(text):
    """Lists of objects and objects of lists are read."""
    assert set(read_outline(text)) in ({"a", "e"}, {"a", "f"})


def test_elements_left_open():
    """An element that is never closed ends with the one around it."""
    assert read_xml("<a><b><c>x</a>") == {"a": {"b": {"c": "x"}}}


def test_records_of_pairs_among_other_lines():
    """Half of the lines must be records, and a place may be missing."""
    assert read_log('{"level": {"name": "ERROR"}, "msg": "no", "ts": 1}').body.message == "no"
    record = '{"level": "error", "msg": "no", "ts": 1, "source": {"file": 7}, "caller": "x"}'
    assert read_log(record).location.file == ""
    assert read_log('level=error msg="no" ts=1\nlevel=').body.message == "no"


def test_schema_errors_in_long_texts():
    """A line of JSON Schema above others counts only with its rule."""
    assert read_validation("'x' is not of type 'integer'\nand more") is None


def test_log_with_a_stack_of_another_language():
    """The stack of a record gives place and type where the record has none."""
    stack = "panic: boom\\n\\ngoroutine 1 [running]:\\nmain.load()\\n\\t/srv/main.go:9 +0x1d\\nexit status 2"
    line = '{"level":"error","ts":1,"msg":"failed","stacktrace":"' + stack + '"}'
    found = facts(f'{{"level":"info","ts":1,"msg":"start"}}\n{line}')
    assert "main.go" in str(found.location)


def test_xml_of_no_error():
    """An element that is named after errors and holds none is left to others."""
    assert facts("<errors></errors>").format != "http"
    assert facts("<Error status='404'><Message>gone</Message></Error>").cause == "HTTP 404: gone"


def test_violations_with_a_code_of_their_own():
    """A code of JSON-RPC that is not about input stays, with the violations behind it."""
    error = {
        "code": -32603,
        "message": "Internal",
        "data": {"code": "E1", "errors": [{"field": "a", "message": "b c"}]},
    }
    found = facts(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}))
    assert found.type == "InternalError"
    assert "a: b c" in (found.cause, *found.details) or "a: b c" in found.cause


def test_errors_inside_errors_count_for_the_key():
    """Another code deep inside is another class, in words of a text as well."""
    deep = {"code": "E1", "message": "no", "details": [
        {"code": "E2", "message": '{"error": {"code": "E3", "message": "no more", "details": [{"code": "E4"}]}}'}
    ]}  # fmt: skip
    text = json.dumps(deep)
    assert key(text) != key(text.replace("E3", "E5"))
    assert key(text) == key(json.dumps(deep, indent=2))


def test_a_file_before_a_violation():
    """The name of a checked file stands before what is wrong in it."""
    text = (
        "api.yaml: Validation Error: 'version' is a required property\n\n"
        "Failed validating 'required' in schema['properties']['info']:\n    {'type': 'object'}\n\n"
        "On instance['info']:\n    {'title': 'depot'}"
    )
    found = facts(text)
    assert (found.type, found.cause) == (
        "ValidationError",
        "api.yaml: Validation Error: info: 'version' is a required property",
    )
    assert key(text) != key(text.replace("version", "paths"))
