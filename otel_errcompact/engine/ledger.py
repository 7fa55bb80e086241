"""Count every failure of this process, here and only here."""

from __future__ import annotations

import functools
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.digest import ALL_FORGOTTEN
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.engine.counting import FailureCounter
from otel_errcompact.engine.ladder import Ladder
from otel_errcompact.engine.listeners import Listener, Listeners
from otel_errcompact.engine.observations import (
    CONTINUES,
    BegunRun,
    EndedRun,
    FailureRecord,
    Observation,
    Resumed,
    Success,
    Verdict,
)
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact.engine.postponed import PostponedCounts
from otel_errcompact.engine.redacted import redact_operation
from otel_errcompact.engine.refusals import find_refused
from otel_errcompact.engine.state import RunState
from otel_errcompact.escalator.actions import Action, Continue, name_action
from otel_errcompact.extract.stacks.roots import open_roots
from otel_errcompact.history.history import History
from otel_errcompact.history.stores.memory import MemoryStore
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.compactor.model import ModelExtractor
    from otel_errcompact.engine.ladder import Step
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError
    from otel_errcompact.escalator.escalation import ActionName, AnsweredEscalation
    from otel_errcompact.escalator.thresholds import Mode, Thresholds
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.history.stores import Store
    from otel_errcompact.history.stores.parts import Backend


class Ledger:
    """
    Holds the state of all runs of this process, and their listeners.

    Args:
        options: All options; the defaults if None.
        backend: Where the state of runs lives that other processes work on too; this process's memory if None.
        timer: Nanoseconds for measuring our own cost; injected, since the core reads no clock.
        count_tokens: How tokens are counted.
        guard: Keeps failing listeners away from the application.
        model: Reads prose that no parser understands.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        backend: Backend | None = None,
        timer: Callable[[], int] = lambda: 0,
        count_tokens: TokenCounter = estimate_tokens,
        guard: Guard | None = None,
        model: ModelExtractor | None = None,
    ) -> None:
        self.options = options or Options()
        self.guard = guard or Guard()
        self.store: Final = self._make_store(backend)
        self._timer = timer
        self.roots: Final = open_roots(self.options.workspace_roots)
        self._pipeline = Pipeline(self.options.digest, count_tokens, guard=self.guard, model=model, roots=self.roots)
        self._ladder = Ladder(self._pipeline, self.next_tick)
        self._counter = FailureCounter(
            self._pipeline, self._ladder, self.options.memory, next_tick=self.next_tick, timer=timer
        )
        self._listeners = Listeners(self.guard)
        self._postponed = PostponedCounts(self.store.is_held)

    def add_listener(self, listener: Listener) -> None:
        """Notify `listener` of everything from now on."""
        self._listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Notify `listener` no more."""
        self._listeners.remove(listener)

    def next_tick(self) -> int:
        """Return the next tick, which orders calls, failures and successes."""
        return self.store.next_tick()

    # Runs.

    def open(
        self,
        run_id: str,
        *,
        agent: str = "",
        thresholds: Thresholds | None = None,
        mode: Mode | None = None,
        asks: bool = False,
        stoppable: bool = True,
    ) -> None:
        """
        Make a run known before a failure, for code with gates.

        Args:
            run_id: The run's id.
            agent: The agent's name.
            thresholds: When this run escalates; the options' thresholds if None.
            mode: What the library may do; the options' mode if None.
            asks: Whether a handler answers escalations; without one the run continues, and only loops halt it.
            stoppable: Whether the run has an agent that can be stopped; a server has none.
        """

        def set_up(state: RunState) -> None:
            # One process that can stop the agent is enough, whichever others open the run.
            state.stoppable = stoppable or (state.attended and state.stoppable)
            state.attended = True
            state.agent = agent or state.agent
            state.thresholds = thresholds or state.thresholds
            state.mode = mode or state.mode
            state.join(asks=asks)

        with self.store.edit(run_id, self._create) as state:
            self.store.repeat_later(run_id, set_up)
            set_up(state)
            changed = state.settings(self.next_tick()) if state.begun else None
            begun = self._begin(state)
        self.store.account(state)
        self._notify_begun(begun)
        if changed is not None:
            self._listeners.notify(lambda listener: listener.on_changed(changed))

    def restore(self, begun: BegunRun) -> None:
        """
        Make a run known from its record, to count it again.

        Args:
            begun: The settings that the run had.
        """
        with self.store.edit(begun.run_id, self._create) as state:
            state.agent = begun.agent
            state.thresholds = begun.thresholds
            state.mode = begun.mode
            state.asks = begun.asks
            state.attended = begun.attended
            state.stoppable = begun.stoppable
        self.store.account(state)

    def report(self, run_id: str) -> RunReport:
        """Return the account of a run so far."""
        self._postponed.run()
        with self.store.view(run_id) as state:
            return (state or self._create(run_id)).report()

    def end(self, run_id: str, *, failed: bool = False) -> RunReport:
        """
        Forget a run and return its account.

        A run that other processes have open too ends with the last of them. An escalation without an answer is counted
        as unhandled.

        Args:
            run_id: The run's id.
            failed: Whether the run itself has failed.
        """
        return self.close(run_id, failed=failed).report

    def close(self, run_id: str, *, failed: bool = False) -> EndedRun:
        """Forget a run and return its last answers; see `end`."""
        self._postponed.run()
        others_remain = False

        def leave(state: RunState) -> bool:
            nonlocal others_remain
            state.failed = state.failed or failed
            others_remain = state.leave()
            return others_remain

        state = self.store.discard(run_id, unless=leave)
        if state is None:
            state = self._create(run_id)
            state.failed = failed
        if not others_remain:
            self._notify_begun(self._begin(state))
            if state.answer is None:
                self._notify_answered(self._ladder.answer(state, "unhandled", "the run ended before it was answered"))
        report, verdict = state.report(), state.verdict()
        ended = EndedRun(report=report, verdict=verdict, digest=self._digest(state), raw=state.find_raw)
        if not others_remain:
            self.notify_end(report)
        return ended

    def notify_end(self, report: RunReport) -> None:
        """Notify the listeners of the end of a run already forgotten."""
        self._listeners.notify(lambda listener: listener.on_run_end(report))

    def streaks(self) -> dict[tuple[str, str, str], int]:
        """Return the longest live streaks by agent, tool and dedup key."""
        longest: dict[tuple[str, str, str], int] = {}
        known = longest.get
        # Without the runs' locks: 10,000 of them would stop a collection of metrics, and each streak is one number.
        for state in self.store.states():
            agent = state.agent
            for found in state.history:
                streak = found.streak
                if streak:
                    place = (agent, found.tool, found.key)
                    if streak > known(place, 0):
                        longest[place] = streak
        return longest

    def _make_store(self, backend: Backend | None) -> Store[RunState]:
        limits = self.options.memory
        if backend is None:
            return MemoryStore(limits, self._report_evicted)
        from otel_errcompact.engine.stored import RunCodec
        from otel_errcompact.history.stores.shared import SharedStore

        return SharedStore(backend, RunCodec(), self._create, limits, count_alone=self._count_alone)

    def _count_alone(self) -> None:
        self.guard.count("store_away")

    def _create(self, run_id: str) -> RunState:
        options = self.options
        history = History(max_classes=options.memory.classes_per_run)
        created = RunState(run_id=run_id, agent="", thresholds=options.thresholds, mode=options.mode, history=history)
        if self.store.is_shared:  # what another process has counted, the agent of this one has not read
            created.shown = ALL_FORGOTTEN
            created.life = uuid.uuid4().hex[:16]
        return created

    def _report_evicted(self, state: RunState) -> None:
        if state.attended:
            return
        with self.guard.stage("evict"):  # another thread may still hold the run
            report = state.report()
            self._listeners.notify(lambda listener: listener.on_evicted(report))

    # Failures.

    def observe(
        self, run_id: str, raw: RawError, *, record: FailureRecord | None = None, whole: bool = False
    ) -> Observation:
        """
        Count one failure and return its observation.

        The audit sink gets the raw error first.

        Args:
            run_id: The run's id.
            raw: The failure.
            record: Its class, kind and tick, where it was counted before.
            whole: Whether the text is for an agent that may have been shown nothing else of the run.
        """
        raw = self._redact(raw)
        self._listeners.notify_raw(run_id, raw)
        observation = self._observe(run_id, raw, record, whole=whole)
        self._postponed.run()
        return observation

    def _observe(self, run_id: str, raw: RawError, record: FailureRecord | None, *, whole: bool = False) -> Observation:
        started = self._timer()
        record = record or self._counter.prepare(raw)
        if self.store.is_held(run_id):
            # A signal handler or a finaliser, in the middle of this run's counts: counted when they are whole again.
            self._postponed.add(run_id, lambda: self._observe(run_id, raw, record))
            return self._counter.count(self._create(run_id), raw, record, started)[0]
        with self.store.edit(run_id, self._create) as state:
            begun = self._begin(state, raw)
            observation, step = self._counter.count(state, raw, record, started)
            if self.store.is_shared:
                self._count_again_later(observation, record)
            known = state.history.total > 1
        if whole and known:
            alone = self._counter.count(self._create(run_id), raw, record, started)[0]
            observation = replace(observation, text=alone.text, digest_tokens=alone.digest_tokens)
        self.store.account(state)
        self._notify_begun(begun)
        self._listeners.notify_observed(observation)
        if observation.taken_back:
            self._notify_taken_back(observation)
        self._notify_step(step)
        return observation

    def _count_again_later(self, observation: Observation, record: FailureRecord) -> None:
        kept, tick = observation.raw.without_exception(), observation.tick
        self.store.repeat_later(
            observation.run_id,
            lambda state: self._counter.count(state, kept, replace(record, tick=tick), 0),
            characters=len(kept.text),
        )

    def _redact(self, raw: RawError) -> RawError:
        # Before listeners are notified: they find a failure's record by its object, so it must not be replaced later.
        if not self.store.is_shared:
            return raw
        operation = redact_operation(raw.operation)
        return raw if operation == raw.operation else replace(raw, operation=operation)

    def handled(self, run_id: str, raw: RawError) -> None:
        """
        Count a failure inside a call that succeeded in the end.

        Operators see it, the agent does not.
        """
        raw = self._redact(raw)
        self._listeners.notify_raw(run_id, raw)
        found = self._pipeline.classify(raw)
        agent = raw.agent
        begun: BegunRun | None = None
        with self.store.find(run_id) as state:
            if state is not None:
                begun = self._begin(state, raw)
                self.store.repeat_later(run_id, RunState.count_handled)
                state.count_handled()
                agent = agent or state.agent
        self._notify_begun(begun)
        self._listeners.notify(lambda listener: listener.on_handled(run_id, agent, raw, found))

    # Successes.

    def succeed(  # noqa: PLR0913 - by name all of them
        self,
        run_id: str,
        tool: str,
        *,
        operation: Operation | None = None,
        arguments: str = "",
        agent: str = "",
        target: str = "",
        began: int = 0,
        directory: str = "",
        call: str = "",
    ) -> tuple[ErrorClass, ...]:
        """
        Count that a call succeeded and return the classes it resolves.

        Args:
            run_id: The run's id; of a run in which nothing has failed nothing is counted.
            tool: The tool's name.
            operation: The operation that succeeded; that of the tool, arguments and target if None.
            arguments: The call's arguments as JSON.
            agent: Whose call it is; the run's agent if empty.
            target: What the call is about, where its arguments do not name it.
            began: The tick at which the agent asked for the call; 0 is now.
            directory: The call's working directory; empty if unknown.
            call: The call's fingerprint; that of tool, arguments and directory if empty.
        """
        state = self.store.peek(run_id)
        if state is None or not state.history.total:
            return ()  # healthy runs pay for no lock and no fingerprint
        operation = operation or operation_of(tool, arguments, target=target)
        success = Success(
            run_id=run_id,
            agent=agent or state.agent,
            tool=tool,
            operation=redact_operation(operation) if self.store.is_shared else operation,
            arguments=arguments,
            directory=directory,
            began=began,
            call=call or call_fingerprint(tool, arguments, directory),
        )
        resolved = self._succeed(success)
        self._postponed.run()
        return resolved

    def _succeed(self, success: Success) -> tuple[ErrorClass, ...]:
        run_id, agent, tool = success.run_id, success.agent, success.tool
        if self.store.is_held(run_id):
            self._postponed.add(run_id, lambda: self._succeed(success))
            return ()
        with self.store.find(run_id) as state:
            if state is None:
                return ()
            success = replace(success, began=success.began or state.history.tick)
            self.store.repeat_later(run_id, lambda state: _count_success(state, success))
            resolved = _count_success(state, success)
            begun = self._begin(state)
            tick = self.next_tick()
        self._notify_begun(begun)
        if self._listeners.want_successes:
            self._listeners.notify_success(replace(success, tick=tick))
        if resolved:
            self._listeners.notify(lambda listener: listener.on_resolved(run_id, agent, tool, resolved))
        return resolved

    def repeat(self, run_id: str, tool: str, *, agent: str = "") -> None:
        """Count an identical call that succeeded again with the same result."""
        with self.store.find(run_id) as state:
            if state is not None:
                self.store.repeat_later(run_id, RunState.count_repeat)
                state.count_repeat()
                agent = agent or state.agent
        self._listeners.notify(lambda listener: listener.on_repeated(run_id, agent, tool))

    def is_failing(self, run_id: str, operation: Operation) -> bool:
        """Return whether a success of an operation would resolve anything."""
        with self.store.view(run_id) as state:
            if self.store.is_shared:
                operation = redact_operation(operation)
            return state is not None and state.history.is_failing(operation)

    # Refusals.

    def may_refuse(self, run_id: str) -> bool:
        """Return whether calls of a run may be refused, without a lock."""
        known = self.store.peek(run_id)
        return known is not None and bool(known.history.repeats)

    def refusal(
        self,
        run_id: str,
        tool: str,
        arguments: str,
        *,
        agent: str = "",
        directory: str = "",
        now_ns: int = 0,
        call: str = "",
    ) -> str:
        """
        Return why an identical call is refused, without counting it.

        The text is empty if the call may be made.

        A call is refused once it has failed `thresholds.refuse` times with the same arguments in the same directory,
        none of them transient, while no call of the agent has succeeded: of 1,773 such retries none worked. Five
        minutes after its last failure it may be made once.

        Args:
            run_id: The run's id.
            tool: The tool's name.
            arguments: The call's arguments as JSON; where they are unknown no call is identical.
            agent: Whose call it is; the run's agent if empty.
            directory: The call's working directory; empty if unknown.
            now_ns: The time in nanoseconds since the epoch; 0 if unknown.
            call: The call's fingerprint; that of tool, arguments and directory if empty.
        """
        if not self.may_refuse(run_id):
            return ""
        with self.store.view(run_id) as state:
            refused = find_refused(state, tool, arguments, agent=agent, directory=directory, now_ns=now_ns, call=call)
            if state is None or refused is None:
                return ""
            return refused.render(state, self.options.digest, attempt=1)

    def refuse(  # noqa: PLR0913 - by name all of them
        self,
        run_id: str,
        tool: str,
        arguments: str,
        *,
        agent: str = "",
        directory: str = "",
        began: int = 0,
        now_ns: int = 0,
        call: str = "",
        tick: int = 0,
    ) -> str:
        """
        Count the refusal of an identical call and return its reason.

        The text is empty if the call may be made.

        A refusal is no occurrence, but an attempt of the loop. The arguments are those of `refusal`; `began` is the
        tick at which the agent asked for the call. A record of a refusal has the call's fingerprint and the tick at
        which it was refused.
        """
        # Most calls have not failed: for these no run is locked.
        known = self.store.peek(run_id)
        if find_refused(known, tool, arguments, agent=agent, directory=directory, now_ns=now_ns, call=call) is None:
            return ""
        with self.store.find(run_id) as state:
            refused = find_refused(state, tool, arguments, agent=agent, directory=directory, now_ns=now_ns, call=call)
            if state is None or refused is None:
                return ""
            begun = self._begin(state)
            counted = functools.partial(
                refused.count, ladder=self._ladder, began=began, tick=tick or self.next_tick(), now_ns=now_ns
            )
            self.store.repeat_later(run_id, counted)
            refusal, step = counted(state)
            text = refused.render(state, self.options.digest)
        self._notify_begun(begun)
        self._listeners.notify(lambda listener: listener.on_refused(refusal))
        self._notify_step(step)
        return text

    # Reading.

    def digest(self, run_id: str) -> str:
        """
        Return the block of recent errors for the agent's next prompt.

        It is empty without open classes, and in mode `observe`.
        """
        self._postponed.run()
        with self.store.view(run_id) as state:
            return "" if state is None else self._digest(state)

    def _digest(self, state: RunState) -> str:
        return "" if state.mode == "observe" else state.render_block(self._pipeline)

    def forget_shown(self, run_id: str) -> None:
        """
        Forget what the agent has read, since its context lost messages.

        The next digest of each class is whole again, where it would have named the class only. Counts and thresholds
        stay as they are.
        """
        with self.store.view(run_id) as state:
            if state is not None:
                state.shown = ALL_FORGOTTEN

    def raw(self, run_id: str, key: str) -> str | None:
        """
        Return the newest raw error of the class with this key prefix.

        None if there is none.
        """
        with self.store.view(run_id) as state:
            return state.find_raw(key) if state is not None else None

    def verdict(self, run_id: str) -> Verdict:
        """Return whether the run may continue."""
        with self.store.view(run_id) as state:
            return CONTINUES if state is None else state.verdict()

    def claim_question(self, run_id: str, *, has_handler: bool, now_ns: int) -> bool:
        """
        Return whether this process is to ask about the open escalation.

        Of several processes one asks, and the others wait for its answer.

        Args:
            run_id: The run's id.
            has_handler: Whether this process has a handler.
            now_ns: The time in nanoseconds since the epoch.
        """
        if not self.store.is_shared:
            return True
        with self.store.find(run_id) as state:
            return state is None or state.claim_question(has_handler=has_handler, now_ns=now_ns)

    def newest_answer(self, run_id: str) -> AnsweredEscalation | None:
        """Return the newest answered escalation of a run; None without one."""
        with self.store.view(run_id) as state:
            return state.answered[-1] if state is not None and state.answered else None

    def is_quiet(self, run_id: str) -> bool:
        """Return whether no escalation stands in a run, without its lock."""
        known = self.store.peek(run_id)
        return known is None or known.escalation is None

    # Answers to escalations.

    def answer(self, run_id: str, action: Action) -> None:
        """
        Settle the open escalation of a run; `Continue` gives fresh counters.

        Without an open escalation nothing happens.
        """
        self.settle(run_id, name_action(action), action.message if isinstance(action, Continue) else action.reason)

    def settle(self, run_id: str, action: ActionName, message: str) -> None:
        """
        Settle the open escalation by the name of a recorded action.

        Without an open escalation nothing happens.

        Args:
            run_id: The run's id.
            action: What was done.
            message: The message with it.
        """
        self._settle(run_id, lambda state: self._ladder.answer(state, action, message))

    def answer_by_default(self, run_id: str, message: str) -> None:
        """
        Settle the open escalation as without a handler.

        The run continues, or halts if the threshold halts.

        Args:
            run_id: The run's id.
            message: Why no handler has answered.
        """
        self._settle(run_id, lambda state: self._ladder.answer_by_default(state, message))

    def _settle(self, run_id: str, answer: Callable[[RunState], AnsweredEscalation | None]) -> None:
        begun: BegunRun | None = None
        answered: AnsweredEscalation | None = None
        with self.store.find(run_id) as state:
            self.store.repeat_later(run_id, answer)
            if state is not None:
                begun, answered = self._begin(state), answer(state)
        self._notify_begun(begun)
        self._notify_answered(answered)

    def resume(self, run_id: str, message: str = "") -> None:
        """
        Let a run continue with fresh counters and a human's message.

        Args:
            run_id: The run's id.
            message: The human's message.
        """
        begun: BegunRun | None = None
        resumed: Resumed | None = None
        answered: AnsweredEscalation | None = None
        with self.store.find(run_id) as state:
            self.store.repeat_later(run_id, lambda state: self._ladder.resume(state, message))
            if state is not None:
                begun, answered = self._begin(state), self._ladder.resume(state, message)
                if answered is None and state.begun:
                    resumed = Resumed(run_id=run_id, agent=state.agent, message=message, tick=self.next_tick())
        self._notify_begun(begun)
        self._notify_answered(answered)
        if resumed is not None:
            self._listeners.notify(lambda listener: listener.on_resumed(resumed))

    # Listeners.

    def _begin(self, state: RunState, raw: RawError | None = None) -> BegunRun | None:
        """
        Return the settings of a run that listeners here do not know.

        They hear of it with its first failure, or, where that was another process's, before anything else of it.
        """
        if state.begun or (raw is None and not state.has_failed):
            return None
        state.begun = True
        agent, time_ns = (raw.agent, raw.time_ns) if raw is not None else ("", 0)
        return state.settings(self.next_tick(), agent=state.agent or agent, time_ns=time_ns)

    def _notify_begun(self, begun: BegunRun | None) -> None:
        if begun is not None:
            self._listeners.notify(lambda listener: listener.on_begin(begun))

    def _notify_taken_back(self, observation: Observation) -> None:
        with self.store.view(observation.run_id) as state:
            found = state.history.get(observation.found.key) if state is not None else None
        if found is not None:
            run_id, agent, tool = observation.run_id, observation.agent, observation.raw.tool
            self._listeners.notify(lambda listener: listener.on_taken_back(run_id, agent, tool, found))

    def _notify_step(self, step: Step) -> None:
        escalation = step.escalation
        if escalation is not None:
            self._listeners.notify(lambda listener: listener.on_escalated(escalation))
        self._notify_answered(step.answered)

    def _notify_answered(self, answered: AnsweredEscalation | None) -> None:
        if answered is not None:
            self._listeners.notify(lambda listener: listener.on_answered(answered))


def _count_success(state: RunState, success: Success) -> tuple[ErrorClass, ...]:
    return state.history.succeed(success.operation, agent=success.agent, call=success.call, began=success.began)
