"""Output of ExUnit."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import exunit
from tests.extract.reading import facts, key

FAILED = """\
Running ExUnit with seed: 1234, max_cases: 8

..

  1) test sum/1 adds (Stock.SumTest)
     test/sum_test.exs:4
     Assertion with == failed
     code:  assert Stock.sum([1, 2]) == 4
     left:  3
     right: 4
     stacktrace:
       test/sum_test.exs:5: (test)

.
Finished in 0.03 seconds (0.03s async, 0.00s sync)
4 tests, 1 failure
"""
RAISED = """\
  {number}) test {name} (Stock.RepoTest)
     test/repo_test.exs:{line}
     ** (RuntimeError) no repository is running
     code: Repo.all(Item)
     stacktrace:
       (ecto 3.11.0) lib/ecto/repo/registry.ex:22: Ecto.Repo.Registry.lookup/1
       test/repo_test.exs:{line}: (test)

"""


def _test(said: str, code: str = "assert x == 1") -> str:
    lines = f"{said}\ncode: {code}\nstacktrace:\n  test/a_test.exs:5: (test)".replace("\n", "\n     ")
    return f"  1) test a (A.BTest)\n     test/a_test.exs:4\n     {lines}\n\nFinished in 1.0 seconds\n1 test, 1 failure"


def test_failed_expectation():
    """The expression and both sides are the cause, the test is the place."""
    found = facts(FAILED)
    assert (found.format, found.type, found.cause, str(found.location), found.members, found.details) == (
        "exunit",
        "AssertionError",
        "assert Stock.sum([1, 2]) == 4, left: 3, right: 4",
        "test sum/1 adds (test/sum_test.exs:5)",
        1,
        (),
    )


def test_same_failure_elsewhere():
    """Seeds, lines and values are no part of what failed, the test is."""
    other = FAILED.replace("1234", "99").replace("exs:5", "exs:9").replace("left:  3", "left:  2").replace("1)", "7)")
    assert key(other) == key(FAILED)
    assert key(FAILED.replace("sum/1 adds", "sum/1 counts")) != key(FAILED)


def test_one_cause():
    """Tests that one exception ended are one failure, whose key does not depend on their number."""
    many = "".join(RAISED.format(number=number, name=f"t{number}", line=10 * number) for number in range(1, 13))
    found = facts(f"{many}\nFinished in 0.1 seconds\n20 tests, 12 failures, 1 skipped")
    assert (found.type, found.members, found.tally) == ("RuntimeError", 12, "12 tests")
    assert key(many) == key(RAISED.format(number=1, name="other", line=7))


def test_stack_that_is_cut():
    """A test whose stack is cut failed where the others did."""
    whole = RAISED.format(number=1, name="a", line=7).replace("ecto 3.11.0) lib/ecto", "stock 1.0.0) lib/stock")
    cut = whole.replace("1) test a", "2) test b").partition("       (stock")[0]
    found = facts(f"{whole}{cut}\n... [500 characters truncated] ...")
    assert (found.members, found.location.file) == (2, "lib/stock/repo/registry.ex")


def test_without_a_heading():
    """What is left of a test whose heading is cut off still is read, unless it does not tell what failed."""
    tail = FAILED[FAILED.index("     Assertion") :]
    assert (facts(tail).format, facts(tail).cause) == ("exunit", facts(FAILED).cause)
    blamed = "The following arguments were given to A.b/1:\n\n    # 1\n    nil\n\ncode: A.b(nil)\nstacktrace:\n  "
    blamed += "lib/a.ex:3: A.b/1"
    found = facts(blamed)
    assert (found.cause, found.details) == ("no function clause matching in A.b/1", ("argument 1: nil",))
    less = FAILED[FAILED.index("     right") :]
    assert exunit.FORMAT.read(read_text(less)) is None


@pytest.mark.parametrize(
    ("text", "cause", "details"),
    [
        pytest.param(_test("write me", 'flunk("write me")'), "write me", (), id="flunk"),
        pytest.param(_test("the list is empty"), "the list is empty", ("> assert x == 1",), id="own message"),
        pytest.param(
            _test("Expected truthy, got false", "assert x"),
            "assert x",
            (),
            id="truthy",
        ),
        pytest.param(
            _test(
                "Assertion failed, no matching message after 100ms\nThe process mailbox is empty.", "assert_receive :a"
            ),
            "assert_receive :a: Assertion failed, no matching message after 100ms",
            (),
            id="no message",
        ),
        pytest.param(
            _test("Assertion with == failed\nleft: 1\nhint: no", "assert a(\n  b\n\n) == 1"),
            "assert a( b ) == 1, left: 1",
            (),
            id="expression of several lines",
        ),
        pytest.param(
            _test(f"Assertion with == failed\nleft: {'x' * 200}\nright: 1"),
            "assert x == 1, assertion with == failed",
            (f"left: {'x' * 139} ... {'x' * 50}", "right: 1"),
            id="long side",
        ),
        pytest.param(
            _test(
                "** (ExUnit.TimeoutError) test timed out after 60000ms. You can change the timeout:\n\n  1. per test"
            ),
            "test timed out after 60000ms",
            ("in test a",),
            id="time-out",
        ),
        pytest.param(
            _test("** (EXIT from #PID<0.1.0>) killed\n\nThe following output was logged:\nhello"),
            "killed",
            ("in test a",),
            id="killed",
        ),
    ],
)
def test_causes(text, cause, details):
    """What failed is told in one line, with what is needed to mend it."""
    found = facts(text)
    assert (found.format, found.cause, found.details) == ("exunit", cause, details)


def test_setup_of_all_tests():
    """Tests that never ran since their set-up failed are counted."""
    found = facts(
        "  0) Stock.RepoTest: failure on setup_all callback, all tests have been invalidated\n"
        "     ** (MatchError) no match of right hand side value: :error\n     stacktrace:\n"
        "       test/repo_test.exs:5: Stock.RepoTest.__ex_unit_setup_all_0/1\n\nFinished in 0.1 seconds\n"
        "3 tests, 0 failures, 3 invalid"
    )
    assert (found.type, found.members, found.details) == ("MatchError", 3, ())


def test_one_text_that_lacks_many_things():
    """Tests that look for different things in one and the same long text fail for one cause."""
    page = "<p>" + "not found " * 50 + "</p>"
    text = "".join(
        f"  {number}) test {name} (A.BTest)\n     test/a_test.exs:{number}\n     Assertion with =~ failed\n"
        f'     code:  assert html =~ "{name}"\n     left:  "{page}"\n     right: "{name}"\n     stacktrace:\n'
        f"       test/a_test.exs:{number}: (test)\n\n"
        for number, name in enumerate(("one", "two", "three"), 1)
    )
    found = facts(text)
    assert (found.tally, str(found.location)) == ("3 tests", "test/a_test.exs")


def test_endless_message():
    """Of one test only its first lines are read."""
    assert facts("  1) test a (A.BTest)\n     test/a_test.exs:4\n     long\n" + "     more\n" * 500).cause == "long"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Running ExUnit with seed: 1\n\n....\nFinished in 0.1 seconds\n4 tests, 0 failures", id="passed"),
        pytest.param("  1) test the pump (twice)\n  2) close the valve", id="list in prose"),
    ],
)
def test_not_taken(text):
    """A text without a failed test is of another format."""
    assert exunit.FORMAT.read(read_text(text)) is None


def test_a_test_ends_where_the_text_was_cut():
    """What stands behind a cut belongs to another test; of the tests that were cut out the cause is unknown."""
    head, tail = FAILED.split("     left:  3\n")
    cut = f"{head}... [3412 characters truncated] ...\n     left: 8\n{tail}".replace("1 failure", "4 failures")
    found = facts(cut)
    assert (found.tally, found.details[-1]) == ("1 of 4 tests", "... 3 more by the tool's count")
    assert "8" not in found.cause


def test_a_rest_behind_a_cut_is_no_test():
    """The end of a message that was cut apart states no cause."""
    whole = FAILED.partition(".\nFinished")[0]
    rest = "ndpoint.\n     code: assert price(3)\n     stacktrace:\n       test/sum_test.exs:9: (test)\n\n"
    found = facts(f"{whole}\n[2107 characters truncated]\n{rest}")
    assert found.members == 1
    assert "ndpoint" not in "\n".join((found.cause, *found.details))
