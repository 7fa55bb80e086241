"""Output of `cargo test` and `cargo nextest`; nextest's form is written from its documentation."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import cargotest
from tests.extract.reading import facts, key

FAILED = """\
running 2 tests
test sums::adds ... FAILED
test sums::takes ... ok

failures:

---- sums::adds stdout ----

thread 'sums::adds' (4242) panicked at src/sums.rs:20:9:
assertion `left == right` failed
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    sums::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

error: test failed, to rerun pass `--lib`"""
NEXTEST = """\
        PASS [   0.003s] stock sums::takes
        FAIL [   0.004s] stock sums::adds
  stderr \u2500\u2500\u2500

    thread 'sums::adds' (77) panicked at src/sums.rs:20:9:
    assertion `left == right` failed
      left: 3
     right: 4
    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

     Summary [   0.009s] 2 tests run: 1 passed, 1 failed, 0 skipped
error: test run failed"""


def _section(name: str, said: str) -> str:
    heading = f"failures:\n\n---- {name} stdout ----\n"
    return f"{heading}{said}\n\n\nfailures:\n    {name}\n\ntest result: FAILED. 0 passed; 1 failed;"


@pytest.mark.parametrize("text", [pytest.param(FAILED, id="cargo test"), pytest.param(NEXTEST, id="nextest")])
def test_failed_expectation(text):
    """The place is the test's, and both sides of a comparison stand in the cause."""
    found = facts(text)
    assert (found.format, found.type, found.cause, str(found.location), found.members) == (
        "cargotest",
        "AssertionError",
        "assertion `left == right` failed (left: 3, right: 4)",
        "sums::adds (src/sums.rs:20)",
        1,
    )
    assert key(text) == key(FAILED.replace("4242", "1").replace("20:9", "44:9").replace("0.02s", "1.00s"))


def test_other_test():
    """An equal expectation of another test is another failure."""
    assert key(FAILED.replace("sums::adds", "sums::multiplies")) != key(FAILED)


def test_cut_head():
    """Where the heading is cut off, the panic names its test; tests that the list does not name did not fail."""
    cut = FAILED[FAILED.index("\nthread '") :]
    assert facts(cut).cause == facts(FAILED).cause
    assert key(cut) == key(FAILED)
    passed = "thread 'sums::refuses' (1) panicked at src/sums.rs:3:3:\nno\n\n"
    assert facts(passed + cut).members == 1


@pytest.mark.parametrize(
    ("name", "said", "kind", "cause", "location"),
    [
        pytest.param("a::b", "Error: Missing { key: 1 }", "Missing", "Missing { key: 1 }", "", id="returned error"),
        pytest.param(
            "a::b",
            "note: test did not panic as expected at src/a.rs:4:5",
            "AssertionError",
            "test did not panic as expected",
            "a::b (src/a.rs:4)",
            id="no panic",
        ),
        pytest.param("a::b", "hello\nat src/a.rs:3", "AssertionError", "at src/a.rs:3", "a::b", id="printed"),
        pytest.param("a::b", "", "AssertionError", "failed without a word", "a::b", id="nothing"),
        pytest.param(
            "src/a.rs - a::b (line 4)",
            "error[E0425]: cannot find value `x` in this scope\n --> src/a.rs:5:1\n  |\nCouldn't compile the test.",
            "E0425",
            "cannot find value `x` in this scope",
            "src/a.rs:5",
            id="documentation that does not compile",
        ),
        pytest.param(
            "src/a.rs - a::b (line 4)", "error: expected `;`", "error", "expected `;`", "", id="without a place"
        ),
        pytest.param(
            "src/a.rs - a::b (line 4)",
            "Test executable failed (exit status: 101).\n\nstderr:\n"
            "thread 'main' panicked at src/a.rs:5:1:\nassertion failed: x",
            "AssertionError",
            "assertion failed: x",
            "src/a.rs:5",
            id="documentation",
        ),
    ],
)
def test_failed_otherwise(name, said, kind, cause, location):
    """Tests fail in other ways than by a panic of their own."""
    found = facts(_section(name, said))
    assert (found.format, found.type, found.cause, str(found.location)) == ("cargotest", kind, cause, location)


def test_one_cause():
    """Tests that one piece of code stopped are one failure."""
    panic = "thread '{0}' panicked at src/load.rs:3:3:\nno settings\n"
    sections = "".join(f"\n---- {name} stdout ----\n{panic.format(name)}" for name in ("a", "b", "c"))
    found = facts(f"failures:\n{sections}\n\ntest result: FAILED. 4 passed; 3 failed; 0 ignored")
    assert (found.members, found.tally, found.details) == (3, "3 tests", ("in a, b, c",))


def test_killed():
    """A test program that a signal ended has no failed test."""
    text = (
        "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: "
        "`/src/target/debug/deps/stock-{0}` ({1})"
    )
    found = facts(text.format("0123456789abcdef", "signal: 11, SIGSEGV: invalid memory reference"))
    assert (found.type, found.cause) == (
        "SIGSEGV",
        "process didn't exit successfully: stock (signal: 11, SIGSEGV: invalid memory reference)",
    )
    assert facts(text.format("0123456789abcdef", "exit status: 101")).type == "test failed"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("error: test failed, to rerun pass `--lib`", id="only that it failed"),
        pytest.param('println!("---- x stdout ----");', id="source code"),
        pytest.param("to rerun pass `--lib`\n the test panicked at noon", id="prose"),
    ],
)
def test_not_taken(text):
    """A text without a failed test is of another format."""
    assert cargotest.FORMAT.read(read_text(text)) is None
