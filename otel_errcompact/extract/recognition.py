"""From a text to its facts: the first format of the table that recognises it, also for output inside output."""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import Facts
from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.following import add_following
from otel_errcompact.extract.format import Text
from otel_errcompact.extract.members import Member, to_member
from otel_errcompact.extract.reading import NO_MESSAGE
from otel_errcompact.extract.statements import indentation, is_telling
from otel_errcompact.extract.table import LAST_RESORT, UNREAD, load, prefilters
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINES: Final = 400
"""Lines of an inner output that are looked at, from its end."""

MAX_DEPTH: Final = 3
"""Outputs inside outputs that are looked into: a hook that runs a build that runs a compiler."""

_NOTHING: Final = Facts(type="error", cause=NO_MESSAGE)

OF_ANY_TEXT: Final = frozenset({"plain", LAST_RESORT.name})
"""Formats that take lines of any program, and choose among them."""

_READING: Final[ContextVar[tuple[str, ...]]] = ContextVar("otel_errcompact_reading", default=())
"""The formats that are reading, outermost first: none of them reads the output inside its own."""

_ROOTS: Final[ContextVar[tuple[str, ...]]] = ContextVar("otel_errcompact_roots", default=())
"""The configured folders of own code, for the outputs inside the one that is read."""


class Attempt(NamedTuple):
    """What one format has made of one output."""

    format: str
    inside: tuple[str, ...]
    """The formats that were reading around it, outermost first."""

    body: str
    facts: Facts | None


ATTEMPTS: Final[ContextVar[list[Attempt] | None]] = ContextVar("otel_errcompact_attempts", default=None)
"""Where attempts are noted, if anywhere."""


def recognise(text: Text) -> Facts:
    """Return the facts that the first format finds in `text`; progress before an output hides none."""
    facts = _recognise_text(text)
    if facts.format not in OF_ANY_TEXT:
        return facts
    body = _strip_progress(text.body)
    behind = _recognise_text(replace(text, body=body)) if body else facts
    return facts if behind.format in OF_ANY_TEXT else behind


def _strip_progress(body: str) -> str:
    at = 0
    while kind_of(body[at : (end := _end_of_line(body, at))]) is Kind.AROUND and end < len(body):
        if body[at:end].strip() in {"{", "["}:
            break  # what it opens belongs together
        at = end + 1
    return body[at:] if at else ""


def _end_of_line(body: str, start: int) -> int:
    end = body.find("\n", start)
    return len(body) if end < 0 else end


def _recognise_text(text: Text) -> Facts:
    # In a context of its own: an interrupt, wherever it comes, leaves no format behind as reading.
    return copy_context().run(_try_formats, text)


def _try_formats(text: Text) -> Facts:
    reading, attempts = _READING.get(), ATTEMPTS.get()
    if text.roots:
        _ROOTS.set(text.roots)
    for prefilter in prefilters():
        for listing in prefilter.candidates(text.body):
            if listing.name in reading:
                continue
            _READING.set((*reading, listing.name))
            facts = load(listing).read(text)
            if attempts is not None:
                attempts.append(Attempt(listing.name, reading, text.body, facts))
            if facts is not None:
                return _complete_facts(add_following(facts, text.lines, any_text=listing.name in UNREAD), listing.name)
    facts = load(LAST_RESORT).read(text) or _NOTHING
    return _complete_facts(add_following(facts, text.lines, any_text=True), LAST_RESORT.name)


def facts_of_output(lines: Sequence[str], *, any_text: bool = False) -> Facts | None:
    """
    Return the facts of a program's output that another program repeats.

    It comes without what the outer program puts before each line. Nothing where it is empty, stands too deep in others,
    or is of no format but the last resort; with `any_text` that counts too.
    """
    kept = _dedent_lines(lines[-MAX_LINES:])
    if not kept or len(_READING.get()) > MAX_DEPTH:
        return None
    facts = recognise(Text(body="\n".join(kept), roots=_ROOTS.get()))
    return facts if any_text or facts.format != LAST_RESORT.name else None


def member_of_output(output: Sequence[str], name: str, outcome: str, kind: str) -> Member:
    """Return how a part failed, by its output or its outcome."""
    facts = facts_of_output(output)
    if facts is not None:
        return to_member(facts, name, outcome)._replace(output=facts)
    telling = next((line.strip() for line in reversed(output) if is_telling(line)), "")
    return Member(kind, clip(telling or outcome), name=name, details=(outcome,) if telling else ())


def _complete_facts(facts: Facts, name: str) -> Facts:
    # Return facts with the name of their format, a type in one line, and a cause; a cut output may have left neither.
    kind, cause = facts.type, facts.cause
    if len(kind) > MAX_DETAIL or "\n" in kind:
        kind = clip(" ".join(kind.split()), MAX_DETAIL)
    return replace(facts, format=name, type=kind, cause=cause or NO_MESSAGE)


def _dedent_lines(lines: Sequence[str]) -> list[str]:
    # Take off blank lines at both ends and the indentation that all lines have in common.
    said = [number for number, line in enumerate(lines) if line.strip()]
    if not said:
        return []
    common = min(indentation(lines[number]) for number in said)
    return [line[common:] for line in lines[said[0] : said[-1] + 1]]
