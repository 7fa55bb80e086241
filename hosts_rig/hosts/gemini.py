"""Gemini CLI."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, ClassVar

from hosts_rig.hosts.host import KEY, TOOL_SERVER, Host
from hosts_rig.script import CLOSING, ToolCall, Turn, do

if TYPE_CHECKING:
    from collections.abc import Callable

    from hosts_rig.place import Place

SETTINGS = ".gemini/settings.json"


class Gemini(Host):
    """
    Google's, on its own interface.
    """

    name = "gemini"
    package = "@google/gemini-cli"
    version = "0.61.0"
    program = "gemini"
    shell_tool = "run_shell_command"
    in_background: ClassVar = {"is_background": True}
    read_tool = "read_file"
    read_argument = "file_path"
    edit_tool = "replace"
    edit_arguments = ("file_path", "old_string", "new_string", "instruction")
    mcp_tool = "mcp_stock_reserve"
    events: ClassVar = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")

    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """
        del url
        place.write(
            SETTINGS,
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
                "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "mcpServers": {"stock": {"command": TOOL_SERVER[0], "args": TOOL_SERVER[1:], "trust": True}},
            },
        )

    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEY, "GEMINI_CLI_NO_RELAUNCH": "true"}

    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """
        return ["-p", prompt, "--yolo", "--skip-trust", "--model", "gemini-2.5-pro", "--output-format", "json"]

    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """
        return ToolCall("invoke_agent", {"agent_name": "generalist", "prompt": task})

    def closing(self) -> Turn:
        """
        How a sub-agent ends: by a tool of its own.
        """
        return do(ToolCall("complete_task", {"result": {"response": CLOSING.text}}))

    def look(self) -> tuple[Turn, ...]:
        """
        What the agent says until it reads of the end of a command in the background.
        """
        looking = ToolCall("list_background_processes", {})
        # It learns of an end only when it asks.
        return (do(looking, before=lambda: time.sleep(10)),)

    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        Add a hook of every event, with the command line that an event is handed to.
        """
        settings: dict[str, Any] = json.loads((place.home / SETTINGS).read_text(encoding="utf-8"))
        settings["hooks"] = {
            event: [{"hooks": [{"type": "command", "name": "recorder", "command": command(event)}]}]
            for event in self.events
        }
        place.write(SETTINGS, settings)
