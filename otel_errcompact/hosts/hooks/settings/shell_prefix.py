"""The program before Claude Code's shell commands, in our own folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.hooks.settings.places import receipts_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME: Final = "errcompact-shell"
_LAUNCHER: Final = "otel_errcompact.hosts.wrapping.launcher"
_FILE: Final = Path(__file__).parents[2] / "wrapping" / "launcher.py"


def prefix_path(environ: Mapping[str, str]) -> str:
    """Return where the program is or would be; empty if there is none to write."""
    return str(receipts_folder(environ) / NAME) if _FILE.is_file() else ""


def write_prefix(environ: Mapping[str, str]) -> None:
    """
    Write the program.

    Raises:
        ConfigurationError: It cannot be written.
    """
    write = cast("Callable[[Path], Path]", import_module(_LAUNCHER).write_launcher)
    try:
        write(receipts_folder(environ))
    except OSError as error:
        raise ConfigurationError(f"{prefix_path(environ)} cannot be written: {error.strerror}") from error


def delete_prefix(environ: Mapping[str, str]) -> None:
    """Delete the program."""
    (receipts_folder(environ) / NAME).unlink(missing_ok=True)
