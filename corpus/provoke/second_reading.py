"""Failures that a second reader of the test runners' formats thought of: cut, crashed, in hooks, of snapshots."""

from __future__ import annotations

from typing import Final

from corpus.provoke.case import Case
from corpus.provoke.javascript import _with
from corpus.provoke.python import PYTEST, PYTHON

STOCK: Final = '''\
import json

import pytest


class StockError(Exception):
    """Raised when there is less than was asked for."""


def reserve(stock, sku, count):
    if stock.get(sku, 0) < count:
        raise StockError(f"only {stock.get(sku, 0)} of {sku} left, {count} wanted")
    return {**stock, sku: stock[sku] - count}


@pytest.fixture
def saved():
    return json.loads("{'pen': 2}")


@pytest.mark.parametrize("count", [1, 3, 5])
def test_reserve(count):
    assert reserve({"pen": 2}, "pen", count)["pen"] == 2 - count


def test_saved(saved):
    assert saved == {"pen": 2}


def test_file(tmp_path):
    assert (tmp_path / "stock.json").exists()
'''
SUBTESTS: Final = """\
def test_counts_are_even(subtests):
    for count in range(4):
        with subtests.test(msg="even", count=count):
            assert count % 2 == 0
"""
CRASH: Final = """\
import ctypes


def test_fine():
    assert ctypes.sizeof(ctypes.c_int) == 4


def test_native():
    ctypes.string_at(0)
"""
UNITTEST: Final = """\
import unittest


class RatesTest(unittest.TestCase):
    def test_close(self):
        self.assertAlmostEqual(1.0, 1.1)

    def test_known(self):
        self.assertEqual({"eur": 1}["usd"], 2)
"""
GO_TESTS: Final = """\
package cart

import (
	"fmt"
	"testing"
)

func TestReport(t *testing.T) {
	t.Errorf("got:\\n%s\\nwant:\\n%s", "tea 3\\nmilk 1", "tea 3\\nmilk 2")
}

func ExampleReport() {
	fmt.Println("tea 3")
	fmt.Println("milk 1")
	// Output:
	// tea 3
	// milk 2
}

func ExampleReport_empty() {
	fmt.Println("nothing")
	// Output:
	// nothing
}
"""
SPEC: Final = """\
RSpec.describe "cart" do
  it "is labelled", :aggregate_failures do
    expect("pen: 150").to include("EUR")
    expect([1, 2].sum).to eq(4)
  end

  it "is taxed" do
    pending "until the rates are there"
    expect(1).to eq(1)
  end
end
"""
PHP_TEST: Final = """\
<?php
use PHPUnit\\Framework\\TestCase;

final class MailTest extends TestCase
{
    public function testSendsOnce(): void
    {
        $mails = $this->createMock(Countable::class);
        $mails->expects($this->once())->method('count');
    }

    public function testRefuses(): void
    {
        $this->expectException(RuntimeException::class);
        throw new LogicException('no address');
    }
}
"""
RUST: Final = """\
#[cfg(test)]
mod tests {
    #[test]
    fn ten() {
        assert_eq!(5 * 3, 10);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn overflows() {
        panic!("division by zero");
    }
}
"""


def _jest(name: str, test: str, options: str = "") -> Case:
    return Case(
        name=name,
        format="jest",
        command=f"npx --loglevel=error jest --config '{{}}' {options}".rstrip(),
        setup=_with("jest"),
        files={"test/cart.test.js": test},
    )


CASES: Final[list[Case]] = [
    Case(
        name="errors_and_one_line_each", format="pytest", command=f"{PYTEST} --tb=line", files={"test_stock.py": STOCK}
    ),
    Case(name="subtests", format="pytest", command=f"{PYTEST} -q", files={"test_counts.py": SUBTESTS}),
    Case(
        name="below_another_tool",
        format="pytest",
        command=f"echo 'All checks passed!'; {PYTEST} -q -k saved",
        files={"test_stock.py": STOCK},
    ),
    Case(name="crash_under_pytest", format="python", command=f"{PYTEST} -q", files={"test_native.py": CRASH}),
    Case(
        name="cut_head",
        format="unittest",
        command=f"{PYTHON} -m unittest test_rates.py 2>&1 | tail -n 11",
        files={"test_rates.py": UNITTEST},
    ),
    _jest("snapshot_not_written", "test('cart', () => {\n  expect({ lines: 1 }).toMatchSnapshot();\n});\n", "--ci"),
    _jest("process_exit", "test('cart', () => {\n  process.exit(2);\n});\n"),
    _jest("no_tests", "", "--testPathPattern nothing"),
    _jest("each", "test.each(['pen', 'ink'])('%s is labelled', (name) => {\n  expect(name).toMatch(/EUR$/);\n});\n"),
    Case(
        name="vitest_snapshot",
        format="jest",
        command="npx --loglevel=error vitest run",
        setup=_with("vitest"),
        files={
            "package.json": '{"type": "module"}',
            "test/cart.test.js": "import { expect, test } from 'vitest';\n\ntest('cart', () => {\n"
            "  expect({ lines: 1, title: 'Cart' }).toMatchInlineSnapshot(`\n    {\n      \"lines\": 2,\n"
            '      "title": "Cart",\n    }\n  `);\n});\n',
        },
    ),
    Case(
        name="syntax",
        format="mocha",
        command="npx --loglevel=error mocha",
        setup=_with("mocha"),
        files={"test/cart.js": "it('is empty', () => {\n  assert.ok(1;\n});\n"},
    ),
    Case(
        name="lines_and_examples",
        format="gotest",
        command="go test ./...",
        needs=("go",),
        files={
            "go.mod": "module example.com/shop\n\ngo 1.21\n",
            "cart/cart.go": "package cart\n\nfunc Report() {}\n",
            "cart/cart_test.go": GO_TESTS,
        },
    ),
    Case(
        name="only_listed",
        format="cargotest",
        command="cargo test --offline 2>&1 | tail -n 8",
        needs=("cargo",),
        files={
            "Cargo.toml": '[package]\nname = "shop"\nversion = "1.4.0"\nedition = "2021"\n',
            "src/lib.rs": RUST,
        },
    ),
    Case(
        name="several_expectations",
        format="rspec",
        command="rspec",
        needs=("rspec",),
        files={"spec/cart_spec.rb": SPEC},
    ),
    Case(
        name="mocks",
        format="phpunit",
        command="phpunit tests",
        needs=("phpunit",),
        files={"tests/MailTest.php": PHP_TEST},
    ),
]
