"""How fields are read that may be malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_lab.transcripts.records import Place, Record, as_json, parse_time

SECOND = 1_000_000_000


def refused(method, value):
    """Read a field of the wrong type; return what was read and what was said."""
    problems = []
    result = getattr(Record({"key": value}, Place("run.jsonl", 7, problems.append).inner("top")), method)("key")
    return result, [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("method", "value", "empty", "message"),
    [
        pytest.param("text", 7, "", "a text, not 7", id="text"),
        pytest.param("label", True, "", "a text, not true", id="label"),
        pytest.param("flag", "yes", None, 'true or false, not "yes"', id="flag"),
        pytest.param("flag", 0, None, "true or false, not 0", id="flag-as-number"),
        pytest.param("number", "fast", None, 'a number, not "fast"', id="number"),
        pytest.param("number", True, None, "a number, not true", id="number-as-flag"),
        pytest.param("number", float("inf"), None, "a number, not Infinity", id="infinite-number"),
        pytest.param("number", float("nan"), None, "a number, not NaN", id="not-a-number"),
        pytest.param("time", "yesterday", None, 'a time such as 2026-01-31T12:00:00Z, not "yesterday"', id="time"),
        pytest.param("prose", {"text": "x"}, "", "a text, not an object", id="prose"),
        pytest.param("items", {"a": 1}, [], "a list, not an object", id="items"),
    ],
)
def test_a_field_of_the_wrong_type_is_empty_and_reported(method, value, empty, message):
    """One message names file, line, the way to the field, what is wanted and what stands there."""
    assert refused(method, value) == (empty, [f"run.jsonl:7: top.key must be {message}; it is ignored"])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(1.5, id="fraction"),
        pytest.param("1e3", id="text"),
        pytest.param(True, id="flag"),
        pytest.param(2**63, id="too-large"),
        pytest.param("99999999999999999999", id="too-large-as-text"),
        pytest.param("9" * 5_000, id="thousands-of-digits"),
    ],
)
def test_what_is_no_integer(value):
    """An integer has 64 bits, written as a number or as text."""
    number, (message,) = refused("integer", value)
    assert number is None
    assert message.startswith(
        "run.jsonl:7: top.key must be a whole number from -9223372036854775808 to 9223372036854775807, not ",
    )


def test_an_object_of_the_wrong_type_is_empty():
    """Its fields read as missing, with one message in all."""
    child, messages = refused("child", [1])
    assert (child.text("a"), child.integer("b")) == ("", None)
    assert messages == ["run.jsonl:7: top.key must be an object, not a list; it is ignored"]


def test_elements_of_the_wrong_type_are_left_out():
    """Each is reported with its index; the others are read."""
    problems = []
    record = Record({"parts": [{"text": "a"}, 3, {"text": "b"}]}, Place("run.jsonl", 7, problems.append))
    assert record.prose("parts") == "a\nb"
    assert [str(problem) for problem in problems] == ["run.jsonl:7: parts[1] must be an object, not 3; it is ignored"]


@pytest.mark.parametrize(
    ("method", "empty"),
    [
        ("text", ""),
        ("label", ""),
        ("prose", ""),
        ("json", ""),
        ("flag", None),
        ("integer", None),
        ("number", None),
        ("time", None),
        ("items", []),
    ],
)
def test_a_field_that_is_missing_or_null_is_empty(method, empty):
    """Missing and null are the same, and neither is a problem."""
    for fields in ({}, {"key": None}):
        record = Record(fields, Place("run.jsonl", 7, pytest.fail))
        assert getattr(record, method)("key") == empty


def test_a_long_wrong_value_is_shown_in_part():
    """A message stays one readable line."""
    _, (message,) = refused("flag", "x" * 10_000)
    assert message == f'run.jsonl:7: top.key must be true or false, not "{"x" * 39}...; it is ignored'


def test_a_whole_document_is_named_without_a_line():
    """In a document of many lines the way to the field tells the place."""
    problems = []
    Record({"a": 1}, Place("run.json", 0, problems.append).inner(3).inner("traj")).text("a")
    assert [str(problem) for problem in problems] == ["run.json: [3].traj.a must be a text, not 1; it is ignored"]


def test_names_from_the_file_cannot_disturb_a_message():
    """A field's name that holds control or bidirectional characters is shown escaped."""
    problems = []
    Record({"a\x1b[2J\u202e": 1}, Place("run.jsonl", 7, problems.append)).text("a\x1b[2J\u202e")
    assert [str(problem) for problem in problems] == [
        r"run.jsonl:7: 'a\x1b[2J\u202e' must be a text, not 1; it is ignored",
    ]


def test_values_that_nest_too_deeply_are_reported():
    """What cannot be rendered as JSON is left out instead of ending the reading."""
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    problems = []
    assert as_json(deep, Place("run.jsonl", 7, problems.append).inner("input")) == ""
    assert [str(problem) for problem in problems] == ["run.jsonl:7: input nests too deeply; it is ignored"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1970-01-01T00:00:01Z", SECOND, id="utc"),
        pytest.param("1970-01-01T00:00:01", SECOND, id="no-zone"),
        pytest.param("1970-01-01 00:00:01.5", SECOND * 3 // 2, id="tenths"),
        pytest.param("1970-01-01T00:00:01.000000001Z", SECOND + 1, id="nanoseconds"),
        pytest.param("1970-01-01T00:00:01.0000000019Z", SECOND + 1, id="more-digits"),
        pytest.param("1970-01-01T02:00:01+02:00", SECOND, id="east"),
        pytest.param("1969-12-31T22:30:01-0130", SECOND, id="west"),
        pytest.param("2026-03-02T10:00:00Z", 1_772_445_600 * SECOND, id="lately"),
        pytest.param("1969-12-31T23:59:59Z", None, id="before-1970"),
        pytest.param("2300-01-01T00:00:00Z", None, id="after-2262"),
        pytest.param("2026-13-02T10:00:00Z", None, id="no-month"),
        pytest.param("2026-03-02", None, id="date"),
        pytest.param("", None, id="empty"),
    ],
)
def test_times(text, expected):
    """ISO 8601 in nanoseconds since the epoch."""
    assert parse_time(text) == expected


@given(st.datetimes(timezones=st.just(None)))
def test_any_time_python_writes_is_read(moment):
    """Of the years 1970 to 2262 all times are read, and none else."""
    time_ns = parse_time(moment.isoformat())
    assert (time_ns is not None) == (1970 <= moment.year < 2262) or moment.year == 2262
