"""The relay passes on every result that is not flagged as an error, byte for byte."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact.boundary import RunRegistry
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.mcp_proxy.tool_calls import ToolCall, ToolCalls
from packages.hosts.tests.mcp_proxy.peer import SERVER, Peer, proxied
from tests.successes import FORMATS, TEXTS, answer_with


def results_of(text: str) -> dict[str, dict[str, Any]]:
    """Results of a server that hold an error and are none."""
    blocks = [{"type": "text", "text": answer_with(text)}]
    file = {"uri": "file:///build.log", "text": text}
    return {
        "flag": {"content": blocks, "isError": False},
        "no flag": {"content": blocks},
        "structured": {"content": blocks, "structuredContent": {"log": text, "rows": 300}, "isError": False},
        "file": {"content": [{"type": "resource", "resource": file}, *blocks], "isError": False},
    }


async def conclude(calls: ToolCalls, identifier: int, result: dict[str, Any]) -> object:
    """What stands in place of a server's answer; None where it stays."""
    request = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": {"name": "sync", "arguments": {}}}
    call = await calls.begin(request)
    if not isinstance(call, ToolCall):
        return call
    return await calls.conclude(call, {"jsonrpc": "2.0", "id": identifier, "result": result})


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_without_the_flag_stays(ledger: Ledger, format: str) -> None:
    """Whatever its texts, resources and structured content say."""
    calls = ToolCalls(RunRegistry(stoppable=False, ledger=ledger))
    changed = [
        f"{name}, {form}"
        for name, text in TEXTS[format].items()
        for form, result in results_of(text).items()
        if asyncio.run(conclude(calls, 1, result)) is not None
    ]
    calls.end()
    assert changed == []


@pytest.mark.programs
@pytest.mark.parametrize("format", FORMATS)
def test_each_byte_of_a_success_is_passed_on(tmp_path: Path, format: str) -> None:
    """By the program, as its own client reads the server's lines."""
    lines = []
    for open_peer in (lambda: Peer(*SERVER, cwd=tmp_path), lambda: proxied(tmp_path)):
        with open_peer() as peer:
            peer.begin()
            for text in TEXTS[format].values():
                peer.request("tools/call", {"name": "echo", "arguments": {"words": answer_with(text)}})
        lines.append(peer.lines)
    assert lines[0] == lines[1]
    assert len(lines[0]) == 1 + len(TEXTS[format])
    assert all(json.loads(line)["result"] for line in lines[0])
