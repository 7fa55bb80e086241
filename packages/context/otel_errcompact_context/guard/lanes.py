"""Compactions at a time: one of a conversation, a few of all."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.coroutines import loop_is_running
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact_context.exceptions import LaneError

if TYPE_CHECKING:
    from collections.abc import Generator


class Lanes:
    """
    Lets in one at a time for each session, and at most `places` for all; who came first is served first.

    `with lanes.visit("chat-1"):` and `async with lanes.visit("chat-1"):` may wait for each other, on any number of
    event loops. A visit inside a visit of the same session goes straight through, so that a summariser may itself call
    the model through the guard; a visit inside one of another session waits, unless that session waits for this one.

    Args:
        places: How many may be inside at a time; one that waits inside for another session lends its place meanwhile.
        waiting: How many may wait for one session.
        seconds: How long a visit waits at most.

    Raises:
        ConfigurationError: There is no place at all.
    """

    def __init__(self, places: int = 4, *, waiting: int = 1_000, seconds: float = 600.0) -> None:
        if places < 1:
            raise ConfigurationError(f"places is {places}; at least one must be able to get in")
        self.places, self.waiting, self.seconds = places, waiting, seconds
        self.inside: Final[dict[str, Visit]] = {}
        """The visit in the lane of each session."""
        reset_in_child(self._forget_visits)

    def visit(self, session: str) -> Visit:
        """
        Return what is entered by `with` or `async with`.

        Raises:
            LaneError: On entering: two sessions wait for each other, too many wait, or nothing moves; or `with` would
                have to wait and so block the event loop that runs in this thread.
        """
        return Visit(self, session)

    @property
    def busy(self) -> int:
        """How many places are taken; a visit inside another needs none."""
        return sum(not one.above and not one.waits_inside for one in self.inside.values())

    def waiting_for(self, session: str) -> int:
        """Return how many wait for a session."""
        return sum(one.lanes is self and one.session == session for one in _line.visits)

    def _forget_visits(self) -> None:
        self.inside.clear()


class Visit:
    """One visit of a session's lane."""

    def __init__(self, lanes: Lanes, session: str) -> None:
        self.lanes, self.session = lanes, session
        self.above: tuple[Visit, ...] = ()
        """The visits in which this one takes place, the outermost first."""
        self.is_inside = False
        self.waits_inside = 0
        """How many visits inside this one wait, so that its place is lent."""
        self.loop: asyncio.AbstractEventLoop | None = None
        self._before: tuple[Visit, ...] = ()
        self._let_in: Future[None] = Future()
        self._let_in.set_running_or_notify_cancel()  # a task that is cancelled leaves by itself

    def __enter__(self) -> None:
        if self._must_wait():
            with self._leaves_on_error():
                self._let_in.result(self.lanes.seconds)

    async def __aenter__(self) -> None:
        self.loop = asyncio.get_running_loop()
        if self._must_wait():
            with self._leaves_on_error():
                async with asyncio.timeout(self.lanes.seconds):
                    await asyncio.wrap_future(self._let_in)

    def __exit__(self, *_: object) -> None:
        _inside.set(self._before)
        with _line.lock:
            self.is_inside = False
            if self.lanes.inside.get(self.session) is self:
                del self.lanes.inside[self.session]
            _line.take_out(self)
            _line.let_in()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def may_enter(self) -> bool:
        """Tell whether session and place are free."""
        outermost = self.above[0] if self.above else self
        has_place = outermost is not self and outermost.is_inside and not outermost.waits_inside
        return self.session not in self.lanes.inside and (has_place or outermost.lanes.busy < outermost.lanes.places)

    def enter(self) -> None:
        """Take the lane, and wake who waits for it."""
        self.is_inside, self.lanes.inside[self.session] = True, self
        self._let_in.set_result(None)

    def _must_wait(self) -> bool:
        self._before = _inside.get()
        self.above = tuple(one for one in self._before if one.is_inside)
        if any(one.lanes is self.lanes and one.session == self.session for one in self.above):
            return False
        with _line.lock, self._leaves_on_error():
            _inside.set((*self.above, self))
            _line.visits[self] = None
            _line.let_in()
            if not self.is_inside:
                self._check_wait()
                _line.lend_place(self)
                _line.let_in()
        return not self.is_inside

    def _check_wait(self) -> None:
        others = self.lanes.waiting_for(self.session) - 1
        if others >= self.lanes.waiting:
            raise LaneError(f"{others} wait for session {self.session!r} already: compactions take too long")
        if self.loop is None and loop_is_running():
            problem = "the session is being compacted, and waiting for it would block this event loop"
            raise LaneError(f"{problem}: use `await guard.acall(...)`")
        if _line.closes_circle(self):
            problem = f"session {self.above[-1].session!r} would wait for session {self.session!r}, which waits for it"
            raise LaneError(f"{problem}: do not compact two conversations inside of each other")

    @contextmanager
    def _leaves_on_error(self) -> Generator[None, None, None]:
        try:
            yield
        except BaseException as error:  # a cancelled task gives back what it has
            self.__exit__()
            if not isinstance(error, TimeoutError):
                raise
            problem = f"waited {self.lanes.seconds:g} s for session {self.session!r}"
            raise LaneError(f"{problem}: a compaction hangs, or waits for itself in another thread") from error


class _Line:
    """Who waits, for whatever lanes, in the order of arrival."""

    def __init__(self) -> None:
        # An abandoned task may be collected as garbage, and so leave, while its thread holds the lock already.
        self.lock = RLock()
        self.visits: dict[Visit, Visit | None] = {}
        """With each the visit around it that lends its place."""
        reset_in_child(self._forget_visits)

    def closes_circle(self, visit: Visit) -> bool:
        """Tell whether its holder waits for a visit around this one."""
        waiting, seen = [visit], set[Visit | None]((None,))
        while waiting:
            one = waiting.pop()
            holder = one.lanes.inside.get(one.session)
            if holder in visit.above:
                return True
            if holder not in seen:
                waiting += [other for other in self.visits if holder in other.above]
            seen.add(holder)
        return False

    def let_in(self) -> None:
        """Let in who can be."""
        passed_over = set[tuple[Lanes, str]]()
        for visit in list(self.visits):
            if visit.loop is not None and visit.loop.is_closed():  # it will never come
                self.take_out(visit)
            elif (visit.lanes, visit.session) in passed_over or not visit.may_enter():
                passed_over.add((visit.lanes, visit.session))
            elif visit in self.visits:
                self.take_out(visit)
                visit.enter()

    def lend_place(self, visit: Visit) -> None:
        """Lend the place around a visit while that waits."""
        for outermost in visit.above[:1]:
            self.visits[visit] = outermost
            outermost.waits_inside += 1

    def take_out(self, visit: Visit) -> None:
        """Take a visit out of the line."""
        outermost = self.visits.pop(visit, None)
        if outermost is not None:
            outermost.waits_inside -= 1

    def _forget_visits(self) -> None:
        self.lock = RLock()
        self.visits = {}


_line: Final = _Line()
_inside: Final[ContextVar[tuple[Visit, ...]]] = ContextVar("otel_errcompact_lanes", default=())
