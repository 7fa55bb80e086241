"""One occurrence through many spans: recognising a failure that a span merely passes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.otel.bounded import BoundedTable
from otel_errcompact.otel.spans import bare, is_agent, mentions

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError
    from otel_errcompact.otel.spans import EndedSpan

MARK: Final = "__errcompact_mark__"
MAX_CHAIN: Final = 32
MAX_PARENTS: Final = 1_024
MAX_VERDICTS: Final = 4_096
MAX_CHILDREN: Final = 8
MAX_MESSAGE: Final = 2_000
"""Characters of a child's message by which its parent finds it again."""

HANDLED: Final = ""

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

    end_ns: int

    def among(self, siblings: tuple[_Child, ...] | None) -> tuple[_Child, ...]:
        """Return the newest failed children of a parent, with this one."""
        return (*siblings[1 - MAX_CHILDREN :], self) if siblings else (self,)

    def is_passed_on(self, raw: RawError) -> bool:
        """Tell whether the parent's failure is this child's: the same, or one whose stack trace holds it."""
        same = self.message == raw.message[:MAX_MESSAGE] and bare(self.type) == bare(raw.type)
        return same or mentions(raw.text, self.type, self.message)


class Occurrences:
    """
    The failures that spans have recorded lately, each under its origin: the id of the span that recorded it first.

    An exception object that can be seen carries a mark; else a child's failure is found again by its parent.
    """

    def __init__(self) -> None:
        self._children: BoundedTable[tuple[int, int], tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._within: BoundedTable[int, tuple[_Child, ...]] = BoundedTable(MAX_PARENTS)
        self._verdicts: BoundedTable[int, str] = BoundedTable(MAX_VERDICTS)

    def origins(self, span: EndedSpan, raw: RawError | None) -> frozenset[int]:
        """
        Return the origins of what `span` passes on; none if it has not failed, or its failure is a new occurrence.
        """
        if raw is None:
            return _NONE
        found = self._marked(span, raw.exception) or self._passed_up(span, raw)
        return frozenset(origin for origin in found if self._verdicts.get(origin) != HANDLED) if found else _NONE

    def remember(self, span: EndedSpan, raw: RawError, origin: int) -> None:
        """Let the spans around `span` recognise its failure."""
        parent_id = span.parent.span_id if span.parent is not None else 0
        if raw.exception is not None:
            mark = _Mark(span.trace_id, span.span_id, parent_id, span.end_ns, origin)
            try:  # noqa: SIM105 - a context manager would double what marking costs
                setattr(raw.exception, MARK, mark)
            except Exception:  # noqa: BLE001, S110 - a class may refuse it; type and message recognise its failures
                pass
        if parent_id:
            child = _Child(raw.type, raw.message[:MAX_MESSAGE], origin, span.end_ns)
            self._children.update((span.trace_id, parent_id), child.among)
            self._within.update(span.trace_id, child.among)

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
        self._verdicts.clear()

    def _marked(self, span: EndedSpan, exception: BaseException | None) -> list[int]:
        if exception is None:
            return []
        return [
            mark.origin
            for link in chain(exception)
            if isinstance(mark := getattr(link, MARK, None), _Mark)
            and mark.trace_id == span.trace_id
            # An exception object may be raised again by a later sibling: that is another occurrence.
            and (mark.parent_id == span.span_id or mark.end_ns > span.start_ns)
        ]

    def _passed_up(self, span: EndedSpan, raw: RawError) -> list[int]:
        children = self._children.pop((span.trace_id, span.span_id)) or ()
        found = [child.origin for child in children if child.is_passed_on(raw)]
        return found or (self._told_of(span, raw) if is_agent(span) else [])

    def _told_of(self, span: EndedSpan, raw: RawError) -> list[int]:
        """What an agent's span tells in its own words, of a failure that need not be its child's."""
        return [
            child.origin
            for child in self._within.get(span.trace_id) or ()
            if child.end_ns >= span.start_ns
            and (child.is_passed_on(raw) or (child.message and child.message in raw.text))
        ]


def chain(exception: BaseException) -> list[BaseException]:
    """Return an exception with its causes, contexts and the members of groups."""
    if exception.__cause__ is None and exception.__context__ is None and not hasattr(exception, "exceptions"):
        return [exception]
    seen = {id(exception): exception}
    waiting = [exception]
    while waiting and len(seen) < MAX_CHAIN:
        link = waiting.pop()
        context = None if link.__suppress_context__ else link.__context__
        for found in (link.__cause__, context, *_members(link)):
            if found is not None and id(found) not in seen:
                seen[id(found)] = found
                waiting.append(found)
    return list(seen.values())


def _members(exception: BaseException) -> list[BaseException]:
    """The members of an exception group; recognised by its shape, since Python 3.10 has no such class."""
    members: object = getattr(exception, "exceptions", None)
    if not isinstance(members, tuple):
        return []
    found = cast("tuple[object, ...]", members)[:MAX_CHAIN]
    return [member for member in found if isinstance(member, BaseException)]
