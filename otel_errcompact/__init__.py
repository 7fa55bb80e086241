"""
Compact, count and escalate the errors of LLM agents, on OpenTelemetry.

Everything public is here and is imported when it is first used, so that the core never drags OpenTelemetry in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from otel_errcompact.boundary import Call, Run, RunRegistry, compacted, current_run, run
    from otel_errcompact.config import ContextOptions, Options, TelemetryOptions, TrajectoryOptions
    from otel_errcompact.context.events import compact_errors
    from otel_errcompact.context.guard import OverflowGuard
    from otel_errcompact.context.notes import Compaction
    from otel_errcompact.context.window import ContextWindow
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.errors import Facts, Location, RawError
    from otel_errcompact.escalation import Action, Continue, Escalation, Halt, Handler, Pause, Thresholds
    from otel_errcompact.exceptions import (
        ConfigurationError,
        ContextOverflowError,
        ConversationError,
        ErrcompactError,
        MissingExtraError,
        RunHalted,
        RunPaused,
        TranscriptError,
        UnsupportedVersionError,
    )
    from otel_errcompact.installation import Installation, install, instrument, uninstall
    from otel_errcompact.ledger import Ledger
    from otel_errcompact.listeners import Listener
    from otel_errcompact.model import ErrorReader, ModelAnswer, ModelExtractor
    from otel_errcompact.observed import Observation, Verdict
    from otel_errcompact.otel.exporter import ErrorClassSpanExporter
    from otel_errcompact.otel.log_processor import ErrorCompactionLogRecordProcessor
    from otel_errcompact.otel.processor import ErrorCompactionSpanProcessor
    from otel_errcompact.report import ClassReport, RunReport
    from otel_errcompact.stores.memory import MemoryLimits, MemoryStore
    from otel_errcompact.trajectory import TrajectoryFile

_MODULES: Final = {
    "boundary": ("Call", "Run", "RunRegistry", "compacted", "current_run", "run"),
    "config": ("ContextOptions", "Options", "TelemetryOptions", "TrajectoryOptions"),
    "context.events": ("compact_errors",),
    "context.guard": ("OverflowGuard",),
    "context.notes": ("Compaction",),
    "context.window": ("ContextWindow",),
    "digest": ("DigestOptions",),
    "errors": ("Facts", "Location", "RawError"),
    "escalation": ("Action", "Continue", "Escalation", "Halt", "Handler", "Pause", "Thresholds"),
    "exceptions": (
        "ConfigurationError",
        "ContextOverflowError",
        "ConversationError",
        "ErrcompactError",
        "MissingExtraError",
        "RunHalted",
        "RunPaused",
        "TranscriptError",
        "UnsupportedVersionError",
    ),
    "installation": ("Installation", "install", "instrument", "uninstall"),
    "ledger": ("Ledger",),
    "listeners": ("Listener",),
    "model": ("ErrorReader", "ModelAnswer", "ModelExtractor"),
    "observed": ("Observation", "Verdict"),
    "otel.exporter": ("ErrorClassSpanExporter",),
    "otel.log_processor": ("ErrorCompactionLogRecordProcessor",),
    "otel.processor": ("ErrorCompactionSpanProcessor",),
    "report": ("ClassReport", "RunReport"),
    "stores.memory": ("MemoryLimits", "MemoryStore"),
    "trajectory": ("TrajectoryFile",),
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Action",
    "Call",
    "ClassReport",
    "Compaction",
    "ConfigurationError",
    "ContextOptions",
    "ContextOverflowError",
    "ContextWindow",
    "Continue",
    "ConversationError",
    "DigestOptions",
    "ErrcompactError",
    "ErrorClassSpanExporter",
    "ErrorCompactionLogRecordProcessor",
    "ErrorCompactionSpanProcessor",
    "ErrorReader",
    "Escalation",
    "Facts",
    "Halt",
    "Handler",
    "Installation",
    "Ledger",
    "Listener",
    "Location",
    "MemoryLimits",
    "MemoryStore",
    "MissingExtraError",
    "ModelAnswer",
    "ModelExtractor",
    "Observation",
    "Options",
    "OverflowGuard",
    "Pause",
    "RawError",
    "Run",
    "RunHalted",
    "RunPaused",
    "RunRegistry",
    "RunReport",
    "TelemetryOptions",
    "Thresholds",
    "TrajectoryFile",
    "TrajectoryOptions",
    "TranscriptError",
    "UnsupportedVersionError",
    "Verdict",
    "compact_errors",
    "compacted",
    "current_run",
    "install",
    "instrument",
    "run",
    "uninstall",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
