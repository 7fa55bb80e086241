"""What an operator's mail server would be: takes messages, and keeps them."""

from __future__ import annotations

from email import message_from_bytes, policy
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import EmailMessage


class Mailbox:
    """
    An SMTP server on a free port of the loopback interface, from construction to `close`.
    """

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        messages = self.messages

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                self._say(220)
                for line in self.rfile:
                    command = line[:4].upper()
                    if command == b"DATA":
                        self._say(354)
                        messages.append(message_from_bytes(self._message(), policy=policy.default))
                    self._say(221 if command == b"QUIT" else 250)

            def _say(self, code: int) -> None:
                self.wfile.write(b"%d localhost\r\n" % code)

            def _message(self) -> bytes:
                lines = iter(self.rfile.readline, b".\r\n")
                return b"".join(line.removeprefix(b".") for line in lines)

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The host and port to send to."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
