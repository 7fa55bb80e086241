"""What the rig has to know about a host."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hosts_rig.script import CLOSING, ToolCall, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hosts_rig.place import Place

RIG = Path(__file__).resolve().parents[1]
TOOL_SERVER = [sys.executable, str(RIG / "toolserver.py")]
KEY = "not-a-key"


def recording(folder: Path, event: str) -> str:
    """
    The command line of a hook that keeps its event.
    """
    return f"{sys.executable} -I -S {RIG / 'recorder.py'} {folder} {event}"


class Host(ABC):
    """
    One host: what npm has of it, how it is set up and started, and what it calls its tools.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    version: ClassVar[str]
    program: ClassVar[str]
    shell_tool: ClassVar[str]
    shell_argument: ClassVar[str] = "command"
    shell_described: ClassVar[bool] = False
    """Whether a call of the shell must say what it is for."""

    in_background: ClassVar[Mapping[str, Any]] = {}
    """The arguments of the shell that run a command in the background."""

    read_tool: ClassVar[str] = ""
    read_argument: ClassVar[str] = ""
    edit_tool: ClassVar[str] = ""
    edit_arguments: ClassVar[tuple[str, ...]] = ()
    """What its tool for edits calls a file, the old text, the new one, and the reason if it wants one."""

    mcp_tool: ClassVar[str]
    mcp_namespace: ClassVar[str] = ""
    events: ClassVar[tuple[str, ...]]
    """The events of its hooks that are recorded, by the names that it gives them."""

    @abstractmethod
    def prepare(self, place: Place, url: str) -> None:
        """
        Write the settings that a session needs, with the model at an address.
        """

    @abstractmethod
    def environ(self, url: str) -> dict[str, str]:
        """
        The variables that it needs beside those of the place.
        """

    @abstractmethod
    def command(self, prompt: str) -> list[str]:
        """
        The arguments of one session without a human.
        """

    def record(self, place: Place, folder: Path) -> None:
        """
        Add hooks that keep all events in a folder.
        """
        self.hook(place, lambda event: recording(folder, event))

    @abstractmethod
    def hook(self, place: Place, command: Callable[[str], str]) -> None:
        """
        Add a hook of every event, with the command line that an event is handed to.
        """

    def shell(self, command: str) -> ToolCall:
        """
        A call that runs a command.
        """
        described = {"description": "Look what it does"} if self.shell_described else {}
        return ToolCall(self.shell_tool, {self.shell_argument: command, **described})

    def start(self, command: str) -> ToolCall | None:
        """
        A call that runs a command in the background; None where the host has none.
        """
        call = self.shell(command)
        return replace(call, arguments={**call.arguments, **self.in_background}) if self.in_background else None

    def look(self) -> tuple[Turn, ...]:
        """
        What the agent says until it reads of the end of a command in the background.
        """
        return (Turn(text="I wait for it."),)

    def read(self, path: str) -> ToolCall:
        """
        A call that reads a file; by the shell where the host has no tool for it.
        """
        if not self.read_tool:
            return self.shell(f"cat {path}")
        return ToolCall(self.read_tool, {self.read_argument: path})

    def edit(self, path: str) -> ToolCall | None:
        """
        A call that replaces what does not stand in a file; None where the host edits by its shell.
        """
        names = self.edit_arguments
        values = (path, "orders", "parts", "Rename it")[: len(names)]
        return ToolCall(self.edit_tool, dict(zip(names, values, strict=True))) if names else None

    @abstractmethod
    def delegate(self, task: str) -> ToolCall:
        """
        A call that gives a task to a sub-agent.
        """

    def wait(self) -> tuple[ToolCall, ...]:
        """
        What the parent does until a sub-agent has ended, where the call does not wait for it.
        """
        return ()

    def closing(self) -> Turn:
        """
        How a sub-agent ends.
        """
        return CLOSING

    def reserve(self, order: int) -> ToolCall:
        """
        A call of the MCP server's tool.
        """
        return ToolCall(self.mcp_tool, {"order": order}, self.mcp_namespace)
