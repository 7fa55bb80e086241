"""`errcompact hooks install`, `uninstall` and `status`."""

from __future__ import annotations

import os
from datetime import timedelta
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.heard import Heard
from otel_errcompact_hosts.hooks import HOSTS
from otel_errcompact_hosts.hooks.settings.entries import PREFIX_VARIABLE, Caller
from otel_errcompact_hosts.hooks.settings.places import find_token, is_found, prefix_path, set_port, settings_file
from otel_errcompact_hosts.hooks.settings.plans import (
    apply_install,
    apply_uninstall,
    installed_entries,
    installed_release,
    plan_install,
    plan_uninstall,
)
from otel_errcompact_hosts.service.places import SERVICE_PACKAGES, find_places
from otel_errcompact_lab.cli.output import FINE, INCOMPLETE, agree, printable, say, write_json, write_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from otel_errcompact_hosts.hooks.settings.plans import Plan

NEXT: Final = {
    "claude-code": "Claude Code reads its settings when it starts: start it again.",
    "codex": "Codex runs a hook only after you have trusted it: enter /hooks in it once.",
    "copilot": "Copilot CLI reads its hooks when it starts: start it again.",
    "cursor": "Cursor's hooks are written after a specification of others, and were not tried with the program.",
    "gemini": "Gemini CLI reads its settings when it starts: start it again.",
    "opencode": "OpenCode loads its plugins when it starts: start it again.",
}


def install_hooks(hosts: Sequence[str], project: Path | None, *, port: int | None, yes: bool) -> int:
    """
    Write hooks into the settings of hosts, and return the exit status.

    Raises:
        ConfigurationError: A host is unknown, or its settings cannot be read or written.
    """
    environ = dict(os.environ)
    named = _check_hosts(hosts) or [host for host in HOSTS if is_found(host, environ)]
    if not named:
        say(f"no coding agent was found; name one: {', '.join(HOSTS)}")
        return INCOMPLETE
    if port is not None and "claude-code" not in named:
        raise ConfigurationError("--http is for claude-code: other hosts cannot call the service's port")
    if port is not None and project is not None:
        raise ConfigurationError("--http is for your own settings: a repository is no place for the token of the port")

    def install_host(host: str) -> int:
        of_host = port if host == "claude-code" else None
        prefix = prefix_path(environ) if host == "claude-code" and project is None else ""
        token = find_token(environ) if of_host is not None else ""
        plan = plan_install(host, Caller(port=of_host, token=token, shell_prefix=prefix), environ, project)
        for entry in plan.left:
            say(f"{plan.path}: {'.'.join(entry.path)} has a value of its own, which is left alone; {_WITHOUT}")
        if not plan.changes:
            apply_install(plan, environ)
            write_line(f"{host}: nothing to do, the hooks are in {plan.path}")
            return FINE
        if not _agree_to_plan(plan, "Write it?", yes=yes):
            return INCOMPLETE
        apply_install(plan, environ)
        if prefix:
            set_port(environ, of_host, token)
        write_line(f"{host}: installed. {NEXT[host]}")
        return FINE

    status = _do_for_each(named, install_host)
    if lacks_service():
        say(f"the hooks cannot report yet: {_NEEDS}")
    return status


def lacks_service() -> bool:
    """Return whether the extra that the service needs is not installed here."""
    return any(find_spec(name) is None for name in SERVICE_PACKAGES)


_NEEDS: Final = "the service needs the extra 'serve': pip install 'otel-errcompact[serve]'"


_WITHOUT: Final = f"without {PREFIX_VARIABLE} the agent reads raw outputs, with counts beside them"


def uninstall_hooks(hosts: Sequence[str], project: Path | None, *, yes: bool) -> int:
    """
    Take our hooks out of settings; return the exit status.

    Raises:
        ConfigurationError: A host is unknown, or its settings cannot be read or written.
    """
    environ = dict(os.environ)

    def uninstall_host(host: str) -> int:
        plan = plan_uninstall(host, environ, project)
        if not plan.changes:
            if hosts:
                write_line(f"{host}: nothing to do, there are no hooks of ours in {plan.path}")
            return FINE
        if not _agree_to_plan(plan, "Undo it?", yes=yes):
            return INCOMPLETE
        if host == "claude-code" and project is None:
            set_port(environ, None)
        apply_uninstall(plan, environ)
        write_line(f"{host}: uninstalled. Sessions that run now keep what they have read: end them.")
        return FINE

    return _do_for_each(_check_hosts(hosts) or HOSTS, uninstall_host)


def _do_for_each(hosts: Sequence[str], act: Callable[[str], int]) -> int:
    # The broken settings of one host are no reason to leave out the others.
    status = FINE
    for host in hosts:
        try:
            status = max(status, act(host))
        except ConfigurationError as error:
            if len(hosts) == 1:
                raise
            say(f"{host}: {error}")
            status = INCOMPLETE
    return status


class HostState(NamedTuple):
    """What is known of a host on this machine."""

    host: str
    found: bool
    installed: bool
    release: str
    file: str
    problem: str
    heard: float | None
    """Seconds since the last event of its hooks."""


def print_status(project: Path | None, *, as_json: bool) -> int:
    """Print which hosts have hooks, and whether the service runs."""
    environ = dict(os.environ)
    states = [_describe_host(host, environ, project) for host in HOSTS]
    service = _find_service()
    if as_json:
        write_json({"hosts": [state._asdict() for state in states], "service": service})
        return FINE
    width = max(map(len, HOSTS))
    for state in states:
        found = "found" if state.found else "not found"
        release = f"installed by {state.release or 'an unknown release'}"
        hooks = state.problem or (f"{release}: {state.file}" if state.installed else "no hooks")
        age = "no event yet" if state.heard is None else f"last event {timedelta(seconds=int(state.heard))} ago"
        hooks += f"; {age}" if state.installed else ""
        write_line(f"{state.host:{width}}  {found:9}  {hooks}")
    mine = version("otel-errcompact")
    away = f"does not run: {_NEEDS}" if lacks_service() else "does not run; the first hook starts it"
    running = f"runs, release {service.get('version', '?')}" if service else away
    for line in ("", f"service: {running}", f"this release: {mine}"):
        write_line(line)
    return FINE


def _describe_host(host: str, environ: dict[str, str], project: Path | None) -> HostState:
    path = settings_file(host, environ, project)
    try:
        installed, problem = bool(installed_entries(host, environ, project)), ""
    except ConfigurationError as error:
        installed, problem = False, str(error)
    return HostState(
        host=host,
        found=is_found(host, environ),
        installed=installed,
        release=installed_release(host, environ, project) if installed else "",
        file=str(path),
        problem=problem,
        heard=Heard(find_places(environ=environ).data).age(host),
    )


def _find_service() -> dict[str, object]:
    from otel_errcompact_hosts.client.posting import ask

    reply = ask("GET", "/v1/health")
    return reply.read() if reply is not None else {}


def _check_hosts(hosts: Sequence[str]) -> list[str]:
    for host in hosts:
        if host not in HOSTS:
            raise ConfigurationError(f"there is no host {printable(host)!r}; the hosts are {', '.join(HOSTS)}")
    return list(dict.fromkeys(hosts))


def _agree_to_plan(plan: Plan, question: str, *, yes: bool) -> bool:
    for line in plan.diff().splitlines():
        write_line(line)
    return agree(question, yes=yes, about=f"{plan.host}: ")
