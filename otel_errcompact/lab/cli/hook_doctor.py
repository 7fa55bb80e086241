"""`errcompact hooks doctor`: a table of what held."""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.hooks import HOSTS
from otel_errcompact.hosts.hooks.doctor.checks import diagnose
from otel_errcompact.hosts.hooks.doctor.sending import find_way, find_wrapper
from otel_errcompact.hosts.hooks.settings.places import program_of
from otel_errcompact.lab.cli.output import printable, say, write_json
from otel_errcompact.lab.cli.statuses import FINE, INCOMPLETE

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact.hosts.hooks.doctor.checks import Finding

START_S: Final = 30
"""Seconds that the service may need to start, on a machine with much else to do."""

ATTEMPTS: Final = 4
"""How often what did not hold is tried again: hooks do not wait for an answer that is late."""

_SHOWN: Final = {"yes": "yes", "no": "NO", "cannot": "-"}


def print_diagnosis(host: str, project: Path | None, *, as_json: bool) -> int:
    """
    Try the hooks of a host; return the exit status.

    Raises:
        ConfigurationError: There is no such host, it has no hooks, or the service does not start.
    """
    if host not in HOSTS:
        raise ConfigurationError(f"there is no host {printable(host)!r}; the hosts are {', '.join(HOSTS)}")
    environ = dict(os.environ)
    send = find_way(host, environ, project)
    _await_service()
    sessions: list[str] = []

    def new_session() -> str:
        sessions.append(f"doctor-{secrets.token_hex(6)}")
        return sessions[-1]

    wrap = find_wrapper(environ, project) if host == "claude-code" else None
    try:
        findings = diagnose(host, send, new_session, wrap)
        for _ in range(ATTEMPTS):
            if all(finding.held != "no" for finding in findings):
                break
            # Of a service that has just begun, or a busy machine, an answer may come too late.
            findings = _take_better(findings, diagnose(host, send, new_session, wrap))
    finally:
        _forget(sessions)
    status = INCOMPLETE if any(finding.held == "no" for finding in findings) else FINE
    if as_json:
        write_json(
            {"host": host, "program": program_of(host, environ), "findings": [_fields(each) for each in findings]}
        )
        return status
    for finding in findings:
        print(f"{finding.capability:8} {_SHOWN[finding.held]:4} {printable(finding.evidence)}")  # noqa: T201 - as `say`
    if not program_of(host, environ):
        say(f"the program of {host} was not found: its hooks were tried with events as they were recorded of it")
    return status


def _take_better(first: tuple[Finding, ...], second: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(new if old.held == "no" else old for old, new in zip(first, second, strict=True))


def _fields(finding: Finding) -> dict[str, object]:
    return {name: getattr(finding, name) for name in ("capability", "held", "evidence")}


def _await_service() -> None:
    from otel_errcompact.hosts.client.posting import ask, start

    ends = time.monotonic() + START_S
    while ask("GET", "/v1/health") is None:
        if time.monotonic() > ends:
            raise ConfigurationError(
                f"the service did not start within {START_S} seconds; 'errcompact serve' says why "
                "(it needs the extra 'serve': pip install 'otel-errcompact[serve]')"
            )
        start()
        time.sleep(0.2)


def _forget(sessions: list[str]) -> None:
    from otel_errcompact.hosts.client.posting import ask

    for session in sessions:
        ask("DELETE", f"/v1/runs/{quote(session)}")
