"""Values that exceptions carry: only what is stored, within bounds, and not what the message holds."""

from __future__ import annotations

import json
import urllib.error
from email.message import Message
from types import SimpleNamespace
from typing import Any

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.stacks.attributes import attributes_of


class ToolError(Exception):
    pass


class Slotted(Exception):
    __slots__ = ("_hidden", "retry_after", "unset")

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.retry_after = 30


class Computed(Exception):
    @property
    def cost(self) -> int:
        raise AssertionError("a property runs code of the application")


def lines(error: BaseException, **values: object) -> tuple[str, ...]:
    error.__dict__.update(values)
    return attributes_of(error, str(error))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        pytest.param({"code": "E42"}, ("code: E42",), id="text"),
        pytest.param({"attempts": 3}, ("attempts: 3",), id="number"),
        pytest.param({"payload": b"\x00\x01"}, (r"payload: b'\x00\x01'",), id="bytes"),
        pytest.param({"payload": b"", "x": None, "y": False, "z": ""}, (), id="nothing"),
        pytest.param({"_secret": "x", "request_id": "r"}, (), id="private ones and ids"),
        pytest.param({"document": "x" * 500, "things": [["y" * 300] * 2]}, (), id="documents"),
        pytest.param({"client": object(), "deep": [[[["x"]]]]}, (), id="objects"),
        pytest.param({"limits": {"max": 5, "used": 7, 3: "x", "no": None}}, ("limits: max=5, used=7",), id="mapping"),
        pytest.param({"hosts": ["a1", None, "b1"]}, ("hosts: a1, b1",), id="list"),
        pytest.param(
            {"errors": [{"field": "qty", "rule": "positive"}, {"field": "sku"}, {}]},
            ("errors: field=qty, rule=positive", "errors: field=sku"),
            id="records",
        ),
        pytest.param({"host": "db-1", "port": 54}, ("port: 54",), id="said by the message"),
        pytest.param({"n": 5}, ("n: 5",), id="part of a number in the message"),
    ],
)
def test_stored_values(values, told):
    """Values of simple types, each in one line."""
    assert lines(ToolError("db-1 refused 543 times"), **values) == told


def test_slots():
    """Values in slots count as well; an empty slot is none."""
    assert attributes_of(Slotted("busy"), "busy") == ("retry_after: 30",)


def test_properties_do_not_run():
    """A property is code of the application, which may take long or raise."""
    assert lines(Computed("boom")) == ()


def test_number_of_values_is_bounded():
    """Of very many values the first ones are told."""
    assert len(lines(ToolError("boom"), **{f"v{number}": number for number in range(999)})) == 12


def test_text_around_a_position():
    """What a parser choked on stands beside its position."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"city": "Bern", "zip": 03000}')
    assert lines(caught.value)[0] == 'near: {"city": "Bern", "zip": 03000}'
    with pytest.raises(UnicodeDecodeError) as undecoded:
        b"caf\xe9 au lait".decode()
    assert lines(undecoded.value) == (r"near: b'caf\xe9 au lait'",)


def test_built_in_exception_with_a_value():
    """A value that a tool has put onto a built-in exception is told, too."""
    assert lines(ValueError("bad"), hint="use ISO dates") == ("hint: use ISO dates",)
    assert lines(ValueError("bad")) == ()


def test_what_a_server_says_of_repeating():
    """Status and retry headers of the response, as every client library keeps them."""
    response = SimpleNamespace(status_code=429, headers={"Retry-After": "30", "Server": "x", "X-RateLimit-Reset": "9"})
    assert lines(ToolError("rate limited"), response=response) == (
        "status: 429", "Retry-After: 30", "X-RateLimit-Reset: 9"
    )  # fmt: skip
    headers = Message()
    headers["Retry-After"] = "7"
    error = urllib.error.HTTPError("http://x/", 503, "busy", headers, None)
    assert "Retry-After: 7" in attributes_of(error, str(error))


def test_answer_that_is_a_mapping():
    """Clients of AWS raise the parsed answer."""
    response = {
        "Error": {"Code": "ConditionalCheckFailedException", "Message": "failed", "Resource": "orders"},
        "Item": {"id": {"S": "o-1"}},
        "ResponseMetadata": {"RetryAttempts": 4, "HTTPHeaders": {"retry-after": "2", "date": "x"}},
    }
    told = lines(ToolError("An error occurred (ConditionalCheckFailedException): failed"), response=response)
    assert told == ("Resource: orders", "Item: id=S=o-1", "RetryAttempts: 4", "retry-after: 2")
    assert lines(ToolError("x"), response={"Error": "none", "ResponseMetadata": None}) == ("Error: none",)


def test_headers_of_any_kind():
    """Headers that are no mapping, or that fail, are left alone."""

    class Failing:
        def items(self) -> Any:
            raise RuntimeError("closed")

    for headers in (Failing(), SimpleNamespace(items=lambda: [1, ("a", "b", "c")])):
        assert lines(ToolError("x"), response=SimpleNamespace(headers=headers)) == ()


def test_secrets_are_redacted():
    """Values leave the process without secrets, like all lines."""
    error = ToolError("refused")
    error.__dict__["authorization"] = "Bearer sk-proj-abcdefghijklmnopqrstuvwx1234567890"
    details = classify(RawError(text="", exception=error)).facts.details
    assert details
    assert "abcdefghijklmnop" not in "".join(details)


def test_values_do_not_count_for_the_key():
    """The printed traceback lacks them, and is the same failure."""
    keys = set()
    for attempts in (1, 2):
        error = ToolError("refused")
        error.__dict__["attempts"] = attempts
        keys.add(classify(RawError(text="", exception=error)).key)
    assert len(keys) == 1
