"""What harnesses say of their own tools; the samples follow the tools' public sources, in words of our own files."""

from __future__ import annotations

import pytest

from otel_errcompact.tools.harness import _REPRESENTED
from tests.clock import costs_little
from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            "FileNotRead",
            "File has not been read yet. Read it first before writing to it.",
            id="not read",
        ),
        pytest.param(
            "File has been modified since read, either by the user or by a linter. Read it again.",
            "FileModified",
            "File has been modified since read, either by the user or by a linter. Read it again.",
            id="modified",
        ),
        pytest.param(
            "File content (31205 tokens) exceeds maximum allowed tokens (25000). Please use offset and limit.",
            "FileTooLarge",
            "File content (31205 tokens) exceeds maximum allowed tokens (25000). Please use offset and limit.",
            id="too large",
        ),
        pytest.param("Unknown skill: releas", "UnknownSkill", "Unknown skill: releas", id="skill"),
        pytest.param(
            "Error: No such tool available: Serch",
            "UnknownTool",
            "No such tool available: Serch",
            id="tool of Claude Code",
        ),
        pytest.param(
            "Permission to use Bash with command rm -r build has been denied.",
            "PermissionDenied",
            "Permission to use Bash with command rm -r build has been denied.",
            id="rule",
        ),
        pytest.param(
            "failed to parse function arguments: missing field `cmd` at line 1 column 20",
            "ValidationError",
            "failed to parse function arguments: missing field `cmd` at line 1 column 20",
            id="arguments of Codex",
        ),
        pytest.param(
            "ERROR:\nParameter `old_str` is required for command: str_replace.",
            "InvalidArguments",
            "Parameter `old_str` is required for command: str_replace.",
            id="parameter of an editor",
        ),
        pytest.param(
            "ERROR:\nInvalid `view_range` parameter: [90, 120]. Its second element is too large.",
            "InvalidArguments",
            "Invalid `view_range` parameter: [90, 120]. Its second element is too large.",
            id="range",
        ),
        pytest.param(
            "Error: serach is not a valid tool, try one of [search, write].",
            "UnknownTool",
            "serach is not a valid tool, try one of [search, write].",
            id="LangGraph",
        ),
        pytest.param(
            'Tool "serach" not found in registry. Did you mean one of: "search"?',
            "UnknownTool",
            'Tool "serach" not found in registry. Did you mean one of: "search"?',
            id="Gemini CLI",
        ),
        pytest.param("[No file open. Use open.]", "NoFileOpen", "No file open. Use open.", id="SWE-agent"),
        pytest.param("Error executing tool reserve", "ToolError", "Error executing tool reserve", id="hidden cause"),
    ],
)
def test_sentences(text: str, kind: str, cause: str):
    """A sentence of a harness stays as it is; its type is a short noun."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "harness")


@pytest.mark.parametrize(
    ("text", "kind", "file"),
    [
        ("EISDIR: illegal operation on a directory, read", "EISDIR", ""),
        ("Error: ENOENT: no such file or directory, open '/home/dev/shop/cart.ts'", "ENOENT", "/home/dev/shop/cart.ts"),
        ("File not found: /home/dev/shop/cart.ts", "FileNotFound", "/home/dev/shop/cart.ts"),
        (
            "Invalid `path` parameter: /src/a.py. The path /src/a.py does not exist.",
            "InvalidArguments",
            "/src/a.py",
        ),
        (
            "Failed to edit, expected 1 occurrence but found 2 for old_string in file: /src/a.ts",
            "AmbiguousString",
            "/src/a.ts",
        ),
    ],
)
def test_sentences_that_name_a_file(text: str, kind: str, file: str):
    """The file that a sentence names is the location."""
    found = facts(text)
    assert (found.type, found.location.file, found.format) == (kind, file, "harness")


NOT_FOUND = "<tool_use_error>String to replace not found in file.\nString: def total(cart):\n    {}</tool_use_error>"


def test_quoted_text_is_shown_by_its_first_line():
    """Of what the agent sent itself the first line tells which edit is meant."""
    found = facts(NOT_FOUND.format("return sum(cart)"))
    assert (found.cause, found.details) == ("String to replace not found in file.", ("> def total(cart):",))
    assert facts("String to replace not found in file.\nString:   ").details == ()
    assert key(NOT_FOUND.format("return sum(cart)")) == key(NOT_FOUND.format("return 0"))


@pytest.mark.parametrize(
    ("text", "kind", "cause", "place", "more"),
    [
        pytest.param(
            "ERROR:\nNo replacement was performed, old_str `a = 1\nb = 2` did not appear verbatim in /src/a.py.",
            "StringNotFound",
            "No replacement was performed, old_str did not appear verbatim in /src/a.py",
            "/src/a.py",
            ("> a = 1",),
            id="not found",
        ),
        pytest.param(
            "ERROR:\nNo replacement was performed. Multiple occurrences of old_str `a = 1` in lines [3, 9]. Be unique.",
            "AmbiguousString",
            "No replacement was performed. Multiple occurrences of old_str in lines [3, 9]. Be unique.",
            "",
            ("> a = 1",),
            id="not unique",
        ),
        pytest.param(
            "No replacement was performed: the file is empty",
            "EditRejected",
            "No replacement was performed: the file is empty",
            "",
            (),
            id="other",
        ),
        pytest.param(
            "apply_patch verification failed: Failed to find expected lines in /src/a.py:\n    return 1\n    x",
            "EditRejected",
            "apply_patch verification failed: Failed to find expected lines in /src/a.py",
            "/src/a.py",
            ("> return 1",),
            id="patch",
        ),
        pytest.param(
            "apply_patch verification failed: invalid hunk",
            "EditRejected",
            "apply_patch verification failed: invalid hunk",
            "",
            (),
            id="patch without a file",
        ),
        pytest.param(
            "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: This SEARCH block failed to "
            "exactly match lines in shop/cart.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n\nDid you mean to "
            "match some of these actual lines from shop/cart.py?\n\n```\ntotal = 0\n\nxs = 1\n```\n",
            "StringNotFound",
            "This SEARCH block failed to exactly match lines in shop/cart.py",
            "shop/cart.py",
            ("did you mean: total = 0", "did you mean: xs = 1"),
            id="aider",
        ),
        pytest.param(
            "# 2 SEARCH/REPLACE blocks failed to match!",
            "StringNotFound",
            "2 SEARCH/REPLACE blocks failed to match!",
            "",
            (),
            id="aider, cut",
        ),
    ],
)
def test_failed_edits(text: str, kind: str, cause: str, place: str, more: tuple[str, ...]):
    """A failed edit names the file, and shows no more of the edit than tells which it was."""
    found = facts(text)
    assert (found.type, found.cause, str(found.location), found.details) == (kind, cause, place, more)
    assert found.format == "harness"


ECHO = """\
Your proposed edit has introduced new syntax error(s). Please read this error message carefully.

ERRORS:
{errors}

This is how your edit would have looked if applied
-------------------------------------------------
[File: /shop/cart.py ({lines} lines total)]
1:def total(cart):
2:  return (
-------------------------------------------------

This is the original code before your edit
-------------------------------------------------
[File: /shop/cart.py (2 lines total)]
1:def total(cart):
-------------------------------------------------
Your changes have NOT been applied.
DO NOT re-run the same failed edit command. Running it again will lead to the same error.
"""


def test_edit_that_a_linter_refused():
    """Of an echoed edit what the linter found is kept, and the lines at the edges of the edit with their margins."""
    found = facts(ECHO.format(errors="- E999 SyntaxError: '(' was never closed\n- F821 undefined name 'cart'", lines=9))
    assert (found.type, found.cause) == ("EditRejected", "E999 SyntaxError: '(' was never closed")
    assert (str(found.location), found.details) == (
        "/shop/cart.py",
        ("F821 undefined name 'cart'", "> 1: def total(cart):", "> 2 (indented 2): return ("),
    )


def test_edges_of_an_edit():
    """A bracket left behind an edit shows in the line after it, wherever both listings end."""
    after = "7:def sum(\n8:    a):\n9:    return (\n10:        a)\n11:    )\n12:\n13:def f():"
    before = "7:def sum(\n8:    a):\n9:    return a\n10:    )\n11:\n12:def f():\n13:    pass"
    listing = (
        "This is how your edit would have looked if applied\n{}\n(8 more lines below)\n"
        "This is the original code before your edit\n{}\n(7 more lines below)\n---\nRetry.\n"
    )
    found = facts(
        "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: invalid syntax\n\n"
        + listing.format(after, before)
    )
    assert found.details == (
        "> 8 (indented 4): a):",
        "> 9 (indented 4): return (",
        "> 10 (indented 8): a)",
        "> 11 (indented 4): )",
    )


REFUSED = (
    "Your proposed edit has introduced new syntax error(s).\n{error}\n"
    "This is how your edit would have looked if applied\n{after}\n"
    "This is the original code before your edit\n{before}\n"
)


def test_edges_of_an_edit_at_the_end_of_a_file():
    """What the edit left behind is found by its distance to the end, although the lines before it repeat."""
    before = "1|a = [\n2|    f(\n3|        x),\n4|]"
    after = "1|a = [\n2|    f(\n3|        y),\n4|]\n5|        x),\n6|]"
    found = facts(REFUSED.format(error="- E999 IndentationError: unexpected indent", after=after, before=before))
    assert found.details[-2:] == ("> 4: ]", "> 5 (indented 8): x),")


def test_line_of_the_token_that_a_linter_quotes():
    """A lonely bracket that the linter does not match is shown, wherever in the edit it stands."""
    before = "1|a = [\n2|    1,\n3|]\n4|b = 1"
    after = "1|a = 1\n2|c = 2\n3|    ]\n4|d = 3\n5|e = 4\n6|b = 1"
    found = facts(REFUSED.format(error="- E999 SyntaxError: unmatched ']'", after=after, before=before))
    assert "> 3 (indented 4): ]" in found.details


def test_line_that_a_linter_names():
    """It is shown in place of the edges of the edit, with the line before it."""
    before, after = "1|a\n2|b\n3|c", "1|a\n2|x\n3|y\n4|z\n5|c"
    found = facts(REFUSED.format(error="/shop/cart.ts:4", after=after, before=before))
    assert found.details == ("> 3: y", "> 4: z")
    first = facts(REFUSED.format(error="/shop/cart.ts:1", after=after, before=before))
    assert first.details == ("> 1: a",)


def test_finding_that_repeats():
    """A name that is missing at many places is one finding."""
    found = facts("Your proposed edit has introduced new syntax error(s).\nERRORS:" + "\n- F821 undefined name 'x'" * 3)
    assert (found.cause, found.details) == ("F821 undefined name 'x'", ())


def test_edit_that_changes_nothing():
    """The listings are equal, and the last line is all there is."""
    found = facts(REFUSED.format(error="- E1 x", after="1|a\n2|b", before="1|a\n2|b"))
    assert found.details == ("> 1: a", "> 2: b")


def test_key_of_an_edit_that_a_linter_refused():
    """The key follows what the linter found, not the file around it."""
    one = "- F821 undefined name 'cart'"
    assert key(ECHO.format(errors=one, lines=9)) == key(ECHO.format(errors=one, lines=12))
    assert key(ECHO.format(errors=one, lines=9)) != key(ECHO.format(errors="- F821 undefined name 'x'", lines=9))


@pytest.mark.parametrize(
    ("text", "cause", "place"),
    [
        pytest.param(
            "[Your proposed edit has introduced new syntax error(s). Please understand.]\n/shop/cart.ts:22\n"
            "[This is how your edit would have looked if applied]\n---\n1|x\n",
            "Your proposed edit has introduced new syntax error(s)",
            "/shop/cart.ts:22",
            id="no finding",
        ),
        pytest.param(
            "Your proposed edit has introduced new syntax error(s).\nERRORS:\n/shop/cart.py:3:1: E999 bad indent\n"
            "/shop/cart.py:9:1: F821 undefined name 'x'",
            "E999 bad indent",
            "/shop/cart.py:3",
            id="findings with places",
        ),
    ],
)
def test_place_of_an_edit_that_a_linter_refused(text: str, cause: str, place: str):
    """A linter that names a line names the location; the first one counts."""
    found = facts(text)
    assert (found.type, found.cause, str(found.location)) == ("EditRejected", cause, place)


@pytest.mark.parametrize(
    "text",
    [
        "Command timed out after 2m 0.0s\nCompiling shop v0.1.0\nerror: no such feature",
        "command timed out after 10000 milliseconds\nerror: no such feature",
        "EXECUTION TIMED OUT\nerror: no such feature",
        "error: no such feature\n[The command timed out after 30.0 seconds. You can send an empty command]",
    ],
)
def test_time_outs(text: str):
    """A time-out keeps the telling lines of the output, and its duration plays no part in the key."""
    found = facts(text)
    assert (found.type, found.details, found.format) == ("ToolTimeout", ("error: no such feature",), "harness")
    assert key(text) == key("Command timed out after 9s")


def test_cancelled_command_is_named():
    """Where the time-out names the command, another command is another failure."""
    text = "The command '{}' was cancelled because it took more than 25 seconds. Try another."
    assert facts(text.format("make check")).type == "ToolTimeout"
    assert key(text.format("make check")) != key(text.format("npm ci"))


@pytest.mark.parametrize(
    ("text", "kind", "cause", "more"),
    [
        pytest.param(
            "<tool_use_error>InputValidationError: Edit failed due to the following issues:\nThe required parameter "
            "`file_path` is missing\nAn unexpected parameter `path` was provided</tool_use_error>",
            "ValidationError",
            "Edit: 2 validation errors: file_path: required parameter `file_path` is missing; path: unexpected "
            "parameter `path` was provided",
            (),
            id="Claude Code",
        ),
        pytest.param(
            "Error executing tool reserve: 1 validation error for reserveArguments\nsku\n  Field required "
            "[type=missing, input_value={}, input_type=dict]\n    For further information visit https://x",
            "ValidationError",
            "reserve: 1 validation error for reserveArguments: sku: Field required",
            (),
            id="MCP",
        ),
        pytest.param(
            "Error executing tool reserve: ValueError: sold out", "ValueError", "reserve: sold out", (), id="type"
        ),
        pytest.param("Error executing tool reserve: sold out", "ToolError", "reserve: sold out", (), id="no type"),
        pytest.param("Tool 'reserve' failed: reserve: sold out", "ToolError", "reserve: sold out", (), id="name twice"),
        pytest.param(
            "Error: ToolInvocationError(\"Error invoking tool 'reserve' with kwargs {'n': 'x'} with error:\\n sku: "
            'Field required\\nn: Input should be an integer\\n Please fix the error and try again.")\n Please fix your '
            "mistakes.",
            "ValidationError",
            "reserve: 2 validation errors: sku: Field required; n: Input should be an integer",
            (),
            id="arguments of LangGraph",
        ),
        pytest.param(
            "An error occurred while running the tool. Please try again. Error: sold out",
            "ToolError",
            "sold out",
            (),
            id="OpenAI's agents",
        ),
        pytest.param(
            "I encountered an error while trying to use the tool. This was the error: sold out.\n Tool reserve "
            "accepts these inputs: sku, quantity",
            "ToolError",
            "sold out.",
            (),
            id="CrewAI",
        ),
        pytest.param(
            "exec_command failed for `/bin/bash -lc make`: CreateProcess failed",
            "ToolError",
            "CreateProcess failed",
            (),
            id="Codex",
        ),
        pytest.param("Tool execution failed: sold out", "ToolError", "sold out", (), id="without a name"),
    ],
)
def test_tools_that_raised(text: str, kind: str, cause: str, more: tuple[str, ...]):
    """Behind a framework's sentence stands the exception's message, with the tool's name where that is told."""
    found = facts(text)
    assert (found.type, found.cause) == (kind, cause)
    assert tuple(line for line in found.details if not line.startswith("For further")) == more
    assert found.format == "harness"


def test_key_of_a_message_with_a_key_of_its_own():
    """Values of validated arguments play no part in the key."""
    text = (
        "Error executing tool reserve: 1 validation error for reserveArguments\nquantity\n  Input should be a valid "
        "integer [type=int_parsing, input_value='{}', input_type=str]"
    )
    assert key(text.format("two")) == key(text.format("three"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Found 3 matches in 2 files", id="another beginning"),
        pytest.param("File content (utf-8) is fine", id="half a sentence"),
        pytest.param("# SEARCH results", id="heading"),
        pytest.param("apply_patch verification failed: ", id="nothing behind"),
        pytest.param("InputValidationError: qty", id="another validation"),
        pytest.param("The command failed", id="no time-out"),
        pytest.param("Tool support is missing", id="sentence about tools"),
        pytest.param("the word is not a valid tool, try one of those", id="no name"),
        pytest.param("Error executing tool x: Traceback (most recent call last):\nKeyError: 1", id="traceback"),
        pytest.param("Error: ENOENT: no such file or directory, open 'a'\n    at open (node:fs:1:1)", id="stack"),
        pytest.param('raise ToolError("String to replace not found in file.")', id="source code"),
        pytest.param("10:00:00 INFO File has not been read yet\n10:00:01 ERROR no such table", id="log"),
        pytest.param("Error: flight HAT030 not available", id="error of a tool"),
        pytest.param("An error occurred while running the tool. Please try again. Error:", id="no message"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_no_harness(text: str):
    """Only the words themselves, at the very start, are a harness's."""
    assert facts(text).format != "harness"


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ["a", "[", "Error: ", "Found ", "# ", "Tool ", "\n", "No replacement was performed, old_str `", "- E1 x\n"]
)
def test_hostile_text_costs_little(unit: str):
    """A megabyte of anything is looked at in a moment."""
    text = unit * (1_000_000 // len(unit))
    assert costs_little(lambda: facts(text))
    assert _REPRESENTED.match(text) is None


def test_arguments_that_are_wrong_in_another_way():
    """An issue that names no parameter is shown as it is."""
    found = facts("InputValidationError: Edit failed due to the following issue:\nThe input is no object")
    assert (found.type, found.cause) == ("InvalidArguments", "Edit: The input is no object")
