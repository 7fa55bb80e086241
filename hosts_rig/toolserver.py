"""An MCP server on standard input and output, whose one tool fails as servers fail: with `isError`."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "reserve",
    "description": "Reserve goods for an order.",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """
    The result of a request; none for a method that the server does not know.
    """
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stock", "version": "1.0"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            order = message["params"]["arguments"].get("order")
            text = f"Error: order {order} cannot be reserved: no such warehouse: north"
            return {"content": [{"type": "text", "text": text}], "isError": True}
        case "ping":
            return {}
    return None


def main() -> None:
    """
    Answer until standard input ends.
    """
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
