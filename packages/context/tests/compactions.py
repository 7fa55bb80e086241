"""A compaction as it is told of."""

from __future__ import annotations

from typing import Any

from otel_errcompact_context.notes import Compaction, Cut, LayerNote

NOTHING_CARRIED: dict[str, Any] = {"words_share": 0, "index_tokens": 0, "restore_files": 0}
"""Options with which markers stand alone in the place of messages; `test_carrying.py` is about what else stays."""

CUT = Cut(message=3, tool="bash", tokens_before=900, tokens_after=30, place="/kept/1")
RESULTS = LayerNote(
    layer="results",
    reason="always",
    tokens_before=1_000,
    tokens_after=130,
    invalidated_tokens=910,
    start_ns=5_000_000_000,
    duration_ns=2_000_000,
    cuts=(CUT,),
)
IDLE = LayerNote(
    layer="errors",
    reason="always",
    tokens_before=1_000,
    tokens_after=1_000,
    invalidated_tokens=0,
    start_ns=4_999_000_000,
    duration_ns=1_000_000,
)
FULL = LayerNote(
    layer="micro",
    reason="over_trigger",
    tokens_before=130,
    tokens_after=130,
    invalidated_tokens=0,
    start_ns=5_002_000_000,
    duration_ns=500_000,
    problem="the disk is full",
)
COMPACTION = Compaction(
    messages=[],
    session="chat-7",
    notes=(IDLE, RESULTS, FULL),
    tokens_before=1_000,
    tokens_after=130,
    room_tokens=800,
)
