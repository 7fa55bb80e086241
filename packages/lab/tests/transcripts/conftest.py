"""The project's own small transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_errcompact_lab.transcripts import RecordedRun, RecordedTrace, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_lab.transcripts.records import TranscriptError

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of hand-made transcripts."""
    return SAMPLES


@pytest.fixture
def sample() -> Callable[[str], list[RecordedRun | RecordedTrace]]:
    """Reads a hand-made transcript, in which nothing is malformed."""

    def read_sample(name: str) -> list[RecordedRun | RecordedTrace]:
        problems: list[TranscriptError] = []
        runs = list(read(SAMPLES / name, on_problem=problems.append))
        assert problems == []
        return runs

    return read_sample
