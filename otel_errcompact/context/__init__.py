"""
The whole context window: measure a message list, compact it in layers, survive its overflow.

Works on the message lists of Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini contents. The
caller's list is never changed, whatever is cut is kept whole first, and no tool call is separated from its result.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.forks import FORKS_WAIT

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact.context.breaker import CircuitBreaker
    from otel_errcompact.context.guard.guard import OverflowGuard, Sent
    from otel_errcompact.context.guard.lanes import Lanes
    from otel_errcompact.context.memory.archive import Archive, FolderArchive, MemoryArchive
    from otel_errcompact.context.notes import Compaction, Cut, LayerNote, Overflow
    from otel_errcompact.context.providers import repair
    from otel_errcompact.context.providers.models import window_of_model
    from otel_errcompact.context.providers.overflow import (
        overflow_in_body,
        overflow_in_error,
        overflow_in_event,
        overflow_in_reply,
    )
    from otel_errcompact.context.providers.usage import overflow_in_usage
    from otel_errcompact.context.telemetry import ContextTelemetry
    from otel_errcompact.context.window.endpoints import (
        anthropic_compaction,
        anthropic_context_editing,
        openai_compaction,
        openai_context_management,
    )
    from otel_errcompact.context.window.entries import ErrorEvent
    from otel_errcompact.context.window.events import compact_errors
    from otel_errcompact.context.window.layers.requests import SUMMARY_HEADINGS, SummaryRequest
    from otel_errcompact.context.window.tools import ContextTools
    from otel_errcompact.context.window.window import ContextWindow

_MODULES: Final = {
    "config": ("ContextOptions",),
    "context.memory.archive": ("Archive", "FolderArchive", "MemoryArchive"),
    "context.breaker": ("CircuitBreaker",),
    "context.window.endpoints": (
        "anthropic_compaction",
        "anthropic_context_editing",
        "openai_compaction",
        "openai_context_management",
    ),
    "context.window.entries": ("ErrorEvent",),
    "context.window.events": ("compact_errors",),
    "context.guard.guard": ("OverflowGuard", "Sent"),
    "context.guard.lanes": ("Lanes",),
    "context.window.layers.requests": ("SUMMARY_HEADINGS", "SummaryRequest"),
    "context.providers.models": ("window_of_model",),
    "context.notes": ("Compaction", "Cut", "LayerNote", "Overflow"),
    "context.providers.overflow": (
        "overflow_in_body",
        "overflow_in_error",
        "overflow_in_event",
        "overflow_in_reply",
    ),
    "context.providers": ("repair",),
    "context.telemetry": ("ContextTelemetry",),
    "context.window.tools": ("ContextTools",),
    "context.providers.usage": ("overflow_in_usage",),
    "context.window.window": ("ContextWindow",),
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}

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
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with FORKS_WAIT:
        return getattr(import_module(f"otel_errcompact.{home}"), name)


def __dir__() -> list[str]:
    return __all__
