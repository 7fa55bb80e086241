"""
Name what only failures need, and load it then.

Rooms that `install` loads take these names from here, as `late.classify(raw)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.runtime.forks import load_name

if TYPE_CHECKING:
    from otel_errcompact.compactor.classify import classify, classify_roughly, leave_unread
    from otel_errcompact.compactor.hints import hint_for
    from otel_errcompact.dedup.masking import mask
    from otel_errcompact.dedup.progress import has_moved
    from otel_errcompact.detector.kinds import kind_of, names_nothing
    from otel_errcompact.detector.operation import call_fingerprint, covers, leaves_behind, operation_of
    from otel_errcompact.detector.outcomes import find_wait, is_outcome_unknown, is_worth_saying
    from otel_errcompact.detector.results import ResultVerdict, classify_result
    from otel_errcompact.extract.stacks.callers import callers_of
    from otel_errcompact.extract.stacks.live import context_of
    from otel_errcompact.redaction.redact import redact

_MODULES: Final = {
    "otel_errcompact.compactor.classify": ("classify", "classify_roughly", "leave_unread"),
    "otel_errcompact.compactor.hints": ("hint_for",),
    "otel_errcompact.dedup.masking": ("mask",),
    "otel_errcompact.dedup.progress": ("has_moved",),
    "otel_errcompact.detector.kinds": ("kind_of", "names_nothing"),
    "otel_errcompact.detector.operation": ("call_fingerprint", "covers", "leaves_behind", "operation_of"),
    "otel_errcompact.detector.outcomes": ("find_wait", "is_outcome_unknown", "is_worth_saying"),
    "otel_errcompact.detector.results": ("ResultVerdict", "classify_result"),
    "otel_errcompact.extract.stacks.callers": ("callers_of",),
    "otel_errcompact.extract.stacks.live": ("context_of",),
    "otel_errcompact.redaction.redact": ("redact",),
}

__all__ = [
    "ResultVerdict", "call_fingerprint", "callers_of", "classify", "classify_result", "classify_roughly", "context_of",
    "covers", "find_wait", "has_moved", "hint_for", "is_outcome_unknown", "is_worth_saying", "kind_of", "leave_unread",
    "leaves_behind", "mask", "names_nothing", "operation_of", "redact",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return load_name(__name__, _MODULES, name)
