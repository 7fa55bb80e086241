"""Hold the state of one run, its verdict and its report."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.digest import ALL_FORGOTTEN, cut_middle
from otel_errcompact.engine.events import Began
from otel_errcompact.engine.pipeline import FailureMemory
from otel_errcompact.engine.report import Result, RunReport, report_class
from otel_errcompact.history.history import History
from otel_errcompact.runtime.processes import THIS_PROCESS, has_ended
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.config import Options
    from otel_errcompact.engine.pipeline import Pipeline
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.escalator.thresholds import Mode, Threshold, Thresholds
    from otel_errcompact.history.stores.memory import MemoryLimits

ASKER_SILENT_NS: Final = 30_000_000_000
"""Half a minute: how long a process that asks a human may be silent before another one asks."""


Standing = Literal["carry_on", "pending", "halt", "pause"]
"""Whether a run may continue: it may, its escalation has no answer yet, or the answer has stopped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a run may continue, and why not."""

    standing: Standing = "carry_on"
    escalation: Escalation | None = None
    reason: str = ""

    @property
    def stopped(self) -> bool:
        """Whether the next gate stops the run."""
        return self.standing in {"pending", "halt", "pause"}


CONTINUES: Final = Verdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run after its end."""

    report: RunReport
    verdict: Verdict
    digest: str
    raw: Callable[[str], str | None]
    """Returns the newest raw error of the class whose key starts with a text; None if there is none."""


@dataclass(slots=True, kw_only=True)
class RunState(FailureMemory):
    """The state of one run, as a store keeps it."""

    run_id: str
    agent: str
    thresholds: Thresholds
    life: str = ""
    """Which run of its id, the same in all processes that share it; empty where none can."""

    mode: Mode = "enforce"
    handled: int = 0
    repeats: int = 0
    after_escalation: int = 0
    raw_tokens: int = 0
    sent_tokens: int = 0
    digest_tokens: int = 0
    escalation: Escalation | None = None
    """The escalation that stands: not yet answered, or answered with `Halt` or `Pause`."""

    answer: AnsweredEscalation | None = None
    """The answer to the standing escalation; None while it has none."""

    guidance: str = ""
    """The message of the human that let the run continue last."""

    answered: list[AnsweredEscalation] = field(default_factory=list["AnsweredEscalation"])
    attended: bool = False
    """Whether the application has opened the run and passes its gates; a run known from its spans alone has none."""

    asks: bool = False
    """Whether a handler answers escalations, in this process or another."""

    stoppable: bool = True
    """Whether the run has an agent that can be stopped; a server has none."""

    begun: bool = False
    """Whether listeners of this process know of the run, which they do from what they hear first of it."""

    members: set[str] = field(default_factory=set[str])
    """Names of the processes that have opened the run and not left it."""

    askers: set[str] = field(default_factory=set[str])
    """Those of them that have a handler for escalations."""

    asker: str = ""
    """The process that asks about the standing escalation; empty while none does."""

    asker_until_ns: int = 0
    """Until when it may be silent before another one asks, in nanoseconds since the epoch."""

    failed: bool = False
    """Whether the run itself has failed."""

    escalated_at: int = 0
    """The tick of the newest escalation."""

    raw_texts: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    """The newest raw error of each class, least recently seen first."""

    raw_characters: int = 0
    """How many characters `raw_texts` holds."""

    @property
    def is_open_here(self) -> bool:
        """Whether this process has opened the run and not left it."""
        return THIS_PROCESS.name in self.members

    @property
    def has_failed(self) -> bool:
        """Whether something has failed in the run, in whichever process."""
        return bool(self.history.total or self.handled)

    @property
    def newest_tick(self) -> int:
        """The newest tick that the state holds."""
        return max(self.history.tick, self.escalated_at)

    @property
    def can_halt(self) -> bool:
        """Whether the library may halt the run by itself."""
        return self.mode == "enforce" and self.attended and self.stoppable

    @property
    def loop_halt(self) -> int:
        """Identical calls at which the library halts the run, or 0."""
        return self.thresholds.loop_halt if self.can_halt and not self.asks else 0

    @property
    def unhandled(self) -> Escalation | None:
        """The newest unhandled escalation whose class is still open."""
        newest = self.answered[-1] if self.answered else None
        if newest is None or newest.action != "unhandled":
            return None
        found = self.history.get(newest.escalation.key)
        return newest.escalation if found is not None and found.unlifted and not found.resolved else None

    def join(self, *, asks: bool) -> None:
        """
        Note that this process has opened the run.

        `asks` says whether it has a handler for escalations.
        """
        self.asks = asks or self.asks
        self.members.add(THIS_PROCESS.name)
        if asks:
            self.askers.add(THIS_PROCESS.name)

    def claim_question(self, *, has_handler: bool, now_ns: int) -> bool:
        """
        Return whether this process is to ask about the open escalation.

        It is if no other one does, has ended, or has been silent for too long. Without a handler it leaves the
        question to those that have one. Where the answer has come meanwhile, nothing is claimed: a late claim would
        keep others from asking about the next escalation.

        Args:
            has_handler: Whether this process has a handler.
            now_ns: The time in nanoseconds since the epoch.
        """
        if self.verdict().standing != "pending":
            return True
        me = THIS_PROCESS.name
        if not has_handler and any(name != me and not has_ended(name) for name in self.askers):
            return False
        if self.asker not in {"", me} and now_ns < self.asker_until_ns and not has_ended(self.asker):
            return False
        self.asker, self.asker_until_ns = me, now_ns + ASKER_SILENT_NS
        return True

    def leave(self, *, failed: bool) -> bool:
        """
        Leave the run; return whether other processes have it open.

        Those that have ended without leaving, as a process that is killed, have left it too. `failed` says whether the
        run itself has failed.
        """
        self.failed = self.failed or failed
        if self.asker == THIS_PROCESS.name:
            self.asker = ""
        self.members = {name for name in self.members if name != THIS_PROCESS.name and not has_ended(name)}
        self.askers &= self.members
        return bool(self.members)

    def asks_at(self, threshold: Threshold, *, halts: bool = False) -> bool:
        """Return whether the handler is asked when a threshold is reached."""
        return self.asks and self.mode == "enforce" and (halts or self.thresholds.asks(threshold))

    def may_escalate(self, began: int) -> bool:
        """
        Return whether a call from this tick may lead to an escalation.

        One turn takes one step at most, and while an escalation stands there is no other.
        """
        return self.escalation is None and began > self.escalated_at

    def resume(self, message: str) -> None:
        """Give the run fresh counters and keep a human's message."""
        self.escalation = self.answer = None
        self.guidance = message
        self.history.refresh()

    def keep_raw(self, key: str, text: str, limits: MemoryLimits) -> None:
        """
        Keep the newest raw error of a class, within bounds.

        One text and one run each have a limit.
        """
        text = cut_middle(text, limits.raw_text_characters, "; the trajectory keeps them")
        self.raw_characters += len(text) - len(self.raw_texts.pop(key, ""))
        self.raw_texts[key] = text
        while self.raw_characters > limits.raw_characters or len(self.raw_texts) > limits.classes_per_run:
            _, oldest = self.raw_texts.popitem(last=False)
            self.raw_characters -= len(oldest)

    def drop_raw(self) -> None:
        """Forget the raw errors, to bound memory; the trajectory keeps them."""
        self.raw_texts.clear()
        self.raw_characters = 0

    def find_raw(self, key: str) -> str | None:
        """
        Return the newest raw error of the class with this key prefix.

        None if there is none.
        """
        found = self.history.find(key)
        return self.raw_texts.get(found.key) if found is not None else None

    def render_block(self, pipeline: Pipeline) -> str:
        """Return the block of recent errors, with the escalation that stands."""
        return pipeline.render_block(self, escalation=self.escalation, unhandled=self.unhandled, guidance=self.guidance)

    def settings(self, tick: int, *, kind: type[Began] = Began, agent: str = "", time_ns: int = 0) -> Began:
        """Return the settings of the run for listeners."""
        return kind(
            run_id=self.run_id,
            agent=agent or self.agent,
            thresholds=self.thresholds,
            mode=self.mode,
            asks=self.asks,
            attended=self.attended,
            stoppable=self.stoppable,
            tick=tick,
            time_ns=time_ns,
            life=self.life,
        )

    def verdict(self) -> Verdict:
        """Return whether the run may continue."""
        if self.escalation is None:
            return CONTINUES
        if self.answer is None:
            return Verdict(standing="pending", escalation=self.escalation)
        # Any other answer has lifted the escalation.
        standing: Standing = "halt" if self.answer.action == "halt" else "pause"
        return Verdict(standing=standing, escalation=self.escalation, reason=self.answer.message)

    def report(self) -> RunReport:
        """Return the account of the run so far."""
        classes = tuple(sorted(map(report_class, self.history), key=lambda found: found.first_seen_ns))
        return RunReport(
            run_id=self.run_id,
            agent=self.agent,
            result=self._find_result(),
            occurrences=self.history.total,
            handled=self.handled,
            repeats=self.repeats,
            after_escalation=self.after_escalation,
            raw_tokens=self.raw_tokens,
            sent_tokens=self.sent_tokens,
            digest_tokens=self.digest_tokens,
            classes=classes,
            forgotten_classes=self.history.evicted,
            escalations=tuple(self.answered),
        )

    def _find_result(self) -> Result:
        if self.failed:
            return "failed"
        if self.answer is not None:
            return "halted"
        if self.history.evicted_unresolved or any(not (found.resolved or found.overcome) for found in self.history):
            return "unresolved"
        return "recovered" if self.history.total else "clean"


def create_run(run_id: str, options: Options, *, is_shared: bool) -> RunState:
    """Return the state of a run in which nothing has happened."""
    history = History(max_classes=options.memory.classes_per_run)
    created = RunState(run_id=run_id, agent="", thresholds=options.thresholds, mode=options.mode, history=history)
    if is_shared:  # what another process has counted, the agent of this one has not read
        created.shown = ALL_FORGOTTEN
        created.life = uuid.uuid4().hex[:16]
    return created
