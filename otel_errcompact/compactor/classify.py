"""Classify a raw error: read, redact, extract, mask, hash; remember recent results."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.key import dedup_key, template_of
from otel_errcompact.errors import NOT_READ, SHED, UNCLASSIFIED, Evidence, Facts, Location
from otel_errcompact.extract.arguments import file_in_call
from otel_errcompact.extract.evidence.late import add_evidence
from otel_errcompact.extract.extraction import facts_of_exceptions, facts_of_text
from otel_errcompact.extract.messages.calls import cause_of_call
from otel_errcompact.extract.stacks.live import read_chain
from otel_errcompact.extract.text import read_text
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.records import dataclass, replace
from otel_errcompact.runtime.roots import ANYWHERE

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError
    from otel_errcompact.extract.stacks.failure import Failure
    from otel_errcompact.runtime.roots import CodeRoots

MAX_REMEMBERED: Final = 256
"""Failures whose class is remembered: of exceptions and of texts each."""

MAX_REMEMBERED_CHARACTERS: Final = 4_096
"""Characters of a text or a message that is remembered; longer ones are read each time."""

MAX_REMEMBERED_SHORT: Final = 1_024
"""The same of short failures, which a process may have of a thousand classes: they take the room of those above."""

SHORT_CHARACTERS: Final = 512
"""Characters of a short text or message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A raw error's facts, free of secrets, and its class."""

    facts: Facts
    key: str
    """What all failures of the class share."""

    template: str
    """The cause with its volatile parts masked."""


def classify(raw: RawError, roots: CodeRoots = ANYWHERE) -> Classified:
    """
    Return the class of a raw error. Never raises, whatever the input.

    Args:
        raw: The raw error.
        roots: The folders of the user's own code.
    """
    found = _classify_error(raw, roots)
    file = file_in_call(found.facts, raw.arguments) if raw.arguments else ""
    if not file:
        return found
    facts = replace(found.facts, location=Location(file=redact(file)))
    return Classified(facts=facts, key=dedup_key(facts, found.template), template=found.template)


def classify_roughly(raw: RawError) -> Classified:
    """Return a class by type and tool, after a fault of ours."""
    facts = Facts(type=raw.type or "Error", cause="could not be classified", format=UNCLASSIFIED)
    return Classified(facts=facts, key=_hash(UNCLASSIFIED, raw.type, raw.tool), template=facts.cause)


def leave_unread(raw: RawError) -> Classified:
    """Return a class of equal texts, where there is no time."""
    last = raw.text.rstrip().rpartition("\n")[2].strip()
    cause = redact(last) if len(last) <= _LONGEST_CAUSE else ""
    facts = Facts(type="error", cause=cause or NOT_READ, format=SHED)
    return Classified(facts=facts, key=_hash(SHED, raw.tool, raw.text), template=NOT_READ)


_LONGEST_CAUSE: Final = 500


def _hash(*parts: str) -> str:
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _classify_error(raw: RawError, roots: CodeRoots) -> Classified:
    if raw.exception is not None:
        return _classify_chain(read_chain(raw.exception, raw.messages, roots), roots.configured)
    if cause := cause_of_call(raw.text, raw.tool, raw.arguments):
        return _remembered_text(cause, "", "", None, roots.configured)
    size = len(raw.text) + len(raw.message)
    if size > MAX_REMEMBERED_CHARACTERS:
        return _classify_text(raw.text, raw.type, raw.message, raw.exit_code, roots.configured)
    remembered = _remembered_short_text if size <= SHORT_CHARACTERS else _remembered_text
    return remembered(raw.text, raw.type, raw.message, raw.exit_code, roots.configured)


def _classify_chain(chain: tuple[Failure, ...], roots: tuple[str, ...]) -> Classified:
    chain = _redact_chain(chain)
    size = sum([len(failure.message) + len(failure.extra) for failure in chain])
    # A group is larger than all that is remembered.
    if size > MAX_REMEMBERED_CHARACTERS or any(failure.children for failure in chain):
        return _read_chain(chain, roots)
    return (_remembered_short_chain if size <= SHORT_CHARACTERS else _remembered_chain)(chain, roots)


def _redact_chain(chain: tuple[Failure, ...]) -> tuple[Failure, ...]:
    # Whole messages, before they are cut into lines and facts: half a key shows no longer that it is one.
    return tuple([_redact_failure(failure) for failure in chain])


def _redact_failure(failure: Failure) -> Failure:
    message, extra = redact(failure.message), redact(failure.extra) if failure.extra else ""
    attributes = tuple(map(redact, failure.attributes)) if failure.attributes else ()
    children = tuple(map(_redact_chain, failure.children)) if failure.children else ()
    return failure._replace(message=message, extra=extra, attributes=attributes, children=children)


def _read_chain(chain: tuple[Failure, ...], roots: tuple[str, ...]) -> Classified:
    facts, said = facts_of_exceptions(chain, roots)
    return _key_facts(facts, said)


_remembered_chain: Final = lru_cache(maxsize=MAX_REMEMBERED)(_read_chain)
_remembered_short_chain: Final = lru_cache(maxsize=MAX_REMEMBERED_SHORT)(_read_chain)


def _classify_text(text: str, kind: str, message: str, exit_code: int | None, roots: tuple[str, ...]) -> Classified:
    opened = read_text(text, kind, message, exit_code, roots)
    facts, body = facts_of_text(opened)
    return _key_facts(facts, body)


_remembered_text: Final = lru_cache(maxsize=MAX_REMEMBERED)(_classify_text)
_remembered_short_text: Final = lru_cache(maxsize=MAX_REMEMBERED_SHORT)(_classify_text)


def _key_facts(facts: Facts, body: str) -> Classified:
    facts = _redact_facts(facts, body)
    facts = add_evidence(facts, body)
    template = template_of(facts)
    return Classified(facts=facts, key=dedup_key(facts, template), template=template)


def _redact_facts(facts: Facts, body: str) -> Facts:
    # What stands in the text is without secrets already; lines of source and composed values are not.
    location, key = facts.location, facts.key_location
    said = (facts.cause, facts.key_cause, facts.type, location.file, location.function, key.file, key.function)
    lines = (*said, *facts.details, *facts.names, *[line for line, _ in facts.evidence])
    # Mostly there are none, and one look at all lines costs less than one at each. The blank lines between them say
    # that a long path and the line after it are not one word that a terminal broke.
    composed = "\n\n".join([line for line in lines if line.removeprefix("> ") not in body])
    if redact(composed) == composed:
        return facts
    return replace(
        facts,
        cause=redact(facts.cause),
        key_cause=redact(facts.key_cause),
        type=redact(facts.type),
        location=replace(location, file=redact(location.file), function=redact(location.function)),
        key_location=replace(key, file=redact(key.file), function=redact(key.function)),
        details=tuple(map(redact, facts.details)),
        names=tuple(map(redact, facts.names)),
        evidence=tuple([Evidence(redact(line), weight) for line, weight in facts.evidence]),
    )
