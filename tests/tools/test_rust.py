"""Panics of Rust programs, and errors that `main` returned."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import rust
from tests.extract.reading import facts, key

PANIC = """\
thread 'main' (4711) panicked at src/stock.rs:12:5:
index out of bounds: the len is 2 but the index is 5
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""
STACK = """
stack backtrace:
   0: rust_begin_unwind
             at /rustc/0123abcd/library/std/src/panicking.rs:647:5
   1: bytes::buf::get
             at /home/ann/.cargo/registry/src/index.example.com-6f17d22bba15001f/bytes-1.5.0/src/buf.rs:7:5
   2: stock::pick::{{closure}}::h0123456789abcdef
             at ./src/pick.rs:30:9
   3: main
"""
CHAIN = """\
Error: cannot start

Caused by:
    0: cannot read stock.toml
    1: No such file or directory (os error 2)"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PANIC, id="since 1.73"),
        pytest.param(
            "thread 'main' panicked at 'index out of bounds: the len is 2 but the index is 5', src/stock.rs:12:5\n",
            id="before 1.73",
        ),
    ],
)
def test_panic(text):
    """The place is where the program panicked, in the forms of old and new compilers."""
    found = facts(text)
    assert (found.format, found.type, found.cause, str(found.location), found.details) == (
        "rust",
        "panic",
        "index out of bounds: the len is 2 but the index is 5",
        "src/stock.rs:12",
        (),
    )
    assert key(text) == key(PANIC.replace("4711", "12").replace("12:5", "31:9"))


def test_panic_of_several_lines_before_1_73():
    """A message that was quoted may have several lines."""
    found = facts(
        "thread 'main' panicked at 'assertion failed: `(left == right)`\n  left: `1`,\n right: `2`', src/a.rs:4:5"
    )
    assert (found.cause, str(found.location)) == ("assertion failed: `(left == right)`", "src/a.rs:4")


def test_comparison():
    """Both sides stand in the cause if they are short."""
    text = (
        "thread 'main' panicked at src/a.rs:4:5:\nassertion `left == right` failed: sum\n  left: {}\n right: 2\n\nbye"
    )
    assert facts(text.format(1)).cause == "assertion `left == right` failed: sum (left: 1, right: 2)"
    long = facts(text.format("1" * 400))
    assert (long.cause, long.details[1:]) == ("assertion `left == right` failed: sum", ("right: 2",))


def test_backtrace():
    """A panic in a library is at the innermost frame of the program; hashes and closures are no part of its name."""
    found = facts(PANIC.replace("src/stock.rs", "/home/ann/.cargo/registry/src/x/bytes-1.5.0/src/buf.rs") + STACK)
    assert str(found.location) == "stock::pick (src/pick.rs:30)"
    assert found.details == ("raised in /home/ann/.cargo/registry/src/x/bytes-1.5.0/src/buf.rs:12",)


def test_backtrace_of_libraries_only():
    """Where the program has no frame, the panic's own place is all that is known."""
    stack = STACK.replace("./src/pick.rs", "/rustc/0123abcd/library/core/src/ops.rs")
    assert str(facts(PANIC + stack).location) == "src/stock.rs:12"


def test_function():
    """The function is named where the stack tells it."""
    stack = STACK.replace("./src/pick.rs:30", "/src/stock/src/stock.rs:12")
    assert str(facts(PANIC + stack).location) == "stock::pick (src/stock.rs:12)"


def test_several_threads():
    """The first panic is the cause; that a thread panicked is no cause for the one that joined it."""
    joined = "thread 'main' panicked at src/main.rs:3:9:\ncalled `Result::unwrap()` on an `Err` value: Any { .. }"
    other = "thread 'b' panicked at src/b.rs:3:9:\nno more stock"
    found = facts(f"{PANIC}\n{other}\n{PANIC}\n{joined}")
    assert found.cause == "index out of bounds: the len is 2 but the index is 5"
    assert found.details == ("also at src/b.rs:3: no more stock",)


def test_returned_error():
    """An error that `main` returned has the type of its value."""
    found = facts("Error: ParseIntError { kind: InvalidDigit }")
    assert (found.format, found.type, found.cause) == ("rust", "ParseIntError", "ParseIntError { kind: InvalidDigit }")


def test_chain():
    """All links of a chain stand in the cause, since the last one alone says too little."""
    found = facts(CHAIN)
    assert (found.format, found.type, found.cause, str(found.location)) == (
        "rust",
        "Error",
        "cannot start: cannot read stock.toml: No such file or directory (os error 2)",
        "",
    )
    assert key(CHAIN) != key(CHAIN.replace("stock.toml", "prices.toml"))


@pytest.mark.parametrize(
    ("behind", "location"),
    [
        pytest.param("\n\nLocation:\n    src/load.rs:7:5", "src/load.rs:7", id="eyre"),
        pytest.param("\n\nLocation:\n    /rustc/0123/library/core/src/ops.rs:7:5", "", id="of the library"),
        pytest.param(
            f"\n\nStack backtrace:{STACK.removeprefix(chr(10) + 'stack backtrace:')}",
            "stock::pick (src/pick.rs:30)",
            id="anyhow",
        ),
    ],
)
def test_place_of_a_returned_error(behind, location):
    """The place is the one that the error was made at."""
    assert str(facts(CHAIN + behind).location) == location


def test_single_cause():
    """A single cause has no number."""
    assert facts("Error: cannot start\n\nCaused by:\n    no stock").cause == "cannot start: no stock"


def test_overflow():
    """An overflowed stack has no place."""
    found = facts("\nthread 'main' (7) has overflowed its stack\nfatal runtime error: stack overflow, aborting")
    assert (found.type, found.cause) == ("stack overflow", "thread 'main' has overflowed its stack")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("the thread panicked at noon", id="prose"),
        pytest.param("// thread 'x' panicked at 'never ends", id="cut before the place"),
        pytest.param("error: cannot build\n\nCaused by:\n  no network", id="cargo"),
        pytest.param("Error: cannot start { kind: none", id="message"),
        pytest.param("Error: cannot start\n\nhello\n\nCaused by:\n  no network", id="not together"),
    ],
)
def test_not_taken(text):
    """A text in other forms is of another format."""
    assert rust.FORMAT.read(read_text(text)) is None


def test_text_returned_from_main():
    """A text that `main` returns as its error is printed in quotes, below what Cargo says."""
    found = facts('     Running `target/debug/shop`\nError: "queue \\"a\\" is full"\n')
    assert (found.format, found.type, found.cause) == ("rust", "Error", 'queue "a" is full')
