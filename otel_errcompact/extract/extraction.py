"""From a raw error to its facts: those of its exception, or those that a format finds in its text."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Evidence, RawError
from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.evidence.find import find_evidence
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.evidence.late import LateEvidence
from otel_errcompact.extract.folding import fold_temporary
from otel_errcompact.extract.following import add_following
from otel_errcompact.extract.glued import facts_of_parts
from otel_errcompact.extract.naming import read_named
from otel_errcompact.extract.passed import strip_passed
from otel_errcompact.extract.recognition import UNREAD, recognise
from otel_errcompact.extract.stacks import live
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import says_all
from otel_errcompact.extract.stacks.roots import ANYWHERE
from otel_errcompact.extract.table import listings
from otel_errcompact.extract.text import read_text
from otel_errcompact.redaction.redact import redact_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.format import Text
    from otel_errcompact.extract.stacks.failure import Failure
    from otel_errcompact.extract.stacks.roots import CodeRoots

MIN_EVIDENCE: Final = 400
"""Characters from which on a text may hold more than its facts; a shorter one stays whole by default."""

MAX_KEPT: Final = 4_096
"""Characters of a text that is kept until its evidence is asked for; of a longer one it is gathered at once."""

_PYTHON: Final = "python"
"""The format of exceptions at hand."""

_REPEATING: Final = frozenset({"prose", "plain", "http", "rpc", "llm", "harness", "database", "validation"})
"""Formats that find in an output no more than the exception that repeats it says already."""

_OUTCOME: Final = "exit code "
"""How the type begins of what is known by its outcome alone."""

_MIN_REPEATED: Final = 24
"""Characters of a cause that show that it is the beginning of the output."""


def extract(raw: RawError, roots: CodeRoots = ANYWHERE) -> Facts:
    """Return the facts of a raw error. Never raises, whatever the input."""
    if raw.exception is not None:
        return facts_of_exceptions(live.read_chain(raw.exception, raw.messages, roots), roots.configured)
    return extract_text(read_text(raw, roots.configured))


def facts_of_exceptions(chain: Sequence[Failure], roots: tuple[str, ...] = ()) -> Facts:
    """Return the facts of exceptions at hand, outermost first."""
    facts = look_into_output(replace(facts_of(chain, source_of=live.loaded_line), format=_PYTHON), roots)
    said = "\n".join([part for failure in chain for part in (failure.message, failure.extra) if part])
    return _add_evidence(read_named(replace(add_following(facts, said.split("\n")), details=facts.details)), said)


def extract_text(text: Text) -> Facts:
    """Return the facts of a text."""
    failed = replace(text, body=strip_passed(text.body))
    facts = look_into_output(facts_of_parts(text) or recognise(failed), text.roots)
    return _add_evidence(read_named(facts), failed.body)


def _add_evidence(facts: Facts, body: str) -> Facts:
    folded = fold_temporary(facts)
    if len(body) < MIN_EVIDENCE or facts.format in UNREAD:
        # Only a format from elsewhere brings evidence of its own.
        return folded.revise(evidence=_redact(folded.evidence)) if folded.evidence else folded
    gather = partial(_gather, facts, body)
    return folded.revise(evidence=LateEvidence(gather) if len(body) <= MAX_KEPT else gather())


def _gather(facts: Facts, body: str) -> tuple[Evidence, ...]:
    if any(row.tells_logs for row in listings() if row.name == facts.format):
        return ()
    return _redact(fold_temporary(facts.revise(evidence=find_evidence(body.split("\n"), facts))).evidence)


def _redact(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    lines = redact_lines([line for line, _ in evidence])
    return tuple([Evidence(line, old.weight) for line, old in zip(lines, evidence, strict=True)])


def _strip_trailers(output: str) -> str:
    # A script that reports the failure stands below the traceback, and is no output that was repeated in it.
    lines = output.rstrip().split("\n")
    while lines and kind_of(lines[-1]) is Kind.TRAILER:
        lines.pop()
    return "\n".join(lines)


def look_into_output(facts: Facts, roots: tuple[str, ...]) -> Facts:
    """Return the facts of the output that an exception repeats, if recognised."""
    # Tools that run programs raise exceptions with their output: the cause is in there, and the exception wraps it.
    if not facts.output:
        return facts
    if says_all(facts.cause):
        return _add_next(replace(facts, output=""), facts.output, roots)
    output = _strip_trailers(facts.output)
    inner = recognise(read_text(RawError(text=output), roots))
    if inner.format in _REPEATING:
        return replace(facts, output="")
    at = f" at {facts.location}" if facts.location else ""
    cause = "" if facts.cause[:_MIN_REPEATED] in facts.output else f": {facts.cause}"
    return replace(
        inner,
        location=inner.location or facts.location,
        details=details((*inner.details, f"raised as {facts.type}{at}{cause}"), len(inner.details) + 1),
        wrappers=(*facts.wrappers, facts.type),
        output="",
    )


def _add_next(facts: Facts, output: str, roots: tuple[str, ...]) -> Facts:
    # Return the facts with a line for what a program that ran next failed with, where a format recognises it.
    following = recognise(read_text(RawError(text=output), roots))
    if following.format in _REPEATING or following.type.startswith(_OUTCOME):
        return facts
    at = f" at {following.location}" if following.location else ""
    tally = f" ({following.tally})" if following.tally else ""
    line = f"also {following.type}{at}: {following.cause}{tally}"
    return replace(facts, details=details((*facts.details, line), len(facts.details) + 1))
