"""Go, Rust, Elixir and Erlang: test runners and programs that die."""

from __future__ import annotations

from dataclasses import replace

from corpus.provoke.case import Case
from corpus.provoke.projects import CRATE, UTF_8

# --- Go --------------------------------------------------------------------------------------------------------------

_GO = {"GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
_MODULE = "module example.com/shop\n\ngo 1.22\n"
_CART = """\
package cart

import "fmt"

type Item struct {
	Name  string
	Price int
	Count int
}

type Cart struct {
	Items []Item
	rates map[string]float64
}

func (c *Cart) Total() int {
	total := 0
	for _, item := range c.Items {
		total += item.Price
	}
	return total
}

func (c *Cart) SetRate(country string, rate float64) {
	c.rates[country] = rate
}

func (c *Cart) At(n int) Item {
	return c.Items[n]
}

func Parse(text string) (Item, error) {
	var item Item
	if _, err := fmt.Sscanf(text, "%s %d", &item.Name, &item.Price); err != nil {
		return item, fmt.Errorf("parse %q: %w", text, err)
	}
	return item, nil
}
"""
_TOTAL_TEST = """\
package cart

import "testing"

func TestTotal(t *testing.T) {
	c := &Cart{Items: []Item{{"tea", 3, 2}, {"milk", 1, 1}}}
	if got := c.Total(); got != 7 {
		t.Errorf("Total() = %d, want %d", got, 7)
	}
}

func TestEmpty(t *testing.T) {
	c := &Cart{}
	if got := c.Total(); got != 0 {
		t.Errorf("Total() = %d, want 0", got)
	}
}
"""
_PARSE_TEST = """\
package cart

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "tea 3", "tea"},
		{"upper case", "TEA 3", "tea"},
		{"quoted", `"green tea" 4`, "green tea"},
		{"no price", "tea", "tea"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Logf("parsing %s", test.text)
			item, err := Parse(test.text)
			if err != nil {
				t.Fatalf("Parse(%q): %v", test.text, err)
			}
			if item.Name != strings.TrimSpace(test.want) {
				t.Errorf("name is %q, want %q", item.Name, test.want)
			}
		})
	}
}
"""
_RATES_TEST = """\
package cart

import "testing"

func TestRates(t *testing.T) {
	c := &Cart{}
	c.SetRate("NL", 0.21)
}

func TestAfter(t *testing.T) {}
"""
_TESTIFY_TEST = """\
package cart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestItems(t *testing.T) {
	item, err := Parse("tea 3")
	require.NoError(t, err)
	assert.Equal(t, Item{Name: "tea", Price: 3, Count: 1}, item, "count defaults to one")
}

func TestTotalOfTwo(t *testing.T) {
	c := &Cart{Items: []Item{{"tea", 3, 2}}}
	assert.Equal(t, 6, c.Total())
}

func TestBadInput(t *testing.T) {
	_, err := Parse("tea three")
	require.NoError(t, err)
}

func TestNames(t *testing.T) {
	assert.Contains(t, []string{"tea", "milk"}, "sugar")
}
"""
_CMP_TEST = """\
package cart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseItem(t *testing.T) {
	got, _ := Parse("tea 3")
	want := Item{Name: "tea", Price: 3, Count: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse() mismatch (-want +got):\\n%s", diff)
	}
}
"""
_SLOW_TEST = """\
package cart

import (
	"testing"
	"time"
)

func TestFast(t *testing.T) {}

func TestWaitsForever(t *testing.T) {
	answers := make(chan int)
	go func() { time.Sleep(time.Hour) }()
	<-answers
}
"""
_RACE_TEST = """\
package cart

import (
	"sync"
	"testing"
)

type Counter struct{ n int }

func (c *Counter) Add() { c.n++ }

func TestCounter(t *testing.T) {
	var c Counter
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			c.Add()
		}()
	}
	group.Wait()
}
"""
_STORE = """\
package store

import (
	"errors"
	"fmt"
	"os"
)

var ErrNoDSN = errors.New("store: SHOP_DSN is not set")

type Store struct{ dsn string }

func Open() (*Store, error) {
	dsn := os.Getenv("SHOP_DSN")
	if dsn == "" {
		return nil, fmt.Errorf("open: %w", ErrNoDSN)
	}
	return &Store{dsn}, nil
}
"""
_STORE_TEST = """\
package store

import "testing"

func open(t *testing.T) *Store {
	t.Helper()
	store, err := Open()
	if err != nil {
		t.Fatalf("cannot open the test store: %v", err)
	}
	return store
}

""" + "\n".join(
    f"func Test{name}(t *testing.T) {{\n\topen(t)\n}}\n"
    for name in ("Insert", "Update", "Delete", "List", "Search", "Count", "Export", "Import")
)
_PRICES_TEST = """\
package prices

import "testing"

func TestRound(t *testing.T) {
	if got := Round(2.5); got != 3 {
		t.Fatalf("Round(2.5) = %v, want 3", got)
	}
}
"""
_PRICES = 'package prices\n\nimport "math"\n\nfunc Round(x float64) float64 { return math.RoundToEven(x) }\n'
_BROKEN_TEST = """\
package prices

import "testing"

func TestRound(t *testing.T) {
	var want int = "3"
	if got := Round(2.5, want); got != want {
		t.Fatal(rounded)
	}
}
"""
_WITH_TESTIFY = "go mod edit -require github.com/stretchr/testify@v1.9.0 && go mod tidy"
_WITH_CMP = "go mod edit -require github.com/google/go-cmp@v0.6.0 && go mod tidy"


def _gotest(name: str, files: dict[str, str], command: str = "go test ./...", *, setup: str = "") -> Case:
    return Case(
        name=name,
        format="gotest",
        files={"go.mod": _MODULE, **files},
        command=command,
        setup=setup,
        needs=("go",),
        environment=_GO,
    )


_CHATTER = """\
package cart

import (
	"fmt"
	"testing"
)

func TestImport(t *testing.T) {
	for n := range 120 {
		fmt.Printf("2026/03/02 10:12:%02d imported batch %d of 120\\n", n%60, n)
	}
	c := &Cart{Items: []Item{{"tea", 3, 2}}}
	if got := c.Total(); got != 6 {
		t.Fatalf("after the import Total() = %d, want 6", got)
	}
}
"""

_GOTEST = [
    _gotest("single", {"cart/cart.go": _CART, "cart/cart_test.go": _TOTAL_TEST}),
    _gotest("subtests", {"cart/cart.go": _CART, "cart/parse_test.go": _PARSE_TEST}, "go test -v ./cart"),
    _gotest("panic", {"cart/cart.go": _CART, "cart/rates_test.go": _RATES_TEST}),
    _gotest("testify", {"cart/cart.go": _CART, "cart/items_test.go": _TESTIFY_TEST}, setup=_WITH_TESTIFY),
    _gotest("cmp", {"cart/cart.go": _CART, "cart/items_test.go": _CMP_TEST}, setup=_WITH_CMP),
    _gotest("timeout", {"cart/cart.go": _CART, "cart/slow_test.go": _SLOW_TEST}, "go test -timeout 1s ./cart"),
    _gotest("race", {"cart/cart.go": _CART, "cart/race_test.go": _RACE_TEST}, "go test -race ./cart"),
    _gotest("one_cause", {"store/store.go": _STORE, "store/store_test.go": _STORE_TEST}),
    _gotest(
        "packages",
        {
            "cart/cart.go": _CART,
            "cart/cart_test.go": _TOTAL_TEST,
            "store/store.go": _STORE,
            "store/store_test.go": _STORE_TEST,
            "prices/prices.go": _PRICES,
            "prices/prices_test.go": _PRICES_TEST,
            "main.go": "package main\n\nfunc main() {}\n",
        },
    ),
    _gotest(
        "build_failed",
        {
            "cart/cart.go": _CART,
            "cart/cart_test.go": _TOTAL_TEST.replace("want %d", "want %d").replace("got != 7", "got != 4"),
            "prices/prices.go": _PRICES,
            "prices/prices_test.go": _BROKEN_TEST,
        },
    ),
    _gotest(
        "setup_failed",
        {
            "cart/cart.go": _CART,
            "cart/cart_test.go": _TOTAL_TEST.replace(
                'import "testing"', 'import (\n\t"testing"\n\n\t"example.com/shop/money"\n)\n\nvar _ = money.Zero'
            ),
        },
    ),
    _gotest("json", {"cart/cart.go": _CART, "cart/cart_test.go": _TOTAL_TEST}, "go test -json ./cart"),
    _gotest("chatter", {"cart/cart.go": _CART, "cart/import_test.go": _CHATTER}),
    _gotest(
        "tail",
        {"store/store.go": _STORE, "store/store_test.go": _STORE_TEST},
        "go test -v ./... 2>&1 | tail -12",
    ),
]

_SERVER = """\
package main

import (
	"fmt"
	"os"

	"example.com/shop/cart"
)

func main() {
	c := &cart.Cart{}
	fmt.Fprintln(os.Stderr, "shop: starting")
	run(c)
}

func run(c *cart.Cart) {
	fmt.Println(c.At(3).Name)
}
"""


def _gomod(name: str, main: str, command: str, **files: str) -> Case:
    return replace(_go(name, main, command, **files), format="gomod")


def _go(name: str, main: str, command: str = "go run .", **files: str) -> Case:
    return Case(
        name=name,
        format="go",
        files={"go.mod": _MODULE, "main.go": main, "cart/cart.go": _CART, **files},
        command=command,
        needs=("go",),
        environment=_GO,
    )


_GO_CASES = [
    _go("index", _SERVER),
    _go("nil_pointer", _SERVER.replace("c := &cart.Cart{}", "var c *cart.Cart")),
    _go(
        "deadlock",
        """\
package main

import "sync"

func worker(jobs chan int, group *sync.WaitGroup) {
	defer group.Done()
	for range jobs {
	}
}

func main() {
	jobs := make(chan int)
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go worker(jobs, &group)
	}
	jobs <- 1
	group.Wait()
}
""",
    ),
    _go(
        "repanic",
        """\
package main

import (
	"errors"
	"fmt"
	"os"
)

func load(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(fmt.Errorf("load settings: %w", err))
	}
	return data
}

func guarded(path string) []byte {
	defer func() {
		if r := recover(); r != nil {
			panic(errors.New("start failed"))
		}
	}()
	return load(path)
}

func main() {
	guarded("settings.toml")
}
""",
    ),
    _go(
        "library",
        """\
package main

import (
	"fmt"
	"regexp"
)

func compile(patterns []string) []*regexp.Regexp {
	var compiled []*regexp.Regexp
	for _, pattern := range patterns {
		compiled = append(compiled, regexp.MustCompile(pattern))
	}
	return compiled
}

func main() {
	fmt.Println(len(compile([]string{"a+", "[0-9", "b*"})))
}
""",
    ),
    _go(
        "concurrent_map",
        """\
package main

func count(totals map[int]int) {
	for {
		totals[1]++
	}
}

func main() {
	totals := map[int]int{}
	for range 4 {
		go count(totals)
	}
	select {}
}
""",
    ),
    _go(
        "race",
        """\
package main

import (
	"fmt"
	"sync"
)

var hits int

func hit(group *sync.WaitGroup) {
	defer group.Done()
	hits++
}

func main() {
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go hit(&group)
	}
	group.Wait()
	fmt.Println(hits)
}
""",
        "go run -race .",
    ),
    _go(
        "overflow",
        """\
package main

func parent(n int) int { return child(n + 1) }

func child(n int) int { return parent(n) + 1 }

func main() {
	println(parent(0))
}
""",
        "go run . 2>&1 | head -40",
    ),
    _gomod(
        "no_module",
        'package main\n\nimport (\n\t"github.com/spf13/viper"\n\n\t"example.com/shop/money"\n)\n\n'
        "func main() { viper.Get(money.Key) }\n",
        "go build ./...",
    ),
    _gomod(
        "not_in_std",
        'package main\n\nimport "shop/settings"\n\nfunc main() { settings.Load() }\n',
        "go build ./...",
    ),
    _gomod(
        "import_cycle",
        'package main\n\nimport "example.com/shop/a"\n\nfunc main() { a.Run() }\n',
        "go build ./...",
        **{
            "a/a.go": 'package a\n\nimport "example.com/shop/b"\n\nfunc Run() { b.Run() }\n',
            "b/b.go": 'package b\n\nimport "example.com/shop/a"\n\nfunc Run() { a.Run() }\n',
        },
    ),
    Case(
        name="no_go_mod",
        format="gomod",
        files={"main.go": "package main\n\nfunc main() {}\n"},
        command="go build ./...",
        needs=("go",),
        environment=_GO,
    ),
    Case(
        name="no_sum",
        format="gomod",
        files={
            "go.mod": _MODULE + "\nrequire github.com/stretchr/testify v1.9.0\n",
            "main.go": 'package main\n\nimport "github.com/stretchr/testify/assert"\n\n'
            "func main() { assert.True(nil, true) }\n",
        },
        command="go build ./...",
        needs=("go",),
        environment=_GO,
    ),
    Case(
        name="no_network",
        format="gomod",
        files={"go.mod": _MODULE, "main.go": "package main\n\nfunc main() {}\n"},
        command="GOMODCACHE=$PWD/../modules go get github.com/stretchr/testify@v1.9.0",
        needs=("go",),
        environment={**_GO, "GOPROXY": "off"},
    ),
    Case(
        name="bad_go_mod",
        format="gomod",
        files={
            "go.mod": _MODULE + "\nrequires github.com/stretchr/testify v1.9.0\n",
            "main.go": "package main\n\nfunc main() {}\n",
        },
        command="go vet ./...",
        needs=("go",),
        environment=_GO,
    ),
]

# --- Rust ------------------------------------------------------------------------------------------------------------

_LIB = """\
//! A shop.

/// The price of all items.
///
/// ```
/// assert_eq!(shop::total(&[1, 2]), 3);
/// ```
pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

pub fn discount(price: u32, percent: u32) -> u32 {
    price - price * percent / 10
}

pub fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
    text.trim().parse()
}

pub fn first(prices: &[u32]) -> u32 {
    prices[0]
}
"""
_RUST_TESTS = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        assert_eq!(total(&[1, 2]), 3);
    }

    #[test]
    fn ten_percent() {
        assert_eq!(discount(50, 1), 49, "one percent of fifty");
    }
%s}
"""
_MORE_RUST_TESTS = """
    #[test]
    fn parses() {
        assert_eq!(parse("12 EUR").unwrap(), 12);
    }

    #[test]
    fn parses_negative() -> Result<(), std::num::ParseIntError> {
        parse("-1")?;
        Ok(())
    }

    #[test]
    fn first_of_none() {
        println!("looking for the first of none");
        first(&[]);
    }

    #[test]
    fn cheap() {
        assert!(total(&[200]) < 100, "too expensive: {}", total(&[200]));
    }

    #[test]
    #[should_panic(expected = "out of stock")]
    fn refuses() {
        total(&[]);
    }
"""
_SHARED_RUST_TESTS = """
    fn settings() -> String {
        std::fs::read_to_string("settings.toml").expect("settings are there")
    }

""" + "\n".join(
    f'    #[test]\n    fn {name}() {{\n        assert!(settings().contains("{name}"));\n    }}\n'
    for name in ("currency", "country", "language", "timezone", "discounts")
)


def _rust(name: str, form: str, files: dict[str, str], command: str, *, setup: str = "", **environment: str) -> Case:
    return Case(
        name=name,
        format=form,
        files={"Cargo.toml": CRATE, **files},
        command=command,
        setup=setup,
        needs=("cargo",),
        environment={"RUST_BACKTRACE": "0", **environment},
    )


_CARGOTEST = [
    _rust("single", "cargotest", {"src/lib.rs": _LIB + _RUST_TESTS % ""}, "cargo test"),
    _rust("several", "cargotest", {"src/lib.rs": _LIB + _RUST_TESTS % _MORE_RUST_TESTS}, "cargo test --lib"),
    _rust(
        "one_cause",
        "cargotest",
        {"src/lib.rs": _LIB + _RUST_TESTS.replace("50, 1), 49", "50, 1), 45") % _SHARED_RUST_TESTS},
        "cargo test --lib",
    ),
    _rust(
        "backtrace",
        "cargotest",
        {"src/lib.rs": _LIB + _RUST_TESTS.replace("50, 1), 49", "50, 1), 45") % _MORE_RUST_TESTS},
        "cargo test --lib first_of_none",
        RUST_BACKTRACE="1",
    ),
    _rust(
        "doctest",
        "cargotest",
        {"src/lib.rs": _LIB.replace("&[1, 2]), 3", "&[1, 2]), 4")},
        "cargo test",
    ),
    _rust(
        "integration",
        "cargotest",
        {
            "src/lib.rs": _LIB,
            "tests/orders.rs": '#[test]\nfn order() {\n    let order = vec![("tea", 3), ("milk", 1)];\n'
            '    assert_eq!(order, vec![("tea", 3), ("milk", 2)]);\n}\n',
            "tests/stock.rs": "#[test]\nfn stock() {\n    let stock: Option<u32> = None;\n    stock.unwrap();\n}\n",
        },
        "cargo test --no-fail-fast",
    ),
    _rust(
        "tail",
        "cargotest",
        {"src/lib.rs": _LIB + _RUST_TESTS % _MORE_RUST_TESTS},
        "cargo test --lib 2>&1 | tail -30",
    ),
    _rust(
        "killed",
        "cargotest",
        {
            "src/lib.rs": _LIB
            + _RUST_TESTS % "\n    #[test]\n    fn aborts() {\n        std::process::abort();\n    }\n"
        },
        "cargo test --lib aborts",
    ),
]

_RUST_MAIN = """\
use std::collections::HashMap;

fn price(prices: &HashMap<&str, u32>, name: &str) -> u32 {
    prices[name]
}

fn main() {
    let prices = HashMap::from([("tea", 3)]);
    println!("{}", price(&prices, "tea"));
    println!("{}", price(&prices, "milk"));
}
"""
_UNWRAP = """\
#[derive(Debug)]
#[allow(dead_code)]
enum SettingsError {
    Missing { key: String },
}

fn setting(key: &str) -> Result<String, SettingsError> {
    std::env::var(key).map_err(|_| SettingsError::Missing { key: key.into() })
}

fn main() {
    let dsn = setting("SHOP_DSN").unwrap();
    println!("{dsn}");
}
"""
_ANYHOW = """\
use anyhow::{Context, Result};

fn read(path: &str) -> Result<u16> {
    let text = std::fs::read_to_string(path).with_context(|| format!("failed to read {path}"))?;
    Ok(text.trim().parse()?)
}

fn main() -> Result<()> {
    let port = read("config/port.txt").context("could not load the configuration")?;
    println!("{port}");
    Ok(())
}
"""
_EYRE = (
    _ANYHOW.replace("anyhow::{Context, Result}", "eyre::{Result, WrapErr}")
    .replace(".with_context", ".wrap_err_with")
    .replace(".context(", ".wrap_err(")
)
_BUILT = "cargo build"

_RUST_CASES = [
    _rust("no_backtrace", "rust", {"src/main.rs": _UNWRAP}, "./target/debug/shop", setup=_BUILT),
    _rust("backtrace", "rust", {"src/main.rs": _RUST_MAIN}, "cargo run", RUST_BACKTRACE="1"),
    _rust(
        "full_backtrace", "rust", {"src/main.rs": _UNWRAP}, "./target/debug/shop", setup=_BUILT, RUST_BACKTRACE="full"
    ),
    _rust(
        "anyhow",
        "rust",
        {"Cargo.toml": CRATE + '\n[dependencies]\nanyhow = "1"\n', "src/main.rs": _ANYHOW},
        "./target/debug/shop",
        setup=_BUILT,
    ),
    _rust(
        "anyhow_backtrace",
        "rust",
        {"Cargo.toml": CRATE + '\n[dependencies]\nanyhow = "1"\n', "src/main.rs": _ANYHOW},
        "./target/debug/shop",
        setup=_BUILT,
        RUST_BACKTRACE="1",
    ),
    _rust(
        "eyre",
        "rust",
        {"Cargo.toml": CRATE + '\n[dependencies]\neyre = "0.6"\n', "src/main.rs": _EYRE},
        "cargo run",
        setup=_BUILT,
    ),
    _rust(
        "error_from_main",
        "rust",
        {
            "src/main.rs": "use std::{error::Error, fs};\n\nfn main() -> Result<(), Box<dyn Error>> {\n"
            '    let text = fs::read_to_string("prices.csv")?;\n    println!("{}", text.len());\n    Ok(())\n}\n'
        },
        "cargo run -q",
    ),
    _rust(
        "thread",
        "rust",
        {
            "src/main.rs": "use std::thread;\n\nfn stock(amount: u8) -> u8 {\n    amount - 3\n}\n\nfn main() {\n"
            '    let worker = thread::Builder::new().name("stock-worker".into()).spawn(|| '
            "stock(std::env::args().count() as u8));\n"
            "    worker.unwrap().join().unwrap();\n}\n"
        },
        "cargo run -q",
    ),
    _rust(
        "overflow",
        "rust",
        {
            "src/main.rs": "fn depth(n: u64) -> u64 {\n    let padding = [n; 64];\n    depth(n + 1) + padding[3]\n}\n\n"
            'fn main() {\n    println!("{}", depth(0));\n}\n'
        },
        "cargo run -q",
    ),
]

# --- Elixir and Erlang -----------------------------------------------------------------------------------------------

_MIX = """\
defmodule Shop.MixProject do
  use Mix.Project

  def project do
    [app: :shop, version: "0.1.0", elixir: "~> 1.14", start_permanent: Mix.env() == :prod, deps: []]
  end

  def application do
    [extra_applications: [:logger]%s]
  end
end
"""
_CART_EX = """\
defmodule Shop.Cart do
  @moduledoc "A cart."

  defstruct items: [], owner: nil

  @doc \"\"\"
  Adds prices up.

      iex> Shop.Cart.total(%Shop.Cart{items: [{"tea", 3}, {"milk", 1}]})
      DOCTEST
  \"\"\"
  def total(cart) do
    cart.items |> Enum.map(fn {_name, price} -> price end) |> Enum.sum()
  end

  def rate(%__MODULE__{owner: %{country: country}}), do: Shop.Rates.of(country)

  def parse(text) do
    [name, price] = String.split(text, " ")
    {name, String.to_integer(price)}
  end

  def first(cart), do: hd(cart.items)

  def names(cart), do: Enum.map(cart.items, &Map.fetch!(&1, :name))
end
"""
_RATES_EX = """\
defmodule Shop.Rates do
  @moduledoc "Rates, kept by a server."
  use GenServer

  def start_link(options), do: GenServer.start_link(__MODULE__, options, name: __MODULE__)

  def of(country), do: GenServer.call(__MODULE__, {:rate, country})

  @impl true
  def init(options), do: {:ok, Keyword.get(options, :rates, %{"NL" => 21})}

  @impl true
  def handle_call({:rate, country}, _from, rates), do: {:reply, Map.fetch!(rates, country), rates}
end
"""
_TEST_HELPER = "ExUnit.start(seed: 7)\n"


def _mix(name: str, form: str, files: dict[str, str], command: str, *, application: str = "", setup: str = "") -> Case:
    return Case(
        name=name,
        format=form,
        files={
            "mix.exs": _MIX % application,
            "lib/shop/cart.ex": _CART_EX.replace("DOCTEST", "4"),
            "lib/shop/rates.ex": _RATES_EX,
            "test/test_helper.exs": _TEST_HELPER,
            **files,
        },
        command=command,
        setup=setup,
        needs=("mix",),
        environment={**UTF_8, "MIX_QUIET": ""},
    )


def _test_module(name: str, body: str, options: str = ", async: true") -> str:
    return f"defmodule {name} do\n  use ExUnit.Case{options}\n\n{body}end\n"


_SEVERAL_EX = _test_module(
    "Shop.CartTest",
    """\
  alias Shop.Cart

  describe "total/1" do
    test "counts every item" do
      assert Cart.total(%Cart{items: [{"tea", 3}, {"milk", 1}]}) == 5
    end

    test "of an unknown shape" do
      Cart.total(%Cart{items: [{"tea", 3, 1}]})
    end
  end

  test "parses" do
    assert Cart.parse("green tea 3") == {"green tea", 3}
  end

  test "names" do
    assert ["tea"] = Cart.names(%Cart{items: [%{title: "tea"}]})
  end

  test "shape" do
    assert %{items: [_ | _]} = %Cart{}
  end

  test "refuses bad prices" do
    assert_raise ArithmeticError, ~r/price/, fn -> Cart.parse("tea x") end
  end

  test "is told" do
    send(self(), {:sold, :milk})
    assert_receive {:sold, :tea}, 10
  end

  test "in the list" do
    assert "tea" in ["milk", "sugar"]
  end

  test "not implemented" do
    flunk("write me")
  end
""",
)
_SETUP_EX = _test_module(
    "Shop.OrdersTest",
    """\
  setup do
    dsn = System.fetch_env!("SHOP_DSN")
    {:ok, dsn: dsn}
  end

"""
    + "\n".join(
        f'  test "{name}", %{{dsn: dsn}} do\n    assert dsn =~ "shop"\n  end\n'
        for name in ("insert", "update", "delete", "list", "search", "count", "export", "import", "archive", "restore")
    ),
)
_SETUP_ALL_EX = _test_module(
    "Shop.ImportTest",
    '  setup_all do\n    {:ok, text} = File.read("priv/prices.csv")\n    {:ok, text: text}\n  end\n\n'
    '  test "imports", %{text: text} do\n    assert text != ""\n  end\n\n'
    '  test "again", %{text: text} do\n    assert text != ""\n  end\n',
)
_SERVER_EX = _test_module(
    "Shop.RatesTest",
    """\
  import ExUnit.CaptureLog

  test "knows the Netherlands" do
    start_supervised!({Shop.Rates, []})
    assert Shop.Rates.of("NL") == 21
  end

  test "knows Belgium" do
    start_supervised!({Shop.Rates, []})
    assert Shop.Rates.of("BE") == 21
  end

  test "without a server" do
    assert Shop.Rates.of("NL") == 21
  end

  test "does not hang" do
    assert capture_log(fn -> Process.exit(self(), :kill) end) == ""
  end
""",
    "",
)

_EXUNIT = [
    _mix(
        "single",
        "exunit",
        {
            "test/cart_test.exs": _test_module(
                "Shop.CartTest",
                '  test "total" do\n    cart = %Shop.Cart{items: [{"tea", 3}]}\n'
                "    assert Shop.Cart.total(cart) == 6\n  end\n\n"
                '  test "empty" do\n    assert Shop.Cart.total(%Shop.Cart{}) == 0\n  end\n',
            )
        },
        "mix test",
    ),
    _mix("several", "exunit", {"test/cart_test.exs": _SEVERAL_EX}, "mix test"),
    _mix("setup", "exunit", {"test/orders_test.exs": _SETUP_EX}, "mix test"),
    _mix("setup_all", "exunit", {"test/import_test.exs": _SETUP_ALL_EX}, "mix test"),
    _mix("processes", "exunit", {"test/rates_test.exs": _SERVER_EX}, "mix test"),
    _mix(
        "doctest",
        "exunit",
        {
            "lib/shop/cart.ex": _CART_EX.replace("DOCTEST", "5"),
            "test/cart_test.exs": _test_module("Shop.CartTest", "  doctest Shop.Cart\n"),
        },
        "mix test",
    ),
    _mix(
        "does_not_compile",
        "beam",
        {
            "test/cart_test.exs": _test_module(
                "Shop.CartTest", '  test "total" do\n    assert Shop.Cart.total(cart) == 6\n  end\n'
            )
        },
        "mix test",
    ),
    _mix(
        "syntax_error",
        "beam",
        {
            "test/cart_test.exs": _test_module(
                "Shop.CartTest", '  test "total" do\n    assert total([1, 2) == 3\n  end\n'
            )
        },
        "mix test",
    ),
    _mix(
        "timeout",
        "exunit",
        {
            "test/slow_test.exs": _test_module(
                "Shop.SlowTest",
                '  @tag timeout: 200\n  test "answers" do\n    receive do\n      :answer -> :ok\n    end\n  end\n',
            )
        },
        "mix test",
    ),
    _mix(
        "umbrella_like",
        "exunit",
        {
            "test/orders_test.exs": _SETUP_EX,
            "test/cart_test.exs": _SEVERAL_EX,
        },
        "mix test --trace 2>&1 | tail -60",
    ),
]

_BEAM = [
    _mix(
        "key_error",
        "beam",
        {"run.exs": "Shop.Cart.total(%{things: []}) |> IO.inspect()\n"},
        "mix run run.exs",
        setup="mix compile",
    ),
    _mix(
        "match_error",
        "beam",
        {"run.exs": '["tea 3", "milk"] |> Enum.map(&Shop.Cart.parse/1) |> IO.inspect()\n'},
        "mix run run.exs",
        setup="mix compile",
    ),
    _mix(
        "genserver",
        "beam",
        {"run.exs": '{:ok, _} = Shop.Rates.start_link([])\nIO.inspect(Shop.Rates.of("BE"))\n'},
        "mix run run.exs",
        setup="mix compile",
    ),
    _mix(
        "supervisor",
        "beam",
        {
            "lib/shop/application.ex": "defmodule Shop.Application do\n  use Application\n\n"
            "  def start(_type, _args) do\n"
            '    dsn = System.fetch_env!("SHOP_DSN")\n'
            "    Supervisor.start_link([{Shop.Rates, [dsn: dsn]}], strategy: :one_for_one)\n  end\nend\n"
        },
        "mix run",
        application=", mod: {Shop.Application, []}",
        setup="mix compile",
    ),
    _mix(
        "task",
        "beam",
        {"run.exs": "Task.async(fn -> Shop.Cart.first(%Shop.Cart{}) end) |> Task.await() |> IO.inspect()\n"},
        "mix run run.exs",
        setup="mix compile",
    ),
    _mix("no_task", "beam", {}, "mix ecto.migrate"),
    _mix("no_function", "beam", {"run.exs": "Shop.Cart.sum(%Shop.Cart{})\n"}, "mix run run.exs", setup="mix compile"),
    _mix("exit", "beam", {"run.exs": 'Shop.Rates.of("NL")\n'}, "mix run run.exs", setup="mix compile"),
    Case(
        name="script",
        format="beam",
        files={
            "report.exs": "defmodule Report do\n  def run(rows), do: Enum.map(rows, &line/1)\n\n"
            '  defp line(%{name: name, price: price}), do: name <> ": " <> price\nend\n\n'
            'Report.run([%{name: "tea", price: 3}]) |> IO.inspect()\n'
        },
        command="elixir report.exs",
        needs=("elixir",),
        environment=UTF_8,
    ),
    Case(
        name="escript",
        format="beam",
        files={
            "shop.erl": "#!/usr/bin/env escript\n%%! -noshell\nmain(_) ->\n"
            '    io:format("~p~n", [total([{tea, 3}, milk])]).\n\n'
            "total(Items) -> lists:sum([price(Item) || Item <- Items]).\n\nprice({_, Price}) -> Price.\n"
        },
        command="escript shop.erl",
        needs=("escript",),
        environment={"LANG": "C.UTF-8"},
    ),
    Case(
        name="crash_report",
        format="beam",
        files={
            "rates.erl": "-module(rates).\n-behaviour(gen_server).\n"
            "-export([start/0, init/1, handle_call/3, handle_cast/2, run/0]).\n\n"
            "start() -> gen_server:start({local, rates}, rates, [], []).\n\ninit([]) -> {ok, #{nl => 21}}.\n\n"
            "handle_call({rate, Country}, _From, Rates) -> {reply, maps:get(Country, Rates), Rates}.\n\n"
            "handle_cast(_, Rates) -> {noreply, Rates}.\n\nrun() ->\n    {ok, _} = start(),\n"
            "    gen_server:call(rates, {rate, be}).\n"
        },
        command="erlc rates.erl && erl -noshell -eval 'rates:run()' -s init stop",
        needs=("erlc", "erl"),
        environment={"LANG": "C.UTF-8"},
    ),
    Case(
        name="boot",
        format="beam",
        files={
            "shop.erl": "-module(shop).\n-export([start/0]).\n"
            'start() -> {ok, Text} = file:read_file("prices.csv"), io:format(Text).\n'
        },
        command="erlc shop.erl && erl -noshell -s shop start -s init stop; cat erl_crash.dump "
        "2>/dev/null | head -3; true",
        needs=("erlc", "erl"),
        environment={"LANG": "C.UTF-8", "ERL_CRASH_DUMP_SECONDS": "0"},
    ),
]

CASES: list[Case] = [*_GOTEST, *_GO_CASES, *_CARGOTEST, *_RUST_CASES, *_EXUNIT, *_BEAM]
