"""`errcompact mcp wrap` and `errcompact mcp unwrap`."""

from __future__ import annotations

import difflib
import shutil
from typing import TYPE_CHECKING

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.hooks.settings.files import read_file, write_file
from otel_errcompact_hosts.mcp_proxy.configs.files import unwrap_servers, wrap_servers
from otel_errcompact_lab.cli.output import FINE, INCOMPLETE, agree, say, write_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from otel_errcompact_hosts.mcp_proxy.configs.files import Changed


def wrap_file(file: Path, servers: Sequence[str], *, program: str, yes: bool) -> int:
    """
    Put the proxy before the servers of a file; return a status.

    Raises:
        ConfigurationError: The file cannot be read or written, or names no such server.
    """
    if shutil.which(program) is None:
        say(f"'{program}' is not on the PATH of this shell; where the client does not find it either, give --program")
    before = _read_text(file)
    return _change_file(file, before, wrap_servers(before, file.name, only=servers, program=program), yes=yes)


def unwrap_file(file: Path, servers: Sequence[str], *, yes: bool) -> int:
    """
    Take the proxy away from them; return a status.

    Raises:
        ConfigurationError: The file cannot be read or written, or names no such server.
    """
    before = _read_text(file)
    return _change_file(file, before, unwrap_servers(before, file.name, only=servers), yes=yes)


def _change_file(file: Path, before: str, changed: Changed, *, yes: bool) -> int:
    for server, reason in changed.left:
        say(f"{file}: '{server}' stays as it is: {reason}")
    if not changed.changed:
        write_line("nothing to do")
        return INCOMPLETE if changed.left else FINE
    for line in difflib.unified_diff(
        before.splitlines(), changed.text.splitlines(), str(file), str(file), lineterm="", n=1
    ):
        write_line(line)
    if not agree("Write it?", yes=yes):
        return INCOMPLETE
    write_file(file, changed.text.encode("utf-8"), expected=before.encode("utf-8"))
    write_line(f"{file}: {', '.join(changed.changed)} changed; start the client again")
    return FINE


def _read_text(file: Path) -> str:
    try:
        return (read_file(file) or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: is no UTF-8, which settings are written in") from error
