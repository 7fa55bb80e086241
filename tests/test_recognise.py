"""What counts as a failure."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.exceptions import RunHalted
from otel_errcompact.recognise import CONTROL_FLOW, MAX_LOOKED_AT, Judgement, is_control_flow, judge

TRANSCRIPTS = Path(__file__).parents[1].parent / "shared/data/transcripts"

FAILURE = Judgement(outcome="failure")
SUCCESS = Judgement(outcome="success")


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
    assert Judgement(outcome="ignored", reason=reason) == judge(text, flagged=flagged)


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
    assert judge(text, flagged=True).outcome == "failure"


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
    assert judge(text, tool=tool, flagged=True).outcome == outcome


def test_running_command_is_ignored():
    """
    Exit status -1 stands for a command that still runs.
    """
    assert Judgement(outcome="ignored", reason="still running") == judge("...", exit_code=-1, **bash("make"))


@pytest.mark.parametrize(
    ("text", "command", "exit_code", "outcome"),
    [
        pytest.param("", "rg needle", 1, "ignored", id="search without a match"),
        pytest.param("Exit code 1", "cd /app && grep -r needle src", None, "ignored", id="status in the text"),
        pytest.param("(no output)\n[exit code: 1]", "diff a b", None, "ignored", id="comparison"),
        pytest.param("", "which jq", 1, "ignored", id="missing program"),
        pytest.param("grep: x: Is a directory", "grep needle x", 2, "failure", id="search that failed"),
        pytest.param("", "make test", 1, "failure", id="another command"),
        pytest.param("", "grep x y && make", 1, "failure", id="search before another command"),
    ],
)
def test_empty_search_is_ignored(text: str, command: str, exit_code: int | None, outcome: str):
    """
    A search that says nothing and ends with a status has found nothing; it did not fail.
    """
    assert outcome == judge(text, exit_code=exit_code, **bash(command)).outcome


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
    assert Judgement(outcome="failure", reason=reason) == judge(text, **bash("make x"), **flags)


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
    assert Judgement(outcome="failure", detected=True, reason=reason) == judge(text, **bash("make test | tail"))


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
    assert Judgement(outcome="failure", detected=True, reason="the tool's own words") == judge(text, tool=tool)


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
    expected = Judgement(outcome="failure", detected=True, reason="an error in the answer")
    assert expected == judge(json.dumps(answer), flagged=False, **call)


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
    assert judge(text, tool="reserve_seat", flagged=False) == SUCCESS


@pytest.mark.parametrize("call", [{"tool": "Read"}, {"tool": "WebFetch"}, bash("cat answer.json"), bash("jq . a.json")])
def test_answers_in_files_are_content(call: dict[str, str]):
    """
    What is read or searched may hold anything.
    """
    assert judge('{"success": false, "error": "sold out"}', flagged=False, **call) == SUCCESS


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
    assert judge(text, flagged=False, **bash(command)).detected == failed


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
    assert judge(text, flagged=False, **call) == SUCCESS


def test_test_run_is_judged_although_it_is_searched():
    """
    A command that begins with reading is judged by its output where it also runs a test or build tool.
    """
    assert judge(TRACEBACK, **bash("cat setup.cfg; pytest | grep x")).detected


def test_success_that_was_reported_outweighs_a_status_in_the_text():
    """
    Where the tool says that it succeeded, a status in its output is not its own.
    """
    assert judge("Exit code 1", flagged=False, **bash("./run-children")) == SUCCESS


def test_long_output_is_searched_at_both_ends():
    """
    Of a very long result the first and the last part are searched.
    """
    filler = "y\n" * MAX_LOOKED_AT

    assert judge(f"{TRACEBACK}\n{filler}", **bash("x")).detected
    assert judge(f"{filler}{TRACEBACK}\nz", **bash("x")).detected
    assert not judge(f"{filler}{TRACEBACK}\n{filler}", **bash("x")).detected


@given(st.text(), st.text(), st.text(), st.none() | st.booleans(), st.none() | st.integers())
def test_any_result_is_judged(text: str, tool: str, arguments: str, flagged: bool | None, exit_code: int | None):
    """
    Judging raises for nothing, and only a failure can be detected.
    """
    judgement = judge(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)

    assert judgement.outcome in {"failure", "success", "ignored"}
    assert judgement.outcome == "failure" or not judgement.detected


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "\r\n", "a\n", "a:1:", "a: ", "= ", "1 ", "FAILED ", "Exit", "<", "(no output)"]
)
def test_hostile_result_costs_little(unit: str):
    """
    A megabyte of anything is judged in a fraction of a second.
    """
    text = unit * (1_000_000 // len(unit))

    start = time.process_time()
    judge(text, **bash("make"))
    judge(text, exit_code=1, **bash("grep x"))

    assert time.process_time() - start < 0.3


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recorded runs are not beside this checkout")
def test_recorded_tool_errors():
    """
    In a recorded run all failures are found, and they are as many as a reader counted.
    """
    runs = json.loads((TRANSCRIPTS / "openai_chat_taubench/gpt-4o-airline.json").read_text())
    results = [message for run in runs for message in run["traj"] if message["role"] == "tool"]
    failures = [result for result in results if judge(result["content"], tool=result["name"]).outcome == "failure"]

    assert len(results) == 1164
    assert len(failures) == 73
