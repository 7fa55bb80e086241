"""The local service counts from one command to the next; a service that is away or stuck costs next to nothing."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otel_errcompact_hosts.client.posting import ask, post
from packages.hosts.tests.wrapping.programs import Ended, Host
from packages.hosts.tests.wrapping.test_failures import CAUSE, FAILS, RAW, find_kept

pytestmark = pytest.mark.programs


@contextmanager
def serving(host: Host) -> Iterator[Path]:
    """The real service, as its client starts it."""
    path = host.folder / "run" / "errcompact.sock"
    path.parent.mkdir(mode=0o700)
    host.environ["OTEL_ERRCOMPACT_SERVICE"] = str(path)
    # On a busy machine its first answer takes long, since much is imported for it.
    host.environ["OTEL_ERRCOMPACT_EXEC_ANSWER_SECONDS"] = "60"
    with host.start(sys.executable, "-m", "otel_errcompact_hosts.service") as service:
        ends = time.monotonic() + 60
        while not _answers(path):
            assert time.monotonic() < ends, "the service has not begun"
            assert service.poll() is None, "the service has ended"
            time.sleep(0.05)
        try:
            yield path
        finally:
            service.terminate()


def _answers(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            return True
    except OSError:
        return False


@contextmanager
def listening(host: Host, answer: bytes) -> Iterator[list[bytes]]:
    """What takes each connection and gives one answer to all; none if it is empty."""
    path = host.folder / "any.sock"
    host.environ["OTEL_ERRCOMPACT_SERVICE"] = str(path)
    received: list[bytes] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                received.append(_read_request(connection))
                if answer:
                    connection.sendall(answer)
                else:
                    connection.settimeout(60)
                    try:
                        connection.recv(1)
                    except OSError:
                        continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=60)


def _read_request(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def test_counts_continue_from_one_command_to_the_next(host: Host) -> None:
    """Three processes, one run: the third digest says that it is the third."""
    pytest.importorskip("fastapi")
    with serving(host):
        options = ("--run", "session-1")
        first, second, third = (host.wrapped(FAILS, merged=True, options=options).output for _ in range(3))
        assert CAUSE in first
        assert b"again (x2" in second
        assert b"(x3" in third
        # Another run begins anew.
        assert b"again" not in host.wrapped(FAILS, merged=True, options=("--run", "session-2")).output


def test_a_short_failure_is_counted_too(host: Host) -> None:
    """The agent reads the line itself, its mark, and how often."""
    pytest.importorskip("fastapi")
    with serving(host):
        first, second = (host.wrapped("ls no-such-file", options=("--run", "r")) for _ in range(2))
    assert first.error.startswith(b"ls: cannot access 'no-such-file': No such file or directory #")
    assert b"again (x2" in second.error
    assert (first.status, second.status) == (2, 2)


@pytest.mark.parametrize("script", [FAILS, "ls no-such-file"])
def test_a_hook_that_reports_our_digest_counts_nothing(host: Host, script: str) -> None:
    """Behind the shell prefix the host's hook reports what it has read: that call was counted before."""
    pytest.importorskip("fastapi")
    with serving(host) as path:
        for count in (1, 2):
            ended = host.wrapped(script, merged=True, options=("--run", "r"))
            text = f"Exit code {ended.status}\n{ended.output.decode()}"
            arguments = {"command": script, "description": "Run it"}
            report = {"run": "r", "tool": "Bash", "text": text, "arguments": arguments, "call_id": f"c{count}"}
            answer = post("/v1/failures", report, socket_path=path, limit_s=60)
            assert answer is not None
            assert answer["outcome"] == "counted"
        third = host.wrapped(script, merged=True, options=("--run", "r")).output
    assert b"(x3" in third


def test_a_success_ends_a_streak(host: Host) -> None:
    """The service learns of successes as well."""
    pytest.importorskip("fastapi")
    (host.work / "fails").touch()
    script = f"if [ -e fails ]; then {FAILS}; fi"
    with serving(host):
        options = ("--run", "r")
        second = [host.wrapped(script, merged=True, options=options).output for _ in range(2)][1]
        (host.work / "fails").unlink()
        assert host.wrapped(script, merged=True, options=options) == Ended(0, b"", b"")
        (host.work / "fails").touch()
        third = host.wrapped(script, merged=True, options=options).output
    assert b"x2, 2 in a row" in second
    assert b"x3" in third
    assert b"3 in a row" not in third


def test_the_host_names_the_run(host: Host) -> None:
    """A session of Claude Code is one run, whichever process wraps its commands."""
    with listening(host, b"") as received:
        host.wrapped("exit 3", CLAUDE_CODE_SESSION_ID="session-7")
        host.wrapped("exit 3")
        host.wrapped("exit 3")
    runs = [json.loads(request.partition(b"\r\n\r\n")[2])["run"] for request in received]
    assert runs[0] == "session-7"
    assert runs[1] == runs[2]
    assert runs[1].startswith("process-")


def test_what_is_sent(host: Host) -> None:
    """The command as the agent wrote it, and what the service's interface calls its fields."""
    with listening(host, b"") as received:
        host.wrapped("echo 'it''s'; exit 3", options=("--run", "r", "--tool", "make"))
        host.run(*host.wrap("printf", "%s", "a b"))
    failed, succeeded = (request.partition(b"\r\n\r\n") for request in received)
    assert failed[0].startswith(b"POST /v1/results HTTP/1.1\r\n")
    assert json.loads(failed[2]) == {
        "run": "r",
        "tool": "make",
        "arguments": "{\"command\": \"echo 'it''s'; exit 3\"}",
        "directory": str(host.work),
        "text": "its\n",
        "exit_status": 3,
        "stoppable": False,
    }
    assert succeeded[0].startswith(b"POST /v1/successes HTTP/1.1\r\n")
    sent = json.loads(succeeded[2])
    assert sent["arguments"] == '{"command": "printf %s \'a b\'"}'


def test_at_most_a_megabyte_is_sent(host: Host) -> None:
    """Of a huge output its two ends."""
    with listening(host, b"") as received:
        host.wrapped("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 3", merged=True)
    text = json.loads(received[0].partition(b"\r\n\r\n")[2])["text"]
    assert len(text) < 1_050_000
    assert text.endswith("x\nthe end\n")
    assert "[3,951,433 bytes left out]" in text


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 500 Internal Server Error\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\nnot json",
        b"HTTP/1.1 200 OK\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\n\r\n{"outcome": 7}',
        b"no http at all",
    ],
)
def test_without_a_good_answer_the_digest_is_made_here(host: Host, answer: bytes) -> None:
    """Of a service that is stuck, or not ours, nothing is awaited for long."""
    with listening(host, answer):
        ended = host.wrapped(FAILS, merged=True)
    assert ended.status == 3
    assert CAUSE in ended.output
    assert find_kept(ended.output)[1].read_bytes() == RAW


def test_a_service_that_is_stuck_costs_a_success_nothing(host: Host) -> None:
    """A success waits for no answer."""
    with listening(host, b""):
        begins = time.monotonic()
        for _ in range(10):
            assert host.wrapped("echo fine") == Ended(0, b"fine\n", b"")
        assert time.monotonic() - begins < 60


def test_the_service_may_say_that_nothing_has_failed(host: Host) -> None:
    """It knows more than the exit status: then the output passes as it is."""
    with listening(host, b'HTTP/1.1 200 OK\r\n\r\n{"outcome": "ignored", "digest": "", "counts": null}'):
        assert host.wrapped(FAILS, merged=True) == Ended(3, RAW, b"")


def test_of_a_failure_that_a_pipe_hides_the_service_learns_a_success(host: Host) -> None:
    """`pytest | tail` succeeds by its status, and no text is looked at: a hook of the host may judge it."""
    with listening(host, b"") as received:
        assert host.wrapped(f"({FAILS}) 2>&1 | tail -3000", merged=True) == Ended(
            0, RAW[-len(RAW) :].split(b"\n", 6)[6], b""
        )
    assert [request.split(b" ")[1] for request in received] == [b"/v1/successes"]


def test_a_socket_of_another_kind_is_left_alone(host: Host) -> None:
    """A file where the socket should be, or a folder."""
    for place in (host.work, Path("/dev/null"), host.folder / ("x" * 200)):
        assert host.wrapped("echo fine", OTEL_ERRCOMPACT_SERVICE=str(place)) == Ended(0, b"fine\n", b"")
        assert CAUSE in host.wrapped(FAILS, merged=True, OTEL_ERRCOMPACT_SERVICE=str(place)).output


OPERATOR = b"OPERATOR: migrate first"


@contextmanager
def answered_by_human(host: Host) -> Iterator[None]:
    """Run "r" has failed once, and a human has answered."""
    pytest.importorskip("fastapi")
    with serving(host) as path:
        host.wrapped("ls elsewhere", options=("--run", "r"))
        reply = ask("POST", "/v1/runs/r/resume", b'{"message": "migrate first"}', socket_path=path, limit_s=60)
        assert reply is not None
        assert reply.status == 200
        yield


def test_what_a_human_has_answered_is_read_once_behind_the_digest(host: Host) -> None:
    """The line that names the file of the output stays the last one."""
    with answered_by_human(host):
        first, second = (host.wrapped(FAILS, merged=True, options=("--run", "r")).output for _ in range(2))
    lines = first.splitlines()
    assert lines[-2] == OPERATOR
    assert CAUSE in lines[0]
    assert find_kept(first)[1].read_bytes() == RAW
    assert b"OPERATOR" not in second


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        pytest.param("ls no-such-file", b"ls: cannot access 'no-such-file': No such file or directory #", id="short"),
        pytest.param("grep -c nothing /dev/null", b"0\nOPERATOR: ", id="no failure"),
        pytest.param("exit 3", b"OPERATOR: ", id="no output"),
    ],
)
def test_an_answer_is_read_where_no_digest_takes_the_place(host: Host, script: str, printed: bytes) -> None:
    """A command that prints little, or that has not failed at all, is the next that the agent reads."""
    with answered_by_human(host):
        first, second = (host.wrapped(script, merged=True, options=("--run", "r")).output for _ in range(2))
    assert first.startswith(printed)
    assert first.endswith(OPERATOR + b"\n")
    assert b"OPERATOR" not in second


def test_a_success_does_not_lose_what_a_human_has_answered(host: Host) -> None:
    """Nothing is added to what a success prints, so the next failure shows it."""
    with answered_by_human(host):
        assert host.wrapped("echo fine", options=("--run", "r")) == Ended(0, b"fine\n", b"")
        assert OPERATOR in host.wrapped(FAILS, merged=True, options=("--run", "r")).output


def test_a_hook_counts_nothing_of_a_digest_with_a_human_answer(host: Host) -> None:
    """It reports what the agent reads, answer and all; that call was counted before."""
    with answered_by_human(host):
        path = Path(host.environ["OTEL_ERRCOMPACT_SERVICE"])
        for script in (FAILS, "ls no-such-file"):
            printed = host.wrapped(script, merged=True, options=("--run", "r")).output.decode()
            report = {"run": "r", "tool": "Bash", "text": printed, "call_id": script}
            answer = post("/v1/failures", report, socket_path=path, limit_s=60)
            assert answer is not None
            assert answer["outcome"] == "counted"
            ask("POST", "/v1/runs/r/resume", b'{"message": "migrate first"}', socket_path=path, limit_s=60)


def test_an_output_that_is_no_utf_8_is_kept_where_the_digest_only_marks_it(host: Host) -> None:
    """Its bytes are not lost for a digest that reads the same."""
    pytest.importorskip("fastapi")
    raw = b"Error: no caf\xe9 left\n"
    with serving(host):
        ended = host.wrapped("printf 'Error: no caf\\351 left\\n'; exit 3", merged=True)
    assert "no caf\ufffd left".encode() in ended.output
    assert find_kept(ended.output)[1].read_bytes() == raw
