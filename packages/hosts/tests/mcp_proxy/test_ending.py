"""How the proxy, its server, and all that the server has started come to an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from packages.hosts.tests.mcp_proxy.peer import PATIENCE_S, PROXY, ROOT, SERVER, Peer, proxied

pytestmark = [pytest.mark.programs, pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")]

LOST = (
    "the MCP server 'python3' ended (exit status 3) before it answered. It is started again at the next request; what "
    "it held in memory is gone"
)
STUBBORN = (*SERVER, "stubborn")


def is_alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(process: int) -> None:
    """Fail if a process does not end."""
    until = time.monotonic() + PATIENCE_S
    while is_alive(process):
        assert time.monotonic() < until, f"{process} is left"
        time.sleep(0.02)


def server_of(peer: Peer) -> int:
    """The id of the server's process."""
    return int(peer.call("who")["content"][0]["text"].split()[0])


@pytest.mark.parametrize("server", [SERVER, STUBBORN], ids=["willing", "stubborn"])
def test_it_ends_when_the_client_closes(tmp_path: Path, server: tuple[str, ...]) -> None:
    """With its server, which is killed if it does not want to."""
    peer = proxied(tmp_path, server)
    peer.begin()
    process = server_of(peer)
    assert peer.close() == 0
    wait_until_gone(process)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("server", [SERVER, STUBBORN], ids=["willing", "stubborn"])
def test_a_signal_ends_the_server_and_what_it_has_started(
    tmp_path: Path, server: tuple[str, ...], number: signal.Signals
) -> None:
    """Also what ignores the signal and holds the output open."""
    peer = proxied(tmp_path, server)
    peer.begin()
    process, child = server_of(peer), int(peer.call("child")["content"][0]["text"])
    assert is_alive(child)
    peer.process.send_signal(number)
    assert peer.wait() == 128 + number
    wait_until_gone(process)
    wait_until_gone(child)


def test_a_server_whose_proxy_is_killed_reads_the_end_of_its_input(tmp_path: Path) -> None:
    """Nothing can be done then, and most servers end by themselves."""
    peer = proxied(tmp_path)
    peer.begin()
    process = server_of(peer)
    peer.process.kill()
    peer.wait()
    wait_until_gone(process)


def test_a_server_that_dies_is_said_and_started_again(tmp_path: Path) -> None:
    """With the handshake, the log level and the subscriptions that it had."""
    with proxied(tmp_path, ("python3", *SERVER[1:])) as peer:
        peer.begin("2025-06-18")
        peer.request("logging/setLevel", {"level": "error"})
        peer.request("resources/subscribe", {"uri": "shop://a"})
        peer.request("resources/subscribe", {"uri": "shop://b"})
        peer.request("resources/unsubscribe", {"uri": "shop://a"})
        before = server_of(peer)
        text = peer.fails("die", x=1)
        assert text.startswith(f"{LOST} #")
        after = server_of(peer)
        seen = peer.call("seen")["content"][0]["text"]
    assert before != after
    assert seen == (
        '["notifications/initialized {}", "logging/setLevel {\\"level\\": \\"error\\"}", '
        '"resources/subscribe {\\"uri\\": \\"shop://b\\"}"]'
    )
    assert "the disk is on fire" in peer.error
    assert [line for line in peer.lines if b"errcompact-" in line] == []


def test_a_call_that_kills_the_server_each_time_is_refused(tmp_path: Path) -> None:
    """It cannot work, and costs the others their server."""
    with proxied(tmp_path, ("python3", *SERVER[1:])) as peer:
        peer.begin()
        first, second, third = (peer.fails("die", x=1) for _ in range(3))
    assert first.startswith(LOST)
    assert "again (x2" in second
    assert third.startswith("NOT EXECUTED: ")


def test_other_requests_get_an_error_of_the_protocol(tmp_path: Path) -> None:
    """All that wait for an answer, not only the one that it died of."""
    with proxied(tmp_path, ("python3", *SERVER[1:])) as peer:
        peer.begin()
        for identifier in (1, "1"):
            peer.send({"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": {"name": "wait"}})
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "die"}})
        texts = [peer.wait_for(identifier)["result"]["content"][0]["text"] for identifier in (1, "1", 2)]
    assert all("ended (exit status 3) before it answered" in text for text in texts)


def test_a_server_that_ends_at_once(tmp_path: Path) -> None:
    """The client reads why, at each of its requests."""
    broken = ("python3", "-c", "import sys; sys.exit('no licence')")
    with proxied(tmp_path, broken) as peer:
        errors = [peer.request("initialize", {"protocolVersion": "2025-06-18"})["error"] for _ in range(2)]
    assert [error["code"] for error in errors] == [-32000, -32000]
    assert errors[0]["message"].startswith("the MCP server 'python3' ended (exit status 1) before it answered")
    assert "no licence" in peer.error


def test_a_server_that_cannot_begin_again(tmp_path: Path) -> None:
    """The program is gone, or ends before it has shaken hands: that is what the model reads."""
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\nexec {SERVER[0]} {SERVER[1]}\n")
    program.chmod(0o755)
    with proxied(tmp_path, (str(program),)) as peer:
        peer.begin()
        peer.fails("die", x=1)
        program.write_text("#!/bin/sh\nexit 4\n")
        ended = peer.fails("echo", words="a")
        program.unlink()
        gone = peer.fails("echo", words="b")
    assert ended.startswith(
        "the MCP server cannot be started again: the MCP server 'server' ended (exit status 4) before it answered "
        "'initialize'"
    )
    assert "the MCP server cannot be started again: " in gone
    assert "No such file or directory" in gone


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """Is said before anything else."""
    peer = Peer(*PROXY, "no-such-server", cwd=tmp_path)
    assert peer.close() == 2
    assert peer.error == (
        "errcompact: mcp: no program 'no-such-server' is found; give the server's command as its own client would "
        "start it\n"
    )


def test_a_client_that_reads_no_more(tmp_path: Path) -> None:
    """Its proxy ends at the next line, as its server would."""
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*PROXY, *SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ping)
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(ping)
        process.stdin.flush()
        assert process.wait(PATIENCE_S) == 0
