"""Correlate: mark exception objects to recognise one across several spans."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

from otel_errcompact import late
from otel_errcompact.runtime.foreign import attribute_of, mark_of

MARK: Final = "__errcompact_mark__"
COUNTED: Final = "__errcompact_counted__"
"""The mark of our own boundaries, which count the exceptions that leave them."""

MAX_LINKED: Final = 32


class Mark(NamedTuple):
    """
    Names where an exception object was last seen.

    Numbers only, so that a marked exception can still be pickled.
    """

    trace_id: int
    span_id: int
    parent_id: int
    end_ns: int
    origin: int


def mark_exception(exception: BaseException | None, mark: Mark) -> bool:
    """Mark an exception object and return whether it carries the mark."""
    if exception is None:
        return False
    try:
        setattr(exception, MARK, mark)
    except Exception:  # noqa: BLE001 - a class may refuse it; type and message recognise its failures
        return False
    return True


def read_marks(exception: BaseException | None) -> list[Mark]:
    """Return the marks of an exception and of its linked exceptions."""
    return [mark for link in find_linked(exception) if isinstance(mark := mark_of(link, MARK), Mark)]


def is_counted_by_boundary(exception: BaseException | None) -> bool:
    """Return whether our boundary counted an exception or a linked one."""
    return any(mark_of(link, COUNTED) is not None for link in find_linked(exception))


def read_statuses(exception: BaseException | None) -> frozenset[str]:
    """Return the numeric HTTP statuses of an exception and its linked ones."""
    found: set[str] = set()
    for link in find_linked(exception):
        for owner in (link, attribute_of(link, "response")):
            values = (attribute_of(owner, name) for name in ("status_code", "status", "code"))
            found |= {str(value) for value in values if isinstance(value, int)}
    return frozenset(found)


def find_linked(exception: BaseException | None) -> list[BaseException]:
    """Return an exception with its causes, contexts and the members of groups."""
    if exception is None:
        return []
    try:
        return _find_linked(exception)
    except Exception:  # noqa: BLE001 - an exception's attributes are the application's own code
        return [exception]


def _find_linked(exception: BaseException) -> list[BaseException]:
    if exception.__cause__ is None and exception.__context__ is None and not hasattr(exception, "exceptions"):
        return [exception]
    seen = {id(exception): exception}
    waiting, frames = [exception], set[int]()
    while waiting and len(seen) < MAX_LINKED:
        link = waiting.pop()
        for found in (link.__cause__, late.context_of(link, frames), *_list_members(link)):
            if found is not None and id(found) not in seen:
                seen[id(found)] = found
                waiting.append(found)
    return list(seen.values())


def _list_members(exception: BaseException) -> list[BaseException]:
    if not isinstance(exception, BaseExceptionGroup):
        return []
    return list(cast("BaseExceptionGroup[BaseException]", exception).exceptions[:MAX_LINKED])
