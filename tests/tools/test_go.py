"""Panics, fatal errors and data races of Go programs."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.stacks import go as stacks
from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import go
from tests.extract.reading import facts, key

PANIC = """\
panic: runtime error: index out of range [5] with length 2

goroutine 1 [running]:
main.pick(...)
\t/home/ann/src/stock/main.go:9
main.main()
\t/home/ann/src/stock/main.go:14 +0x1d
exit status 2"""
THROUGH_LIBRARY = """\
panic: yaml: unknown key

goroutine 7 [running]:
gopkg.in/yaml%2ev3.fail(...)
\t/home/ann/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/yaml.go:30
sort.Slice({0x1, 0x2})
\t/opt/hostedtoolcache/go/1.22.1/x64/src/sort/slice.go:29 +0x1
main.load({0xc000, 0x2})
\t/home/ann/go/src/example.com/stock/load.go:8 +0x1d
"""
CUT = """\
goroutine 1 [running]:
panic({0x4be400?, 0x2a6c62816040?})
\t/usr/local/go/src/runtime/panic.go:860 +0x13a
main.load({0x4d679e?, 0x0?})
\t/home/ann/src/stock/main.go:12 +0x73
"""


def test_panic():
    """The place is the innermost frame of the program itself, without the folders of its package."""
    found = facts(PANIC)
    assert (found.format, found.type, found.cause) == (
        "go",
        "panic",
        "runtime error: index out of range [5] with length 2",
    )
    assert str(found.location) == "main.pick (/home/ann/src/stock/main.go:9)"


def test_same_panic_elsewhere():
    """Lines, home folders and addresses are no part of what failed."""
    moved = PANIC.replace("/home/ann", "/Users/bob").replace(":9", ":31").replace("0x1d", "0x2f")
    assert key(moved) == key(PANIC)
    assert key(PANIC.replace("index out of range [5] with length 2", "integer divide by zero")) != key(PANIC)


def test_own_code():
    """Modules, the standard library wherever it is installed, and generated code are not the user's own."""
    found = facts(THROUGH_LIBRARY)
    assert str(found.location) == "main.load (/home/ann/go/src/example.com/stock/load.go:8)"
    assert found.details == ("raised in yaml%2ev3.fail (/home/ann/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/yaml.go:30)",)


def test_message_of_several_lines():
    """All lines of a message belong to it, the signal does not."""
    found = facts(PANIC.replace("[5] with length 2", "[5]\nwith length 2\n[signal SIGSEGV: code=0x1]"))
    assert (found.cause, found.details) == ("runtime error: index out of range [5]", ("with length 2",))


def test_panic_of_a_deferred_function():
    """The first panic is the root cause, later ones only wrap it."""
    found = facts(PANIC.replace("length 2\n", "length 2 [recovered]\n\tpanic: stopped\n\tpanic: really\n", 1))
    assert (found.cause, found.wrappers) == ("runtime error: index out of range [5] with length 2", ("panic", "panic"))


def test_deadlock():
    """What each goroutine waits for is shown."""
    found = facts(
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive, 2 minutes]:\nmain.main()\n"
        "\t/src/stock/main.go:4 +0x1d\n\ngoroutine 2 [select]:\nruntime.gopark()\n"
        "\t/usr/lib/go-1.19/src/runtime/p.go:4 +0x1"
    )
    assert found.type == "fatal error"
    assert found.details == ("chan receive at main.main (/src/stock/main.go:4)", "select")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CUT.replace("panic({", "serve({"), id="dump of a running program"),
        pytest.param('func TestPanic() { fmt.Println("panic: goroutine 1 [running]:") }', id="source code"),
        pytest.param("panic: goroutine pools are exhausted", id="no stack"),
    ],
)
def test_not_taken(text):
    """A text that only mentions goroutines is of another format."""
    assert go.FORMAT.read(read_text(text)) is None


def test_text_without_panic():
    """What does not begin with a panic has no chain."""
    assert stacks.chain_of("\nall is well") == ()


def test_panic_without_stack():
    """A panic whose stack is cut off still has its message."""
    assert [failure.message for failure in stacks.chain_of("\npanic: boom\n")] == ["boom"]


def test_race():
    """Both accesses are told; without their stacks they are at an unknown place."""
    found = facts(
        "==================\nWARNING: DATA RACE\nWrite at 0x00c0 by goroutine 8:\n  main.add()\n"
        "      /src/a.go:8 +0x44\n\n"
        "Previous write at 0x00c0 by goroutine 7:\n  main.take()\n      /src/b.go:9 +0x44\n"
    )
    assert (found.type, found.cause, str(found.location), found.details) == (
        "data race",
        "write at main.add and previous write at main.take without synchronisation",
        "main.add (/src/a.go:8)",
        ("main.take (/src/b.go:9)",),
    )
    assert facts("WARNING: DATA RACE\n").cause == "access at an unknown place without synchronisation"


def test_stack_that_only_names_who_started_it():
    """Where no function of the program is running, the one that started the goroutine is the place."""
    found = facts(
        "fatal error: concurrent map writes\n\ngoroutine 20 [running]:\nfatal({0x49255d?})\n"
        "\t/usr/local/go/src/runtime/panic.go:1181 +0x18\ncreated by main.main in goroutine 1\n\t/src/main.go:12 +0x25"
    )
    assert str(found.location) == "main.main (/src/main.go:12)"


def test_endless_message():
    """Of a message only its first lines are read."""
    (failure,) = stacks.chain_of("\npanic: " + "line\n" * 100)
    assert failure.message.count("line") == 20
