"""Output of unittest and doctest; the samples are written after the output of their runners."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import Location, RawError
from tests.extract.reading import facts_as, format_of

facts = facts_as("unittest")

RULE = "=" * 70
LINE = "-" * 70


def block(name: str, *lines: str, kind: str = "FAIL", owner: str = "test_shop.CartTest", after: str = "") -> str:
    said = "\n".join(lines)
    return f"{RULE}\n{kind}: {name} ({owner}.{name}){after}\n{LINE}\n{said}\n\n"


def raised(function: str, message: str, line: int = 7, file: str = "/app/test_shop.py") -> tuple[str, ...]:
    return (
        "Traceback (most recent call last):",
        f'  File "{file}", line {line}, in {function}',
        "    self.assertEqual(cart.total(), 5)",
        message,
    )


def output(*blocks: str, verdict: str = "failures=1", seconds: float = 0.01) -> str:
    return f"F.\n{''.join(blocks)}{LINE}\nRan 2 tests in {seconds}s\n\nFAILED ({verdict})\n"


def test_failed_expectation():
    """Place, both values and the line that expected them."""
    found = facts(output(block("test_total", *raised("test_total", "AssertionError: 4 != 5"))))
    assert (found.type, found.cause) == ("AssertionError", "4 != 5")
    assert found.location == Location(function="test_total", file="/app/test_shop.py", line=7)
    assert found.details == ("in CartTest.test_total", "> self.assertEqual(cart.total(), 5)")


def key(
    message: str, *, name: str = "test_total", line: int = 7, seconds: float = 0.01, file: str = "/app/test_shop.py"
):
    text = output(block(name, *raised(name, message, line, file)), seconds=seconds)
    return classify(RawError(text=text)).key


def test_values_lines_and_durations_do_not_count():
    """The same expectation of the same test is the same failure, whatever it got and wherever it stands now."""
    moved = key("AssertionError: 17 != 5", line=90, seconds=1.5, file="/home/ann/test_shop.py")
    assert key("AssertionError: 4 != 5") == moved


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(key("AssertionError: 4 != 5", name="test_sum"), id="test"),
        pytest.param(key("KeyError: 'total'"), id="exception"),
    ],
)
def test_another_failure(other):
    """Another test or another exception is another failure."""
    assert key("AssertionError: 4 != 5") != other


def test_one_cause_of_many():
    """Tests that fail by one exception of the code under test are one failure, and are counted."""
    its_words = raised("load", "KeyError: 'rate'", file="/app/shop.py")
    blocks = [block(name, *its_words, kind="ERROR") for name in ("test_a", "test_b", "test_c")]
    found = facts(output(*blocks, verdict="errors=3"))
    assert (found.type, found.tally) == ("KeyError", "3 tests")
    assert found.details[0] == "in CartTest.test_a, CartTest.test_b, CartTest.test_c"


def test_subtest_and_description():
    """A subtest has its values in its name; a description below the heading is passed over."""
    its_words = raised("test_total", "AssertionError: 4 != 5")
    text = output(
        block("test_total", *its_words, after=" [rate] (n=3)").replace(f"\n{LINE}", f"\nTells the total.\n{LINE}", 1)
    )
    assert facts(text).details[0] == "in CartTest.test_total [rate] (n=3)"


def test_modules_that_cannot_be_imported():
    """Modules are counted as such."""
    its_words = (
        "ImportError: Failed to import test module: test_a",
        "Traceback (most recent call last):",
        '  File "/app/test_a.py", line 1, in <module>',
        "    import shopkit",
        "ModuleNotFoundError: No module named 'shopkit'",
    )
    blocks = [
        block(name, *its_words, kind="ERROR", owner="unittest.loader._FailedTest") for name in ("test_a", "test_b")
    ]
    found = facts(output(*blocks, verdict="errors=2"))
    assert (found.type, found.tally) == ("ModuleNotFoundError", "2 modules")


def test_captured_output_is_no_part_of_the_failure():
    """What a test printed is passed over."""
    its_words = (*raised("test_total", "AssertionError: 4 != 5"), "", "Stdout:", "KeyError: 'not this'")
    assert facts(output(block("test_total", *its_words))).cause == "4 != 5"


def test_failure_in_words():
    """A failure without traceback is told by its first line."""
    found = facts(output(block("test_total", "", "Unexpected success")))
    assert (found.type, found.cause, str(found.location)) == ("Failed", "Unexpected success", "test_total")
    assert facts(output(block("test_total", ""))).cause == "no message"


def test_head_is_cut_off():
    """Where only the end is left, its traceback counts; without any, how many failed."""
    text = output(block("test_total", *raised("test_total", "AssertionError: 4 != 5")), verdict="failures=1, errors=2")
    tail = text.partition(LINE)[2]
    assert facts(tail).cause == "4 != 5"
    assert facts(tail.partition("!= 5")[2]).cause == "3 tests failed: failures=1, errors=2"


EXAMPLE = """\
**********************************************************************
File "/app/text.py", line {line}, in text.double
Failed example:
    double({argument})
Expected{expected}
Got{got}
**********************************************************************
1 items had failures:
"""


def test_examples():
    """A failed example tells what was expected and what came."""
    found = facts(EXAMPLE.format(line=3, argument=2, expected=":\n    4", got=":\n    5"))
    assert (found.type, found.cause) == ("DocTestFailure", "double(2): expected 4, got 5")
    assert str(found.location) == "text.double (/app/text.py:3)"


def test_example_that_prints_nothing():
    """Nothing is a value, too."""
    assert facts(EXAMPLE.format(line=3, argument=2, expected=" nothing", got=":\n    5")).cause == (
        "double(2): expected nothing, got 5"
    )


def test_example_that_raises():
    """Of an unexpected exception its last line is told."""
    text = EXAMPLE.format(line=3, argument=2, expected=":\n    4", got=":\n    5").replace(
        "Expected:\n    4\nGot:\n    5",
        "Exception raised:\n    Traceback (most recent call last):\n      ...\n    ValueError: odd",
    )
    assert facts(text).cause == "double(2): raised ValueError: odd"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("FAILED (see the log)", id="other verdict"),
        pytest.param('raise Error("FAIL: test_a (b.c)")', id="source code"),
        pytest.param("Failed example:\n    double(2)", id="example without place"),
        pytest.param("OK\nERROR: something else", id="other error"),
    ],
)
def test_not_taken(text):
    """Texts that only mention failures are of no runner."""
    assert format_of(text) != "unittest"
