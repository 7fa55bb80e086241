"""OTLP exporters as the standard environment variables ask for them."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from otel_errcompact.exceptions import MissingExtraError
from otel_errcompact.otel import semconv
from otel_errcompact.otel.export.queue import BatchPolicy
from otel_errcompact.runtime.entry_points import entry_points
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
METRIC_INTERVAL: Final = "OTEL_METRIC_EXPORT_INTERVAL"

METRIC_INTERVAL_MS: Final = 10_000
"""The standard's minute is long for an operator who is paged while the agent still spends money."""

_ENTRY_POINTS: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_HTTP_PORT: Final = 4318

_logger = logging.getLogger(semconv.SCOPE)


def make_exporter(signal: Literal["traces", "metrics", "logs"], environ: Mapping[str, str] = os.environ) -> Any:
    """Return the OTLP exporter that the environment asks for, or None."""
    if not _is_wanted(signal, environ):
        return None
    protocol = _read_protocol(signal, environ)
    name = _ENTRY_POINTS[protocol]
    points = entry_points(f"opentelemetry_{signal}_exporter")
    found = next((point for point in points if point.name == name), None)
    if found is None:
        _logger.warning("%s", MissingExtraError(f"export of {signal} by OTLP", "otlp"))
        return None
    if protocol == "http/protobuf":
        # `requests` would import it in the thread of the first export. In a child that is forked at that moment the
        # module stays locked, and no export ends.
        import_module("netrc")
    exporter = found.load()()
    if protocol == "http/protobuf":
        exporter.variables = _read_variables()
        reset_in_child(MethodType(_reconnect, exporter))
    return exporter


def _reconnect(exporter: Any) -> None:
    # In a forked child: on a connection that it shares with its parent requests mix, some are lost, and all are
    # answered with success. gRPC looks after its own.
    inherited, now = exporter.__dict__.copy(), _read_variables()
    # An application may have taken its keys out of the environment since.
    _set_variables(inherited["variables"])
    try:
        exporter.__init__()
    finally:
        _set_variables(now)
    exporter.variables = inherited["variables"]
    exporter.inherited = inherited  # threads of the parent may have held its locks: it is not even closed


def _read_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}


def _set_variables(variables: Mapping[str, str]) -> None:
    for name in _read_variables():
        del os.environ[name]
    os.environ.update(variables)


def read_metric_interval_ms(environ: Mapping[str, str] = os.environ) -> float:
    """Return how often metrics are exported, in milliseconds."""
    return _read_positive(METRIC_INTERVAL, METRIC_INTERVAL_MS, environ)


def read_batches(of: Literal["spans", "logs"], environ: Mapping[str, str] = os.environ) -> BatchPolicy:
    """Return the limits of batches, by the SDK's own variables."""
    prefix, delay_ms = ("OTEL_BSP", 5_000) if of == "spans" else ("OTEL_BLRP", 1_000)
    return BatchPolicy(
        delay_s=_read_positive(f"{prefix}_SCHEDULE_DELAY", delay_ms, environ) / 1_000,
        batch=_read_positive(f"{prefix}_MAX_EXPORT_BATCH_SIZE", 512, environ),
    )


def _read_positive(variable: str, default: int, environ: Mapping[str, str]) -> int:
    text = environ.get(variable, "").strip()
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text:
        _logger.warning("%s=%r is no positive number; %d is used", variable, text, default)
    return default


def _is_wanted(signal: str, environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if chosen := environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip():
        return "otlp" in {name.strip() for name in chosen.split(",")}
    return bool(_read_setting("ENDPOINT", signal, environ))


def _read_protocol(signal: str, environ: Mapping[str, str]) -> str:
    """Return the protocol of the environment, the endpoint's port, or gRPC."""
    protocol = _read_setting("PROTOCOL", signal, environ).lower()
    default = "http/protobuf" if _find_port(_read_setting("ENDPOINT", signal, environ)) == _HTTP_PORT else "grpc"
    if protocol and protocol not in _ENTRY_POINTS:
        allowed = ", ".join(_ENTRY_POINTS)
        _logger.warning("OTLP protocol %r is not known (%s); %s is used for %s", protocol, allowed, default, signal)
    return protocol if protocol in _ENTRY_POINTS else default


def _read_setting(setting: str, signal: str, environ: Mapping[str, str]) -> str:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_{setting}", "").strip()
    return own or environ.get(f"OTEL_EXPORTER_OTLP_{setting}", "").strip()


def _find_port(endpoint: str) -> int | None:
    try:
        return urlsplit(endpoint).port
    except ValueError:
        return None
