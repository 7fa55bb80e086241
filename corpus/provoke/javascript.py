"""Failures of JavaScript programs, of their bundlers, test runners and package managers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from corpus.provoke.case import Case
from corpus.provoke.tools import npm_packages

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGES: Final = {
    "jest": "jest@29 @babel/preset-env@7 @babel/preset-react@7 react@18 react-dom@18 jest-environment-jsdom@29 "
    "@testing-library/react@14",
    "vitest": "vitest@2",
    "mocha": "mocha@10 chai@4 tape@5",
    "bundlers": "vite@5 esbuild@0.21 webpack@5 webpack-cli@5 rollup@4",
    "runtimes": "deno@2 bun@1",
    "managers": "pnpm@9 yarn@1",
}
"""What each set of cases runs with, as npm names it."""


def prepare(tools: Path) -> None:
    """
    Install each set into `$TOOLS/js/<set>`.
    """
    for name, packages in _PACKAGES.items():
        npm_packages(tools / "js" / name, *packages.split())


def _with(name: str) -> str:
    """
    Return a line of bash that gives the project the installed packages of a set.
    """
    return f'cp -al "$TOOLS/js/{name}/node_modules" .'


# --- programs --------------------------------------------------------------------------------------------------------

_CHECKOUT: Final = {
    "src/cart.js": """\
'use strict';

function subtotal(cart) {
  return cart.lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}

function total(cart, rates) {
  return subtotal(cart) * (1 + rates.vat);
}

module.exports = { subtotal, total };
""",
    "src/checkout.js": """\
'use strict';
const { total } = require('./cart');

class Checkout {
  constructor(carts) {
    this.carts = carts;
  }

  pay(id) {
    const cart = this.carts.get(id);
    return { id, amount: total(cart, { vat: 0.2 }) };
  }
}

module.exports = { Checkout };
""",
    "index.js": """\
'use strict';
const { Checkout } = require('./src/checkout');

const checkout = new Checkout(new Map([['c-1', { lines: [] }]]));
console.log('paying', checkout.pay('c-1').amount);
console.log('paying', checkout.pay('c-2').amount);
""",
}

_CHAIN: Final = {
    "db.js": """\
export class QueryError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'QueryError';
    this.code = 'E_QUERY';
    this.table = 'orders';
  }
}

export function query(sql) {
  try {
    return JSON.parse('{"rows": [1, 2,');
  } catch (error) {
    throw new QueryError(`query failed: ${sql}`, { cause: error });
  }
}
""",
    "report.mjs": """\
import { query } from './db.js';

export function monthly(month) {
  try {
    return query(`select * from orders where month = ${month}`);
  } catch (error) {
    throw new Error(`report for month ${month} could not be made`, { cause: error });
  }
}

monthly(7);
""",
    "package.json": '{"name": "shop", "type": "module"}\n',
}

_RUNTIMES: Final = (
    Case(name="uncaught", format="javascript", command="node index.js", files=_CHECKOUT),
    Case(name="cause_chain", format="javascript", command="node report.mjs", files=_CHAIN),
    Case(
        name="aggregate",
        format="javascript",
        command="node mirrors.mjs",
        files={
            "mirrors.mjs": """\
async function probe(mirror, status) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (status !== 200) throw new Error(`mirror ${mirror} answered ${status}`);
}

export async function fastest() {
  return Promise.any([probe('eu-west', 503), probe('us-east', 503), probe('ap-south', 403)]);
}

await fastest();
"""
        },
    ),
    Case(
        name="enoent",
        format="javascript",
        command="node load.js",
        files={
            "load.js": """\
const fs = require('fs');

function loadSettings(name) {
  return JSON.parse(fs.readFileSync(`config/${name}.json`, 'utf8'));
}

module.exports = loadSettings('production');
"""
        },
    ),
    Case(
        name="fetch_refused",
        format="javascript",
        command="node sync.mjs",
        files={
            "sync.mjs": """\
import { setTimeout as sleep } from 'node:timers/promises';

async function push(orders) {
  await sleep(2);
  const response = await fetch('http://127.0.0.1:54321/orders', { method: 'POST', body: JSON.stringify(orders) });
  return response.json();
}

async function main() {
  console.log('syncing 3 orders');
  await push([1, 2, 3]);
}

main();
"""
        },
    ),
    Case(
        name="rejected_with_text",
        format="javascript",
        command="node worker.js",
        files={"worker.js": "async function work() {\n  throw 'quota of tenant acme exceeded';\n}\n\nwork();\n"},
    ),
    Case(
        name="rejected_with_object",
        format="javascript",
        command="node worker.js",
        files={"worker.js": "async function work() {\n  throw { code: 'QUOTA', tenant: 'acme' };\n}\n\nwork();\n"},
    ),
    Case(
        name="thrown_text",
        format="javascript",
        command="node worker.js",
        files={"worker.js": "function work() {\n  throw 'queue is closed';\n}\n\nwork();\n"},
    ),
    Case(
        name="syntax",
        format="javascript",
        command="node index.js",
        files={
            "index.js": "const { price } = require('./lib/price');\nconsole.log(price(3));\n",
            "lib/price.js": "function price(quantity) {\n  const rate = { eur: 1.2, usd: 1.3 ;\n"
            "  return quantity * rate.eur;\n}\n\nmodule.exports = { price };\n",
        },
    ),
    Case(
        name="missing_module",
        format="javascript",
        command="node index.js",
        files={
            "index.js": "const server = require('./src/server');\nserver.start();\n",
            "src/server.js": "const express = require('express');\n\nexports.start = () => express().listen(3000);\n",
        },
    ),
    Case(
        name="missing_file_esm",
        format="javascript",
        command="node src/main.mjs",
        files={"src/main.mjs": "import { tax } from './tax';\n\nconsole.log(tax(3));\n"},
    ),
    Case(
        name="missing_package_esm",
        format="javascript",
        command="node src/main.mjs",
        files={"src/main.mjs": "import dayjs from 'dayjs';\n\nconsole.log(dayjs());\n"},
    ),
    Case(
        name="missing_export",
        format="javascript",
        command="node main.mjs",
        files={
            "main.mjs": "import { total } from './cart.mjs';\n\nconsole.log(total([]));\n",
            "cart.mjs": "export const subtotal = (lines) => lines.length;\n",
        },
    ),
    Case(
        name="require_of_esm",
        format="javascript",
        command="node --no-experimental-require-module main.cjs",
        files={
            "main.cjs": "const { subtotal } = require('./cart.mjs');\n\nconsole.log(subtotal([]));\n",
            "cart.mjs": "export const subtotal = (lines) => lines.length;\n",
        },
    ),
    Case(
        name="require_in_esm",
        format="javascript",
        command="node index.js",
        files={
            "index.js": "const fs = require('fs');\n\nconsole.log(fs.readdirSync('.'));\n",
            "package.json": '{"name": "shop", "type": "module"}\n',
        },
    ),
    Case(
        name="recursion",
        format="javascript",
        command="node tree.js",
        files={
            "tree.js": """\
function depth(node) {
  return 1 + children(node);
}

function children(node) {
  return Math.max(...node.items.map(depth));
}

const root = { items: [] };
root.items.push(root);
console.log(depth(root));
"""
        },
    ),
    Case(
        name="assertion",
        format="javascript",
        command="node check.js",
        files={
            "check.js": """\
const assert = require('node:assert/strict');

function quote(items) {
  return { net: items.length * 10, vat: 2, currency: 'EUR' };
}

assert.deepEqual(quote([1, 2, 3]), { net: 30, vat: 6, currency: 'EUR' });
"""
        },
    ),
    Case(
        name="out_of_memory",
        format="javascript",
        command="node --max-old-space-size=24 index.js",
        files={
            "index.js": "const rows = [];\n"
            "for (;;) rows.push({ id: rows.length, tags: ['a', 'b', `c${rows.length}`] });\n"
        },
    ),
    Case(
        name="logged_by_server",
        format="javascript",
        command="node server.js",
        files={
            "src/orders.js": """\
class OrderStore {
  constructor(rows) {
    this.rows = rows;
  }

  async find(id) {
    await null;
    const row = this.rows.find((candidate) => candidate.id === id);
    return { id: row.id, customer: row.customer.name };
  }
}

module.exports = { OrderStore };
""",
            "server.js": """\
const { OrderStore } = require('./src/orders');

async function main() {
  const store = new OrderStore([{ id: 1, customer: { name: 'Ann' } }, { id: 2 }]);
  for (let port = 0; port < 12; port += 1) console.log(`[info] route /orders/${port} registered`);
  console.log('[info] listening on http://localhost:54312');
  for (const id of [1, 2]) {
    try {
      console.log('[info] GET /orders', await store.find(id));
    } catch (error) {
      console.error('[error] GET /orders failed', error);
    }
  }
  console.log('[info] shutting down');
}

main();
""",
        },
    ),
    Case(
        name="truncated_head",
        format="javascript",
        command="node index.js 2>&1 | tail -n 9",
        files=_CHECKOUT,
    ),
    Case(name="truncated_tail", format="javascript", command="node report.mjs 2>&1 | head -n 8", files=_CHAIN),
    Case(
        name="react_render",
        format="javascript",
        command="node render.js",
        setup=_with("jest"),
        files={
            "render.js": """\
const React = require('react');
const { renderToString } = require('react-dom/server');

function Price({ item }) {
  return React.createElement('b', null, item.price.toFixed(2));
}

function Cart({ items }) {
  return React.createElement('ul', null, items.map((item) => React.createElement(Price, { item, key: item.id })));
}

console.log(renderToString(React.createElement(Cart, { items: [{ id: 1, price: 3 }, { id: 2 }] })));
"""
        },
    ),
    Case(
        name="deno_uncaught",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/deno" run main.ts',
        files={
            "cart.ts": """\
export interface Line { price: number; quantity: number }

export function subtotal(lines: Line[]): number {
  if (lines.length === 0) {
    throw new RangeError("cart has no lines");
  }
  return lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}
""",
            "main.ts": 'import { subtotal } from "./cart.ts";\n\nfunction main() {\n'
            "  console.log(subtotal([]));\n}\n\nmain();\n",
        },
    ),
    Case(
        name="deno_permission",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/deno" run --no-prompt main.ts',
        files={"main.ts": 'const text = await Deno.readTextFile("/etc/hostname");\nconsole.log(text);\n'},
    ),
    Case(
        name="deno_missing_module",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/deno" run main.ts',
        files={"main.ts": 'import { subtotal } from "./basket.ts";\n\nconsole.log(subtotal([]));\n'},
    ),
    Case(
        name="bun_uncaught",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/bun" run index.js',
        files=_CHECKOUT,
    ),
    Case(
        name="bun_missing_module",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/bun" run index.ts',
        files={"index.ts": "import { total } from './basket';\n\nconsole.log(total([]));\n"},
    ),
    Case(
        name="bun_cause",
        format="javascript",
        command='"$TOOLS/js/runtimes/node_modules/.bin/bun" run report.mjs',
        files=_CHAIN,
    ),
)

# --- bundlers --------------------------------------------------------------------------------------------------------

_PAGE: Final = {
    "package.json": '{"name": "shop", "private": true, "version": "1.4.0", "type": "module", "scripts": '
    '{"build": "vite build"}}\n',
    "index.html": '<!doctype html><div id="root"></div><script type="module" src="/src/main.jsx"></script>\n',
}

_BUNDLERS: Final = (
    Case(
        name="vite_unresolved",
        format="bundlers",
        command="npm run build",
        setup=_with("bundlers"),
        files={**_PAGE, "src/main.jsx": "import { App } from './App';\n\nApp();\n"},
    ),
    Case(
        name="vite_syntax",
        format="bundlers",
        command="npx vite build",
        setup=_with("bundlers"),
        files={
            **_PAGE,
            "src/main.jsx": "import { App } from './App';\n\nApp();\n",
            "src/App.jsx": "export function App() {\n  return (\n    <main>\n      <h1>Shop</h2>\n    </main>\n"
            "  );\n}\n",
        },
    ),
    Case(
        name="vite_missing_export",
        format="bundlers",
        command="npx vite build",
        setup=_with("bundlers"),
        files={
            **_PAGE,
            "src/main.jsx": "import { App } from './App';\n\nApp();\n",
            "src/App.jsx": "export function Application() {\n  return null;\n}\n",
        },
    ),
    Case(
        name="webpack_unresolved",
        format="bundlers",
        command="npx webpack --mode production",
        setup=_with("bundlers"),
        files={
            "src/index.js": "import { total } from './cart';\nimport dayjs from 'dayjs';\n\n"
            "console.log(total([]), dayjs());\n",
            "src/cart.js": "import { round } from './money';\nimport dayjs from 'dayjs';\n\n"
            "export const total = (lines) => round(lines.length, dayjs());\n",
        },
    ),
    Case(
        name="webpack_syntax",
        format="bundlers",
        command="npx webpack --mode production",
        setup=_with("bundlers"),
        files={
            "src/index.js": "import { total } from './cart';\n\nconsole.log(total([]));\n",
            "src/cart.js": "export const total = (lines) => {\n"
            "  return lines.reduce((sum, line) => sum + line.price, 0;\n};\n",
        },
    ),
    Case(
        name="esbuild_several",
        format="bundlers",
        command="npx esbuild src/index.ts --bundle --outfile=out.js",
        setup=_with("bundlers"),
        files={
            "src/index.ts": "import { total, tax } from './cart';\nimport dayjs from 'dayjs';\n\n"
            "console.log(total([]), tax, dayjs());\n",
            "src/cart.ts": "import { round } from './money';\n\n"
            "export const total = (lines: unknown[]) => round(lines.length);\n",
        },
    ),
    Case(
        name="esbuild_syntax",
        format="bundlers",
        command="npx esbuild src/index.ts --bundle --outfile=out.js",
        setup=_with("bundlers"),
        files={
            "src/index.ts": "export function total(lines: number[]) {\n"
            "  const sum = lines.reduce((a, b) => a + b, 0)\n  return {sum: sum;\n}\n"
        },
    ),
    Case(
        name="rollup_missing_export",
        format="bundlers",
        command="npx rollup src/index.js --file out.js --format cjs",
        setup=_with("bundlers"),
        files={
            "src/index.js": "import { total } from './cart.js';\n\nconsole.log(total([]));\n",
            "src/cart.js": "export const subtotal = (lines) => lines.length;\n",
        },
    ),
)

# --- jest and vitest -------------------------------------------------------------------------------------------------

_JEST: Final = {
    "package.json": '{"name": "shop", "version": "1.4.0", "scripts": {"test": "jest"}}\n',
    "babel.config.js": "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }], "
    "'@babel/preset-react'] };\n",
    "src/cart.js": """\
export function subtotal(cart) {
  return cart.lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
}

export function total(cart, rates) {
  return subtotal(cart) * (1 + rates.vat);
}

export function label(cart) {
  return { id: cart.id, title: `Cart ${cart.id}`, lines: cart.lines.length, currency: 'EUR' };
}
""",
}

_CART_TESTS: Final = """\
import { label, subtotal, total } from '../src/cart';

const cart = { id: 'c-1', lines: [{ price: 3, quantity: 2 }] };

describe('cart', () => {
  test('adds up lines', () => {
    expect(subtotal(cart)).toBe(6);
  });

  describe('total', () => {
    it('adds VAT', () => {
      expect(total(cart, { vat: 0.2 })).toBe(7.25);
    });

    it('refuses a missing rate', () => {
      expect(() => total(cart, { vat: -1 })).toThrow('rate');
    });
  });

  test('is labelled', () => {
    expect(label(cart)).toEqual({ id: 'c-1', title: 'Cart 1', lines: 1, currency: 'USD' });
  });
});
"""

_ONE_CAUSE_TESTS: Final = """\
import { Store } from '../src/store';

describe('store', () => {
  for (const id of ['c-1', 'c-2', 'c-3', 'c-4', 'c-5', 'c-6']) {
    it(`finds ${id}`, () => {
      expect(new Store().find(id).id).toBe(id);
    });
  }

  it('counts', () => {
    expect(new Store().size).toBe(0);
  });
});
"""

_STORE: Final = """\
export class Store {
  get size() {
    return 0;
  }

  find(id) {
    return this.connection.rows.get(id);
  }
}
"""

_SUITES: Final = {
    f"test/{name}.test.js": f"import {{ total }} from '../src/cart';\nimport {{ money }} from '../src/money';\n\n"
    f"test('{name}', () => {{\n  expect(money(total)).toBe('0');\n}});\n"
    for name in ("basket", "invoice", "order", "refund")
}

_VITEST: Final = {
    "package.json": '{"name": "shop", "version": "1.4.0", "type": "module", "scripts": {"test": "vitest run"}}\n',
    "src/cart.js": _JEST["src/cart.js"],
}


def _for_vitest(test: str) -> str:
    return "import { describe, expect, it, test, vi } from 'vitest';\n" + test


_RUNNERS: Final = (
    Case(
        name="several_causes",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={**_JEST, "test/cart.test.js": _CART_TESTS},
    ),
    Case(
        name="single",
        format="jest",
        command="npm test",
        setup=_with("jest"),
        files={
            **_JEST,
            "test/cart.test.js": "import { subtotal } from '../src/cart';\n\n"
            "test('an empty cart costs nothing', () => {\n  expect(subtotal({ lines: [] })).toBe(1);\n});\n\n"
            "test('a full one does not', () => {\n"
            "  expect(subtotal({ lines: [{ price: 1, quantity: 1 }] })).toBe(1);\n});\n",
        },
    ),
    Case(
        name="one_cause",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={**_JEST, "src/store.js": _STORE, "test/store.test.js": _ONE_CAUSE_TESTS},
    ),
    Case(
        name="suites_do_not_load",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={**_JEST, **_SUITES},
    ),
    Case(
        name="suite_with_syntax_error",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={
            **_JEST,
            "src/money.js": "export function money(value) {\n  return `${value.toFixed(2) EUR`;\n}\n",
            "test/order.test.js": _SUITES["test/order.test.js"],
            "test/cart.test.js": "import { subtotal } from '../src/cart';\n\n"
            "test('an empty cart costs nothing', () => {\n  expect(subtotal({ lines: [] })).toBe(0);\n});\n",
        },
    ),
    Case(
        name="esm_in_dependency",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={
            "package.json": '{"name": "shop", "jest": {"transform": {}}}\n',
            "src/cart.js": "export const total = (lines) => lines.length;\n",
            "test/cart.test.js": "const { total } = require('../src/cart');\n\ntest('total', () => {\n"
            "  expect(total([])).toBe(0);\n});\n",
        },
    ),
    Case(
        name="mocks_and_promises",
        format="jest",
        command="npx jest --verbose",
        setup=_with("jest"),
        files={
            **_JEST,
            "src/mailer.js": """\
export async function notify(customer, send) {
  console.log(`sending to ${customer.email}`);
  const sent = await send({ to: customer.email, subject: 'Your order', retries: 2 });
  if (!sent) throw new Error(`mail to ${customer.email} was refused`);
  return sent;
}
""",
            "test/mailer.test.js": """\
import { notify } from '../src/mailer';

const ann = { email: 'ann@example.com' };

beforeEach(() => {
  console.warn('mailer runs without a queue');
});

test('sends one mail', async () => {
  const send = jest.fn().mockResolvedValue(true);
  await notify(ann, send);
  expect(send).toHaveBeenCalledWith({ to: 'ann@example.com', subject: 'Your invoice', retries: 2 });
});

test('is refused', async () => {
  await notify(ann, async () => false);
});

test('rejects', async () => {
  await expect(notify(ann, async () => true)).rejects.toThrow('refused');
});

test('sends twice', async () => {
  const send = jest.fn();
  expect(send).toHaveBeenCalledTimes(2);
});

test('is patient', async () => {
  await notify(ann, () => new Promise(() => {}));
}, 50);
""",
        },
    ),
    Case(
        name="snapshot",
        format="jest",
        command="npx jest --ci",
        setup=_with("jest"),
        files={
            **_JEST,
            "test/label.test.js": "import { label } from '../src/cart';\n\ntest('label', () => {\n"
            "  expect(label({ id: 'c-1', lines: [1, 2] })).toMatchSnapshot();\n});\n",
            "test/__snapshots__/label.test.js.snap": "// Jest Snapshot v1, https://goo.gl/fbAQLP\n\n"
            'exports[`label 1`] = `\n{\n  "currency": "EUR",\n  "id": "c-1",\n  "lines": 3,\n'
            '  "title": "Basket c-1",\n}\n`;\n',
        },
    ),
    Case(
        name="hooks",
        format="jest",
        command="npx jest",
        setup=_with("jest"),
        files={
            **_JEST,
            "test/db.test.js": """\
function connect(url) {
  throw new Error(`connect ECONNREFUSED ${url}`);
}

describe('database', () => {
  beforeAll(() => {
    connect('127.0.0.1:5432');
  });

  for (const table of ['orders', 'customers', 'refunds', 'invoices', 'items']) {
    it(`reads ${table}`, () => {
      expect(table).toBeTruthy();
    });
  }
});
""",
        },
    ),
    Case(
        name="react",
        format="jest",
        command="npx jest 2>&1 | tail -n 90",
        setup=_with("jest"),
        files={
            **_JEST,
            "package.json": '{"name": "shop", "jest": {"testEnvironment": "jsdom"}}\n',
            "src/Price.jsx": """\
import React from 'react';

export function Price({ item }) {
  return <b data-testid="price">{item.price.toFixed(2)}</b>;
}

export function Cart({ items }) {
  return <ul>{items.map((item) => <li key={item.id}><Price item={item} /></li>)}</ul>;
}
""",
            "test/price.test.jsx": """\
import React from 'react';
import { render } from '@testing-library/react';
import { Cart } from '../src/Price';

test('shows items without a price', () => {
  render(<Cart items={[{ id: 2 }]} />);
});
""",
        },
    ),
    Case(
        name="truncated",
        format="jest",
        command="npx jest 2>&1 | tail -n 32",
        setup=_with("jest"),
        files={**_JEST, "test/cart.test.js": _CART_TESTS},
    ),
    Case(
        name="coverage_threshold",
        format="jest",
        command="npx jest --coverage",
        setup=_with("jest"),
        files={
            **_JEST,
            "package.json": '{"name": "shop", "jest": {"coverageThreshold": {"global": {"lines": 90, '
            '"branches": 50}}}}\n',
            "test/cart.test.js": "import { subtotal } from '../src/cart';\n\n"
            "test('an empty cart costs nothing', () => {\n  expect(subtotal({ lines: [] })).toBe(0);\n});\n",
        },
    ),
    Case(
        name="vitest_several_causes",
        format="jest",
        command="npx vitest run",
        setup=_with("vitest"),
        files={**_VITEST, "test/cart.test.js": _for_vitest(_CART_TESTS)},
    ),
    Case(
        name="vitest_one_cause",
        format="jest",
        command="npx vitest run",
        setup=_with("vitest"),
        files={**_VITEST, "src/store.js": _STORE, "test/store.test.js": _for_vitest(_ONE_CAUSE_TESTS)},
    ),
    Case(
        name="vitest_suites_do_not_load",
        format="jest",
        command="npm test",
        setup=_with("vitest"),
        files={**_VITEST, **{path: _for_vitest(test) for path, test in _SUITES.items()}},
    ),
    Case(
        name="vitest_promises",
        format="jest",
        command="npx vitest run --reporter=verbose",
        setup=_with("vitest"),
        files={
            **_VITEST,
            "src/queue.js": """\
export async function drain(queue) {
  console.log(`draining ${queue.name}`);
  for (const job of queue.jobs) await job();
}
""",
            "test/queue.test.js": """\
import { expect, test, vi } from 'vitest';
import { drain } from '../src/queue';

test('is patient', async () => {
  await drain({ name: 'mail', jobs: [() => new Promise(() => {})] });
}, 40);

test('fails with its jobs', async () => {
  const failing = async () => { throw new Error('job 17 failed', { cause: new TypeError('no address') }); };
  await drain({ name: 'mail', jobs: [failing] });
});

test('calls each job', async () => {
  const job = vi.fn();
  await drain({ name: 'mail', jobs: [job] });
  expect(job).toHaveBeenCalledWith('mail');
});

test('forgets nothing', () => {
  setTimeout(() => { throw new Error('late failure of the queue'); }, 1);
});
""",
        },
    ),
    Case(
        name="vitest_truncated",
        format="jest",
        command="npx vitest run 2>&1 | tail -n 40",
        setup=_with("vitest"),
        files={**_VITEST, "test/cart.test.js": _for_vitest(_CART_TESTS)},
    ),
)

# --- mocha, node:test, TAP -------------------------------------------------------------------------------------------

_MOCHA_SOURCE: Final = {
    "package.json": '{"name": "shop", "version": "1.4.0", "scripts": {"test": "mocha"}}\n',
    "src/cart.js": _CHECKOUT["src/cart.js"],
}

_MOCHA_TESTS: Final = """\
const assert = require('node:assert');
const { expect } = require('chai');
const { subtotal, total } = require('../src/cart');

const cart = { lines: [{ price: 3, quantity: 2 }] };

describe('cart', function () {
  it('adds up lines', function () {
    assert.strictEqual(subtotal(cart), 6);
  });

  it('adds VAT', function () {
    expect(total(cart, { vat: 0.2 })).to.equal(7.25);
  });

  it('compares deeply', function () {
    assert.deepStrictEqual({ net: 1, lines: [1, 2] }, { net: 1, lines: [1, 3] });
  });

  it('needs lines', function () {
    total({}, { vat: 0.2 });
  });

  it('is patient', function (done) {
    this.timeout(40);
  });
});
"""

_NODE_TESTS: Final = """\
const { describe, it, test } = require('node:test');
const assert = require('node:assert/strict');
const { subtotal, total } = require('../src/cart');

const cart = { lines: [{ price: 3, quantity: 2 }] };

describe('cart', () => {
  it('adds up lines', () => {
    assert.equal(subtotal(cart), 6);
  });

  it('adds VAT', () => {
    assert.equal(total(cart, { vat: 0.2 }), 7.25);
  });

  it('needs lines', () => {
    total({}, { vat: 0.2 });
  });
});

test('labels', async (t) => {
  await t.test('short', () => assert.match('cart', /basket/));
});
"""

_TESTS: Final = (
    Case(
        name="several_causes",
        format="mocha",
        command="npx mocha",
        setup=_with("mocha"),
        files={**_MOCHA_SOURCE, "test/cart.js": _MOCHA_TESTS},
    ),
    Case(
        name="one_cause",
        format="mocha",
        command="npm test",
        setup=_with("mocha"),
        files={
            **_MOCHA_SOURCE,
            "src/store.js": "exports.find = (store, id) => store.connection.rows.get(id);\n",
            "test/store.js": "const { find } = require('../src/store');\n\ndescribe('store', () => {\n"
            "  for (const id of ['c-1', 'c-2', 'c-3', 'c-4', 'c-5']) {\n    it(`finds ${id}`, () => {\n"
            "      find({}, id);\n    });\n  }\n});\n",
        },
    ),
    Case(
        name="hook",
        format="mocha",
        command="npx mocha",
        setup=_with("mocha"),
        files={
            **_MOCHA_SOURCE,
            "test/db.js": "describe('database', () => {\n  before(async () => {\n"
            "    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: "
            "'ECONNREFUSED' });\n  });\n\n"
            "  it('reads orders', () => {});\n  it('reads customers', () => {});\n});\n",
        },
    ),
    Case(
        name="does_not_load",
        format="mocha",
        command="npx mocha",
        setup=_with("mocha"),
        files={
            **_MOCHA_SOURCE,
            "test/tax.js": "const { tax } = require('../src/tax');\n\nit('taxes', () => tax(1));\n",
        },
    ),
    Case(
        name="node_spec",
        format="mocha",
        command="node --test --test-reporter=spec",
        files={**_MOCHA_SOURCE, "test/cart.test.js": _NODE_TESTS},
    ),
    Case(
        name="node_tap",
        format="mocha",
        command="node --test --test-reporter=tap",
        files={**_MOCHA_SOURCE, "test/cart.test.js": _NODE_TESTS},
    ),
    Case(
        name="node_does_not_load",
        format="mocha",
        command="node --test --test-reporter=tap",
        files={
            **_MOCHA_SOURCE,
            **{
                f"test/{name}.test.js": "const { tax } = require('../src/tax');\n"
                "const { test } = require('node:test');\n\n"
                f"test('{name}', () => tax(1));\n"
                for name in ("orders", "refunds", "invoices")
            },
        },
    ),
    Case(
        name="tape",
        format="mocha",
        command="npx tape test/*.js",
        setup=_with("mocha"),
        files={
            **_MOCHA_SOURCE,
            "test/cart.js": "const test = require('tape');\nconst { subtotal } = require('../src/cart');\n\n"
            "test('cart', (t) => {\n  t.equal(subtotal({ lines: [] }), 0, 'an empty cart costs nothing');\n"
            "  t.equal(subtotal({ lines: [{ price: 2, quantity: 2 }] }), 5, 'a full one costs its lines');\n"
            "  t.deepEqual({ a: 1 }, { a: 2 });\n  t.end();\n});\n",
        },
    ),
    Case(
        name="prove",
        format="mocha",
        command="perl t/cart.t",
        files={
            "t/cart.t": "use strict;\nuse warnings;\nuse Test::More tests => 4;\n\nok(1, 'loads');\n"
            "is(2 * 3, 7, 'adds up lines');\nok(0, 'has a rate');\nlike('cart c-1', qr/basket/, 'is labelled');\n"
        },
        needs=("perl",),
    ),
    Case(
        name="prove_summary",
        format="mocha",
        command="prove t",
        files={
            "t/cart.t": "use strict;\nuse warnings;\nuse Test::More tests => 2;\n\nok(1, 'loads');\n"
            "is_deeply({ net => 3 }, { net => 4 }, 'adds up lines');\n"
        },
        needs=("prove",),
    ),
    Case(
        name="truncated",
        format="mocha",
        command="npx mocha 2>&1 | tail -n 34",
        setup=_with("mocha"),
        files={**_MOCHA_SOURCE, "test/cart.js": _MOCHA_TESTS},
    ),
)

# --- package managers ------------------------------------------------------------------------------------------------


_ANY_REGISTRY: Final = "sed -E 's,https?://[^/]+/,https://packages.example.com/,'"


def _package(**fields: str) -> dict[str, str]:
    """
    Return a manifest; what is given are JSON texts of its fields.
    """
    inner = "".join(f',\n  "{name}": {value}' for name, value in fields.items())
    return {"package.json": f'{{\n  "name": "shop",\n  "version": "1.4.0"{inner}\n}}\n'}


_MANAGERS: Final = (
    Case(
        name="missing_script",
        format="npm",
        command="npm run biuld",
        files=_package(scripts='{"build": "node build.js", "test": "node --test"}'),
    ),
    Case(
        name="conflict",
        format="npm",
        command="npm install",
        files=_package(dependencies='{"react": "18.2.0", "react-dom": "17.0.2"}'),
    ),
    Case(
        name="not_found",
        format="npm",
        command=f"npm install shop-internal-money-kit 2>&1 | {_ANY_REGISTRY}",
        files=_package(),
    ),
    Case(
        name="no_version",
        format="npm",
        command="npm install left-pad@99.1.0",
        files=_package(),
    ),
    Case(name="no_manifest", format="npm", command="npm test"),
    Case(
        name="broken_manifest",
        format="npm",
        command="npm install",
        files={"package.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n}\n'},
    ),
    Case(name="no_lockfile", format="npm", command="npm ci", files=_package(dependencies='{"left-pad": "1.3.0"}')),
    Case(
        name="lockfile_differs",
        format="npm",
        command="npm ci",
        files={
            **_package(dependencies='{"left-pad": "1.3.0", "is-odd": "3.0.1"}'),
            "package-lock.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n  "lockfileVersion": 3,\n'
            '  "packages": {\n'
            '    "": {"name": "shop", "version": "1.4.0", "dependencies": {"left-pad": "1.2.0"}},\n'
            '    "node_modules/left-pad": {"version": "1.2.0"}\n  }\n}\n',
        },
    ),
    Case(
        name="engine",
        format="npm",
        command="npm install --engine-strict",
        files=_package(engines='{"node": ">=99"}', dependencies='{"left-pad": "1.3.0"}'),
    ),
    Case(
        name="pnpm_command_not_found",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/pnpm" run build',
        files=_package(scripts='{"build": "tsup src/index.ts"}'),
    ),
    Case(
        name="install_script",
        format="npm",
        command="npm install ./native",
        files={
            **_package(),
            "native/package.json": '{"name": "native-money", "version": "2.0.1", "scripts": {"install": '
            '"node gyp.js"}}\n',
            "native/gyp.js": "console.error('gyp ERR! find Python');\n"
            "console.error('gyp ERR! stack Error: Could not find any "
            "Python installation to use');\nprocess.exit(1);\n",
        },
    ),
    Case(
        name="workspace",
        format="npm",
        command="npm run build --workspaces",
        files={
            **_package(workspaces='["packages/*"]'),
            "packages/api/package.json": '{"name": "@shop/api", "version": "1.0.0", "scripts": {"build": '
            '"node build.js"}}\n',
            "packages/api/build.js": "console.log('building 14 files');\n"
            "console.error('Error: schema.graphql is out of date');\n"
            "process.exit(3);\n",
            "packages/web/package.json": '{"name": "@shop/web", "version": "1.0.0", "scripts": {"build": '
            '"echo built"}}\n',
        },
    ),
    Case(
        name="pnpm_missing_script",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/pnpm" run biuld',
        files=_package(scripts='{"build": "node build.js"}'),
    ),
    Case(
        name="pnpm_not_found",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/pnpm" add shop-internal-money-kit 2>&1 | ' + _ANY_REGISTRY,
        files=_package(),
    ),
    Case(
        name="pnpm_script_failed",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/pnpm" run build',
        files={
            **_package(scripts='{"build": "node build.js"}'),
            "build.js": "console.log('building 14 files');\nconsole.error('Error: schema.graphql is out of date');\n"
            "process.exit(3);\n",
        },
    ),
    Case(
        name="pnpm_lockfile",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/pnpm" install --frozen-lockfile',
        files={
            **_package(dependencies='{"left-pad": "1.3.0"}'),
            "pnpm-lock.yaml": "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      left-pad:\n"
            "        specifier: 1.2.0\n        version: 1.2.0\n",
        },
    ),
    Case(
        name="yarn_missing_script",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/yarn" run biuld',
        files=_package(scripts='{"build": "node build.js"}'),
    ),
    Case(
        name="yarn_script_failed",
        format="npm",
        command='"$TOOLS/js/managers/node_modules/.bin/yarn" run build',
        files={
            **_package(scripts='{"build": "node build.js"}'),
            "build.js": "console.log('building 14 files');\nconsole.error('Error: schema.graphql is out of date');\n"
            "process.exit(3);\n",
        },
    ),
)

_QUIET: Final = {"npm_config_loglevel": "error"}
"""Keeps npm from speaking of the settings of this machine."""

CASES: Final[list[Case]] = [
    replace(case, environment=_QUIET) for case in (*_RUNTIMES, *_BUNDLERS, *_RUNNERS, *_TESTS, *_MANAGERS)
]
