"""What counts as a failure."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.control_flow import CONTROL_FLOW, is_control_flow
from otel_errcompact.detector.hidden import MAX_LOOKED_AT
from otel_errcompact.detector.results import (
    ResultVerdict,
    classify_result,
)
from otel_errcompact.escalator.exceptions import RunHalted
from tests.clock import costs_little

TRANSCRIPTS = Path(__file__).parents[2].parent / "shared/data/transcripts"

FAILURE = ResultVerdict(outcome="failure")
SUCCESS = ResultVerdict(outcome="success")


class GraphInterrupt(Exception):
    """Stands for the framework's class, which is known by its name."""


class Interrupt(GraphInterrupt):
    """A class of an application's own."""


class BackportedExceptionGroup(Exception):
    """A group as the backport makes it."""

    def __init__(self, *exceptions: object) -> None:
        super().__init__("several")
        self.exceptions = exceptions


class Halted(RunHalted):
    def __init__(self) -> None:
        Exception.__init__(self)


def nested(depth: int, leaf: BaseException) -> BaseException:
    """
    Return `leaf` in that many groups.
    """
    for _ in range(depth):
        leaf = BackportedExceptionGroup(leaf)
    return leaf


def bash(command: str) -> dict[str, str]:
    """
    Return the call of a shell tool.
    """
    return {"tool": "Bash", "arguments": json.dumps({"command": command})}


@pytest.mark.parametrize(
    "exception",
    [
        pytest.param(KeyboardInterrupt(), id="no Exception"),
        pytest.param(SystemExit(1), id="exit"),
        pytest.param(asyncio.CancelledError(), id="cancellation in asyncio"),
        pytest.param(concurrent.futures.CancelledError(), id="cancellation of a future"),
        pytest.param(StopIteration(), id="end of an iterator"),
        pytest.param(StopAsyncIteration(), id="end of an asynchronous iterator"),
        pytest.param(GraphInterrupt(), id="interrupt"),
        pytest.param(Interrupt(), id="subclass of an interrupt"),
        pytest.param(Halted(), id="our own decision"),
        pytest.param(BackportedExceptionGroup(GraphInterrupt(), Interrupt()), id="group of interrupts"),
        pytest.param(nested(50_000, GraphInterrupt()), id="groups without end"),
    ],
)
def test_control_flow_is_no_failure(exception: BaseException):
    """
    Interrupts, cancellation and our own decisions are left alone.
    """
    assert is_control_flow(exception)


@pytest.mark.parametrize(
    "exception",
    [
        pytest.param(ValueError("x"), id="exception"),
        pytest.param(TimeoutError(), id="time-out"),
        pytest.param(BackportedExceptionGroup(GraphInterrupt(), ValueError()), id="group with a failure"),
        pytest.param(nested(50, ValueError()), id="failure in many groups"),
        pytest.param(BackportedExceptionGroup(), id="empty group"),
    ],
)
def test_other_exceptions_are_failures(exception: BaseException):
    """
    Everything else is a failure, also beside an interrupt in one group.
    """
    assert not is_control_flow(exception)


def test_more_names_can_be_given():
    """
    An application adds the names of its own control flow.
    """
    assert is_control_flow(ValueError(), frozenset({"ValueError"}))


def test_an_unfit_reply_is_no_failure():
    """LangGraph marks what it raises where a human's reply does not fit; it goes on to whoever can reply again."""
    error = ValueError("approved: Input should be a valid boolean")
    assert not is_control_flow(error)
    error._langgraph_invalid_resume = True
    assert is_control_flow(error)
    assert "ModelRetry" in CONTROL_FLOW
    assert "UserError" not in CONTROL_FLOW


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "declined by the user",
            id="declined",
        ),
        pytest.param("[Request interrupted by user for tool use]", "declined by the user", id="interrupted"),
        pytest.param("Error: User rejected the call", "declined by the user", id="rejected"),
        pytest.param("Command was denied by the user", "declined by the user", id="denied"),
        pytest.param(
            "The user has declined to run this tool. DO NOT call it again.", "declined by the user", id="goose"
        ),
        pytest.param("User did not allow tool call", "declined by the user", id="not allowed"),
        pytest.param("[Operation Cancelled] Reason: User did not allow", "declined by the user", id="Gemini CLI"),
        pytest.param("Tool execution was not approved.", "declined by the user", id="not approved"),
        pytest.param("This tool call is rejected.", "declined by the user", id="google-adk"),
        pytest.param("The user chose to skip the tool call", "declined by the user", id="skipped"),
        pytest.param("Action has been rejected by the user! reason: no", "declined by the user", id="OpenHands"),
        pytest.param("aborted by user after 3.2s", "declined by the user", id="aborted"),
        pytest.param(
            'exec_command failed for `bash -lc make`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            "declined by the user",
            id="Codex",
        ),
        pytest.param(
            "<tool_use_error>Sibling tool call errored</tool_use_error>", "a sibling call failed", id="sibling notice"
        ),
        pytest.param("asyncio.exceptions.CancelledError: scope", "cancelled", id="cancellation"),
        pytest.param("Cancelled", "cancelled", id="one word"),
        pytest.param(
            "Chunk ID: 1f\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n",
            "still running",
            id="session",
        ),
    ],
)
@pytest.mark.parametrize("flagged", [True, False, None])
def test_notices_are_ignored(text: str, reason: str, flagged: bool | None):
    """
    A human's decision, a sibling's failure, cancellation and a running process are neither failure nor success.
    """
    assert ResultVerdict(outcome="ignored", reason=reason) == classify_result(text, flagged=flagged)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("patch rejected: writing outside of the project; rejected by user approval settings", id="policy"),
        pytest.param("Permission to use Bash with command rm has been denied.", id="rule"),
        pytest.param("user declaration is missing", id="another word"),
    ],
)
def test_rules_are_no_decisions_of_the_moment(text: str):
    """
    What a rule forbids is a failure that the agent has to work around; no human was asked.
    """
    assert classify_result(text, flagged=True).outcome == "failure"


@pytest.mark.parametrize(
    ("text", "tool", "outcome"),
    [
        ("No files found", "Glob", "ignored"),
        ("No matches found for pattern 'x' in src", "search_files", "ignored"),
        ("No files found: the index is broken\nsee the log", "Glob", "failure"),
        ("No matches found", "apply_edit", "failure"),
    ],
)
def test_search_tool_that_found_nothing(text: str, tool: str, outcome: str):
    """
    A searching tool that says in one line that there is no match has not failed, although it is flagged.
    """
    assert classify_result(text, tool=tool, flagged=True).outcome == outcome


def test_running_command_is_ignored():
    """
    Exit status -1 stands for a command that still runs.
    """
    assert ResultVerdict(outcome="ignored", reason="still running") == classify_result(
        "...", exit_code=-1, **bash("make")
    )


@pytest.mark.parametrize(
    ("text", "command", "exit_code", "outcome"),
    [
        pytest.param("", "rg needle", 1, "ignored", id="search without a match"),
        pytest.param("Exit code 1", "cd /app && grep -r needle src", None, "ignored", id="status in the text"),
        pytest.param("(no output)\n[exit code: 1]", "diff a b", None, "ignored", id="comparison"),
        pytest.param("", "which jq", 1, "ignored", id="missing program"),
        pytest.param("1c1\n< a\n---\n> b", "diff a b", 1, "ignored", id="files that differ"),
        pytest.param("diff: b: No such file or directory", "diff a b", 2, "failure", id="comparison that failed"),
        pytest.param("", "command -v ruff", 1, "ignored", id="command that is not there"),
        pytest.param("", "git config --get user.name", 1, "ignored", id="setting that is not set"),
        pytest.param("", "git config user.name x", 1, "failure", id="setting that could not be set"),
        pytest.param("", "[ -f setup.py ]", 1, "ignored", id="bracket"),
        pytest.param("", "cd app && [[ -d .git ]]", 1, "ignored", id="double bracket"),
        pytest.param("", "git merge-base --is-ancestor a b", 1, "ignored", id="history"),
        pytest.param("", "systemctl is-active nginx", 3, "ignored", id="service that is down"),
        pytest.param("", "systemctl restart nginx", 1, "failure", id="service that does not start"),
        pytest.param("grep: x: Is a directory", "grep needle x", 2, "failure", id="search that failed"),
        pytest.param("", "make test", 1, "failure", id="another command"),
        pytest.param("", "grep x y && make", 1, "failure", id="search before another command"),
    ],
)
def test_empty_search_is_ignored(text: str, command: str, exit_code: int | None, outcome: str):
    """
    A search that says nothing and ends with a status has found nothing; it did not fail.
    """
    assert outcome == classify_result(text, exit_code=exit_code, **bash(command)).outcome


@pytest.mark.parametrize(
    ("text", "flags", "reason"),
    [
        pytest.param("File does not exist.", {"flagged": True}, "flagged by the tool", id="flag"),
        pytest.param("x", {"exit_code": 2}, "exit code 2", id="status"),
        pytest.param("x", {"exit_code": 2, "flagged": True}, "exit code 2", id="flag and status"),
        pytest.param("Exit code 128\nfatal: x", {"flagged": True}, "exit code 128", id="status in the first line"),
        pytest.param(
            "Wall time: 1 s\nProcess exited with code 3\nOutput:\nx", {}, "exit code 3", id="status in a header"
        ),
        pytest.param("boom\n[exit code: 3]", {}, "exit code 3", id="status in the last line"),
        pytest.param("exitcode: 1 (execution failed)\nCode output: x", {}, "exit code 1", id="status of an executor"),
    ],
)
def test_reported_failure(text: str, flags: dict[str, object], reason: str):
    """
    What the tool itself reports, by its flag or a status, is a failure and counts as reported.
    """
    assert ResultVerdict(outcome="failure", reason=reason) == classify_result(text, **bash("make x"), **flags)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            'x\nTraceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1', "a traceback", id="Python"
        ),
        pytest.param("x\n  + Exception Group Traceback (most recent call last):", "a traceback", id="Python group"),
        pytest.param('Exception in thread "main" java.lang.Error', "an exception", id="Java"),
        pytest.param("x\nthread 'main' panicked at src/main.rs:4:10:", "an exception", id="Rust"),
        pytest.param("panic: runtime error: index out of range", "an exception", id="Go"),
        pytest.param("Uncaught TypeError: x is not a function", "an exception", id="JavaScript"),
        pytest.param("step 1\nError: ValueError: x\nstep 2", "an exception", id="printed by a script"),
        pytest.param("step 1\nError: 1 validation error for Order\nqty", "an exception", id="validation, printed"),
        pytest.param("** (UndefinedFunctionError) function f/0 is undefined", "an exception", id="Elixir"),
        pytest.param("...\n===== 1 failed, 3 passed in 0.12s =====", "failed tests", id="pytest"),
        pytest.param("...\n2 errors in 0.12s", "failed tests", id="pytest -q"),
        pytest.param("FAILED tests/test_a.py::test_b - x", "failed tests", id="pytest summary"),
        pytest.param("Ran 3 tests in 0.1s\n\nFAILED (failures=1)", "failed tests", id="unittest"),
        pytest.param("--- FAIL: TestX (0.00s)", "failed tests", id="go test"),
        pytest.param("x\nFAIL\tgithub.com/a/b\t0.1s", "failed tests", id="go test package"),
        pytest.param("Tests:       1 failed, 4 passed, 5 total", "failed tests", id="jest"),
        pytest.param("      Tests  2 failed | 3 passed (5)", "failed tests", id="vitest"),
        pytest.param("Finished\n6 doctests, 182 tests, 11 failures", "failed tests", id="ExUnit"),
        pytest.param("12 examples, 1 failure", "failed tests", id="rspec"),
        pytest.param("checked\nTotal errors: 2, Skipped: 0", "counted errors", id="checker"),
        pytest.param("x\n  3 failing", "failed tests", id="mocha"),
        pytest.param("FAILURES!\nTests: 3", "failed tests", id="PHPUnit"),
        pytest.param("50% tests passed, 2 tests failed out of 4", "failed tests", id="ctest"),
        pytest.param("test result: FAILED. 1 passed; 1 failed", "failed tests", id="cargo test"),
        pytest.param("not ok 3 - adds", "failed tests", id="TAP"),
        pytest.param("[INFO] x\n[ERROR] COMPILATION ERROR :", "a failed build", id="Maven"),
        pytest.param("BUILD FAILED in 3s", "a failed build", id="Gradle"),
        pytest.param("make[1]: *** [Makefile:3: all] Error 2", "a failed build", id="make"),
        pytest.param("CMake Error at CMakeLists.txt:31 (find_package):", "a failed build", id="CMake"),
        pytest.param("error[E0382]: borrow of moved value: `basket`", "a failed build", id="rustc"),
        pytest.param("src/ring.c:18:27: error: 'limit' undeclared", "an error in a file", id="gcc"),
        pytest.param("src/a.ts(12,5): error TS2322: x", "an error in a file", id="tsc"),
        pytest.param("src/a.ts:12:5 - error TS2322: x", "an error in a file", id="tsc, pretty"),
        pytest.param("error TS18003: No inputs were found", "an error in a file", id="tsc without a file"),
        pytest.param("Found 3 errors in 1 file (checked 2 source files)", "lint errors", id="mypy"),
        pytest.param("\u2716 3 problems (3 errors, 0 warnings)", "lint errors", id="eslint"),
        pytest.param("npm ERR! code ERESOLVE", "a failed install", id="npm"),
        pytest.param("Collecting x\nERROR: No matching distribution found for x", "a failed install", id="pip"),
        pytest.param("bash: line 4: jqq: command not found", "a shell error", id="missing program"),
        pytest.param("/bin/sh: 1: cd: can't cd to /x\nmore", "a shell error", id="missing folder"),
        pytest.param("ls: cannot access 'x': No such file or directory", "a shell error", id="ls"),
        pytest.param("fatal: not a git repository", "a shell error", id="git"),
        pytest.param("rows: 3\nvalue: 7\nError: date32 cannot be called", "an error at the end", id="last line"),
        pytest.param(
            "done\nduckdb.CatalogException: no table x\n", "an error at the end", id="exception in the last line"
        ),
    ],
)
def test_hidden_failure_of_a_command(text: str, reason: str):
    """
    Output that known tools write only when they fail is a failure, marked as detected, although the command succeeded.
    """
    assert ResultVerdict(outcome="failure", detected=True, reason=reason) == classify_result(
        text, **bash("make test | tail")
    )


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        pytest.param("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>", id="harness"),
        pytest.param("get_user_details", "Error: user not found", id="tool protocol"),
        pytest.param("edit", "ERROR:\nNo replacement was performed, old_str did not appear", id="editor"),
        pytest.param("edit", "[Your proposed edit has introduced new syntax error(s).]", id="editor with a linter"),
        pytest.param("apply_patch", "apply_patch verification failed: x", id="patch"),
    ],
)
def test_hidden_failure_in_the_tools_own_words(tool: str, text: str):
    """
    What a tool protocol says at the very start of a result is a failure, whatever the tool.
    """
    assert ResultVerdict(outcome="failure", detected=True, reason="the tool's own words") == classify_result(
        text, tool=tool
    )


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"isError": True, "content": [{"type": "text", "text": "no"}]}, id="MCP"),
        pytest.param({"is_error": True, "result": None}, id="flag in Python's spelling"),
        pytest.param({"success": False, "error": "sold out"}, id="success"),
        pytest.param({"ok": False, "errors": ["sold out"], "rows": []}, id="ok"),
        pytest.param({"status": "error", "message": "sold out"}, id="status"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}, id="JSON-RPC"),
        pytest.param({"data": {"a": 1}, "errors": [{"message": "no price"}]}, id="GraphQL"),
        pytest.param({"error": {"code": 404, "message": "no order"}}, id="error alone"),
        pytest.param({"error": "no order", "status_code": 404}, id="error and status"),
    ],
)
@pytest.mark.parametrize("call", [{"tool": "reserve_seat"}, bash("curl -s https://shop.example/orders")])
def test_answer_that_reports_an_error(answer: dict[str, object], call: dict[str, str]):
    """
    One JSON object that reports an error at its top is a failure, whatever the tool said of it.
    """
    expected = ResultVerdict(outcome="failure", detected=True, reason="an error in the answer")
    assert expected == classify_result(json.dumps(answer), flagged=False, **call)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"success": true, "error": null}', id="success"),
        pytest.param('{"success": false}', id="no reason"),
        pytest.param('{"status": "error"}', id="a state"),
        pytest.param('{"error": "none", "rows": [1]}', id="data beside"),
        pytest.param('{"error": "x", "data": {"rows": 1}}', id="data"),
        pytest.param('{"errors": ["x"]}', id="words"),
        pytest.param('{"jsonrpc": "2.0", "result": {"error": "x"}}', id="result"),
        pytest.param('{"jobs": [{"success": false, "error": "x"}]}', id="deeper"),
        pytest.param('{"success": false, "error": "x"} and more', id="text behind"),
        pytest.param('{"ok": false, broken}', id="no JSON"),
        pytest.param('[{"ok": false, "error": "x"}]', id="list"),
    ],
)
def test_answer_that_reports_none(text: str):
    """
    Flags without a reason, errors beside data, and errors further down are the business of whoever reads them.
    """
    assert classify_result(text, tool="reserve_seat", flagged=False) == SUCCESS


@pytest.mark.parametrize("call", [{"tool": "Read"}, {"tool": "WebFetch"}, bash("cat answer.json"), bash("jq . a.json")])
def test_answers_in_files_are_content(call: dict[str, str]):
    """
    What is read or searched may hold anything.
    """
    assert classify_result('{"success": false, "error": "sold out"}', flagged=False, **call) == SUCCESS


@pytest.mark.parametrize(
    ("text", "command", "failed"),
    [
        ("find: 'src/css': No such file or directory", "find src/css -name '*.css'", True),
        ("cat: a: No such file or directory\ncat: b: Permission denied", "cat a b | head", True),
        ("find: 'src/css': No such file or directory\nsrc/a.css", "find src -name '*.css'", False),
        ("rm: x: No such file or directory", "cat build.log", False),
        ("x\n" * 9, "cat build.log", False),
    ],
)
def test_reading_program_that_only_complains(text: str, command: str, failed: bool):
    """
    A program that reads has failed where it says nothing but, in its own name, why it could not.
    """
    assert classify_result(text, flagged=False, **bash(command)).detected == failed


TRACEBACK = "x\nTraceback (most recent call last):\n  x\nKeyError: 1"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        pytest.param(bash("cat error.log"), TRACEBACK, id="cat"),
        pytest.param(bash("cd /app && git diff HEAD~1"), TRACEBACK, id="git diff"),
        pytest.param(bash("grep -rn Traceback . | head -20"), TRACEBACK, id="grep"),
        pytest.param(bash("cat run.log"), "Exit code 1\nx", id="status in a file"),
        pytest.param({"tool": "Read"}, "Error: x", id="reading tool"),
        pytest.param({"tool": "view_file"}, TRACEBACK, id="viewing tool"),
        pytest.param({"tool": "WebSearch"}, TRACEBACK, id="search tool"),
        pytest.param({"tool": "Task"}, TRACEBACK, id="tool that runs nothing"),
        pytest.param(
            bash("make"), "src/errors.py\nno error, 0 failed, exception handled", id="words of failure in prose"
        ),
        pytest.param(bash("pytest"), "===== 3 passed in 0.12s =====", id="passed tests"),
        pytest.param(bash("mix test"), "6 doctests, 182 tests, 0 failures", id="no failures"),
        pytest.param(bash("mypy ."), "Success: no issues found in 3 source files", id="no issues"),
        pytest.param(bash("make"), "", id="nothing"),
        pytest.param(bash("make"), "in the text: Error: x", id="form within a line"),
    ],
)
def test_what_merely_speaks_of_failures(call: dict[str, str], text: str):
    """
    Content of files, results of searches and words in prose are no failures.
    """
    assert classify_result(text, flagged=False, **call) == SUCCESS


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param(
            "npm install",
            "npm warn deprecated inflight@1.0.6: This module is not supported\n\nadded 120 packages in 4s\n\n"
            "3 vulnerabilities (1 low, 2 high)\n",
            id="npm warn",
        ),
        pytest.param("npm audit", "found 0 vulnerabilities", id="npm audit zero"),
        pytest.param(
            "pytest -v",
            "tests/test_errors.py::test_error_is_raised PASSED [ 50%]\n"
            "tests/test_errors.py::test_failed_login PASSED [100%]\n\n"
            "============ 2 passed, 1 warning in 0.03s ============",
            id="pytest passed named error",
        ),
        pytest.param(
            "pytest",
            "collected 3 items\n\ntests/test_a.py x.s [100%]\n\n"
            "======= 1 passed, 1 skipped, 1 xfailed in 0.02s =======",
            id="pytest xfailed",
        ),
        pytest.param("pytest -q", "12 passed in 0.10s", id="pytest 0 failed"),
        pytest.param(
            "cargo build",
            "warning: unused variable: `error`\n --> src/main.rs:3:9\n  |\n3 |     let error = 3;\n"
            '  |         ^^^^^ help: prefix it\n\nwarning: `shop` (bin "shop") generated 1 warning\n'
            "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.24s",
            id="cargo warnings",
        ),
        pytest.param(
            "cargo test",
            "running 2 tests\ntest error::tests::failed_parse ... ok\n"
            "test error::tests::panics - should panic ... ok\n\n"
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            id="cargo test ok",
        ),
        pytest.param("go test ./...", "ok  \tshop/errors\t0.005s\n?   \tshop/cmd\t[no test files]", id="go test ok"),
        pytest.param(
            "go test -v ./...",
            "=== RUN   TestFailedLogin\n    auth_test.go:12: login error: wrong password\n"
            "--- PASS: TestFailedLogin (0.00s)\nPASS\nok  \tshop/auth\t0.003s",
            id="go test v",
        ),
        pytest.param("tsc --noEmit", "", id="tsc ok"),
        pytest.param(
            "eslint .",
            "\n/w/a.js\n  3:7  warning  Unexpected console statement  no-console\n\n"
            "\u2716 1 problem (0 errors, 1 warning)\n",
            id="eslint warnings",
        ),
        pytest.param(
            "mypy .",
            "app/a.py:3: note: By default the bodies of untyped functions are not checked\n"
            "Success: no issues found in 12 source files",
            id="mypy success",
        ),
        pytest.param("pyright", "0 errors, 0 warnings, 0 informations", id="pyright ok"),
        pytest.param("ruff check .", "All checks passed!", id="ruff ok"),
        pytest.param("ruff check --fix .", "Found 3 errors (3 fixed, 0 remaining).", id="ruff fixed"),
        pytest.param(
            "mvn -q test", "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", id="mvn ok"
        ),
        pytest.param(
            "mvn package",
            "[WARNING] Some problems were encountered while building the effective model\n[INFO] BUILD SUCCESS",
            id="mvn warn",
        ),
        pytest.param(
            "gradle test", "> Task :test\n\nBUILD SUCCESSFUL in 3s\n4 actionable tasks: 1 executed", id="gradle ok"
        ),
        pytest.param(
            "gcc a.c",
            "a.c:3:5: warning: unused variable 'error' [-Wunused-variable]\n    3 | int error;\n",
            id="gcc warning",
        ),
        pytest.param("make", "cc -o error error.c\nmake: 'all' is up to date.", id="make ok"),
        pytest.param(
            "git log --oneline -5",
            "1a2b3c4 Fix TypeError: x is not a function in cart\n2b3c4d5 error: handle missing file\n"
            "3c4d5e6 FAILED tests are retried",
            id="git log",
        ),
        pytest.param(
            "cd /w && git log -2",
            "commit 1a2b3c4\nAuthor: A <a@b.c>\nDate:   Mon\n\n    Fix crash\n\n"
            '    Traceback (most recent call last):\n      File "a.py", line 1\n    KeyError: 1\n',
            id="git log full",
        ),
        pytest.param(
            "git diff HEAD~1",
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n try:\n"
            "+    raise ValueError('x')\n except ValueError:\n+    print('error: x')\n",
            id="git diff",
        ),
        pytest.param(
            "git add -A && git show --stat HEAD",
            "commit 1a2b3c4\n\n    error: fix\n\n a.py | 3 +-\n 1 file changed",
            id="git show in chain",
        ),
        pytest.param("git status", "On branch main\nUntracked files:\n\terror.log\n\tFAILED.txt\n", id="git status"),
        pytest.param(
            "git commit -m x",
            "[main 1a2b3c4] Fix error: division by zero\n 1 file changed, 2 insertions(+)",
            id="git commit",
        ),
        pytest.param("git commit -q -m x && git log --oneline", "1a2b3c4 error: x\n", id="git commit multi"),
        pytest.param(
            "cat README.md",
            "# Errors\n\nError: this happens when...\n\n```\nTraceback (most recent call last):\n"
            '  File "a.py", line 1\nKeyError: 1\n```\n',
            id="cat readme",
        ),
        pytest.param(
            "python show_docs.py",
            "## Troubleshooting\n\nIf you see `Error: connection refused`, start the server.\n",
            id="python prints readme",
        ),
        pytest.param(
            "node scripts/changelog.js",
            "## 1.2.0\n\n- Error: messages are clearer\n- Fixed TypeError when x\n- failed tests are retried\n",
            id="changelog via node",
        ),
        pytest.param(
            "python -c 'print(open(1))'",
            "def test_error():\n    with pytest.raises(ValueError, match='failed'):\n"
            "        raise ValueError('failed')\n",
            id="test source",
        ),
        pytest.param("curl -s http://x/api", '{"data": {"id": 1}, "error": null}', id="json error null"),
        pytest.param("curl -s http://x/api", '{"data": [], "errors": []}', id="json errors empty"),
        pytest.param("curl -s http://x/api", '{"success": true, "error": "", "message": "ok"}', id="json success true"),
        pytest.param(
            "curl -s http://x/api",
            '{"metric": "error_rate", "status": "error_rate", "value": 0.1}',
            id="json status metric",
        ),
        pytest.param(
            "curl -s http://x/api/jobs/1",
            '{"id": 1, "name": "nightly", "last_error": "timeout", "state": "done"}',
            id="json record with error field",
        ),
        pytest.param(
            "curl -s http://x/api/jobs",
            '[{"id": 1, "status": "failed", "error": "boom"}, {"id": 2, "status": "ok"}]',
            id="json list of jobs",
        ),
        pytest.param("python stats.py", '{"errors": 0, "warnings": 3, "passed": 12}', id="json errors count"),
        pytest.param(
            "python stats.py", '{"errors": {"timeout": 3, "refused": 1}, "total": 400}', id="json error count in dict"
        ),
        pytest.param(
            "curl -s http://x/openapi.json",
            '{"type": "object", "error": {"type": "string"}, "properties": {}}',
            id="json openapi error schema",
        ),
        pytest.param(
            "python schema.py",
            '{"title": "Error", "type": "object", "error": {"type": "string", "description": "what failed"}}',
            id="json schema",
        ),
        pytest.param(
            "python report.py", "id,status,message\n1,failed,Error: timeout\n2,ok,\n3,error,refused\n", id="csv status"
        ),
        pytest.param("python report.py", "FAILED,3\nPASSED,4\n", id="csv FAILED"),
        pytest.param("grep -n error app.log", "12:2026-01-01 ERROR failed to bind\n13: Error: x", id="log grep"),
        pytest.param("cat app.log | grep -i error | tail -5", "Error: boom\nERROR: Could not open x\n", id="grep pipe"),
        pytest.param("cd src && rg 'Error:' .", "src/a.py:3:    raise ValueError('Error: x')\n", id="rg chain"),
        pytest.param("sed -n 1,20p tests/test_a.py", "Traceback (most recent call last):\n  ...\n", id="sed read"),
        pytest.param(
            "docker logs web",
            'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: 1\n',
            id="docker logs",
        ),
        pytest.param("kubectl logs pod/web", "panic: runtime error\n", id="kubectl logs"),
        pytest.param("journalctl -u web -n 5", "Jan 01 web: Error: x\n", id="journalctl"),
        pytest.param(
            "tail -50 /var/log/app.log", "2026 ERROR x\nTraceback (most recent call last):\n", id="tail -f log"
        ),
        pytest.param(
            "python run.py --once",
            "2026-01-01 INFO starting\n2026-01-01 WARNING retry after error: timeout\n2026-01-01 INFO done",
            id="handled tracebacks in server log",
        ),
        pytest.param(
            "bash deploy.sh",
            "curl failed, retrying\nattempt 1 failed: timeout\nattempt 2 ok\ndeployed\n",
            id="retry succeeded",
        ),
        pytest.param(
            "node --test",
            "TAP version 13\n# Error: expected to be thrown\nok 1 - throws\n1..1\n# tests 1\n# pass 1\n# fail 0\n",
            id="expected error in test",
        ),
        pytest.param(
            "npx jest",
            "PASS src/error.test.js\n  \u2713 shows Error: x (2 ms)\n\nTest Suites: 1 passed, 1 total\n"
            "Tests:       1 passed, 1 total\n",
            id="jest ok",
        ),
        pytest.param(
            "npx vitest run",
            " \u2713 src/error.test.ts (2 tests) 3ms\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n",
            id="vitest ok",
        ),
        pytest.param("rspec", "..\n\nFinished in 0.01 seconds\n2 examples, 0 failures\n", id="rspec ok"),
        pytest.param("npx mocha", "\n  errors\n    \u2714 fails with Error: x\n\n\n  1 passing (4ms)\n", id="mocha ok"),
        pytest.param(
            "ctest", "100% tests passed, 0 tests failed out of 4\n\nTotal Test time (real) =   0.02 sec", id="ctest"
        ),
        pytest.param(
            "python -m unittest",
            "..\n----------------------------------------------------------------------\nRan 2 tests in 0.000s\n\nOK",
            id="unittest ok",
        ),
        pytest.param(
            "python -m unittest",
            "x\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\n"
            "OK (expected failures=1)",
            id="unittest expected failures",
        ),
        pytest.param("phpunit", "OK (12 tests, 30 assertions)", id="phpunit ok"),
        pytest.param(
            "cmake -B build",
            "-- Looking for pthread.h - not found\n-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)\n"
            "-- Configuring done\n-- Generating done\n",
            id="cmake not found msg",
        ),
        pytest.param(
            "cmake -B build",
            "-- Performing Test HAVE_X - Failed\n-- Configuring done\n",
            id="cmake performing test failed",
        ),
        pytest.param(
            "./configure",
            "checking for error.h... no\nchecking whether build fails... no\nconfigure: creating ./config.status\n",
            id="configure",
        ),
        pytest.param("pip install x", "Collecting x\nSuccessfully installed x-1.0 error-handler-2.0\n", id="pip ok"),
        pytest.param(
            "docker build .", "#5 [2/3] RUN make test\n#5 0.4 0 errors, 0 failures\n#5 DONE 0.5s\n", id="docker build"
        ),
        pytest.param(
            "terraform plan", "No changes. Your infrastructure matches the configuration.", id="terraform plan"
        ),
        pytest.param("python lint.py", "errors: 0\nwarnings: 2\nfailed: 0\n", id="lint table 0"),
        pytest.param(
            "cat > a.py <<'EOF'\nraise ValueError('x')\nEOF\npython -m py_compile a.py && echo ok",
            "ok",
            id="echo heredoc",
        ),
        pytest.param("python -c 'print(repr(ValueError(1)))'", "ValueError(1)", id="python doctest print"),
        pytest.param(
            "bash ci.sh",
            "+ rm -rf build\n+ test -f x\n+ echo 'Error: none'\nError: none\n+ exit 0\n",
            id="set -x with or true",
        ),
        pytest.param("make || true", "Error 0\nall good\n", id="exit code grep fallback"),
        pytest.param("prove -v", "ok 1 - x\nnot ok 2 - y # TODO not written\n1..2\n", id="tap todo"),
        pytest.param(
            "wrk http://x",
            "  Socket errors: connect 0, read 0, write 0, timeout 0\nRequests/sec: 100\n",
            id="bench errors column",
        ),
        pytest.param("ab -n 10 http://x/", "Failed requests:        0\nNon-2xx responses: 0\n", id="ab"),
        pytest.param(
            "curl -s http://x/",
            "<!doctype html><html><title>Error handling in Go</title><body><h1>Error: a guide</h1></body></html>",
            id="html page ok",
        ),
        pytest.param(
            "psql -c 'select * from log'",
            " id | level | message \n----+-------+---------\n  1 | ERROR | Error: boom\n(1 row)\n",
            id="sql rows",
        ),
        pytest.param(
            "mytool --help",
            "usage: mytool [-h]\n\noptions:\n  --fail-on-error   exit 1 on error\n  -h, --help  show help\n",
            id="help text",
        ),
        pytest.param(
            "python gen.py",
            'Example output:\n\n    Traceback (most recent call last):\n      File "x.py", line 1\n'
            "    KeyError: 'a'\n\nThe end.",
            id="print of tb docs in python",
        ),
    ],
)
@pytest.mark.parametrize("flagged", [None, False])
def test_output_of_what_succeeded(command: str, text: str, flagged: bool | None):
    """
    Passed tests, clean builds, warnings, logs, sources, documents and data that speak of errors are successes.
    """
    assert classify_result(text, flagged=flagged, **bash(command)) == SUCCESS


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param(
            "pytest -q 2>&1 | tail -3",
            "FAILED tests/test_a.py::test_b - assert 1 == 2\nFAILED tests/test_a.py::test_c - KeyError: 'a'\n"
            "2 failed, 30 passed in 1.20s",
            id="pytest tail",
        ),
        pytest.param(
            "pytest -q 2>&1 | tail -2",
            "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'x'\n1 error in 0.12s",
            id="pytest tail q error",
        ),
        pytest.param(
            "pytest 2>&1 | tail -4",
            "!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n"
            "=============================== 1 error in 0.10s ===============================",
            id="pytest collection only",
        ),
        pytest.param(
            "python -m unittest 2>&1 | tail -3", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", id="unittest"
        ),
        pytest.param(
            "npx jest 2>&1 | tail -5",
            "Test Suites: 1 failed, 3 passed, 4 total\nTests:       2 failed, 10 passed, 12 total\n"
            "Snapshots:   0 total\nTime:        1.2 s",
            id="jest",
        ),
        pytest.param(
            "npx vitest run 2>&1 | tail -4",
            " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 10 passed (12)\n"
            "   Start at  10:00:00\n   Duration  1.2s",
            id="vitest",
        ),
        pytest.param(
            "npx mocha 2>&1 | tail",
            "  3 passing (10ms)\n  1 failing\n\n  1) cart\n       adds:\n     AssertionError: expected 1 to equal 2\n",
            id="mocha",
        ),
        pytest.param(
            "node --test 2>&1 | tail -8",
            "# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 40",
            id="node test",
        ),
        pytest.param(
            "node --test 2>&1 | tail -8",
            "\u2139 tests 3\n\u2139 suites 0\n\u2139 pass 2\n\u2139 fail 1\n\u2139 cancelled 0\n\u2139 skipped "
            "0\n\u2139 todo 0\n\u2139 duration_ms 40",
            id="node test spec",
        ),
        pytest.param(
            "go test ./... 2>&1 | tail -3",
            "    a_test.go:5: got 1, want 2\nFAIL\tshop\t0.003s\nFAIL",
            id="go test tail",
        ),
        pytest.param("go build ./... 2>&1 | head", "# shop\n./main.go:5:5: undefined: foo", id="go build"),
        pytest.param("go vet ./... 2>&1 | tail", "# shop\nvet: ./main.go:5:5: undefined: foo", id="go vet"),
        pytest.param(
            "cargo test 2>&1 | tail -3",
            "failures:\n    tests::adds\n\n"
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            "\nerror: test failed, to rerun pass `--lib`",
            id="cargo test",
        ),
        pytest.param(
            "cargo build 2>&1 | tail -2",
            "For more information about this error, try `rustc --explain E0382`.\n"
            'error: could not compile `web` (bin "web") due to 1 previous error',
            id="cargo build",
        ),
        pytest.param("tsc --noEmit | tail", "src/a.ts(3,5): error TS2304: Cannot find name 'foo'.", id="tsc"),
        pytest.param(
            "tsc --noEmit --pretty | tail -3",
            "\x1b[96msrc/a.ts\x1b[0m:\x1b[93m3\x1b[0m:\x1b[93m5\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2304: "
            "\x1b[0mCannot find name 'foo'.\n\n\nFound 1 error in src/a.ts\x1b[90m:3\x1b[0m",
            id="tsc pretty",
        ),
        pytest.param(
            "npx eslint . | tail",
            "  3:7  error  'x' is not defined  no-undef\n\n\u2716 1 problem (1 error, 0 warnings)\n",
            id="eslint",
        ),
        pytest.param(
            "mypy . | tail -2",
            'app/a.py:3: error: Name "x" is not defined  [name-defined]\n'
            "Found 1 error in 1 file (checked 3 source files)",
            id="mypy",
        ),
        pytest.param(
            "pyright | tail -2",
            '  /w/a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)\n1 error, 0 warnings, 0 informations ',
            id="pyright",
        ),
        pytest.param("ruff check . | tail -2", "Found 3 errors.\n[*] 1 fixable with the `--fix` option.", id="ruff"),
        pytest.param(
            "gcc a.c 2>&1 | head -3",
            "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared (first use in this function)",
            id="gcc",
        ),
        pytest.param(
            "make 2>&1 | tail -2",
            "collect2: error: ld returned 1 exit status\nmake: *** [Makefile:4: app] Error 1",
            id="ld",
        ),
        pytest.param("gcc a.c b.c 2>&1 | tail -1", "collect2: error: ld returned 1 exit status", id="ld head"),
        pytest.param(
            "javac A.java 2>&1 | tail",
            "A.java:3: error: ';' expected\n        int x = 3\n                 ^\n1 error",
            id="javac",
        ),
        pytest.param(
            "mvn test 2>&1 | tail -5",
            "[INFO] BUILD FAILURE\n"
            "[INFO] ------------------------------------------------------------------------\n"
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin: There are test "
            "failures.",
            id="mvn",
        ),
        pytest.param(
            "./gradlew test 2>&1 | tail -3", "BUILD FAILED in 3s\n4 actionable tasks: 1 executed", id="gradle"
        ),
        pytest.param("rspec 2>&1 | tail -3", "3 examples, 1 failure\n\nFailed examples:\n", id="rspec"),
        pytest.param("phpunit | tail -3", "FAILURES!\nTests: 3, Assertions: 5, Failures: 1.", id="phpunit"),
        pytest.param("phpunit | tail -3", "ERRORS!\nTests: 3, Assertions: 5, Errors: 1.", id="phpunit errors"),
        pytest.param("mix test | tail", "Finished in 0.1 seconds\n3 tests, 1 failure\n", id="exunit"),
        pytest.param(
            "dotnet test | tail",
            "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms - shop.dll "
            "(net8.0)",
            id="dotnet",
        ),
        pytest.param("npm install 2>&1 | tail -3", "npm error code E404\nnpm error 404 Not Found", id="npm"),
        pytest.param(
            "pnpm run build 2>&1 | tail -2", "src/a.ts: bad\n ELIFECYCLE  Command failed with exit code 2.", id="pnpm"
        ),
        pytest.param(
            "pnpm i 2>&1 | tail -2", ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"', id="pnpm err"
        ),
        pytest.param(
            "yarn build 2>&1 | tail -2",
            "error Command failed with exit code 1.\n"
            "info Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
            id="yarn",
        ),
        pytest.param("pip install foo 2>&1 | tail -1", "ERROR: No matching distribution found for foo", id="pip"),
        pytest.param(
            "uv sync 2>&1 | tail -3",
            "  \u00d7 No solution found when resolving dependencies:\n"
            "  \u2570\u2500\u25b6 Because there is no version of x and your project depends on x, we can\n"
            "      conclude that your project's requirements are unsatisfiable.",
            id="uv",
        ),
        pytest.param(
            "docker build . 2>&1 | tail -3",
            'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2',
            id="docker build",
        ),
        pytest.param(
            "git push 2>&1 | tail -4",
            " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to '../shop.git'\n"
            "hint: Updates were rejected",
            id="git push",
        ),
        pytest.param(
            "git merge x || true",
            "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\n"
            "Automatic merge failed; fix conflicts and then commit the result.",
            id="git merge",
        ),
        pytest.param(
            "psql -f m.sql 2>&1 | tail -2",
            'psql:m.sql:4: ERROR:  relation "x" does not exist\nLINE 1: select * from x;',
            id="psql",
        ),
        pytest.param(
            "psql -c 'select x' 2>&1",
            'ERROR:  column "x" does not exist\nLINE 1: select x\n               ^',
            id="psql -c",
        ),
        pytest.param(
            "node a.js 2>&1 | tail -12",
            "/w/a.js:3\nfoo();\n^\n\nReferenceError: foo is not defined\n"
            "    at Object.<anonymous> (/w/a.js:3:1)\n"
            "    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n\nNode.js v20.11.0",
            id="node stack",
        ),
        pytest.param(
            "npx tsx a.ts 2>&1 | tail",
            "TypeError: Cannot read properties of undefined (reading 'x')\n    at main (/w/a.ts:3:5)\n"
            "    at Object.<anonymous> (/w/a.ts:9:1)",
            id="ts-node",
        ),
        pytest.param(
            "ruby a.rb 2>&1",
            "a.rb:3:in `foo': undefined method `bar' for nil:NilClass (NoMethodError)\n\tfrom a.rb:7:in `<main>'",
            id="ruby",
        ),
        pytest.param(
            "php a.php",
            "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /w/a.php:3\nStack trace:\n"
            "#0 {main}\n  thrown in /w/a.php on line 3",
            id="php",
        ),
        pytest.param(
            "curl -sS http://x 2>&1 | head",
            "curl: (7) Failed to connect to x port 80 after 0 ms: Couldn't connect to server",
            id="curl",
        ),
        pytest.param(
            "terraform apply 2>&1 | tail",
            "\u2577\n\u2502 Error: Unsupported argument\n\u2502 \n\u2502   on main.tf line 3:\n\u2575",
            id="terraform",
        ),
        pytest.param(
            "kubectl apply -f x.yaml 2>&1 | tail",
            'Error from server (NotFound): namespaces "x" not found',
            id="kubectl",
        ),
        pytest.param("kotlinc a.kt 2>&1", "a.kt:3:5: error: unresolved reference: foo", id="kotlin"),
        pytest.param("swift build 2>&1 | tail", "/w/main.swift:3:1: error: cannot find 'foo' in scope", id="swift"),
        pytest.param("./app 2>&1 | tail", "loading\nSegmentation fault (core dumped)", id="segfault"),
        pytest.param(
            "git commit -m x 2>&1 | tail -5",
            "ruff.....................................................................Failed\n- hook id: ruff\n"
            "- exit code: 1\n",
            id="precommit",
        ),
        pytest.param(
            "black --check . 2>&1 | tail -3",
            "would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.",
            id="black",
        ),
        pytest.param(
            "npx playwright test | tail -3",
            "  1 failed\n    tests/a.spec.ts:3:1 \u203a opens \u2500\u2500\u2500\u2500\u2500\u2500\n  3 passed (4.2s)",
            id="playwright",
        ),
        pytest.param(
            "mix compile 2>&1 | tail -3",
            "== Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex:3: undefined function foo/0",
            id="elixir compile",
        ),
        pytest.param(
            "deno run a.ts 2>&1 | tail",
            "error: Uncaught (in promise) Error: boom\n    at file:///w/a.ts:3:7",
            id="deno",
        ),
        pytest.param(
            "clang a.c 2>&1 | tail -1",
            "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
            id="clang link",
        ),
        pytest.param(
            "aws s3 ls s3://x 2>&1 | head -1",
            "An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation: The specified bucket "
            "does not exist",
            id="aws",
        ),
    ],
)
def test_failure_behind_a_pipe(command: str, text: str):
    """
    The last lines of a tool that failed give it away although the pipe's status is that of `tail`.
    """
    assert classify_result(text, flagged=False, **bash(command)).detected


def test_test_run_is_judged_although_it_is_searched():
    """
    A command that begins with reading is judged by its output where it also runs a test or build tool.
    """
    assert classify_result(TRACEBACK, **bash("cat setup.cfg; pytest | grep x")).detected


def test_success_that_was_reported_outweighs_a_status_in_the_text():
    """
    Where the tool says that it succeeded, a status in its output is not its own.
    """
    assert classify_result("Exit code 1", flagged=False, **bash("./run-children")) == SUCCESS


def test_long_output_is_searched_at_both_ends():
    """
    Of a very long result the first and the last part are searched.
    """
    filler = "y\n" * MAX_LOOKED_AT

    assert classify_result(f"{TRACEBACK}\n{filler}", **bash("x")).detected
    assert classify_result(f"{filler}{TRACEBACK}\nz", **bash("x")).detected
    assert not classify_result(f"{filler}{TRACEBACK}\n{filler}", **bash("x")).detected


@given(st.text(), st.text(), st.text(), st.none() | st.booleans(), st.none() | st.integers())
def test_any_result_is_judged(text: str, tool: str, arguments: str, flagged: bool | None, exit_code: int | None):
    """
    Judging raises for nothing, and only a failure can be detected.
    """
    verdict = classify_result(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)

    assert verdict.outcome in {"failure", "success", "ignored"}
    assert verdict.outcome == "failure" or not verdict.detected


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "\r\n", "a\n", "a:1:", "a: ", "= ", "1 ", "FAILED ", "Exit", "<", "(no output)"]
)
def test_hostile_result_costs_little(unit: str):
    """
    A megabyte of anything is judged in a fraction of a second.
    """
    text = unit * (1_000_000 // len(unit))

    assert costs_little(lambda: classify_result(text, **bash("make")))
    assert costs_little(lambda: classify_result(text, exit_code=1, **bash("grep x")))


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recorded runs are not beside this checkout")
def test_recorded_tool_errors():
    """
    In a recorded run all failures are found, and they are as many as a reader counted.
    """
    runs = json.loads((TRANSCRIPTS / "openai_chat_taubench/gpt-4o-airline.json").read_text())
    results = [message for run in runs for message in run["traj"] if message["role"] == "tool"]
    failures = [
        result for result in results if classify_result(result["content"], tool=result["name"]).outcome == "failure"
    ]

    assert len(results) == 1164
    assert len(failures) == 73


@pytest.mark.cost
@pytest.mark.parametrize("label", ["[Exit", "Wall time:", "Output:", "Chunk ID:"])
def test_a_line_of_labels_takes_no_longer_than_others(label: str):
    """Each label may have stood for the rest of the line, which was tried in all combinations: 20 took minutes."""
    text = f"{label} a " * 60 + "\nnothing else"

    assert costs_little(lambda: classify_result(text, tool="bash", arguments="make"))
