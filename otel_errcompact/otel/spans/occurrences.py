"""One occurrence through many spans and log records: recognising a failure that is merely passed on, or told again."""

from __future__ import annotations

import itertools
import re
from threading import get_ident
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.extract.stacks.live import context_of
from otel_errcompact.otel.spans.reading import is_agent, read_http_status, read_http_url
from otel_errcompact.otel.spans.recorded import bare_name, mentions
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.foreign import attribute_of

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.data import EndedSpan

MARK: Final = "__errcompact_mark__"
COUNTED: Final = "__errcompact_counted__"
"""The mark of our own boundaries, which count what leaves them themselves."""

MAX_CHAIN: Final = 32
MAX_PARENTS: Final = 1_024
MAX_VERDICTS: Final = 4_096
MAX_CHILDREN: Final = 8
MAX_THREADS: Final = 256
MAX_MESSAGE: Final = 2_000
"""Characters of a child's message by which its parent finds it again."""

HANDLED: Final = ""

_STATUS: Final = re.compile(r"(?<![\w.:/-])[45][0-9]{2}(?![\w.:/-])")

_NONE: Final = frozenset[int]()


class _Mark(NamedTuple):
    """Where an exception object was seen last. Numbers only, so that a marked exception can still be pickled."""

    trace_id: int
    span_id: int
    parent_id: int
    end_ns: int
    origin: int


class _Child(NamedTuple):
    type: str
    message: str
    origin: int
    """The id of the span that was the first to record the failure."""

    logged: bool = False
    """Whether a log record told of it, and not a span."""

    named: bool = False
    """Whether that record is an event of its own: the failure of the very operation that its span stands for."""

    whole: bool = True
    """Whether the failure is known in full, and not just from a span's status."""

    marked: bool = False
    """Whether its exception object carries a mark, and so would be known by that."""

    end_ns: int = 0
    """When the span ended that recorded it."""

    status: str = ""
    """The HTTP status that is all the span has said."""

    url: str = ""

    def among(self, siblings: tuple[_Child, ...] | None) -> tuple[_Child, ...]:
        """Return the newest failed children of a parent, with this one."""
        return (*siblings[1 - MAX_CHILDREN :], self) if siblings else (self,)

    def is_passed_on(self, raw: RawError) -> bool:
        """Tell whether the parent's failure is this child's: the same, or one whose stack trace holds it."""
        same = self.message == raw.message[:MAX_MESSAGE] and bare_name(self.type) == bare_name(raw.type)
        return same or mentions(raw.text, self.type, self.message) or self.is_raised(raw)

    def is_raised(self, raw: RawError) -> bool:
        """Tell whether this is the answer of a server, and the failure the exception that was raised because of it."""
        if not self.status or self.whole:
            return False
        return self.status in status_of(raw.exception) or self.status in _STATUS.findall(raw.message)

    def is_surely_raised(self, raw: RawError) -> bool:
        """The same where nothing but the thread connects the two: the exception must name the address."""
        return bool(self.url) and self.url in raw.message and self.is_raised(raw)

    def is_behind(self, raw: RawError) -> bool:
        """Tell whether this is what a span's bare status stands for."""
        return self.logged and (self.named or bare_name(self.type) == bare_name(raw.type))

    def is_told_again(self, raw: RawError, *, named: bool) -> bool:
        """Tell whether a log record tells of this failure again."""
        if self.marked and raw.exception is not None:
            return False
        if not self.whole and (named or bare_name(self.type) == bare_name(raw.type)):
            return True
        return self.is_passed_on(raw)


class Occurrences:
    """
    The failures that were recorded lately, each under its origin: the id of the span that recorded it first, or a
    number of its own where that was a log record.

    An exception object that can be seen carries a mark; else a child's failure is found again by its parent, and what
    a log record tells of by type and message among the failures of its span.
    """

    def __init__(self) -> None:
        self._children: BoundedTable[tuple[int, int], tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._within: BoundedTable[int, tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._ended: BoundedTable[tuple[int, int], tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._verdicts: BoundedTable[int, str] = BoundedTable(MAX_VERDICTS)
        self._alone: BoundedTable[int, tuple[_Child, ...]] = BoundedTable(MAX_THREADS)
        self._records = itertools.count(1)

    def origins(self, span: EndedSpan, raw: RawError | None, *, whole: bool = True) -> frozenset[int]:
        """
        Return the origins of what `span` passes on; none if it has not failed, or its failure is a new occurrence.

        Args:
            span: The span.
            raw: What it failed with.
            whole: Whether that is known in full, and not just from the span's status.
        """
        if raw is None:
            return _NONE
        found = self._marked(span, raw.exception) or self._passed_up(span, raw, whole=whole)
        return frozenset(origin for origin in found if self._verdicts.get(origin) != HANDLED) if found else _NONE

    def remember(self, span: EndedSpan, raw: RawError, origin: int, *, whole: bool = True) -> None:
        """Let the spans around `span`, and log records that are still to come, recognise its failure."""
        parent_id = span.parent.span_id if span.parent is not None else 0
        marked = _mark(raw.exception, _Mark(span.trace_id, span.span_id, parent_id, span.end_ns, origin))
        child = _Child(raw.type, raw.message[:MAX_MESSAGE], origin, whole=whole, marked=marked, end_ns=span.end_ns)
        if not whole and (status := read_http_status(span.attributes)):
            child = child._replace(status=status, url=read_http_url(span.attributes))
        self._ended.update((span.trace_id, span.span_id), child.among)
        if parent_id:
            self._children.update((span.trace_id, parent_id), child.among)
            self._within.update(span.trace_id, child.among)
        elif child.url:
            self._alone.update(get_ident(), child.among)

    def is_news(self, span: EndedSpan, raw: RawError) -> bool:
        """Tell whether no log record has told of what a span has recorded and not failed with; it is known from now."""
        key = (span.trace_id, span.span_id)
        if any(child.logged and child.is_passed_on(raw) for child in self._children.get(key) or ()):
            return False
        self._ended.update(key, _Child(raw.type, raw.message[:MAX_MESSAGE], span.span_id).among)
        return True

    def told(self, record: EndedSpan, raw: RawError, *, named: bool) -> frozenset[int] | None:
        """
        Return the origins of what a log record tells of again; None if it is the first to tell of it.

        What is known stays known although it was handled: a record is no second failure.

        Args:
            record: The record, and what is known of its span.
            raw: What it tells.
            named: Whether it is an event of its own.
        """
        links = chain(raw.exception) if raw.exception is not None else ()
        marks = [mark for link in links if isinstance(mark := attribute_of(link, MARK), _Mark)]
        known = [mark.origin for mark in marks if mark.trace_id == record.trace_id or not record.trace_id]
        if known or any(attribute_of(link, COUNTED) is not None for link in links):
            return frozenset(known)
        key = (record.trace_id, record.span_id)
        if not record.trace_id:
            return self._answered(raw)
        there = (*(self._children.get(key) or ()), *(self._ended.get(key) or ()))
        found = frozenset(child.origin for child in there if child.is_told_again(raw, named=named))
        return found or None

    def tell(self, record: EndedSpan, raw: RawError, *, named: bool) -> int:
        """Let the span of a log record, the spans around it and further records recognise what it tells of."""
        origin = -next(self._records)
        marked = _mark(raw.exception, _Mark(record.trace_id, record.span_id, record.span_id, record.end_ns, origin))
        if record.trace_id:
            child = _Child(raw.type, raw.message[:MAX_MESSAGE], origin, logged=True, named=named, marked=marked)
            self._children.update((record.trace_id, record.span_id), child.among)
        return origin

    def judge(self, key: str, *span_ids: int) -> None:
        """Note what became of the failure these spans have recorded: its class, or `HANDLED`."""
        for span_id in span_ids:
            self._verdicts.put(span_id, key)

    def class_of(self, span_id: int) -> str | None:
        """Return the dedup key of the failure that was recorded on a span; None if it is not known."""
        return self._verdicts.get(span_id) or None

    def clear(self) -> None:
        """Forget everything."""
        self._children.clear()
        self._within.clear()
        self._ended.clear()
        self._verdicts.clear()
        self._alone.clear()

    def _marked(self, span: EndedSpan, exception: BaseException | None) -> list[int]:
        if exception is None:
            return []
        return [
            mark.origin
            for link in chain(exception)
            if isinstance(mark := attribute_of(link, MARK), _Mark)
            and mark.trace_id == span.trace_id
            # An exception object may be raised again by a later sibling: that is another occurrence.
            and (mark.parent_id == span.span_id or mark.end_ns > span.start_ns)
        ]

    def _passed_up(self, span: EndedSpan, raw: RawError, *, whole: bool) -> list[int]:
        children = self._children.pop((span.trace_id, span.span_id)) or ()
        found = [child.origin for child in children if child.is_passed_on(raw)]
        if not found and is_agent(span):
            found = self._told_of(span, raw)
        if found or whole:
            return found
        # The bare status of a server's span says no more than that something inside has failed.
        return [child.origin for child in children if span.is_server or child.is_behind(raw)][-1:]

    def _answered(self, raw: RawError) -> frozenset[int] | None:
        """The newest request of this thread, in a trace of its own, whose answer an exception was raised for; once."""
        known = self._alone.get(get_ident()) or ()
        found = next((child for child in reversed(known) if child.is_surely_raised(raw)), None)
        if found is None:
            return None
        self._alone.put(get_ident(), tuple(child for child in known if child is not found))
        return frozenset({found.origin})

    def _told_of(self, span: EndedSpan, raw: RawError) -> list[int]:
        """What an agent's span tells in its own words, of a failure that need not be its child's."""
        return [
            child.origin
            for child in self._within.get(span.trace_id) or ()
            if child.end_ns >= span.start_ns
            and (child.is_passed_on(raw) or (child.message and child.message in raw.text))
        ]


def status_of(exception: BaseException | None) -> frozenset[str]:
    """Return the HTTP statuses that an exception, or one it was raised from, carries as a number."""
    found: set[str] = set()
    for link in chain(exception) if exception is not None else ():
        for owner in (link, attribute_of(link, "response")):
            values = (attribute_of(owner, name) for name in ("status_code", "status", "code"))
            found |= {str(value) for value in values if isinstance(value, int)}
    return frozenset(found)


def _mark(exception: BaseException | None, mark: _Mark) -> bool:
    """Mark an exception object and tell whether it could be marked."""
    if exception is None:
        return False
    try:
        setattr(exception, MARK, mark)
    except Exception:  # noqa: BLE001 - a class may refuse it; type and message recognise its failures
        return False
    return True


def chain(exception: BaseException) -> list[BaseException]:
    """Return an exception with its causes, contexts and the members of groups."""
    try:
        return _chain(exception)
    except Exception:  # noqa: BLE001 - an exception's attributes are the application's own code
        return [exception]


def _chain(exception: BaseException) -> list[BaseException]:
    if exception.__cause__ is None and exception.__context__ is None and not hasattr(exception, "exceptions"):
        return [exception]
    seen = {id(exception): exception}
    waiting, frames = [exception], set[int]()
    while waiting and len(seen) < MAX_CHAIN:
        link = waiting.pop()
        for found in (link.__cause__, context_of(link, frames), *_members(link)):
            if found is not None and id(found) not in seen:
                seen[id(found)] = found
                waiting.append(found)
    return list(seen.values())


def _members(exception: BaseException) -> list[BaseException]:
    if not isinstance(exception, BaseExceptionGroup):
        return []
    return list(cast("BaseExceptionGroup[BaseException]", exception).exceptions[:MAX_CHAIN])
