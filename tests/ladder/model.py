"""
The ladder by its definitions: slow, and meant to be read.

The model keeps the whole list of what happened in a run and computes every quantity from that list. A place in the list
is a tick. A call began at its turn's tick, or at its own where no turn was announced, and ended at the tick of its end.

Two rules order the calls of one turn, whatever the order in which they end:

- A success ends streaks and rows as of the tick at which its call began, a failure counts as of the tick at which it
  was recorded. A turn's successes therefore come first.
- A failure counts once per turn: where its call began after the last counted one was recorded.

Only the count of identical calls ends at once, when a success is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Outcome = Literal["success", "failure", "ignored", "refused"]
Answer = Literal["continue", "halt", "pause", "unhandled"]
StepName = Literal["same", "rejected", "loop", "loop_halt", "consecutive", "total"]
Status = Literal["RECOVERED", "ACTIVE", "ESCALATED"]

CHECKS: Final = frozenset({"pytest"})
"""Operations that say nothing of one another."""

EARLIER: Final = -1
"""Before the first tick."""


@dataclass(frozen=True)
class Kind:
    """One class of failures."""

    name: str
    transient: bool = False
    """Waiting may help: it is no part of a row and of a loop, and its streak calls for nothing before minutes."""

    unknown: bool = False
    """It may have taken effect, and then it may have changed what other calls need."""

    rejected: bool = False
    misnamed: bool = False
    """The call failed for what it named, so that what the tool does instead leaves nothing undone."""


@dataclass(frozen=True)
class Job:
    """What a call does: identical calls have the same words, and no words where the arguments are not known."""

    words: str
    operation: str
    covers: frozenset[str] = frozenset()
    """Further operations whose success this one's success is."""

    def is_success_of(self, operation: str) -> bool:
        return operation == self.operation or operation in self.covers

    def is_identical_to(self, other: Job) -> bool:
        return bool(self.words) and self.words == other.words


@dataclass(frozen=True)
class Limits:
    """The thresholds, the mode, and whether a handler answers."""

    same: int = 3
    rejected: int = 5
    loop: int = 4
    loop_halt: int = 6
    refuse: int = 2
    consecutive: int = 6
    total: int = 30
    halts: frozenset[str] = frozenset()
    handled: bool = False
    mode: Literal["observe", "advise", "enforce"] = "enforce"


@dataclass(frozen=True)
class Turn:
    """The model is asked: it has read everything so far."""


@dataclass(frozen=True)
class Opened:
    """A run object for the same run: its turns are not announced until it says so."""


@dataclass(frozen=True)
class Began:
    """A call was asked for."""

    job: Job
    refused: bool
    agent: str = ""


@dataclass(frozen=True)
class Ended:
    """A call ended."""

    job: Job
    began: int
    """The tick at which the agent asked for the call."""

    at: int
    """The tick of this end."""

    outcome: Outcome
    kind: Kind | None = None
    agent: str = ""


@dataclass(frozen=True)
class Escalated:
    """A threshold was reached by `cause`."""

    step: StepName
    count: int
    limit: int
    cause: Ended

    @property
    def threshold(self) -> str:
        return "loop" if self.step == "loop_halt" else self.step


@dataclass(frozen=True)
class Answered:
    """The answer to the newest escalation: the handler's, an operator's, or none."""

    action: Answer


@dataclass(frozen=True)
class Resumed:
    """An operator's message where nothing keeps the run from going on: it answers no escalation."""


Event = Turn | Opened | Began | Ended | Escalated | Answered | Resumed


@dataclass(frozen=True)
class Counts:
    """How far each count has come with one failure."""

    streak: int
    same: int
    rejected: int
    loop: int
    consecutive: int
    total: int


def is_transient(failure: Ended) -> bool:
    return failure.kind is not None and failure.kind.transient


def by_turn(failures: Iterable[Ended]) -> int:
    """Count those whose call began after the last counted one was recorded."""
    count, shown = 0, EARLIER
    for failure in failures:
        if failure.began > shown:
            count, shown = count + 1, failure.at
    return count


@dataclass
class Model:
    """One run, as the list of all that happened in it."""

    limits: Limits = field(default_factory=Limits)
    events: list[Event] = field(default_factory=list)
    remembered: dict[int, bool] = field(default_factory=dict)

    # What happens.

    @property
    def now(self) -> int:
        return len(self.events)

    def turn(self) -> None:
        self.events.append(Turn())

    def open(self) -> None:
        self.events.append(Opened())

    def was_refused(self, tick: int) -> bool:
        """Whether the call that began at `tick` was refused then."""
        call = self.events[tick]
        return isinstance(call, Began) and call.refused

    def begin(self, job: Job, agent: str = "") -> int:
        """Begin a call, and return the tick that its end must name."""
        self.events.append(Began(job, self.is_refused(job, agent), agent))
        return self.now - 1

    def end(self, tick: int, outcome: Outcome, kind: Kind | None = None) -> Ended:
        """
        End the call that began at `tick`.

        A refusal that was honoured counts where it still holds: nothing has succeeded since the call began.
        """
        call = self.events[tick]
        assert isinstance(call, Began)
        assert outcome != "refused" or call.refused
        holds = outcome != "refused" or self.is_refused(call.job, call.agent)
        ended = Ended(call.job, self.asked_at(tick), self.now, outcome if holds else "ignored", kind, call.agent)
        self.events.append(ended)
        return ended

    def escalate(self, cause: Ended, answer: Answer) -> Escalated | None:
        """Take the step of the ladder that `cause` reaches, if any; `answer` is what a handler says when asked."""
        reached = self.reached(cause)
        if reached is not None:
            self.events.append(reached)
            self.events.append(Answered(self.answer(reached.step, answer)))
        return reached

    def resume(self) -> None:
        self.events.append(Resumed() if self.standing() == "carry_on" else Answered("continue"))

    # What follows from it.

    def asked_at(self, tick: int) -> int:
        """The tick at which the agent asked for the call that was opened at `tick`."""
        for at in range(tick, EARLIER, -1):
            if isinstance(self.events[at], Turn):
                return at
            if isinstance(self.events[at], Opened):
                break
        return tick

    def ended(self, outcome: Outcome) -> list[Ended]:
        return [event for event in self.events if isinstance(event, Ended) and event.outcome == outcome]

    def failures(self) -> list[Ended]:
        return self.ended("failure")

    def successes(self) -> list[Ended]:
        return self.ended("success")

    def fresh_since(self) -> int:
        """The tick at which all counters were last made fresh."""
        fresh = [at for at, event in enumerate(self.events) if event in (Answered("continue"), Resumed())]
        return max(fresh, default=EARLIER)

    def is_void(self, success: Ended, kind: Kind, operation: str) -> bool:
        """
        Whether the resolution by `success` is taken back.

        A call failed before and fails again after, and did not itself succeed in between, as far as was known when both
        the success and the second failure were recorded: what was taken back stays so. Failures before a fresh start
        take nothing back.
        """
        there = [
            failure
            for failure in self.failures()
            if failure.kind == kind and failure.job.operation == operation and failure.at > self.fresh_since()
        ]
        return any(
            not any(
                own.job.is_identical_to(before.job)
                and before.at < own.began < after.at
                and own.at <= max(success.at, after.at)
                for own in self.successes()
            )
            for before in there
            for after in there
            if before.at < success.began < after.at and before.job.is_identical_to(after.job)
        )

    def unresolved(self, kind: Kind, operation: str) -> list[Ended]:
        """The failures that no success has ended."""
        ends = [
            success.began
            for success in self.successes()
            if success.job.is_success_of(operation) and not self.is_void(success, kind, operation)
        ]
        last = max(ends, default=EARLIER)
        return [
            failure
            for failure in self.failures()
            if failure.kind == kind and failure.job.operation == operation and failure.at > last
        ]

    def live(self, kind: Kind, operation: str) -> list[Ended]:
        """The failures of the streak."""
        return [failure for failure in self.unresolved(kind, operation) if failure.at > self.fresh_since()]

    def streak(self, kind: Kind, operation: str) -> int:
        return by_turn(self.live(kind, operation))

    def identical(self, job: Job, agent: str) -> list[Ended]:
        """An agent's failures and refusals of this very call since any of its calls has, or may have, succeeded."""
        open_ends = [failure for failure in self.failures() if failure.kind and failure.kind.unknown]
        ends = [each.at for each in (*self.successes(), *open_ends) if each.agent == agent]
        since = max([self.fresh_since(), *ends])
        return [
            event
            for event in self.events
            if isinstance(event, Ended)
            and event.outcome in ("failure", "refused")
            and event.job.is_identical_to(job)
            and event.agent == agent
            and event.at > since
            and not (event.kind and event.kind.transient)
        ]

    def loop(self, job: Job, agent: str = "") -> int:
        return by_turn(self.identical(job, agent))

    def is_refused(self, job: Job, agent: str = "") -> bool:
        """Whether a call must not be executed now."""
        permanent = [failure for failure in self.identical(job, agent) if failure.kind]
        return self.limits.mode != "observe" and by_turn(permanent) >= self.limits.refuse

    def row(self) -> list[Ended]:
        """The failures since anything succeeded."""
        since = max([self.fresh_since(), *(success.began for success in self.successes())])
        return [failure for failure in self.failures() if failure.at > since and not is_transient(failure)]

    def consecutive(self) -> int:
        return by_turn(self.row())

    def budget(self) -> list[Ended]:
        return [failure for failure in self.failures() if failure.at > self.fresh_since()]

    def total(self) -> int:
        return len(self.budget())

    def counts(self, failure: Ended) -> Counts:
        assert failure.kind is not None
        streak = self.streak(failure.kind, failure.job.operation)
        return Counts(
            streak=streak,
            same=0 if failure.kind.rejected or failure.kind.transient else streak,
            rejected=streak if failure.kind.rejected else 0,
            loop=0 if failure.kind.transient else self.loop(failure.job, failure.agent),
            consecutive=0 if failure.kind.transient else self.consecutive(),
            total=self.total(),
        )

    # The ladder.

    def escalations(self) -> list[tuple[Escalated, Answer]]:
        """Each answer with the escalation it was given to."""
        found: list[tuple[Escalated, Answer]] = []
        newest: Escalated | None = None
        for event in self.events:
            if isinstance(event, Escalated):
                newest = event
            elif isinstance(event, Answered) and newest is not None:
                found.append((newest, event.action))
        return found

    def standing(self) -> Literal["carry_on", "halt", "pause"]:
        """What keeps the run from going on."""
        answers = [event.action for event in self.events if isinstance(event, Answered)]
        newest = answers[-1] if answers else "unhandled"
        return newest if newest in ("halt", "pause") else "carry_on"

    def reached(self, cause: Ended) -> Escalated | None:
        """
        The step of the ladder that is taken, or None.

        There is at most one per turn: none before the agent could have read the newest one. A step held back is taken
        with the next failure that still reaches it.
        """
        if self.standing() != "carry_on" or any(
            cause.began < at for at, event in enumerate(self.events) if isinstance(event, Escalated)
        ):
            return None
        for step, count, limit, counted in sorted(self.steps(cause), key=lambda found: not self.halts(found[0])):
            if count >= limit and not self.has_stepped(step, counted):
                return Escalated(step, count, limit, cause)
        return None

    def halts(self, step: StepName) -> bool:
        """Whether the step halts a run without a handler."""
        return step == "loop_halt" or step in self.limits.halts

    def steps(self, cause: Ended) -> list[tuple[StepName, int, int, list[Ended]]]:
        """The steps that `cause` may reach, what halts by itself left aside the first of them first."""
        identical = self.identical(cause.job, cause.agent)
        loops: list[tuple[StepName, int, int, list[Ended]]] = [
            ("loop_halt", by_turn(identical), self.limits.loop_halt, identical),
            ("loop", by_turn(identical), self.limits.loop, identical),
        ]
        if "loop" in self.limits.halts:
            del loops[0]  # a loop that halts at once has no second step
        if cause.kind is None:
            return loops
        live = self.live(cause.kind, cause.job.operation)
        spent: tuple[StepName, int, int, list[Ended]] = ("total", self.total(), self.limits.total, self.budget())
        if cause.kind.transient:
            # The budget of a run halts it at a failure that stays, where it halts at all.
            return [] if self.halts("total") else [spent]
        return [
            *loops,
            ("rejected", by_turn(live), self.limits.rejected, live)
            if cause.kind.rejected
            else ("same", by_turn(live), self.limits.same, live),
            ("consecutive", self.consecutive(), self.limits.consecutive, self.row()),
            spent,
        ]

    def has_stepped(self, step: StepName, counted: list[Ended]) -> bool:
        """Whether this step, or a higher one of the loop, was taken for what is counted there now."""
        taken = ("loop", "loop_halt") if step == "loop" else (step,)
        return any(
            event.step in taken and event.cause in counted for event in self.events if isinstance(event, Escalated)
        )

    def answer(self, step: StepName, handler: Answer) -> Answer:
        asks = step in ("same", "rejected", "loop") or self.halts(step)
        if self.limits.mode != "enforce" or not asks:
            return "unhandled"
        if self.limits.handled:
            return handler
        return "halt" if self.halts(step) else "unhandled"

    # The report.

    def kinds(self) -> list[Kind]:
        """The classes, in the order in which they were first seen."""
        return list(dict.fromkeys(failure.kind for failure in self.failures() if failure.kind))

    def count(self, kind: Kind) -> int:
        return sum(failure.kind == kind for failure in self.failures())

    def operations(self, kind: Kind) -> list[str]:
        return list(dict.fromkeys(failure.job.operation for failure in self.failures() if failure.kind == kind))

    def is_resolved(self, kind: Kind) -> bool:
        return not any(self.unresolved(kind, operation) for operation in self.operations(kind))

    def longest_streak(self, kind: Kind) -> int:
        return max(self.streak(kind, operation) for operation in self.operations(kind))

    def after_escalation(self) -> int:
        """Failures of a class that had escalated before, or that came while the run was stopped."""
        return sum(self.comes_after_escalation(failure) for failure in self.failures())

    def comes_after_escalation(self, failure: Ended) -> bool:
        """Whether it does, as of the tick of the failure: what came later changes nothing, so that it is remembered."""
        if failure.at not in self.remembered:
            assert failure.kind is not None
            stopped = self.then(failure.at - 1).standing() != "carry_on"
            self.remembered[failure.at] = stopped or self.then(failure.at).stands_escalated(failure.kind)
        return self.remembered[failure.at]

    def escalated(self, kind: Kind) -> list[int]:
        """The ticks at which the class escalated; a row and a budget are of no class."""
        return [
            at
            for at, event in enumerate(self.events)
            if isinstance(event, Escalated)
            and event.step not in ("consecutive", "total")
            and self.blamed(event) == kind
        ]

    def stands_escalated(self, kind: Kind) -> bool:
        """
        Whether the class has escalated, and was neither resolved nor given fresh counters since.

        A resolution that the next failure of the class takes back was none.
        """
        return any(
            at > self.fresh_since()
            and all(self.is_taken_back(kind, then) for then in range(at, self.now) if self.then(then).is_resolved(kind))
            for at in self.escalated(kind)
        )

    def is_taken_back(self, kind: Kind, then: int) -> bool:
        """Whether the resolution of a class that stood at a tick is taken back by the next failure of the class."""
        later = [failure for failure in self.failures() if failure.kind == kind and failure.at > then]
        return bool(later) and not self.then(later[0].at).was_resolved(kind, then)

    def then(self, at: int) -> Model:
        """The model as it was right after a tick."""
        return Model(self.limits, self.events[: at + 1])

    def blamed(self, escalated: Escalated) -> Kind | None:
        """The class that escalated: for a refusal the one that the agent's call failed with."""
        if escalated.cause.kind is not None:
            return escalated.cause.kind
        failed = [
            failure.kind
            for failure in self.failures()
            if failure.job.is_identical_to(escalated.cause.job)
            and failure.agent == escalated.cause.agent
            and failure.at < escalated.cause.at
        ]
        return failed[-1]

    def was_resolved(self, kind: Kind, then: int) -> bool:
        """Whether nothing of the class was open at a tick, by what is known now of resolutions taken back."""
        for operation in self.operations(kind):
            ends = [
                success.began
                for success in self.successes()
                if success.at <= then
                and success.job.is_success_of(operation)
                and not self.is_void(success, kind, operation)
            ]
            last = max(ends, default=EARLIER)
            if any(
                failure.kind == kind and failure.job.operation == operation and last < failure.at <= then
                for failure in self.failures()
            ):
                return False
        return True

    def is_left(self, kind: Kind) -> bool:
        """Whether nothing came in place of what failed."""
        if self.is_resolved(kind):
            return False
        newest = max(failure.at for failure in self.failures() if failure.kind == kind)
        if kind.rejected:
            return not any(success.began > newest for success in self.successes())
        if not kind.misnamed:
            return True
        open_names = {name.split()[0] for name in self.operations(kind) if self.unresolved(kind, name)}
        instead = {success.job.operation.split()[0] for success in self.successes() if success.began > newest}
        return not open_names <= instead - CHECKS

    def status(self, kind: Kind) -> Status:
        if self.is_resolved(kind):
            return "RECOVERED"
        return "ESCALATED" if self.escalated(kind) else "ACTIVE"

    def result(self, *, failed: bool = False) -> str:
        if failed:
            return "failed"
        if self.standing() != "carry_on":
            return "halted"
        if any(map(self.is_left, self.kinds())):
            return "unresolved"
        return "recovered" if self.kinds() else "clean"
