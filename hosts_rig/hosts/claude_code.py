"""Claude Code."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hosts_rig.hosts.host import KEY, TOOL_SERVER, Host
from hosts_rig.script import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from hosts_rig.place import Place


class ClaudeCode(Host):
    """
    Anthropic's, on its Messages interface.
    """

    name = "claude-code"
    package = "@anthropic-ai/claude-code"
    version = "2.1.332"
    program = "claude"
    shell_tool = "Bash"
    shell_described = True
    in_background: ClassVar = {"run_in_background": True}
    read_tool = "Read"
    read_argument = "file_path"
    edit_tool = "Edit"
    edit_arguments = ("file_path", "old_string", "new_string")
    mcp_tool = "mcp__stock__reserve"
    events: ClassVar = (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    )

    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """
        del url
        server = {"type": "stdio", "command": TOOL_SERVER[0], "args": TOOL_SERVER[1:]}
        place.write(".claude.json", {"hasCompletedOnboarding": True, "mcpServers": {"stock": server}})
        place.write(".claude/settings.json", {"model": "claude-sonnet-4-5"})

    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """
        switches = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND")
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **dict.fromkeys(switches, "1"),
        }

    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """
        return ["-p", prompt, "--output-format", "json", "--allowedTools", "Bash,Read,Edit,mcp__stock,Task,Agent"]

    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """
        about = {"description": "Look into it", "subagent_type": "general-purpose", "run_in_background": False}
        return ToolCall("Agent", {**about, "prompt": task})

    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        Add a hook of every event, with the command line that an event is handed to.
        """
        hooks = {event: [{"hooks": [{"type": "command", "command": command(event)}]}] for event in self.events}
        place.write(".claude/settings.json", {"model": "claude-sonnet-4-5", "hooks": hooks})
