"""The receiver with its ports, alone or beside the local service."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import signal
import socket
import sys
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact.installation.install import current_ledger, install, uninstall
from otel_errcompact.otel import semconv
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.grpc_server import GrpcServer
from otel_errcompact_hosts.telemetry.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact_hosts.runs import LedgerRuns

HOST: Final = "127.0.0.1"
HTTP_PORT: Final = 4318
GRPC_PORT: Final = 4317

NAME: Final = "errcompact-receiver"
"""What the receiver alone is called in telemetry, unless `OTEL_SERVICE_NAME` gives it another name."""

_END_S: Final = 5.0
_logger: Final = logging.getLogger(semconv.SCOPE)


class TelemetryServer:
    """
    Listens for OTLP in threads of its own, until it is closed.

    Args:
        runs: Judges and counts the calls: those of the local service, or `ReportedRuns`.
        host: The address to listen on.
        port: The port of HTTP; 0 for any free one.
        grpc_port: The port of gRPC; 0 for any free one, None for none.
        token: What senders bring. Where others than this machine can reach the address it must be given: empty to ask
            for none.
        on_request: Called at each request, for a service that ends when it is idle.

    Raises:
        MissingExtraError: The extra `serve` is not installed.
        ConfigurationError: A port cannot be listened on, or a token is missing.
    """

    def __init__(
        self,
        runs: LedgerRuns,
        *,
        host: str = HOST,
        port: int = HTTP_PORT,
        grpc_port: int | None = GRPC_PORT,
        token: str | None = None,
        on_request: Callable[[], object] = lambda: None,
    ) -> None:
        try:
            import uvicorn

            from otel_errcompact_hosts.telemetry.app import telemetry_app
        except ModuleNotFoundError as error:
            raise MissingExtraError("to receive telemetry", "serve") from error
        if token is None and not _is_loopback(host):
            raise ConfigurationError(
                f"other machines can reach {host}, and no token is asked for; give --token-file FILE with a token that "
                "senders bring, or --without-token where only a private network reaches it"
            )
        token = token or ""
        self.receiver: Final = Receiver(runs, guard=current_ledger().guard)
        """Takes the requests."""
        self._host = host
        self._socket = _bind_port(host, port)
        self.port: Final = int(self._socket.getsockname()[1])
        """The port of HTTP."""
        self._grpc = _listen_grpc(self.receiver, host, grpc_port, token, on_request) if grpc_port is not None else None
        app = telemetry_app(self.receiver, token=token, on_request=on_request)
        config = uvicorn.Config(app, access_log=False, log_config=None, lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), name="errcompact-otlp-http", daemon=True)
        self._thread.start()

    @property
    def grpc_port(self) -> int | None:
        """The port of gRPC; None where it is not listened on."""
        return self._grpc.port if self._grpc is not None else None

    def __str__(self) -> str:
        grpc = f" and {_join(self._host, self.grpc_port)} (gRPC)" if self.grpc_port is not None else ""
        return f"OTLP on {_join(self._host, self.port)} (HTTP){grpc}, counted and not passed on"

    def close(self) -> None:
        """Answer the requests under way, and end."""
        self._server.should_exit = True
        if self._grpc is not None:
            self._grpc.close()
        self._thread.join(_END_S)
        self._socket.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Receive telemetry until a signal, as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m otel_errcompact_hosts.telemetry",
        description="Receive the telemetry of agents by OTLP, and count the failed calls in it. Nothing is passed on: "
        "let a collector send it here and to your back ends.",
    )
    parser.add_argument("--host", default=HOST, help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=HTTP_PORT, help="the port of HTTP (%(default)s)")
    parser.add_argument("--grpc-port", type=int, default=GRPC_PORT, help="the port of gRPC, 0 for none (%(default)s)")
    asking = parser.add_mutually_exclusive_group()
    asking.add_argument(
        "--token-file", type=Path, help="a file with the token that senders bring; needed where other machines send"
    )
    asking.add_argument(
        "--without-token",
        action="store_true",
        help="ask for no token although other machines can send, as behind a collector in a private network",
    )
    given = parser.parse_args(arguments)
    token = "" if given.without_token else _read_token(given.token_file)
    runs = ReportedRuns(install(service_name=NAME).ledger)
    server = TelemetryServer(runs, host=given.host, port=given.port, grpc_port=given.grpc_port or None, token=token)
    sys.stderr.write(f"listening for {server}\n")
    ended = Event()

    def leave(*_: object) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    ended.wait()
    server.close()
    runs.close_all()
    uninstall()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _join(host: str, port: int | None) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _read_token(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"--token-file: {path} cannot be read: {error}") from error
    if not token:
        raise ConfigurationError(f"--token-file: {path} is empty; write a token into it")
    return token


def _bind_port(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}; is a collector there? Give another port"
        ) from error


def _listen_grpc(
    receiver: Receiver, host: str, port: int, token: str, on_request: Callable[[], object]
) -> GrpcServer | None:
    try:
        return GrpcServer(receiver, _join(host, port), token=token, on_request=on_request)
    except MissingExtraError as error:
        _logger.warning("%s; only HTTP is listened on", error)
        return None
