from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from otel_errcompact.runtime import processes
from otel_errcompact.runtime.processes import THIS_PROCESS, has_ended


def test_this_process_has_not_ended() -> None:
    """Its name is machine, process id and start time; where ids have a namespace, as in a container, with that."""
    machine, process, _ = THIS_PROCESS.name.split("/")
    host, _, namespace = machine.partition(":")
    assert (host, process) == (socket.gethostname(), str(os.getpid()))
    if sys.platform == "linux":
        assert f"pid:[{namespace}]" == str(Path("/proc/self/ns/pid").readlink())
    assert not has_ended(THIS_PROCESS.name)


@pytest.mark.programs
def test_a_process_that_has_ended() -> None:
    """Also while its parent has not waited for it, and after its id was given to another."""
    code = "from otel_errcompact.runtime.processes import THIS_PROCESS; print(THIS_PROCESS.name, flush=True); input()"
    with subprocess.Popen(
        (sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        name = other.stdout.readline().strip()
        assert not has_ended(name)
        other.kill()
        other.stdout.read()  # until it has ended
        while not has_ended(name):
            pass
    assert has_ended(name)
    machine, process, _ = THIS_PROCESS.name.split("/")
    assert has_ended(f"{machine}/{process}/1")


@pytest.mark.parametrize("name", ["", "nonsense", "elsewhere/1/2", "a/b", f"{socket.gethostname()}:1/4194305/2"])
def test_of_others_nothing_is_known(name: str) -> None:
    """A process of another machine, or of another container with its name, counts as running."""
    assert not has_ended(name)


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_forked_child_has_a_name_of_its_own() -> None:
    """It is another process."""
    before = THIS_PROCESS.name
    child = os.fork()
    if child == 0:
        os._exit(0 if THIS_PROCESS.name != before and not has_ended(before) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert THIS_PROCESS.name == before


@pytest.mark.parametrize(("answer", "ended"), [(None, False), (ProcessLookupError(), True), (PermissionError(), False)])
def test_where_no_start_time_can_be_read(
    monkeypatch: pytest.MonkeyPatch, answer: Exception | None, ended: bool
) -> None:
    """Outside Linux the process id alone has to do."""

    def kill(_: int, number: int) -> None:
        assert number == 0
        if answer is not None:
            raise answer

    monkeypatch.setattr(processes, "_find_start", lambda _: "")
    monkeypatch.setattr(os, "kill", kill)
    assert has_ended(f"{processes._name_machine()}/4194000/") is ended


def test_windows_ends_processes_by_signal_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """So there a process counts as running."""
    monkeypatch.setattr(processes, "_find_start", lambda _: "")
    monkeypatch.setattr(processes, "_name_machine", lambda: "here")
    monkeypatch.setattr(processes.os, "name", "nt")
    assert not has_ended("here/4194000/")


def test_without_namespaces_the_host_is_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on macOS, where containers do not share the kernel."""
    monkeypatch.setattr(processes, "Path", lambda _: tmp_path / "none")
    monkeypatch.setattr(processes.socket, "gethostname", lambda: "shop/1")
    assert processes._name_machine() == "shop_1"
