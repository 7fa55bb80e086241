"""
The whole context window: measure a message list, compact it in layers, survive its overflow.

Works on the message lists of Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini contents. The
caller's list is never changed, whatever is cut is kept whole first, and no tool call is separated from its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.forks import load_name

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact_context.breaker import CircuitBreaker
    from otel_errcompact_context.guard.guard import OverflowGuard, Sent
    from otel_errcompact_context.guard.lanes import Lanes
    from otel_errcompact_context.memory.archive import Archive, FolderArchive, MemoryArchive
    from otel_errcompact_context.notes import Compaction, Cut, LayerNote, Overflow
    from otel_errcompact_context.providers import repair
    from otel_errcompact_context.providers.models import window_of_model
    from otel_errcompact_context.providers.overflow import (
        overflow_in_body,
        overflow_in_error,
        overflow_in_event,
        overflow_in_reply,
    )
    from otel_errcompact_context.providers.usage import overflow_in_usage
    from otel_errcompact_context.telemetry import ContextTelemetry
    from otel_errcompact_context.window.endpoints import (
        anthropic_compaction,
        anthropic_context_editing,
        openai_compaction,
        openai_context_management,
    )
    from otel_errcompact_context.window.entries import ErrorEvent
    from otel_errcompact_context.window.events import compact_errors
    from otel_errcompact_context.window.layers.requests import SUMMARY_HEADINGS, SummaryRequest
    from otel_errcompact_context.window.tools import ContextTools
    from otel_errcompact_context.window.window import ContextWindow

_MODULES: Final = {
    "otel_errcompact.config": ("ContextOptions",),
    ".memory.archive": ("Archive", "FolderArchive", "MemoryArchive"),
    ".breaker": ("CircuitBreaker",),
    ".window.endpoints": (
        "anthropic_compaction",
        "anthropic_context_editing",
        "openai_compaction",
        "openai_context_management",
    ),
    ".window.entries": ("ErrorEvent",),
    ".window.events": ("compact_errors",),
    ".guard.guard": ("OverflowGuard", "Sent"),
    ".guard.lanes": ("Lanes",),
    ".window.layers.requests": ("SUMMARY_HEADINGS", "SummaryRequest"),
    ".providers.models": ("window_of_model",),
    ".notes": ("Compaction", "Cut", "LayerNote", "Overflow"),
    ".providers.overflow": (
        "overflow_in_body",
        "overflow_in_error",
        "overflow_in_event",
        "overflow_in_reply",
    ),
    ".providers": ("repair",),
    ".telemetry": ("ContextTelemetry",),
    ".window.tools": ("ContextTools",),
    ".providers.usage": ("overflow_in_usage",),
    ".window.window": ("ContextWindow",),
}

__all__ = [  # noqa: RUF022 - as `dir` sorts them
    "Archive",
    "CircuitBreaker",
    "Compaction",
    "ContextOptions",
    "ContextTelemetry",
    "ContextTools",
    "ContextWindow",
    "Cut",
    "ErrorEvent",
    "FolderArchive",
    "Lanes",
    "LayerNote",
    "MemoryArchive",
    "Overflow",
    "OverflowGuard",
    "SUMMARY_HEADINGS",
    "Sent",
    "SummaryRequest",
    "anthropic_compaction",
    "anthropic_context_editing",
    "compact_errors",
    "openai_compaction",
    "openai_context_management",
    "overflow_in_body",
    "overflow_in_error",
    "overflow_in_event",
    "overflow_in_reply",
    "overflow_in_usage",
    "repair",
    "window_of_model",
]


def __getattr__(name: str) -> Any:
    return load_name(__name__, _MODULES, name)


def __dir__() -> list[str]:
    return __all__
