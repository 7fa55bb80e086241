"""
Compact, count and escalate the errors of LLM agents, on OpenTelemetry.

Everything public is here and is imported when it is first used, so that the core never drags OpenTelemetry in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from otel_errcompact.audit.trajectory import TrajectoryFile
    from otel_errcompact.boundary import Call, Run, RunRegistry, compacted, current_run, run
    from otel_errcompact.compactor.model import ErrorReader, ModelAnswer, ModelExtractor
    from otel_errcompact.config import ContextOptions, Options, TelemetryOptions, TrajectoryOptions
    from otel_errcompact.context.events import compact_errors
    from otel_errcompact.context.exceptions import ContextOverflowError, ConversationError
    from otel_errcompact.context.guard import OverflowGuard
    from otel_errcompact.context.notes import Compaction
    from otel_errcompact.context.window import ContextWindow
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.listeners import Listener
    from otel_errcompact.engine.observations import Observation, Verdict
    from otel_errcompact.engine.report import ClassReport, RunReport
    from otel_errcompact.errors import Facts, Location, RawError
    from otel_errcompact.escalator.escalation import Action, Continue, Escalation, Halt, Handler, Pause, Thresholds
    from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
    from otel_errcompact.exceptions import (
        ConfigurationError,
        ErrcompactError,
        MissingExtraError,
        UnsupportedVersionError,
    )
    from otel_errcompact.history.stores.memory import MemoryLimits, MemoryStore
    from otel_errcompact.installation.install import Installation, install, instrument, uninstall
    from otel_errcompact.lab.transcripts.exceptions import TranscriptError
    from otel_errcompact.otel.export.exporter import ErrorClassSpanExporter
    from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
    from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

_MODULES: Final = {
    "boundary": ("Call", "Run", "RunRegistry", "compacted", "current_run", "run"),
    "config": ("ContextOptions", "Options", "TelemetryOptions", "TrajectoryOptions"),
    "context.events": ("compact_errors",),
    "context.guard": ("OverflowGuard",),
    "context.notes": ("Compaction",),
    "context.window": ("ContextWindow",),
    "digest": ("DigestOptions",),
    "errors": ("Facts", "Location", "RawError"),
    "escalator.escalation": ("Action", "Continue", "Escalation", "Halt", "Handler", "Pause", "Thresholds"),
    "exceptions": ("ConfigurationError", "ErrcompactError", "MissingExtraError", "UnsupportedVersionError"),
    "escalator.exceptions": ("RunHalted", "RunPaused"),
    "context.exceptions": ("ContextOverflowError", "ConversationError"),
    "lab.transcripts.exceptions": ("TranscriptError",),
    "installation.install": ("Installation", "install", "instrument", "uninstall"),
    "engine.ledger": ("Ledger",),
    "engine.listeners": ("Listener",),
    "compactor.model": ("ErrorReader", "ModelAnswer", "ModelExtractor"),
    "engine.observations": ("Observation", "Verdict"),
    "otel.export.exporter": ("ErrorClassSpanExporter",),
    "otel.logs.processor": ("ErrorCompactionLogRecordProcessor",),
    "otel.spans.processor": ("ErrorCompactionSpanProcessor",),
    "engine.report": ("ClassReport", "RunReport"),
    "history.stores.memory": ("MemoryLimits", "MemoryStore"),
    "audit.trajectory": ("TrajectoryFile",),
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
