"""
Recorded runs through the real pipeline, with the times of the record.

No escalation stops a replayed run. Each is answered with `Continue`, as by a human who lets the run go on with fresh
counters, so that all that would have fired are seen; only the longest streak is counted across them.
"""

from __future__ import annotations

from otel_errcompact_lab.replay.pipeline import Pipeline, open_pipeline
from otel_errcompact_lab.replay.results import (
    OnCall,
    PlayedCall,
    ReplayedEscalation,
    ReplayedRun,
    ReplayTotal,
    total_of,
)

__all__ = [
    "OnCall",
    "Pipeline",
    "PlayedCall",
    "ReplayTotal",
    "ReplayedEscalation",
    "ReplayedRun",
    "open_pipeline",
    "total_of",
]
