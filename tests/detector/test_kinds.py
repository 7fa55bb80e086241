"""Which failures waiting helps, and which ended before anything was executed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.kinds import MAX_CAUSE, kind_of
from otel_errcompact.errors import Facts, FailureKind, RawError
from tests.clock import costs_little
from tests.extract.reading import extract


def kind(text: str, *, tool: str = "bash", exit_code: int | None = None) -> str:
    raw = RawError(text=text, tool=tool, exit_code=exit_code)
    found = kind_of(raw, classify(raw).facts)
    assert not (found.transient and found.rejected)
    return "transient" if found.transient else "rejected" if found.rejected else "executed"


TRACE = 'Traceback (most recent call last):\n  File "/app/tool.py", line 7, in load\n    answer = get()\n'


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        # HTTP
        ("HTTP Error 503: Service Unavailable", None),
        ("Error code: 429 - {'error': {'message': 'Rate limit reached', 'type': 'rate_limit'}}", None),
        (f"{TRACE}requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: https://x.test/a", None),
        (f"{TRACE}httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'https://x.test'", None),
        (f"{TRACE}aiohttp.client_exceptions.ClientResponseError: 504, message='Gateway Timeout', url='x'", None),
        ("Request failed with status code 408", None),
        ('{"status":503,"title":"Service Unavailable","detail":"maintenance"}', None),
        ("<html><head><title>502 Bad Gateway</title></head><body></body></html>", None),
        ("curl: (22) The requested URL returned error: 503", 22),
        ('{"message":"slow down, please","retry_after":5}', None),
        ('{"error":{"code":403,"message":"secondary limit"},"headers":{"Retry-After": "60"}}', None),
        ("429 You exceeded your current quota. Please retry in 31.5s.", None),
        # Limits and load
        ('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', None),
        ("An error occurred (ThrottlingException) when calling the Put operation: Rate exceeded", None),
        (f"{TRACE}openai.RateLimitError: too many tokens per minute", None),
        ("rpc error: code = Unavailable desc = no healthy upstream", None),
        ("rpc error: code = ResourceExhausted desc = too many calls", None),
        ("FATAL:  sorry, too many connections already", None),
        ("The service is temporarily unavailable. Try again later.", None),
        # Time
        (f"{TRACE}TimeoutError", None),
        (f"{TRACE}requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out.", None),
        (f"{TRACE}subprocess.TimeoutExpired: Command '['make']' timed out after 30 seconds", None),
        ("rpc error: code = DeadlineExceeded desc = context deadline exceeded", None),
        ("Error: connect ETIMEDOUT 10.0.0.1:5432", None),
        ("MCP error -32001: Request timed out", None),
        ("Command timed out after 2m 0.0s", None),
        ("java.net.SocketTimeoutException: Read timed out\n\tat com.x.A.b(A.java:1)", None),
        ("page.goto: Timeout 30000ms exceeded.", None),
        ("make: nothing", 124),
        # Connections
        (f"{TRACE}ConnectionRefusedError: [Errno 111] Connection refused", None),
        (f"{TRACE}httpx.ConnectError: All connection attempts failed", None),
        (f"{TRACE}ConnectionResetError: [Errno 104] Connection reset by peer", None),
        ("dial tcp 127.0.0.1:80: connect: connection refused", None),
        ("Error: socket hang up", None),
        ("curl: (7) Failed to connect to localhost port 80: Connection refused", 7),
        ("fetch failed: getaddrinfo EAI_AGAIN registry.npmjs.org", None),
        ("ssh: Could not resolve hostname x: Temporary failure in name resolution", 255),
        # Killed
        ("Killed", 137),
        ("", 137),
        ("Terminated", 143),
        ("go: build failed: signal: killed", None),
        # Locks
        (f"{TRACE}sqlite3.OperationalError: database is locked", None),
        ("fatal: Unable to create '/app/.git/index.lock': File exists.\n\nAnother git process seems to run", 128),
        ("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12 (apt)", 100),
        ("ERROR:  could not serialize access due to concurrent update", None),
        ("ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction", None),
        (f"{TRACE}psycopg2.errors.DeadlockDetected: deadlock detected", None),
        (f"{TRACE}BlockingIOError: [Errno 11] Resource temporarily unavailable", None),
        ("Error: Error acquiring the state lock", None),
        # What is under way
        ("pod web-1 is Pending, not ready yet", None),
        ("deployment in progress: 2 of 5 replicas updated", None),
        ("An operation is already in progress for stack shop", None),
        ("index is still building", None),
        ("the model is warming up", None),
    ],
)  # fmt: skip
def test_waiting_helps(text: str, exit_code: int | None) -> None:
    """A failure whose own words say that waiting helps is transient."""
    assert kind(text, exit_code=exit_code) == "transient"


@pytest.mark.parametrize(
    ("text", "tool", "exit_code"),
    [
        # Edits
        (("[Your proposed edit has introduced new syntax error(s). Please read this error message carefully and then "
         "retry editing the file.]\n\nERRORS:\n- E999 IndentationError: unexpected indent\n"), "edit", None),
        ("No exact match found in /a.py for\n```\nx\n```", "run_ipython", None),
        ("<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", "Edit", None),
        ("<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", "Write",
         None),
        ("No replacement was performed, old_str `a` did not appear verbatim in /a.py.", "str_replace_editor", None),
        ("apply_patch verification failed: Failed to find expected lines in /a.py:\nx", "apply_patch", None),
        ("old_string not found", "edit", None),
        # Arguments
        (("<tool_use_error>InputValidationError: Edit failed due to the following issue:\nThe required parameter "
         "`old_string` is missing</tool_use_error>"), "Edit", None),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}', "search", None),
        ("MCP error -32602: Invalid arguments for tool search: [...]", "search", None),
        (("Error executing tool find_order: 1 validation error for find_orderArguments\norder\n  Field required "
         "[type=missing, input_value={}, input_type=dict]"), "find_order", None),
        ("1 validation error for call[find_order]\norder\n  Missing required argument [type=missing_argument]",
         "find_order", None),
        ((f"{TRACE}pydantic_core._pydantic_core.ValidationError: 1 validation error for FindOrderInput\norder\n  "
         "Field required [type=missing, input_value={}, input_type=dict]"), "find_order", None),
        (f"{TRACE}TypeError: find_order() missing 1 required positional argument: 'order'", "shop__find_order", None),
        ("Parameter `old_str` is required for command: str_replace.", "str_replace_editor", None),
        ("Received tool input did not match expected schema", "search", None),
        ("Input validation error: 'path' is a required property", "read", None),
        # Tools
        ("<tool_use_error>Error: No such tool available: find_shop</tool_use_error>", "find_shop", None),
        ("MCP error -32601: Method not found", "find_shop", None),
        ("find_shop is not a valid tool, try one of [search].", "find_shop", None),
        (f"{TRACE}fastmcp.exceptions.NotFoundError: Unknown tool: 'find_shop'", "find_shop", None),
        ("NoSuchToolError: Model tried to call unavailable tool 'find_shop'.", "find_shop", None),
        ("Tool 'find_shop' not found", "find_shop", None),
        # Commands
        ("bash: foo: command not found", "bash", 127),
        ("/bin/sh: 1: foo: not found", "bash", 127),
        ("zsh: command not found: foo", "bash", 127),
        ("fish: Unknown command: foo", "bash", 127),
        ("'foo' is not recognized as an internal or external command,\noperable program or batch file.", "bash", 1),
        ("usage: prog [-h] x\nprog: error: unrecognized arguments: --y", "bash", 2),
        ("error: unexpected argument '--foo' found\n\nUsage: cargo test [OPTIONS]", "bash", 1),
        ("ls: unrecognized option '--foo'\nTry 'ls --help' for more information.", "bash", 2),
        ("git: 'foo' is not a git command. See 'git --help'.", "bash", 1),
        ('npm error Missing script: "foo"', "bash", 1),
        ("make: *** No rule to make target 'foo'.  Stop.", "bash", 2),
        ('Error: unknown command "foo" for "kubectl"', "bash", 1),
    ],
)  # fmt: skip
def test_nothing_was_executed(text: str, tool: str, exit_code: int | None) -> None:
    """A call that was turned down before anything ran is rejected."""
    assert kind(text, tool=tool, exit_code=exit_code) == "rejected"


@pytest.mark.parametrize(
    ("text", "tool", "exit_code"),
    [
        # A time-out that is only mentioned
        ('HTTP 400 Bad Request: {"error": "timeout must be a number"}', "fetch", None),
        ("rpc error: code = InvalidArgument desc = timeout must be positive", "call", None),
        (f"{TRACE}ValueError: connection timed out must be one of a, b", "call", None),
        (f"{TRACE}KeyError: 'timed out'", "call", None),
        ("assert 'timed out' == 'ok'", "bash", 1),
        (("=== FAILURES ===\n___ test_x ___\n\n    def test_x():\n>       assert say() == 'timed out'\n"
         "E       AssertionError: assert 'ok' == 'timed out'\n\ntests/test_x.py:3: AssertionError\n"
         "=== short test summary info ===\n"
         "FAILED tests/test_x.py::test_x - AssertionError: assert 'ok' == 'timed out'\n"
         "=== 1 failed in 0.02s ==="), "bash", 1),
        (("2026-01-01 WARN connection refused, using the cache\nTraceback (most recent call last):\n"
         '  File "/app/a.py", line 3, in f\n    x()\nKeyError: \'a\''), "bash", 1),
        ("src/a.c:3:1: error: unknown type name 'timeout_exceeded'", "bash", 1),
        # What waiting does not help
        ("HTTP Error 501: Not Implemented", "fetch", None),
        ("HTTP Error 404: Not Found", "fetch", None),
        ("Error code: 429 - {'error': {'code': 'insufficient_quota', 'message': 'You exceeded your current quota'}}",
         "chat", None),
        ("curl: (6) Could not resolve host: x.invalid", "bash", 6),
        ("Error: getaddrinfo ENOTFOUND db.example.invalid", "bash", 1),
        (f"{TRACE}OSError: [Errno 98] Address already in use", "serve", None),
        (f"{TRACE}OSError: [Errno 28] No space left on device", "write", None),
        ("fatal: a rebase is in progress", "bash", 128),
        ("Migrations are pending. To resolve this issue, run: bin/rails db:migrate", "bash", 1),
        ("the record is not ready to be signed: field total is empty", "sign", None),
        # Something may have been executed
        ((f"{TRACE}pydantic_core._pydantic_core.ValidationError: 1 validation error for CreateOrder\norder\n  "
         "Field required [type=missing, input_value={}, input_type=dict]"), "create_order", None),
        ("Error executing tool pay: 1 validation error for Receipt\nid\n  Field required [type=missing]", "pay", None),
        ("HTTP 422: name: field required", "create_user", None),
        (f"{TRACE}TypeError: helper() missing 1 required positional argument: 'x'", "find_order", None),
        (f"{TRACE}subprocess.CalledProcessError: Command 'x' returned non-zero exit status 127.", "deploy", None),
        ("make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.", "bash", 2),
        ("rpc error: code = InvalidArgument desc = name is empty", "call", None),
        ("cat: a.txt: No such file or directory", "bash", 1),
        ("gift card balance is not enough", "pay", None),
        ("", "bash", 1),
    ],
)  # fmt: skip
def test_neither(text: str, tool: str, exit_code: int | None) -> None:
    """What is only mentioned, and what may have been executed, is neither."""
    assert kind(text, tool=tool, exit_code=exit_code) == "executed"


@given(st.text(), st.text(), st.text(), st.none() | st.integers(), st.sampled_from(["http", "pytest", "prose", "rpc"]))
def test_a_kind_is_found_for_anything(text: str, name: str, cause: str, exit_code: int | None, form: str) -> None:
    """Whatever the facts are, there is a kind, and never both."""
    raw = RawError(text=text, tool=name, exit_code=exit_code)
    found = kind_of(raw, Facts(type=name, cause=cause, format=form))
    assert found in {FailureKind(), FailureKind(transient=True), FailureKind(rejected=True)}


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["a", " ", "'", "timed ", "lock ", "1 validation error for ", "connection ", "HTTP "])
def test_a_hostile_cause_costs_little(unit: str) -> None:
    """Only the beginning of a cause is looked at."""
    raw = RawError(text=unit * 100_000)
    found = Facts(type=unit * 100_000, cause=unit * 100_000, format="http")
    assert costs_little(lambda: kind_of(raw, found))
    assert MAX_CAUSE <= 10_000


def test_a_validation_error_of_a_tool_without_a_name_is_executed() -> None:
    """Whose input it was cannot be told."""
    found = Facts(type="pydantic_core.ValidationError", cause="1 validation error for Pay", format="python")
    assert kind_of(RawError(text="1 validation error for Pay"), found) == FailureKind()


@pytest.mark.parametrize(
    ("command", "exit_code", "waits"),
    [
        ("curl -sf localhost:8080/health", 7, True),
        ("curl -sf localhost:8080/health", 22, False),
        ("pg_isready -h db", 2, True),
        ("nc -z db 5432", 1, True),
        ("./wait.sh", 7, False),
    ],
)
def test_a_status_that_means_not_yet_is_transient(command: str, exit_code: int, waits: bool) -> None:
    """The program's own page says so, whatever it has printed."""
    error = RawError(text="no answer", tool="bash", arguments=json.dumps({"command": command}), exit_code=exit_code)
    assert kind_of(error, extract(error)).transient is waits


WAITING = [line.split("\t") for line in Path(__file__).with_name("waiting.txt").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("written", "waits", "of", "stays", "of_stays"), [("1", 68, 80, 73, 80), ("2", 51, 60, 109, 120)]
)
def test_answers_of_those_who_wait(written: str, waits: int, of: int, stays: int, of_stays: int) -> None:
    """
    Sentences by two who had not seen the words: of what comes too early, and of what waiting does not help.

    Before the words were written 23 and 34 of the first were found. The words were written with the first set at hand;
    of the second, at its first sight, 52 were found, and 17 of the others were taken for such.
    """
    counts = Counter(
        (sign, kind(text, tool="poll_job") == "transient") for number, sign, text in WAITING if number == written
    )
    assert counts["+", True] >= waits
    assert counts["-", False] >= stays
    assert (counts["+", True] + counts["+", False], counts["-", True] + counts["-", False]) == (of, of_stays)
