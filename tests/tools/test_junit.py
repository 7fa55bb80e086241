"""Failed tests of the JVM; the samples of Gradle, sbt and munit are written from their documentation."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

GRADLE = """\
> Task :compileTestJava UP-TO-DATE
> Task :test FAILED

CartTest > addsUp() FAILED
    org.opentest4j.AssertionFailedError: expected: <5> but was: <4>
        at app//org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
        at app//com.acme.CartTest.addsUp(CartTest.java:15)

CartTest > loads() FAILED
    com.acme.StoreException: cannot open
        at app//com.acme.Store.open(Store.java:9)
        at app//com.acme.CartTest.loads(CartTest.java:22)

        Caused by:
        java.io.FileNotFoundException: cart.json

3 tests completed, 2 failed

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.
> There were failing tests. See the report at: file:///home/dev/shop/build/reports/tests/test/index.html

BUILD FAILED in 3s
"""


def test_gradle():
    """Gradle prints each failed test with its stack; what it says of the build adds nothing."""
    found = facts(GRADLE)
    assert (found.type, str(found.location), found.cause, found.tally) == (
        "AssertionError",
        "CartTest.addsUp (CartTest.java:15)",
        "expected: <5> but was: <4>",
        "1 of 2 tests",
    )
    assert found.details == (
        "in CartTest > addsUp",
        "com.acme.StoreException at Store.open (Store.java:9) in CartTest > loads: cannot open",
    )


def test_gradle_short():
    """By default Gradle prints only the type and the line of the test."""
    found = facts(
        "> Task :test\n\nCartTest > addsUp FAILED\n    java.lang.NullPointerException at CartTest.java:15\n"
        "        Caused by: com.acme.BadSku at Store.java:3\n\n1 test completed, 1 failed\n"
    )
    assert (found.type, str(found.location), found.details) == (
        "com.acme.BadSku",
        "Store.java:3",
        ("in CartTest > addsUp", "raised as NullPointerException at CartTest.java:15"),
    )


def test_surefire_without_prefix():
    """Old versions of Surefire print no level before each line."""
    found = facts(
        "Running com.acme.CartTest\n"
        "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec <<< FAILURE!\n"
        "addsUp(com.acme.CartTest)  Time elapsed: 0.006 sec  <<< FAILURE!\n"
        "java.lang.AssertionError: \n\nExpecting:\n  3\nto be equal to:\n  4\n"
        "\tat com.acme.CartTest.addsUp(CartTest.java:15)\n\n"
        "Results :\n\nFailed tests:   addsUp(com.acme.CartTest): (..)\n\n"
        "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n"
    )
    assert (found.type, found.cause, str(found.location)) == (
        "AssertionError",
        "Expecting: 3",
        "CartTest.addsUp (CartTest.java:15)",
    )


@pytest.mark.parametrize(
    ("line", "kind", "location", "cause"),
    [
        pytest.param(
            "CartTest.addsUp:15 expected: <5> but was: <4>",
            "AssertionError",
            "CartTest.addsUp (CartTest.java:15)",
            "expected: <5> but was: <4>",
            id="assertion",
        ),
        pytest.param(
            "CartTest.addsUp:15->check:40 » IllegalState no cart",
            "IllegalStateException",
            "CartTest.check (CartTest.java:40)",
            "no cart",
            id="through a helper",
        ),
        pytest.param(
            "CartTest>BaseTest.open:9->Fixtures.load:3 » OutOfMemoryError",
            "OutOfMemoryError",
            "Fixtures.load (Fixtures.java:3)",
            "no message",
            id="inherited",
        ),
    ],
)
def test_surefire_summary(line, kind, location, cause):
    """Where only Surefire's list at the end is left, it is read."""
    found = facts(f"[ERROR] Failures: \n[ERROR]   {line}\n[ERROR]   nothing to see\n[ERROR] Tests run: 1, Failures: 1")
    assert (found.type, str(found.location), found.cause) == (kind, location, cause)


def test_sbt():
    """ScalaTest's report under sbt has a level before each line."""
    found = facts(
        "[info] CartSpec:\n[info] a cart\n[info] - should add up *** FAILED *** (12 milliseconds)\n"
        "[info]   3 did not equal 4 (CartSpec.scala:10)\n[info] - should be empty\n"
        "[info] - should load *** FAILED ***\n"
        "[info] Run completed in 312 milliseconds.\n[info] *** 2 TESTS FAILED ***\n"
        "[error] Failed tests:\n[error] \tacme.CartSpec\n"
    )
    assert (found.type, str(found.location), found.cause, found.members) == (
        "AssertionError",
        "CartSpec.scala:10",
        "3 did not equal 4",
        1,
    )


def test_munit():
    """The line of a test names type and place where munit ran it."""
    found = facts(
        "acme.CartSuite:\n==> X acme.CartSuite.adds up  0.05s munit.ComparisonFailException: "
        "/home/dev/shop/CartSuite.scala:10 values are not the same\n"
        "=> Obtained\n3\n=> Diff (- obtained, + expected)\n-3\n+4\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "AssertionError",
        "CartSuite.adds up (/home/dev/shop/CartSuite.scala:10)",
        "values are not the same",
    )


def test_one_cause():
    """Forty tests that fail for one cause are one failure with forty members."""
    tests = "".join(
        f"CartTest > case{number}() FAILED\n    java.io.IOException: no database\n"
        f"        at com.acme.Db.open(Db.java:7)\n        at com.acme.CartTest.case{number}(CartTest.java:{number})\n\n"
        for number in range(40)
    )
    found = facts(f"{tests}40 tests completed, 40 failed\n")
    assert (found.type, str(found.location), found.tally) == ("IOException", "Db.open (Db.java:7)", "40 tests")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Tests run: 4, Failures: 0, Errors: 0", id="all green"),
        pytest.param("the job FAILED: see the log", id="prose"),
        pytest.param("A > B FAILED", id="test without reason"),
        pytest.param("FAILED: com.acme.CartTest.addsUp\nno stack", id="TestNG without stack"),
        pytest.param(
            "[ERROR] Tests run: 1, Failures: 1, Time elapsed: 0.1 s <<< FAILURE! -- in com.acme.A", id="suite"
        ),
    ],
)
def test_not_taken(text):
    """A text without a failed test and its reason is left to others."""
    assert facts(text).format != "junit"


def test_keys():
    """Durations and lines do not matter; expected values and tests do."""
    moved = GRADLE.replace(":15)", ":88)").replace("in 3s", "in 9s")
    assert key(GRADLE) == key(moved)
    assert key(GRADLE) != key(GRADLE.replace("addsUp", "subtracts"))
