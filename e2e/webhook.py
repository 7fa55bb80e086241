"""What an operator's pager would be: takes Alertmanager's notifications, and remembers when each came."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """
    One alert of a notification.
    """

    at: float
    """When it came (`time.time()`)."""

    status: str
    """`firing` or `resolved`."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    notification: Mapping[str, object]
    """The whole notification it came in."""

    @property
    def name(self) -> str:
        """The name of its rule."""
        return self.labels["alertname"]


class Receiver:
    """
    An HTTP server on a free port of the loopback interface that keeps what is posted, from construction to `close`.
    """

    def __init__(self) -> None:
        self._posted: list[tuple[float, Any]] = []
        posted = self._posted

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                now = time.time()
                posted.append((now, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                # What Slack answers.
                self.wfile.write(b"ok")

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The URL to send to."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    @property
    def bodies(self) -> tuple[Any, ...]:
        """All that was posted, in that order."""
        return tuple(body for _, body in self._posted)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Webhook(Receiver):
    """
    What Alertmanager's own webhook posts to.
    """

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """All that came, in that order."""
        return tuple(
            Alert(
                at=at,
                status=alert["status"],
                labels=alert["labels"],
                annotations=alert["annotations"],
                notification=notification,
            )
            for at, notification in self._posted
            for alert in notification["alerts"]
        )

    def firing(self, name: str, **labels: str) -> list[Alert]:
        """Return the firing alerts of a rule that have these labels."""
        return [
            alert
            for alert in self.alerts
            if alert.name == name and alert.status == "firing" and labels.items() <= alert.labels.items()
        ]
