"""Audit: keep raw errors and the life of each run in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.forks import load_name

if TYPE_CHECKING:
    from otel_errcompact.audit.life import describe_event, describe_raw
    from otel_errcompact.audit.otlp_json import (
        ERROR,
        INFO,
        build_log_envelope,
        build_span_envelope,
        is_longer,
        redact_value,
        write_log_record,
    )
    from otel_errcompact.audit.raw_span import write_span

_MODULES: Final = {
    ".life": ("describe_event", "describe_raw"),
    ".otlp_json": (
        *("ERROR", "INFO", "build_log_envelope", "build_span_envelope"),
        *("is_longer", "redact_value", "write_log_record"),
    ),
    ".raw_span": ("write_span",),
}
"""What encodes, loaded for the first line."""

__all__ = [
    "ERROR", "INFO", "build_log_envelope", "build_span_envelope", "describe_event", "describe_raw", "is_longer",
    "redact_value", "write_log_record", "write_span",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return load_name(__name__, _MODULES, name)
