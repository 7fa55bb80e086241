"""Failures of Mocha, of Node's own runner and of TAP; the short samples follow their documentation."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of, key, said

facts = facts_as("mocha")

MOCHA = """\

  cart
    \u2714 adds up lines
    1) adds VAT


  1 passing (55ms)
  1 failing

  1) cart
       adds VAT:

      AssertionError: expected 4 to equal 3
      + expected - actual

      -4
      +3

      at Context.<anonymous> (test/cart.js:13:42)
      at process.processImmediate (node:internal/timers:483:21)
"""

NODE = """\
\u25b6 cart
  \u2716 adds VAT (5.7ms)
    AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

    4 !== 3

        at TestContext.<anonymous> (/srv/test/cart.test.js:13:12)
        at Test.run (node:internal/test_runner/test:796:25) {
      code: 'ERR_ASSERTION'
    }

\u2716 cart (8.2ms)
\u2139 fail 1

\u2716 failing tests:

test at test/cart.test.js:12:3
\u2716 adds VAT (5.7ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  4 !== 3

      at TestContext.<anonymous> (/srv/test/cart.test.js:13:12)
"""

TAP = """\
TAP version 13
# Subtest: cart
    # Subtest: adds VAT
    not ok 1 - adds VAT
      ---
      duration_ms: 5.77
      location: '/srv/test/cart.test.js:12:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:

        4 !== 3

      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      expected: 3
      actual: 4
      operator: 'strictEqual'
      stack: |-
        TestContext.<anonymous> (/srv/test/cart.test.js:13:12)
        Test.run (node:internal/test_runner/test:796:25)
      ...
    1..1
not ok 1 - cart
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
ok 2 - loads
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            MOCHA, ("AssertionError", "cart > adds VAT (test/cart.js:13)", "expected 4 to equal 3"), id="Mocha"
        ),
        pytest.param(
            NODE,
            (
                "AssertionError",
                "adds VAT (/srv/test/cart.test.js:13)",
                "Expected values to be strictly equal: expected 3, actual 4",
            ),
            id="Node",
        ),
        pytest.param(
            TAP,
            (
                "AssertionError",
                "adds VAT (/srv/test/cart.test.js:13)",
                "Expected values to be strictly equal: expected 3, actual 4",
            ),
            id="TAP",
        ),
    ],
)
def test_layouts(text, expected):
    """Claim, both values, test and line are the facts, however they are laid out."""
    assert said(facts(text)) == expected
    assert facts(text).members == 1


@pytest.mark.parametrize(
    "text", [pytest.param(MOCHA, id="Mocha"), pytest.param(NODE, id="Node"), pytest.param(TAP, id="TAP")]
)
@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        pytest.param("13", "57", True, id="other line"),
        pytest.param("5.7", "81.2", True, id="other duration"),
        pytest.param("4", "17", True, id="other value"),
        pytest.param("adds VAT", "adds tax", False, id="other test"),
    ],
)
def test_key(text, old, new, same):
    """The test and its claim make the key; lines, durations and values do not."""
    assert (key(text.replace(old, new)) == key(text)) is same


def test_node_and_its_tap_are_one_class():
    """Which reporter was used does not matter."""
    assert key(NODE) == key(TAP)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param(
            "     TypeError: no id\n      at load (src/a.js:1:2)",
            ("TypeError", "load (src/a.js:1)", "no id"),
            id="exception",
        ),
        pytest.param("     Error: x", ("Error", "cart > adds VAT", "x"), id="no stack"),
        pytest.param("     it went wrong", ("Error", "cart > adds VAT", "it went wrong"), id="no class"),
        pytest.param(
            "     Uncaught RangeError\n      at load (src/a.js:1:2)",
            ("RangeError", "load (src/a.js:1)", "no message"),
            id="no message",
        ),
        pytest.param(
            '     Error: Timeout of 40ms exceeded. For async tests, ensure "done()" is called. (/srv/test/cart.js)\n'
            "      at listOnTimeout (node:internal/timers:581:17)",
            ("Timeout", "cart > adds VAT (/srv/test/cart.js)", "Timeout of 40ms exceeded"),
            id="timeout",
        ),
        pytest.param(
            '     Error: Timeout of 40ms exceeded. Ensure "done()" is called.',
            ("Timeout", "cart > adds VAT", "Timeout of 40ms exceeded"),
            id="timeout without a file",
        ),
        pytest.param(
            "     AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:\n"
            "      + expected - actual\n\n"
            "       {\n      -  a: 1\n      +  a: 2\n       }",
            (
                "AssertionError",
                "cart > adds VAT",
                "Expected values to be loosely deep-equal: expected a: 2, actual a: 1",
            ),
            id="difference",
        ),
    ],
)
def test_mocha(block, expected):
    """A test ends with an exception, a failed comparison, or not at all."""
    assert said(facts(f"  0 passing (5ms)\n  1 failing\n\n  1) cart\n       adds VAT:\n{block}\n")) == expected


def test_mocha_with_one_cause():
    """Many tests with one cause are one failure."""
    block = "  {0}) cart\n       case {0}:\n     TypeError: no id\n      at load (src/a.js:1:2)\n\n"
    found = facts("  3 failing\n\n" + "".join(map(block.format, (1, 2, 3))))
    assert (found.type, found.members, found.tally) == ("TypeError", 3, "3 tests")


def test_mocha_cut_off():
    """The tool's own count tells how many failures are not in the text."""
    found = facts(MOCHA.replace("1 failing", "4 failing"))
    assert (found.members, found.details) == (4, ("... 3 more by the tool's count",))


def test_mocha_with_its_head_cut_off():
    """A failure with a stack is known without the summary above it."""
    assert said(facts(MOCHA[MOCHA.index("  1) cart") :]))[2] == "expected 4 to equal 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Exception during run: Error: Cannot find module '../src/tax'\nRequire stack:\n- /srv/test/tax.js\n"
            "    at Module._load (node:internal/modules/cjs/loader:1038:27)",
            ("MODULE_NOT_FOUND", "/srv/test/tax.js", "Cannot find module '../src/tax'"),
            id="tests that do not load",
        ),
        pytest.param(
            "\u2716 waits (5.7ms)\n  'test timed out after 40ms'\n",
            ("TestFailure", "waits", "test timed out after 40ms"),
            id="Node, no exception",
        ),
        pytest.param(
            "not ok 1 - adds up\n#   Failed test 'adds up'\n#   at t/cart.t line 6.\n#          got: '6'\n"
            "#     expected: '7'\n",
            ("AssertionError", "adds up (t/cart.t:6)", "got '6', expected '7'"),
            id="Perl",
        ),
        pytest.param(
            "#   Failed test 'adds up'\n#   at t/cart.t line 6.\n#          got: '6'\n#     expected: '7'\n"
            "t/cart.t .. \n",
            ("AssertionError", "adds up (t/cart.t:6)", "got '6', expected '7'"),
            id="prove",
        ),
        pytest.param("1..1\nnot ok 1 has a rate\n", ("AssertionError", "has a rate", "not ok"), id="bare TAP"),
        pytest.param(
            "not ok 2 costs\n  ---\n    operator: equal\n    expected: 5\n    actual:   4\n"
            "    at: Test.<anonymous> (/srv/t.js:6:5)\n  ...\n",
            ("AssertionError", "costs (/srv/t.js:6)", "equal: expected 5, actual 4"),
            id="tape",
        ),
        pytest.param(
            "not ok 2 costs\n  ---\n    expected: 5\n    actual:   4\n  ...\n",
            ("AssertionError", "costs", "expected 5, actual 4"),
            id="values alone",
        ),
        pytest.param(
            "not ok 1 - waits\n  ---\n  failureType: 'testTimeoutFailure'\n  error: 'test timed out after 40ms'\n"
            "  code: 'ERR_TEST_FAILURE'\n  ...\n",
            ("TestFailure", "waits", "test timed out after 40ms"),
            id="TAP, no exception",
        ),
        pytest.param(
            "not ok 1 - x\n  ---\n  duration_ms: 1\n  ...\n", ("Error", "x", "not ok"), id="TAP, nothing said"
        ),
        pytest.param(
            "not ok 1 - /srv/test/a.test.js\n  ---\n  exitCode: 1\n  error: 'test failed'\n"
            "  code: 'ERR_TEST_FAILURE'\n  ...\n",
            ("TestFailure", "/srv/test/a.test.js", "test failed"),
            id="TAP, a file that says nothing",
        ),
    ],
)
def test_other_forms(text, expected):
    """What little a runner says is told."""
    assert said(facts(text)) == expected


def test_files_that_do_not_load():
    """What Node's runner prints of a file that cannot be loaded stands before it, in comments."""
    block = (
        "# Error: Cannot find module '../src/tax'\n# Require stack:\n# - /srv/test/{0}.test.js\n"
        "#     at Module._load (node:internal/modules/cjs/loader:1038:27)\n"
        "not ok 1 - /srv/test/{0}.test.js\n  ---\n  exitCode: 1\n  error: 'test failed'\n  ...\n"
    )
    found = facts("TAP version 13\n" + "".join(map(block.format, ("a", "b"))))
    assert (found.type, found.cause, found.tally) == ("MODULE_NOT_FOUND", "Cannot find module '../src/tax'", "2 tests")


def test_very_many_failures():
    """Of very many failures a bounded number is looked at."""
    assert facts("".join(f"not ok {number} - case {number}\n" for number in range(400))).members == 300
    assert facts("".join(f"\u2716 case {number} (1.0ms)\n  'x'\n" for number in range(400))).members == 300


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("not ok 1 - later # TODO not built yet\nok 2 - loads\n", id="allowed to fail"),
        pytest.param("it is not ok to do this", id="prose"),
        pytest.param("\u2716 3 problems (3 errors, 0 warnings)", id="ESLint"),
        pytest.param("\u2716 failed (1.0ms)\n", id="nothing below"),
        pytest.param("To do:\n  1) first\n     this:\n  2) then\n     that:\nthe build is failing", id="a list"),
        pytest.param("1) one\n\n2) two is failing", id="a short list"),
        pytest.param("Exception during run: none", id="a mention"),
        pytest.param("  1) a\n  b\n at Context.x", id="no deeper line"),
    ],
)
def test_not_taken(text):
    """Texts that only look alike are left to others."""
    assert format_of(text) != "mocha"
