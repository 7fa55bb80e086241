"""Dialyzer, credo and the compilers of Elixir and Erlang."""

# The samples are self-written in the forms that the tools document and print.

from __future__ import annotations

import pytest

from tests.extract.reading import facts_alone, key, said

facts = facts_alone("dialyzer")


_DIALYXIR = """\
Starting Dialyzer
Total errors: 2, Skipped: 0, Unnecessary Skips: 0
done in 0m1.2s
lib/shop/cart.ex:57:13:pattern_match
The pattern can never match the type.

Pattern:
{:ok, _total}

Type:
:error

________________________________________________________________________________
"""
_CREDO = """\
  Refactoring opportunities
┃
┃ [F] → Function is too complex (cyclomatic complexity is 21, max is 12).
┃       lib/shop/cart.ex:144:7 #(Shop.Cart.total)

97 mods/funs, found 1 refactoring opportunity.
"""
_ELIXIR = """\
    error: undefined function summ/1 (expected Shop to define such a function)
    │
  4 │     summ(items)
    │     ^^^^
    │
    └─ lib/shop.ex:4:5: Shop.total/1

== Compilation error in file lib/shop.ex ==
** (CompileError) lib/shop.ex: cannot compile module Shop (errors have been logged)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            _DIALYXIR,
            (
                "pattern_match",
                "lib/shop/cart.ex:57",
                "The pattern can never match the type. Pattern: {:ok, _total} Type: :error",
            ),
            id="dialyxir",
        ),
        pytest.param(
            "lib/shop.ex:3:no_return Function total/1 has no local return.",
            ("no_return", "lib/shop.ex:3", "Function total/1 has no local return."),
            id="dialyxir in one line",
        ),
        pytest.param("lib/shop.ex:3:no_return\n", ("no_return", "lib/shop.ex:3", "no_return"), id="dialyxir, cut"),
        pytest.param(
            "  Proceeding with analysis...\ncart.erl:4:36: The call erlang:'+'\n         (number(),\n"
            "          string()) will never return\n done in 0m0.2s",
            ("dialyzer", "cart.erl:4", "The call erlang:'+' (number(), string()) will never return"),
            id="dialyzer",
        ),
        pytest.param(
            _CREDO,
            (
                "Credo.Refactor",
                "lib/shop/cart.ex:144",
                "Function is too complex (cyclomatic complexity is 21, max is 12).",
            ),
            id="credo",
        ),
        pytest.param(
            "[R] → lib/shop.ex:3:5 Modules should have a @moduledoc tag.",
            ("Credo.Readability", "lib/shop.ex:3", "Modules should have a @moduledoc tag."),
            id="credo in one line",
        ),
        pytest.param("[W] ↗ lib/shop.ex:3:5", ("Credo.Warning", "lib/shop.ex:3", "Credo.Warning"), id="credo, cut"),
        pytest.param(
            "lib/shop.ex:3:5: D: Found a TODO tag",
            ("Credo.Design", "lib/shop.ex:3", "Found a TODO tag"),
            id="credo flycheck",
        ),
        pytest.param(
            _ELIXIR,
            ("CompileError", "lib/shop.ex:4", "undefined function summ/1 (expected Shop to define such a function)"),
            id="elixir",
        ),
        pytest.param(
            "warning: Enum.summ/1 is undefined or private. Did you mean:\n\n      * sum/1\n\n"
            "  lib/shop.ex:4: Shop.total/1\n\n"
            "Compilation failed due to warnings while using the --warnings-as-errors option",
            ("warning", "lib/shop.ex:4", "Enum.summ/1 is undefined or private. Did you mean: * sum/1"),
            id="elixir, warnings as errors",
        ),
        pytest.param(
            "cart.erl:3:27: variable 'Itms' is unbound\n%    3| total(Items) -> lists:sum(Itms).\n"
            "cart.erl:5:1: Warning: function spare/0 is unused\n",
            ("CompileError", "cart.erl:3", "variable 'Itms' is unbound"),
            id="erlc",
        ),
    ],
)
def test_forms(text, expected):
    """Each tool's form gives its kind, the place and the whole message."""
    assert said(facts(text)) == expected


def test_glued_by_a_hook():
    """Several tools in one text, with literal line feeds between them and cut in the middle, are all read."""
    found = facts(f"Pre-commit failed:\\n\\n[CREDO]\n{_CREDO}\\n\\n[DIALYZER]\n{_DIALYXIR}[cut: 30 of 47]\\n\\nFix it.")
    assert (found.type, found.tally) == ("Credo.Refactor", "1 of 2 errors")
    assert found.details == (
        "pattern_match at cart.ex:57: The pattern can never match the type. Pattern: {:ok, _total} Type: :error",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            'warning: variable "x" is unused\n  lib/shop.ex:3: Shop.total/1\n\n'
            "** (RuntimeError) boom\n    lib/shop.ex:9: x",
            id="a warning above an exception",
        ),
        pytest.param(
            "warning: x\n  y\nlib/shop.ex:3\nerror: a\n    error: b\nthe warning: c\nof d] e\n", id="no place"
        ),
        pytest.param("warning: x is .ex: old", id="the text ends"),
        pytest.param("lib/shop.ex:14:config :shop, Shop.Endpoint,\nlib/shop.ex:15:defmodule Shop", id="a search"),
        pytest.param("[F] is a letter] for lib/a.ex: none\n[R] x] y\nno place", id="brackets"),
    ],
)
def test_not_taken(text):
    """Without a place, or above what failed, it is not of this family."""
    assert facts(text) is None


def test_keys():
    """Lines do not matter; patterns and functions do."""
    assert key(_DIALYXIR) == key(_DIALYXIR.replace(":57:", ":58:").replace("0m1.2s", "0m3.4s"))
    assert key(_DIALYXIR) != key(_DIALYXIR.replace("{:ok, _total}", "{:ok, _price}"))
