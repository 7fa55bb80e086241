"""OTLP exporters as the standard environment variables ask for them."""

from __future__ import annotations

import logging
import os
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, Literal, cast
from urllib.parse import urlsplit

from otel_errcompact.exceptions import MissingExtraError
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"

_ENTRY_POINTS: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_HTTP_PORT: Final = 4318

_logger = logging.getLogger(semconv.SCOPE)


def span_exporter(environ: Mapping[str, str] | None = None) -> SpanExporter | None:
    """Return an OTLP exporter for spans, or None where the environment asks for none or the extra is missing."""
    return cast("SpanExporter | None", _exporter("traces", os.environ if environ is None else environ))


def metric_exporter(environ: Mapping[str, str] | None = None) -> MetricExporter | None:
    """Return an OTLP exporter for metrics, or None where the environment asks for none or the extra is missing."""
    return cast("MetricExporter | None", _exporter("metrics", os.environ if environ is None else environ))


def _exporter(signal: Literal["traces", "metrics"], environ: Mapping[str, str]) -> object:
    if not _is_wanted(signal, environ):
        return None
    name = _ENTRY_POINTS[_protocol(signal, environ)]
    found = next(iter(entry_points(group=f"opentelemetry_{signal}_exporter", name=name)), None)
    if found is None:
        _logger.warning("%s", MissingExtraError(f"export of {signal} by OTLP", "otlp"))
        return None
    return found.load()()


def _is_wanted(signal: str, environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if chosen := environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip():
        return "otlp" in {name.strip() for name in chosen.split(",")}
    return bool(_for_signal("ENDPOINT", signal, environ))


def _protocol(signal: str, environ: Mapping[str, str]) -> str:
    """The protocol that is asked for; else the one of the endpoint's port; else gRPC, the SDK's own default."""
    protocol = _for_signal("PROTOCOL", signal, environ).lower()
    default = "http/protobuf" if _port(_for_signal("ENDPOINT", signal, environ)) == _HTTP_PORT else "grpc"
    if protocol and protocol not in _ENTRY_POINTS:
        allowed = ", ".join(_ENTRY_POINTS)
        _logger.warning("OTLP protocol %r is not known (%s); %s is used for %s", protocol, allowed, default, signal)
    return protocol if protocol in _ENTRY_POINTS else default


def _for_signal(setting: str, signal: str, environ: Mapping[str, str]) -> str:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_{setting}", "").strip()
    return own or environ.get(f"OTEL_EXPORTER_OTLP_{setting}", "").strip()


def _port(endpoint: str) -> int | None:
    try:
        return urlsplit(endpoint).port
    except ValueError:
        return None
