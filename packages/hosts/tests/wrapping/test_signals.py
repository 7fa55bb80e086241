"""Signals reach the command, and what ends it ends us."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from packages.hosts.tests.wrapping.programs import Host

pytestmark = pytest.mark.programs

_READY = "echo ready >&2; "
_WAITS = "while :; do sleep 0.05; done"


def _start(host: Host, script: str, **how: object) -> subprocess.Popen[bytes]:
    """Start a script behind us that streams its errors, and wait until it says that it is ready."""
    running = host.start(
        *host.wrap("bash", "-c", script, options=("--hold", "0")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **how,
    )
    assert running.stderr.readline() == b"ready\n"
    return running


def _await(path: object) -> str:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGSEGV", "SIGPIPE", "SIGABRT", "SIGUSR1"])
def test_a_command_that_a_signal_ends_ends_us_by_it(host: Host, name: str) -> None:
    """A host that asks how we ended learns what it would have learned of the command."""
    number = getattr(signal, name)
    script = f"kill -{int(number)} $$"
    assert host.wrapped(script).status == host.shell(script).status == -number


@pytest.mark.parametrize("status", [0, 1, 2, 3, 77, 126, 127, 128, 130, 137, 143, 255])
def test_each_exit_status_is_the_commands(host: Host, status: int) -> None:
    """Whatever is printed instead of its output."""
    assert host.wrapped(f"echo some output; exit {status}").status == status


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_a_signal_to_us_reaches_the_command(host: Host, name: str) -> None:
    """A host that ends only the process that it started ends the command with it."""
    script = f"trap 'echo caught; exit 9' {name}; {_READY}{_WAITS}"
    with _start(host, script) as running:
        running.send_signal(getattr(signal, name))
        output, _ = running.communicate(timeout=60)
    assert (running.returncode, output[:7]) == (9, b"caught\n")


def test_a_signal_that_the_command_does_not_catch_ends_both(host: Host) -> None:
    """As it would have ended the command alone."""
    with _start(host, f"{_READY}exec sleep 600") as running:
        running.terminate()
        running.communicate(timeout=60)
    assert running.returncode == -signal.SIGTERM


def test_a_signal_to_the_group_reaches_all_of_it(host: Host) -> None:
    """The command stays in the group of its host, whose time limit ends it and its children."""
    script = f"echo $$ > pid; {_READY}sleep 600 & echo $! > child; wait"
    with _start(host, script, start_new_session=True) as running:
        child = int(_await(host.work / "child"))
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)
    assert running.returncode == -signal.SIGKILL
    ends = time.monotonic() + 60
    while _is_running(child) and time.monotonic() < ends:
        time.sleep(0.02)
    assert not _is_running(child)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_was_held_is_printed_when_a_signal_ends_the_command(host: Host) -> None:
    """A host's time limit shows what the command has printed until then."""
    script = f"echo progress; touch begun; {_WAITS}"
    with host.start(*host.wrap("bash", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        ends = time.monotonic() + 60
        while not (host.work / "begun").exists() and time.monotonic() < ends:
            time.sleep(0.02)
        running.terminate()
        output, _ = running.communicate(timeout=60)
    assert (running.returncode, output[:9]) == (-signal.SIGTERM, b"progress\n")


def test_an_ignored_signal_stays_ignored(host: Host) -> None:
    """A command behind `nohup` outlives its terminal."""
    wrapped = " ".join(host.wrap("bash", "-c", "'kill -HUP $PPID; kill -HUP $$; echo alive'"))
    assert host.shell(f"trap '' HUP; {wrapped}").output == b"alive\n"


def test_a_stopped_group_continues(host: Host) -> None:
    """Job control stops and continues the command and us together."""
    script = f"{_READY}for i in 1 2 3; do sleep 0.05; done; echo done"
    with _start(host, script, start_new_session=True) as running:
        os.killpg(running.pid, signal.SIGSTOP)
        os.killpg(running.pid, signal.SIGCONT)
        output, _ = running.communicate(timeout=60)
    assert (running.returncode, output) == (0, b"done\n")


def test_a_command_that_is_not_there_has_the_status_of_a_shell(host: Host) -> None:
    """And one line that names it."""
    missing = host.run(*host.wrap("no-such-program"))
    assert (missing.status, missing.error) == (127, b"errcompact exec: no-such-program: command not found\n")
    (host.work / "plain").write_text("no program")
    plain = host.run(*host.wrap("./plain"))
    assert (plain.status, plain.error) == (126, b"errcompact exec: ./plain: Permission denied\n")


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_an_empty_name_is_that_of_no_command(host: Host, enabled: str) -> None:
    """As of a variable that is not set."""
    ended = host.run(*host.wrap(""), OTEL_ERRCOMPACT_ENABLED=enabled)
    assert (ended.status, ended.output) == (127, b"")
    assert ended.error == b"errcompact exec: : command not found\n"


def test_mistakes_are_explained_and_run_nothing(host: Host) -> None:
    """The status is that of wrong usage, as of every command of ours."""
    for words in (
        ["--hold", "soon", "--", "touch", "ran"],
        ["--hold", "-1", "--", "touch", "ran"],
        ["--what", "touch", "ran"],
    ):
        ended = host.run(*host.wrap()[:-1], *words)
        assert ended.status == 2
        assert ended.error.startswith(b"errcompact: exec: ")
    assert not (host.work / "ran").exists()


@pytest.mark.parametrize("hold", ["0", "60"])
def test_a_host_that_reads_no_more_and_ends_the_command_ends_us(host: Host, hold: str) -> None:
    """It waits for our end with the pipe full, as it could for that of the command."""
    with host.start(*host.wrap("yes", options=("--hold", hold)), stdout=subprocess.PIPE) as running:
        assert running.stdout.read(2) == b"y\n"
        time.sleep(0.5)
        running.terminate()
        try:
            assert running.wait(timeout=60) == -signal.SIGTERM
        finally:
            running.kill()
