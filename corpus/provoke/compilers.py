"""Compilers, linkers, type checkers, linters and formatters that only check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.provoke.case import Case
from corpus.provoke.projects import CRATE, UTF_8, code
from corpus.provoke.tools import is_there, link, npm_packages, python_packages, succeeds

if TYPE_CHECKING:
    from pathlib import Path

_PYTHON_TOOLS = ("ruff", "black", "isort", "mypy", "pyright", "flake8", "pylint", "ty")
_NODE_TOOLS = (
    "eslint@9",
    "stylelint@16",
    "stylelint-config-standard@36",
    "@biomejs/biome@2",
    "typescript@5",
    "prettier@3",
)
_NODE_PROGRAMS = ("eslint", "stylelint", "biome", "tsc", "prettier")


def prepare(tools: Path) -> None:
    """Install linters and compilers, each family in a folder of its own."""
    python, node = tools / "linters-python", tools / "linters-node"
    python_packages(python, *_PYTHON_TOOLS)
    link(tools, python / "bin", *_PYTHON_TOOLS)
    npm_packages(node, *_NODE_TOOLS)
    link(tools, node / "node_modules" / ".bin", *_NODE_PROGRAMS)
    plt = tools / "erlang.plt"
    if is_there("dialyzer") and not plt.exists():
        succeeds("dialyzer", "--build_plt", "--output_plt", str(plt), "--apps", "erts", "kernel", "stdlib")


_RING = code("""
    #include <stdio.h>

    struct queue { int head; int tail; char items[16]; };

    static int push(struct queue *q, char item) {
        q->items[q->tial++] = item;
        return remaining(q);
    }

    static int spare(void) { return 1; }

    int main(void) {
        struct queue q = {0};
        int unused;
        char *name = 42;
        push(&q, "a", 3);
        printf("%s\\n", totl)
        return 0;
    }
""")

_HELPER = "int helper(int value);\nvoid log_line(const char *text);\nint helper(int value) { return value; }\n"

_SORT = code("""
    #include <algorithm>
    #include <list>
    #include <string>
    #include <vector>

    struct Order { int id; };

    int main() {
        std::list<int> totals{3, 1, 2};
        std::sort(totals.begin(), totals.end());
        std::vector<Order> orders{{1}, {2}};
        int first = orders[0];
        return first + missing;
    }
""")

_SHOP_TS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022"}, "include": ["src"]}\n',
    "src/user.ts": code("""
        export interface User { name: string; email?: string; address: { city: string; zip: string } }
        export function greet(user: User): string { return `hello ${user.nmae}`; }
        export const fallback: User = { name: "guest" };
    """),
    "src/cart.ts": code("""
        import { greet, User } from "./user";
        import { tax } from "./tax";

        export function total(prices: number[]): number { return prices.reduce((a, b) => a + b, "0"); }
        export function label(user: User): string { return user.email; }
        export const city: number = ({} as User).address.city;
        greet("ann");
    """),
}
_VIEWS_TS = {
    "tsconfig.json": _SHOP_TS["tsconfig.json"],
    "src/user.ts": "export interface User { id: number; name: string }\n",
    **{
        f"src/views/{name}.ts": code(f"""
            import type {{ User }} from "../user";
            export const {name} = (user: User) => user.nmae;
            export const {name}Id = (user: User): string => user.id;
        """)
        for name in ("list", "detail", "edit", "admin")
    },
}

_SHOP_JAVA = {
    "src/shop/Cart.java": code("""
        package shop;

        import java.util.List;
        import shop.tax.Rates;

        public class Cart {
            private final List<String> items;

            public Cart(List<String> items) { this.items = items; }

            public int total() {
                int sum = "none";
                for (String item : itms) {
                    sum += price(item, 2);
                }
                return sum;
            }

            private int price(String item) { return item.lenght(); }
        }
    """)
}

_SHOP_GO = {
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "main.go": code("""
        package main

        import (
            "fmt"
            "os"
        )

        type Store interface{ Get(id int) (string, error) }

        type memory struct{}

        func (memory) Get(id string) string { return id }

        func main() {
            var store Store = memory{}
            name := store.Get(1)
            fmt.Println(nme)
            var total int = "none"
        }
    """),
}

_SHOP_PYTHON = {
    "pyproject.toml": "[tool.ruff.lint]\nselect = ['E', 'F', 'I', 'UP', 'B']\n",
    "shop/__init__.py": "",
    "shop/cart.py": code("""
        import os
        import json
        from typing import List, Optional
        from shop.tax import rate


        def total(prices: List[float], coupon: Optional[str] = None) -> float:
            try:
                return sum(prices) * rate("de") + "0"
            except:
                return None


        def label(order, seen=[]):
            if order == None:
                titel = f"nothing"
            return titl
    """),
    "shop/order.py": code("""
        import os
        import sys


        class Order:
            def __init__(self, id: int) -> None:
                self.id = id

            def key(self) -> str:
                return self.id


        def find(orders: dict[str, Order], key: str) -> Order:
            return orders.get(key)


        find({}, 3).nmae
    """),
}

_COMPILERS = [
    Case(
        name="gcc_many",
        format="compilers",
        command="gcc -Wall -c ring.c",
        files={"ring.c": _RING},
        needs=("gcc",),
    ),
    Case(
        name="gcc_missing_header",
        format="compilers",
        command="gcc -Iinclude -c src/app.c",
        files={"src/app.c": '#include "shop.h"\n', "include/shop.h": "#include <stdio.h>\n#include <libshop/cart.h>\n"},
        needs=("gcc",),
    ),
    Case(
        name="gcc_werror",
        format="compilers",
        command="gcc -Wall -Wextra -Werror -c a.c b.c",
        files={
            "a.c": "int size(int count) { int unused = 3; return 1; }\n",
            "b.c": '#include <stdio.h>\nvoid show(int n) { printf("%s", n); }\n',
        },
        needs=("gcc",),
    ),
    Case(
        name="gcc_link",
        format="compilers",
        command="gcc main.c helper.c -o shop -lcart",
        setup="true",
        files={"main.c": "int main(void) { return 0; }\n", "helper.c": _HELPER},
        needs=("gcc",),
    ),
    Case(
        name="ld_undefined",
        format="compilers",
        command="gcc main.c helper.c -o shop",
        files={
            "main.c": "int helper(int);\nint total(int);\nint tax(int);\n"
            "int main(void) { return helper(total(2)) + tax(1); }\n",
            "helper.c": _HELPER.replace("return value", "return value + total(value)").replace(
                "int helper(int value);", "int total(int);"
            ),
        },
        needs=("gcc",),
    ),
    Case(
        name="gpp_templates",
        format="compilers",
        command="g++ -std=c++17 -c sort.cpp 2>&1 | head -60",
        files={"sort.cpp": _SORT},
        needs=("g++",),
    ),
    Case(
        name="clang_many",
        format="compilers",
        command="clang -Wall -c ring.c",
        files={"ring.c": _RING},
        needs=("clang",),
    ),
    Case(
        name="clang_templates",
        format="compilers",
        command="clang++ -std=c++17 -c sort.cpp",
        files={"sort.cpp": _SORT},
        needs=("clang",),
    ),
    Case(name="tsc_plain", format="compilers", command="tsc -p .", files=_SHOP_TS, needs=("tsc",)),
    Case(name="tsc_pretty", format="compilers", command="tsc -p . --pretty", files=_SHOP_TS, needs=("tsc",)),
    Case(name="tsc_same_in_many_files", format="compilers", command="tsc -p .", files=_VIEWS_TS, needs=("tsc",)),
    Case(
        name="tsc_no_inputs",
        format="compilers",
        command="tsc -p .",
        files={"tsconfig.json": '{"include": ["src"]}'},
        needs=("tsc",),
    ),
    Case(
        name="javac",
        format="compilers",
        command="javac -d out src/shop/*.java",
        files=_SHOP_JAVA,
        needs=("javac",),
    ),
    Case(
        name="go_build",
        format="compilers",
        command="go build ./...",
        files=_SHOP_GO,
        needs=("go",),
    ),
    Case(
        name="go_vet",
        format="compilers",
        command="go vet ./...",
        files={
            "go.mod": _SHOP_GO["go.mod"],
            "main.go": 'package main\n\nimport "fmt"\n\nfunc main() {\n'
            '\tfmt.Printf("%d items\\n", "three")\n\treturn\n\tfmt.Println()\n}\n',
        },
        needs=("go",),
    ),
    Case(name="mypy", format="compilers", command="mypy --strict shop", files=_SHOP_PYTHON, needs=("mypy",)),
    Case(
        name="mypy_pretty",
        format="compilers",
        command="mypy --pretty --show-error-context shop/order.py",
        files=_SHOP_PYTHON,
        needs=("mypy",),
    ),
    Case(name="pyright", format="compilers", command="pyright shop", files=_SHOP_PYTHON, needs=("pyright",)),
    Case(name="flake8", format="compilers", command="flake8 shop", files=_SHOP_PYTHON, needs=("flake8",)),
    Case(name="pylint", format="compilers", command="pylint shop", files=_SHOP_PYTHON, needs=("pylint",)),
]

_SHOP_RS = code("""
    use std::collections::HashMap;
    use std::fs;

    struct Stock { shelves: HashMap<String, u32> }

    impl Stock {
        fn restock(&self, article: String, pieces: u32) {
            self.shelves.insert(article, pieces);
        }
        fn size(&self) -> u32 {
            self.shelves.len()
        }
    }

    fn counted(path: &str) -> Stock {
        let list = fs::read_to_string(path);
        let mut shelves = HashMap::new();
        for article in list.split(';') {
            let unused = 1;
            shelves.insert(article.to_string(), 1);
        }
        Stock { shelves }
    }

    fn main() {
        let first = counted("a");
        let second = first;
        println!("{} {}", first.size(), totl);
    }
""")


def _crate(source: str) -> dict[str, str]:
    return {"Cargo.toml": CRATE, "src/main.rs": source}


_RUSTC = [
    Case(
        name="types_and_names", format="rustc", command="rustc main.rs", files={"main.rs": _SHOP_RS}, needs=("rustc",)
    ),
    Case(
        name="cargo_borrows",
        format="rustc",
        command="cargo build",
        files=_crate(
            code("""
                #[derive(Debug)]
                struct Order { id: u32, items: Vec<String> }

                fn consume(order: Order) -> usize { order.items.len() }

                fn longest(first: &str, second: &str) -> &str {
                    if first.len() > second.len() { first } else { second }
                }

                fn main() {
                    let mut order = Order { id: 1, items: vec![] };
                    let items = &order.items;
                    order.items.push("tea".to_string());
                    println!("{:?} {}", items, longest("a", "b"));
                    consume(order);
                    println!("{}", order.id);
                }
            """)
        ),
        needs=("cargo",),
    ),
    Case(
        name="cargo_unresolved",
        format="rustc",
        command="cargo build 2>&1",
        files=_crate(
            "use serde::Serialize;\nuse crate::cart::Cart;\n\nfn main() {\n"
            '    let total: i32 = Cart::new().totl();\n    pritnln!("{}", total);\n}\n'
        ),
        needs=("cargo",),
    ),
    Case(
        name="clippy_denied",
        format="rustc",
        command="cargo clippy --all-targets -- -D warnings",
        files=_crate(
            'fn main() {\n    let names = vec!["a"];\n    if names.len() == 0 {\n        return;\n    }\n'
            '    let total = 3;\n    println!("{}", names.iter().map(|n| n.clone()).count());\n}\n'
        ),
        needs=("cargo",),
    ),
    Case(
        name="link_failure",
        format="rustc",
        command="rustc main.rs",
        files={
            "main.rs": 'extern "C" { fn shop_total(id: i32) -> i32; }\n'
            'fn main() { println!("{}", unsafe { shop_total(1) }); }\n'
        },
        needs=("rustc",),
    ),
    Case(
        name="cut_in_the_middle",
        format="rustc",
        command="rustc main.rs 2>&1 | tail -42",
        files={"main.rs": _SHOP_RS},
        needs=("rustc",),
    ),
    Case(name="ty", format="rustc", command="ty check shop", files=_SHOP_PYTHON, needs=("ty",)),
]

_SHOP_JS = {
    "eslint.config.mjs": code("""
        export default [{
          languageOptions: { globals: { console: "readonly" } },
          rules: {
            "no-unused-vars": "error", "no-undef": "error", eqeqeq: "error", "no-console": "warn", semi: "error",
          },
        }];
    """),
    "src/cart.js": code("""
        import { tax } from "./tax.js";
        const rate = 3;

        export function total(prices) {
          let sum = 0
          for (const price of prices) sum += prise;
          if (sum == 0) console.log("empty");
          return sum;
        }
    """),
    "src/order.js": code("""
        export const load = (id) => {
          const unused = id;
          return fetch(url);
        };
    """),
    "src/broken.js": "export function broken( {\n  return 1;\n",
}

_ESLINT = [
    Case(name="stylish", format="eslint", command="eslint src", files=_SHOP_JS, needs=("eslint",)),
    Case(
        name="one_rule_many_files",
        format="eslint",
        command="eslint src",
        files={
            "eslint.config.mjs": _SHOP_JS["eslint.config.mjs"],
            **{f"src/{name}.js": "const React = 1;\nexport default 2;\n" for name in ("a", "b", "c", "d")},
        },
        needs=("eslint",),
    ),
    Case(
        name="stylelint",
        format="eslint",
        command="stylelint 'src/*.css'",
        setup='ln -s "$TOOLS/linters-node/node_modules" node_modules',
        files={
            ".stylelintrc.json": '{"extends": "stylelint-config-standard"}',
            "src/shop.css": "a { colr: #FFFFFF; }\n.Cart-item { margin: 0px; }\na { color: red; color: blue }\n",
        },
        needs=("stylelint",),
    ),
    Case(
        name="biome",
        format="eslint",
        command="biome lint src",
        files={name: text for name, text in _SHOP_JS.items() if name != "eslint.config.mjs"},
        needs=("biome",),
    ),
    Case(
        name="prettier",
        format="eslint",
        command="prettier --check src",
        files=_SHOP_JS,
        needs=("prettier",),
    ),
]

_RUFF = [
    Case(name="full", format="ruff", command="ruff check shop", files=_SHOP_PYTHON, needs=("ruff",)),
    Case(
        name="concise",
        format="ruff",
        command="ruff check --output-format concise shop",
        files=_SHOP_PYTHON,
        needs=("ruff",),
    ),
    Case(
        name="grouped",
        format="ruff",
        command="ruff check --output-format grouped shop",
        files=_SHOP_PYTHON,
        needs=("ruff",),
    ),
    Case(
        name="syntax_error",
        format="ruff",
        command="ruff check shop",
        files={"shop/cart.py": "def total(prices:\n    return sum(prices)\n"},
        needs=("ruff",),
    ),
    Case(
        name="format_check",
        format="ruff",
        command="ruff format --check shop",
        files={"shop/a.py": "x = {  'a':1 }\n", "shop/b.py": "y=[1,2]\n"},
        needs=("ruff",),
    ),
    Case(
        name="black_check",
        format="ruff",
        command="black --workers 1 --check shop",
        files={"shop/a.py": "x = {  'a':1 }\n", "shop/b.py": "y=[1,2]\n", "shop/c.py": "def broken(:\n"},
        needs=("black",),
    ),
    Case(
        name="hook_of_three",
        format="ruff",
        command="for check in 'black --check -q' 'ruff check --output-format concise' 'mypy --strict'; do "
        'echo "[$check]"; $check shop; done',
        files=_SHOP_PYTHON,
        needs=("ruff", "black", "mypy"),
    ),
]

_MIX = code("""
    defmodule Shop.MixProject do
      use Mix.Project

      def project, do: [app: :shop, version: "0.1.0"]
    end
""")
_ELIXIR = {"mix.exs": _MIX}

_DIALYZER = [
    Case(
        name="elixir_warnings_as_errors",
        format="dialyzer",
        command="mix compile --warnings-as-errors",
        files={
            **_ELIXIR,
            "lib/shop.ex": "defmodule Shop do\n  def total(items) do\n    unused = 1\n"
            "    Enum.summ(items)\n  end\nend\n",
        },
        needs=("mix",),
        environment=UTF_8,
    ),
    Case(
        name="erlc",
        format="dialyzer",
        command="erlc cart.erl",
        files={
            "cart.erl": "-module(cart).\n-export([total/1, kind/1]).\ntotal(Items) -> lists:sum(Itms).\n"
            "kind(X) -> foo(X).\nspare() -> ok.\n"
        },
        needs=("erlc",),
    ),
    Case(
        name="dialyzer_of_erlang",
        format="dialyzer",
        command='dialyzer --plt "$TOOLS/erlang.plt" cart.erl',
        files={
            "cart.erl": "-module(cart).\n-export([total/1, kind/1]).\n-spec kind(integer()) -> atom().\n"
            "total(Items) -> lists:sum(Items) + atom_to_list(x).\n"
            "kind(X) -> case is_integer(X) of true -> 1; maybe -> b end.\n"
        },
        needs=("dialyzer",),
    ),
]

CASES = [*_COMPILERS, *_RUSTC, *_ESLINT, *_RUFF, *_DIALYZER]
