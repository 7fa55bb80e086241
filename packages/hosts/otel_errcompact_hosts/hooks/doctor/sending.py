"""Pass events to the installed hooks, as their host does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.hooks.doctor.scenes import OUTPUT
from otel_errcompact_hosts.hooks.settings.entries import PREFIX_VARIABLE, TOKEN_VARIABLE, is_ours, list_handlers
from otel_errcompact_hosts.hooks.settings.files import read_file
from otel_errcompact_hosts.hooks.settings.places import settings_file
from otel_errcompact_hosts.hooks.settings.plans import installed_entries
from otel_errcompact_hosts.json_text import JsonText
from otel_errcompact_hosts.payloads import as_list, as_record, parse_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from otel_errcompact_hosts.hooks.doctor.scenes import Event

LIMIT_S: Final = 20
_UNAUTHORIZED: Final = 401


class Way:
    """Passes events to the installed hooks of a host."""

    def __init__(
        self,
        call: Callable[[Event], Mapping[str, object]],
        imitated: str,
        *,
        missing: tuple[str, str] = ("", ""),
        events: frozenset[str] | None = None,
    ) -> None:
        self._call_handler = call
        self.imitated: Final = imitated
        """What of the host was imitated, and how."""

        self._missing = missing
        self._events = events
        self.problems: Final[dict[str, str]] = {}
        """What was in the way, and what to do about it."""

    def __call__(self, event: Event) -> Mapping[str, object]:
        """Pass an event on, and return the answer of the hooks."""
        if not self.has(event.name):
            problem, remedy = self._missing
            self.problems[problem.format(event=event.name)] = remedy
            return {}
        try:
            return self._call_handler(event)
        except SendingError as error:
            self.problems[str(error)] = error.remedy
            return {}

    def has(self, event: str) -> bool:
        """Return whether a hook is installed for an event."""
        return self._events is None or event in self._events


class SendingError(Exception):
    """A program of ours could not be tried: why, and what helps."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def find_way(host: str, environ: Mapping[str, str], project: Path | None = None) -> Way:
    """
    Return what passes an event to the installed hooks of a host.

    Raises:
        ConfigurationError: No hooks are installed, or they do not say which program they call.
    """
    handed = hand_over(host, environ)
    kept = ", ".join(sorted(name for name in set(environ) - set(handed) if name.startswith("OTEL_ERRCOMPACT_")))
    without, environ = f", without {kept}: it hands none to hooks" if kept else "", handed
    entries = installed_entries(host, environ, project)
    path = settings_file(host, environ, project)
    where = f" --project {project}" if project is not None else ""
    install = f"errcompact hooks install {host}{where}"
    if not entries:
        raise ConfigurationError(f"{path} has no hooks of ours; run '{install}' first")
    renew = f"run '{install}': it writes the hooks again"
    if host == "opencode":
        words = _read_caller(str(entries[0]))
        if not words:
            raise ConfigurationError(f"{path} does not say which program to call; run '{install}' again")
        imitated = f"the program that {path} starts; the plugin itself runs in OpenCode alone"
        return Way(lambda event: _run_program([*words, host], event, environ, renew), imitated)
    document = JsonText(path.read_text(encoding="utf-8"), str(path))
    handlers = _find_handlers(document)
    named = as_record(document.get(("env",))).get(TOKEN_VARIABLE)
    environ = {**environ, TOKEN_VARIABLE: str(named or "")}
    return Way(
        lambda event: _call_handler(handlers[event.name], event, environ, renew),
        f"{_describe_handlers(handlers)} in {path}{without}{_UNTRIED.get(host, '')}",
        missing=(f"{path} has no hook of ours for the event {{event}}", renew),
        events=frozenset(handlers),
    )


_UNTRIED: Final = {"cursor": ", with events as its documentation has them: Cursor itself was never tried"}


def _describe_handlers(handlers: Mapping[str, Mapping[str, object]]) -> str:
    by_url = sum(handler.get("type") == "http" for handler in handlers.values())
    return f"{len(handlers) - by_url} commands" + (f" and {by_url} URLs" if by_url else "")


def hand_over(host: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables that a host hands to its hooks and commands."""
    if host not in _KEEP_TELEMETRY:
        return environ
    return {name: value for name, value in environ.items() if not name.startswith("OTEL_")}


_KEEP_TELEMETRY: Final = frozenset({"claude-code", "copilot"})
"""Hosts that keep variables of telemetry to themselves, ours among them."""


def _read_caller(plugin: str) -> list[str]:
    found = re.search(r"^const CALLER = (\[.*\])$", plugin, re.MULTILINE)
    try:
        return cast("list[str]", json.loads(found[1])) if found is not None else []
    except ValueError:
        return []


def find_wrapper(environ: Mapping[str, str], project: Path | None = None) -> Callable[[str], str] | None:
    """
    Return what runs a failing command behind the shell prefix.

    Returns:
        It takes the session and returns what is printed, or raises `SendingError`; None where no prefix of ours is
        installed.
    """
    environ = hand_over("claude-code", environ)
    path = settings_file("claude-code", environ, project)
    content = read_file(path)
    prefix = JsonText((content or b"").decode("utf-8", "replace"), str(path)).get(("env", PREFIX_VARIABLE))
    if not isinstance(prefix, str) or not is_ours(prefix):
        return None
    command = shlex.quote(f"printf '%s\\n' {shlex.quote(OUTPUT)} >&2; exit 1")
    # As Claude Code puts it together.
    script = f"eval {command} \\< /dev/null && pwd -P >| /dev/null"

    def run(session: str) -> str:
        named = {**environ, PREFIX_VARIABLE: prefix, "CLAUDE_CODE_SESSION_ID": session, "CLAUDECODE": "1"}
        done = _start_program([prefix, script], b"", named, _RESTORE)
        return (done.stdout + done.stderr).decode("utf-8", "replace")

    return run


_RESTORE: Final = "run 'errcompact hooks install claude-code': it writes the shell prefix again"


def _start_program(
    words: list[str], given: bytes, environ: Mapping[str, str], remedy: str
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - what the host itself would start
            words, input=given, capture_output=True, env=environ, timeout=LIMIT_S, check=False
        )
    except OSError as error:
        raise SendingError(f"the program {words[0]} cannot be started: {error.strerror}", remedy) from error
    except subprocess.TimeoutExpired as error:
        raise SendingError(f"the program {words[0]} has not ended within {LIMIT_S} seconds", remedy) from error


def _find_handlers(document: JsonText) -> Mapping[str, Mapping[str, object]]:
    return {
        event: handler
        for event, groups in as_record(document.get(("hooks",))).items()
        for group in as_list(groups)
        for handler in map(as_record, list_handlers(group) or (group,))
        if is_ours(handler)
    }


def _call_handler(
    handler: Mapping[str, object], event: Event, environ: Mapping[str, str], renew: str
) -> Mapping[str, object]:
    if handler.get("type") == "http":
        return _post_event(str(handler["url"]), event, fill_headers(handler, environ))
    if "args" in handler:
        words = [str(handler["command"]), *map(str, cast("list[object]", handler["args"]))]
        return _run_program(words, event, environ, renew)
    return _run_program(["/bin/sh", "-c", str(handler.get("bash") or handler.get("command"))], event, environ, renew)


def _run_program(words: list[str], event: Event, environ: Mapping[str, str], renew: str) -> Mapping[str, object]:
    done = _start_program(words, json.dumps(event.fields).encode(), environ, renew)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
        raise SendingError(f"the program {words[0]} has failed with exit status {done.returncode}{said}", renew)
    return parse_record(done.stdout)


def fill_headers(handler: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an HTTP hook, as Claude Code fills them."""
    allowed = {str(name) for name in as_list(handler.get("allowedEnvVars"))}

    def fill(found: re.Match[str]) -> str:
        return environ.get(found["name"], "") if found["name"] in allowed else ""

    headers = as_record(handler.get("headers")).items()
    return {name: re.sub(r"\$\{?(?P<name>\w+)\}?", fill, str(value)) for name, value in headers}


def _post_event(url: str, event: Event, sent: Mapping[str, str]) -> Mapping[str, object]:
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    headers = {"Content-Type": "application/json", **sent}
    request = Request(url, json.dumps(event.fields).encode(), headers)  # noqa: S310 - from the settings
    try:
        with urlopen(request, timeout=LIMIT_S) as reply:  # noqa: S310 - as above
            return parse_record(reply.read())
    except HTTPError as error:
        raise SendingError(_describe_refusal(url, error.code, sent), _RENEW) from error
    except (URLError, OSError, ValueError) as error:
        port = url.partition("://")[2].partition("/")[0].rpartition(":")[2]
        raise SendingError(
            f"nothing answers at {url}",
            f"run 'errcompact hooks install claude-code --http {port}': it lets the service listen there, with another "
            "number if a program has taken that port",
        ) from error


_RENEW: Final = "run 'errcompact hooks install claude-code --http PORT' again: it writes the token again"


def _describe_refusal(url: str, status: int, sent: Mapping[str, str]) -> str:
    if status != _UNAUTHORIZED:
        return f"{url} answers with status {status}"
    brings = sent.get("Authorization", "").removeprefix("Bearer").strip()
    return (
        f"{url} refuses the token that the hook brings" if brings else f"{url} wants a token, and the hook brings none"
    )
