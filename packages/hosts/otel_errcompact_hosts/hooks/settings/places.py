"""Find the settings of each host, of users and projects."""

from __future__ import annotations

import errno
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.config import find_state_home
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.ports.sockets import make_token, read_token
from otel_errcompact_hosts.service.lifecycle import find_running, stop_running
from otel_errcompact_hosts.service.places import find_places, make_private
from otel_errcompact_hosts.wrapping.launcher import NAME, write_launcher

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Home(NamedTuple):
    folder: str
    """In the user's home."""

    variable: str
    """What moves it elsewhere, where the host has such a variable."""

    file: str
    project: str
    programs: tuple[str, ...]


_HOMES: Final[Mapping[str, _Home]] = {
    "claude-code": _Home(
        ".claude", "CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json", ("claude",)
    ),
    "codex": _Home(".codex", "CODEX_HOME", "hooks.json", ".codex/hooks.json", ("codex",)),
    "copilot": _Home(
        ".copilot", "COPILOT_HOME", "hooks/errcompact.json", ".github/hooks/errcompact.json", ("copilot",)
    ),
    "cursor": _Home(".cursor", "", "hooks.json", ".cursor/hooks.json", ("cursor-agent", "cursor")),
    "gemini": _Home(".gemini", "", "settings.json", ".gemini/settings.json", ("gemini",)),
    "opencode": _Home(
        ".config/opencode",
        "OPENCODE_CONFIG_DIR",
        "plugin/errcompact.js",
        ".opencode/plugin/errcompact.js",
        ("opencode",),
    ),
}  # fmt: skip
_OTHERS: Final = 0o077
OWN_FILES: Final = frozenset({"copilot", "opencode"})
"""Hosts that read every file of a folder, so that ours is a file of its own."""


def settings_file(host: str, environ: Mapping[str, str], project: Path | None = None) -> Path:
    """Return the file of the project, or user, that takes hooks."""
    home = _HOMES[host]
    return _settings_folder(home, environ) / home.file if project is None else project / home.project


def is_found(host: str, environ: Mapping[str, str]) -> bool:
    """Return whether the host's program or its folder is there."""
    return bool(program_of(host, environ)) or _settings_folder(_HOMES[host], environ).is_dir()


def program_of(host: str, environ: Mapping[str, str]) -> str:
    """Return the path of the host's program; empty if there is none."""
    found = (shutil.which(name, path=environ.get("PATH")) for name in _HOMES[host].programs)
    return next(filter(None, found), "")


def receipts_folder(environ: Mapping[str, str]) -> Path:
    """Return where it is kept what an installation has changed."""
    return find_state_home(environ) / "hooks"


def prefix_path(environ: Mapping[str, str]) -> str:
    """Return where the program is or would be."""
    return str(receipts_folder(environ) / NAME)


def write_prefix(environ: Mapping[str, str]) -> None:
    """Write the program."""
    try:
        write_launcher(receipts_folder(environ))
    except OSError as error:
        raise ConfigurationError(f"{prefix_path(environ)} cannot be written: {error.strerror}") from error


def delete_prefix(environ: Mapping[str, str]) -> None:
    """Delete the program."""
    (receipts_folder(environ) / NAME).unlink(missing_ok=True)


def find_token(environ: Mapping[str, str]) -> str:
    """
    Return the token of the service's port, or a new one.

    Raises:
        ConfigurationError: It cannot be read, or the settings that it would stand in can be read by others.
    """
    settings, places = settings_file("claude-code", environ), find_places(environ=environ)
    if settings.exists() and stat.S_IMODE(settings.stat().st_mode) & _OTHERS:
        raise ConfigurationError(f"other users can read {settings}, where a token would stand: chmod 600 it first")
    return read_token(places.token) if places.token.exists() else make_token()


def set_port(environ: Mapping[str, str], port: int | None, token: str = "") -> None:
    """
    Let the service listen on a port from its next start.

    None is for no port. The next event starts it.

    Raises:
        ConfigurationError: That cannot be kept.
        ServiceError: One that runs with another port cannot be ended.
    """
    places = find_places(environ=environ)
    try:
        if port is not None:
            make_private(places.data)
            read_token(places.token, token)
            places.port.write_text(f"{port}\n", encoding="ascii")
        elif places.port.exists():
            places.port.unlink()
            places.token.unlink(missing_ok=True)
            places.data.rmdir()
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise ConfigurationError(f"{places.port} cannot be changed: {error.strerror}") from error
    running = find_running(places.socket) if port is not None else None
    if running is not None and running.port != port:
        stop_running(running, places.socket)


def _settings_folder(home: _Home, environ: Mapping[str, str]) -> Path:
    named = environ.get(home.variable, "") if home.variable else ""
    if named:
        return Path(named).absolute()
    if home.folder.startswith(".config/") and environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]).absolute() / home.folder.removeprefix(".config/")
    return Path(environ.get("HOME") or Path.home()) / home.folder
