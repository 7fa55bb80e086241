"""`errcompact digest`: the digests of one run's raw errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.lab.cli.output import Problems, write_json

if TYPE_CHECKING:
    from otel_errcompact.engine.observations import Observation
    from otel_errcompact.lab.cli.inputs import Input

RUN_ID: Final = "digest"


def print_digests(source: Input) -> int:
    """Print each digest as a line of JSON; return the exit code."""
    problems = Problems()
    ledger = Ledger(Options.from_environ())
    for raw in source.raw_errors(problems):
        write_json(digest_of(ledger.observe(RUN_ID, raw)))
    return problems.exit_code


def digest_of(observation: Observation) -> dict[str, object]:
    """Return what became of one raw error."""
    return {
        "text": observation.text,
        "key": observation.found.key,
        "count": observation.count,
        "raw_tokens": observation.raw_tokens,
        "digest_tokens": observation.digest_tokens,
    }
