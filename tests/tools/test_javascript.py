"""Stacks of JavaScript; the short samples follow what the runtimes document, the recorded ones are in the corpus."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Location
from otel_errcompact.extract.stacks.javascript_frames import frame_of, is_own
from tests.extract.reading import facts_as, format_of, key, said

facts = facts_as("javascript")

UNCAUGHT = """\
/srv/app/src/cart.js:4
  return cart.lines.length;
              ^

TypeError: Cannot read properties of undefined (reading 'lines')
    at subtotal (/srv/app/src/cart.js:4:15)
    at Object.<anonymous> (/srv/app/index.js:6:32)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)

Node.js v20.20.2
"""

CAUSED = """\
Error: report 7 could not be made
    at monthly (/srv/app/report.js:7:11) {
  [cause]: QueryError: query failed
      at query (/srv/app/db.js:14:11)
      ... 3 lines matching cause stack trace ... {
    code: 'E_QUERY',
    table: 'orders',
    [cause]: TypeError: no rows
        at parse (/srv/app/db.js:9:3)
  }
}
"""


def test_uncaught():
    """The innermost own frame counts, and the line of code that is printed for it."""
    found = facts(UNCAUGHT)
    assert said(facts(UNCAUGHT)) == (
        "TypeError",
        "subtotal (/srv/app/src/cart.js:4)",
        "Cannot read properties of undefined (reading 'lines')",
    )
    assert found.details == ("> return cart.lines.length;",)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        pytest.param(UNCAUGHT.replace(":4", ":9"), True, id="other line"),
        pytest.param(UNCAUGHT.replace("/srv/app", "/tmp/run_1a2b3c4d"), True, id="other folder"),
        pytest.param(UNCAUGHT.replace("v20.20.2", "v22.1.0"), True, id="other version of Node"),
        pytest.param(UNCAUGHT.replace("'lines'", "'rows'"), False, id="other property"),
        pytest.param(UNCAUGHT.replace("subtotal", "total"), False, id="other function"),
        pytest.param(UNCAUGHT.replace("TypeError", "RangeError"), False, id="other class"),
    ],
)
def test_key(text, same):
    """Class, message, function and file make the key; lines, folders and versions do not."""
    assert (key(text) == key(UNCAUGHT)) is same


def test_hashed_bundles_merge():
    """A new build has a new hash in its names, and the same faults."""
    text = "TypeError: t.reduce is not a function\n    at t (https://shop.example.com/assets/index-{}.js:1:84432)"
    assert key(text.format("4185d9aa")) == key(text.format("BF3OJZ91"))


def test_causes():
    """The root cause counts; the errors around it and what they carry are told."""
    found = facts(CAUSED)
    assert (found.type, str(found.location), found.cause) == ("TypeError", "parse (/srv/app/db.js:9)", "no rows")
    assert found.wrappers == ("Error", "QueryError")
    assert found.details == (
        "code: E_QUERY, table: 'orders'",
        "raised as QueryError at query (db.js:14): query failed",
        "raised as Error at monthly (report.js:7): report 7 could not be made",
    )


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        pytest.param("'queue is closed'", ("Error", "queue is closed"), id="a text"),
        pytest.param("[TypeError: no stack]", ("TypeError", "no stack"), id="an error without a stack"),
        pytest.param("TypeError: two\n  lines", ("TypeError", "two"), id="a message of several lines, no stack"),
    ],
)
def test_other_causes(cause, expected):
    """Whatever was given as cause is the root cause."""
    found = facts(f"Error: outer\n    at f (/srv/a.js:3:4) {{\n  [cause]: {cause}\n}}\n")
    assert (found.type, found.cause) == expected


def test_a_cause_is_not_read_beyond_its_braces():
    """A property behind a cause without a stack belongs to the error around it."""
    found = facts("Error: outer\n    at f (/srv/a.js:3:4) {\n  [cause]: TypeError: x\n  table: 'orders'\n}\n")
    assert (found.cause, found.details[0]) == ("x", "table: 'orders'")


def test_causes_are_followed_to_a_bounded_depth():
    """However deep causes are nested, there are facts."""
    lines = ["Error: 0", "    at f (/a.js:1:1) {"]
    for depth in range(1, 60):
        margin = "  " * depth
        lines += [f"{margin}[cause]: Error: {depth}", f"{margin}    at f (/a.js:1:1) {{"]
    assert facts("\n".join(lines)).type == "Error"


def test_aggregate():
    """The errors of a group are its causes."""
    text = (
        "[AggregateError: All promises were rejected] {\n  [errors]: [\n"
        "    Error: mirror a answered 503\n        at probe (/srv/m.mjs:3:29),\n"
        "    Error: mirror b answered 403\n        at probe (/srv/m.mjs:3:29)\n  ]\n}\n"
    )
    found = facts(text)
    assert found.cause == "All promises were rejected: Error: mirror a answered 503; and 1 other"
    assert found.details == (
        "Error at probe (/srv/m.mjs:3): mirror a answered 503",
        "Error at probe (/srv/m.mjs:3): mirror b answered 403",
    )


def test_aggregate_without_a_message():
    """A group that says nothing itself is what its errors are."""
    text = (
        "AggregateError [ECONNREFUSED]: \n    at internalConnectMultiple (node:net:1122:18) {\n"
        "  code: 'ECONNREFUSED',\n  [errors]: [\n"
        "    Error: connect ECONNREFUSED ::1:5432\n        at afterConnectMultiple (node:net:1682:16) {\n"
        "      code: 'ECONNREFUSED',\n      port: 5432\n    },\n"
        "    Error: connect ECONNREFUSED 127.0.0.1:5432\n        at afterConnectMultiple (node:net:1682:16)\n  ]\n}\n"
    )
    assert said(facts(text)) == (
        "ECONNREFUSED",
        "",
        "connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432",
    )


def test_aggregate_of_very_many():
    """Of a very large group the first errors are looked at."""
    child = "    Error: a\n        at probe (/srv/m.mjs:3:29),\n"
    assert facts(f"[AggregateError: all] {{\n  [errors]: [\n{child * 150}  ]\n}}").wrappers == ("AggregateError",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Uncaught TypeError: t.reduce is not a function\n    at render (https://shop.example.com/app.js:12:8)",
            ("TypeError", "render (https://shop.example.com/app.js:12)", "t.reduce is not a function"),
            id="Chrome",
        ),
        pytest.param(
            "TypeError: e is undefined\nrender@https://shop.example.com/App.js?v=17:12:20\n[native code]\n",
            ("TypeError", "render (https://shop.example.com/App.js:12)", "e is undefined"),
            id="Safari",
        ),
        pytest.param(
            'TypeError: can\'t access property "map"\nrender@https://shop.example.com/App.js:12:20\n'
            "run@https://shop.example.com/node_modules/react/index.js:5:1",
            ("TypeError", "render (https://shop.example.com/App.js:12)", 'can\'t access property "map"'),
            id="Firefox",
        ),
        pytest.param(
            "\u2a2f TypeError: no user\n    at Page (webpack-internal:///(rsc)/./src/app/page.tsx:14:22)\n"
            "    at stringify (<anonymous>)",
            ("TypeError", "Page (src/app/page.tsx:14)", "no user"),
            id="Next.js",
        ),
        pytest.param(
            "ReferenceError: x is not defined\n    at Object.load [as run] (file:///C:/app/load.js:3:9)",
            ("ReferenceError", "load (C:/app/load.js:3)", "x is not defined"),
            id="Windows",
        ),
        pytest.param(
            "(node:812) UnhandledPromiseRejectionWarning: TypeError: no id\n    at load (/srv/app/load.js:3:9)\n"
            "    at processTicksAndRejections (internal/process/task_queues.js:97:5)",
            ("TypeError", "load (/srv/app/load.js:3)", "no id"),
            id="rejection in old Node",
        ),
        pytest.param(
            "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at connect (net.js:9:1)\n"
            "    at async eval (/srv/app/load.js:3:9)",
            ("ECONNREFUSED", "/srv/app/load.js:3", "connect ECONNREFUSED 127.0.0.1:5432"),
            id="system error",
        ),
        pytest.param(
            "DOMException [AbortError]: This operation was aborted\n    at fetch (/srv/app/load.js:3:9)",
            ("AbortError", "fetch (/srv/app/load.js:3)", "This operation was aborted"),
            id="DOMException",
        ),
        pytest.param(
            "TimeoutError: no answer\n    at new Deferred (/srv/node_modules/puppeteer/Deferred.js:58:34)",
            ("TimeoutError", "new Deferred (puppeteer/Deferred.js:58)", "no answer"),
            id="no own code in the stack",
        ),
        pytest.param(
            "QuotaReached: tenant acme\n    at spend (/srv/app/quota.js:3:9)",
            ("QuotaReached", "spend (/srv/app/quota.js:3)", "tenant acme"),
            id="a name that does not look like an error's",
        ),
        pytest.param(
            "TSError: \u2a2f Unable to compile TypeScript:\n"
            "src/app.ts:3:7 - error TS2322: Type 'a' is not assignable.\n\n"
            "    at createTSError (/srv/node_modules/ts-node/src/index.ts:859:12)",
            ("TS2322", "src/app.ts:3", "Type 'a' is not assignable."),
            id="ts-node",
        ),
        pytest.param(
            "TSError: something else\n    at load (/srv/app/load.ts:3:9)",
            ("TSError", "load (/srv/app/load.ts:3)", "something else"),
            id="ts-node without a place",
        ),
        pytest.param(
            "PrismaClientKnownRequestError: \nInvalid `prisma.user.create()` invocation in\n/srv/app/user.ts:12:30\n\n"
            "Unique constraint failed on the fields: (`email`)\n    at async add (/srv/app/user.ts:12:3)",
            (
                "PrismaClientKnownRequestError",
                "add (/srv/app/user.ts:12)",
                "Unique constraint failed on the fields: (`email`)",
            ),
            id="Prisma",
        ),
        pytest.param(
            'ERROR worker failed err="TypeError: no id\\n    at f (/srv/a.js:3:4)\\n    at g (/srv/b.js:1:2)"',
            ("TypeError", "f (/srv/a.js:3)", "no id"),
            id="quoted in a log",
        ),
        pytest.param(
            '{"level":50,"err":{"type":"TypeError","stack":"TypeError: no \\"id\\"\\n    at f (/srv/a.js:3:4)"}}',
            ("TypeError", "f (/srv/a.js:3)", 'no "id"'),
            id="in a log record as JSON",
        ),
        pytest.param(
            "error: Uncaught (in promise) Error: outer\n    throw new Error('outer', { cause });\n          ^\n"
            "    at load (file:///srv/a.ts:3:9)\nCaused by: TypeError: inner\n    at parse (file:///srv/b.ts:8:3)",
            ("TypeError", "parse (/srv/b.ts:8)", "inner"),
            id="Deno, with a cause",
        ),
        pytest.param(
            "error: Cannot find module './basket' from '/srv/index.ts'\n\nBun v1.1.0 (Linux x64)",
            ("MODULE_NOT_FOUND", "/srv/index.ts", "Cannot find module './basket'"),
            id="Bun",
        ),
        pytest.param(
            "AssertionError: the input is odd\n    at check (/srv/a.js:3:4)",
            ("AssertionError", "check (/srv/a.js:3)", "the input is odd"),
            id="assertion in one line",
        ),
        pytest.param(
            "AssertionError [ERR_ASSERTION]: The input did not match /a/. Input:\n\n'cart'\n\n"
            "    at check (/srv/a.js:3:4)",
            ("AssertionError", "check (/srv/a.js:3)", "The input did not match /a/. Input: 'cart'"),
            id="assertion without a difference",
        ),
        pytest.param(
            "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n"
            "    at check (/srv/a.js:3:4)",
            ("AssertionError", "check (/srv/a.js:3)", "Expected values to be strictly equal: expected 2, actual 1"),
            id="assertion of two numbers",
        ),
    ],
)
def test_forms(text, expected):
    """Each runtime prints the same facts in its own way."""
    assert said(facts(text)) == expected


def test_what_an_error_carries():
    """Fields that say more than the message are told; those that repeat it, or describe the client, are not."""
    found = facts(
        "AxiosError: Request failed with status code 404\n"
        "    at settle (/srv/node_modules/axios/lib/core/settle.js:19:12)\n    at load (/srv/load.js:7:18) {\n"
        "  code: 'ERR_BAD_REQUEST',\n  config: {\n    url: '/orders/17',\n    method: 'get'\n  },\n"
        "  request: <ref *1> ClientRequest {\n    _events: [Object]\n  },\n  response: {\n    status: 404,\n"
        "    data: { error: 'no such order' }\n  },\n  cached: undefined\n}"
    )
    assert found.details == ("data: no such order", "raised in settle (axios/lib/core/settle.js:19)")


def test_code_of_a_database():
    """An error called `error` is named by its code."""
    text = (
        'error: relation "orders" does not exist\n    at parse (/srv/node_modules/pg/parser.js:287:98)\n'
        "    at async list (/srv/orders.js:7:18) {\n  length: 106,\n  code: '42P01',\n  hint: 'create it'\n}"
    )
    assert said(facts(text)) == ("42P01", "list (/srv/orders.js:7)", 'relation "orders" does not exist')
    assert facts(text).details[0] == "hint: 'create it'"


def test_node_of_long_ago():
    """What Node ran itself, in files without a scheme, is no place."""
    found = facts("""
        module.js:340
            throw err;
                  ^
        Error: Cannot find module '/app/shop.js'
            at Function.Module._resolveFilename (module.js:338:15)
            at Function.Module._load (module.js:280:25)
            at startup (node.js:119:16)
            at startup (bootstrap_node.js:204:16)
            at node.js:906:3
    """)
    assert (found.type, str(found.location), found.cause) == (
        "MODULE_NOT_FOUND",
        "",
        "Cannot find module '/app/shop.js'",
    )


def test_several_errors_in_a_log():
    """The last one counts; the others are told in a line each."""
    found = facts("Error: A\n    at f (/a/b.js:1:2)\nsome text\nTypeError: B\n    at g (/a/c.js:1:2)")
    assert (found.type, found.cause, found.details) == ("TypeError", "B", ("also Error at f (/a/b.js:1): A",))


def test_source_of_foreign_code_is_left_out():
    """The line of a library that throws helps nobody."""
    text = "node:fs:448\n    return binding.open(path);\n           ^\n\nError: ENOENT: no such file, open 'a'\n"
    found = facts(f"{text}    at open (node:fs:448:20)\n    at load (/srv/load.js:4:24)\n")
    assert (found.type, found.cause, found.details) == ("ENOENT", "no such file, open 'a'", ())


def test_source_of_another_frame_is_left_out():
    """The line of code stands for the frame it belongs to, or for code that does not parse."""
    text = "/srv/b.js:2\n  oops\n  ^\n\nTypeError: x\n    at f (/srv/a.js:1:2)"
    assert facts(text).details == ()
    assert facts(text.replace("TypeError", "SyntaxError")).details == ("> oops",)


def test_mark_without_a_place():
    """A mark below a line that no runtime has printed is no excerpt."""
    assert facts("oops\n  ^\nTypeError: x\n    at f (/srv/a.js:1:2)").details == ()


def test_deno_with_a_foreign_frame_first():
    """The line of code that Deno prints belongs to the first frame that is not of the runtime."""
    text = (
        "error: AssertionError: Values are not equal.\n\n\n    [Diff] Actual / Expected\n\n\n-   1\n+   2\n\n"
        "  throw new AssertionError(message);\n        ^\n"
        "    at assertEquals (https://jsr.io/@std/assert/1.0.0/equals.ts:64:9)\n    at file:///srv/a_test.ts:4:3"
    )
    found = facts(text)
    assert (found.cause, found.location.file) == ("Values are not equal: expected 1, actual 2", "/srv/a_test.ts")
    assert found.details == ("raised in assertEquals (https://jsr.io/@std/assert/1.0.0/equals.ts:64)",)


def test_importer_of_a_module():
    """Where the stack holds no own code, the file that imports is the place."""
    text = (
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/tax' imported from /srv/main.mjs\n"
        'Did you mean to import "/srv/tax.js"?\n    at finalizeResolution (node:internal/modules/esm/resolve:283:11)'
    )
    assert said(facts(text)) == ("ERR_MODULE_NOT_FOUND", "/srv/main.mjs", "Cannot find module '/srv/tax'")
    assert facts(text).details == ('Did you mean to import "/srv/tax.js"?',)


def test_a_missing_module_that_names_no_importer():
    """The message of bundled loaders ends with the module."""
    assert said(facts("Error: Cannot find module './a'\n    at f (/srv/b.js:1:2)"))[2] == "Cannot find module './a'"


def test_recursion():
    """Where a runaway recursion ends is chance, so the functions in it decide."""
    frames = "    at walk (/srv/a.js:2:3)\n    at visit (/srv/a.js:7:3)\n" * 5
    text = f"RangeError: Maximum call stack size exceeded\n{frames}"
    assert key(text) == key(text.replace("exceeded\n    at walk (/srv/a.js:2:3)\n", "exceeded\n"))


def test_recursion_in_foreign_code():
    """Without own code in it, a recursion has no place of the user's."""
    frames = "    at walk (/srv/node_modules/x/a.js:2:3)\n" * 5
    assert said(facts(f"RangeError: Maximum call stack size exceeded\n{frames}"))[1] == "walk (x/a.js:2)"


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        pytest.param("quota exceeded", "quota exceeded", id="a text"),
        pytest.param("#<Object>", "rejected with #<Object>", id="an object"),
    ],
)
def test_rejected_with_what_is_no_error(reason, cause):
    """The preamble that Node prints is left out."""
    text = (
        "[UnhandledPromiseRejection: This error originated either by throwing inside of an async function. "
        f"The promise rejected with the reason \"{reason}\".] {{\n  code: 'ERR_UNHANDLED_REJECTION'\n}}\n\n"
        "Node.js v18.1.0"
    )
    assert said(facts(text)) == ("UnhandledPromiseRejection", "", cause)


def test_thrown_value():
    """What was thrown is the cause where it is no error."""
    text = (
        "/srv/w.js:2\n  throw 'closed';\n  ^\nclosed\n(Use `node --trace-uncaught ...` to show where)\n\n"
        "Node.js v20.1.0"
    )
    assert said(facts(text)) == ("Uncaught", "/srv/w.js:2", "closed")


def test_out_of_memory():
    """A heap that is used up is said in one line among hundreds."""
    text = (
        "<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n"
    )
    assert said(facts(text)) == (
        "OutOfMemory",
        "",
        "Reached heap limit Allocation failed - JavaScript heap out of memory",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("    at f (/srv/a.js:1:2)\n    at g (/srv/b.js:1:2)\n\nNode.js v20.1.0", id="stack"),
        pytest.param("    at f (/srv/a.js:1:2) {\n  code: 'X'\n}\n\nNode.js v20.1.0", id="with properties"),
    ],
)
def test_head_cut_off(text):
    """What is left of the stack still tells the place."""
    found = facts(text)
    assert (found.location, found.cause) == (
        Location(function="f", file="/srv/a.js", line=1),
        "the stack is cut off before its first line",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("function f() {\n  throw new TypeError('x');\n}\n    at the end (see a.js:1:2)", id="source code"),
        pytest.param("Stacks look like this:\n\n    at f (/srv/a.js:1:2)\n", id="a stack without an error"),
        pytest.param("TypeError: x\n\tat com.acme.Shop.main(Shop.java:3)\n    at the end", id="Java"),
        pytest.param("done\n\nNode.js v20.1.0", id="nothing but the version"),
        pytest.param("ran out: heap out of memory is a message of V8", id="a mention"),
        pytest.param("all well\n\nBun v1.1.0 (Linux x64)", id="Bun's version"),
        pytest.param('{"status": 500, "stack": "Error: x\\n    at f (/srv/a.js:1:2)"}', id="body of a response"),
        pytest.param('{"a": 1}\\n    at f (/srv/a.js:1:2)', id="JSON with a stack behind it"),
        pytest.param("some [things] {\n    at f (/srv/a.js:1:2)", id="braces"),
        pytest.param("[things] {\n    at least\n", id="brackets and braces"),
        pytest.param("mail me@http://example.com/a:b", id="an address"),
    ],
)
def test_not_taken(text):
    """Texts that only look alike are left to others."""
    assert format_of(text) != "javascript"


def test_very_many_errors():
    """Of a log with very many errors, a bounded number is looked at."""
    assert facts("TypeError: x\n    at f (/srv/a.js:1:2)\n" * 200).type == "TypeError"


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        pytest.param("at f (/a.js:1:2)", ("/a.js", 1, "f"), id="V8"),
        pytest.param("at async g (index 0)", ("index 0", None, "g"), id="of Promise.all"),
        pytest.param("at JSON.parse (<anonymous>)", ("<anonymous>", None, "JSON.parse"), id="builtin"),
        pytest.param(
            "at page (/app/(shop)/page.tsx:1:2)", ("/app/(shop)/page.tsx", 1, "page"), id="brackets in a path"
        ),
        pytest.param("\u276f drain src/queue.js:3:39", ("src/queue.js", 3, "drain"), id="Vitest"),
        pytest.param("at ul", None, id="component of React"),
        pytest.param("at 10:20:30", None, id="time"),
    ],
)
def test_frame(line, frame):
    """A frame has a file with line and column, or is one of the runtime."""
    found = frame_of(line)
    assert (found[:3] if found else None) == frame


@pytest.mark.parametrize(
    ("file", "own"),
    [
        pytest.param("/srv/src/a.js", True, id="source"),
        pytest.param("node_app/server.js", True, id="folder called like the runtime"),
        pytest.param("native/index.js", True, id="folder called native"),
        pytest.param("node:fs", False, id="runtime"),
        pytest.param("internal/process/task_queues.js", False, id="runtime of old"),
        pytest.param("events.js", False, id="module of old Node"),
        pytest.param("/srv/node_modules/a/b.js", False, id="dependency"),
        pytest.param("ext:deno_fs/30_fs.js", False, id="Deno"),
        pytest.param("https://shop.example.com/assets/vendor-9f8e.js", False, id="bundle of dependencies"),
    ],
)
def test_own(file, own):
    """Own code is neither a dependency nor the runtime."""
    assert is_own(file) is own


def test_error_whose_name_does_not_look_like_one():
    """Below the line of code that Node prints stands what was thrown, however it begins."""
    text = (
        "/srv/app/node_modules/nun/precompile.js:98\n    throw pretty(name, err);\n    ^\n\n"
        "Template render error: (mail.njk) [Line 3, Column 12]\n  expected variable end\n"
        "    at pretty (/srv/app/node_modules/nun/lib.js:32:11)\n    at send (/srv/app/mail.js:7:3)\n\nNode.js v20.1.0"
    )
    found = facts(text)
    assert found.cause == "Template render error: (mail.njk) [Line 3, Column 12]"
    assert (str(found.location), found.details[0]) == ("send (/srv/app/mail.js:7)", "expected variable end")
