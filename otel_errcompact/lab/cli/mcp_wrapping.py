"""`errcompact mcp wrap` and `errcompact mcp unwrap`."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.hosts.mcp_proxy.configs.files import unwrap_servers, wrap_servers
from otel_errcompact.lab.cli.output import printable, say
from otel_errcompact.lab.cli.statuses import FINE, INCOMPLETE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.hosts.mcp_proxy.configs.files import Changed


def wrap_file(file: Path, servers: Sequence[str], *, program: str, yes: bool) -> int:
    """
    Put the proxy before the servers of a file; return a status.

    Raises:
        ConfigurationError: The file cannot be read or written, or names no such server.
    """
    if shutil.which(program) is None:
        say(f"'{program}' is not on the PATH of this shell; where the client does not find it either, give --program")
    return _change(file, wrap_servers(_read(file), file.name, only=servers, program=program), yes=yes)


def unwrap_file(file: Path, servers: Sequence[str], *, yes: bool) -> int:
    """
    Take the proxy away from them; return a status.

    Raises:
        ConfigurationError: The file cannot be read or written, or names no such server.
    """
    return _change(file, unwrap_servers(_read(file), file.name, only=servers), yes=yes)


def _change(file: Path, changed: Changed, *, yes: bool) -> int:
    for server, reason in changed.left:
        say(f"{file}: '{server}' stays as it is: {reason}")
    if not changed.changed:
        _write("nothing to do")
        return INCOMPLETE if changed.left else FINE
    before = _read(file)
    for line in difflib.unified_diff(
        before.splitlines(), changed.text.splitlines(), str(file), str(file), lineterm="", n=1
    ):
        _write(line)
    if not _agree(yes=yes):
        return INCOMPLETE
    _replace(file, changed.text)
    _write(f"{file}: {', '.join(changed.changed)} changed; start the client again")
    return FINE


def _agree(*, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("nothing was written; repeat the command with --yes, or in a terminal")
        return False
    sys.stdout.write("Write it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: is no UTF-8, which settings are written in") from error


def _replace(file: Path, text: str) -> None:
    target = file.resolve()  # a link stays one
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as new:
                new.write(text.encode("utf-8"))
            shutil.copymode(target, name)
            Path(name).replace(target)
        except OSError:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be written ({error.strerror})") from error


def _write(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
