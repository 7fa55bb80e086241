"""Say what each host's settings need to call us."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.hooks.profile import OF_CALLS
from otel_errcompact_hosts.hooks.profiles import PROFILES
from otel_errcompact_hosts.payloads import as_list, as_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLIENT: Final = Path(__file__).parents[2] / "client" / "hook.py"
"""The program that passes an event to the service."""

PREFIX_VARIABLE: Final = "CLAUDE_CODE_SHELL_PREFIX"
TOKEN_VARIABLE: Final = "ERRCOMPACT_SERVICE_BEARER"  # noqa: S105 - the name of a variable
"""
The variable from which Claude Code takes the token that it sends to the service's port.

It puts none into headers that begins with `OTEL_`.
"""

OF_ENVIRONMENT: Final = (("env", PREFIX_VARIABLE), ("env", TOKEN_VARIABLE))
"""The places of what is set for Claude Code and all that it starts."""

TIMEOUT_S: Final = 5
"""Seconds; the client itself gives up much earlier, but Python may start slowly."""

CLIENT_SIGN: Final = "otel_errcompact_hosts/client/"
"""What stands in every entry of ours that starts a program."""

_OURS: Final = (CLIENT_SIGN, "ERRCOMPACT_SERVICE_BEARER", "otel-errcompact/hooks/errcompact-shell")
"""What stands in every entry of ours, of whatever version, and in none of others: URLs of others may be like ours."""

_BY_COMMAND_ALONE: Final = frozenset({"SessionStart", "UserPromptSubmit", "SessionEnd"})
"""
Events that come when there is no time, or start the service, which needs seconds: so it answers at the first failure.
"""

_MATCHERS: Final[Mapping[str, str]] = {"claude-code": "*", "codex": ".*", "cursor": ".*", "gemini": "*"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value in a settings file."""

    path: tuple[str, ...]
    """Of the array that it is added to, or of the value itself."""

    value: object
    is_element: bool = True
    """Whether it is added to an array; else it is the value at the path, where nothing stands yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """How a host calls us."""

    python: str = sys.executable
    client: str = str(CLIENT)
    port: int | None = None
    """The service's port, for a host that calls URLs; the client's program if None."""

    token: str = ""
    """What the port asks for."""

    shell_prefix: str = ""
    """The wrapper of commands in Claude Code; empty for none."""


def list_entries(host: str, caller: Caller) -> tuple[Entry, ...]:
    """Return what the settings of a host need, in order."""
    made = [] if host not in {"copilot", "cursor"} else [Entry(path=("version",), value=1, is_element=False)]
    for event, kind in PROFILES[host].events.items():
        matcher = _MATCHERS.get(host, "") if kind in OF_CALLS else ""
        made.append(Entry(path=("hooks", event), value=_make_group(host, event, matcher, caller)))
    if host == "claude-code":
        values = zip(OF_ENVIRONMENT, (caller.shell_prefix, caller.token), strict=True)
        made += [Entry(path=path, value=value, is_element=False) for path, value in values if value]
    return tuple(made)


def _make_group(host: str, event: str, matcher: str, caller: Caller) -> dict[str, object]:
    handler = _make_handler(host, event, caller)
    if host == "copilot":
        return handler
    matched: dict[str, object] = {"matcher": matcher} if matcher else {}
    return {**handler, **matched} if host == "cursor" else {**matched, "hooks": [handler]}


def _make_handler(host: str, event: str, caller: Caller) -> dict[str, object]:
    words = ["-I", "-S", caller.client, host, event]
    if host == "claude-code":
        if caller.port is not None and event not in _BY_COMMAND_ALONE:
            return _make_http_handler(host, caller.port)
        return {"type": "command", "command": caller.python, "args": words, "timeout": TIMEOUT_S}
    # A program that is gone must not end with a status: Copilot would refuse every call.
    command = f"{shlex.join([caller.python, *words])} 2>/dev/null || true"
    if host == "copilot":
        return {"type": "command", "bash": command, "timeoutSec": TIMEOUT_S}
    if host == "cursor":
        # It blocks calls whose hook prints no JSON.
        return {"command": f'o=$({command}); printf %s "${{o:-{{\\}}}}"', "timeout": TIMEOUT_S}
    if host == "gemini":
        return {"name": "errcompact", "type": "command", "command": command, "timeout": TIMEOUT_S * 1_000}
    return {"type": "command", "command": command, "timeout": TIMEOUT_S}


def _make_http_handler(host: str, port: int) -> dict[str, object]:
    return {
        "type": "http",
        "url": f"http://127.0.0.1:{port}/v1/hooks/{host}",
        "headers": {"Authorization": f"Bearer ${TOKEN_VARIABLE}"},
        "allowedEnvVars": [TOKEN_VARIABLE],
        "timeout": TIMEOUT_S,
    }


def is_ours(value: object, place: tuple[str | int, ...] = ()) -> bool:
    """Return whether a value is ours; a token is by its place."""
    if place == OF_ENVIRONMENT[1]:
        return value is not None
    written = json.dumps(value, ensure_ascii=False, default=str)
    return any(sign in written for sign in _OURS)


def list_handlers(group: object) -> Sequence[object] | None:
    """Return the handlers in a group; None if it is one."""
    record = as_record(group)
    return as_list(record["hooks"]) if isinstance(record.get("hooks"), list) else None
