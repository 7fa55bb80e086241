"""The command line as users start it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from otel_errcompact_lab.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable

    Errcompact = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """
    What a command has left behind.
    """

    code: int
    out: str
    err: str


@pytest.fixture
def errcompact() -> Errcompact:
    """Runs a command in this process; what it raises is raised."""

    def run(*arguments: object, stdin: str | bytes | None = None) -> Outcome:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run
