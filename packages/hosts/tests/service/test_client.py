"""The client of hooks: what it costs a host, which is nothing where the service is away."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.config import ServiceOptions, service_folder, service_socket
from otel_errcompact_hosts.client import posting
from otel_errcompact_hosts.client.detached import STARTING_S
from otel_errcompact_hosts.client.hook import LIMIT_S, find_socket
from otel_errcompact_hosts.service.lifecycle import find_running
from packages.hosts.tests.service.services import HOOK, PATIENCE_S, ROOT, Place, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANSWER = b'{"continue": true}'
CALL = {"run": "r", "tool": "sql"}


class Fake:
    """A listener on a service's socket, with one answer for all."""

    def __init__(self, path: Path, answer: bytes) -> None:
        self.requests: list[bytes] = []
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(1 << 20)
                while b"\r\n\r\n" not in request or not request.endswith(b"}"):
                    request += connection.recv(1 << 20)
                self.requests.append(request)
                connection.sendall(self._answer)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE_S)


@pytest.fixture
def fake(place: Place) -> Iterator[Fake]:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(ANSWER)}\r\nconnection: close\r\n\r\n".encode()
    found = Fake(place.socket, head + ANSWER)
    yield found
    found.close()


@pytest.mark.programs
def test_the_event_goes_through_and_the_answer_comes_back(place: Place, fake: Fake) -> None:
    """Byte for byte: neither is read on the way."""
    event = '{"hook_event_name": "PostToolUse", "text": "größer\\ud800", "more": "' + "x" * 300_000 + '"}'
    done = place.run_hook("claude-code", event)
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER.decode(), "")
    head, _, body = fake.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/hooks/claude-code HTTP/1.1\r\n")
    assert body == event.encode()


@pytest.mark.programs
@pytest.mark.parametrize(("name", "value"), [("ERRCOMPACT", "off"), ("OTEL_ERRCOMPACT_ENABLED", " False ")])
def test_a_session_that_is_switched_off_reports_nothing(place: Place, fake: Fake, name: str, value: str) -> None:
    """One variable of its host is enough, and no service is started."""
    environ = {**place.environ, name: value}
    command = [sys.executable, "-I", "-S", str(HOOK), "codex"]
    done = subprocess.run(command, env=environ, input=b"{}", check=True, capture_output=True)
    assert (done.stdout, done.stderr, fake.requests) == (b"", b"", [])


@pytest.mark.programs
def test_a_host_that_does_not_name_its_event_has_it_named(place: Place, fake: Fake) -> None:
    """Some payloads lack it: it stands in the settings, behind the host's name."""
    command = [sys.executable, "-I", "-S", str(HOOK), "copilot", "postToolUse"]
    subprocess.run(command, env=place.environ, input=b"{}", check=True, capture_output=True)
    assert fake.requests[0].startswith(b"POST /v1/hooks/copilot?event=postToolUse HTTP/1.1\r\n")


@pytest.mark.programs
@pytest.mark.parametrize("status", ["404 Not Found", "422 Unprocessable Content", "500 Internal Server Error"])
def test_what_is_no_answer_is_not_passed_on(place: Place, status: str) -> None:
    """A host would read the problem as its own."""
    fake = Fake(place.socket, f'HTTP/1.1 {status}\r\n\r\n{{"error": "no"}}'.encode())
    done = place.run_hook()
    fake.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.programs
def test_an_away_service_is_started_and_not_waited_for(place: Place) -> None:
    """The first event is lost, and the host has not noticed; later ones are answered by what was started."""
    done = place.run_hook()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    running = place.wait_until_it_answers()
    assert not (place.folder / "e.sock.starting").exists()
    assert (place.folder / "e.sock.log").stat().st_mode & 0o777 == 0o600
    stat = Path(f"/proc/{running.pid}/stat")
    if stat.exists():
        parent, _, session = stat.read_text(encoding="ascii").rpartition(")")[2].split()[1:4]
        assert os.getpid() != int(parent)
        assert os.getsid(0) != int(session)
        links = {each.readlink() for each in Path(f"/proc/{running.pid}/fd").iterdir() if each.is_symlink()}
        assert {place.folder / "e.sock.log", Path("/dev/null")} <= links
        assert Path(f"/proc/{running.pid}/cwd").readlink() == place.folder


@pytest.mark.programs
@pytest.mark.parametrize("is_taken", [False, True])
def test_a_service_is_started_on_the_port_that_hooks_call(place: Place, is_taken: bool) -> None:
    """Without it they would call in vain; where another program has it, the hooks of the socket work all the same."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        free.listen()
        port = free.getsockname()[1]
        if not is_taken:
            free.close()
        (place.folder / "e.sock.port").write_text(f"{port}\n")
        command = [sys.executable, "-I", "-S", str(HOOK), "codex", "SessionStart"]
        subprocess.run(command, env=place.environ, input=b"{}", check=True, capture_output=True)
        assert place.wait_until_it_answers().port == (None if is_taken else port)


@pytest.mark.programs
def test_a_started_service_inherits_nothing(place: Place) -> None:
    """A pipe that its host has left open would stay open as long as the service runs, and hosts wait for its end."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    command = [sys.executable, "-I", "-S", str(HOOK), "claude-code"]
    subprocess.run(command, env=place.environ, input=b"{}", check=True, capture_output=True, pass_fds=(writer,))
    os.close(writer)
    place.wait_until_it_answers()
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.programs
def test_what_lies_in_the_working_directory_is_not_run(place: Place) -> None:
    """An agent works in folders of strangers."""
    for name in ("json.py", "logging.py", "otel_errcompact.py", "detached.py", "sitecustomize.py"):
        (place.folder / name).write_text(f"open({str(place.folder / 'taken')!r}, 'w')", encoding="utf-8")
    place.run_hook()
    place.wait_until_it_answers()
    assert not (place.folder / "taken").exists()


@pytest.mark.programs
def test_one_that_cannot_start_is_not_started_at_each_event(place: Place) -> None:
    """A missing extra must not cost a process each time; after a while it is tried again."""
    place.run_hook()
    place.wait_until_it_answers()
    running = find_running(place.socket, PATIENCE_S)
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    wait_for(lambda: find_running(place.socket, PATIENCE_S) is None, "its end")
    marker = place.folder / "e.sock.starting"
    marker.touch()
    place.run_hook()
    time.sleep(0.5)
    assert find_running(place.socket, PATIENCE_S) is None
    before = time.time() - STARTING_S - 1
    os.utime(marker, (before, before))
    place.run_hook()
    assert place.wait_until_it_answers().pid != running.pid


def seconds_of(work: Callable[[], object]) -> float:
    """The fastest of five times."""
    took = []
    for _ in range(5):
        before = time.monotonic()
        work()
        took.append(time.monotonic() - before)
    return min(took)


@pytest.mark.programs
def test_a_silent_service_costs_its_host_a_moment(place: Place) -> None:
    """It is given up: the exit status is 0, and nothing is printed."""
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(place.socket))
        silent.listen()
        seen = set()

        def hook() -> None:
            done = place.run_hook()
            seen.add((done.returncode, done.stdout, done.stderr))

        # What is above the limit is the start of Python, which a busy machine delays.
        start = seconds_of(lambda: subprocess.run([sys.executable, "-c", ""], check=True))
        assert LIMIT_S <= seconds_of(hook) < LIMIT_S + 10 * start
    assert seen == {(0, "", "")}


@pytest.mark.programs
def test_the_answer_to_a_large_event_may_take_longer(place: Place) -> None:
    """A megabyte has to be read before it is judged: 1.5 s more."""
    answer = b'{"decision": "deny"}'

    def serve() -> None:
        connection, _ = busy.accept()
        with connection:
            received = b""
            while not received.endswith(b'x"'):
                received += connection.recv(1 << 20)
            time.sleep(3 * LIMIT_S)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + answer)

    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(place.socket))
        busy.listen()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        done = place.run_hook(event='"' + "x" * (8 << 20) + '"')
        thread.join(60)
    assert (done.returncode, done.stdout, done.stderr) == (0, answer.decode(), "")


@pytest.mark.programs
def test_an_away_service_costs_less_than_the_limit(place: Place) -> None:
    """In processor time, which a busy machine does not change: the start of Python, and no more."""
    (place.folder / "e.sock.starting").touch()

    def measure(*command: str) -> float:
        costs = []
        for _ in range(7):
            before = os.times()
            subprocess.run([sys.executable, "-I", "-S", *command], env=place.environ, input=b"{}", check=True)
            after = os.times()
            used = after.children_user - before.children_user + after.children_system - before.children_system
            costs.append(used)
        return min(costs)

    assert measure(str(HOOK), "claude-code") - measure("-c", "pass") < 0.1


@pytest.mark.programs
def test_a_host_that_sends_nothing_is_not_waited_for(place: Place) -> None:
    """A pipe that stays open would hold the host's hook until its own limit."""
    reader, writer = os.pipe()
    command = [sys.executable, "-I", "-S", str(HOOK), "claude-code"]
    done = subprocess.run(
        command, env=place.environ, stdin=reader, capture_output=True, check=False, timeout=PATIENCE_S
    )
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(place.folder.iterdir()) == []


@pytest.mark.programs
@pytest.mark.parametrize("arguments", [(), ("claude-code", "x", "y")])
def test_wrong_arguments_break_nothing(place: Place, arguments: tuple[str, ...]) -> None:
    """Settings may be written by hand."""
    command = [sys.executable, "-I", "-S", str(HOOK), *arguments]
    (place.folder / "e.sock.starting").touch()
    done = subprocess.run(command, env=place.environ, input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("environ", "platform"),
    [
        ({"OTEL_ERRCOMPACT_SERVICE": "/srv/e.sock", "HOME": "/home/ada"}, "linux"),
        ({"OTEL_ERRCOMPACT_SERVICE": "e.sock", "HOME": "/home/ada"}, "linux"),
        ({"XDG_RUNTIME_DIR": str(ROOT), "HOME": "/home/ada"}, "linux"),
        ({"XDG_RUNTIME_DIR": "/nowhere", "HOME": "/home/ada"}, "linux"),
        ({"XDG_RUNTIME_DIR": "relative", "XDG_STATE_HOME": "/state", "HOME": "/home/ada"}, "linux"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/home/ada"}, "linux"),
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/ada"}, "darwin"),
        ({"HOME": "/home/ada"}, "darwin"),
        ({}, "linux"),
    ],
)
def test_client_and_service_find_one_socket(
    environ: dict[str, str], platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client imports nothing of the library, and so finds it by lines of its own."""
    monkeypatch.delenv("HOME") if "HOME" not in environ else monkeypatch.setenv("HOME", environ["HOME"])
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    assert find_socket(encoded, platform) == os.fsencode(service_socket(environ, platform))


def test_what_outlives_a_restart_is_not_in_the_runtime_folder() -> None:
    """That is emptied when its user logs out; where the socket is named, all is beside it."""
    environ = {"XDG_RUNTIME_DIR": str(ROOT), "XDG_STATE_HOME": "/state"}
    assert service_socket(environ) == ROOT / "errcompact" / "errcompact.sock"
    assert service_folder(environ) == Path("/state/otel-errcompact/service")
    assert service_folder({"OTEL_ERRCOMPACT_SERVICE": "/srv/e.sock"}) is None


def test_a_bad_variable_of_the_service_is_ignored() -> None:
    """It starts all the same, as its client cannot say what was wrong."""
    environ = {"OTEL_ERRCOMPACT_SERVICE_PORT": "http", "OTEL_ERRCOMPACT_SERVICE_IDLE_SECONDS": "60"}
    with pytest.warns(RuntimeWarning, match="OTEL_ERRCOMPACT_SERVICE_PORT='http' is ignored"):
        options = ServiceOptions.from_environ(environ)
    assert (options.port, options.idle_seconds) == (None, 60)


@pytest.mark.programs
def test_programs_of_ours_report_by_a_function(service: Place) -> None:
    """A failure gets its digest, a success resolves it."""
    call = {"run": "posted", "tool": "sql", "arguments": {"table": "orders"}}
    report = {**call, "text": "no such table: orders", "turn": "1"}
    failure = posting.post("/v1/failures", report, socket_path=service.socket, limit_s=PATIENCE_S)
    assert failure is not None
    assert (failure["outcome"], failure["counts"]) == ("failure", {"class": 1, "streak": 1, "run": 1})
    success = posting.post("/v1/successes", {**call, "turn": "2"}, socket_path=service.socket, limit_s=PATIENCE_S)
    assert success is not None
    assert success["outcome"] == "success"
    assert service.ask("GET", "/v1/runs/posted")[1]["report"]["result"] == "recovered"


def test_a_report_that_is_refused_is_none(service: Place) -> None:
    """The caller has no answer, as if the service was away."""
    report = {"run": "", "tool": "sql", "text": "no"}
    assert posting.post("/v1/failures", report, socket_path=service.socket, limit_s=PATIENCE_S) is None


@pytest.mark.programs
def test_a_report_starts_an_away_service(place: Place) -> None:
    """As the client of hooks does, and as little is waited for."""
    assert posting.post("/v1/successes", CALL, socket_path=place.socket, starts=False) is None
    assert list(place.folder.iterdir()) == []
    assert posting.post("/v1/successes", CALL, socket_path=place.socket) is None
    place.wait_until_it_answers()
    assert posting.post("/v1/successes", CALL, socket_path=place.socket, limit_s=PATIENCE_S) is not None


@pytest.mark.programs
def test_a_report_of_a_program_without_an_interpreter_raises_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python runs inside another program, or was replaced by an update: the service cannot be started."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python3")
    assert posting.post("/v1/successes", CALL, socket_path=place.socket) is None


@pytest.mark.parametrize("answer", [b"", b"nothing", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1\r\n\r\n{}"])
def test_an_answer_that_is_none_is_none(place: Place, answer: bytes) -> None:
    """Something else may listen there."""
    fake = Fake(place.socket, answer)
    assert posting.ask("POST", "/", b"{}", socket_path=place.socket, limit_s=PATIENCE_S) is None
    fake.close()


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_an_answer_that_is_no_object_reads_as_an_empty_one(body: bytes) -> None:
    """What was meant to be read of it is not there."""
    assert posting.Reply(200, body).read() == {}
