"""Output of pytest; the samples are short ones, written after the output of its reporters."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Location
from tests.extract.reading import facts_as, format_of, key

facts = facts_as("pytest")

OUTPUT = """\
============================= test session starts ==============================
collected 2 items

tests/test_shop.py .F                                                    [100%]

================================== FAILURES ===================================
__________________________________ test_total __________________________________

cart = <shop.Cart object at 0x7fae6f875bd0>

    def test_total(cart):
        cart.add("pear")
>       assert cart.total() == 5
E       assert 4 == 5
E        +  where 4 = total()
E        +    where total = <shop.Cart object at 0x7fae6f875bd0>.total

tests/test_shop.py:12: AssertionError
----------------------------- Captured stdout call -----------------------------
E   KeyError: 'not this'
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_total - assert 4 == 5
========================= 1 failed, 1 passed in 0.11s ==========================
"""
CHAIN = """\
================================== FAILURES ===================================
____________________________ {test} _____________________________

    def load(name):
        try:
>           return RATES[name]
E           KeyError: 'EUR'

shop/rates.py:5: KeyError

During handling of the above exception, another exception occurred:

    def {test}():
>       assert load("EUR") == 1

tests/test_shop.py:30:{space}
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _{space}

    def load(name):
>           raise RateError(name)
E           shop.rates.RateError: no rate

shop/rates.py:7: RateError
"""


def failure(*lines: str, test: str = "test_total", end: str = "tests/test_shop.py:12: AssertionError") -> str:
    """Return an output with one failed test, of which `lines` are printed."""
    said = "\n".join(lines)
    return f"=== FAILURES ===\n____ {test} ____\n\n{said}\n\n{end}\n= 1 failed in 0.1s =\n"


def test_failed_expectation():
    """Place, both values and the line that expected them; what was captured is no part of it."""
    found = facts(OUTPUT)
    assert (found.type, found.cause) == ("AssertionError", "assert 4 == 5")
    assert found.location == Location(function="test_total", file="tests/test_shop.py", line=12)
    assert found.details == ("> assert cart.total() == 5",)
    assert (found.members, found.tally) == (1, "")


def test_values_lines_and_durations_do_not_count():
    """The same expectation of the same test is the same failure."""
    moved = (
        OUTPUT.replace("4 == 5", "17 == 5").replace(":12:", ":80:").replace("0.11s", "8.20s").replace("0x7fae", "0x10")
    )
    assert key(OUTPUT) == key(moved)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("test_total", "test_sum", id="test"),
        pytest.param("assert cart.total() == 5", "assert cart.count() == 5", id="expectation"),
    ],
)
def test_another_failure(old, new):
    """Another test, another expectation in it and another exception are other failures."""
    assert key(OUTPUT) != key(OUTPUT.replace(old, new))


def test_another_exception():
    """An exception is another failure than an expectation, and than an exception with another name in it."""
    keys = {
        key(failure("    def test_total():", f"E       {its_words}", end="a.py:3: KeyError"))
        for its_words in ("KeyError: 'pear'", "KeyError: 'plum'", "assert 4 == 5")
    }
    assert len(keys) == 3


def test_chain_through_code_under_test():
    """An exception leads to its root cause, in the innermost own function."""
    found = facts(CHAIN.format(test="test_rate", space=" "))
    assert (found.type, found.cause, found.wrappers) == ("KeyError", "'EUR'", ())
    assert str(found.location) == "load (shop/rates.py:5)"
    assert found.details == (
        "in test_rate",
        "> return RATES[name]",
        "raised as shop.rates.RateError at load (rates.py:7): no rate",
    )


def test_one_cause_of_many():
    """Forty tests that fail by one exception are one failure with forty members."""
    blocks = [CHAIN.format(test=f"test_rate_{number}", space="") for number in range(40)]
    text = blocks[0] + "".join(block.partition("\n")[2] for block in blocks[1:]) + "= 40 failed in 3.05s ="
    found = facts(text)
    assert (found.type, found.members, found.tally) == ("KeyError", 40, "40 tests")
    assert key(text) == key(CHAIN.format(test="test_other", space=""))


@pytest.mark.parametrize(
    ("lines", "cause", "details"),
    [
        pytest.param(
            ("E       assert False", "E        +  where False = is_open('a')"),
            "assert False, where False = is_open('a')",
            (),
            id="value without meaning",
        ),
        pytest.param(
            ("E       assert 3 == 4", "E        +  where 3 = len([1, 2, 3])", "E        +    where x = y.x"),
            "assert 3 == 4",
            ("where 3 = len([1, 2, 3])",),
            id="arguments",
        ),
        pytest.param(
            ("E       assert 3 == 4", "E        +  where 3 = 3"), "assert 3 == 4", (), id="value of itself"
        ),
        pytest.param(
            (
                "E       AssertionError: assert {'a': 1...'b': 2} == {'a': 1...'b': 3}",
                "E         ",
                "E         Differing items:",
                "E         {'b': 2} != {'b': 3}",
            ),
            "{'b': 2} != {'b': 3}",
            (),
            id="items that differ",
        ),
        pytest.param(
            ("E       AssertionError: assert 'a b...' == 'a c...'", "E           a", "E         - c", "E         + b"),
            "assert 'a b...' == 'a c...'",
            ("- c | + b",),
            id="lines that differ",
        ),
        pytest.param(
            ("E       AssertionError: Lists differ: [1, 2[9 chars]] != [1, 3[9 chars]]", "E       ",
             "E       First differing element 1:", "E       2", "E       3"),
            "First differing element 1: 2 != 3",
            (),
            id="elements that differ",
        ),
        pytest.param(
            ("E       AssertionError: too dear", "E       assert 9 < 5"), "too dear: assert 9 < 5", (), id="message"
        ),
        pytest.param(
            ("E       AssertionError: 1 != 2", "E        : numbers"), "1 != 2 : numbers", (), id="message behind"
        ),
        pytest.param(("E       AssertionError",), "no message", (), id="nothing"),
        pytest.param(
            ("E       AssertionError: Regex pattern did not match.", "E        Regex: 'a'", "E        Input: 'b'"),
            "Regex pattern did not match: Regex: 'a'; Input: 'b'",
            (),
            id="pattern",
        ),
        pytest.param(
            ("E       assert 2 == 3", "E       Falsifying example: test_total(", "E           n=3,", "E       )"),
            "assert 2 == 3",
            ("Falsifying example: test_total(n=3)",),
            id="property",
        ),
        pytest.param(
            ("E       assert 2 == 3", "E       Falsifying example: test_total(n=3)"),
            "assert 2 == 3",
            ("Falsifying example: test_total(n=3)",),
            id="property in one line",
        ),
    ],
)  # fmt: skip
def test_explained_expectations(lines, cause, details):
    """A cause holds both values; what it leaves out and what was computed from what follows."""
    found = facts(failure("    def test_total():", ">       check()", *lines))
    assert (found.type, found.cause, found.details) == ("AssertionError", cause, (*details, "> check()"))


def test_expectation_of_a_helper():
    """An expectation in a function that tests share is one cause, whichever test ran into it."""
    lines = ("    def check(a):", ">       assert a == 1", "E       assert 2 == 1")
    assert key(failure(*lines)) == key(failure(*lines, test="test_other"))
    assert facts(failure(*lines)).location.function == "check"


def test_expectation_without_source():
    """Where no source is printed, values do not count either."""
    one, other = (f"=== FAILURES ===\n/app/test_a.py:3: AssertionError: assert {n} == 2\n" for n in (1, 9))
    assert key(one) == key(other)


def test_missing_fixture():
    """Fixtures with a like name are told; all others are not."""
    text = failure(
        "file /app/tests/test_shop.py, line 4",
        "  def test_total(crt):",
        "E       fixture 'crt' not found",
        ">       available fixtures: cache, cart, tmp_path",
        ">       use 'pytest --fixtures [testpath]' for help on them.",
        test="ERROR at setup of test_total",
        end="/app/tests/test_shop.py:4",
    )
    found = facts(text)
    assert (found.type, found.cause) == ("FixtureLookupError", "fixture 'crt' not found")
    assert found.details == ("similar fixtures: cart",)
    assert str(found.location) == "test_total (/app/tests/test_shop.py:4)"


def test_module_that_cannot_be_compiled():
    """The place is where the code stands, not where it was imported."""
    its_words = [
        'E     File "/app/a.py", line 3',
        "E       x = (",
        "E           ^",
        "E   SyntaxError: '(' was never closed",
    ]
    head = ("/usr/lib/python3.11/ast.py:50: in parse", "    return compile(source)")
    found = facts(failure(*head, *its_words, test="ERROR collecting tests/test_a.py"))
    assert (found.type, str(found.location)) == ("SyntaxError", "/app/a.py:3")
    assert found.details[-1] == "> x = ("
    assert facts(failure(*head, its_words[0], test="ERROR collecting tests/test_a.py", end="")).type == "Failed"


def test_short_tracebacks():
    """The source stands below the place; lines that Python does not have are left out."""
    found = facts(
        failure(
            "tests/test_shop.py:30: in test_rate",
            '    assert load("EUR") == 1',
            "           ^^^^^^^^^^^",
            "<frozen shop>:7: in load",
            "    ???",
            "E   KeyError: 'EUR'",
            end="",
        )
    )
    assert str(found.location) == "test_rate (tests/test_shop.py:30)"
    assert found.details == ("in test_total", '> assert load("EUR") == 1')


def test_native_traceback():
    """A traceback as Python prints it is read as one; the summary's path is the shorter one."""
    traceback = (
        "Traceback (most recent call last):\n  File \"/app/tests/test_a.py\", line 3, in test_a\n    x()\nKeyError: 'a'"
    )
    summary = "= short test summary info =\nFAILED tests/test_a.py::test_a - K...\n"
    text = f"=== FAILURES ===\n____ test_a ____\n{traceback}\n{summary}"
    assert str(facts(text).location) == "test_a (tests/test_a.py:3)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("a.py::test_b - KeyError: 'x'", ("KeyError", "'x'", "test_b (a.py)"), id="exception"),
        pytest.param("a.py::T::test_b - assert 1 < 1", ("AssertionError", "assert 1 < 1", "test_b (a.py)"), id="class"),
        pytest.param("a.py::test_b[x-1] - AssertionErr...", ("AssertionError", "...", "test_b (a.py)"), id="cut type"),
        pytest.param("a.py::test_b - shop.rates.Ra...", ("shop.rates.Ra...", "...", "test_b (a.py)"), id="cut name"),
        pytest.param("a.py::test_b", ("Failed", "no message", "test_b (a.py)"), id="no words"),
    ],
)  # fmt: skip
def test_only_the_summary(line, expected):
    """Of a test that is only listed, what the list says is kept."""
    found = facts(f"FAILED {line}\n1 failed in 0.10s\n")
    assert (found.type, found.cause, str(found.location)) == expected


def test_only_progress():
    """Before any summary, the progress lists what failed."""
    text = "tests/a.py::test_a PASSED [ 50%]\ntests/a.py::test_b FAILED [100%]\n[gw1] [ 99%] ERROR tests/a.py::test_c\n"
    found = facts(text)
    assert (found.members, found.type) == (2, "Failed")
    assert "test_b (tests/a.py)" in f"{found.location} {found.details}"


def test_head_is_cut_off():
    """What is left of the first block belongs to the test listed before the next one."""
    tail = OUTPUT.partition("assert cart.total() == 5\n")[2]
    found = facts(tail)
    assert (found.cause, str(found.location)) == ("assert 4 == 5", "test_total (tests/test_shop.py:12)")
    two = tail.replace("=========================== short", "____ test_b ____\nE   KeyError: 'b'\n= short")
    two = two.replace("==== 1 failed", "FAILED tests/test_shop.py::test_b - KeyError: 'b'\n==== 2 failed")
    assert facts(two).members == 2


def test_heading_without_part():
    """A heading that has lost the part it stands in is a test's if something is marked below it."""
    block = "____ test_total ____\nE   KeyError: 'a'\n\ntests/a.py:3: KeyError\n"
    assert facts(f"{block}1 failed in 0.10s\n").cause == "'a'"
    assert format_of("____ contents ____\npytest\n") != "pytest"


def test_tail_is_cut_off():
    """A block that ends too early says so, with the line that had been reached."""
    found = facts(OUTPUT.partition("E       assert")[0])
    assert (found.type, found.cause) == ("Failed", "the output is cut off before what failed")
    assert found.details == ("> assert cart.total() == 5",)
    assert facts(OUTPUT.partition(">       assert")[0]).details == ()


def test_failures_of_one_line_each():
    """Names come from the summary where it lists as many."""
    lines = "=== FAILURES ===\nE   KeyError: 'a'\n/app/shop.py:3: KeyError: 'a'\n/app/tests/a.py:9: assert 1 == 2\n"
    assert facts(lines).members == 2
    listed = "= short test summary info =\nFAILED tests/a.py::test_x - K...\nFAILED tests/a.py::test_y - a...\n"
    found = facts(f"{lines}{listed}")
    assert "test_y (tests/a.py:9)" in f"{found.location} {found.details}"


def test_told_in_words():
    """What stands below a heading without any traceback is the cause."""
    found = facts(
        "=== ERRORS ===\n____ ERROR collecting a.py ____\nimport file mismatch:\nb.py\nis not a.py\n= 1 error in 1s =\n"
    )
    assert (found.type, found.cause) == ("Failed", "import file mismatch: b.py; is not a.py")
    assert facts("=== ERRORS ===\n____ ERROR at setup of test_a ____\n= 1 error in 0.1s =\n").cause == "no message"


def test_crashed_worker():
    """The test that took the worker down is the failure, whichever worker it was."""
    its_words = "[gw{0}] linux\nworker 'gw{0}' crashed while running 'a.py::test_a'\n"
    text = f"=== FAILURES ===\n____ a.py ____\n{its_words}= 1 failed in 2.0s =\n"
    assert str(facts(text.format(0)).location) == "test_a (a.py)"
    assert key(text.format(0)) == key(text.format(7))
    assert facts(f"Fatal Python error: Aborted\n\n{text.format(0)}").details == ("Fatal Python error: Aborted",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ERROR: file or directory not found: a\npytest", "file or directory not found: a", id="file"),
        pytest.param("pytest: error: unrecognized arguments: --x", "unrecognized arguments: --x", id="option"),
        pytest.param("__main__.py: error: ambiguous option: --c\npytest", "ambiguous option: --c", id="module"),
        pytest.param("ERROR: not found: a.py::b\n(no name 'b')\n", "not found: a.py::b (no name 'b')", id="test"),
        pytest.param("no tests ran in 0.01s", "no tests ran", id="quiet"),
        pytest.param("========== no tests ran in 0.01s ==========", "no tests ran", id="no tests"),
        pytest.param("===== 12 deselected in 0.01s =====", "no tests ran: 12 deselected", id="deselected"),
        pytest.param("2 passed in 0.1s\nFAIL Required test coverage of 90% not reached. Total coverage: 8.1%",
                     "Required test coverage of 90% not reached. Total coverage: 8.1%", id="coverage"),
    ],
)  # fmt: skip
def test_refusals(text, expected):
    """Where no test failed, the cause is why none ran or why the run counts as failed."""
    assert facts(text).cause == expected


def test_conftest_that_cannot_be_imported():
    """The exception below the line that names the file is the cause."""
    its_words = "conftest.py:1: in <module>\n    import a\nE   KeyError: 'a'"
    text = f"ImportError while loading conftest '/app/conftest.py'.\n{its_words}"
    assert str(facts(text).location) == "<module> (conftest.py:1)"
    assert format_of("ImportError while loading conftest, they say") != "pytest"


def test_fault_of_pytest_itself():
    """A traceback behind the mark of an internal error is read as one."""
    lines = (
        "Traceback (most recent call last):",
        '  File "/app/conftest.py", line 2, in hook',
        "    x()",
        "KeyError: 'a'",
    )
    text = "pytest\n" + "".join(f"INTERNALERROR> {line}\n" for line in lines)
    assert str(facts(text).location) == "hook (/app/conftest.py:2)"
    assert format_of("pytest\nINTERNALERROR> what") != "pytest"


def test_end_of_the_whole_run():
    """Where a time limit ended the run, the place is where the main thread was."""
    stack = '~~~~ Stack of MainThread (1) ~~~~\n  File "/app/a.py", line 7, in poll\n    sleep()\n+++++ Timeout +++++\n'
    found = facts(f"pytest\n+++++ Timeout +++++\n{stack}")
    assert (found.type, str(found.location)) == ("Timeout", "poll (/app/a.py:7)")


def test_summary_without_heading():
    """The summary ends a block also where its heading was filtered out."""
    text = OUTPUT.replace("=========================== short test summary info ============================\n", "")
    assert facts(text) == facts(OUTPUT)


def test_listed_modules():
    """Of modules that could not be collected the summary lists the path."""
    found = facts(
        "ERROR tests/a.py - KeyError: 'a'\n!!! Interrupted: 1 error during collection !!!\n1 error in 0.10s\n"
    )
    assert (found.cause, str(found.location)) == ("'a'", "tests/a.py")


def test_example_in_a_docstring():
    """Of the numbered lines of a docstring the last example is the one that failed."""
    lines = (
        "002 ",
        "003     >>> double(1)",
        "004     2",
        "005     >>> double(2)",
        "Expected:",
        "    4",
        "Got:",
        "    5",
    )
    found = facts(failure(*lines, test="[doctest] text.double", end="/app/text.py:5: DocTestFailure"))
    assert (found.type, found.cause) == ("DocTestFailure", "double(2): expected 4, got 5")
    assert str(found.location) == "text.double (/app/text.py:5)"


def test_missing_fixture_like_no_other():
    """Where no fixture has a like name, none is told."""
    lines = ("E       fixture 'clock' not found", ">       available fixtures: cart, tmp_path")
    assert facts(failure(*lines, test="ERROR at setup of test_total", end="/app/a.py:4")).details == ("in test_total",)


def test_traceback_that_is_no_traceback():
    """The first line of a traceback alone is a word like any other."""
    found = facts(failure("Traceback (most recent call last):", "nothing follows", end=""))
    assert found.cause == "Traceback (most recent call last): nothing follows"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("12 passed in 0.10s", id="all passed"),
        pytest.param('print("FAILED a.py::test_b - oops")', id="source code"),
        pytest.param("run `pytest tests/a.py::test_b` and look for FAILED", id="prose"),
        pytest.param("ERROR setup of pytest", id="other error"),
        pytest.param("=== pytest ===\nhello", id="some other part"),
        pytest.param("a.py::test_b is what FAILED", id="progress in prose"),
    ],
)
def test_not_taken(text):
    """Texts that only mention tests are no output of pytest."""
    assert format_of(text) != "pytest"


def test_arguments():
    """Values of arguments exist only while a test runs; objects without a value and temporary folders say nothing."""
    found = facts(
        "=== FAILURES ===\n___ test_tax[swiss] ___\n\n"
        "country = 'CH', tax = 8, client = <shop.Client object at 0x7f3a>, tmp_path = PosixPath('/tmp/pytest-1/t0')\n\n"
        "    def test_tax(country, tax, client, tmp_path):\n>       assert total(country) == tax\n"
        "E       assert 20 == 8\nE        +  where 20 = total('CH')\n\n"
        "test_cart.py:5: AssertionError\n=== 1 failed in 0.1s ==="
    )
    assert found.details[-1] == "with country = 'CH', tax = 8"


def test_origins():
    """What a value was computed from is told down to its first call."""
    found = facts(
        "=== FAILURES ===\n___ test_split ___\n\n    def test_split():\n>       assert sum(parts) == 1\n"
        "E       assert 0 == 1\nE        +  where 0 = sum([0, 0])\nE        +    where [0, 0] = split(1, 2)\n\n"
        "test_split.py:6: AssertionError\n=== 1 failed in 0.1s ==="
    )
    assert "where 0 = sum([0, 0]); [0, 0] = split(1, 2)" in found.details


def test_one_line_each_beside_tests_without_a_line():
    """Each line gets the name that the summary gives the same words, so that no test counts twice."""
    found = facts(
        "=================================== FAILURES ===================================",
        "/srv/till/test_till.py:8: AssertionError: change is wrong for large notes",
        "/srv/till/till.py:31: KeyError: 'EUR'",
        "/srv/till/plugins.py:3: KeyError: 'gone'",
        "[XPASS(strict)] ",
        "=========================== short test summary info ============================",
        "FAILED test_till.py::test_change - AssertionError: change is wrong for ...",
        "FAILED test_till.py::test_open - [XPASS(strict)] ",
        "FAILED test_till.py::test_rates - KeyError: 'EUR'",
        "FAILED test_till.py::test_close - ValueError: closed",
        "========================= 5 failed, 2 passed in 0.04s ==========================",
    )
    assert found.members == 5
    assert sum("EUR" in line for line in (found.cause, *found.details)) == 1
