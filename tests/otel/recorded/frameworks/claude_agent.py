"""The Claude Agent SDK, whose program asks a Messages API on this machine that follows a script."""

from __future__ import annotations

import json
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool
from frameworks.orders import find_order

PACKAGES = {
    "openinference": ["claude-agent-sdk==0.2.187", "openinference-instrumentation-claude-agent-sdk==0.1.22"],
    "logfire": ["claude-agent-sdk==0.2.187", "logfire==5.2.0"],
}
USAGE = {"input_tokens": 1, "output_tokens": 1}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [], "usage": USAGE}


def call(call_id, order):
    return {"type": "tool_use", "id": call_id, "name": "mcp__shop__find_order", "input": {"order": order}}


class Model(BaseHTTPRequestHandler):
    turns: tuple = ()

    def log_message(self, *args):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = sum(
            block.get("type") == "tool_result"
            for message in asked.get("messages", ())
            if isinstance(message["content"], list)
            for block in message["content"]
        )
        has_tool = bool(asked.get("tools"))
        block = self.turns[done] if has_tool and done < len(self.turns) else {"type": "text", "text": "done"}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(block):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


def events(block):
    calls = block["type"] == "tool_use"
    if calls:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "message_start", "message": {**MESSAGE, "stop_reason": None, "stop_sequence": None}}
    start = {**block, "input": {}} if calls else {**block, "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": USAGE}
    yield {"type": "message_stop"}


async def handled():
    """The tool fails, the model reads it and corrects itself."""

    @tool("find_order", "Find an order.", {"order": str})
    async def find(arguments):
        return {"content": [{"type": "text", "text": find_order(arguments["order"])}]}

    Model.turns = (call("c1", "A-1"), call("c2", "A-2"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        url = f"http://127.0.0.1:{server.server_port}"
        options = ClaudeAgentOptions(
            mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[find])},
            allowed_tools=["mcp__shop__find_order"],
            setting_sources=[],
            cwd=home,
            env={
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "HOME": home,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
        )
        async with ClaudeSDKClient(options) as client:
            await client.query("find it")
            async for _ in client.receive_response():
                pass


SCENARIOS = [handled]


def openinference(provider):
    from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor

    ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)


def logfire(recorder):
    import logfire

    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[recorder])
    logfire.instrument_claude_agent_sdk()


INSTRUMENTATIONS = {"openinference": openinference, "logfire": logfire}
