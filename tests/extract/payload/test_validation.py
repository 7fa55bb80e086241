"""Validation errors as text, field by field."""

from __future__ import annotations

import pydantic
import pytest

from otel_errcompact.extract.payload.validation import read_validation
from otel_errcompact.extract.payload.violation import MAX_VIOLATIONS
from tests.extract.reading import facts, key


class Item(pydantic.BaseModel):
    qty: int


class Order(pydantic.BaseModel):
    items: list[Item]
    price: float

    @pydantic.model_validator(mode="after")
    def _cheap(self):
        if self.price > 9:
            raise ValueError("too\ndear")
        return self


def message(**values) -> str:
    try:
        Order.model_validate(values)
    except pydantic.ValidationError as error:
        return str(error)
    raise AssertionError("is valid")


def test_fields_in_order():
    """Each field with its reason and what was received; list indexes and inputs do not count for the key."""
    reading = read_validation(message(items=[{"qty": 1}, {"qty": "x"}, {}], price="free"))
    assert reading.cause == (
        "3 validation errors for Order: items.1.qty: Input should be a valid integer (got 'x'); items.2.qty: Field "
        "required; price: Input should be a valid number (got 'free')"
    )
    assert reading.key == "ValidationError: items.<num>.qty [integer], items.<num>.qty [required], price [number]"


def test_many_fields():
    """Of fields that one line has no room for, the cause tells the first and the details the others."""
    reading = read_validation(message(items=[{} for _ in range(20)], price=1))
    assert reading.cause == "20 validation errors for Order: items.0.qty: Field required"
    assert reading.details[:2] == ("items.1.qty: Field required", "items.2.qty: Field required")
    assert len(reading.details) == 19


def test_key_does_not_depend_on_inputs():
    """Other values in other places of a list are the same failure."""
    first = read_validation(message(items=[{"qty": "x"}], price=1))
    second = read_validation(message(items=[{"qty": 1}, {"qty": "a long\nother [type=int] text"}], price=1))
    assert first.key == second.key == "ValidationError: items.<num>.qty [integer]"


def test_names_with_digits_are_kept():
    """Only list indexes are masked in a field's path."""
    text = (
        "1 validation error for Order\nline1.0.qty2\n  Field required [type=missing, input_value={}, input_type=dict]"
    )
    assert read_validation(text).key == "ValidationError: line1.<num>.qty2 [required]"


def test_error_of_the_whole_model():
    """An error without field is told by its reason, also where that has several lines."""
    reading = read_validation(message(items=[], price=10))
    assert reading.cause.startswith("1 validation error for Order: too dear (got {'items': []")
    assert reading.key == "ValidationError: [value_error: too dear]"


LIMIT = [
    (
        "1 validation error for query\nlimit\n  Input should be a valid integer, unable to parse string as an integer "
        "[type=int_parsing, input_value='ten', input_type=str]"
    ),
    "1 validation error for query\nlimit\n  Input should be a valid integer",
    "Error: 1 validation error for query\nlimit\n  value is not a valid integer (type=type_error.integer)",
    (
        "Error executing tool query: 1 validation error for queryArguments\nlimit\n  Input should be a valid integer "
        "[type=int_type, input_value=None, input_type=NoneType]"
    ),
    "1 validation error for call[query]\nlimit\n  Input should be a valid integer [type=int_parsing, input_value='x']",
    (
        "'ten' is not of type 'integer'\n\nFailed validating 'type' in schema['properties']['limit']:\n"
        "    {'type': 'integer'}\n\nOn instance['limit']:\n    'ten'"
    ),
    "data/limit must be integer",
    (
        "Error invoking tool 'query' with kwargs {'limit': 'ten'} with error:\n limit: Input should be a valid "
        "integer, unable to parse string as an integer\n Please fix the error and try again."
    ),
    (
        '1 validation error:\n```json\n[\n  {\n    "type": "int_parsing",\n    "loc": [\n      "limit"\n    ],\n    '
        '"msg": "Input should be a valid integer, unable to parse string as an integer",\n    '
        '"input": "ten"\n  }\n]\n```\n\n'
        "Fix the errors and try again."
    ),
    (
        'MCP error -32602: Invalid arguments for tool query: [{"code": "invalid_type", "expected": "integer", '
        '"received": "string", "path": ["limit"], "message": "Expected integer, received string"}]'
    ),
    (
        '{"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "Invalid params", "data": {"errors": '
        '[{"path": "/limit", "message": "must be integer"}]}}}'
    ),
    (
        '[{"instancePath": "/limit", "schemaPath": "#/properties/limit/type", "keyword": "type", "params": {"type": '
        '"integer"}, "message": "must be integer"}]'
    ),
    "\u2716 Invalid input: expected integer, received string\n  \u2192 at limit",
    "Expected `int`, got `str` - at `$.limit`",
    "expected int for dictionary value @ data['limit']",
    (
        "InputValidationError: query failed due to the following issue:\nThe parameter `limit` type is expected as "
        "`integer` but provided as `string`"
    ),
    '{"limit": ["A valid integer is required."]}',
    '{"errors": {"limit": ["must be an integer"]}}',
]


@pytest.mark.parametrize("text", LIMIT)
def test_one_class_whoever_reports(text):
    """The same field under the same rule is one class, of pydantic, JSON Schema, zod, ajv or a framework."""
    assert facts(text).type == "ValidationError"
    assert "limit" in facts(text).cause
    assert key(text) == key(LIMIT[0])


REQUIRED = [
    "1 validation error for Order\nqty\n  field required (type=value_error.missing)",
    "1 validation error for call[order]\nqty\n  Missing required argument [type=missing_argument]",
    "Input validation error: 'qty' is a required property",
    "data must have required property 'qty'",
    "Key: 'qty' Error:Field validation for 'qty' failed on the 'required' tag",
    "Object missing required field `qty` - at `$.qty`",
    "InputValidationError: order failed due to the following issue:\nThe required parameter `qty` is missing",
    '{"detail": [{"type": "missing", "loc": ["qty"], "msg": "Field required", "input": null}]}',
    '{"qty": ["This field is required."]}',
    '[{"code": "invalid_type", "expected": "number", "received": "undefined", "path": ["qty"], "message": "Required"}]',
]


@pytest.mark.parametrize("text", REQUIRED)
def test_a_missing_field_is_one_class(text):
    """A field that is missing is told alike, whether it is the place of the error or part of its message."""
    assert (facts(text).type, key(text)) == ("ValidationError", key(REQUIRED[0]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("data/limit must be integer", "data/offset must be integer"),
        ("data/limit must be integer", "data/limit must be string"),
        ("data/limit must be integer", "data/limit must be >= 1"),
        ("data/limit must be integer", "data/limit must be integer, data/offset must be integer"),
        ("data/limit must be >= 1", "data/limit must be >= 2"),
        (
            "\u2716 Invalid input: expected number, received string\n  \u2192 at limit",
            "\u2716 Invalid input: expected number, received null\n  \u2192 at limit",
        ),
        ("'a' is a required property", "'b' is a required property"),
        ("'a' is a required property", "Additional properties are not allowed ('a' was unexpected)"),
    ],
)
def test_another_field_or_rule_is_another_class(one, other):
    """Siblings that differ in one field or rule are apart."""
    assert facts(one).type == facts(other).type == "ValidationError"
    assert key(one) != key(other)


def test_number_of_fields_is_bounded():
    """Of very many fields only some are read."""
    fields = "".join(f"f{number}\n  Field required [type=missing, input_value=1]\n" for number in range(10_000))
    assert len(read_validation(f"10000 validation errors for Order\n{fields}").details) == MAX_VIOLATIONS - 1


@pytest.mark.parametrize(
    "text",
    [
        "no such row",
        "validation error in row 3",
        "ValueError: data must be 1-dimensional",
        "the checksum does not match 'abc'",
        "error: x must be positive",
    ],
)
def test_other_messages(text):
    """A message of another kind is none."""
    assert read_validation(text) is None
