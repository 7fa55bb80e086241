"""One guarded way to answer the events of all hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.hooks.profile import answer_event
from otel_errcompact.hosts.hooks.profiles import PROFILES
from otel_errcompact.installation.install import current_ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.hosts.calls import HostRuns
    from otel_errcompact.runtime.guard import Guard

HOSTS: Final = tuple(PROFILES)
"""The names of the hosts, as the command line and the service take them."""

STAGE: Final = "hook"
"""Where the guard counts faults of ours."""


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
    profile = PROFILES.get(host)
    if profile is None:
        raise ConfigurationError(f"there are no hooks for the host {host!r}; the hosts are {', '.join(HOSTS)}")
    guard = current_ledger().guard if guard is None else guard
    with guard.stage(STAGE):
        return answer_event(profile, event, runs)
    return {}
