"""From a raw error to its facts: those of its exception, or those that a format finds in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.following import add_following
from otel_errcompact.extract.glued import facts_of_parts
from otel_errcompact.extract.naming import read_named
from otel_errcompact.extract.passed import strip_passed
from otel_errcompact.extract.recognition import recognise
from otel_errcompact.extract.stacks import live
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import says_all
from otel_errcompact.extract.text import read_text
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.format import Text
    from otel_errcompact.extract.stacks.failure import Failure

_PYTHON: Final = "python"
"""The format of exceptions at hand."""

_REPEATING: Final = frozenset({"prose", "plain", "http", "rpc", "llm", "harness", "database", "validation"})
"""Formats that find in an output no more than the exception that repeats it says already."""

_OUTCOME: Final = "exit code "
"""How the type begins of what is known by its outcome alone."""

_MIN_REPEATED: Final = 24
"""Characters of a cause that show that it is the beginning of the output."""


def facts_of_exceptions(chain: Sequence[Failure], roots: tuple[str, ...] = ()) -> tuple[Facts, str]:
    """Return the facts of a chain of exceptions, and what these say."""
    said = "\n".join([part for failure in chain for part in (failure.message, failure.extra) if part])
    facts = facts_of(chain, source_of=live.loaded_line)
    facts = look_into_output(replace(facts, format=_PYTHON), roots)
    # Below what its print begins with, so that both have one class.
    facts = replace(add_following(facts, ("Traceback (", *said.split("\n"))), details=facts.details)
    return read_named(facts), said


def facts_of_text(text: Text) -> tuple[Facts, str]:
    """Return the facts of a text, and the part of it that they are of."""
    failed = replace(text, body=strip_passed(text.body))
    facts = facts_of_parts(text) or recognise(failed)
    facts = look_into_output(facts, text.roots)
    return read_named(facts), failed.body


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
    said = facts.output
    inner = recognise(read_text(_strip_trailers(said), roots=roots))
    facts = replace(facts, output="")
    if inner.format in _REPEATING:
        return facts
    if says_all(facts.cause):
        return _add_next(facts, inner)
    cause = "" if facts.cause[:_MIN_REPEATED] in said else f": {facts.cause}"
    wrapper = f"raised as {facts.type}{_write_place(facts)}{cause}"
    return replace(
        inner,
        location=inner.location or facts.location,
        details=details((*inner.details, wrapper), len(inner.details) + 1),
        wrappers=(*facts.wrappers, facts.type),
        output="",
    )


def _add_next(facts: Facts, following: Facts) -> Facts:
    # Return the facts with a line for what a program that ran next failed with.
    if following.type.startswith(_OUTCOME):
        return facts
    tally = f" ({following.tally})" if following.tally else ""
    line = f"also {following.type}{_write_place(following)}: {following.cause}{tally}"
    return replace(facts, details=details((*facts.details, line), len(facts.details) + 1))


def _write_place(facts: Facts) -> str:
    return f" at {facts.location}" if facts.location else ""
