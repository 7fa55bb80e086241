"""Lanes: of one conversation one compaction at a time, of all of them a few; threads and event loops mixed."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from functools import partial
from threading import Event, RLock
from typing import TYPE_CHECKING, Final

from otel_errcompact.context.exceptions import LaneError
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

PLACES: Final = 4
WAITING: Final = 1_000
WAIT_SECONDS: Final = 600.0


class Lanes:
    """
    Lets in one at a time for each session, and at most `places` for all; who came first is served first.

    `with lanes.visit("chat-1"):` and `async with lanes.visit("chat-1"):` may wait for each other, on any number of
    event loops. A visit inside a visit of the same session goes straight through, so that a summariser may itself call
    the model through the guard; a visit inside one of another session waits, unless that session waits for this one.

    Args:
        places: How many may be inside at a time; one that waits inside for another session lends its place meanwhile.
        waiting: How many may wait for one session, and for a place.
        seconds: How long a visit waits at most.

    Raises:
        ConfigurationError: There is no place at all.
    """

    def __init__(self, places: int = PLACES, *, waiting: int = WAITING, seconds: float = WAIT_SECONDS) -> None:
        if places < 1:
            raise ConfigurationError(f"places is {places}; at least one must be able to get in")
        self._house = _House(places, waiting, seconds)

    def visit(self, session: str) -> Visit:
        """
        Return what is entered by `with` or `async with`.

        Raises:
            LaneError: On entering: two sessions wait for each other, too many wait, or nothing moves; or `with` would
                have to wait and so block the event loop that runs in this thread.
        """
        return Visit(self._house, session)

    @property
    def sessions(self) -> int:
        """How many sessions have a visit inside or waiting."""
        return len(self._house.lanes)


class Visit:
    """
    One visit of a session's lane.
    """

    __slots__ = ("_house", "_inside", "_session", "_stay")

    def __init__(self, house: _House, session: str) -> None:
        self._house = house
        self._session = session
        self._inside: tuple[_Stay, ...] = ()
        self._stay: _Stay | None = None

    def __enter__(self) -> None:
        stay = self._line_up()
        if stay is None:
            return
        try:
            while (queue := stay.next_queue()) is not None:
                event = Event()
                ticket = queue.join(stay, partial(_wake_thread, event))
                if ticket is not None:
                    _wait(queue, ticket, event, self._house.seconds)
                stay.got(queue)
        except BaseException:
            stay.end()
            raise
        self._enter(stay)

    async def __aenter__(self) -> None:
        stay = self._line_up()
        if stay is None:
            return
        loop = asyncio.get_running_loop()
        try:
            while (queue := stay.next_queue()) is not None:
                future: asyncio.Future[None] = loop.create_future()
                ticket = queue.join(stay, partial(_wake_loop, loop, future))
                if ticket is not None:
                    await _await(queue, ticket, future, self._house.seconds)
                stay.got(queue)
        except BaseException:  # a cancelled task gives back what it has
            stay.end()
            raise
        self._enter(stay)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stay is not None:
            _inside.set(self._inside)
            self._stay.end()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _line_up(self) -> _Stay | None:
        self._inside = _inside.get()
        return self._house.arrive(self._session, self._inside)

    def _enter(self, stay: _Stay) -> None:
        self._stay = stay
        _inside.set((*stay.above, stay))


class _House:
    """The lanes of all sessions and the places among them."""

    def __init__(self, places: int, waiting: int, seconds: float) -> None:
        self.seconds = seconds
        self._number = places
        self._waiting = waiting
        self.lanes: dict[str, _Queue] = {}
        self.places = self._make_places()
        reset_in_child(self._reset)

    def arrive(self, session: str, inside: tuple[_Stay, ...]) -> _Stay | None:
        """Return a stay that has to line up yet; None where the session is in its lane already."""
        above = tuple(stay for stay in inside if stay.active)
        if any(stay.house is self and stay.session == session for stay in above):
            return None
        with _state.lock:
            lane = self.lanes.get(session)
            if lane is None:
                lane = self.lanes[session] = _Queue(f"session {session!r}", 1, self._waiting)
            lane.users += 1
        return _Stay(self, session, lane, above)

    def depart(self, stay: _Stay) -> None:
        """Forget a lane with no visit inside or waiting."""
        stay.lane.users -= 1
        if not stay.lane.users and self.lanes.get(stay.session) is stay.lane:
            del self.lanes[stay.session]

    def _make_places(self) -> _Queue:
        return _Queue("a place among all sessions", self._number, self._waiting)

    def _reset(self) -> None:
        """Forget all visits in a forked child: they take place in the parent."""
        self.lanes = {}
        self.places = self._make_places()


class _Stay:
    """One visit that is inside, or on its way in."""

    __slots__ = ("above", "active", "house", "in_lane", "lane", "lent", "place", "places", "session")

    def __init__(self, house: _House, session: str, lane: _Queue, above: tuple[_Stay, ...]) -> None:
        self.house = house
        self.session = session
        self.lane = lane
        self.places = house.places
        self.above = above
        """The visits in which this one takes place, the outermost first."""
        self.active = True
        self.in_lane = False
        self.place: _Queue | None = None
        self.lent = False
        """Whether the outermost has lent its place while this one waits."""

    def next_queue(self) -> _Queue | None:
        """Return where to line up now: the session first, then a place, unless a visit around this one has one."""
        if not self.in_lane:
            return self.lane
        if self.above:
            return self.above[0].places if self.lent else None
        return self.places if self.place is None else None

    def lend(self) -> None:
        """Give back the outermost's place while this one waits; else those it waits for could wait for that place."""
        outermost = self.above[0]
        if outermost.place is not None:
            outermost.place.leave()
            outermost.place = None
            self.lent = True

    def got(self, queue: _Queue) -> None:
        """Record that a queue has let this stay in."""
        with _state.lock:
            if queue is self.lane:
                self.in_lane = True
                return
            owner = self.above[0] if self.above else self
            self.lent = False
            if owner.active:
                owner.place = queue
            else:
                queue.leave()

    def end(self) -> None:
        """Give back the lane and the place."""
        with _state.lock:
            self.active = False
            if self.place is not None:
                self.place.leave()
                self.place = None
            if self.in_lane:
                self.in_lane = False
                self.lane.leave()
            self.house.depart(self)


class _Ticket:
    """The place of a stay in a queue."""

    __slots__ = ("granted", "stay", "wake")

    def __init__(self, stay: _Stay, wake: Callable[[], object]) -> None:
        self.stay = stay
        self.wake = wake
        self.granted = False


class _Queue:
    """Lets in `free` at a time, in the order of their arrival; a place that is left goes to the next in line."""

    __slots__ = ("free", "holder", "most", "name", "tickets", "users")

    def __init__(self, name: str, free: int, most: int) -> None:
        self.name = name
        self.free = free
        self.most = most
        self.tickets: deque[_Ticket] = deque()
        self.holder: _Stay | None = None
        """The stay inside; only for the lane of a session, which lets in one."""
        self.users = 0

    def join(self, stay: _Stay, wake: Callable[[], Callable[[], object]]) -> _Ticket | None:
        """Return None if there is room, else a ticket whose `wake` is called as soon as there is."""
        with _state.lock:
            if self.free:
                self.free -= 1
                self.holder = stay
                return None
            if len(self.tickets) >= self.most:
                raise LaneError(f"{len(self.tickets)} wait for {self.name} already: compactions take too long")
            if stay.above and self is stay.lane and _closes_a_circle(self, stay):
                raise LaneError(
                    f"session {stay.above[-1].session!r} would wait for {self.name}, which waits for it: "
                    "do not compact two conversations inside of each other"
                )
            ticket = _Ticket(stay, wake())
            if stay.above and self is stay.lane:
                stay.lend()
                _state.nested[ticket] = self
            self.tickets.append(ticket)
            return ticket

    def leave(self) -> None:
        """Let the next one in."""
        with _state.lock:
            while self.tickets:
                ticket = self.tickets.popleft()
                _state.nested.pop(ticket, None)
                ticket.granted, self.holder = True, ticket.stay
                try:
                    ticket.wake()
                except RuntimeError:  # its event loop is closed: it will never come
                    continue
                return
            self.holder = None
            self.free += 1

    def abandon(self, ticket: _Ticket) -> None:
        """Wait no more, or give back what was granted meanwhile."""
        with _state.lock:
            if ticket.granted:
                self.leave()
            else:
                self.tickets.remove(ticket)
                _state.nested.pop(ticket, None)


class _State:
    """What all lanes share, since a visit of one may take place inside a visit of another."""

    def __init__(self) -> None:
        # An abandoned task may be collected as garbage, and so leave, while its thread holds the lock already.
        self.lock = RLock()
        self.nested: dict[_Ticket, _Queue] = {}
        """The lane that each visit waits for inside another visit."""
        reset_in_child(self._reset)

    def _reset(self) -> None:
        self.lock = RLock()
        self.nested = {}


_state: Final = _State()
_inside: Final[ContextVar[tuple[_Stay, ...]]] = ContextVar("otel_errcompact_lanes", default=())


def _closes_a_circle(lane: _Queue, stay: _Stay) -> bool:
    """Tell whether the holder of a lane waits, directly or not, for a visit around `stay`."""
    lanes, seen = [lane], list[_Queue]()
    while lanes:
        one = lanes.pop()
        if one in seen:
            continue
        seen.append(one)
        if one.holder in stay.above:
            return True
        lanes += [waited for ticket, waited in _state.nested.items() if one.holder in ticket.stay.above]
    return False


def _wake_thread(event: Event) -> Callable[[], object]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return event.set
    raise LaneError(
        "the session is being compacted, and waiting for it would block this event loop: use `await guard.acall(...)`"
    )


def _wake_loop(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> Callable[[], object]:
    return lambda: loop.call_soon_threadsafe(_finish, future, None)


def _finish(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


def _wait(queue: _Queue, ticket: _Ticket, event: Event, seconds: float) -> None:
    moved = False
    try:
        moved = event.wait(seconds)
    finally:  # whatever interrupts it
        if not moved:
            queue.abandon(ticket)
    if not moved:
        raise _stuck(queue, seconds)


async def _await(queue: _Queue, ticket: _Ticket, future: asyncio.Future[None], seconds: float) -> None:
    timer = asyncio.get_running_loop().call_later(seconds, _finish, future, _stuck(queue, seconds))
    try:
        await future
    except BaseException:
        queue.abandon(ticket)
        raise
    finally:
        timer.cancel()


def _stuck(queue: _Queue, seconds: float) -> LaneError:
    return LaneError(
        f"waited {seconds:g} s for {queue.name}: a compaction hangs, or waits for itself in another thread"
    )
