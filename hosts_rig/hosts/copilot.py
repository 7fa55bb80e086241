"""GitHub Copilot CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hosts_rig.hosts.host import KEY, TOOL_SERVER, Host
from hosts_rig.script import ToolCall, Turn, do

if TYPE_CHECKING:
    from collections.abc import Callable

    from hosts_rig.place import Place


class Copilot(Host):
    """
    GitHub's, with a provider of its user's own on the interface Chat Completions.
    """

    name = "copilot"
    package = "@github/copilot"
    version = "1.0.102"
    program = "copilot"
    shell_tool = "bash"
    shell_described = True
    in_background: ClassVar = {"mode": "async", "shellId": "orders"}
    read_tool = "view"
    read_argument = "path"
    edit_tool = "edit"
    edit_arguments = ("path", "old_str", "new_str")
    mcp_tool = "stock-reserve"
    events: ClassVar = (
        "sessionStart",
        "userPromptSubmitted",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "agentStop",
        "subagentStop",
        "errorOccurred",
        "sessionEnd",
    )

    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """
        del url
        server = {"type": "local", "command": TOOL_SERVER[0], "args": TOOL_SERVER[1:], "tools": ["*"]}
        place.write(".copilot/mcp-config.json", {"mcpServers": {"stock": server}})

    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "gpt-4.1",
        }

    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """
        return ["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--no-color"]

    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """
        about = {"name": "looker", "description": "Look into it", "agent_type": "general-purpose", "mode": "sync"}
        return ToolCall("task", {**about, "prompt": task})

    def look(self) -> tuple[Turn, ...]:
        """
        What the agent says until it reads of the end of a command in the background.
        """
        return (do(ToolCall("read_bash", {"shellId": "orders", "delay": 30})),)

    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        Add a hook of every event, with the command line that an event is handed to.
        """
        hooks = {event: [{"type": "command", "bash": command(event), "timeoutSec": 30}] for event in self.events}
        place.write(".copilot/hooks/recorder.json", {"version": 1, "hooks": hooks})
