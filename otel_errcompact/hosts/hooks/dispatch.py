"""The hosts, and one guarded way to answer their events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.hooks import claude_code, codex, copilot, cursor, gemini, opencode
from otel_errcompact.installation.install import current_ledger

if TYPE_CHECKING:
    from otel_errcompact.hosts.calls import HostRuns
    from otel_errcompact.runtime.guard import Guard

Adapter = Callable[[Mapping[str, object], "HostRuns"], dict[str, object]]

_ADAPTERS: Final[Mapping[str, Adapter]] = {
    "claude-code": claude_code.answer,
    "codex": codex.answer,
    "copilot": copilot.answer,
    "cursor": cursor.answer,
    "gemini": gemini.answer,
    "opencode": opencode.answer,
}
HOSTS: Final = tuple(_ADAPTERS)
"""The names of the hosts, as the command line and the service take them."""

STAGE: Final = "hook"
"""Where the guard counts faults of an adapter."""


def answer(host: str, event: Mapping[str, object], runs: HostRuns, *, guard: Guard | None = None) -> dict[str, object]:
    """
    Return a host's own JSON answer to an event of its hooks.

    Args:
        host: The host's name, one of `HOSTS`.
        event: What the host has written; fields that are missing or odd count as empty.
        runs: The runs of all hosts.
        guard: Counts faults of ours, which the host never sees; that of the current ledger if None.

    Returns:
        The answer; empty where there is nothing to say, and then the host does what it does without us.

    Raises:
        ConfigurationError: There is no such host.
    """
    adapter = _ADAPTERS.get(host)
    if adapter is None:
        raise ConfigurationError(f"there are no hooks for the host {host!r}; the hosts are {', '.join(HOSTS)}")
    guard = current_ledger().guard if guard is None else guard
    with guard.stage(STAGE):
        return adapter(event, runs)
    return {}
