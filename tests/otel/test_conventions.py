"""Spans that real instrumentations have made, played through the real processor: what is understood of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry.attributes import BoundedAttributes

from otel_errcompact.replay.traces import RebuiltSpan, _steps
from otel_errcompact.transcripts import read

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = Path(__file__).parent / "recorded" / "spans"
AT_START = "recorded.at_start"


@pytest.fixture
def play(make_rig) -> Callable:
    """Starts and ends recorded spans in the order in which it happened, and returns what the ledger told."""

    def run(name: str):
        rig = make_rig()
        for trace in read(RECORDED / f"{name}.jsonl", on_problem=pytest.fail):
            spans = [RebuiltSpan(span, span.scope_name) for span in trace.spans]
            for index, ends in _steps(trace.spans):
                span = spans[index]
                if ends:
                    rig.processor.on_end(span)
                else:
                    whole, told = span._attributes, span.attributes[AT_START]
                    span._attributes = BoundedAttributes(attributes={key: whole[key] for key in told})
                    rig.processor.on_start(span)
                    span._attributes = whole
        return rig.told

    return run
