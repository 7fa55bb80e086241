"""Bound connections, and the time in which a request comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MAX_CONNECTIONS: Final = 64
"""Connections of a port or socket. One more ends the one that has waited longest for a request."""

MAX_HEADERS: Final = 16_384
"""Bytes of the line and the headers of a request, and up to as many more."""

MAX_PIECES: Final = 16_384
"""Pieces in which a body may come: each costs as much as a thousand bytes."""

REQUEST_S: Final = 30.0
"""Seconds in which a request has to come, from its first byte to its last."""

KEEP_ALIVE_S: Final = 75
"""Seconds for which a host's connection stays open between two calls."""

_GRACE_S: Final = 5
"""Seconds that requests under way get at the end."""

_COMES: Final = (h11.IDLE, h11.SEND_BODY)
"""States of a sender whose request is not there yet."""


def make_server(app: Any) -> Server:
    """Return a server whose connections are bounded."""
    return Server(
        Config(
            app,
            access_log=False,
            http=BoundedProtocol,
            lifespan="off",
            log_config=None,
            log_level="warning",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            ws="none",
        )
    )


class _CountingConnection(h11.Connection):
    pieces = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.pieces = 0
        elif isinstance(event, h11.Data):
            self.pieces += 1
            if self.pieces > MAX_PIECES:
                raise h11.RemoteProtocolError("too many pieces")
        return event


class BoundedProtocol(H11Protocol):
    """One connection, which ends where its request does not come."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and make room for it."""
        super().connection_made(transport)
        self.conn = _CountingConnection(h11.SERVER, MAX_HEADERS)
        self.since = self.loop.time()
        """Since when it has waited for a request."""
        self._watch()
        others = [each for each in self.connections if isinstance(each, BoundedProtocol) and each.server == self.server]
        if len(others) > MAX_CONNECTIONS:
            # Requests that are there are answered first.
            min(others, key=lambda each: (each.is_served, each.since)).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        # In small parts: headers that come at once have no other bound.
        for at in range(0, len(data), MAX_HEADERS):
            if not self.transport.is_closing():
                super().data_received(data[at : at + MAX_HEADERS])
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_watch()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, unless it has its answer already."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    @property
    def is_served(self) -> bool:
        """Whether its request is there and not answered yet."""
        return self.conn.their_state not in _COMES

    def _watch(self) -> None:
        if self.is_served:
            self.since = self.loop.time()
            self._stop_watch()
        elif self._late is None:
            self._late = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_watch(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
