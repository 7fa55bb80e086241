"""Output of `go test`."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import gotest
from tests.extract.reading import facts, key

FAILED = """\
--- FAIL: TestSum (0.00s)
    sum_test.go:9: Sum() = 3, want 4
FAIL
FAIL\texample.com/stock/sums\t0.004s
FAIL"""
NO_SERVER = """\
--- FAIL: TestList (0.12s)
    api_test.go:20: cannot connect: dial tcp 127.0.0.1:40123: connect: connection refused
--- FAIL: TestCreate (0.02s)
    api_test.go:41: cannot connect: dial tcp 127.0.0.1:40123: connect: connection refused
FAIL
FAIL\texample.com/stock/api\t0.204s
"""


def test_failed_expectation():
    """The place is the test's, in the folder of its package."""
    found = facts(FAILED)
    assert (found.format, found.type, found.cause, str(found.location), found.members) == (
        "gotest",
        "AssertionError",
        "Sum() = 3, want 4",
        "TestSum (sums/sum_test.go:9)",
        1,
    )


def test_same_failure_elsewhere():
    """Durations, lines and values are no part of what failed, the test is."""
    assert key(FAILED.replace("0.00s", "1.20s").replace(":9", ":19").replace("0.004s", "(cached)")) == key(FAILED)
    assert key(FAILED.replace("TestSum", "TestMean")) != key(FAILED)


def test_one_cause():
    """Tests that an error in the code under test stopped are one failure, whose key does not depend on their number."""
    found = facts(NO_SERVER)
    assert (found.members, found.tally, found.details) == (
        2,
        "2 tests",
        ("in TestList (api_test.go:20), TestCreate (41)",),
    )
    first = "\n".join(NO_SERVER.split("\n")[:2] + NO_SERVER.split("\n")[4:])
    assert key(first.replace("40123", "35001")) == key(NO_SERVER)


def test_verbose():
    """What belongs to a test stands between the lines that begin and end it; of a paused test nothing does."""
    found = facts(
        "=== RUN   TestSum\n=== PAUSE TestSum\n    stray.go:1: other\n=== CONT  TestSum\n    sum_test.go:4: starting\n"
        "    sum_test.go:9: Sum() = 3, want 4\n    sum_test.go:10: done\n--- FAIL: TestSum (0.00s)\n"
        "=== RUN   TestMean\n"
        "--- SKIP: TestMean (0.00s)\nFAIL\nexit status 1\nFAIL\tstock\t0.004s\n"
    )
    assert (found.cause, found.members) == ("Sum() = 3, want 4", 1)
    assert str(found.location) == "TestSum (sum_test.go:9)"


@pytest.mark.parametrize(
    ("logged", "cause", "details"),
    [
        pytest.param("    a_test.go:3: starting\n    a_test.go:4: stopping", "stopping", (), id="nothing telling"),
        pytest.param(
            "    a_test.go:3: got:\n        one\n        two", "got: one; two", (), id="value in the lines behind"
        ),
        pytest.param(
            "    a_test.go:3: mismatch (-want +got):\n          T{\n        -   A: 1,\n"
            "        +   A: 2,\n        -   B: 3,\n          }",
            "mismatch (-want +got): - A: 1, + A: 2,",
            ("- B: 3,",),
            id="difference",
        ),
        pytest.param(
            "    a_test.go:3: wrong status\n        body: {}", "wrong status", ("body: {}",), id="further lines"
        ),
        pytest.param("    a_test.go:3: \n        empty first line", "empty first line", (), id="empty first line"),
    ],
)
def test_logged(logged, cause, details):
    """The entry that tells of a failure is the cause."""
    found = facts(f"--- FAIL: TestA (0.00s)\n{logged}\nFAIL\nFAIL\tx/y\t0.004s")
    assert found.cause == cause
    assert [line for line in found.details if line != "in TestA"] == list(details)


TESTIFY = """\
--- FAIL: TestA (0.00s)
    a_test.go:3: before
        Error Trace:\t/src/a_test.go:3
    a_test.go:4:
        \tError Trace:\t/src/a_test.go:4
        \tError:      \tNot equal:
        \t            \texpected: %s
        \t            \tactual  : %s
        \t
        \t            \tDiff:
        \t            \t--- Expected
        \t            \t+++ Actual
        \t            \t@@ -1 +1 @@
        \t            \t-%s
        \t            \t+%s
        \tTest:       \tTestA
FAIL
FAIL\tx/y\t0.004s
"""


def test_testify():
    """Expected and actual values stand in the cause if they are short, else what differs is shown."""
    short = facts(TESTIFY.replace("before", "starting") % (1, 2, 1, 2))
    assert short.cause == "Not equal: expected: 1, actual: 2"
    long = facts(TESTIFY.replace("before", "starting") % ("a" * 150, "b" * 150, "a", "b"))
    assert (long.cause, long.details) == ("Not equal", ("-a", "+b", "Error Trace:\t/src/a_test.go:3"))


def test_parents_do_not_count():
    """A test that failed only since a subtest did is no failure of its own."""
    found = facts(
        "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:3: got 1, want 2\n"
        "    --- PASS: TestA/c (0.00s)\nFAIL\nFAIL\tx/y\t0.004s"
    )
    assert (found.members, str(found.location)) == (1, "TestA/b (y/a_test.go:3)")


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        pytest.param(
            "2024/01/02 10:00:00 no such table\n--- FAIL: TestA (0.00s)\n",
            "failed without a word; printed last: no such table",
            id="printed",
        ),
        pytest.param("--- FAIL: TestA (0.00s)\n", "failed without a word", id="nothing"),
        pytest.param("--- FAIL: TestA (0.00s)\n    stray\n", "failed without a word", id="no place"),
    ],
)
def test_failed_without_a_log(printed, cause):
    """What was printed last may be another test's, and is not told as the cause."""
    assert facts(f"{printed}FAIL\nFAIL\tx/y\t0.1s").cause == cause


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        pytest.param("starting\n2024/01/02 10:00:00 no database\n", "no database", id="log.Fatal"),
        pytest.param("", "x/y failed; the reason is not in the text", id="nothing"),
        pytest.param("main.f(0x1)\ncreated by x\n", "x/y failed; the reason is not in the text", id="rest of a stack"),
    ],
)
def test_package_that_died(printed, cause):
    """A package that fails without a failed test tells why in its last line."""
    found = facts(f"{printed}FAIL\tx/y\t0.1s\nok  \tx/z\t0.1s")
    assert (found.type, found.cause, str(found.location)) == ("FAIL", cause, "x/y")


def test_cut_off():
    """Where only the verdict is left, no line of a test that passed is told as the cause."""
    found = facts("    --- PASS: TestA/empty (0.00s)\n10:00 retrying: connection refused\nFAIL\nFAIL\tx/y\t0.3s\nFAIL")
    assert (found.type, found.cause) == ("TestsFailed", "the reason was cut off: x/y failed")


def test_panic():
    """A panic belongs to the test whose function stands in its stack, which tells how it got there."""
    found = facts(
        "panic: boom\n\ngoroutine 6 [running]:\nx/y.f()\n\t/src/y/a.go:3 +0x1\nx/y.TestA(0x1)\n"
        "\t/src/y/a_test.go:5 +0x1\n"
        "testing.tRunner()\n\t/usr/local/go/src/testing/testing.go:9 +0x1\nFAIL\tx/y\t0.1s"
    )
    assert (found.type, found.cause, str(found.location), found.details) == (
        "panic",
        "boom",
        "y.f (/src/y/a.go:3)",
        ("in TestA", "called by a_test.go:5"),
    )


def test_panic_at_the_end_of_a_cut_text():
    """A dump without the package's line goes on to the end."""
    found = facts("--- FAIL: TestA (0.00s)\npanic: boom\n\ngoroutine 6 [running]:\nx/y.f()\n\t/src/y/a.go:3 +0x1")
    assert (found.format, found.cause, found.details) == ("gotest", "boom", ("in TestA",))


def test_time_out():
    """The test that was running is the cause, the place is where it waits."""
    text = "panic: test timed out after 10m0s\n\trunning tests:\n\t\tTestA/b (10m0s)\n\ngoroutine 9 [select]:\n"
    text += "x/y.TestA(0x1)\n\t/src/y/a_test.go:5 +0x1\nFAIL\tx/y\t600.1s"
    found = facts(text)
    assert (found.type, found.cause, str(found.location)) == (
        "timeout",
        "test timed out after 10m0s: TestA/b",
        "y.TestA (/src/y/a_test.go:5)",
    )
    assert facts("panic: test timed out after 10m0s\n\nFAIL\tx/y\t600.1s").cause == "test timed out after 10m0s"


def test_race():
    """A race belongs to the only test that failed; rules that frame something else are no race."""
    text = (
        "==================\nWARNING: DATA RACE\nWrite at 0x00c0 by goroutine 8:\n  y.add()\n"
        "      /src/y/a.go:8 +0x44\n"
        "==================\n==================\nhello\n==================\n--- FAIL: TestA (0.00s)\n"
        "    testing.go:1465: race detected during execution of test\nFAIL\nFAIL\tx/y\t0.1s"
    )
    found = facts(text)
    assert (found.type, str(found.location), found.details) == ("data race", "y.add (/src/y/a.go:8)", ("in TestA",))
    two = text.replace("FAIL\nFAIL\t", "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\t")
    assert facts(two).details == ()


BUILD = """\
# x/y [x/y.test]
y/a_test.go:3:4: undefined: b
y/a_test.go:5:6: not enough arguments in call to f
\thave ()
\twant (int)
FAIL\tx/y [build failed]
FAIL"""


def test_build_failed():
    """What the compiler says of a test is the failure."""
    found = facts(BUILD)
    assert (found.type, found.cause, str(found.location), found.tally) == (
        "build failed",
        "undefined: b",
        "y/a_test.go:3",
        "1 of 2 errors",
    )
    assert any("not enough arguments in call to f, have (), want (int)" in line for line in found.details)


def test_vet_and_missing_diagnostics():
    """The second heading that `vet` writes is skipped; without any line the package is all that is known."""
    assert facts("# x/y\n# [x/y]\ny/a.go:3:4: wrong verb\nFAIL\tx/y [build failed]").cause == "wrong verb"
    assert facts("FAIL\tx/y [build failed]").cause == "x/y: build failed"
    assert facts("# x/y\ny/a.go:3:4: wrong verb\nFAIL\tx/y [build failed]\n" + FAILED).tally == "1 of 2 failures"


LINKED = """\
# x/lnk.test
/usr/local/go/pkg/tool/linux_amd64/link: running gcc failed: exit status 1
/usr/bin/gcc -m64 -o $WORK/b001/lnk.test /tmp/go-link-1/go.o /tmp/go-link-1/000001.o
/usr/bin/ld: /tmp/go-link-1/000001.o: in function `twice':
/w/lnk/b.c:1: multiple definition of `twice'; /tmp/go-link-1/000002.o:/w/lnk/a.c:1: first defined here
collect2: error: ld returned 1 exit status

FAIL\tx/lnk [build failed]
"""


def test_what_a_linker_or_a_c_compiler_says_of_a_package_is_theirs():
    """The line of a package is a summary; the class is that of what the linker said."""
    found = facts(LINKED + "FAIL")
    assert (found.format, found.type, str(found.location)) == ("compilers", "LinkError", "twice (/w/lnk/b.c:1)")
    header = "# x/hdr\nhdr/h.go:3:11: fatal error: ../lexer.c: No such file or directory\nFAIL\tx/y [build failed]"
    found = facts(header)
    assert (found.type, found.cause) == ("CompileError", "../lexer.c: No such file or directory")


def test_what_a_linker_says_stands_beside_failed_tests():
    """Beside tests that failed, a package that could not be built is told with what the linker said."""
    found = facts(LINKED + FAILED)
    assert found.tally == "1 of 2 failures"
    assert any(line.startswith("LinkError at twice (/w/lnk/b.c:1) in x/lnk: multiple") for line in found.details)


def test_error_in_an_imported_package():
    """A package that an imported one keeps from being built is told by the error in that one."""
    found = facts("# x/dep\ndep/d.go:2:23: undefined: gone\nFAIL\tx/use [build failed]\nFAIL\tx/more [build failed]")
    assert (found.cause, str(found.location), found.tally) == ("undefined: gone", "dep/d.go:2", "")


OLD_TESTIFY = """\
--- FAIL: TestShade (0.00s)
    assertions.go:201: \r                        \r\tError Trace:\tassertions.go:85
        \r\t\t\tassertions.go:191
        \r\t\t\tshade_test.go:190
        \r\tError:\t\tNot equal: "38;2;\x1b[41m46\x1b[0m\x1b[42m28\x1b[0m"
        \r\tMessages:\tthe last cell
        \r
FAIL
FAIL\tx/color\t0.2s"""


def test_old_testify_overwrites_its_own_place():
    """The place is that of the test, the message no label, and a change that only colours showed has both sides."""
    found = facts(OLD_TESTIFY)
    assert (str(found.location), found.cause) == (
        "TestShade (color/shade_test.go:190)",
        'Not equal: "38;2;[-46-]{+28+}" (the last cell)',
    )


def test_blocks_that_are_compared_show_where_they_differ():
    """Of two blocks both sides are shown, and a cut of the lines in which they differ."""
    got = "\n".join(f"        line {number} of the text that was generated" for number in range(20))
    want = got.replace("line 3 ", "row 3 ").replace("line 9 ", "row 9 ")
    logged = f"    a_test.go:9: mismatch\n        --- got ---\n{got}\n        --- want ---\n{want}"
    found = facts(f"--- FAIL: TestA (0.00s)\n{logged}\nFAIL\nFAIL\tx/y\t0.1s")
    assert (found.cause, found.details) == (
        "mismatch",
        (
            "- got, + want:",
            "- line 3 of the text that was generated",
            "+ row 3 of the text that was generated",
            "- line 9 of the text that was generated",
            "+ row 9 of the text that was generated",
        ),
    )
    other = "\n".join(f"        entry {number}" for number in range(20))
    found = facts(f"--- FAIL: TestA (0.00s)\n{logged.replace(want, other)}\nFAIL\nFAIL\tx/y\t0.1s")
    assert found.details[-1] == "... 30 more lines"


def test_packages_that_several_lack():
    """Each line that cannot be loaded counts once, whichever packages import it."""
    missing = [
        f"a.go:{line}:2: no required module provides package x/{name}; to add it:\n\tgo get x"
        for line, name in ((3, "left"), (4, "right"))
    ]
    text = "\n".join(f"# {name}\n" + f"\n# {name}\n".join(missing) + f"\nFAIL\t{name} [setup failed]" for name in "ab")
    found = facts(text)
    assert (found.tally, str(found.location)) == ("1 of 2 errors", "a.go:3")
    assert "go at a.go:4: no required module provides package x/right" in found.details


def test_what_a_cut_off_test_has_logged():
    """Where its name is cut off, the label of testify tells whose it is; without one, the only failed test's."""
    label = (
        "        \tError Trace:\t/w/a_test.go:7\n        \tError:      \tShould be true\n        \tTest:       \tTestA"
    )
    failed = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/y\t0.1s"
    assert facts(f"noise\n    a_test.go:7: \n{label}\n{failed}").cause == "Should be true"
    assert facts(f"noise\n    a_test.go:7: got 3, want 4\n{failed}").cause == "got 3, want 4"
    other = f"noise\n    a_test.go:7: got 3, want 4\n--- FAIL: TestB (0.00s)\n{failed}"
    assert facts(other).cause.startswith("failed without a word")


def test_build_that_ends_the_text():
    """Lines of a compiler without the package's line are of another format."""
    assert gotest.FORMAT.read(read_text("FAIL\t\n# x/y\ny/a.go:3:4: wrong verb")) is None


def test_json():
    """The events of `-json` are read as the text they hold, lines that are cut or of other kinds are skipped."""
    lines = [json.dumps({"Action": "start", "Package": "x/y"}), '{"Action":"output","Output":"cut']
    lines += [json.dumps({"Action": "output", "Package": "x/y", "Output": f"{line}\n"}) for line in FAILED.split("\n")]
    found = facts("\n".join(lines).replace('": ', '":'))
    assert (found.format, found.cause) == ("gotest", "Sum() = 3, want 4")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ok  \tx/y\t0.1s\n--- PASS: TestA (0.00s)\nFAIL\tis a word", id="passed"),
        pytest.param('t.Log("--- FAIL: TestA")', id="source code"),
        pytest.param("a--- FAIL: TestA (0.00s)", id="within a line"),
    ],
)
def test_not_taken(text):
    """A text in which no test failed is of another format."""
    assert gotest.FORMAT.read(read_text(text)) is None


LOGGING = (
    "--- FAIL: TestCheckout (0.44s)\n"
    "    cart_test.go:38: Expected session: 7, got a new one\n"
    "    cart_test.go:79: user enters a prompt (should capture 5 lines)\n"
    "    cart_test.go:101: Expected 2 rows, got 0\n"
)


def test_the_last_word_of_a_test_that_logs_is_its_failure():
    """What `t.Log` and `t.Fatal` print looks alike; the one that ends the test stands last."""
    found = facts(f"{LOGGING}FAIL\nFAIL\texample.com/shop\t0.5s\nFAIL\n")
    assert (found.cause, str(found.location)) == ("Expected 2 rows, got 0", "TestCheckout (shop/cart_test.go:101)")
    assert "cart_test.go:79: user enters a prompt (should capture 5 lines)" in found.details


def test_a_test_that_panics_has_failed_once():
    """What it logged before is no failure of its own."""
    text = (
        "--- FAIL: TestCheckout (0.44s)\n    cart_test.go:404: first commit should have no id, got:\n"
        "panic: runtime error: index out of range [3] with length 3 [recovered]\n"
        "goroutine 35 [running]:\nexample.com/shop.TestCheckout(0xc000248000)\n\t/srv/shop/cart_test.go:411 +0x39c\n"
        "FAIL\texample.com/shop\t0.5s\nFAIL\n"
    )
    found = facts(text)
    assert (found.type, found.members, found.location.line) == ("panic", 1, 411)


def test_no_line_behind_a_cut_belongs_to_the_test_before_it():
    """A harness took the middle away, with the name of the test that logged what follows."""
    text = (
        "--- FAIL: TestCheckout (0.44s)\n    cart_test.go:38: initial head\n        Files modi\n\n"
        "... [92611 characters truncated] ...\n\n"
        "s.go:196: hook stopped\n    order_test.go:249: commit should have an id\n"
        "--- FAIL: TestOrder (0.61s)\n    order_test.go:260: Expected 1 row, got 0\n"
        "FAIL\nFAIL\texample.com/shop\t0.5s\nFAIL\n"
    )
    found = facts(text)
    assert found.members == 2
    assert "behind the cut: order_test.go:249: commit should have an id" in found.details
    assert any("TestCheckout: the reason was cut off" in line for line in (found.cause, *found.details))


def test_what_could_not_be_built_for_want_of_another_package_is_no_failure_of_its_own():
    """The compiler has said why one package cannot be built; those that import it only say that they were not."""
    text = (
        "# example.com/shop/cart\ncart/cart.go:47:38: undefined: total\n"
        "FAIL\texample.com/shop [build failed]\nFAIL\texample.com/shop/cart [build failed]\nFAIL\n"
    )
    found = facts(text)
    assert (str(found.location), found.cause, found.members) == ("cart/cart.go:47", "undefined: total", 1)


def test_what_a_test_printed_right_before_it_failed_is_shown():
    """It mostly tells why; what stands beside tests that passed is left out."""
    text = (
        "loading rates\nWARN of a test that passed\nnothing to reset\nWarning: unknown agent type\n"
        "--- FAIL: TestReset (0.01s)\n    hooks.go:12: hook output:\n        captured 0 files\n        skipped it\n"
        "    reset_test.go:326: branch should be deleted\n"
        "ERROR of another test\nFAIL\nFAIL\texample.com/shop\t0.5s\nFAIL\n"
    )
    found = facts(text)
    assert found.cause == "branch should be deleted"
    assert found.details == (
        "captured 0 files",
        "skipped it",
        "WARN of a test that passed",
        "nothing to reset",
        "Warning: unknown agent type",
    )
    assert not found.evidence


def test_values_that_differ_in_blank_lines_are_told_apart():
    """What reads the same is no reason."""
    text = (
        "--- FAIL: TestEnd (0.00s)\n    a_test.go:9: got:\n        \n        a=1\n        want:\n        a=1\n"
        "FAIL\nFAIL\tx/y\t0.1s\n"
    )
    assert facts(text).cause == r"got: '\n'; a=1; want: a=1"


def test_a_message_that_only_announces_a_difference() -> None:
    """Nothing stands below it, and the next message of the test is another one."""
    announced = "    items_test.go:13: Parse() mismatch (-want +got):\n"
    text = f"=== RUN   TestParse\n{announced * 2}--- FAIL: TestParse (0.00s)\nFAIL\nFAIL\tshop\t0.01s\n"
    assert facts(text).cause.startswith("Parse() mismatch (-want +got)")


def test_a_message_with_more_than_a_line_below_it() -> None:
    """The first line below what announces it belongs to the cause; of many lines the rest is counted."""
    below = "".join(f"        step {number} of the import has left {'x' * 60}\n" for number in range(40))
    found = facts(
        f"--- FAIL: TestImport (0.00s)\n    import_test.go:9: the import failed:\n{below}FAIL\nFAIL\tshop\t0.01s\n"
    )
    assert found.cause.startswith("the import failed: step 0 of the import has left")
    assert "more lines" in "\n".join(found.details)


def test_two_sides_that_are_equal_are_no_comparison() -> None:
    """As where the difference was not printed: each line stays, once."""
    long = "x" * 210
    body = f"        expected:\n        {long}\n        actual:\n        {long}\n"
    found = facts(f"--- FAIL: TestSame (0.00s)\n    same_test.go:9: they differ\n{body}FAIL\nFAIL\tshop\t0.01s\n")
    assert (found.cause, len(found.details)) == ("they differ", 3)
