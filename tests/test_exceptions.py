from __future__ import annotations

import pytest

from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.exceptions import ConfigurationError, ErrcompactError, MissingExtraError
from otel_errcompact.lab.transcripts.records import TranscriptError


@pytest.mark.parametrize(
    ("kind", "parent"),
    [
        (ConfigurationError, ValueError),
        (MissingExtraError, ImportError),
        (TranscriptError, ValueError),
        (RunHalted, RuntimeError),
        (RunPaused, RunHalted),
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_exception_has_our_base_and_a_standard_parent(kind: type[Exception], parent: type[Exception]) -> None:
    """One `except ErrcompactError` catches all of ours; code that knows nothing of us sees a standard exception."""
    assert issubclass(kind, ErrcompactError)
    assert issubclass(kind, parent)


def test_a_missing_extra_names_the_command() -> None:
    """The cure stands in the message."""
    error = MissingExtraError("the command line", "cli")
    assert str(error) == "the command line needs an optional dependency: pip install 'otel-errcompact[cli]'"
    assert error.extra == "cli"


@pytest.mark.parametrize(
    ("line", "message"),
    [(7, "run.jsonl:7: no JSON; mend or remove the line"), (0, "run.jsonl: no JSON; mend or remove the line")],
    ids=["line", "whole file"],
)
def test_a_transcript_error_names_file_and_line(line: int, message: str) -> None:
    """The place stands first, in the form editors understand."""
    error = TranscriptError("run.jsonl", line, "no JSON; mend or remove the line")
    assert str(error) == message
    assert (error.path, error.line, error.problem) == ("run.jsonl", line, "no JSON; mend or remove the line")


def test_a_halt_carries_its_escalation(escalation: Escalation) -> None:
    """Whoever catches it can tell a human all there is."""
    error = RunHalted(escalation, "budget spent")
    assert str(error) == (
        "run 'run-1' halted: budget spent "
        "(one error class keeps recurring (3 of 3): [ConnectionError] connection refused)"
    )
    assert (error.escalation, error.reason) == (escalation, "budget spent")
