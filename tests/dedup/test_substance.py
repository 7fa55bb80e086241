"""Which lines tell a repeat from something new."""

from __future__ import annotations

import pytest

from otel_errcompact.dedup.substance import MAX_CHARACTERS, MAX_LINES, templates_of
from otel_errcompact.errors import Evidence, Facts

FAILED = Facts(
    type="ValidationError",
    cause="2 violations, request id: req_7f3a9b1c2d",
    details=("limit: got 7, expected <= 5", "> limit = 7", " "),
    evidence=(Evidence("sent by worker-17 at 10:00:01", 3),),
)


def fail(**changes: object) -> frozenset[str]:
    """Return the substance of a failure with some facts changed."""
    facts = {name: getattr(FAILED, name) for name in ("type", "cause", "details", "evidence")} | changes
    return templates_of(Facts(**facts))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"cause": "3 violations, request id: 0f3a-9b1c"}, id="other numbers and ids"),
        pytest.param({"details": ("limit: got 9, expected <= 5", "> limit = 9")}, id="other values"),
        pytest.param({"details": FAILED.details[:1]}, id="less"),
        pytest.param({"evidence": (Evidence("sent by worker-3 at 10:07:44", 1),)}, id="another time"),
    ],
)
def test_a_repeat_adds_nothing(changes: dict[str, object]):
    """What varies by itself is not new."""
    assert fail(**changes) <= fail()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"cause": "2 violations of the plan"}, id="another cause"),
        pytest.param({"details": ("offset: got 7, expected <= 5",)}, id="another field"),
        pytest.param({"evidence": (Evidence("refused by the gateway", 1),)}, id="other evidence"),
    ],
)
def test_another_line_of_substance_is_new(changes: dict[str, object]):
    """A new line of content is told."""
    assert not fail(**changes) <= fail()


def test_substance_is_bounded():
    """Only so many lines, and so much of each, are read."""
    words = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(1_000)]

    assert len(fail(details=tuple(words), evidence=())) <= MAX_LINES
    assert fail(cause="x" * MAX_CHARACTERS + "a") == fail(cause="x" * MAX_CHARACTERS + "b")
