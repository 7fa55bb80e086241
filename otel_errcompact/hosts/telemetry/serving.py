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
from otel_errcompact.hosts.telemetry.app import telemetry_app
from otel_errcompact.hosts.telemetry.counting import ReportedRuns
from otel_errcompact.hosts.telemetry.forwarding import Forwarder, find_destination
from otel_errcompact.hosts.telemetry.grpc_server import GrpcServer
from otel_errcompact.hosts.telemetry.receiver import Receiver
from otel_errcompact.installation.install import current_ledger, install, uninstall
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

    from otel_errcompact.hosts.telemetry.counting import Concluding

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

    Everything is passed on to where the standard variables say.

    Args:
        runs: Judges and counts the calls: `ServiceRuns` of the local service, or `ReportedRuns`.
        host: The address to listen on.
        port: The port of HTTP; 0 for any free one.
        grpc_port: The port of gRPC; 0 for any free one, None for none.
        token: What senders bring. Where others than this machine can reach the address it must be given: empty to ask
            for none.
        is_hooked: Tells whether hooks report a run, such as `HookedRuns.reports`.
        on_request: Called at each request, for a service that ends when it is idle.
        environ: The environment; that of the process if None.

    Raises:
        MissingExtraError: uvicorn is not installed.
        ConfigurationError: The destination is the receiver itself, a port cannot be listened on, or a token is missing.
    """

    def __init__(
        self,
        runs: Concluding,
        *,
        host: str = HOST,
        port: int = HTTP_PORT,
        grpc_port: int | None = GRPC_PORT,
        token: str | None = None,
        is_hooked: Callable[[str], bool] = lambda _: False,
        on_request: Callable[[], object] = lambda: None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        try:
            import uvicorn
        except ModuleNotFoundError as error:
            raise MissingExtraError("to receive telemetry", "serve") from error
        if token is None and not _is_loopback(host):
            raise ConfigurationError(
                f"other machines can reach {host}, and no token is asked for; give --token-file FILE with a token that "
                "senders bring, or --without-token where only a private network reaches it"
            )
        token = token or ""
        guard = current_ledger().guard
        own = [(host, each) for each in (port, grpc_port) if each]
        destination = find_destination(environ, own=own)
        self.forwarder: Final = Forwarder(destination, guard) if destination is not None else None
        """Passes everything on; None where nothing is to be."""
        if self.forwarder is None:
            _logger.warning(
                "nothing is passed on: failures are counted, and the telemetry is dropped; "
                "set OTEL_EXPORTER_OTLP_ENDPOINT to the collector's address"
            )
        self.receiver: Final = Receiver(runs, self.forwarder, guard=guard, is_hooked=is_hooked)
        """Takes the requests."""
        self._host = host
        self._socket = _bind(host, port)
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
        return f"OTLP on {_join(self._host, self.port)} (HTTP){grpc}"

    def close(self) -> None:
        """Answer the requests under way, pass on what waits, and end."""
        self._server.should_exit = True
        if self._grpc is not None:
            self._grpc.close()
        self._thread.join(_END_S)
        self._socket.close()
        if self.forwarder is not None:
            self.forwarder.close()


def serve(
    host: str = HOST,
    port: int = HTTP_PORT,
    grpc_port: int | None = GRPC_PORT,
    *,
    token: str | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """
    Receive telemetry until a signal, without hooks beside.

    Args:
        host: The address to listen on.
        port: The port of HTTP; 0 for any free one.
        grpc_port: The port of gRPC; None for none.
        token: What senders bring. Where others than this machine can reach the address it must be given: empty to ask
            for none.
        say: Called with a line for the person who has started it.

    Raises:
        MissingExtraError: uvicorn is not installed.
        ConfigurationError: The destination is the receiver itself, a port cannot be listened on, or a token is missing.
    """
    installed = install(service_name=NAME)
    runs = ReportedRuns(installed.ledger)
    server = TelemetryServer(runs, host=host, port=port, grpc_port=grpc_port, token=token)
    say(f"listening for {server}")
    ended = Event()

    def leave(_: int, __: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    ended.wait()
    server.close()
    runs.close()
    uninstall()


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Serve as the command line says; that of the process if None.

    Raises:
        ConfigurationError: The destination is the receiver itself, a port cannot be listened on, or a token is missing.
    """
    parser = argparse.ArgumentParser(
        prog="python -m otel_errcompact.hosts.telemetry",
        description="Receive the telemetry of agents by OTLP, count the failed calls in it, and pass it on to "
        "where OTEL_EXPORTER_OTLP_ENDPOINT says.",
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
        help="ask for no token although other machines can send, as behind a balancer in a private network",
    )
    given = parser.parse_args(arguments)
    serve(
        given.host,
        given.port,
        given.grpc_port or None,
        token="" if given.without_token else _read_token(given.token_file),
        say=lambda line: sys.stderr.write(f"{line}\n"),
    )


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


def _bind(host: str, port: int) -> socket.socket:
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
