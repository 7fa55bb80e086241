"""What an inspector of MCP does with a server, by the SDK's own client."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import MCPError, StdioServerParameters, stdio_client
from mcp.client.client import Client
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, TextContent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parents[3]
PROXY = (sys.executable, "-m", "otel_errcompact_lab.cli.main", "mcp")


class Inspector:
    """
    Calls what a server has, and keeps all that comes back.

    Args:
        command: What starts the server.
        state: A folder for what the proxy keeps.
    """

    def __init__(self, command: Sequence[str], state: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state)}
        self.parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=environment)
        self.roots = ListRootsResult.model_validate({"roots": [{"uri": state.as_uri(), "name": "home"}]})
        self.heard: list[Any] = []
        """What came unasked: progress, log messages, questions."""

    def client(self, mode: str) -> Client:
        """A client that answers all that a server may ask."""

        async def sample(context: Any, params: Any) -> CreateMessageResult:
            self.heard.append(("sampling", params.max_tokens))
            content = TextContent(type="text", text="tea, please")
            return CreateMessageResult(role="assistant", content=content, model="some-model", stop_reason="endTurn")

        async def elicit(context: Any, params: Any) -> ElicitResult:
            self.heard.append(("elicitation", params.message))
            return ElicitResult(action="accept", content={"number": 2, "name": "Ann", "check": True})

        async def log(params: Any) -> None:
            self.heard.append(("log", params.level, str(params.data)))

        async def roots(context: Any) -> ListRootsResult:
            return self.roots

        return Client(
            stdio_client(self.parameters),
            mode=mode,  # type: ignore[arg-type]
            sampling_callback=sample,
            elicitation_callback=elicit,
            logging_callback=log,
            list_roots_callback=roots,
        )

    async def inspect(self, mode: str, calls: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        """Everything that the server has, as the client reads it."""
        found: dict[str, Any] = {}
        async with self.client(mode) as client:
            found["server"] = client.server_info
            found["capabilities"] = client.server_capabilities
            found["instructions"] = client.instructions
            found["version"] = client.protocol_version
            capabilities = client.server_capabilities
            if capabilities.resources is not None:
                found["resources"] = await client.list_resources()
                found["templates"] = await client.list_resource_templates()
                for resource in found["resources"].resources[:2]:
                    found[f"read {resource.uri}"] = await client.read_resource(resource.uri)
            if capabilities.prompts is not None:
                found["prompts"] = await client.list_prompts()
                for prompt in found["prompts"].prompts:
                    arguments = {argument.name: "1" for argument in prompt.arguments or ()}
                    try:
                        found[f"prompt {prompt.name}"] = await client.get_prompt(prompt.name, arguments)
                    except MCPError as error:
                        found[f"prompt {prompt.name}"] = {"message": str(error)}
            for name, arguments in calls:
                found[f"{name} {arguments}"] = await self._call(client, name, arguments)
            found["tools"] = await client.list_tools()  # some appear only after the handshake
        return {name: value.model_dump() if hasattr(value, "model_dump") else value for name, value in found.items()}

    async def _call(self, client: Client, name: str, arguments: dict[str, Any]) -> Any:
        async def progress(at: float, total: float | None, message: str | None) -> None:
            self.heard.append(("progress", at, total, message))

        try:
            return await client.call_tool(name, arguments, progress_callback=progress)
        except MCPError as error:
            return {"code": error.code, "message": str(error)}


MARK = re.compile(r"#[0-9a-f]{4}\b")
"""What stands in a digest and in no raw error."""


def compare(direct: dict[str, Any], through: dict[str, Any], failures: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Hold that all is the same but failures, which are digests."""
    digests = {f"{name} {arguments}" for name, arguments in failures}
    assert direct.keys() == through.keys()
    for key, raw in direct.items():
        if key not in digests:
            assert (key, through[key]) == (key, raw)
        elif "code" in raw:
            assert through[key]["code"] == raw["code"]
            assert MARK.search(through[key]["message"])
        else:
            assert (raw["is_error"], through[key]["is_error"]) == (True, True)
            assert MARK.search(through[key]["content"][0]["text"])
            assert not MARK.search(raw["content"][0]["text"])
