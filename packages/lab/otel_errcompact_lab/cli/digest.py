"""`errcompact digest`: the digests of one run's raw errors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.digest.untrusted import plain_lines
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.cli.output import Problems, write_json

if TYPE_CHECKING:
    from otel_errcompact.engine.events import Observation
    from otel_errcompact_lab.cli.inputs import Input

RUN_ID: Final = "digest"


def print_digests(source: Input, *, as_text: bool = False) -> int:
    """Print each digest as JSON or text; return the exit status."""
    problems = Problems()
    ledger = Ledger(Options.from_environ())
    for number, raw in enumerate(source.raw_errors(problems)):
        observation = ledger.observe(RUN_ID, raw)
        if as_text:
            # A tool's output may hold what changes a terminal's state.
            text = plain_lines(observation.text)
            sys.stdout.write(f"\n{text}\n" if number else f"{text}\n")
            sys.stdout.flush()
        else:
            write_json(digest_of(observation))
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
