"""The files of the service, beside its socket, in a private folder."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import service_folder, service_socket
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_PATH: Final = 103
"""Bytes of a socket's path: macOS has 103, Linux four more."""

SERVICE_PACKAGES: Final = ("fastapi", "uvicorn")
"""What the extra `serve` brings, and the service cannot do without."""

_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the service has its files."""

    socket: Path
    token: Path
    """What requests to the port bring; made at the first use of a port."""

    data: Path
    """The folder of what outlives a restart of the machine."""

    @property
    def port(self) -> Path:
        """Says on which port to listen; there where a host calls it."""
        return self.data / f"{self.socket.name}.port"

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self.socket.parent

    @property
    def lock(self) -> Path:
        """Held by the one service that there is."""
        return self._beside("lock")

    @property
    def starting(self) -> Path:
        """There until a service that was started on demand answers."""
        return self._beside("starting")

    @property
    def store(self) -> Path:
        """The runs, which outlive the process."""
        return self.data / f"{self.socket.name}.sqlite3"

    def _beside(self, suffix: str) -> Path:
        return self.socket.with_name(f"{self.socket.name}.{suffix}")


def find_places(
    socket: Path | None = None, token: Path | None = None, environ: Mapping[str, str] | None = None
) -> Places:
    """Return where the service has its files."""
    found = (socket or service_socket(environ)).absolute()
    # The runtime folder is emptied when its user logs out. Who names a place has all in it.
    data = service_folder(environ) if socket is None else None
    data = (data or found.parent).absolute()
    return Places(socket=found, token=(token or data / f"{found.name}.token").absolute(), data=data)


def prepare_folder(places: Places) -> None:
    """
    Make the private folder, or check that it is one.

    Raises:
        ConfigurationError: It is not, or the path of the socket is longer than a socket's may be.
    """
    length = len(os.fsencode(places.socket))
    if length > MAX_PATH:
        raise ConfigurationError(
            f"the path of the socket has {length} bytes, and a socket's may have {MAX_PATH}: {places.socket}; "
            "name a shorter one with --socket or OTEL_ERRCOMPACT_SERVICE"
        )
    for folder in dict.fromkeys((places.folder, places.data)):
        make_private(folder)


def make_private(folder: Path) -> None:
    """Make a private folder, or check that it is one."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise ConfigurationError(
            f"the folder of the service cannot be made: {error}; name a socket in another one with --socket"
        ) from error
    if found.st_uid != os.geteuid():
        raise ConfigurationError(
            f"{folder} belongs to user {found.st_uid}, and not to you; name a socket in a folder of your own"
        )
    if stat.S_IMODE(found.st_mode) & _OTHERS:
        raise ConfigurationError(
            f"{folder} is open to other users, so that they could take the socket's place: chmod 700 {folder}"
        )
