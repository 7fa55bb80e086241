"""Failed tests of PHP; the samples of Pest are written from its documentation."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

PHPUNIT = """\
PHPUnit 11.0 by Sebastian Bergmann and contributors.

F                                                                   1 / 1 (100%)

Time: 00:00.010, Memory: 4.00 MB

There was 1 failure:

1) Acme\\Tests\\CartTest::testTotal
Failed asserting that 4 is identical to 5.

/srv/shop/vendor/acme/Assert.php:3
/srv/shop/tests/CartTest.php:20

FAILURES!
Tests: 1, Assertions: 1, Failures: 1.
"""


def test_expectation():
    """An expectation counts by its test and the line of the user's own code."""
    found = facts(PHPUNIT)
    assert (found.type, str(found.location), found.cause, found.members) == (
        "AssertionError",
        "CartTest::testTotal (/srv/shop/tests/CartTest.php:20)",
        "Failed asserting that 4 is identical to 5.",
        1,
    )


def test_difference():
    """Values that are only shown as a difference are part of the cause."""
    found = facts(
        "1) CartTest::testLabel with data set #0 ('pen')\nFailed asserting that two strings are identical.\n"
        "--- Expected\n+++ Actual\n@@ @@\n-'pen'\n+'ink'\n\n/srv/tests/CartTest.php:9\n\nFAILURES!\n"
    )
    assert found.cause == "Failed asserting that two strings are identical: -'pen' +'ink'"


def test_exception():
    """An exception of the code under test is the cause of all tests it fails."""
    found = facts(
        "".join(f'{n}) CartTest::test{n}\nError: Class "Cart" not found\n\n/srv/Cart.php:{n}\n\n' for n in range(1, 4))
        + "--\n\nERRORS!\nTests: 3, Assertions: 0, Errors: 3.\n"
    )
    assert (found.type, found.tally) == ("Error", "3 tests")


def test_pest():
    """Pest prints a page for each failed test."""
    found = facts(
        "   FAIL  Tests\\Unit\\CartTest\n  \u2a2f it adds up\n"
        "  ────────────────\n"
        "   FAILED  Tests\\Unit\\CartTest > it adds up                 ErrorException   \n"
        "  Undefined variable $x\n\n  at tests/Unit/CartTest.php:6\n      2\u2595 \n  \u279c   6\u2595     x;\n\n"
        "  Tests:    1 failed (1 assertions)\n  Duration: 0.08s\n"
    )
    assert (found.type, str(found.location), found.cause, found.members) == (
        "ErrorException",
        "tests/Unit/CartTest.php:6",
        "Undefined variable $x",
        1,
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("PHPUnit 11.0 by Sebastian Bergmann\n\nOK (4 tests, 9 assertions)", id="green"),
        pytest.param("1) CartTest::testTotal\n\nFAILURES!", id="no reason"),
        pytest.param("1) see Assertions: 4", id="prose"),
    ],
)
def test_not_taken(text):
    """A text without a failed test and its reason is left to others."""
    assert facts(text).format != "phpunit"


def test_keys():
    """Times and lines do not matter; tests and values do."""
    assert key(PHPUNIT) == key(PHPUNIT.replace("00:00.010", "00:09.999").replace(":20", ":99"))
    assert key(PHPUNIT) != key(PHPUNIT.replace("testTotal", "testTax"))
