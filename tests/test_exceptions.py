from __future__ import annotations

import pytest

from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.exceptions import ConfigurationError, ErrcompactError, MissingExtraError


@pytest.mark.parametrize(
    ("kind", "parent"),
    [
        (ConfigurationError, ValueError),
        (MissingExtraError, ImportError),
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


def test_a_halt_carries_its_escalation(escalation: Escalation) -> None:
    """Whoever catches it can tell a human all there is."""
    error = RunHalted(escalation, "budget spent")
    assert str(error) == (
        "run 'run-1' halted: budget spent "
        "(one error class keeps recurring (3 of 3): [ConnectionError] connection refused)"
    )
    assert (error.escalation, error.reason) == (escalation, "budget spent")
