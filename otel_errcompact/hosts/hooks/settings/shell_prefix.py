"""The program before Claude Code's shell commands, in our own folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.hooks.settings.places import receipts_folder
from otel_errcompact.hosts.wrapping.launcher import NAME, write_launcher

if TYPE_CHECKING:
    from collections.abc import Mapping


def prefix_path(environ: Mapping[str, str]) -> str:
    """Return where the program is or would be."""
    return str(receipts_folder(environ) / NAME)


def write_prefix(environ: Mapping[str, str]) -> None:
    """
    Write the program.

    Raises:
        ConfigurationError: It cannot be written.
    """
    try:
        write_launcher(receipts_folder(environ))
    except OSError as error:
        raise ConfigurationError(f"{prefix_path(environ)} cannot be written: {error.strerror}") from error


def delete_prefix(environ: Mapping[str, str]) -> None:
    """Delete the program."""
    (receipts_folder(environ) / NAME).unlink(missing_ok=True)
