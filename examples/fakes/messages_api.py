"""A Messages API on this machine that plays a model: it streams what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

Blocks = list[dict[str, Any]]


def says(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def uses(tool: str, call_id: str, **arguments: object) -> dict[str, Any]:
    """Return a call of a tool."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


class FakeMessagesApi:
    """
    Use it as `with FakeMessagesApi(model) as api:`, and give a client `api.url` as its base URL.

    Args:
        model: Returns the next turn's blocks for a request; asked only where tools are offered.
    """

    def __init__(self, model: Callable[[dict[str, Any]], Blocks]) -> None:
        self.requests: list[dict[str, Any]] = []
        """What the model was asked, oldest first."""
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                turn = "/messages" in self.path and "count_tokens" not in self.path and bool(request.get("tools"))
                if turn:
                    api.requests.append(request)
                body = "".join(_events(model(request) if turn else [says("ok")])).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _events(blocks: Blocks) -> Iterator[str]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
    yield _event("message_stop")


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
