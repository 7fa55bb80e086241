"""The receiver as a server of gRPC."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact_hosts.ports.connections import KEEP_ALIVE_S, MAX_CONNECTIONS, MAX_HEADERS, REQUEST_S
from otel_errcompact_hosts.ports.edge import read_authority
from otel_errcompact_hosts.telemetry.bodies import MAX_BYTES, RequestError
from otel_errcompact_hosts.telemetry.receiver import SIGNALS, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_hosts.ports.edge import Activity, Gate
    from otel_errcompact_hosts.telemetry.receiver import Receiver

_GRACE_S: Final = 2.0
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_BYTES),
    ("grpc.max_metadata_size", MAX_HEADERS),
    ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", int(1_000 * REQUEST_S)),
    ("grpc.max_connection_idle_ms", 1_000 * KEEP_ALIVE_S),
    ("grpc.so_reuseport", 0),
)


class GrpcServer:
    """
    Listens for OTLP by gRPC.

    Raises:
        MissingExtraError: grpcio is not installed.
        ConfigurationError: The address cannot be listened on.
    """

    def __init__(self, receiver: Receiver, address: str, gate: Gate, activity: Activity) -> None:
        try:
            import grpc
        except ModuleNotFoundError as error:
            raise MissingExtraError("to receive telemetry by gRPC", "otlp") from error
        self._receiver = receiver
        self._gate = gate
        self._activity = activity
        self._codes = {code.value[0]: code for code in grpc.StatusCode}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="errcompact-otlp")
        self._server = grpc.server(self._pool, options=_OPTIONS, maximum_concurrent_rpcs=MAX_CONNECTIONS)
        for signal, name in SIGNALS.items():
            service = f"opentelemetry.proto.collector.{name}.v1.{name.title()}Service"
            handlers: dict[str, Any] = {"Export": grpc.unary_unary_rpc_method_handler(self._handle(signal))}
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        try:
            self.port: Final = int(self._server.add_insecure_port(address))
            """The port it listens on."""
        except RuntimeError as error:
            raise ConfigurationError(
                f"{address} cannot be listened on; is another program there? Give another port"
            ) from error
        self._server.start()

    def close(self) -> None:
        """Answer the requests under way, and listen no more."""
        self._server.stop(_GRACE_S).wait()
        self._pool.shutdown()

    def _handle(self, signal: str) -> Callable[[bytes, Any], bytes]:
        def handle(body: bytes, context: Any) -> bytes:
            headers = {
                name.encode(): value if isinstance(value, bytes) else value.encode()
                for name, value in context.invocation_metadata()
            }
            try:
                if problem := self._gate.find_problem(headers, read_authority(context)):
                    raise RequestError(*problem)  # noqa: TRY301 - one answer for all
                with self._activity.note():
                    return self._receiver.take(Request(signal, body)).body
            except RequestError as error:
                context.abort(self._codes[error.code], str(error))
                raise  # `abort` has raised already

        return handle
