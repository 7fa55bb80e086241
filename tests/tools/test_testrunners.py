from __future__ import annotations

import pytest

from otel_errcompact.dedup.key import dedup_key, template_of
from tests.extract.reading import facts as facts_of
from tests.extract.reading import format_of

GTEST = """[==========] Running 3 tests from 1 test suite.
[ RUN      ] CartTest.TotalIsRight
/src/cart_test.cc:14: Failure
Expected equality of these values:
  cart.total()
    Which is: 3
  4
[  FAILED  ] CartTest.TotalIsRight (0 ms)
[ RUN      ] CartTest.Empty
[       OK ] CartTest.Empty (0 ms)
[==========] 2 tests from 1 test suite ran. (1 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] CartTest.TotalIsRight

 1 FAILED TEST"""

CATCH2 = """-------------------------------------------------------------------------------
cart total
  with tax
-------------------------------------------------------------------------------
/src/test_cart.cpp:12
...............................................................................

/src/test_cart.cpp:17: FAILED:
  REQUIRE( cart.total() == 4 )
with expansion:
  3 == 4

===============================================================================
test cases: 2 | 1 passed | 1 failed"""

BUN = """cart.test.js:
1 | import { test, expect } from "bun:test";
2 |   test("total is right", () => { expect(total).toBe(3); });
                                                   ^
error: expect(received).toBe(expected)

Expected: 3
Received: 2

      at <anonymous> (/app/cart.test.js:2:48)
(fail) cart > total is right [0.18ms]
(pass) cart > fine [0.03ms]

 1 pass
 1 fail"""

DENO = """running 2 tests from ./cart_test.ts
total is right ... FAILED (1ms)
fine ... ok (76\u00b5s)

 ERRORS

total is right => ./cart_test.ts:1:6
error: Error: expected 3, got 2
Deno.test("total is right", () => { throw new Error("expected 3, got 2"); });
                                          ^
    at file:///app/cart_test.ts:1:58

 FAILURES

total is right => ./cart_test.ts:1:6

FAILED | 1 passed | 1 failed (5ms)"""

ROBOT = """Total Is Right                                                        | FAIL |
2 != 3
------------------------------------------------------------------------------
Fine                                                                  | PASS |
------------------------------------------------------------------------------
Shop                                                                  | FAIL |
2 tests, 1 passed, 1 failed"""

BEHAVE = """Feature: Cart # features/cart.feature:1

  Scenario: Add an item      # features/cart.feature:2
    Given an empty cart      # features/steps/s.py:2
    Then the total is 4      # features/steps/s.py:6
      ASSERT FAILED: expected 4, got 3

  Scenario: Remove      # features/cart.feature:6
    Then it explodes    # None

Failing scenarios:
  features/cart.feature:2  Add an item

0 scenarios passed, 2 failed, 0 skipped"""

AVA = """  \u2718 [fail]: total is right
  \u2714 fine
  \u2500

  total is right

  cart.ava.mjs:2

   1: import test from 'ava';
   2: test('total is right', t => { t.is(1+1, 3); });

  Difference (- actual, + expected):

  - 2
  + 3

  \u203a file://cart.ava.mjs:2:33

  1 test failed"""

DART = """00:01 +1 -1: total is right [E]
  Expected: <4>
    Actual: <3>
  package:matcher                                     expect
  test/cart_test.dart 8:5                             main.<fn>

00:01 +1 -1: Some tests failed."""

FLUTTER = """00:01 +0: prints Error: no region
00:01 +1: counts
\u2550\u2550\u2561 EXCEPTION CAUGHT BY FLUTTER TEST FRAMEWORK \u255e\u2550\u2550\u2550\u2550\u2550\u2550\u2550\u2550
The following TestFailure was thrown running a test:
Expected: one matching
  Actual: _TextFinder:<Found 0 widgets with text "2">
   Which: means none were found

When the exception was thrown, this was the stack:
#4      main.<anonymous closure> (file:///app/test/widget_test.dart:27:5)
<asynchronous suspension>
#5      testWidgets.<anonymous closure> (package:flutter_test/src/widget_tester.dart:189:15)

The test description was:
  counts
\u2550\u2550\u2550\u2550\u2550\u2550\u2550\u2550
00:01 +1 -1: counts [E]
  Test failed. See exception logs above.
  The test description was: counts

00:01 +1 -1: Some tests failed."""
"""Written after published outputs, as the next one."""

LAYOUT = """00:01 +0: shows
\u2550\u2550\u2561 EXCEPTION CAUGHT BY RENDERING LIBRARY \u255e\u2550\u2550\u2550\u2550\u2550\u2550\u2550\u2550
The following assertion was thrown during layout:
A RenderFlex overflowed by 48 pixels on the right.

The relevant error-causing widget was:
  Row Row:file:///app/lib/cart_page.dart:41:16

\u2550\u2550\u2550\u2550\u2550\u2550\u2550\u2550
00:01 +0 -1: shows [E]
  Test failed. See exception logs above.
  The test description was: shows

00:01 +0 -1: Some tests failed."""

CLOJURE = """FAIL in (test-total) (cart_test.clj:8)
expected: (= 4 (total cart))
  actual: (not (= 4 3))

Ran 3 tests containing 5 assertions.
1 failures, 0 errors."""

BATS = """ \u2713 empty cart
 \u2717 total is right
   (in test file test/cart.bats, line 8)
     `[ "$output" = "4" ]' failed

2 tests, 1 failure"""

RUNNERS = {
    "gtest": (
        GTEST,
        "CartTest.TotalIsRight (/src/cart_test.cc:14)",
        "Expected equality of these values: cart.total(); Which is: 3; 4",
    ),
    "catch2": (
        CATCH2,
        "cart total > with tax (/src/test_cart.cpp:17)",
        "REQUIRE( cart.total() == 4 ): with expansion 3 == 4",
    ),
    "bun": (
        BUN,
        "cart > total is right (/app/cart.test.js:2)",
        "expect(received).toBe(expected): Expected: 3; Received: 2",
    ),
    "deno": (DENO, "total is right (/app/cart_test.ts:1)", "expected 3, got 2"),
    "robot": (ROBOT, "Total Is Right", "2 != 3"),
    "ava": (AVA, "total is right (cart.ava.mjs:2)", "- 2 | + 3"),
    "dart": (DART, "total is right (test/cart_test.dart:8)", "Expected: <4>; Actual: <3>"),
    "flutter": (
        FLUTTER,
        "counts (/app/test/widget_test.dart:27)",
        'Expected: one matching; Actual: _TextFinder:<Found 0 widgets with text "2">; Which: means none were found',
    ),
    "flutter layout": (
        LAYOUT,
        "shows (/app/lib/cart_page.dart:41)",
        "A RenderFlex overflowed by 48 pixels on the right.",
    ),
    "clojure": (CLOJURE, "test-total (cart_test.clj:8)", "expected: (= 4 (total cart)); actual: (not (= 4 3))"),
    "bats": (BATS, "total is right (test/cart.bats:8)", '[ "$output" = "4" ]\' failed'),
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_one_failed_test(runner):
    """Name, place, claim and both values are found in the layout of each runner; what passed is left out."""
    text, place, cause = RUNNERS[runner]
    facts = facts_of(text)
    assert (facts.format, str(facts.location), facts.cause) == ("testrunners", place, cause)
    assert facts.members == 1


def test_a_file_of_bun_that_does_not_load():
    """What Bun could not load is the failure, and not the error that a passing test has logged."""
    text = (
        "bun test v1.4.5 (a7733435c)\n\n"
        "cart.test.ts:\n\n"
        "# Unhandled error between tests\n"
        "-------------------------------\n"
        "error: Cannot find module '@shop/money' from '/srv/shop/cart.test.ts'\n"
        "-------------------------------\n\n\n"
        "log.test.ts:\n"
        'Task 2 failed: 1 | import { test, expect } from "bun:test";\n'
        '2 | test("is told", () => { console.log("Task 2 failed:", new Error("All fail")) });\n'
        "                                                              ^\n"
        "error: All fail\n"
        "      at <anonymous> (/srv/shop/log.test.ts:2:59)\n\n"
        "(pass) is told [0.16ms]\n\n"
        " 1 pass\n 1 fail\n 1 error\n 1 expect() calls\nRan 2 tests across 2 files. [4.00ms]\n"
    )
    facts = facts_of(text)
    assert (str(facts.location), facts.members) == ("cart.test.ts", 1)
    assert facts.cause == "Cannot find module '@shop/money' from '/srv/shop/cart.test.ts'"
    assert not facts.details


def test_two_tests_of_catch2():
    """Each test keeps its own place; its title is no further test, and a message's place is not that of the claim."""
    second = (
        "-------------------------------------------------------------------------------\n"
        "Scenario: Rates are read\n"
        "-------------------------------------------------------------------------------\n"
        "/src/test_rates.cpp:8\n"
        "...............................................................................\n\n"
        "/src/test_rates.cpp:11: FAILED:\n  CHECK_NOTHROW( read() )\n"
        'due to unexpected exception with message:\n  rates.csv:3: "19 %" is not a number\n\n'
    )
    before, rule, count = CATCH2.partition("=" * 79)
    facts = facts_of(f"{before}{second}{rule}{count}".replace("1 passed | 1 failed", "0 passed | 2 failed"))
    assert (str(facts.location), facts.members) == ("Scenario: Rates are read (/src/test_rates.cpp:11)", 2)
    assert any("cart total > with tax (/src/test_cart.cpp:17)" in line for line in facts.details)


def test_crash_of_another_test():
    """A test that has begun behind a failed one says nothing of that."""
    facts = facts_of(
        "Test Case '-[Shop.CartTests testTax]' started.\n"
        '/app/CartTests.swift:27: error: -[Shop.CartTests testTax] : XCTAssertEqual failed: ("9") is not ("7")\n'
        "Test Case '-[Shop.CartTests testTax]' failed (0.104 seconds).\n"
        "Test Case '-[Shop.CartTests testShip]' started.\n"
        "/app/Carrier.swift:14: Fatal error: Unexpectedly found nil while unwrapping an Optional value\n"
    )
    assert str(facts.location) == "Shop.CartTests testTax (/app/CartTests.swift:27)"
    assert facts.cause == 'XCTAssertEqual failed: ("9") is not ("7")'


def test_failure_of_xctest_without_a_place():
    """An error that a test throws has none."""
    facts = facts_of(
        '/app/CartTests.swift:27: error: -[Shop.CartTests testTax] : XCTAssertEqual failed: ("9") is not ("7")\n'
        "Test Case '-[Shop.CartTests testTax]' failed (0.104 seconds).\n"
        '<unknown>:0: error: -[Shop.CartTests testShip] : failed: caught error: "noRegion"\n'
        "Test Case '-[Shop.CartTests testShip]' failed (0.002 seconds).\n"
        "\t Executed 3 tests, with 2 failures (1 unexpected) in 0.007 (0.013) seconds\n"
    )
    assert facts.details == ('TestFailure at Shop.CartTests testShip: failed: caught error: "noRegion"',)


def test_output_of_the_next_test_of_dart():
    """What a test that passes prints belongs to no failed one."""
    facts = facts_of(DART.replace("00:01 +1 -1: Some", "00:01 +1 -1: rates\nError: no rate\n00:01 +2 -1: Some"))
    assert (facts.members, facts.details) == (1, ())


def test_assertion_of_a_library_at_an_address():
    """What was loaded from an address is not the user's own code."""
    library = "    at assertEquals (https://jsr.io/@std/assert/1.0.0/equals.ts:64:9)\n    at file:///app/cart_test.ts"
    facts = facts_of(DENO.replace("    at file:///app/cart_test.ts", library))
    assert str(facts.location) == "total is right (/app/cart_test.ts:1)"


def test_scenarios():
    """A step that nobody wrote is told as such, and scenarios have the place of their feature."""
    facts = facts_of(BEHAVE)
    assert (facts.type, str(facts.location)) == ("AssertionError", "Add an item (features/cart.feature:2)")
    assert facts.details[-1] == "TestFailure at Remove (features/cart.feature:6): undefined step: Then it explodes"


def test_check_of_a_package():
    """R's check shows the end of what its tests have printed, indented."""
    rule = "\u2500" * 40
    facts = facts_of(
        "* checking R files for syntax errors ... OK\n* checking tests ...\n  Running \u2018testthat.R\u2019\n ERROR\n"
        "Running the tests in \u2018tests/testthat.R\u2019 failed.\nLast 13 lines of output:\n"
        f"  {rule}\n  Failure ('test-f.R:1'): f adds\n  1 not equal to 2.\n  1/1 mismatches\n"
        f"  {rule}\n  \n  \u2550\u2550 Results {rule}\n  Duration: 0.2 s\n  \n"
        "  [ FAIL 1 | WARN 0 | SKIP 0 | PASS 0 ]\n  Error: Test failures\n  Execution halted\n* DONE\n\n"
        "Status: 1 ERROR, 1 WARNING, 1 NOTE\n"
    )
    assert (str(facts.location), facts.cause) == ("f adds (test-f.R:1)", "1 not equal to 2.")
    assert facts.details == ("1/1 mismatches",)


def test_macros_of_julia():
    """The stack of a failed test of Julia begins in its library, whose files are nobody's place."""
    facts = facts_of(
        "Cart: Test Failed at /srv/shop/test/runtests.jl:5\n  Expression: total() == 4\n   Evaluated: 3 == 4\n\n"
        "Stacktrace:\n [1] macro expansion\n   @ /opt/julia/share/julia/stdlib/v1.10/Test/src/Test.jl:672 [inlined]\n"
        " [2] macro expansion\n   @ /srv/shop/test/runtests.jl:5 [inlined]\n [3] top-level scope\n"
        "   @ /srv/shop/test/runtests.jl:4\nTest Summary: | Fail  Total  Time\nCart          |    1      1  0.5s\n"
        "ERROR: LoadError: Some tests did not pass: 0 passed, 1 failed, 0 errored, 0 broken.\n"
        "in expression starting at /srv/shop/test/runtests.jl:3\n"
    )
    assert (facts.format, str(facts.location)) == ("testrunners", "Cart (/srv/shop/test/runtests.jl:5)")
    assert facts.cause == "Expression: total() == 4; Evaluated: 3 == 4"


@pytest.mark.parametrize(
    "text",
    [
        "=================== 3 failed, 40 passed in 12.41s ===================",
        "log line of a test: connection to the database is open\nTests: 40 passed, 3 failed, 43 total",
    ],
)
def test_only_counts(text):
    """Where which tests failed is cut off, the facts say so; no line of a test that passed stands in for the reason."""
    facts = facts_of(text)
    assert facts.type == "TestsFailed"
    assert facts.cause.startswith("the reason was cut off: ")
    assert "3 failed" in facts.cause
    assert facts.members == 3


def key(text):
    facts = facts_of(text)
    return dedup_key(facts, template_of(facts))


def test_keys():
    """Lines and times do not matter; the test and what it claims do."""
    assert key(GTEST) == key(GTEST.replace("cc:14", "cc:19").replace("(0 ms)", "(7 ms)"))
    assert key(GTEST) != key(GTEST.replace("TotalIsRight", "TaxIsRight"))
    assert key(CATCH2) != key(CATCH2.replace("cart.total()", "cart.tax()"))


@pytest.mark.parametrize(
    "text",
    [
        "\u2717 upload of 3 files failed\nretry later",
        "0 failed, 12 passed",
        "1) install node\n2) run it",
        "copied 3 files, 2 failed",
    ],
)
def test_no_tests(text):
    """Marks and counts of other programs are no tests."""
    assert format_of(text) != "testrunners"


def test_what_a_passing_test_has_logged_is_not_the_cause() -> None:
    """Bun names no test that passed: the error of a test stands under the lines of code that it is of."""
    logged = "[jobs] task 2 failed\nerror: All fail\n      at <anonymous> (/app/jobs.test.ts:88:11)\n[jobs] retried\n"
    code = "1 | import { total } from './cart'\n2 | test('total is right', () => {\n3 |   expect(total()).toBe(3)\n"
    said = "                      ^\nerror: expect(received).toBe(expected)\n\nExpected: 3\nReceived: 2\n\n"
    place = "      at <anonymous> (/app/cart.test.ts:3:18)\n(fail) cart > total is right [0.18ms]\n\n 4 pass\n 1 fail"
    facts = facts_of(f"{logged}{code}{said}{place}")
    assert str(facts.location) == "cart > total is right (/app/cart.test.ts:3)"
    assert "expected): Expected: 3; Received: 2" in facts.cause
    assert "All fail" not in f"{facts.cause}{facts.details}"
