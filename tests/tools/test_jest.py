"""Failures of Jest, Vitest and Playwright; the short samples follow their documentation, the corpus holds real ones."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from tests.extract.reading import facts_as, format_of, key, said

facts = facts_as("jest")

JEST = """\
FAIL test/cart.test.js
  cart
    \u2713 adds up lines (3 ms)
    \u2715 adds VAT (8 ms)

  \u25cf cart \u203a adds VAT

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 4

      11 |   it('adds VAT', () => {
    > 12 |     expect(total(cart)).toBe(3);
         |                         ^
      13 |   });

      at Object.toBe (test/cart.test.js:12:25)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Time:        1.025 s
"""

VITEST = """\
 FAIL  test/cart.test.js > cart > adds VAT
AssertionError: expected 4 to be 3 // Object.is equality

- Expected
+ Received

- 3
+ 4

 \u276f test/cart.test.js:12:25
     11|   it('adds VAT', () => {
     12|     expect(total(cart)).toBe(3);
       |                         ^
     13|   });

\u23af\u23af\u23af\u23af\u23af[1/1]\u23af

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
   Duration  510ms
"""

PLAYWRIGHT = """\
  1) [chromium] \u203a tests/login.spec.ts:5:5 \u203a shop \u203a logs in \u2500\u2500\u2500\u2500

    Error: Timed out 5000ms waiting for expect(locator).toHaveText(expected)

    Expected string: "Welcome"
    Received string: "Sign in"

      10 |   await page.click('button');
    > 11 |   await expect(page.locator('h1')).toHaveText('Welcome');
         |                                    ^

        at /srv/tests/login.spec.ts:11:36

    Retry #1 \u2500\u2500\u2500\u2500

    Error: Timed out 5000ms waiting for expect(locator).toHaveText(expected)

  1 failed
    [chromium] \u203a tests/login.spec.ts:5:5 \u203a shop \u203a logs in
"""


def failed(message, stack="      at Object.toBe (test/cart.test.js:12:25)\n"):
    head = "FAIL test/cart.test.js\n  \u25cf cart \u203a adds VAT\n\n"
    return f"{head}{message}\n\n{stack}\nTests:       1 failed, 1 total\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            JEST,
            (
                "AssertionError",
                "cart > adds VAT (test/cart.test.js:12)",
                "expect(received).toBe(expected): expected 3, received 4",
            ),
            id="Jest",
        ),
        pytest.param(
            VITEST,
            ("AssertionError", "cart > adds VAT (test/cart.test.js:12)", "expected 4 to be 3"),
            id="Vitest",
        ),
        pytest.param(
            PLAYWRIGHT,
            (
                "AssertionError",
                "shop > logs in (/srv/tests/login.spec.ts:11)",
                'expect(locator).toHaveText(expected): expected string "Welcome", received string "Sign in"',
            ),
            id="Playwright",
        ),
    ],
)
def test_layouts(text, expected):
    """Claim, both values, test and line are the facts, however they are laid out; the line of code is a detail."""
    assert said(facts(text)) == expected
    assert facts(text).details[0].startswith("> ")
    assert facts(text).members == 1


@pytest.mark.parametrize(
    ("above", "place"),
    [
        ("attachment #5: trace (application/zip) \u2500\u2500\n  test-results/a/trace.zip", "tests/login.spec.ts:5"),
        ("    at unwrap (/srv/key.ts:52:11)\n    at /srv/tests/login.spec.ts:9:3", "unwrap (/srv/key.ts:52)"),
    ],
)
def test_the_list_at_the_end_names_what_a_tail_has_left(above: str, place: str):
    """An attachment has no lines; a stack that is left is that of the one test."""
    found = said(
        facts(f"{above}\n  1 failed\n    [chromium] \u203a tests/login.spec.ts:5:5 \u203a shop \u203a logs in\n")
    )
    assert found == ("TestFailure", place, "shop > logs in failed")


@pytest.mark.parametrize("text", [pytest.param(JEST, id="Jest"), pytest.param(VITEST, id="Vitest")])
@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        pytest.param("12", "57", True, id="other line"),
        pytest.param("1.025 s", "3.2 s", True, id="other duration"),
        pytest.param("510ms", "920ms", True, id="other duration of Vitest"),
        pytest.param("4", "17", True, id="other value"),
        pytest.param("adds VAT", "adds tax", False, id="other test"),
        pytest.param("cart.test", "order.test", False, id="other file"),
    ],
)
def test_key(text, old, new, same):
    """The test and its claim make the key; lines, durations and values do not."""
    assert (key(text.replace(old, new)) == key(text)) is same


@pytest.mark.parametrize(
    ("message", "kind", "cause"),
    [
        pytest.param(
            "    expect(received).toEqual(expected) // deep equality\n\n    - Expected  - 1\n    + Received  + 1\n\n"
            '      Object {\n    -   "a": 1,\n    +   "a": 2,\n      }',
            "AssertionError",
            'expect(received).toEqual(expected): expected "a": 1, received "a": 2',
            id="difference",
        ),
        pytest.param(
            "    expect(received).rejects.toThrow()\n\n    Matcher error: received value must be a promise",
            "AssertionError",
            "expect(received).rejects.toThrow(): Matcher error: received value must be a promise",
            id="no values",
        ),
        pytest.param(
            "    expect(received).toBeOdd()\n\n    seven was even", "AssertionError",
            "expect(received).toBeOdd(): seven was even", id="custom matcher",
        ),
        pytest.param(
            "    expect(received).toBeOdd()", "AssertionError", "expect(received).toBeOdd()", id="nothing else"
        ),
        pytest.param("    TypeError: no id", "TypeError", "no id", id="exception"),
        pytest.param("    mail was refused", "Error", "mail was refused", id="exception without its class"),
        pytest.param(
            "    connect ECONNREFUSED "
            "127.0.0.1:5432", "ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432", id="system"
        ),
        pytest.param('    thrown: "Exceeded timeout of 50 ms for a test.\n    Add a timeout', "Timeout",
            "Exceeded timeout of 50 ms for a test", id="timeout"),
        pytest.param('    thrown: "closed"', "Uncaught", "closed", id="thrown text"),
        pytest.param("    Cannot find module '../a' from 'test/cart.test.js'", "MODULE_NOT_FOUND",
            "Cannot find module '../a'", id="module"),
        pytest.param("    Error: outer\n\n      at f (src/a.js:1:2)\n\n    Cause:\n"
                     "    TypeError: inner", "TypeError", "inner", id="cause"),
    ],
)  # fmt: skip
def test_messages(message, kind, cause):
    """A matcher's message tells claim and values; an exception its type."""
    found = facts(failed(message))
    assert (found.type, found.cause) == (kind, cause)


def test_cause_of_vitest():
    """The root cause counts, and what was raised from it is told."""
    text = VITEST.replace(
        "AssertionError: expected 4 to be 3 // Object.is equality",
        "Error: job failed\n \u276f test/cart.test.js:9:1\n\nCaused by: TypeError: no address",
    )
    found = facts(text)
    assert (found.type, found.cause) == ("TypeError", "no address")
    assert "raised as Error: job failed" in found.details


@pytest.mark.parametrize(
    ("message", "stack", "place"),
    [
        pytest.param(
            "    TypeError: Cannot read properties of undefined (reading 'rows')",
            "      at Store.rows (src/store.js:7:5)",
            "src/store.js:7",
            id="named after the expression that failed",
        ),
        pytest.param("    Error: x", "      at connect (src/db.js:7:5)", "connect (src/db.js:7)", id="function"),
        pytest.param(
            "    Error: x",
            "      at y (node_modules/a/b.js:7:5)",
            "cart > adds VAT (test/cart.test.js)",
            id="dependency",
        ),
    ],
)  # fmt: skip
def test_places(message, stack, place):
    """The innermost own frame is the place; without one, the test is."""
    assert str(facts(failed(message, stack)).location) == place


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            '    SyntaxError: /srv/src/money.js: Unexpected token, expected "}" (2:29)\n\n    > 2 |   return `;\n'
            "        |     ^",
            ("SyntaxError", "/srv/src/money.js:2", 'Unexpected token, expected "}"'),
            id="Babel",
        ),
        pytest.param(
            "    SyntaxError: /srv/src/money.js: Unexpected token",
            ("SyntaxError", "/srv/src/money.js", "Unexpected token"),
            id="Babel without a line",
        ),
        pytest.param(
            "    Jest encountered an unexpected token\n\n    Details:\n\n    /srv/src/cart.js:1\n"
            "    export const a = 1;\n"
            "    ^^^^^^\n\n    SyntaxError: Unexpected token 'export'",
            ("SyntaxError", "/srv/src/cart.js:1", "Unexpected token 'export'"),
            id="not transformed",
        ),
        pytest.param(
            "    test/a.test.ts:3:7 - error TS2322: Type 'a' is not assignable.",
            ("TS2322", "test/a.test.ts:3", "Type 'a' is not assignable."),
            id="ts-jest",
        ),
        pytest.param(
            "    /srv/src/cart.js:1\n    nothing more",
            ("Error", "test/cart.test.js", "/srv/src/cart.js:1"),
            id="a place alone",
        ),
        pytest.param("", ("Error", "test/cart.test.js", "no message"), id="nothing"),
    ],
)
def test_suite_that_does_not_load(message, expected):
    """The place is that of the code at fault, not that of the suite."""
    text = f"FAIL test/cart.test.js\n  \u25cf Test suite failed to run\n\n{message}\n\nTest Suites: 1 failed, 1 total\n"
    assert said(facts(text)) == expected


def test_details_that_are_announced_again_are_told_once():
    """A text may hold the heading any number of times, also at its end."""
    message = "    Jest encountered an unexpected token\n" + "    Details:\n" * 20 + "    SyntaxError: Unexpected token"
    text = f"FAIL test/cart.test.js\n  \u25cf Test suite failed to run\n\n{message}\n"

    assert said(facts(text)) == ("SyntaxError", "test/cart.test.js", "Unexpected token")
    assert classify(RawError(text="FAIL  n\nDetails:\nDetails:")).facts.cause == "FAIL  n"


def test_suites_that_do_not_load_for_one_reason():
    """A missing module is one cause, however many suites import it."""
    block = (
        "FAIL test/{0}.test.js\n  \u25cf Test suite failed to run\n\n"
        "    Cannot find module '../money' from 'test/{0}.test.js'\n\n"
    )
    text = "".join(map(block.format, ("a", "b", "c"))) + "Test Suites: 3 failed, 3 total\n"
    found = facts(text)
    assert (found.type, found.cause, found.members, found.tally) == (
        "MODULE_NOT_FOUND",
        "Cannot find module '../money'",
        3,
        "3 suites",
    )


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("Failed to load url ../money (resolved id: ../money) in /srv/test/a.test.js. Does the file "
                     "exist?", id="url"),
        pytest.param("Failed to load url ../money (resolved id: ../money). Does the file exist?", id="no importer"),
    ],
)  # fmt: skip
def test_vitest_suites_that_do_not_load(message):
    """Suites with one error are listed together."""
    text = (
        " FAIL  test/a.test.js [ test/a.test.js ]\n FAIL  |web| test/b.test.js [ test/b.test.js ]\n"
        f"Error: {message}\n\n\u23af\u23af[1/2]\u23af\n"
    )
    found = facts(text)
    assert (found.type, found.cause, found.tally) == ("MODULE_NOT_FOUND", "Failed to load url ../money", "2 suites")
    assert found.details == ("in test/a.test.js, test/b.test.js",)


def test_vitest_without_rules():
    """The next failure ends the one before where the lines between them are cut."""
    text = " FAIL  a.test.js > x\nTypeError: one\n FAIL  a.test.js > y\nRangeError: two\n"
    assert facts(text).members == 2


def test_vitest_with_elided_values():
    """Where a sentence leaves out what differs, the difference tells it."""
    text = VITEST.replace(
        "expected 4 to be 3 // Object.is equality", "expected { a: 4, \u2026(2) } to deeply equal { a: 3, \u2026(2) }"
    )
    assert facts(text).cause == "expected to deeply equal: expected 3, received 4"


def test_unhandled_errors():
    """What happens outside of tests fails the run too."""
    text = (
        "\u23af\u23af\u23af Unhandled Errors \u23af\u23af\u23af\n\n"
        "Vitest caught 1 unhandled error during the test run.\n\n"
        "\u23af\u23af\u23af Uncaught Exception \u23af\u23af\u23af\nError: late failure\n"
        " \u276f Timeout.run test/q.test.js:19:28\n\n"
        "\u23af\u23af\u23af\n Test Files  1 passed (1)\n"
    )
    assert said(facts(text)) == ("Error", "Timeout.run (test/q.test.js:19)", "late failure")


def test_failures_that_are_repeated_at_the_end():
    """Jest sums up long runs, and prints everything twice."""
    assert facts(JEST + "Summary of all failing tests\n" + JEST).members == 1


def test_very_many_failures():
    """Of very many failures a bounded number is looked at, and all are counted."""
    block = "  \u25cf cart \u203a case {}\n\n    TypeError: no id\n\n      at load (src/a.js:1:2)\n\n"
    text = "FAIL test/cart.test.js\n" + "".join(block.format(number) for number in range(320))
    assert facts(text + "Tests:       320 failed, 320 total\n").tally == "300 of 320 tests"


def test_console_output_is_no_failure():
    """A section of what was logged is no test."""
    text = JEST.replace("  \u25cf cart", "  \u25cf Console\n\n    console.log\n      TypeError: x\n\n  \u25cf cart")
    assert said(facts(text)) == said(facts(JEST))


def test_what_is_cut_off_is_counted():
    """The tool's own count tells how many failures are not in the text."""
    found = facts(JEST.replace("Tests:       1 failed", "Tests:       3 failed"))
    assert (found.members, found.details[-1]) == (3, "... 2 more by the tool's count")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "FAIL test/cart.test.js (5.1 s)\n  cart\n    \u2715 adds VAT (8 ms)\nTest Suites: 1 failed, 1 total\n",
            ("TestFailure", "test/cart.test.js", "adds VAT failed"),
            id="list of Jest",
        ),
        pytest.param(
            " \u276f test/cart.test.js (4 tests | 1 failed) 22ms\n   \u00d7 cart > adds VAT 11ms\n"
            "     \u2192 expected 4 to be 3 // Object.is equality",
            ("TestFailure", "test/cart.test.js", "expected 4 to be 3"),
            id="list of Vitest",
        ),
        pytest.param(
            "Test Suites: 1 failed, 1 total\nTests:       3 failed, 4 total",
            ("TestFailure", "", "3 tests failed; which and why is not in the text"),
            id="summary",
        ),
        pytest.param(
            "Test Suites: 1 failed, 1 total\nTests:       0 total",
            ("TestFailure", "", "1 suite failed; which and why is not in the text"),
            id="summary of suites",
        ),
        pytest.param(
            'PASS test/a.test.js\nJest: "global" coverage threshold for lines (90%) not met: 33.33%\n'
            "Test Suites: 1 passed, 1 total",
            ("CoverageThreshold", "", '"global" coverage threshold for lines (90%) not met: 33.33%'),
            id="coverage",
        ),
    ],
)
def test_little_left(text, expected):
    """What a cut output still holds is told."""
    assert said(facts(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total", id="all passed"),
        pytest.param("\u25cf a list\n\u25cf of things", id="bullets"),
        pytest.param(" FAIL  \nnothing", id="FAIL alone"),
        pytest.param("2 \u00d7 3 = 6", id="a sign"),
        pytest.param("\u00d7 this is a note", id="a mark without a file"),
        pytest.param(
            "  1) [chromium] \u203a tests/login.spec.ts:5:5 \u203a logs in\n  done", id="a list of Playwright"
        ),
        pytest.param("--- FAIL: TestX (0.00s)\nFAIL example.com/shop 0.1s", id="go test"),
    ],
)
def test_not_taken(text):
    """Texts that only look alike are left to others."""
    assert format_of(text) != "jest"


def test_suite_that_vite_cannot_read():
    """What Vite cannot read is a syntax error of the file that it names, whose line it does not know."""
    found = facts(
        " FAIL  test/cart.test.js [ test/cart.test.js ]",
        "Error: Failed to parse source for import analysis because the content contains invalid JS syntax.",
        "  Plugin: vite:import-analysis",
        "  File: /src/test/cart.test.js:1:1",
        "",
        " Test Files  1 failed (1)",
        "",
    )
    assert (found.type, str(found.location)) == ("SyntaxError", "/src/test/cart.test.js")
