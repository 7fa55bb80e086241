"""Codex CLI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from hosts_rig.hosts.host import KEY, TOOL_SERVER, Host
from hosts_rig.script import Read, ToolCall, Turn, do

if TYPE_CHECKING:
    from collections.abc import Callable

    from hosts_rig.place import Place

CONFIG = """\
model = "gpt-5.1-codex"
model_provider = "standin"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.standin]
name = "Stand-in"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.stock]
command = {command}
args = {args}

[projects.{work}]
trust_level = "trusted"
"""


class Codex(Host):
    """
    OpenAI's, on its Responses interface.
    """

    name = "codex"
    package = "@openai/codex"
    version = "0.171.0"
    program = "codex"
    shell_tool = "exec_command"
    shell_argument = "cmd"
    in_background: ClassVar = {"yield_time_ms": 250}
    mcp_tool = "reserve"
    mcp_namespace = "mcp__stock"
    events: ClassVar = (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    )

    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """
        # JSON's strings and lists of strings are TOML's as well.
        command, args, work = (json.dumps(value) for value in (TOOL_SERVER[0], TOOL_SERVER[1:], str(place.work)))
        place.write(".codex/config.toml", CONFIG.format(url=url, command=command, args=args, work=work))

    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """
        del url
        return {"STANDIN_KEY": KEY}

    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """
        return ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt]

    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """
        return ToolCall("spawn_agent", {"message": task}, "multi_agent_v1")

    def wait(self) -> tuple[ToolCall, ...]:
        """
        What the parent does until a sub-agent has ended: the tool that waits would need an id that no script knows.
        """
        return (self.shell("sleep 5"),)

    def look(self) -> tuple[Turn, ...]:
        """
        What the agent says until it reads of the end of a command in the background.
        """
        return (do(ToolCall("write_stdin", {"session_id": Read(r"session ID (\d+)"), "yield_time_ms": 30_000})),)

    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        Add a hook of every event, with the command line that an event is handed to.
        """
        hooks = {event: [{"hooks": [{"type": "command", "command": command(event)}]}] for event in self.events}
        place.write(".codex/hooks.json", {"hooks": hooks})
