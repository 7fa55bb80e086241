"""
The state of runs that several processes share.

Each process holds a copy of the runs it works on. A change takes the run's lock in the backend, reads what others have
changed, and writes what it has changed itself. While the backend is away the process works on its copies alone; once it
is back, the changes made meanwhile are made there again.
"""

from __future__ import annotations

import atexit
import itertools
import time
import uuid
import weakref
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal

from otel_errcompact.history.stores import S
from otel_errcompact.history.stores.absence import Absence, Missed
from otel_errcompact.history.stores.hybrid_clock import HybridClock
from otel_errcompact.history.stores.memory import MemoryLimits, MemoryStore
from otel_errcompact.history.stores.parts import LostChangeError, StoreAwayError, UnreadableRunError
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from otel_errcompact.history.stores.parts import Backend, Codec, Parts

MAX_LOOKS: Final = 500
"""Runs with live streaks that a collection of metrics looks up, since another process may have ended them."""

BORN: Final = "born"
"""The part that tells a run from an earlier one of its id; it never changes."""

_Place = Literal["shared", "alone", "unreadable", "nowhere"]
"""
Where a change is made.

In the backend; in this process alone, and later in the backend, or never, since the run's state cannot be read there;
or nowhere, since the run is unknown.
"""


@dataclass(slots=True, eq=False)
class _Copy:
    """What this process has read and written of a run last."""

    version: int = 0
    """The version of the run in the backend; 0 where all of it has to be read."""

    born: str = ""
    """What the part `BORN` says."""

    is_new: bool = False
    """Whether that part is to be written yet."""

    marks: dict[str, object] = field(default_factory=dict[str, object])
    """See `Codec`."""


@dataclass(slots=True, eq=False)
class _Change(Generic[S]):
    """A change that is under way."""

    again: Callable[[S], object] | None = None
    characters: int = 0
    removes: bool = False


class SharedStore(Generic[S]):
    """
    Holds runs in a backend, and copies of them here.

    A child process works on the same runs after a fork, over a connection of its own.

    Args:
        backend: Where the runs are.
        codec: Writes and reads the state of a run.
        create: Returns the state of a new run by its id.
        limits: How many copies this process holds.
        count_alone: Called for each change that stays in this process.
        clock: Seconds, monotonic.
    """

    is_shared: ClassVar[bool] = True

    def __init__(
        self,
        backend: Backend,
        codec: Codec[S],
        create: Callable[[str], S],
        limits: MemoryLimits | None = None,
        *,
        count_alone: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._codec = codec
        self._create = create
        self._local: MemoryStore[S] = MemoryStore(limits, self._forget_copy)
        self._ticks = HybridClock()
        atexit.register(_catch_up_at_exit, weakref.ref(self))
        self._make_absence: Callable[[], Absence[S]] = lambda: Absence(backend.name, count_alone, clock=clock)
        self._reset_state()
        reset_in_child(self._start_in_child)

    @property
    def evicted_runs(self) -> int:
        """None: a copy that goes is no loss."""
        return 0

    def next_tick(self) -> int:
        """Return the next tick, later than all that this process has seen."""
        return self._ticks.next_tick()

    # Changes.

    def edit(self, run_id: str, create: Callable[[str], S]) -> AbstractContextManager[S]:
        """Return a run's state, new if unknown, under its lock."""
        return self._change_known(run_id, create)

    def find(self, run_id: str) -> AbstractContextManager[S | None]:
        """Return a run's state under its lock; None if unknown."""
        return self._change_run(run_id, None)

    def repeat_later(self, run_id: str, change: Callable[[S], object], *, characters: int = 0) -> None:
        """
        Make the change under way again, should the backend miss it.

        Args:
            run_id: The run's id.
            change: Makes the change.
            characters: How many characters of text it holds.
        """
        under_way = self._changes.get(run_id)
        if under_way is not None:
            under_way.again, under_way.characters = change, characters

    def discard(self, run_id: str, *, unless: Callable[[S], bool] = lambda _: False) -> S | None:
        """
        Forget a run and return its last state.

        Args:
            run_id: The run's id.
            unless: Called with the state; where it returns true, the run stays.
        """
        if self._absence.missed:
            self._absence.ask_again()  # the last chance to bring it what it has missed
        with self._change_run(run_id, None) as state:
            if state is None:
                return None
            stays = unless(state)
            change = self._changes[run_id]
            change.again, change.removes = unless, not stays
        self._forget_run(run_id)  # also where it stays: nothing of it is this process's business any more
        return state

    @contextmanager
    def _change_known(self, run_id: str, create: Callable[[str], S]) -> Generator[S]:
        with self._change_run(run_id, create) as state:
            if state is not None:  # pragma: no branch - it is created
                yield state

    @contextmanager
    def _change_run(self, run_id: str, create: Callable[[str], S] | None) -> Generator[S | None]:
        with self._lock:
            if run_id in self._changes:  # a signal handler joins the change that it has interrupted
                yield self._local.peek(run_id)
                return
            is_inside = bool(self._changes)
            change = self._changes[run_id] = _Change[S]()
            try:
                # A signal handler in the middle of a change of another run works alone: a backend has one at a time.
                place = "alone" if is_inside else self._open_run(run_id, create)
                if place == "nowhere":
                    yield None
                    return
                with self._local.edit(run_id, create) if create is not None else self._local.find(run_id) as state:
                    try:
                        yield state
                        if state is not None:
                            self._conclude_change(state, change, place)
                    except BaseException:
                        self._abandon_change(run_id, place)
                        raise
            finally:
                del self._changes[run_id]

    def _open_run(self, run_id: str, create: Callable[[str], S] | None) -> _Place:
        if self._absence.lasts:
            return "alone"
        try:
            self._catch_up()
            copy = self._copies.get(run_id)
            parts = self._backend.begin(run_id, 0 if copy is None else copy.version)
            self._absence.end(0)
            if parts.version == 0 and not self._is_open_here(run_id):
                self._forget_run(run_id)
                if create is None:
                    self._backend.cancel(run_id)
                    return "nowhere"
            with self._local.edit(run_id, create or self._create) as state:
                self._take_parts(state, self._copies.setdefault(run_id, _Copy()), parts)
        except (UnreadableRunError, UnicodeEncodeError) as error:
            self._backend.cancel(run_id)
            self._say_unreadable(run_id, error)
            return "unreadable"
        except StoreAwayError as error:
            self._backend.cancel(run_id)
            self._absence.begin(error)
            return "alone"
        except BaseException:  # an interrupt must not leave the run locked
            self._backend.cancel(run_id)
            raise
        return "shared"

    def _conclude_change(self, state: S, change: _Change[S], place: _Place) -> None:
        run_id, stamp = state.run_id, ""
        if place == "shared":
            copy = self._copies[run_id]
            try:
                if change.removes:  # which may be made twice
                    self._backend.remove(run_id)
                else:
                    stamp = self._next_stamp()
                    self._write_state(state, copy, stamp)
            except StoreAwayError as error:
                copy.version = 0
                if not isinstance(error, LostChangeError):
                    self._absence.begin(error)
            else:
                return
        again = None if place == "unreadable" else change.again
        self._absence.add(None if again is None else Missed(run_id, again, change.removes, stamp, change.characters))

    def _abandon_change(self, run_id: str, place: _Place) -> None:
        # What an exception has left half made is read anew.
        if place == "shared":
            self._backend.cancel(run_id)
        if (copy := self._copies.get(run_id)) is not None:
            copy.version = 0

    def _next_stamp(self) -> str:
        self._commits += 1
        return f"{self._process} {self._commits}"

    def _write_state(self, state: S, copy: _Copy, stamp: str) -> None:
        written = self._codec.dump(state, copy.marks)
        if not written:
            self._backend.cancel(state.run_id)
            return
        if copy.is_new:
            written[BORN] = copy.born
        copy.version = self._backend.commit(state.run_id, written, stamp)
        copy.is_new = False

    def _take_parts(self, state: S, copy: _Copy, parts: Parts) -> None:
        if parts.version == 0 or self._has_lost(state.run_id, copy, parts):  # all of it is to be written
            copy.version, copy.born, copy.is_new = 0, uuid.uuid4().hex, True
            copy.marks.clear()
        elif parts.version != copy.version:
            is_another = parts.bodies.get(BORN, copy.born) != copy.born
            whole = not 0 < copy.version < parts.version
            if (is_another and not whole) or not self._load_parts(state, copy, parts, whole=whole):
                parts = self._backend.read(state.run_id, 0)
                self._load_parts(state, copy, parts, whole=True)
            copy.version = parts.version

    def _has_lost(self, run_id: str, copy: _Copy, parts: Parts) -> bool:
        # A backend that has returned to an older state of a run that is open here.
        return parts.version < copy.version and self._is_open_here(run_id)

    def _load_parts(self, state: S, copy: _Copy, parts: Parts, *, whole: bool) -> bool:
        if whole:
            copy.marks.clear()
            copy.born, copy.is_new = parts.bodies.get(BORN, ""), False
        copy.version = 0  # until it is whole
        try:
            return self._codec.load(state, parts.bodies, copy.marks, whole=whole)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise UnreadableRunError(state.run_id, f"{type(error).__name__}: {error}") from error
        finally:
            self._ticks.follow(state.newest_tick)

    # Looks.

    @contextmanager
    def view(self, run_id: str) -> Generator[S | None]:
        """Return a run's state to read it, or None if unknown."""
        with self._lock:
            self._refresh_run(run_id)
            with self._local.find(run_id) as state:
                yield state

    def peek(self, run_id: str) -> S | None:
        """Return a run's state without its lock, or None if unknown."""
        if not self._absence.lasts:
            with self._lock:
                self._refresh_run(run_id)
        return self._local.peek(run_id)

    def _refresh_run(self, run_id: str) -> None:
        if self._changes or self._absence.lasts:
            return
        copy = self._copies.get(run_id)
        known = 0 if copy is None else copy.version
        try:
            self._catch_up()
            parts = self._read_newer(run_id, known)
            self._absence.end(0)
            if parts is None or (known and parts.version == known):
                return
            if parts.version < max(known, 1) and self._is_open_here(run_id):
                return  # what the backend has lost is written with the next change
            if not parts.version:
                self._forget_run(run_id)
                return
            with self._local.edit(run_id, self._create) as state:
                self._take_parts(state, self._copies.setdefault(run_id, _Copy()), parts)
            self._local.account(state)
        except (UnreadableRunError, UnicodeEncodeError) as error:
            self._say_unreadable(run_id, error)
        except StoreAwayError as error:
            self._absence.begin(error)

    def _say_unreadable(self, run_id: str, error: UnreadableRunError | UnicodeEncodeError) -> None:
        if isinstance(error, UnicodeEncodeError):  # an id with halves of characters, which no backend can hold
            error = UnreadableRunError(run_id, str(error))
        self._absence.say_unreadable(error)

    def _read_newer(self, run_id: str, known: int) -> Parts | None:
        if known and not self._backend.may_have_changed(run_id, known):
            return None
        return self._backend.read(run_id, known)

    def is_held(self, run_id: str) -> bool:  # noqa: ARG002 - a thread changes one at a time
        """
        Return whether this thread already changes a run, this one or another.

        A signal handler or a finaliser has interrupted it.
        """
        return bool(self._changes) and self._lock.is_mine()

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all known runs."""
        known = dict.fromkeys(self._local.run_ids())
        with self._lock:
            if not self._changes and not self._absence.lasts:
                try:
                    known |= dict.fromkeys(self._backend.run_ids())
                    self._absence.end(0)
                except StoreAwayError as error:
                    self._absence.begin(error)
        return tuple(known)

    def states(self) -> tuple[S, ...]:
        """
        Return the states of all runs that this process works on.

        Their locks are not held: read only numbers of them.
        """
        states = self._local.states()
        failing = (state for state in states if any(found.streak for found in state.history))
        for state in itertools.islice(failing, MAX_LOOKS):
            self.peek(state.run_id)
        return self._local.states()

    def account(self, state: S) -> None:
        """Update the totals of the copies after an edit of a run."""
        self._local.account(state)

    # The backend, back again.

    def catch_up(self) -> None:
        """Make the changes that the backend has missed, if it is back."""
        with self._lock:
            if self._absence.missed and not self._changes:
                try:
                    self._catch_up()
                except StoreAwayError as error:
                    self._absence.begin(error)

    def _catch_up(self) -> None:
        number = len(self._absence.missed)
        if not number:
            return
        while self._absence.missed:
            run_id = self._absence.missed[0].run_id
            parts = self._backend.begin(run_id, 0)
            try:
                made = self._make_again(run_id, parts)
            except UnreadableRunError as error:
                self._backend.cancel(run_id)
                self._absence.say_unreadable(error)
                made = self._missed_of(run_id)
            except BaseException:
                self._backend.cancel(run_id)
                raise
            self._absence.remove(made)
        self._absence.end(number)

    def _missed_of(self, run_id: str) -> list[Missed[S]]:
        return [each for each in self._absence.missed if each.run_id == run_id]

    def _make_again(self, run_id: str, parts: Parts) -> list[Missed[S]]:
        mine = self._missed_of(run_id)
        has_all = parts.version == 0 and self._local.peek(run_id) is not None
        if not has_all:  # what follows the end of a run is of another one
            mine = mine[: next((at for at, each in enumerate(mine, 1) if each.removes), None)]
        copy = self._copies[run_id] = _Copy()
        removes, stamp = False, self._next_stamp()
        tried = [each for each in mine if not (each.stamp and self._backend.has_committed(run_id, each.stamp))]
        with self._local.edit(run_id, self._create) as state:
            self._take_parts(state, copy, parts)
            for each in tried:
                stays = has_all or each.again(state)
                removes = each.removes and not stays
            if removes:
                self._backend.remove(run_id)
            else:
                try:
                    self._write_state(state, copy, stamp)
                except StoreAwayError:
                    self._absence.stamp(tried, stamp)  # whether it is written is not known
                    raise
                copy.version = 0  # classes are in order once they are read again
        if removes:
            self._forget_run(run_id)
        return mine

    # Copies.

    def _is_open_here(self, run_id: str) -> bool:
        # Then a backend that does not know the run has lost it.
        state = self._local.peek(run_id)
        return state is not None and run_id in self._copies and state.is_open_here

    def _forget_run(self, run_id: str) -> None:
        self._copies.pop(run_id, None)
        self._local.discard(run_id)

    def _forget_copy(self, state: S) -> None:
        self._copies.pop(state.run_id, None)

    def _start_in_child(self) -> None:
        self._backend.leave_to_parent()
        self._reset_state()

    def _reset_state(self) -> None:
        self._lock = ReentrantLock()
        self._copies: dict[str, _Copy] = {}
        self._changes: dict[str, _Change[S]] = {}
        self._absence = self._make_absence()
        self._process = uuid.uuid4().hex
        self._commits = 0


def _catch_up_at_exit(reference: weakref.ref[SharedStore[Any]]) -> None:
    store = reference()
    if store is not None:
        store.catch_up()
