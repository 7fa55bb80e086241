"""Validation errors, field by field."""

from __future__ import annotations

import pydantic
import pytest

from otel_errcompact.extract.messages.reading import Reading
from otel_errcompact.extract.messages.validation import MAX_FIELDS, read_validation


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
    """Each field with its reason and kind; list indexes and inputs do not count for the key."""
    assert read_validation(message(items=[{"qty": 1}, {"qty": "x"}, {}], price="free")) == Reading(
        "3 validation errors for Order: items.1.qty: should be a valid integer; items.2.qty: Field required; "
        "price: should be a valid number",
        "validation of Order: items.<num>.qty [int_parsing], items.<num>.qty [missing], price [float_parsing]",
    )


def test_many_fields():
    """Fields that one line has no room for are named in the cause and told in the details."""
    reading = read_validation(message(items=[{} for _ in range(20)], price=1))
    assert reading.cause.startswith("20 validation errors for Order: items.0.qty, items.1.qty, ")
    assert reading.details[:2] == ("items.0.qty: Field required", "items.1.qty: Field required")


def test_key_does_not_depend_on_inputs():
    """Other values in other places of a list are the same failure."""
    first = read_validation(message(items=[{"qty": "x"}], price=1))
    second = read_validation(message(items=[{"qty": 1}, {"qty": "a long\nother [type=int] text"}], price=1))
    assert first.key == second.key == "validation of Order: items.<num>.qty [int_parsing]"


def test_names_with_digits_are_kept():
    """Only list indexes are masked in a field's path."""
    text = (
        "1 validation error for Order\nline1.0.qty2\n  Field required [type=missing, input_value={}, input_type=dict]"
    )
    assert read_validation(text).key == "validation of Order: line1.<num>.qty2 [missing]"


def test_error_of_the_whole_model():
    """An error without field is told by its reason alone, also where that has several lines."""
    assert read_validation(message(items=[], price=10)) == Reading(
        "1 validation error for Order: too dear", "validation of Order: [value_error]"
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param(
            "1 validation error for Order\nqty\n  field required (type=value_error.missing)",
            "validation of Order: qty [value_error.missing]",
            id="first version of pydantic",
        ),
        pytest.param(
            "1 validation error for call[search]\nquery\n  Missing required argument [type=missing_argument]",
            "validation of call[search]: query [missing_argument]",
            id="arguments of a call",
        ),
        pytest.param(
            "Error executing tool pay: 1 validation error for Order\n  Value error, too dear [type=value_error]",
            "validation of Order: [value_error]",
            id="behind a prefix and without field",
        ),
    ],
)
def test_further_forms(text, key):
    """Older versions, calls and prefixes."""
    assert read_validation(text).key == key


def test_number_of_fields_is_bounded():
    """Of very many fields only some are read."""
    fields = "".join(f"f{number}\n  Field required [type=missing, input_value=1]\n" for number in range(10_000))
    assert len(read_validation(f"10000 validation errors for Order\n{fields}").details) == MAX_FIELDS


@pytest.mark.parametrize("text", ["no such row", "validation error in row 3"])
def test_other_messages(text):
    """A message of another kind is none."""
    assert read_validation(text) is None
