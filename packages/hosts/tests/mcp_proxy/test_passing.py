"""What passes through the proxy: everything, byte for byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from packages.hosts.tests.mcp_proxy.peer import SERVER, Peer, proxied

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.programs

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def talk(peer: Peer) -> list[bytes]:
    """A conversation in which nothing fails, and all that the server sent."""
    peer.answers = {
        "sampling/createMessage": {
            "role": "assistant",
            "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            "model": "some-model",
            "stopReason": "endTurn",
        },
        "elicitation/create": {"action": "accept", "content": {"number": 2}},
        "roots/list": {"roots": [{"uri": "file:///srv", "name": "srv", "_meta": {"a": 1}}]},
    }
    peer.begin()
    for method, params in (
        ("tools/list", {"cursor": "page 1"}),
        ("resources/read", {"uri": "shop://prices"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "t"}}),
        ("logging/setLevel", {"level": "debug"}),
        ("resources/subscribe", {"uri": "shop://prices"}),
        ("ping", {}),
        ("no/such", {"method": "that we know"}),
    ):
        peer.request(method, params)
    peer.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    peer.call("echo", words="grün \u2028 \ud83d\ude00")
    peer.call("price")
    for tool in ("sample", "elicit", "roots"):
        peer.call(tool)
    params: dict[str, Any] = {"name": "slowly", "arguments": {}, "_meta": {"progressToken": "p"}}
    peer.request("tools/call", params)
    params = {"name": "echo", "arguments": {"words": "x"}, "_meta": MODERN}
    peer.request("tools/call", params, identifier="1")
    peer.call("seen")
    peer.close()
    return peer.lines


def test_a_client_gets_the_same_bytes_with_and_without_it(tmp_path: Path) -> None:
    """Lists, progress, sampling, elicitation, roots, logs, structured content, completion, and what nobody knows."""
    direct = talk(Peer(*SERVER))
    through = talk(proxied(tmp_path))
    assert through == direct
    assert len(direct) == 24
    methods = [message["method"] for line in direct if "method" in (message := json.loads(line))]
    assert methods == [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        *["notifications/progress"] * 3,
        "notifications/message",
        "notifications/tools/list_changed",
    ]


def test_what_the_server_writes_to_standard_error_passes(tmp_path: Path) -> None:
    """Clients show it to their users."""
    with proxied(tmp_path) as peer:
        peer.begin()
    assert peer.error.startswith("shop is open\n")


def test_the_server_has_the_environment_and_the_working_directory_of_the_client(tmp_path: Path) -> None:
    """As if the client had started it."""
    with proxied(tmp_path, SHOP="open") as peer:
        peer.begin()
        _, folder, shop = peer.call("who")["content"][0]["text"].split(" ")
    assert (folder, shop) == (str(tmp_path), "open")


def test_a_cancelled_call_is_cancelled_at_the_server(tmp_path: Path) -> None:
    """It is no failure, and nothing waits for its answer."""
    with proxied(tmp_path) as peer:
        peer.begin()
        peer.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "wait"}})
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7, "reason": "no"}})
        seen = json.loads(peer.call("seen")["content"][0]["text"])
    assert seen == [
        "notifications/initialized {}",
        "waiting 7",
        'notifications/cancelled {"reason": "no", "requestId": 7}',
    ]
    assert peer.process.returncode == 0


def test_a_batch_passes_as_a_batch(tmp_path: Path) -> None:
    """The protocol of 2025-03-26 has them."""
    with proxied(tmp_path) as peer:
        peer.begin("2025-03-26")
        params = {"name": "echo", "arguments": {"words": "a"}}
        calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in (1, 2)]
        peer.send(calls)
        assert [peer.wait_for(number)["result"]["content"][0]["text"] for number in (1, 2)] == ["a", "a"]


def test_lines_that_are_no_messages_pass(tmp_path: Path) -> None:
    """What to make of them is for the other side to say."""
    echo = ("import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)",)
    with proxied(tmp_path, (SERVER[0], "-c", *echo)) as peer:
        for line in (b"not json\n", b"[1, null]\n", b'"text"\n', b"\n", b'{"id": }\n'):
            peer.send_line(line)
        peer.close()
    assert peer.lines == [b"not json\n", b"[1, null]\n", b'"text"\n', b"\n", b'{"id": }\n']


@pytest.mark.parametrize("size", [70_000, 3_000_000])
def test_a_message_may_be_long(tmp_path: Path, size: int) -> None:
    """Longer than pipes and buffers hold."""
    with proxied(tmp_path) as peer:
        peer.begin()
        assert len(peer.call("echo", words="x" * size)["content"][0]["text"]) == size


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    """And no file is written to the working directory, which is often a project's."""
    with proxied(tmp_path) as peer:
        peer.begin()
        peer.fails("boom")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in peer.lines)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    folder = tmp_path / "state" / "otel-errcompact" / "trajectories"
    assert sorted(path.name for path in folder.iterdir()) == [
        "errcompact-mcp.jsonl",
        "errcompact-mcp.runs.jsonl",
    ]


def test_a_client_that_sends_all_at_once_and_closes_gets_its_answers(tmp_path: Path) -> None:
    """As `errcompact mcp -- server < requests` does."""
    peer = proxied(tmp_path)
    requests = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(200)]
    peer.send_line(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    assert peer.close() == 0
    assert [json.loads(line)["id"] for line in peer.lines] == list(range(200))
