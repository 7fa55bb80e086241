from __future__ import annotations

import pytest

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_lab.transcripts.records import TranscriptError


@pytest.mark.parametrize(
    ("line", "message"),
    [(7, "run.jsonl:7: no JSON; mend or remove the line"), (0, "run.jsonl: no JSON; mend or remove the line")],
    ids=["line", "whole file"],
)
def test_a_transcript_error_names_file_and_line(line: int, message: str) -> None:
    """The place stands first, in the form editors understand."""
    error = TranscriptError("run.jsonl", line, "no JSON; mend or remove the line")
    assert str(error) == message
    assert isinstance(error, ErrcompactError)
    assert isinstance(error, ValueError)
    assert (error.path, error.line, error.problem) == ("run.jsonl", line, "no JSON; mend or remove the line")
