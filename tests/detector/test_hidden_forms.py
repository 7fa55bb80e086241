"""Failures by form and role: shells, readers, linters, harnesses; beside them what only looks like one."""

# ruff: noqa: E501 - one case is one line

from __future__ import annotations

import json

import pytest

from otel_errcompact.detector.results import classify_result

FAILURES = [
    # Syntax errors and unknown commands, in the spellings of shells.
    ("bash", "if true; then ls", "bash: -c: line 2: syntax error: unexpected end of file"),
    ("bash", "./deploy.sh", "./deploy.sh: line 31: unexpected EOF while looking for matching `\"'"),
    ("bash", "./deploy.sh", "./deploy.sh: line 12: [: too many arguments"),
    ("bash", "./deploy.sh", "./deploy.sh: line 4: terraform: command not found"),
    ("bash", "./deploy.sh", "building\n./deploy.sh: 9: helm: not found"),
    ("bash", "sh -c 'echo ${a:0:1}'", "sh: 1: Bad substitution"),
    ("bash", "sh run.sh", "run.sh: 3: source: not found"),
    ("bash", "zsh -c 'print ${(z'", "zsh:1: bad substitution"),
    ("bash", "zsh -c 'x=(1 2'", "zsh:1: parse error near `\\n'"),
    ("bash", "ls *.rs", "zsh: no matches found: *.rs"),
    ("bash", "zsh build.zsh", "build.zsh:7: command not found: pnpx"),
    ("bash", "fish -c 'set x (ls'", "fish: Unexpected end of string, parenthesis left open"),
    ("bash", "fish -c 'depot'", "fish: Unknown command: depot\nfish: \ndepot\n^~~~^"),
    ("bash", "ksh -c 'depot'", "ksh: depot: not found"),
    ("bash", "ksh -c 'for'", "ksh: syntax error: `for' unmatched"),
    ("bash", "busybox sh -c depot", "sh: depot: not found"),
    ("bash", "sh -c '('", 'sh: syntax error: unexpected end of file (expecting ")")'),
    (
        "pwsh",
        "depot",
        "depot: The term 'depot' is not recognized as a name of a cmdlet, function, script file, or executable program.",
    ),
    ("cmd", "depot", "'depot' is not recognized as an internal or external command,\noperable program or batch file."),
    ("cmd", "if exist", "The syntax of the command is incorrect."),
    ("cmd", "type a.txt", "The system cannot find the file specified."),
    ("powershell", "Get-Content a.txt", "Get-Content : Cannot find path 'C:\\a.txt' because it does not exist."),
    ("bash", "sudo depot", "sudo: depot: command not found"),
    ("bash", "./run.py", "bash: ./run.py: /usr/bin/python9: bad interpreter: No such file or directory"),
    ("bash", "./run", "bash: ./run: cannot execute binary file: Exec format error"),
    ("bash", "env depot", "env: \u2018depot\u2019: No such file or directory"),
    ("bash", "csh -c depot", "depot: Command not found."),
    ("bash", "nix run depot", "error: unable to find a flake 'depot' in the registry"),
    # A folder that is not there, before a command that reads.
    ("bash", "cd /srv/depot && ls", "bash: line 1: cd: /srv/depot: No such file or directory"),
    ("bash", "cd ~/depot; ls", "bash: line 0: cd: /root/depot: No such file or directory\na.txt\nb.txt"),
    ("bash", "cd depot\ncat a.txt", "sh: 1: cd: can't cd to depot\nhello"),
    ("bash", "cd depot; git log -3", "cd: no such file or directory: depot\nabc1234 Add a bill"),
    ("bash", "cd depot; pwd", "cd: The directory 'depot' does not exist\n/root"),
    # Programs that read, and refuse.
    ("bash", "cat a.txt", "cat: a.txt: No such file or directory"),
    ("bash", "head -5 a b", "head: cannot open 'a' for reading: No such file or directory"),
    ("bash", "sed -n '1,5' a", "sed: -e expression #1, char 3: missing command"),
    ("bash", "grep '[' a", "grep: Unmatched [, [^, [:, [., or [="),
    ("bash", "rg '(' src", "rg: regex parse error:\n    (?:()\n    ^\nerror: unclosed group"),
    ("bash", "jq . a", "jq: error: Could not open file a: No such file or directory"),
    (
        "bash",
        "jq '.[' a.json",
        "jq: error: syntax error, unexpected end of file (Unix shell quoting issues?) at <top-level>, line 1:\n.[\njq: 1 compile error",
    ),
    ("bash", "find src -nme x", "find: unknown predicate `-nme'"),
    ("bash", "ls --colr", "ls: unrecognized option '--colr'\nTry 'ls --help' for more information."),
    (
        "bash",
        "git log nope",
        "fatal: ambiguous argument 'nope': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'",
    ),
    (
        "bash",
        "awk '{print' a",
        "awk: cmd. line:1: {print\nawk: cmd. line:1:       ^ unexpected newline or end of string",
    ),
    ("bash", "tail -n x a", "tail: invalid number of lines: \u2018x\u2019"),
    ("read_file", {"path": "src/a.py"}, "File src/a.py not found"),
    ("read_file", {"path": "src"}, "src is a directory, not a file"),
    ("view", {"path": "a.py", "view_range": [90, 99]}, "Invalid `view_range` parameter: [90, 99]"),
    ("open", {"path": "a.py"}, 'usage: open "<path>" [<line_number>]'),
    # Linters behind pipes and task runners.
    ("bash", "ruff check . | tail -3", "src/a.py:3:1: F401 `os` imported but unused\nFound 1 error."),
    (
        "bash",
        "mise run lint | tail",
        "[lint] $ ruff check .\n[lint] src/a.py:3:1: F401 [*] `os` imported but unused\n[lint] Found 1 error.\n[lint] ERROR task failed",
    ),
    (
        "bash",
        "golangci-lint run | tail",
        "main.go:7:2: declared and not used: x (typecheck)\n1 issues:\n* typecheck: 1",
    ),
    (
        "bash",
        "npx eslint src | tail",
        "/srv/a.js\n  3:7  error  'x' is assigned a value but never used  no-unused-vars\n\n\u2716 1 problem (1 error, 0 warnings)",
    ),
    ("bash", "npx tsc | head", "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."),
    (
        "bash",
        "mypy src | tail -2",
        "src/a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file (checked 9 source files)",
    ),
    (
        "bash",
        "npx biome check | tail",
        "src/a.ts:3:7 lint/style/useConst \u2501\u2501\u2501\n\n  \u00d7 This let declares a variable that is only assigned once.\n\nFound 1 error.",
    ),
    (
        "bash",
        "just lint | tail",
        "src/a.py:3:1: E302 expected 2 blank lines, found 1\nerror: Recipe `lint` failed on line 4 with exit code 1",
    ),
    # Forges.
    (
        "bash",
        "gh pr create",
        "pull request create failed: GraphQL: No commits between main and depot (createPullRequest)",
    ),
    (
        "bash",
        "gh pr view 9",
        "GraphQL: Could not resolve to a PullRequest with the number of 9. (repository.pullRequest)",
    ),
    (
        "bash",
        "gh api repos/a/b",
        'gh: Not Found (HTTP 404)\n{"message":"Not Found","documentation_url":"x","status":"404"}',
    ),
    ("bash", "gh run view 1", "failed to get run: HTTP 404: Not Found (https://api.github.com/x)"),
    # Go without a heading.
    ("bash", "go build ./... | head", "# depot/cart\ncart/cart.go:9:2: undefined: rate"),
    ("bash", "go vet ./... | head", "cart/cart.go:9:2: fmt.Printf format %d has arg x of wrong type string"),
    (
        "bash",
        "go build ./...",
        "cart/cart.go:4:2: no required module provides package x.io/y; to add it:\n\tgo get x.io/y",
    ),
    (
        "bash",
        "go test ./... | tail -3",
        "# depot/cart [depot/cart.test]\ncart/cart_test.go:9:2: declared and not used: x\nFAIL\tdepot/cart [build failed]",
    ),
    # Time-outs and sessions, as harnesses report them.
    ("bash", "make", "Command timed out after 120 seconds"),
    ("bash", "cat /dev/zero | wc", "The command was killed because it exceeded the time limit of 30s"),
    ("shell", "npm test", "EXECUTION TIMED OUT after 60s"),
    ("write_stdin", {"session_id": 7, "chars": "ls"}, "Unknown session: 7"),
    ("terminal_read", {"id": "t1"}, "Terminal t1 not found"),
    ("bash_output", {"id": "b_1"}, "No shell found with ID: b_1"),
    ("read_file", {"path": "a.py"}, "EISDIR: illegal operation on a directory, read"),
    ("grep", {"pattern": "("}, "ripgrep failed: regex parse error:\n    (\n    ^\nerror: unclosed group"),
    # Tests that could not even be collected.
    (
        "bash",
        "pytest -q | tail -3",
        "ImportError while loading conftest '/srv/tests/conftest.py'.\ntests/conftest.py:1: in <module>\n    import depot\nE   ModuleNotFoundError: No module named 'depot'",
    ),
    (
        "bash",
        "pytest -q | tail -2",
        "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'depot'\n!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!",
    ),
]

SUCCESSES = [
    ("bash", "command -v bun", "", 1),
    ("bash", "command -v bun && command -v deno", "/usr/bin/bun\n", 1),
    ("bash", "which bun deno", "/usr/bin/bun\n", 1),
    ("bash", "git config --get user.email", "", 1),
    ("bash", "test -f a.txt", "", 1),
    ("bash", "grep -q x a", "", 1),
    ("bash", "diff a b", "1c1\n< a\n---\n> b", 1),
    ("bash", "pgrep depot", "", 1),
    ("bash", "cat log.txt", "bash: depot: command not found\nbash: cart: command not found\ndone", None),
    ("bash", "cat ci.log | tail -4", "Error: failed to build\nretrying\nok", None),
    ("bash", "grep -rn 'command not found' docs", "docs/a.md:3:bash: depot: command not found", None),
    (
        "bash",
        "pip install x | tail -2",
        "ERROR: pip's dependency resolver does not take all into account.\nSuccessfully installed x-1",
        0,
    ),
    ("bash", "apt-get install -y jq", "debconf: falling back to frontend: Readline\nSetting up jq (1.6) ...", 0),
    ("bash", "pytest -q | tail -1", "312 passed, 0 failed, 2 skipped in 4.01s", None),
    ("bash", "npx eslint src", "0 errors, 0 warnings", None),
    ("bash", "golangci-lint run", "0 issues.", None),
    ("bash", "python a.py", "Script completed successfully, no errors.", None),
    ("bash", "go test ./...", "ok  \tdepot/cart\t0.01s\n?   \tdepot/err\t[no test files]", None),
    ("search", {"query": "timeout"}, "src/a.py:3:    raise TimeoutError('timed out after 3s')", None),
    ("Grep", {"pattern": "No such", "path": "tests"}, "tests/a.py:3: No such file or directory", None),
    ("read_file", {"path": "a.sh"}, "#!/bin/sh\n# a.sh: line 4: depot: command not found\nexit 0", None),
    ("bash", "cat ci.log", "a row\n" * 90 + "error: late\n" + "a row\n" * 90, None),
    ("bash", "; ".join(["make a"] * 40), "cc: warning: error of rounding", None),
    ("bash", "make check", "Total \u0130: 1\nerrors are counted", None),
    ("bash", "./list", "row of a table\n" * 60 + "see a.py: 3 issues of last week", None),
    ("bash", "python serve.py", "^CKeyboardInterrupt", 130),
]


def _judge(tool: str, arguments: object, text: str, code: int | None = None) -> str:
    given = {"command": arguments} if isinstance(arguments, str) else arguments
    return classify_result(text, tool=tool, arguments=json.dumps(given), exit_code=code).outcome


@pytest.mark.parametrize(("tool", "arguments", "text"), FAILURES, ids=lambda value: str(value)[:50])
def test_a_failure_shows_by_form_and_role(tool: str, arguments: object, text: str) -> None:
    """Although neither the tool nor an exit status reports it."""
    assert _judge(tool, arguments, text) == "failure"


@pytest.mark.parametrize(("tool", "arguments", "text", "code"), SUCCESSES, ids=lambda value: str(value)[:50])
def test_what_only_looks_like_a_failure_is_none(tool: str, arguments: object, text: str, code: int | None) -> None:
    """Questions answered with no, content that is read, and complaints that stopped nothing."""
    assert _judge(tool, arguments, text, code) != "failure"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("Total errors: 3, Skipped: 0", "counted errors", id="a checker"),
        pytest.param("Tests: 9, Failures: 2", "failed tests", id="a test runner"),
    ],
)
def test_a_tally_is_one_of_tests_only_where_it_counts_tests(text: str, reason: str) -> None:
    """A checker of types that counts errors has run no test."""
    assert classify_result(text, tool="bash", arguments='{"command": "make check"}').reason == reason
