"""Find the settings of each host, of users and projects."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.config import find_state_home

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
OWN_FILES: Final = frozenset({"copilot", "opencode"})
"""Hosts that read every file of a folder, so that ours is a file of its own."""


def settings_file(host: str, environ: Mapping[str, str], project: Path | None = None) -> Path:
    """
    Return the file that takes the hooks of a host.

    Args:
        host: The host's name.
        environ: The environment.
        project: The repository's root; the user's own settings if None.
    """
    home = _HOMES[host]
    return _settings_folder(home, environ) / home.file if project is None else project / home.project


def is_found(host: str, environ: Mapping[str, str]) -> bool:
    """Return whether the host's program or its folder is there."""
    home = _HOMES[host]
    path = environ.get("PATH")
    return any(shutil.which(name, path=path) for name in home.programs) or _settings_folder(home, environ).is_dir()


def program_of(host: str, environ: Mapping[str, str]) -> str:
    """Return the path of the host's program; empty if there is none."""
    found = (shutil.which(name, path=environ.get("PATH")) for name in _HOMES[host].programs)
    return next(filter(None, found), "")


def receipts_folder(environ: Mapping[str, str]) -> Path:
    """Return where it is kept what an installation has changed."""
    return find_state_home(environ) / "hooks"


def _settings_folder(home: _Home, environ: Mapping[str, str]) -> Path:
    named = environ.get(home.variable, "") if home.variable else ""
    if named:
        return Path(named).absolute()
    if home.folder.startswith(".config/") and environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]).absolute() / home.folder.removeprefix(".config/")
    return Path(environ.get("HOME") or Path.home()) / home.folder
