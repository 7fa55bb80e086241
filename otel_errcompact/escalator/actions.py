"""What an escalation may be answered with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from otel_errcompact.escalator.escalation import ActionName


@dataclass(frozen=True, slots=True)
class Halt:
    """Stop the run: the next gate raises `RunHalted`."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Continue:
    """Let the run continue with fresh counters."""

    message: str = ""
    """The human's message; the agent reads it in the next digest."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Hold the run until a human answers: gates raise `RunPaused` until `run.resume()`."""

    reason: str = ""


Action = Halt | Continue | Pause
Handler = Callable[[Escalation], "Action | Awaitable[Action]"]
FinalText = str | Callable[[Escalation], str]
"""What the end user reads of a stopped run, or what writes it."""


_WORDS: Final[dict[str, type[Halt | Continue | Pause]]] = {"halt": Halt, "continue": Continue, "pause": Pause}


def read_action(reply: object) -> Action:
    """
    Return the action that a human's reply stands for.

    Args:
        reply: An action; yes or no as a bool; a text, which lets the agent continue and is shown to it; or a mapping
            with an `action` (`halt`, `continue`, `pause`) and a `message`.

    Raises:
        ConfigurationError: `reply` is none of these.
    """
    if isinstance(reply, Halt | Continue | Pause):
        return reply
    if isinstance(reply, bool):
        return Continue() if reply else Halt("a human said no")
    if isinstance(reply, str):
        return _WORDS[reply.lower()]() if reply.lower() in _WORDS else Continue(reply)
    if isinstance(reply, Mapping):
        fields = cast("Mapping[str, object]", reply)
        if (kind := _WORDS.get(str(fields.get("action")))) is not None:
            return kind(str(fields.get("message") or ""))
    raise ConfigurationError(
        f"the answer to an escalation was {reply!r}; answer Halt(), Continue() or Pause(), yes or no, a text for the "
        "agent, or {'action': 'continue', 'message': '...'}"
    )


def name_action(action: Action) -> ActionName:
    """Return the name of an answer in telemetry and reports."""
    if isinstance(action, Halt):
        return "halt"
    return "continue" if isinstance(action, Continue) else "pause"
