"""Failed tests of Ruby; samples are written for these tests, records of real runs are in the corpus."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

RSPEC = """\
F

Failures:

  1) Cart adds up
     Failure/Error: expect(cart.total).to eq(5)

       expected: 5
            got: 4

       (compared using ==)
     # ./spec/cart_spec.rb:9:in `block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.1 seconds to load)
1 example, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:8 # Cart adds up
"""


def test_expectation():
    """What was expected and what came are one line, at the line of the expectation."""
    found = facts(RSPEC)
    assert (found.type, str(found.location), found.cause, found.details) == (
        "AssertionError",
        "Cart adds up (spec/cart_spec.rb:9)",
        "expected: 5, got: 4",
        (),
    )


def test_raised():
    """An exception counts by the innermost frame of the user's own code; a suggestion is kept."""
    found = facts(
        "  1) Cart adds up\n     Failure/Error: cart.totl\n\n     NoMethodError:\n       undefined method `totl'\n"
        "       Did you mean?  total\n     # /usr/lib/ruby/gems/x.rb:1:in `call'\n     # ./lib/cart.rb:3:in `sum'\n"
    )
    assert (found.type, str(found.location), found.cause, found.details) == (
        "NoMethodError",
        "sum (lib/cart.rb:3)",
        "undefined method `totl'",
        ("in Cart adds up", "Did you mean?  total"),
    )


def test_raised_without_message():
    """An exception without a message is told by the line that raised it."""
    found = facts("  1) Cart adds up\n     Failure/Error: cart.total\n\n     Cart::Empty:\n     # ./spec/a.rb:3\n")
    assert (found.type, found.cause, found.details) == (
        "Cart::Empty",
        "no message",
        ("in Cart adds up", "> cart.total"),
    )


def test_only_the_source():
    """An expectation that says nothing is told by its source line."""
    found = facts("  1) Cart adds up\n     Failure/Error: raise unless cart.ok?\n\n     # ./spec/a.rb:3\n")
    assert (found.cause, found.details) == ("raise unless cart.ok?", ())


def test_load_error():
    """What failed outside of examples is a failure of its file."""
    found = facts(
        'An error occurred while loading ./spec/a_spec.rb.\nFailure/Error: require "x"\n\nLoadError:\n'
        "  cannot load such file -- x\n# ./spec/a_spec.rb:1:in `<top (required)>'\n\n"
        "0 examples, 0 failures, 1 error occurred outside of examples\n"
    )
    assert (found.type, found.cause, found.members) == ("LoadError", "cannot load such file -- x", 1)


def test_difference():
    """A difference stands in for values that are not printed, as far as it is short."""
    found = facts(
        "  1) Failure:\nCartTest#test_label [test/cart_test.rb:18]:\nlabels differ.\nDiff:\n--- expected\n+++ actual\n"
        "-pen\n+ink\n\nbin/rails test test/cart_test.rb:17\n\n4 runs, 4 assertions, 1 failures, 0 errors, 0 skips\n"
    )
    assert (str(found.location), found.cause) == (
        "CartTest#test_label (test/cart_test.rb:18)",
        "labels differ. -pen +ink",
    )


def test_rails():
    """Rails prints each failure of Minitest as it happens, without a number."""
    found = facts(
        "F\n\nFailure:\nCartTest#test_label [test/cart_test.rb:18]:\nExpected: 1\n  Actual: 2\n\n\n"
        "bin/rails test test/cart_test.rb:17\n\nError:\nCartTest#test_open:\nIOError: closed\n"
        "    app/cart.rb:3:in `open'\n"
        "\n2 runs, 1 assertions, 1 failures, 1 errors, 0 skips\n) Failure:"
    )
    assert (found.cause, found.tally) == ("Expected: 1, actual: 2", "1 of 2 tests")
    assert "IOError at open (app/cart.rb:3) in CartTest#test_open: closed" in found.details


def test_cut_off():
    """The list of failed examples is what is left of an output whose head is cut off."""
    found = facts(
        "2 examples, 2 failures\n\nFailed examples:\n\nrspec ./spec/a.rb:3 # A b\nrspec ./spec/a.rb[1:2] # A c\n"
    )
    assert (found.type, found.cause, str(found.location), found.tally) == (
        "ExampleFailed",
        "A b",
        "spec/a.rb:3",
        "1 of 2 tests",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("An error occurred while reading: rspec ./spec", id="prose"),
        pytest.param("1) see Failure/Error: x\nFailure: x\n1) Failure:", id="mentions"),
        pytest.param("  1) Error:\nnothing", id="no name"),
        pytest.param("  1) first\n  2) second\nrspec ./spec/a.rb", id="list"),
    ],
)
def test_not_taken(text):
    """Texts that merely look like a report are left to others."""
    assert facts(text).format != "rspec"


def test_keys():
    """Seeds, durations and lines do not matter; values and examples do."""
    assert key(RSPEC) == key(RSPEC.replace("0.01 seconds", "7 seconds").replace("rb:9", "rb:12"))
    assert key(RSPEC) != key(RSPEC.replace("adds up", "subtracts"))


def test_spec_that_does_not_parse():
    """The place of a syntax error is in its message; the stack below it is RSpec's own."""
    found = facts(
        "An error occurred while loading ./spec/cart_spec.rb.\n"
        "Failure/Error: __send__(method, file)\n\nSyntaxError:\n"
        "  /src/shop/spec/cart_spec.rb:2: syntax error, unexpected '}', expecting ')'\n"
        "# /usr/share/gems/rspec-core-3.12.0/lib/rspec/core/configuration.rb:2117:in `load'\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "SyntaxError",
        "/src/shop/spec/cart_spec.rb:2",
        "syntax error, unexpected '}', expecting ')'",
    )
