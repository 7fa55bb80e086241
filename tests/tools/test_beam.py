"""Exceptions and exits of Elixir and Erlang; some forms are written from their sources."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import beam
from tests.extract.reading import facts, key

KEY_ERROR = """\
** (KeyError) key :price not found in: %{name: "tea"}
    (stock 0.3.0) lib/stock/item.ex:14: anonymous fn/1 in Stock.Item.sum/1
    (elixir 1.15.7) lib/enum.ex:1693: Enum."-map/2-lists^map/1-1-"/2
    report.exs:3: (file)"""
OF_A_PACKAGE = """\
** (DBConnection.ConnectionError) connection not available
    (db_connection 2.6.0) lib/db_connection.ex:10: DBConnection.run/6
    (ecto_sql 3.11.0) lib/ecto/adapters/sql.ex:9: Ecto.Adapters.SQL.query/4
    (stock 0.3.0) lib/stock/repo.ex:4: Stock.Repo.all/1"""
EXIT = """\
** (exit) exited in: GenServer.call(Stock.Server, :all, 5000)
    ** (EXIT) {}
    (elixir 1.15.7) lib/gen_server.ex:1063: GenServer.call/3"""


def test_exception():
    """The place is the innermost frame that is neither of Elixir nor of a package."""
    found = facts(KEY_ERROR)
    assert (found.format, found.type, found.cause, str(found.location), found.details) == (
        "beam",
        "KeyError",
        'key :price not found in: %{name: "tea"}',
        "Stock.Item.sum/1 (lib/stock/item.ex:14)",
        (),
    )


def test_same_exception_elsewhere():
    """Versions and lines are no part of what failed, the missing key is."""
    assert key(KEY_ERROR.replace(":14:", ":41:").replace("1.15.7", "1.16.0")) == key(KEY_ERROR)
    assert key(KEY_ERROR.replace(":price", ":count")) != key(KEY_ERROR)


def test_raised_in_a_package():
    """The function of a package that raised is told."""
    found = facts(OF_A_PACKAGE)
    assert (str(found.location), found.details) == (
        "Stock.Repo.all/1 (lib/stock/repo.ex:4)",
        ("raised in DBConnection.run/6 (lib/db_connection.ex:10)",),
    )


def test_function_that_does_not_exist():
    """A call without a file is the place where nothing better is known."""
    found = facts(
        "** (UndefinedFunctionError) function Stock.sum/1 is undefined (module Stock is not available)\n"
        "    Stock.sum([1])\n    (stock 0.3.0) Stock.total(1)\n"
        "    (elixir 1.15.7) lib/code.ex:1245: Code.require_file/2"
    )
    assert str(found.location) == "Stock.total"


def test_exit():
    """An exit names the call and why it failed; one that passes an exception on is a wrapper of it."""
    assert facts(EXIT.format("no process")).cause == ("exited in: GenServer.call(Stock.Server, :all, 5000): no process")
    raised = EXIT.format("an exception was raised:\n        ** (RuntimeError) sold out\n            lib/a.ex:3: A.b/1")
    found = facts(raised)
    assert (found.type, found.cause, str(found.location), found.wrappers) == (
        "RuntimeError",
        "sold out",
        "A.b/1 (lib/a.ex:3)",
        ("exit",),
    )


def test_exit_of_a_process_without_an_exception():
    """The id of a process is no part of the type."""
    found = facts("** (EXIT from #PID<0.98.0>) an exception was raised:")
    assert (found.type, found.cause) == ("EXIT", "an exception was raised:")


def test_crash_of_a_server():
    """The process and the message it was handling are told, and other failures in the same log."""
    found = facts(
        "10:00:00.000 [error] GenServer Stock.Server terminating\n** (RuntimeError) sold out\n    lib/a.ex:3: A.b/1\n"
        "Last message (from #PID<0.98.0>): :all\nState: []\n\n** (ArithmeticError) bad argument\n    lib/a.ex:9: A.c/1"
    )
    assert (found.cause, found.details) == (
        "bad argument",
        ("GenServer Stock.Server terminating", "last message: :all", "also RuntimeError: sold out"),
    )


def test_place_known_from_the_log():
    """The end of a program tells what its log told before, without the place."""
    found = facts("** (RuntimeError) sold out\n    lib/a.ex:3: A.b/1\n\nState: []\n** (RuntimeError) sold out")
    assert str(found.location) == "A.b/1 (lib/a.ex:3)"


def test_arguments():
    """Arguments that no clause matches are told; a document that a message quotes is left out."""
    found = facts(
        "** (FunctionClauseError) no function clause matching in A.b/1\n\n"
        "    The following arguments were given to A.b/1:\n"
        "\n        # 1\n        %{a: 1}\n\n    Attempted function clauses (showing 1 out of 1):\n\n        def b(1)\n\n"
        "    lib/a.ex:3: A.b/1"
    )
    assert found.details == ("argument 1: %{a: 1}", "def b(1)")
    quoted = facts(f"** (ArgumentError) got none within:\n\n<div>{'x' * 200}</div>\nmore\n    lib/a.ex:3: A.b/1")
    assert (quoted.cause, quoted.details) == ("got none within:", ())


@pytest.mark.parametrize(
    ("text", "cause", "location"),
    [
        pytest.param(
            "** (CompileError) lib/a.ex:5: undefined function b/0",
            "undefined function b/0",
            "lib/a.ex:5",
            id="before 1.15",
        ),
        pytest.param("** (SyntaxError) unexpected", "unexpected", "", id="cut"),
        pytest.param("** (TokenMissingError) missing token", "missing token", "", id="without a place"),
    ],
)
def test_code_that_does_not_compile(text, cause, location):
    """The place stands in the message."""
    found = facts(text)
    assert (found.format, found.cause, str(found.location)) == ("beam", cause, location)


def test_wrapped_exceptions():
    """A question that nobody answers, and a connection's name, stand before the exception in its line."""
    asked = 'Shall I install Hex? (if running non-interactively, use "mix local.hex --force") [Yn] ** (Mix) '
    assert facts(f"Could not find Hex, which is needed to build dependency :jason\n{asked}no SCM for :jason").cause == (
        "no SCM for :jason"
    )
    found = facts(
        "[error] Postgrex.Protocol (#PID<0.281.0>) failed to connect: ** (DBConnection.ConnectionError) tcp connect "
        "(localhost:5432): connection refused - :econnrefused"
    )
    assert (found.format, found.type) == ("beam", "DBConnection.ConnectionError")
    assert found.cause == "tcp connect (localhost:5432): connection refused - :econnrefused"


def test_diagnostics():
    """Where the compiler has said why further up, another format reads it."""
    text = "** (CompileError) lib/a.ex: cannot compile module A (errors have been logged)"
    assert beam.FORMAT.read(read_text(text)) is None


@pytest.mark.parametrize(
    ("text", "kind", "cause", "location"),
    [
        pytest.param(
            "** exception error: no match of right hand side value {error,enoent}\n"
            "     in function  stock:load/1 (stock.erl, line 4)",
            "error",
            "no match of right hand side value {error,enoent}",
            "stock:load/1 (stock.erl:4)",
            id="shell",
        ),
        pytest.param("** exception exit: shutdown", "exit", "shutdown", "", id="shell without a place"),
        pytest.param(
            "Runtime terminating during boot ({undef,[{stock,main,[],[]},{init,start_em,1,[]}]})",
            "undef",
            "undef: stock:main[]",
            "stock:main",
            id="undefined function",
        ),
        pytest.param(
            "Runtime terminating during boot ({undef,[{stock,main,2,[]}]})",
            "undef",
            "undef: stock:main/2",
            "stock:main/2",
            id="undefined function, by arity",
        ),
        pytest.param('escript: exception error: "stopped"', "exit", '"stopped"', "", id="no stack"),
        pytest.param(
            "** Reason for termination ==\n** {badarith,[{erlang,'/',[1,0],[]},\n"
            '     {stock,mean,1,[{file,"src/stock.erl"},{line,9}]}]}',
            "badarith",
            "badarith",
            "stock:mean/1 (src/stock.erl:9)",
            id="crash report",
        ),
    ],
)
def test_erlang(text, kind, cause, location):
    """The reason stands before the stack of an Erlang term."""
    found = facts(text)
    assert (found.format, found.type, found.cause, str(found.location)) == ("beam", kind, cause, location)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("raise a ** (b) in Python", id="within a line"),
        pytest.param("the server is terminating", id="prose"),
        pytest.param("escript: no such file", id="other message"),
    ],
)
def test_not_taken(text):
    """A text in other forms is of another format."""
    assert beam.FORMAT.read(read_text(text)) is None
