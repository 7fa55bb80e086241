"""The receiver as a server of gRPC."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact_hosts.telemetry.bodies import RequestError, check_token
from otel_errcompact_hosts.telemetry.receiver import AT_ONCE, SIGNALS, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_hosts.telemetry.receiver import Receiver

_GRACE_S: Final = 2.0


class GrpcServer:
    """
    Listens for OTLP by gRPC.

    Args:
        receiver: Takes the requests.
        address: Host and port, such as `127.0.0.1:4317`; with port 0 any free one.
        token: What senders bring in `authorization: Bearer`; nothing is asked for if empty.
        on_request: Called at each request, for what ends when it is idle.

    Raises:
        MissingExtraError: grpcio is not installed.
        ConfigurationError: The address cannot be listened on.
    """

    def __init__(
        self, receiver: Receiver, address: str, *, token: str = "", on_request: Callable[[], object] = lambda: None
    ) -> None:
        try:
            import grpc
        except ModuleNotFoundError as error:
            raise MissingExtraError("to receive telemetry by gRPC", "otlp") from error
        self._receiver = receiver
        self._token = token
        self._on_request = on_request
        self._codes = {code.value[0]: code for code in grpc.StatusCode}
        options = [("grpc.max_receive_message_length", receiver.max_bytes), ("grpc.so_reuseport", 0)]
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="errcompact-otlp")
        self._server = grpc.server(self._pool, options=options)
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
            self._on_request()
            try:
                check_token(str(dict(context.invocation_metadata()).get("authorization", "")), self._token)
                return self._receiver.take(Request(signal, body)).body
            except RequestError as error:
                context.abort(self._codes[error.code], str(error))
                raise  # `abort` has raised already

        return handle
