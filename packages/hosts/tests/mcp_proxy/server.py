"""A server of MCP in nothing but Python: all that the protocol can do, on lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TRACE = (
    "Traceback (most recent call last):\n"
    + "".join(
        f'  File "/srv/shop/layer_{at}.py", line {at}, in call_{at}\n    call_{at + 1}()\n' for at in range(1, 30)
    )
    + "KeyError: 'tea'"
)
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
ASKED: dict[str, Any] = {}
"""Requests that wait for an answer of the client, by our id."""

SEEN: list[str] = []


def send(**message: Any) -> None:
    """Write a message, spaced as no encoder of Python's would."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(" ,", " :")) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], **result: Any) -> None:
    """Answer a request."""
    send(id=request["id"], result=result)


def text(words: str, **more: Any) -> dict[str, Any]:
    """The result of a tool."""
    return {"content": [{"type": "text", "text": words}], **more}


def ask(request: dict[str, Any], method: str, params: dict[str, Any]) -> None:
    """Ask the client; its answer becomes the result of the tool."""
    identifier = f"server-{len(ASKED)}"
    ASKED[identifier] = request
    send(id=identifier, method=method, params=params)


def call(request: dict[str, Any]) -> None:  # noqa: PLR0912 - a case for each tool
    """Execute a tool."""
    params = request["params"]
    arguments = params.get("arguments", {})
    match params["name"]:
        case "echo":
            answer(request, **text(arguments["words"], _meta={"x": 1.0}))
        case "price":
            answer(request, **text('{"tea": 3}'), structuredContent={"tea": 3})
        case "boom":
            answer(request, **text(TRACE, isError=True))
        case "picture":
            image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
            content = [{"type": "text", "text": "Error: no such page"}, image]
            answer(request, content=content, structuredContent={"code": 404}, isError=True, _meta={"y": 2})
        case "reject":
            send(id=request["id"], error={"code": -32602, "message": "Unknown tool: reject", "data": {"a": 1}})
        case "log in":
            urls = [{"mode": "url", "url": "https://example.com", "elicitationId": "1", "message": "go"}]
            send(id=request["id"], error={"code": -32042, "message": "go there", "data": {"elicitations": urls}})
        case "slowly":
            for at in range(3):
                token = params["_meta"]["progressToken"]
                send(method="notifications/progress", params={"progressToken": token, "progress": at, "total": 3})
            send(method="notifications/message", params={"level": "info", "logger": "shop", "data": {"at": "work"}})
            send(method="notifications/tools/list_changed")
            answer(request, **text("done"))
        case "sample":
            ask(request, "sampling/createMessage", {"messages": [], "maxTokens": 5, "modelPreferences": {"hints": []}})
        case "elicit":
            ask(request, "elicitation/create", {"message": "how many?", "requestedSchema": {"type": "object"}})
        case "roots":
            ask(request, "roots/list", {})
        case "wait":
            SEEN.append(f"waiting {request['id']}")
        case "seen":
            answer(request, **text(json.dumps(SEEN)))
        case "die":
            sys.stderr.write("the disk is on fire\n")
            os._exit(3)
        case "who":
            answer(request, **text(f"{os.getpid()} {Path.cwd()} {os.environ.get('SHOP')}"))
        case "child":
            # Ignores what it can, and holds the output open.
            child = subprocess.Popen([sys.executable, "-c", STUBBORN], stdin=subprocess.DEVNULL)
            answer(request, **text(str(child.pid)))
        case _:
            answer(request, **text(f"no tool {params['name']}", isError=True))


def handle(message: dict[str, Any]) -> None:
    """Do what a message asks for."""
    method = message.get("method")
    if method is None:
        answer(
            ASKED.pop(message["id"]), **text(json.dumps(message.get("result", message.get("error")), sort_keys=True))
        )
    elif method == "initialize":
        capabilities = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True},
            "completions": {},
            "logging": {},
        }
        answer(
            message,
            protocolVersion=message["params"]["protocolVersion"],
            capabilities=capabilities,
            serverInfo={"name": "shop", "title": "The shop", "version": "1.2.3"},
            instructions="Buy tea.",
        )
    elif method == "tools/call":
        call(message)
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"words": {"type": "string"}}, "$defs": {}}
        hints = {"readOnlyHint": True}
        tool = {"name": "echo", "inputSchema": schema, "annotations": hints, "_meta": {"z": 3}, "unheard-of": [1]}
        answer(message, tools=[tool], nextCursor="page 2")
    elif method == "resources/read":
        uri = message["params"]["uri"]
        answer(message, contents=[{"uri": f"{uri}#part", "text": "tea: 3", "mimeType": "text/x-price"}])
    elif method == "completion/complete":
        answer(message, completion={"values": ["tea"], "total": 1, "hasMore": False})
    elif "id" in message:
        SEEN.append(f"{method} {json.dumps(message.get('params', {}), sort_keys=True)}")
        answer(message)
    else:
        SEEN.append(f"{method} {json.dumps(message.get('params', {}), sort_keys=True)}")


def main() -> None:
    """Serve until the input ends; with `stubborn` for longer."""
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stderr.write("shop is open\n")
    for line in sys.stdin:
        value = json.loads(line)
        for message in value if isinstance(value, list) else [value]:
            handle(message)
    while "stubborn" in sys.argv:
        time.sleep(1)


if __name__ == "__main__":
    main()
