"""Classify a raw error: extract, redact, mask, hash; remember recent results."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.key import dedup_key, template_of
from otel_errcompact.errors import Location
from otel_errcompact.extract.arguments import file_in_call
from otel_errcompact.extract.extraction import extract, extract_text, facts_of_exceptions
from otel_errcompact.extract.messages.calls import cause_of_call
from otel_errcompact.extract.stacks.live import read_chain
from otel_errcompact.extract.stacks.roots import ANYWHERE
from otel_errcompact.extract.text import read_source
from otel_errcompact.redaction.redact import redact, redact_lines
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.extract.stacks.failure import Failure
    from otel_errcompact.extract.stacks.roots import CodeRoots

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
    found = _classify(raw, roots)
    file = file_in_call(found.facts, raw.arguments) if raw.arguments else ""
    if not file:
        return found
    facts = replace(found.facts, location=Location(file=redact(file)))
    return Classified(facts=facts, key=dedup_key(facts, found.template), template=found.template)


def _classify(raw: RawError, roots: CodeRoots) -> Classified:
    if raw.exception is not None:
        return _classify_exception(raw.exception, raw.messages, roots)
    if cause := cause_of_call(raw.text, raw.tool, raw.arguments):
        return _classify_text(cause, "", "", None, roots.configured)
    size = len(raw.text) + len(raw.message)
    if size > MAX_REMEMBERED_CHARACTERS:
        return _key_facts(extract(raw, roots))
    classify_text = _classify_short_text if size <= SHORT_CHARACTERS else _classify_text
    return classify_text(raw.text, raw.type, raw.message, raw.exit_code, roots.configured)


def _classify_exception(exception: BaseException, messages: Mapping[int, str] | None, roots: CodeRoots) -> Classified:
    chain = _redact_chain(read_chain(exception, messages, roots))
    size = _measure(chain)
    if size > MAX_REMEMBERED_CHARACTERS:
        return _key_facts(facts_of_exceptions(chain, roots.configured))
    return (_classify_short_chain if size <= SHORT_CHARACTERS else _classify_chain)(chain, roots.configured)


def _redact_chain(chain: tuple[Failure, ...]) -> tuple[Failure, ...]:
    # Whole messages, before they are cut into lines and facts: half a key shows no longer that it is one.
    return tuple([_redact_failure(failure) for failure in chain])


def _redact_failure(failure: Failure) -> Failure:
    message, extra = redact(failure.message), redact(failure.extra) if failure.extra else ""
    attributes = tuple(map(redact, failure.attributes)) if failure.attributes else ()
    children = tuple(map(_redact_chain, failure.children)) if failure.children else ()
    return failure._replace(message=message, extra=extra, attributes=attributes, children=children)


def _measure(chain: tuple[Failure, ...]) -> int:
    # A group is larger than all that is remembered.
    size = 0
    for failure in chain:
        size += len(failure.message) + len(failure.extra)
        if failure.children:
            return MAX_REMEMBERED_CHARACTERS + 1
    return size


@lru_cache(maxsize=MAX_REMEMBERED)
def _classify_chain(chain: tuple[Failure, ...], roots: tuple[str, ...]) -> Classified:
    return _key_facts(facts_of_exceptions(chain, roots))


_classify_short_chain: Final = lru_cache(maxsize=MAX_REMEMBERED_SHORT)(_classify_chain.__wrapped__)


@lru_cache(maxsize=MAX_REMEMBERED)
def _classify_text(text: str, kind: str, message: str, exit_code: int | None, roots: tuple[str, ...]) -> Classified:
    return _key_facts(extract_text(read_source(text, kind, message, exit_code, roots)))


_classify_short_text: Final = lru_cache(maxsize=MAX_REMEMBERED_SHORT)(_classify_text.__wrapped__)


def _key_facts(facts: Facts) -> Classified:
    facts = _redact_facts(facts)
    template = template_of(facts)
    return Classified(facts=facts, key=dedup_key(facts, template), template=template)


def _redact_facts(facts: Facts) -> Facts:
    """Return `facts` without secrets."""
    # The text is without secrets already. What is read again here are lines of source and values put together anew.
    location, shown = facts.location, facts.key_location
    lines = (facts.cause, facts.key_cause, facts.type, location.file, location.function, shown.file, shown.function)
    rest = (*facts.details, *facts.names)
    redacted = redact_lines((*lines, *rest))
    if redacted == (*lines, *rest):
        return facts
    cause, key_cause, kind, file, function, key_file, key_function, *others = redacted
    return facts.revise(
        cause=cause,
        key_cause=key_cause,
        type=kind,
        location=replace(location, file=file, function=function),
        key_location=replace(shown, file=key_file, function=key_function),
        details=tuple(others[: len(facts.details)]),
        names=tuple(others[len(facts.details) :]),
    )
