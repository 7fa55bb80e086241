"""Linters that print a file and a row for each problem."""

# The samples are self-written in the forms that the tools document and print.

from __future__ import annotations

import pytest

from tests.extract.reading import facts_alone, key, said

facts = facts_alone("eslint")


_STYLISH = """\

/home/dev/shop/src/cart.js
  1:10  error    'tax' is defined but never used  no-unused-vars
  7:17  warning  Unexpected console statement     no-console

/home/dev/shop/src/order.js
  2:9   error  'tax' is defined but never used  @typescript-eslint/no-unused-vars

✖ 3 problems (2 errors, 1 warning)
  1 error and 0 warnings potentially fixable with the `--fix` option.
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            _STYLISH,
            ("no-unused-vars", "/home/dev/shop/src/cart.js:1", "'tax' is defined but never used"),
            id="eslint",
        ),
        pytest.param(
            "src/a.js\n  2:3  error  Parsing error: Unexpected token\n",
            ("CompileError", "src/a.js:2", "Parsing error: Unexpected token"),
            id="no rule",
        ),
        pytest.param(
            'a.css\n 1:5  ✖  Unexpected unknown property "colr"   property-no-unknown\n',
            ("property-no-unknown", "a.css:1", 'Unexpected unknown property "colr"'),
            id="stylelint",
        ),
        pytest.param(
            "./pages/index.js\n4:5  Error: 'x' is never used.  no-unused-vars\n7:1  Warning: y  no-y\n",
            ("no-unused-vars", "./pages/index.js:4", "'x' is never used."),
            id="next lint",
        ),
        pytest.param(
            "conf.yaml\n  3:1       error    trailing spaces  (trailing-spaces)\n",
            ("trailing-spaces", "conf.yaml:3", "trailing spaces"),
            id="yamllint",
        ),
        pytest.param(
            "  src/a.js\n  ✖  1:7  x is unused  no-unused-vars\nsrc/b.ts\n  ✖  1:7  y is unused  no-unused-vars\n",
            ("no-unused-vars", "src/a.js:1", "x is unused"),
            id="xo, which indents the names of files",
        ),
        pytest.param(
            "  1:7  x is unused  no-unused-vars\nsrc/b.ts\n  ✖  1:7  y is unused  no-unused-vars\n",
            ("no-unused-vars", "src/b.ts:1", "y is unused"),
            id="a row with neither the name of a file nor a severity",
        ),
        pytest.param(
            " C:\\docs\\guide.md\n"
            " 31:81    warning  Consider replacing 'only'. It   agentic.communal\n"
            "                   is communal vs agentic.\n"
            " 78:50    error    AI formalism: 'terminates'.     ai-tells.FormalRegister\n"
            "                   Use a simpler word (e.g.,\n"
            "                   'use' instead of 'utilize').\n\n"
            "✖ 1 error, 1 warning and 0 suggestions in 1 file.\n",
            (
                "ai-tells.FormalRegister",
                "C:\\docs\\guide.md:78",
                "AI formalism: 'terminates'. Use a simpler word (e.g., 'use' instead of 'utilize').",
            ),
            id="vale, which wraps its cells",
        ),
        pytest.param(
            "standard: Use JavaScript Standard Style ✖\n  /src/a.js:1:7: 'x' is never used. (no-unused-vars)\n",
            ("no-unused-vars", "/src/a.js:1", "'x' is never used."),
            id="standard",
        ),
        pytest.param(
            "src/a.js:1:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━━\n\n  \u00d7 This variable x is unused.\n",
            ("noUnusedVariables", "src/a.js:1", "This variable x is unused."),
            id="biome",
        ),
        pytest.param(
            "src/a.js:2:4 parse ━━━━━━\n\n  \u00d7 expected `:`\n",
            ("CompileError", "src/a.js:2", "expected `:`"),
            id="biome, syntax",
        ),
        pytest.param(
            "Lint...........Failed\n- hook id: lint\n\n  $ biome check .\n"
            "  src/a.ts:42:41 lint/style/useTemplate  FIXABLE  \u2501\u2501\u2501\u2501\n\n"
            "    \u00d7 Template literals are preferred over string concatenation.\n",
            ("useTemplate", "src/a.ts:42", "Template literals are preferred over string concatenation."),
            id="biome, indented by a hook",
        ),
        pytest.param(
            "src/a.js format ━━━━━━\n\n  \u00d7 Formatter would have printed the following content:\n",
            ("not formatted", "src/a.js", "Formatter would have printed the following content:"),
            id="biome, format",
        ),
        pytest.param(
            "nothere fs/cantRead ━━━━━━\n\n  \u00d7 Cannot read file.\n    \n    Caused by:\n      No such file\n",
            ("cantRead", "nothere", "Cannot read file."),
            id="biome, no such file",
        ),
        pytest.param(
            "/shop/biome.json:1:13 deserialize ━━━━━━\n\n  \u00d7 Found an unknown key `ruls`.\n",
            ("deserialize", "/shop/biome.json:1", "Found an unknown key `ruls`."),
            id="biome, configuration",
        ),
        pytest.param(
            "Checking formatting...\n[warn] src/a.js\n[warn] Code style issues found in the above file. Run Prettier.",
            ("not formatted", "src/a.js", "run prettier --write"),
            id="prettier",
        ),
        pytest.param(
            "[error] src/a.js: SyntaxError: Unexpected token (2:10)\n[error]   1 | x\n[warn] ignored: x",
            ("SyntaxError", "src/a.js:2", "Unexpected token"),
            id="prettier, syntax",
        ),
    ],
)
def test_forms(text, expected):
    """The rule, the file from its heading, and the message."""
    if "xo;" in text:
        text = text.strip()
    found = said(facts(text))
    assert found == expected


def test_many():
    """Warnings beside errors are left out; what one option mends is told."""
    found = facts(_STYLISH)
    assert (found.members, found.tally) == (2, "1 of 2 findings")
    assert found.details == (
        "@typescript-eslint/no-unused-vars at order.js:2: 'tax' is defined but never used",
        "1 error and 0 warnings potentially fixable with the `--fix` option",
    )


def test_biome_counts_what_it_does_not_show():
    """Errors above its limit count too; what its formatter says again is one, and the same of two columns is two."""
    rows = [
        "src/a.js:7:13 lint/suspicious/noDebugger  FIXABLE  ━━━━━━\n\n  \u00d7 This is unexpected.\n",
        "src/a.js:7:31 lint/suspicious/noDebugger  FIXABLE  ━━━━━━\n\n  \u00d7 This is unexpected.\n",
        "src/b.ts:2:4 parse ━━━━━━\n\n  \u00d7 expected `:`\n",
        "src/b.ts:2:4 parse ━━━━━━\n\n  \u00d7 expected `:`\n",
    ]
    assert facts("\n".join(rows)).tally == "1 of 3 findings"
    end = "Diagnostics not shown: 32.\nChecked 9 files in 60ms. No fixes applied.\nFound 36 errors.\n"
    assert facts("\n".join((*rows, end))).tally == "1 of 36 findings"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Checked 9 files in 60ms. No fixes applied.\nFound 7 warnings.\nsays biome ━━ at the end",
            id="biome, passed",
        ),
        pytest.param("cart.js\n  12:30  the train leaves\nother: 3\n  1:2  x", id="a timetable"),
        pytest.param("a table ━━━━━━\n\n  nothing\n\nx  ✖", id="a ruler"),
        pytest.param("src/a.js lint ━━━━━━\n", id="cut behind the heading"),
        pytest.param("[warn] src/a.js\n[warn] something else\n", id="a log"),
        pytest.param("  bad row (x)\n  1:x error\n  error: (a)", id="no position"),
    ],
)
def test_not_taken(text):
    """Rows and rulers of other programs belong to others."""
    assert facts(text) is None


def test_keys():
    """Lines do not matter; rules and names do."""
    assert key(_STYLISH) == key(_STYLISH.replace("1:10", "4:12"))
    assert key(_STYLISH) != key(_STYLISH.replace("'tax'", "'rate'"))
