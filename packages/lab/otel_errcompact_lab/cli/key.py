"""`errcompact key`: raw errors in, facts and dedup keys out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.compactor.classify import classify
from otel_errcompact_lab.cli.output import Problems, write_json

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError
    from otel_errcompact_lab.cli.inputs import Input


def print_keys(source: Input) -> int:
    """Print dedup keys as lines of JSON; return the exit status."""
    problems = Problems()
    for raw in source.raw_errors(problems):
        write_json(key_of(raw))
    return problems.exit_code


def key_of(raw: RawError) -> dict[str, object]:
    """Return the dedup key of a raw error, with its parts."""
    found = classify(raw)
    return {
        "key": found.key,
        "type": found.facts.type,
        "location": str(found.facts.location),
        "cause": found.facts.cause,
        "template": found.template,
        "format": found.facts.format,
        "members": found.facts.members,
        "details": list(found.facts.details),
    }
