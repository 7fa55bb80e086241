"""The tool calls of a host, and what it does about them."""

from __future__ import annotations

import os
import sys
from typing import Literal, cast

from otel_errcompact.detector.operation.fingerprint import parse_arguments
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.bypass import is_left_alone


def find_way_back() -> str:
    """Say how an agent with a shell gets a whole text again."""
    is_found = any(os.access(f"{folder}/errcompact", os.X_OK) for folder in os.get_exec_path())
    return f"{'errcompact' if is_found else f'{sys.executable} -m otel_errcompact'} raw '#{{key}}'"


Outcome = Literal["success", "failure", "ignored", "counted"]
"""`ignored` is neither, as a declined call; `counted` is a call whose id another report has brought before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCall:
    """A tool call, as its host reports it."""

    run_id: str
    """The host's session; of a sub-agent `session/agent`."""

    tool: str
    arguments: str = ""
    """As JSON; empty if unknown."""

    call_id: str = ""
    """The host's id of the call; empty where it gives none, and then every report counts."""

    agent: str = ""
    """The agent's name, as metrics show it."""

    directory: str = ""
    """The call's working directory; empty if unknown."""

    turn: str = ""
    """The host's id of the model's message that asked for it; empty where only `begin_turn` is known."""

    stoppable: bool = True
    """Whether whoever reports it asks before a call, or obeys the verdict; a wrapper of commands does neither."""

    says_turns: bool = False
    """Whether its host says by `begin_turn` when a turn begins; the first one begins with the first call."""

    @property
    def line(self) -> str:
        """The command line; empty for other tools."""
        given = parse_arguments(self.arguments)
        found = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        line = found.get("command") or found.get("cmd")
        return line if isinstance(line, str) else ""

    @property
    def is_left_alone(self) -> bool:
        """Whether its command line itself says that its output stays raw."""
        return "errcompact" in self.arguments.lower() and is_left_alone(self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResult:
    """What a call has returned, before it is judged."""

    text: str
    """The whole output, without the host's own decorations."""

    failed: bool | None = None
    """What the host says; None where it says nothing, so that exit status and text decide."""

    exit_code: int | None = None
    """The exit status of a command; None if unknown."""

    type: str = ""
    """What the host calls the error, for a text that names no type; empty if it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a call."""

    outcome: Outcome
    text: str = ""
    """What the agent reads for a failure; empty for all else, for one that a success only states, and in `observe`."""

    key: str = ""
    """The dedup key of the failure's class."""

    short: str = ""
    """The name of the class in digests, without its `#`."""

    count: int = 0
    """Occurrences of that class in the run."""

    streak: int = 0
    """Turns in which its operation failed with the class since it last succeeded."""

    total: int = 0
    """Failures of any class in the run."""

    guidance: str = ""
    """What a human has answered to an escalation, once."""

    notice: str = ""
    """That an identical call succeeds again and again: for beside a success, and never in it."""

    @property
    def beside(self) -> str:
        """What stands beside a result."""
        return "\n".join(filter(None, (self.guidance, self.notice)))
