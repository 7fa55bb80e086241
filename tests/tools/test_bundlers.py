"""Errors of bundlers; the short samples follow their documentation, the corpus holds recorded ones."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of, key

facts = facts_as("bundlers")

VITE = """\
Command failed: npm run build

vite v5.4.21 building for production...
\u2713 3 modules transformed.
x Build failed in 106ms
error during build:
Could not resolve "./App" from "src/main.jsx"
file: /srv/src/main.jsx
    at getRollupError (file:///srv/node_modules/rollup/dist/es/shared/parseAst.js:355:41)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(VITE, ("ModuleNotFound", "/srv/src/main.jsx", 'Could not resolve "./App"', ()), id="Vite"),
        pytest.param(
            "error during build:\n[vite:esbuild] Transform failed with 1 error:\n"
            '/srv/src/App.jsx:4:16: ERROR: Unexpected closing "h2" tag\nfile: /srv/src/App.jsx:4:16\n\n'
            "3  |      <main>\n4  |        <h1>Shop</h2>\n   |                  ^\n",
            ("SyntaxError", "/srv/src/App.jsx:4", 'Unexpected closing "h2" tag', ("> <h1>Shop</h2>",)),
            id="Vite, code that does not parse",
        ),
        pytest.param(
            "error during build:\nUnexpected token (31:8) in src/Basket.jsx",
            ("SyntaxError", "src/Basket.jsx:31", "Unexpected token", ()),
            id="place behind the message",
        ),
        pytest.param(
            "error during build:\nUnexpected token (31:8)",
            ("SyntaxError", "", "Unexpected token", ()),
            id="no file",
        ),
        pytest.param(
            'error during build:\n[vite]: Rollup failed to resolve import "dayjs" from "/srv/src/main.js".\n'
            "This is most likely unintended",
            ("ModuleNotFound", "/srv/src/main.js", 'failed to resolve import "dayjs"', ()),
            id="Vite, package",
        ),
        pytest.param(
            "error during build:\nout of disk",
            ("BuildError", "", "out of disk", ()),
            id="anything else",
        ),
        pytest.param(
            '10:20:30 AM [vite] Internal server error: Failed to resolve import "./x" from "src/App.jsx". Does the '
            'file exist?\n'
            "  Plugin: vite:import-analysis\n  File: /srv/src/App.jsx:1:20\n  1  |  import x from './x';\n"
            "     |                 ^\n",
            ("ModuleNotFound", "/srv/src/App.jsx:1", 'Failed to resolve import "./x"', ("> import x from './x';",)),
            id="server of Vite",
        ),
        pytest.param(
            '[!] RollupError: src/index.js (1:9): "total" is not exported by "src/cart.js", imported by '
            '"src/index.js".\n'
            "src/index.js (1:9)\n1: import { total } from './cart.js';\n            ^\n",
            ("MissingExport", "src/index.js:1", ('"total" is not exported by '
                                                '"src/cart.js"'), ("> import { total } from './cart.js';",)),
            id="Rollup",
        ),
        pytest.param(
            "[!] (plugin typescript) TS2307: Cannot find module './a'\nsrc/index.ts (1:9)\n",
            ("TS2307", "", "Cannot find module './a'", ()),
            id="plug-in of Rollup",
        ),
        pytest.param(
            "ERROR in ./src/cart.js 2:56\nModule parse failed: Unexpected token (2:56)\n"
            "> 2 |   return f(0;\n    |             ^\n @ ./src/index.js 1:0-31\n\n"
            "webpack compiled with 1 error in 492 ms",
            ("SyntaxError", "src/cart.js:2", "Module parse failed: Unexpected token", ("> return f(0;",)),
            id="webpack",
        ),
        pytest.param(
            "ERROR in ./src/a.js\nModule build failed (from ./node_modules/babel-loader/lib/index.js):\n"
            "SyntaxError: /srv/src/a.js: Unexpected token (3:4)\n",
            ("SyntaxError", "src/a.js:3", "Unexpected token", ()),
            id="loader of webpack",
        ),
        pytest.param(
            "ERROR in /srv/src/a.ts\n./src/a.ts 3:4-10\n[tsl] ERROR in /srv/src/a.ts(3,5)\n"
            "      TS2322: Type 'a' is not assignable.\n",
            ("TS2322", "/srv/src/a.ts:3", "Type 'a' is not assignable.", ()),
            id="TypeScript in webpack",
        ),
        pytest.param(
            '\u2718 [ERROR] Could not resolve "dayjs"\n\n    src/index.ts:2:18:\n'
            "      2 \u2502 import dayjs from 'dayjs';\n"
            "        \u2575                   ~~~~~~~\n\n  You can mark the path\n\n1 error\n",
            ("ModuleNotFound", "src/index.ts:2", 'Could not resolve "dayjs"', ("> import dayjs from 'dayjs';",)),
            id="esbuild",
        ),
        pytest.param(
            '\u2718 [ERROR] Could not resolve "./cart/total.js"\n\n1 error\n',
            ("ModuleNotFound", "", 'Could not resolve "./cart/total.js"', ()),
            id="esbuild without a place",
        ),
        pytest.param(
            'Error: Build failed with 1 error:\nsrc/a.ts:3:4: ERROR: Expected ";" but found "x"\n'
            "    at failureErrorWithLog (/srv/node_modules/esbuild/lib/main.js:1472:15)",
            ("SyntaxError", "src/a.ts:3", 'Expected ";" but found "x"', ()),
            id="esbuild as a library",
        ),
        pytest.param(
            "Failed to compile.\n\n./src/app/page.tsx:12:5\nType error: Property 'nme' does not exist.\n\n  10 |\n"
            "> 12 |   user.nme\n     |        ^\n",
            ("BuildError", "src/app/page.tsx:12", "Property 'nme' does not exist.", ("> user.nme",)),
            id="Next.js",
        ),
        pytest.param(
            "Failed to compile.\n\n./app/page.tsx:3:7\n\n./app/cart.tsx:9:1\nType error: Cannot find name 'x'.\n",
            ("BuildError", "app/cart.tsx:9", "Cannot find name 'x'.", ()),
            id="Next.js, a place without a message",
        ),
    ],
)  # fmt: skip
def test_forms(text, expected):
    """What, where, and the line of code; no stack of the bundler itself."""
    found = facts(text)
    assert (found.type, str(found.location), found.cause, found.details) == expected


def test_several():
    """Several errors are told in a line each, and counted as the tool counts them."""
    found = facts(
        "Failed to compile.\n\n./src/a.js\nModule not found: Can't resolve './x'\n\n./src/b.js\n"
        "Module not found: Can't resolve './y'\n"
    )
    assert (found.members, found.tally) == (2, "1 of 2 errors")
    assert found.details[0].endswith("b.js: Can't resolve './y'")
    text = (
        "ERROR in ./a.js 1:2\nModule not found: Error: Can't resolve 'x' in '/srv'\n\n"
        "webpack compiled with 7 errors in 1 ms"
    )
    assert (facts(text).cause, facts(text).tally) == ("Can't resolve 'x'", "1 of 7 errors")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        pytest.param(VITE.replace("106ms", "2.1s"), True, id="other duration"),
        pytest.param(VITE.replace("\u2713 3 modules", "\u2713 17 modules"), True, id="other progress"),
        pytest.param(VITE.replace("./App", "./Cart"), False, id="other module"),
    ],
)
def test_key(text, same):
    """The missing module makes the key, not the progress above it."""
    assert (key(text) == key(VITE)) is same


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("There was an ERROR in the build", id="prose"),
        pytest.param("see [ERROR] in the log", id="a level"),
        pytest.param("ERROR in ./a.js 1:2\n\nnothing", id="no message"),
        pytest.param("it said: error during build: no", id="a quote"),
        pytest.param("an Internal server error: 500", id="a server"),
        pytest.param("wow [!] really", id="a mark"),
        pytest.param("a: ERROR: b", id="a log"),
        pytest.param("Failed to compile.\n\nnothing else\nat all", id="no file"),
        pytest.param("Failed to compile the list", id="a sentence"),
    ],
)
def test_not_taken(text):
    """Texts that only look alike are left to others."""
    assert format_of(text) != "bundlers"
