"""One service for each user: found, replaced, killed, started again, and gone when it is idle."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.ports.sockets import read_token
from otel_errcompact_hosts.service.lifecycle import ServiceError, find_running, is_older, take_over
from otel_errcompact_hosts.service.places import find_places, prepare_folder
from otel_errcompact_hosts.service.processes import end_process, start_mark
from packages.hosts.tests.service.services import PATIENCE_S, ROOT, Place, wait_for

FAILURE = {"run": "r", "tool": "sql", "text": "no such table: orders"}

OLDER = textwrap.dedent(
    """
    import os, sys
    import otel_errcompact
    otel_errcompact.__version__ = sys.argv.pop(1)
    from otel_errcompact_hosts.service.__main__ import main
    main()
    """
)
"""A service of another release."""


def start_release(place: Place, version: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", OLDER, version],
        env=place.environ,
        cwd=place.folder,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    place.processes.append(process)
    place.wait_until_it_answers()
    return process


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.programs
def test_only_its_user_can_reach_it(place: Place) -> None:
    """Folder, socket and token; whatever the mask of who starts it."""
    before = os.umask(0)
    try:
        place.start("--port", "0")
    finally:
        os.umask(before)
    files = [place.socket, place.folder / "e.sock.token", place.folder / "e.sock.lock"]
    assert [mode_of(path) for path in files] == [0o600] * 3
    assert (mode_of(place.folder), stat.S_ISSOCK(place.socket.stat().st_mode)) == (0o700, True)


@pytest.mark.programs
def test_a_second_one_finds_the_first(place: Place) -> None:
    """It says so, and ends as if all was well: a hook may start one at any time."""
    first = place.start()
    second = place.serve()
    said, _ = second.communicate(timeout=PATIENCE_S)
    assert (second.returncode, said.strip()) == (
        0,
        f"errcompact: already running: version {first.version}, process {first.pid}, at {place.socket}",
    )
    assert find_running(place.socket, PATIENCE_S) == first


@pytest.mark.programs
def test_of_many_that_start_at_once_one_serves(place: Place) -> None:
    """The others find it, and nothing is left in their way."""
    processes = [place.serve() for _ in range(4)]
    running = place.wait_until_it_answers()
    others = [process for process in processes if process.pid != running.pid]
    assert [process.wait(PATIENCE_S) for process in others] == [0, 0, 0]
    assert find_running(place.socket, PATIENCE_S) == running


@pytest.mark.programs
def test_an_older_release_is_replaced(place: Place) -> None:
    """It ends by itself; its runs are where the newer one looks for them."""
    older = start_release(place, "0.0.1")
    newer = place.serve()
    assert older.wait(PATIENCE_S) == 0
    running = wait_for(lambda: find_running(place.socket, PATIENCE_S), "the newer release")
    assert running.pid == newer.pid


@pytest.mark.programs
def test_a_newer_release_stays(place: Place) -> None:
    """Of two installations on one machine the older one does not fight for the place."""
    newer = start_release(place, "999.0")
    older = place.serve()
    assert older.wait(PATIENCE_S) == 0
    running = find_running(place.socket, PATIENCE_S)
    assert running is not None
    assert (running.pid, running.version) == (newer.pid, "999.0")


@pytest.mark.programs
def test_it_is_replaced_and_ended_on_demand(place: Place) -> None:
    """As for other options; to end what does not run is a mistake."""
    first = place.start()
    second = place.serve("--replace", "--port", "0")
    running = wait_for(
        lambda: (found := find_running(place.socket, PATIENCE_S)) and found.pid == second.pid and found, "the second"
    )
    assert (running.pid != first.pid, running.port is not None) == (True, True)
    stop = place.serve("--stop")
    said, _ = stop.communicate(timeout=PATIENCE_S)
    assert (stop.returncode, said.strip()) == (
        0,
        f"errcompact: ended: version {running.version}, process {running.pid}",
    )
    assert second.wait(PATIENCE_S) == 0
    nothing = place.serve("--stop")
    said, _ = nothing.communicate(timeout=PATIENCE_S)
    assert (nothing.returncode, said.strip()) == (1, f"errcompact: no service answers at {place.socket}")


@pytest.mark.programs
def test_a_kill_leaves_nothing_in_the_way(place: Place) -> None:
    """Neither the socket nor the lock that are left keep the next one from its place; counts continue."""
    first = place.start()
    place.ask("POST", "/v1/failures", FAILURE)
    os.kill(first.pid, signal.SIGKILL)
    place.processes[0].wait(PATIENCE_S)
    assert place.socket.exists()
    assert find_running(place.socket, PATIENCE_S) is None
    second = place.start()
    assert second.pid != first.pid
    counts = place.ask("POST", "/v1/failures", FAILURE)[1]["counts"]
    assert counts == {"class": 2, "streak": 2, "run": 2}


@pytest.mark.programs
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(place: Place, number: signal.Signals) -> None:
    """Its socket is gone, what it has counted is written, and its status says that all is well."""
    running = place.start()
    place.ask("POST", "/v1/failures", FAILURE)
    os.kill(running.pid, number)
    assert place.processes[0].wait(PATIENCE_S) == 0
    assert not place.socket.exists()
    assert "no such table: orders" in place.trajectory.read_text(encoding="utf-8")


@pytest.mark.programs
def test_it_ends_when_it_is_idle(place: Place) -> None:
    """Not while requests come; who only asks for its health keeps nothing alive."""
    place.start("--idle", "2", "--store", "memory")
    assert place.processes[0].wait(PATIENCE_S) == 0
    assert not place.socket.exists()
    said = place.processes[0].communicate()[0]
    assert "no request for 2 seconds" in said


@pytest.mark.programs
def test_it_ends_when_its_socket_is_gone(place: Place) -> None:
    """No client finds it any more: it would wait for the end of its idle time in vain."""
    place.start()
    place.socket.unlink()
    assert place.processes[0].wait(PATIENCE_S) == 0
    assert "the socket is gone, so that no client finds this service" in place.processes[0].communicate()[0]


@pytest.mark.programs
def test_it_leaves_the_socket_of_its_successor_alone(place: Place) -> None:
    """As where its folder was removed, and another service has started there since."""
    place.start()
    place.socket.unlink()
    with socket.socket(socket.AF_UNIX) as successor:
        successor.bind(str(place.socket))
        successor.listen()
        assert place.processes[0].wait(PATIENCE_S) == 0
        assert place.socket.exists()
    place.socket.unlink()


SIGNALLED = textwrap.dedent(
    """
    import os, signal
    from otel_errcompact_hosts.service import serving
    run = serving.asyncio.run
    def run_late(main):
        os.kill(os.getpid(), signal.SIGTERM)
        run(main)
    serving.asyncio.run = run_late
    from otel_errcompact_hosts.service.__main__ import main
    main()
    """
)
"""A service that a signal reaches before its server runs."""


@pytest.mark.programs
def test_a_signal_that_comes_early_ends_it_too(place: Place) -> None:
    """In order, and not only when it is killed."""
    command = [sys.executable, "-c", SIGNALLED]
    done = subprocess.run(command, env=place.environ, cwd=place.folder, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0
    assert not place.socket.exists()


def test_a_service_of_another_container_is_not_replaced(place: Place) -> None:
    """Its process is unknown here, and it answers as before: that is said at once."""
    health = {"version": "0.0.1", "pid": 2**22 + 1, "process": "4711", "port": None}
    answer = f"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{json.dumps(health)}".encode()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place.socket))
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65_536)
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(
            ServiceError, match=r"\(version 0.0.1, process 4194305\) runs where this user cannot end it"
        ):
            take_over(find_places(place.socket), "1.0")


@pytest.mark.programs
def test_a_stopped_run_in_memory_keeps_it_from_its_end(place: Place) -> None:
    """Its verdict would be lost, and the agent that was stopped would go on; the end of the run frees it."""
    place.start("--idle", "3", "--store", "memory", OTEL_ERRCOMPACT_THRESHOLDS_HALTS="same")
    for turn in range(3):
        place.ask("POST", "/v1/failures", {**FAILURE, "turn": turn})
    with pytest.raises(subprocess.TimeoutExpired):
        place.processes[0].wait(6)
    assert place.ask("POST", "/v1/runs/r/resume")[0] == 200
    assert place.processes[0].wait(PATIENCE_S) == 0


def test_what_holds_the_lock_and_does_not_answer_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a service that a debugger has stopped: it may answer again, so it is not killed."""
    import fcntl

    from otel_errcompact_hosts.service import lifecycle

    monkeypatch.setattr(lifecycle, "START_S", 0.2)
    places = find_places(place.socket)
    with places.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4711\n")
        lock.flush()
        with pytest.raises(lifecycle.ServiceError, match=f"process 4711 holds {places.lock} and does not answer"):
            lifecycle.take_over(places, "1.0")


def test_a_socket_that_another_one_listens_on_is_not_taken(place: Place) -> None:
    """What is no socket is not removed; what answers to nothing is."""
    from otel_errcompact_hosts.service.lifecycle import remove_socket

    place.socket.write_text("mine", encoding="utf-8")
    with pytest.raises(ServiceError, match="is there and is no socket; remove it, or name another path"):
        remove_socket(place.socket)
    place.socket.unlink()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(place.socket))
    remove_socket(place.socket)
    remove_socket(place.socket)
    assert not place.socket.exists()


@pytest.mark.programs
def test_a_process_is_ended_only_if_it_is_the_one_that_is_meant() -> None:
    """An id is used again: the start time tells the two apart. One that ignores the signal is killed."""
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(99)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        mark = start_mark(process.pid)
        assert end_process(process.pid, f"{mark}0") is True
        assert end_process(process.pid, "") is False
        assert process.poll() is None
        assert end_process(process.pid, mark, term_s=0.2) is True
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
    assert start_mark(process.pid) == ""


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("0.1.0", "0.2.0", True),
        ("0.9.0", "0.10.0", True),
        ("1.0.dev3", "1.0.0", True),
        ("0.2.0", "0.2.0", False),
        ("0.3.0", "0.2.0", False),
        ("unknown", "0.2.0", False),
        ("0.2.0", "unknown", False),
    ],
)
def test_releases_are_compared_by_their_numbers(version: str, than: str, older: bool) -> None:
    """What is no number is neither older nor newer, and stays."""
    assert is_older(version, than) is older


def test_a_folder_that_others_can_open_is_refused(place: Place) -> None:
    """They could put a socket of theirs in its place; the message says what to do."""
    place.folder.chmod(0o755)
    with pytest.raises(ConfigurationError, match=f"is open to other users.*: chmod 700 {place.folder}"):
        prepare_folder(find_places(place.socket))
    place.folder.chmod(0o700)
    made = place.folder / "new" / "deep"
    prepare_folder(find_places(made / "e.sock"))
    assert mode_of(made) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_is_refused(place: Place) -> None:
    """Whatever its mode."""
    os.chown(place.folder, 12_345, -1)
    with pytest.raises(ConfigurationError, match="belongs to user 12345, and not to you"):
        prepare_folder(find_places(place.socket))
    os.chown(place.folder, 0, -1)


def test_a_path_that_no_socket_can_have_is_refused(place: Place) -> None:
    """With its length, and before anything is made."""
    path = place.folder / ("x" * 100) / "e.sock"
    with pytest.raises(ConfigurationError, match=r"the path of the socket has \d+ bytes, and a socket's may have 103"):
        prepare_folder(find_places(path))
    assert not path.parent.exists()


def test_a_folder_that_cannot_be_made_is_refused(place: Place) -> None:
    """As below a file."""
    (place.folder / "file").touch()
    with pytest.raises(ConfigurationError, match="the folder of the service cannot be made"):
        prepare_folder(find_places(place.folder / "file" / "e.sock"))


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        ("a" * 40, 0o644, "other users can read the token"),
        ("short", 0o600, "holds no token of 16 or more characters"),
        ("ä" * 40, 0o600, "holds no token of 16 or more characters"),
    ],
)
def test_a_bad_token_is_refused(place: Place, text: str, mode: int, problem: str) -> None:
    """It would protect nothing, and the message says how to get a new one."""
    path = place.folder / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match=f"{problem}.*remove the file, and a new one is made"):
        read_token(path)


def test_a_token_stays_the_same(place: Place) -> None:
    """Settings of hosts refer to it."""
    path = place.folder / "token"
    token = read_token(path)
    assert (len(token) >= 43, read_token(path), mode_of(path)) == (True, token, 0o600)
    with pytest.raises(ConfigurationError, match=r"the token cannot be written.*OTEL_ERRCOMPACT_SERVICE_TOKEN"):
        read_token(place.folder / "nowhere" / "token")


@pytest.mark.programs
def test_a_port_that_is_taken_is_named(place: Place) -> None:
    """The service does not start half."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = place.serve("--port", str(port))
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be taken: Address already in use; name another one with --port" in said
    assert not place.socket.exists()


@pytest.mark.programs
def test_variables_say_what_options_say(place: Place) -> None:
    """A service that a hook starts has no options."""
    token = place.folder / "token"
    running = place.start(OTEL_ERRCOMPACT_SERVICE_PORT="0", OTEL_ERRCOMPACT_SERVICE_TOKEN=str(token))
    assert running.port is not None
    assert token.exists()


@pytest.mark.programs
def test_its_help_names_what_there_is() -> None:
    """Options, variables, files and examples."""
    command = [sys.executable, "-m", "otel_errcompact", "serve", "--help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for word in ("--socket", "--port", "--idle", "--store", "--replace", "--stop"):
        assert word in said
    assert "OTEL_ERRCOMPACT_SERVICE_IDLE_SECONDS  as --idle" in said
    assert "*.sqlite3           the runs, which outlive the service" in said


@pytest.mark.programs
@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(place: Place, missing: str) -> None:
    """In one line, by the command and by what a hook starts; nothing is left in the folder but the log."""
    for module in ("otel_errcompact_lab.cli.main", "otel_errcompact_hosts.service.__main__"):
        script = (
            f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['errcompact', 'serve']; "
            f"from {module} import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], env=place.environ, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "the local service needs an optional dependency: pip install 'otel-errcompact[serve]'" in done.stderr
        assert "Traceback" not in done.stderr
    assert list(place.folder.iterdir()) == []
