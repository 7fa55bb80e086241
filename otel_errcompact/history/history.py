"""
Count what failed in one run, by class and streak.

The history counts and never acts on its counts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal

from otel_errcompact import late
from otel_errcompact.errors import EXECUTED, FailureKind
from otel_errcompact.history.repeats import RepeatedCalls
from otel_errcompact.history.streaks import Attempts, Streak
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.errors import Facts, Operation, RawError

SHORT_LENGTH: Final = 4
MAX_STEPS: Final = 4
"""Successes of a run that are named where they end a class."""

MAX_OPERATIONS: Final = 64
"""Operations of one class whose streaks are counted; a class that fails in more is never called resolved."""

Outcome = Literal["new", "repeat", "handled", "after_escalation"]


@dataclass(slots=True, kw_only=True)
class ErrorClass:
    """All failures of one run that share a dedup key."""

    key: str
    short: str
    """The shortest prefix of the key, at least four characters, that was free in this run."""

    template: str
    facts: Facts
    """The facts of the newest occurrence."""

    tool: str
    first_seen_ns: int
    last_seen_ns: int
    kind: FailureKind = EXECUTED
    """Whether its failures are transient, and whether anything was executed."""

    hint: str = ""
    count: int = 0
    open_since_ns: int = 0
    """When it failed first since it was resolved, or since the counters were made fresh."""

    resolved: bool = False
    """Whether every operation that failed with this class has succeeded since."""

    replaced: list[str] = field(default_factory=list[str])
    """Names of its operations that have done something else since it failed last."""

    ended: str = ""
    """How it was resolved or overcome: the calls that succeeded since it failed, in words; empty while it is open."""

    overcome: bool = False
    """Whether it only named the wrong thing, or nothing was executed, and another call has succeeded in its place."""

    escalated: bool = False
    """Whether it has led to an escalation in this run."""

    unlifted: bool = False
    """Whether it has escalated, and no `Continue` has lifted that; a failure after a resolution that stands ends it."""

    streaks: dict[Operation, Streak] = field(default_factory=dict["Operation", Streak])
    """Its failures in each operation."""

    uncounted: bool = False
    """Whether it failed in more operations than are counted."""

    tick: int = 0
    """When its newest occurrence was recorded."""

    revision: int = 0
    """Rises with every change, so that a store writes what has changed."""

    streak: int = 0
    """The longest live streak over the operations that fail with this class."""

    def recur(self, facts: Facts, kind: FailureKind, time_ns: int, tick: int) -> None:
        """Count an occurrence, which opens the class."""
        if self.resolved or not self.count:
            self.open_since_ns = time_ns
        self.count += 1
        self.tick = max(self.tick, tick)
        self.facts = facts
        self.kind = kind
        self.last_seen_ns = time_ns
        self.resolved = self.overcome = False
        self.ended = ""
        self.replaced.clear()

    def measure_streak(self) -> None:
        """
        Set `streak` after a change of `streaks`.

        A collection of metrics reads it of all runs.
        """
        self.revision += 1
        self.streak = max([streak.count for streak in self.streaks.values()], default=0)

    def leave_behind(self, operation: Operation, began: int) -> bool:
        """Note a success, and return whether one has come in place of each failure."""
        if self.tick > began:
            return False
        if self.kind.rejected:  # nothing was executed
            return True
        failing = [each for each, streak in self.streaks.items() if streak.live is not None]
        if operation.name not in self.replaced and any(late.leaves_behind(operation, each) for each in failing):
            self.replaced.append(operation.name)
            self.revision += 1
        return all(each.name in self.replaced for each in failing) and late.names_nothing(self.facts)

    def is_open(self) -> bool:
        """Return whether the operation has not succeeded since this class failed."""
        return self.uncounted or any(streak.live is not None for streak in self.streaks.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What one failure has changed."""

    error_class: ErrorClass
    attempts: Attempts
    """The row of the class in the operation that failed."""

    taken_back: bool = False
    """Whether a resolved class is open again, since what resolved it did not help the call that failed."""


class History:
    """
    The error classes of one run, least recently seen first.

    Args:
        max_classes: How many classes are kept; beyond it resolved ones go first, then the least recently seen.
    """

    def __init__(self, *, max_classes: int) -> None:
        self.total = 0
        """Occurrences in the whole run."""
        self.spent = 0
        """Occurrences counted against the error budget: those since the counters were last fresh."""
        self.row = Attempts()
        """Turns in a row in which something failed at a boundary, of any class, and nothing succeeded after it."""
        self.budget_escalated = False
        """Whether the error budget was found spent."""
        self.repeats = RepeatedCalls()
        """Identical calls that keep failing."""
        self.evicted = 0
        """Classes forgotten because of `max_classes`."""
        self.evicted_unresolved = 0
        """Those of them that were not resolved."""
        self._steps: list[tuple[int, str]] = []
        """When the newest successes were asked for, and what each did."""
        self._max_classes = max_classes
        self._classes: OrderedDict[str, ErrorClass] = OrderedDict()
        self._shorts: set[str] = set()
        self._tick = 0

    def __iter__(self) -> Iterator[ErrorClass]:
        return iter(tuple(self._classes.values()))

    def __len__(self) -> int:
        return len(self._classes)

    def get(self, key: str) -> ErrorClass | None:
        """Return the class with this dedup key."""
        return self._classes.get(key)

    def find(self, prefix: str) -> ErrorClass | None:
        """
        Return the most recent class whose key starts with `prefix`.

        The prefix may begin with `#`.
        """
        prefix = prefix.strip().removeprefix("#")
        matches = (found for found in reversed(self._classes.values()) if prefix and found.key.startswith(prefix))
        return next(matches, None)

    def record(
        self,
        raw: RawError,
        found: Classified,
        *,
        kind: FailureKind = EXECUTED,
        agent: str = "",
        call: str = "",
        hint: str = "",
        tick: int = 0,
    ) -> Recorded:
        """
        Count one occurrence and return what it has changed.

        Args:
            raw: The failure.
            found: Its facts, template and key.
            kind: Whether it is transient, and whether anything was executed.
            agent: Whose call failed.
            call: The fingerprint of the call that failed; empty where it is unknown.
            hint: What is shown beside the class.
            tick: When it is recorded; later than all before if 0.
        """
        tick = tick or self._tick + 1
        self._tick = max(self._tick, tick)
        began = raw.began or tick
        error_class = self._classes.get(found.key) or self._add_class(raw, found, hint)
        self._classes.move_to_end(found.key)
        was_resolved = error_class.resolved
        moved = error_class.count > 0 and late.has_moved(error_class.facts, found.facts)
        self.total += 1
        self.spent += 1
        error_class.recur(found.facts, kind, raw.time_ns, tick)
        if kind.unknown or moved:
            # What it has begun may have changed what other calls need; a value that moved shows that something has.
            self.repeats.succeed(agent)
        if raw.boundary and not kind.transient and not raw.stated:
            self.row.fail(began, tick)
            self.repeats.fail(agent, call, began=began, tick=tick, key=found.key, time_ns=raw.time_ns)
        streak = self._find_streak(error_class, raw.scope)
        if moved:
            streak.refresh()
        restored = streak.fail(began, tick, call)
        error_class.measure_streak()
        if was_resolved and not restored:
            error_class.unlifted = False
        return Recorded(
            error_class=error_class, attempts=streak.live or Attempts(), taken_back=restored and was_resolved
        )

    def succeed(
        self, operation: Operation, *, agent: str = "", call: str = "", began: int = 0
    ) -> tuple[ErrorClass, ...]:
        """
        End the streaks of a succeeding operation and return resolved classes.

        Args:
            operation: What has succeeded; narrower operations that it surely covers have succeeded with it.
            agent: Whose call succeeded.
            call: The fingerprint of the call.
            began: When the agent asked for it: failures that were recorded later stay; 0 is now.
        """
        began = began or self._tick
        if self.row.count:
            self.row = self.row.split(began) or Attempts()
        self.repeats.succeed(agent)
        resolved: list[ErrorClass] = []
        self.note_step(began, operation.name)
        for error_class in self._classes.values():
            covered = _find_covered(operation, error_class.streaks)
            is_same = any(streak.live is not None and streak.live.includes(call) for streak in covered)
            ended = [streak.succeed(began, call) for streak in covered]
            if ended:
                error_class.measure_streak()
            if any(ended) and not error_class.is_open():
                error_class.resolved = True
                error_class.ended = self._tell_end(error_class, "the same call" if is_same else operation.name)
                resolved.append(error_class)
            elif not error_class.overcome and error_class.leave_behind(operation, began):
                error_class.overcome = True
                error_class.ended = f"{self._tell_end(error_class, operation.name)} in its place"
                error_class.revision += 1
        return tuple(resolved)

    def note_step(self, began: int, name: str) -> None:
        """Note what a success did."""
        self._steps = [*self._steps, (began, name)][-MAX_STEPS:]

    def has_success_since(self, error_class: ErrorClass) -> bool:
        """Return whether a call asked for after a class failed has succeeded."""
        return any(began >= error_class.tick for began, _ in self._steps)

    @property
    def tick(self) -> int:
        """When the newest failure was recorded."""
        return self._tick

    def dump(self) -> list[object]:
        """Return the counts as JSON has them, without the classes."""
        numbers = [self._tick, self.total, self.spent, self.budget_escalated, self.evicted, self.evicted_unresolved]
        return [*numbers, self.row.dump(), self.repeats.dump(), *self._steps]

    def load(self, dumped: Sequence[Any], classes: Iterable[ErrorClass]) -> None:
        """
        Take over the counts that `dump` has written.

        Args:
            dumped: The counts.
            classes: The classes, in any order.
        """
        self._tick, self.total, self.spent, self.budget_escalated, self.evicted, self.evicted_unresolved = dumped[:6]
        self.row, self.repeats = Attempts.load(dumped[6]), RepeatedCalls.load(dumped[7])
        self._steps = [(began, name) for began, name in dumped[8:]]
        self._classes = OrderedDict((found.key, found) for found in sorted(classes, key=attrgetter("tick")))
        self._shorts = {found.short for found in self._classes.values()}

    def is_failing(self, operation: Operation) -> bool:
        """Return whether a success of the operation would end a live streak."""
        return any(streak.live is not None for streak in self._list_covered(operation))

    def knows(self, operation: Operation) -> bool:
        """Return whether an operation has failed, or one that it covers."""
        return any(True for _ in self._list_covered(operation))

    def mark_escalated(self, error_class: ErrorClass) -> None:
        """Note that a class has led to an escalation, which stands."""
        error_class.escalated = error_class.unlifted = True
        error_class.revision += 1

    def refresh(self) -> None:
        """
        Give the run fresh counters.

        Streaks, the row and the budget start at zero; counts and classes stay.
        """
        self.spent = 0
        self.budget_escalated = False
        self.row = Attempts()
        self.repeats.clear()
        for error_class in self._classes.values():
            error_class.unlifted = False
            error_class.open_since_ns = error_class.last_seen_ns
            for streak in error_class.streaks.values():
                streak.refresh()
            error_class.measure_streak()

    def _list_covered(self, operation: Operation) -> Iterator[Streak]:
        return (streak for known in self._classes.values() for streak in _find_covered(operation, known.streaks))

    def _tell_end(self, error_class: ErrorClass, last: str) -> str:
        between = [name for began, name in self._steps[:-1] if began > error_class.tick]
        ran = f"ran {', '.join(dict.fromkeys(between))}, then " if between else ""
        return f"{ran}{last} succeeded"

    def _find_streak(self, error_class: ErrorClass, operation: Operation) -> Streak:
        streaks = error_class.streaks
        if operation not in streaks and len(streaks) >= MAX_OPERATIONS:
            error_class.uncounted = True
            return Streak()
        return streaks.setdefault(operation, Streak())

    def _add_class(self, raw: RawError, found: Classified, hint: str) -> ErrorClass:
        if len(self._classes) >= self._max_classes:
            self._evict_class()
        added = ErrorClass(
            key=found.key,
            short=self._make_short_key(found.key),
            template=found.template,
            facts=found.facts,
            tool=raw.tool,
            first_seen_ns=raw.time_ns,
            last_seen_ns=raw.time_ns,
            hint=hint,
        )
        self._classes[found.key] = added
        return added

    def _make_short_key(self, key: str) -> str:
        length = SHORT_LENGTH
        while key[:length] in self._shorts and length < len(key):
            length += 1
        self._shorts.add(key[:length])
        return key[:length]

    def _evict_class(self) -> None:
        candidates = [found for found in self._classes.values() if not found.escalated] or list(self._classes.values())
        gone = next((found for found in candidates if found.resolved), candidates[0])
        del self._classes[gone.key]
        self._shorts.discard(gone.short)
        self.evicted += 1
        self.evicted_unresolved += not (gone.resolved or gone.overcome)


def _find_covered(operation: Operation, streaks: dict[Operation, Streak]) -> list[Streak]:
    """Return the streaks that an operation covers, mostly its own."""
    if operation.wide:
        return [streak for failing, streak in streaks.items() if late.covers(operation, failing)]
    streak = streaks.get(operation)
    return [] if streak is None else [streak]
