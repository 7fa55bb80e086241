"""OpenCode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from hosts_rig.hosts.host import KEY, TOOL_SERVER, Host
from hosts_rig.script import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hosts_rig.place import Place

PLUGIN = """\
// Keeps what the host hands its plugins; each file has the arguments of one call.
import { writeFileSync } from "node:fs"

const folder = FOLDER
let number = 0
const keep = (event, value) =>
  writeFileSync(`${folder}/${String(++number).padStart(4, "0")}-${event}.json`, JSON.stringify(value))

export const Recorder = async ({ directory, worktree }) => {
  keep("plugin", { directory, worktree })
  return {
    "tool.execute.before": async (input, output) => keep("tool.execute.before", { input, output }),
    "tool.execute.after": async (input, output) => keep("tool.execute.after", { input, output }),
    "chat.message": async (input, output) => keep("chat.message", { input, output }),
    event: async ({ event }) => {
      const part = event.properties?.part
      if (event.type === "message.part.updated" && part?.type === "tool" && part.state?.status === "error")
        keep("event", { event })
      else if (["session.created", "session.idle", "session.error"].includes(event.type)) keep("event", { event })
    },
  }
}
"""


class OpenCode(Host):
    """
    OpenCode, with a provider on the interface Chat Completions.
    """

    name = "opencode"
    package = "opencode-ai"
    version = "1.18.33"
    program = "opencode"
    shell_tool = "bash"
    shell_described = True
    read_tool = "read"
    read_argument = "filePath"
    edit_tool = "edit"
    edit_arguments = ("filePath", "oldString", "newString")
    mcp_tool = "stock_reserve"
    events: ClassVar = ("tool.execute.before", "tool.execute.after", "chat.message", "event")

    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Stand-in",
            "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
            "models": {"stand-in": {"name": "Stand-in"}},
        }
        place.write(
            ".config/opencode/opencode.json",
            {
                "provider": {"standin": provider},
                "model": "standin/stand-in",
                "small_model": "standin/stand-in",
                "autoupdate": False,
                "share": "disabled",
                "permission": {"*": "allow"},
                "mcp": {"stock": {"type": "local", "command": TOOL_SERVER, "enabled": True}},
            },
        )

    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """
        del url
        switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
        return {f"OPENCODE_DISABLE_{switch}": "true" for switch in switches}

    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """
        return ["run", "--format", "json", prompt]

    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """
        return ToolCall("task", {"description": "Look into it", "subagent_type": "general", "prompt": task})

    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        It has no hooks that are commands: its plugins are modules.
        """
        del place, command
        raise NotImplementedError

    def record(self, place: Place, folder: Path) -> None:
        """
        Add hooks that keep all events in a folder.
        """
        place.write(".config/opencode/plugin/recorder.js", PLUGIN.replace("FOLDER", json.dumps(str(folder))))
