"""Functions that only check: their caller is told, since the check itself is no news."""

from __future__ import annotations

import traceback

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.stacks.frames import Frame, only_checks
from otel_errcompact.runtime.roots import CodeRoots
from tests.extract.reading import facts

CODE = """
def check_stock(n):
    raise ValueError("no stock")

def _ensure(n):
    check_stock(n)

def order(n):
    _ensure(n)

def load(n):
    raise ValueError("no stock")
"""


def raised(function: str) -> ValueError:
    """Return what a function of a shop raises, without the frame of this one."""
    names: dict[str, object] = {}
    exec(compile(CODE, "/srv/shop/tools.py", "exec"), names)
    try:
        names[function](1)  # type: ignore[operator]
    except ValueError as error:
        return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
    raise AssertionError


def test_caller_of_a_check():
    """At hand and printed: the first own frame outside of the checks."""
    error = raised("order")
    live = classify(RawError(text="", exception=error))
    printed = classify(RawError(text="".join(traceback.format_exception(error))))
    for found in (live, printed):
        assert str(found.facts.location) == "check_stock (/srv/shop/tools.py:3)"
        assert "called from order (tools.py:9)" in found.facts.details
    assert live.key == printed.key


def test_roots_decide_the_caller_too():
    """A caller below a configured root comes before one that is nearer."""
    text = """Traceback (most recent call last):
  File "/srv/shop/cart.py", line 7, in pay
    run()
  File "/opt/kit/run.py", line 5, in run
    validate(1)
  File "/srv/shop/rules.py", line 3, in validate
    raise ValueError("no")
ValueError: no"""
    found = classify(RawError(text=text), CodeRoots(("/srv/shop/",)))
    assert "called from pay (cart.py:7)" in found.facts.details


def test_no_caller_is_known():
    """A check that is the outermost frame has none, and a function of another name needs none."""
    for function in ("check_stock", "load"):
        found = classify(RawError(text="", exception=raised(function))).facts
        assert not any("called from" in line for line in found.details)
    found = facts(
        "Traceback (most recent call last):",
        '  File "/srv/shop/rules.py", line 3, in check',
        "    raise ValueError(1)",
        "ValueError: 1",
    )
    assert not any("called from" in line for line in found.details)


@pytest.mark.parametrize(
    ("function", "checks"),
    [
        ("check", True),
        ("_check_apps", True),
        ("raise_for_status", True),
        ("checkout", False),
        ("requirements", False),
        ("assertPaid", True),
        ("order", False),
        ("", False),
    ],
)
def test_names_of_checks(function, checks):
    """Only the first word counts."""
    assert only_checks(Frame("a.py", 1, function)) is checks
