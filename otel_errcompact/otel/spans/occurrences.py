"""Correlate: recognise one occurrence through many spans and log records."""

from __future__ import annotations

import itertools
from threading import get_ident
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.otel.spans.marks import Mark, is_counted_by_boundary, mark_exception, read_marks, read_statuses
from otel_errcompact.otel.spans.recorded import bare_name, mentions
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.data import EndedSpan

MAX_PARENTS: Final = 1_024
MAX_CLASSES: Final = 4_096
MAX_CHILDREN: Final = 8
MAX_THREADS: Final = 256
MAX_MESSAGE: Final = 2_000
"""Characters of a child's message by which its parent recognises it."""

HANDLED: Final = ""
"""In place of a class: the failure was handled."""

_STATUS: Final = lazy_pattern(r"(?<![\w.:/-])[45][0-9]{2}(?![\w.:/-])")

_NONE: Final = frozenset[int]()


class SeenFailure(NamedTuple):
    """
    Holds what is enough of a raw error to recognise it.
    """

    type: str
    message: str
    text: str
    exception: BaseException | None


class _Child(NamedTuple):
    type: str
    message: str
    origin: int
    """The id of the span that recorded the failure first."""

    logged: bool = False
    """Whether a log record reported it, and not a span."""

    named: bool = False
    """Whether that record is an event of its own: the failure of the very operation that its span stands for."""

    whole: bool = True
    """Whether the failure is known in full, and not just from a span's status."""

    marked: bool = False
    """Whether its exception object carries a mark, by which it is recognised."""

    end_ns: int = 0
    """When the span ended that recorded it."""

    status: str = ""
    """The HTTP status, where the span holds nothing else of the failure."""

    url: str = ""

    def add_to(self, siblings: tuple[_Child, ...] | None) -> tuple[_Child, ...]:
        """Return the newest failed children of a parent, with this one."""
        return (*siblings[1 - MAX_CHILDREN :], self) if siblings else (self,)

    def is_passed_on(self, raw: RawError | SeenFailure) -> bool:
        """Return whether the parent's failure is this child's, or quotes it."""
        same = self.message == raw.message[:MAX_MESSAGE] and bare_name(self.type) == bare_name(raw.type)
        return same or mentions(raw.text, self.type, self.message) or self.is_raised(raw)

    def is_raised(self, raw: RawError | SeenFailure) -> bool:
        """Return whether a failure is raised because of this server's answer."""
        if not self.status or self.whole:
            return False
        return self.status in read_statuses(raw.exception) or self.status in _STATUS.findall(raw.message)

    def is_surely_raised(self, raw: RawError | SeenFailure) -> bool:
        """Return that where only the thread connects both: by the address."""
        return bool(self.url) and self.url in raw.message and self.is_raised(raw)

    def is_behind(self, raw: RawError | SeenFailure) -> bool:
        """Return whether a span's bare status stands for this failure."""
        return self.logged and (self.named or bare_name(self.type) == bare_name(raw.type))

    def is_logged_again(self, raw: RawError, *, named: bool) -> bool:
        """Return whether a log record reports this failure."""
        if self.marked and raw.exception is not None:
            return False
        if not self.whole and (named or bare_name(self.type) == bare_name(raw.type)):
            return True
        return self.is_passed_on(raw)


class Occurrences:
    """
    Holds the newest recorded failures by origin.

    An origin is the id of the span that recorded the failure first.

    A failure that a log record reported first has a number of its own. An exception object that can be seen carries a
    mark; else a parent recognises its child's failure, and a log record one of its span, by type and message.
    """

    def __init__(self) -> None:
        self._children: BoundedTable[tuple[int, int], tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._in_trace: BoundedTable[int, tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._ended: BoundedTable[tuple[int, int], tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._classes: BoundedTable[int, str] = BoundedTable(MAX_CLASSES)
        self._untraced: BoundedTable[int, tuple[_Child, ...]] = BoundedTable(MAX_THREADS)
        self._numbers = itertools.count(1)

    def find_origins(
        self, span: EndedSpan, raw: RawError | SeenFailure | None, *, whole: bool = True
    ) -> frozenset[int]:
        """
        Return the origins of the failure that `span` passes on.

        None if it has no failure, or a new one.

        Args:
            span: The span.
            raw: The failure that ended it.
            whole: Whether that is known in full, and not just from the span's status.
        """
        if raw is None:
            return _NONE
        found = self._find_marked(span, raw.exception) or self._find_children(span, raw, whole=whole)
        return frozenset(origin for origin in found if self._classes.get(origin) != HANDLED) if found else _NONE

    def has_children(self, span: EndedSpan) -> bool:
        """Return whether a failure is known that a span may pass on."""
        return (span.trace_id, span.span_id) in self._children.entries

    def remember(self, span: EndedSpan, raw: RawError | SeenFailure, origin: int, *, whole: bool = True) -> None:
        """Have the spans around `span`, and later log records, recognise its failure."""
        parent_id = span.parent.span_id if span.parent is not None else 0
        marked = mark_exception(raw.exception, Mark(span.trace_id, span.span_id, parent_id, span.end_ns, origin))
        child = _Child(raw.type, raw.message[:MAX_MESSAGE], origin, whole=whole, marked=marked, end_ns=span.end_ns)
        if not whole and (status := span.http_status):
            child = child._replace(status=status, url=span.http_url)
        self._ended.update((span.trace_id, span.span_id), child.add_to)
        if parent_id:
            self._children.update((span.trace_id, parent_id), child.add_to)
            self._in_trace.update(span.trace_id, child.add_to)
        elif child.url:
            self._untraced.update(get_ident(), child.add_to)

    def note_mention(self, span: EndedSpan, raw: RawError) -> bool:
        """
        Return whether a mentioned failure is new to the log records.

        It is known from now.
        """
        key = (span.trace_id, span.span_id)
        if any(child.logged and child.is_passed_on(raw) for child in self._children.get(key) or ()):
            return False
        self._ended.update(key, _Child(raw.type, raw.message[:MAX_MESSAGE], span.span_id).add_to)
        return True

    def find_logged(self, record: EndedSpan, raw: RawError, *, named: bool) -> frozenset[int] | None:
        """
        Return the origins of a logged failure, or None if new.

        A handled failure stays known: a record of it is no second failure.

        Args:
            record: The record, and its span as far as it is known.
            raw: The failure.
            named: Whether the record is an event of its own.
        """
        marks = read_marks(raw.exception)
        known = [mark.origin for mark in marks if mark.trace_id == record.trace_id or not record.trace_id]
        if known or is_counted_by_boundary(raw.exception):
            return frozenset(known)
        key = (record.trace_id, record.span_id)
        if not record.trace_id:
            return self._take_untraced(raw)
        there = (*(self._children.get(key) or ()), *(self._ended.get(key) or ()))
        found = frozenset(child.origin for child in there if child.is_logged_again(raw, named=named))
        return found or None

    def remember_logged(self, record: EndedSpan, raw: RawError, *, named: bool) -> int:
        """Let further spans and records recognise a logged failure."""
        origin = -next(self._numbers)
        mark = Mark(record.trace_id, record.span_id, record.span_id, record.end_ns, origin)
        marked = mark_exception(raw.exception, mark)
        if record.trace_id:
            child = _Child(raw.type, raw.message[:MAX_MESSAGE], origin, logged=True, named=named, marked=marked)
            self._children.update((record.trace_id, record.span_id), child.add_to)
        return origin

    def set_class(self, key: str, span_ids: Iterable[int]) -> None:
        """Set the class of these spans' failure, or `HANDLED`."""
        for span_id in span_ids:
            self._classes.put(span_id, key)

    def find_class(self, span_id: int) -> str | None:
        """Return the dedup key of a span's failure, or None if unknown."""
        return self._classes.get(span_id) or None

    def clear(self) -> None:
        """Forget everything."""
        for table in (self._children, self._in_trace, self._ended, self._classes, self._untraced):
            table.clear()

    def _find_marked(self, span: EndedSpan, exception: BaseException | None) -> list[int]:
        return [
            mark.origin
            for mark in read_marks(exception)
            if mark.trace_id == span.trace_id
            # An exception object may be raised again by a later sibling: that is another occurrence.
            and (mark.parent_id == span.span_id or mark.end_ns > span.start_ns)
        ]

    def _find_children(self, span: EndedSpan, raw: RawError | SeenFailure, *, whole: bool) -> list[int]:
        children = self._children.pop((span.trace_id, span.span_id)) or ()
        found = [child.origin for child in children if child.is_passed_on(raw)]
        if not found and span.is_agent:
            found = self._find_reworded(span, raw)
        if found or whole:
            return found
        # The bare status of a server's span says no more than that something inside has failed.
        return [child.origin for child in children if span.is_server or child.is_behind(raw)][-1:]

    def _take_untraced(self, raw: RawError) -> frozenset[int] | None:
        """Return this thread's newest untraced request that `raw` answers, once."""
        known = self._untraced.get(get_ident()) or ()
        found = next((child for child in reversed(known) if child.is_surely_raised(raw)), None)
        if found is None:
            return None
        self._untraced.put(get_ident(), tuple(child for child in known if child is not found))
        return frozenset({found.origin})

    def _find_reworded(self, span: EndedSpan, raw: RawError | SeenFailure) -> list[int]:
        """
        Return the failures that an agent's span reports in other words.

        They need not be its children's.
        """
        return [
            child.origin
            for child in self._in_trace.get(span.trace_id) or ()
            if child.end_ns >= span.start_ns
            and (child.is_passed_on(raw) or (child.message and child.message in raw.text))
        ]
