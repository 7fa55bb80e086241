"""`errcompact hooks doctor`: a table of what held."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.hooks import HOSTS
from otel_errcompact_hosts.hooks.doctor.checks import diagnose
from otel_errcompact_hosts.hooks.doctor.sending import find_way, find_wrapper
from otel_errcompact_hosts.hooks.profile import TRIAL
from otel_errcompact_hosts.hooks.settings.places import program_of
from otel_errcompact_lab.cli.output import FINE, INCOMPLETE, printable, say, write_json, write_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from otel_errcompact_hosts.hooks.doctor.checks import Finding
    from otel_errcompact_hosts.hooks.doctor.sending import Way

START_S: Final = 30
"""Seconds that the service may need to start, on a machine with much else to do."""

ATTEMPTS: Final = 4
"""How often what did not hold is tried again: hooks do not wait for an answer that is late."""

_CHANGING: Final = ("OTEL_ERRCOMPACT_ENABLED", "OTEL_ERRCOMPACT_MODE", "OTEL_ERRCOMPACT_THRESHOLDS_")
"""How variables begin that switch off what the doctor looks for."""

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
    way = find_way(host, environ, project)
    _await_service()
    wrap = find_wrapper(environ, project) if host == "claude-code" else None
    findings = _try_hooks(host, way, wrap)
    failed = [finding for finding in findings if finding.held == "no"]
    steps = _list_advice(way.problems, environ) if failed else ()
    status = INCOMPLETE if failed else FINE
    prefix = " and the shell prefix" if wrap is not None else ""
    if as_json:
        found = {
            "host": host,
            "program": program_of(host, environ),
            "imitated": way.imitated + prefix,
            "findings": list(map(asdict, findings)),
            "problems": list(way.problems) if failed else [],
            "steps": list(steps),
        }
        write_json(found)
        return status
    write_line(f"tried: {way.imitated}{prefix}")
    _print_table(findings, way.problems, steps)
    if not program_of(host, environ):
        say(f"{host} itself was not found here: its hooks were tried with events of the form that it sends")
    return status


def _try_hooks(host: str, way: Way, wrap: Callable[[str], str] | None) -> tuple[Finding, ...]:
    sessions: list[str] = []

    def new_session() -> str:
        sessions.append(f"{TRIAL}{secrets.token_hex(6)}")
        return sessions[-1]

    try:
        findings = diagnose(host, way, new_session, wrap)
        for _ in range(ATTEMPTS):
            if all(finding.held != "no" for finding in findings):
                break
            # Of a service that has just begun, or a busy machine, an answer may come too late.
            tried = zip(findings, diagnose(host, way, new_session, wrap), strict=True)
            findings = tuple(new if old.held == "no" else old for old, new in tried)
        return findings
    finally:
        _forget_sessions(sessions)


def _print_table(findings: tuple[Finding, ...], problems: Mapping[str, str], steps: tuple[str, ...]) -> None:
    for finding in findings:
        impossible = "not possible: " if finding.held == "cannot" else ""
        write_line(f"{finding.capability:8} {_SHOWN[finding.held]:4} {impossible}{finding.evidence}")
    failed = sum(finding.held == "no" for finding in findings)
    if not failed:
        return
    write_line("")
    write_line(f"{failed} of {len(findings)} did not hold{':' if problems else '.'}")
    for problem in problems:
        write_line(f"- {problem}")
    write_line("What to do:")
    for step in steps:
        write_line(f"- {step}")


def _list_advice(problems: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, ...]:
    steps = list(dict.fromkeys(problems.values()))
    options = [name for name in sorted(environ) if name.startswith(_CHANGING)]
    if options:
        steps.append(f"these options change what holds, if the service has them too: {', '.join(options)}")
    if not steps:
        steps.append(
            "try again when the machine has less to do: a hook waits 0.3 seconds for the service, and then says nothing"
        )
        steps.append("'errcompact hooks status' says whether the service runs, and which release has written the hooks")
        steps.append("'errcompact serve --replace' restarts the service")
    return tuple(steps)


def _await_service() -> None:
    from otel_errcompact_hosts.client.posting import ask, start

    ends = time.monotonic() + START_S
    while ask("GET", "/v1/health") is None:
        if time.monotonic() > ends:
            raise ConfigurationError(
                f"the service did not start within {START_S} seconds; 'errcompact serve' says why "
                "(it needs the extra 'serve': pip install 'otel-errcompact[serve]')"
            )
        start()
        time.sleep(0.2)


def _forget_sessions(sessions: list[str]) -> None:
    from otel_errcompact_hosts.client.posting import ask

    for session in sessions:
        ask("DELETE", f"/v1/runs/{quote(session)}")
