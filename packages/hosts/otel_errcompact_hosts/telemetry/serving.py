"""The receiver with its ports, alone or beside the local service."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact.installation.install import install, uninstall
from otel_errcompact.otel import semconv
from otel_errcompact_hosts.ports.edge import Activity, Gate
from otel_errcompact_hosts.ports.logs import set_up_log
from otel_errcompact_hosts.ports.sockets import LOOPBACK, bind_port, is_loopback
from otel_errcompact_hosts.telemetry.app import telemetry_app
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_hosts.telemetry.grpc_server import GrpcServer

HOST: Final = LOOPBACK
HTTP_PORT: Final = 4318
GRPC_PORT: Final = 4317

NAME: Final = "errcompact-receiver"
"""What the receiver alone is called in telemetry, unless `OTEL_SERVICE_NAME` gives it another name."""

_UNAUTHORIZED: Final = "the token is missing or wrong; set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20<token>"
_END_S: Final = 5.0
_logger: Final = logging.getLogger(semconv.SCOPE)


class TelemetryServer:
    """
    Listens for OTLP in threads of its own, until it is closed.

    A port 0 is any free one. Senders bring the token; where others than this machine can reach the address it must be
    given: empty to ask for none.

    Raises:
        MissingExtraError: The extra `serve` is not installed.
        ConfigurationError: A port cannot be listened on, or a token is missing.
    """

    def __init__(
        self,
        receiver: Receiver,
        *,
        host: str = HOST,
        port: int = HTTP_PORT,
        grpc_port: int | None = GRPC_PORT,
        token: str | None = None,
        activity: Activity | None = None,
    ) -> None:
        try:
            from otel_errcompact_hosts.ports.connections import make_server
        except ModuleNotFoundError as error:
            raise MissingExtraError("to receive telemetry", "serve") from error
        if token is None and not is_loopback(host):
            raise ConfigurationError(
                f"other machines can reach {host}, and no token is asked for; give --token-file FILE with a token that "
                "senders bring, or --without-token where only a private network reaches it"
            )
        gate = Gate(token=token or "", hint=_UNAUTHORIZED, is_loopback=is_loopback(host))
        activity = activity or Activity()
        self._host = host
        self._socket = bind_port(port, host, hint="is a collector there? Give another port")
        self.port: Final = int(self._socket.getsockname()[1])
        """The port of HTTP."""
        self._grpc = _listen_grpc(receiver, host, grpc_port, gate, activity) if grpc_port is not None else None
        self._server = make_server(telemetry_app(receiver, gate, activity))
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
    set_up_log("info")
    installation = install(service_name=NAME, options=_read_options(keeps=bool(token)))
    runs = ReportedRuns(installation.ledger)
    server = TelemetryServer(
        Receiver(runs), host=given.host, port=given.port, grpc_port=given.grpc_port or None, token=token
    )
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


def _read_options(*, keeps: bool) -> Options:
    # `errcompact raw` shows agents what is kept: what anybody may send is not.
    options = Options.from_environ()
    trajectory = options.trajectory.model_copy(update={"enabled": keeps and options.trajectory.enabled})
    return options.model_copy(update={"trajectory": trajectory})


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


def _listen_grpc(receiver: Receiver, host: str, port: int, gate: Gate, activity: Activity) -> GrpcServer | None:
    try:
        from otel_errcompact_hosts.telemetry.grpc_server import GrpcServer

        return GrpcServer(receiver, _join(host, port), gate, activity)
    except MissingExtraError as error:
        _logger.warning("%s; only HTTP is listened on", error)
        return None
