"""The receiver with its ports, alone or beside the local service."""

from __future__ import annotations

import argparse
import logging
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import MissingExtraError
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

_logger: Final = logging.getLogger(semconv.SCOPE)


def make_receiver(
    runs: Concluding,
    *,
    environ: Mapping[str, str] | None = None,
    own: tuple[tuple[str, int], ...] = (),
    is_hooked: Callable[[str], bool] = lambda _: False,
) -> tuple[Receiver, Forwarder | None]:
    """
    Return a receiver and its forwarder.

    Everything is passed on to where the standard variables say.

    Args:
        runs: Judges and counts the calls: the runs of the local service, or `ReportedRuns`.
        environ: The environment; that of the process if None.
        own: Hosts and ports that the receiver listens on.
        is_hooked: Tells whether hooks report a run.

    Raises:
        ConfigurationError: The destination is none, or the receiver itself.
    """
    guard = current_ledger().guard
    destination = find_destination(environ, own=own)
    forwarder = Forwarder(destination, guard) if destination is not None else None
    return Receiver(runs, forwarder, guard=guard, is_hooked=is_hooked), forwarder


def listen_grpc(receiver: Receiver, host: str, port: int, *, token: str = "") -> GrpcServer | None:
    """
    Listen by gRPC too.

    Without grpcio it is None, and a warning says so.

    Raises:
        ConfigurationError: The port cannot be listened on.
    """
    try:
        return GrpcServer(receiver, f"{host}:{port}", token=token)
    except MissingExtraError as error:
        _logger.warning("%s; only HTTP is listened on", error)
        return None


def serve(host: str = HOST, port: int = HTTP_PORT, grpc_port: int = GRPC_PORT, *, token: str = "") -> None:
    """
    Receive telemetry until the process is stopped, without hooks beside.

    Args:
        host: The address to listen on.
        port: The port of HTTP.
        grpc_port: The port of gRPC; 0 for none.
        token: What senders bring; needed where others than this machine can reach the address.

    Raises:
        MissingExtraError: uvicorn is not installed.
        ConfigurationError: The destination is the receiver itself, or a port cannot be listened on.
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise MissingExtraError("to receive telemetry", "serve") from error
    own = ((host, port), (host, grpc_port))
    installed = install()
    runs = ReportedRuns(installed.ledger)
    receiver, forwarder = make_receiver(runs, own=own)
    if forwarder is None:
        _logger.warning(
            "nothing is passed on: failures are counted, and the telemetry is dropped; "
            "set OTEL_EXPORTER_OTLP_ENDPOINT to the collector's address"
        )
    grpc = listen_grpc(receiver, host, grpc_port, token=token) if grpc_port else None
    # The server hands a signal on once it has closed its ports; by default that would end the process at once.
    signal.signal(signal.SIGTERM, _leave)
    try:
        uvicorn.run(telemetry_app(receiver, token=token), host=host, port=port, log_level="warning", access_log=False)
    finally:
        if grpc is not None:
            grpc.close()
        runs.close()
        if forwarder is not None:
            forwarder.close()
        uninstall()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of handlers
    raise SystemExit(0)


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Serve as the command line says; that of the process if None.

    Raises:
        ConfigurationError: The destination is the receiver itself, or a port cannot be listened on.
    """
    parser = argparse.ArgumentParser(
        prog="python -m otel_errcompact.hosts.telemetry",
        description="Receive the telemetry of agents by OTLP, count the failed calls in it, and pass it on to "
        "where OTEL_EXPORTER_OTLP_ENDPOINT says.",
    )
    parser.add_argument("--host", default=HOST, help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=HTTP_PORT, help="the port of HTTP (%(default)s)")
    parser.add_argument("--grpc-port", type=int, default=GRPC_PORT, help="the port of gRPC, 0 for none (%(default)s)")
    parser.add_argument("--token-file", type=Path, help="a file with the token that senders bring")
    given = parser.parse_args(arguments)
    token = given.token_file.read_text(encoding="utf-8").strip() if given.token_file is not None else ""
    serve(given.host, given.port, given.grpc_port, token=token)
