"""The one stateful object: every failure becomes a number here, and only here."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact import digest as rendering
from otel_errcompact.compactor.classify import Classified, classify
from otel_errcompact.compactor.hints import hint_for
from otel_errcompact.config import Options
from otel_errcompact.detector.kinds import FailureKind, kind_of
from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.engine.listeners import Listener, Listeners
from otel_errcompact.engine.observations import (
    GOES_ON,
    BegunRun,
    Counted,
    EndedRun,
    Observation,
    Refusal,
    Resumed,
    Success,
    Verdict,
)
from otel_errcompact.engine.standing import let_go_on, report_of, unhandled_in, verdict_of
from otel_errcompact.engine.state import RunState
from otel_errcompact.errors import Facts
from otel_errcompact.escalator.escalation import (
    ASKING,
    Action,
    ActionName,
    AnsweredEscalation,
    Continue,
    Escalation,
    Rows,
    action_name,
    decide,
    mark_escalated,
)
from otel_errcompact.history.history import History
from otel_errcompact.history.stores.memory import MemoryStore
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.compactor.model import ModelExtractor
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.errors import Operation, RawError, SpanRef
    from otel_errcompact.escalator.escalation import Decision, Mode, Thresholds
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact.history.repeats import RepeatedCall
    from otel_errcompact.history.stores import Store

__all__ = ["Ledger", "Listener", "Observation", "Verdict"]

NO_HANDLER: Final = "no escalation handler was given"
"""Why a run was halted by a threshold that halts where no handler decides."""


class Ledger:
    """
    The state of all runs of this process, and what listens to it.

    Args:
        options: All options; the defaults if None.
        store: Where the state of runs lives; this process's memory if None.
        timer: Nanoseconds for measuring our own cost; injected, since the core reads no clock.
        count_tokens: How tokens are counted.
        guard: Keeps failing listeners away from the application.
        model: Reads prose that no parser understands.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store[RunState] | None = None,
        timer: Callable[[], int] = lambda: 0,
        count_tokens: TokenCounter = estimate_tokens,
        guard: Guard | None = None,
        model: ModelExtractor | None = None,
    ) -> None:
        self.options = options or Options()
        self.guard = guard or Guard()
        self.store: Store[RunState] = store or MemoryStore(self.options.memory, self._evicted)
        self._classifying = self.guard.stage("classify")
        self._timer = timer
        self._model = model
        self._count_tokens = count_tokens
        self._ticks = itertools.count(1)
        self._listeners = Listeners(self.guard)
        self._later: deque[tuple[str, Callable[[], object]]] = deque()
        reset_in_child(self._forget_later)

    def add_listener(self, listener: Listener) -> None:
        """Tell `listener` of everything from now on."""
        self._listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Tell `listener` nothing any more."""
        self._listeners.remove(listener)

    def tick(self) -> int:
        """Return the next number of a sequence that orders calls, failures and successes."""
        return next(self._ticks)

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
        Make a run known before anything fails in it, for code that passes its gates.

        Args:
            run_id: The run's id.
            agent: The agent's name.
            thresholds: When this run escalates; the options' thresholds if None.
            mode: What the library may do; the options' mode if None.
            asks: Whether a handler answers escalations; without one the run goes on, and only loops halt it.
            stoppable: Whether the run has an agent that can be stopped; a server has none.
        """
        with self.store.edit(run_id, self._create) as state:
            state.attended = True
            state.agent = agent or state.agent
            state.thresholds = thresholds or state.thresholds
            state.mode = mode or state.mode
            state.asks = asks or state.asks
            state.stoppable = stoppable
            changed = _begun(state, self.tick()) if state.begun else None
        self.store.account(state)
        if changed is not None:
            self._listeners.tell(lambda listener: listener.on_changed(changed))

    def restore(self, begun: BegunRun) -> None:
        """
        Make a run known as a record of its begin tells, to count again what was recorded of it.

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

    def observe(
        self, run_id: str, raw: RawError, *, counted: Counted | None = None, whole: bool = False
    ) -> Observation:
        """
        Count one failure and return what became of it. The raw error is handed to the audit sink first.

        Args:
            run_id: The run's id.
            raw: The failure.
            counted: What a record tells of it, where it was counted before.
            whole: Whether the text is for an agent that may have been shown nothing else of the run.
        """
        self._listeners.tell_raw(run_id, raw)
        observation = self._observe(run_id, raw, counted, whole=whole)
        self._catch_up()
        return observation

    def _observe(self, run_id: str, raw: RawError, counted: Counted | None, *, whole: bool = False) -> Observation:
        started = self._timer()
        found = self._classify(raw) if counted is None else counted.found
        kind = self._kind_of(raw, found) if counted is None else counted.kind
        if self.store.is_held(run_id):
            # A signal handler or a finaliser, in the middle of this run's counts: counted when they are whole again.
            self._later.append((run_id, lambda: self._observe(run_id, raw, counted)))
            return self._record(self._create(run_id), raw, found, kind, started, counted)[0]
        with self.store.edit(run_id, self._create) as state:
            begun = self._begin(state, raw)
            observation, answered = self._record(state, raw, found, kind, started, counted)
            known = state.history.total > 1
        if whole and known:
            alone = self._record(self._create(run_id), raw, found, kind, started, counted)[0]
            observation = replace(observation, text=alone.text, digest_tokens=alone.digest_tokens)
        self.store.account(state)
        self._tell_begun(begun)
        self._listeners.tell_observed(observation)
        if observation.taken_back:
            self._tell_taken_back(observation)
        self._tell_escalated(observation.escalation, answered)
        return observation

    def handled(self, run_id: str, raw: RawError) -> None:
        """
        Count a failure inside a call that in the end succeeded: for the operator, never for the agent.
        """
        self._listeners.tell_raw(run_id, raw)
        found = self._classify(raw)
        agent = raw.agent
        begun: BegunRun | None = None
        with self.store.find(run_id) as state:
            if state is not None:
                begun = self._begin(state, raw)
                state.handled += 1
                agent = agent or state.agent
        self._tell_begun(begun)
        self._listeners.tell(lambda listener: listener.on_handled(run_id, agent, raw, found))

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
        Count that a call succeeded and return the classes that are thereby resolved.

        Args:
            run_id: The run's id; of a run in which nothing has failed nothing is counted.
            tool: The tool's name.
            operation: The operation that succeeded; that of the tool, arguments and target if None.
            arguments: The call's arguments as JSON.
            agent: Whose call it is; the run's agent if empty.
            target: What the call is about, where its arguments do not tell.
            began: The tick at which the agent asked for the call; 0 is now.
            directory: The call's working directory; empty if unknown.
            call: The call's fingerprint; that of tool, arguments and directory if empty.
        """
        with self.store.find(run_id) as state:
            if state is None or not state.history.total:
                return ()
            # Healthy runs do not pay for it.
            operation = operation or operation_of(tool, arguments, target=target)
            agent = agent or state.agent
            call = call or _fingerprint(tool, arguments, directory)
        resolved = self._succeed(run_id, tool, operation, arguments, agent, began, directory, call)
        self._catch_up()
        return resolved

    def _succeed(
        self,
        run_id: str,
        tool: str,
        operation: Operation,
        arguments: str,
        agent: str,
        began: int,
        directory: str,
        call: str,
    ) -> tuple[ErrorClass, ...]:
        if self.store.is_held(run_id):
            told = (run_id, tool, operation, arguments, agent, began, directory, call)
            self._later.append((run_id, lambda: self._succeed(*told)))
            return ()
        with self.store.find(run_id) as state:
            if state is None:
                return ()
            resolved = state.history.succeed(operation, agent=agent, call=call, began=began)
            tick = self.tick()
        if self._listeners.want_successes:
            success = Success(
                run_id=run_id,
                agent=agent,
                tool=tool,
                operation=operation,
                arguments=arguments,
                directory=directory,
                began=began,
                tick=tick,
                call=call,
            )
            self._listeners.tell_success(success)
        if resolved:
            self._listeners.tell(lambda listener: listener.on_resolved(run_id, agent, tool, resolved))
        return resolved

    def _forget_later(self) -> None:
        self._later.clear()

    def _catch_up(self) -> None:
        """Count what signal handlers and finalisers have told while this thread was at work on the run."""
        while self._later:
            try:
                run_id, count = self._later.popleft()
            except IndexError:  # another thread was faster
                return
            if self.store.is_held(run_id):
                self._later.appendleft((run_id, count))
                return
            count()

    def is_failing(self, run_id: str, operation: Operation) -> bool:
        """Return whether a success of an operation would resolve anything in a run."""
        with self.store.find(run_id) as state:
            return state is not None and state.history.is_failing(operation)

    def refusal(
        self, run_id: str, tool: str, arguments: str, *, agent: str = "", directory: str = "", now_ns: int = 0
    ) -> str:
        """
        Return why an identical call must not be made again, or an empty string if it may. Counts nothing.

        A call is refused once it has failed `thresholds.refuse` times with the same arguments in the same directory,
        none of them transient, while no call of the agent has succeeded: of 1,773 such retries none worked. Five
        minutes after the last failure one is let through.

        Args:
            run_id: The run's id.
            tool: The tool's name.
            arguments: The call's arguments as JSON; where they are unknown no call is identical.
            agent: Whose call it is; the run's agent if empty.
            directory: The call's working directory; empty if unknown.
            now_ns: The time in nanoseconds since the epoch; 0 if unknown.
        """
        with self.store.find(run_id) as state:
            found = None if state is None else self._refused_call(state, tool, arguments, agent, directory, now_ns)
            return "" if state is None or found is None else self._refusal_text(state, *found, attempt=1)

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
        Count the refusal of an identical call, and return why it was refused; an empty string if it may be made.

        A refusal is no occurrence, but an attempt of the loop. The arguments are those of `refusal`; `began` is the
        tick at which the agent asked for the call. A record of a refusal tells the call's fingerprint and the tick at
        which it was refused.
        """
        answered: AnsweredEscalation | None = None
        with self.store.find(run_id) as state:
            found = self._refused_call(state, tool, arguments, agent, directory, now_ns, call) if state else None
            if state is None or found is None:
                return ""
            repeated, error_class = found
            tick = tick or self.tick()
            repeated.attempts.fail(began or tick, tick)
            rows = Rows(rejected=False, streak=None, repeated=repeated, history=state.history)
            decision = decide(rows, state.thresholds, may_escalate=state.may_escalate(began or tick))
            escalation, answered = self._escalate(state, error_class, rows, decision, tick)
            text = self._refusal_text(state, *found)
            refusal = Refusal(
                run_id=run_id,
                agent=agent or state.agent,
                tool=tool,
                arguments=arguments,
                key=error_class.key,
                failures=repeated.failed,
                count=repeated.attempts.count,
                directory=directory,
                call=call or _fingerprint(tool, arguments, directory),
                began=began,
                tick=tick,
                time_ns=now_ns,
                escalation=escalation,
            )
        self._listeners.tell(lambda listener: listener.on_refused(refusal))
        self._tell_escalated(escalation, answered)
        return text

    def digest(self, run_id: str) -> str:
        """Return the block of recent errors for the agent's next prompt; empty if there is none, or in `observe`."""
        self._catch_up()
        with self.store.find(run_id) as state:
            return "" if state is None else self._digest(state)

    def forget_shown(self, run_id: str) -> None:
        """
        Forget what the agent of a run has been shown, since earlier messages were taken out of its context.

        The next digest of each class is whole again, where it would have named the class only. Counts and thresholds
        stay as they are.
        """
        with self.store.find(run_id) as state:
            if state is not None:
                state.history.forget_shown()

    def raw(self, run_id: str, key: str) -> str | None:
        """Return the newest raw error of the class whose key starts with `key`, or None if there is none."""
        with self.store.find(run_id) as state:
            found = state.history.find(key) if state is not None else None
            return state.raw_texts.get(found.key) if state is not None and found is not None else None

    def verdict(self, run_id: str) -> Verdict:
        """Return whether the run may go on."""
        with self.store.find(run_id) as state:
            return GOES_ON if state is None else verdict_of(state)

    def answer(self, run_id: str, action: Action) -> None:
        """
        Settle the escalation that stands in a run; `Continue` gives it fresh counters. Without one, nothing happens.
        """
        message = action.message if isinstance(action, Continue) else action.reason
        with self.store.find(run_id) as state:
            answered = None if state is None else self._answer(state, action_name(action), message)
        self._tell_answered(answered)

    def resume(self, run_id: str, message: str = "") -> None:
        """
        Let a run go on with fresh counters, and have its digests show what a human has said.

        Args:
            run_id: The run's id.
            message: What the human said.
        """
        resumed: Resumed | None = None
        with self.store.find(run_id) as state:
            answered = None if state is None else self._answer(state, "continue", message)
            if state is not None and answered is None:
                let_go_on(state, message)
                if state.begun:
                    resumed = Resumed(run_id=run_id, agent=state.agent, message=message, tick=self.tick())
        self._tell_answered(answered)
        if resumed is not None:
            self._listeners.tell(lambda listener: listener.on_resumed(resumed))

    def settle(self, run_id: str, action: ActionName, message: str) -> None:
        """
        Answer the escalation that stands as a record tells that it was answered; without one, nothing happens.

        Args:
            run_id: The run's id.
            action: What was done.
            message: What was said.
        """
        with self.store.find(run_id) as state:
            answered = None if state is None else self._answer(state, action, message)
        self._tell_answered(answered)

    def answer_by_default(self, run_id: str, message: str) -> None:
        """
        Settle the escalation that stands as without a handler: the run goes on, or halts where the threshold does.

        Args:
            run_id: The run's id.
            message: Why no handler has answered.
        """
        with self.store.find(run_id) as state:
            breach = state.breach if state is not None else None
            if state is None or breach is None or state.answer is not None:
                return
            action: ActionName = "halt" if breach.halts and state.can_halt else "unhandled"
            answered = self._answer(state, action, message)
        self._tell_answered(answered)

    def report(self, run_id: str) -> RunReport:
        """Return the account of a run so far."""
        self._catch_up()
        with self.store.find(run_id) as state:
            return report_of(state or self._create(run_id))

    def end(self, run_id: str, *, failed: bool = False) -> RunReport:
        """
        Forget a run and return its account. An escalation that was not answered is counted as unhandled.

        Args:
            run_id: The run's id.
            failed: Whether the run itself has failed.
        """
        return self.close(run_id, failed=failed).report

    def close(self, run_id: str, *, failed: bool = False) -> EndedRun:
        """
        Forget a run and return what it answers from now on; see `end`.
        """
        self._catch_up()
        state = self.store.discard(run_id) or self._create(run_id)
        self._tell_answered(
            self._answer(state, "unhandled", "the run ended before it was answered") if state.answer is None else None
        )
        state.failed = state.failed or failed
        ended = EndedRun(
            report=report_of(state),
            verdict=verdict_of(state),
            digest=self._digest(state),
            _raw_texts=state.raw_texts,
            _history=state.history,
        )
        self._listeners.tell(lambda listener: listener.on_run_end(ended.report))
        return ended

    def tell_end(self, report: RunReport) -> None:
        """Tell the listeners that a run has ended that was forgotten before."""
        self._listeners.tell(lambda listener: listener.on_run_end(report))

    def streaks(self) -> dict[tuple[str, str, str], int]:
        """Return the longest live streak over all runs by agent, tool and dedup key."""
        longest: dict[tuple[str, str, str], int] = {}
        for run_id in self.store.run_ids():
            with self.store.find(run_id) as state:
                for found in state.history if state is not None else ():
                    place = (state.agent if state is not None else "", found.tool, found.key)
                    if found.streak:
                        longest[place] = max(longest.get(place, 0), found.streak)
        return longest

    def _evicted(self, state: RunState) -> None:
        if state.attended:
            return
        with self.guard.stage("evict"):  # another thread may still hold the run
            report = report_of(state)
            self._listeners.tell(lambda listener: listener.on_evicted(report))

    def _create(self, run_id: str) -> RunState:
        options = self.options
        history = History(max_classes=options.memory.classes_per_run)
        return RunState(run_id=run_id, agent="", thresholds=options.thresholds, mode=options.mode, history=history)

    def _classify(self, raw: RawError) -> Classified:
        """Classify a raw error; should that fail, thresholds must still count it, or a loop would never end."""
        found: Classified | None = None
        with self._classifying:
            found = classify(raw)
            if self._model is not None:
                found = self._model.refine(raw, found)
        return found or _unclassified(raw)

    def _kind_of(self, raw: RawError, found: Classified) -> FailureKind:
        """Return the kind of a failure; should that fail, the failure is executed and permanent, as most are."""
        with self._classifying:
            return kind_of(raw, found.facts)
        return FailureKind()

    def _record(
        self,
        state: RunState,
        raw: RawError,
        found: Classified,
        kind: FailureKind,
        started: int,
        counted: Counted | None,
    ) -> tuple[Observation, AnsweredEscalation | None]:
        stopped = state.breach is not None
        known = state.history.get(found.key) is not None
        if counted is not None:
            tick, call, hint = counted.tick, counted.call, counted.hint
        else:
            tick, hint = self.tick(), None
            call = _fingerprint(raw.tool, raw.arguments, raw.directory) if raw.boundary else ""
        if hint is None:
            hint = "" if known else hint_for(found.facts)
        agent = raw.agent or state.agent
        state.agent = state.agent or raw.agent
        recorded = state.history.record(
            raw,
            found,
            kind=kind,
            agent=agent,
            call=call,
            hint=hint,
            tick=tick,
        )
        error_class = recorded.error_class
        after = stopped or error_class.unlifted
        self._keep(state, found.key, raw.text)
        repeated = state.history.repeats.find(agent, call) if call else None
        rows = Rows(
            rejected=error_class.kind.rejected, streak=recorded.attempts, repeated=repeated, history=state.history
        )
        decision = decide(rows, state.thresholds, may_escalate=state.may_escalate(raw.began or tick))
        counts = rows.counts
        escalation, answered = self._escalate(state, error_class, rows, decision, tick, raw.span)
        standing = rendering.Standing(
            decision=decision,
            streak=recorded.attempts.count,
            repeats=repeated.attempts.count if repeated is not None else 0,
            action=answered.action if answered is not None else None,
            loop_halt=state.loop_halt,
            rejected=error_class.kind.rejected,
            transient=error_class.kind.transient,
        )
        text = self._text(state, raw, error_class, standing)
        raw_tokens, digest_tokens = self._count_tokens(raw.text), self._count_tokens(text)
        state.raw_tokens += raw_tokens
        state.digest_tokens += digest_tokens
        state.after_escalation += after
        observation = Observation(
            run_id=state.run_id,
            agent=agent,
            raw=raw,
            found=found,
            outcome="after_escalation" if after else "repeat" if error_class.count > 1 else "new",
            count=error_class.count,
            streak=recorded.attempts.count,
            kind=error_class.kind,
            counts=counts,
            taken_back=recorded.taken_back,
            text=text,
            raw_tokens=raw_tokens,
            digest_tokens=digest_tokens,
            tick=tick,
            call=call,
            hint=error_class.hint,
            escalation=escalation,
            duration_ns=self._timer() - started,
        )
        return observation, answered

    def _text(self, state: RunState, raw: RawError, error_class: ErrorClass, standing: rendering.Standing) -> str:
        """Return what the agent reads; where the library only observes that is the raw error."""
        if state.mode == "observe":
            return raw.text
        return rendering.inline(
            raw,
            error_class,
            state.history,
            standing,
            options=self.options.digest,
            count_tokens=self._count_tokens,
        )

    def _refused_call(
        self, state: RunState, tool: str, arguments: str, agent: str, directory: str, now_ns: int, call: str = ""
    ) -> tuple[RepeatedCall, ErrorClass] | None:
        """Return the call that is refused, and the class it has failed with; None if it may be made."""
        # A fingerprint costs more than all else of a healthy call.
        if not state.history.repeats or state.mode == "observe" or not state.attended:
            return None
        call = call or _fingerprint(tool, arguments, directory)
        repeated = state.history.repeats.find(agent or state.agent, call) if call else None
        if repeated is None or not repeated.is_refused(state.thresholds.refuse, now_ns):
            return None
        error_class = state.history.get(repeated.key)
        return None if error_class is None else (repeated, error_class)

    def _refusal_text(
        self, state: RunState, repeated: RepeatedCall, error_class: ErrorClass, *, attempt: int = 0
    ) -> str:
        """Return why a call is refused; `attempt` is 1 where this attempt is not counted yet."""
        attempts = repeated.attempts.count + attempt
        return rendering.refusal(
            error_class,
            repeated.failed,
            attempts,
            loop_halt=state.loop_halt,
            reported=attempts >= state.thresholds.loop and not state.asks,
            options=self.options.digest,
        )

    def _keep(self, state: RunState, key: str, text: str) -> None:
        """Remember the newest raw error of a class, within the limits of one text and of one run."""
        limits = self.options.memory
        if len(text) > limits.raw_text_characters:
            half = limits.raw_text_characters // 2
            gone = len(text) - 2 * half
            text = f"{text[:half]}\n... {gone} characters cut; the trajectory keeps them ...\n{text[-half:]}"
        state.raw_characters += len(text) - len(state.raw_texts.pop(key, ""))
        state.raw_texts[key] = text
        while state.raw_characters > limits.raw_characters or len(state.raw_texts) > limits.classes_per_run:
            _, oldest = state.raw_texts.popitem(last=False)
            state.raw_characters -= len(oldest)

    def _escalate(
        self,
        state: RunState,
        error_class: ErrorClass,
        rows: Rows,
        decision: Decision,
        tick: int,
        span: SpanRef | None = None,
    ) -> tuple[Escalation | None, AnsweredEscalation | None]:
        """Raise the escalation that a decision calls for, and answer it at once where no handler is to be asked."""
        if decision.level != "escalate" or state.breach is not None:
            return None, None
        mark_escalated(rows, decision)
        state.escalated_at = tick
        if decision.threshold in ASKING:
            error_class.escalated = error_class.unlifted = True
        facts = error_class.facts
        state.breach = Escalation(
            run_id=state.run_id,
            agent=state.agent,
            threshold=decision.threshold,
            count=decision.count,
            limit=decision.limit,
            halts=decision.halts,
            key=error_class.key,
            type=facts.type,
            location=str(facts.location),
            cause=facts.cause,
            tool=error_class.tool,
            digest=self._block(state),
            time_ns=error_class.last_seen_ns,
            tick=tick,
            span=span,
        )
        breach = state.breach
        if state.asks_at(decision.threshold, halts=decision.halts):
            return breach, None
        if decision.halts and state.can_halt:
            return breach, self._answer(state, "halt", NO_HANDLER, tick)
        return breach, self._answer(state, "unhandled", "", tick)

    def _answer(self, state: RunState, action: ActionName, message: str, tick: int = 0) -> AnsweredEscalation | None:
        if state.breach is None or (state.answer is not None and state.answer.action == action):
            return None
        tick = tick or self.tick()
        answered = AnsweredEscalation(escalation=state.breach, action=action, message=message, tick=tick)
        state.answered.append(answered)
        state.answer = answered
        if action == "continue":
            let_go_on(state, message)
        elif action == "unhandled":
            state.breach = state.answer = None
        return answered

    def _digest(self, state: RunState) -> str:
        return "" if state.mode == "observe" else self._block(state)

    def _block(self, state: RunState) -> str:
        return rendering.block(
            state.history,
            options=self.options.digest,
            escalation=state.breach,
            unhandled=unhandled_in(state),
            guidance=state.guidance,
            count_tokens=self._count_tokens,
        )

    def _begin(self, state: RunState, raw: RawError) -> BegunRun | None:
        """Return what there is to tell of a run at its first failure."""
        if state.begun:
            return None
        state.begun = True
        return _begun(state, self.tick(), agent=state.agent or raw.agent, time_ns=raw.time_ns)

    def _tell_begun(self, begun: BegunRun | None) -> None:
        if begun is not None:
            self._listeners.tell(lambda listener: listener.on_begin(begun))

    def _tell_taken_back(self, observation: Observation) -> None:
        with self.store.find(observation.run_id) as state:
            found = state.history.get(observation.found.key) if state is not None else None
        if found is not None:
            run_id, agent, tool = observation.run_id, observation.agent, observation.raw.tool
            self._listeners.tell(lambda listener: listener.on_taken_back(run_id, agent, tool, found))

    def _tell_escalated(self, escalation: Escalation | None, answered: AnsweredEscalation | None) -> None:
        if escalation is not None:
            self._listeners.tell(lambda listener: listener.on_escalated(escalation))
        self._tell_answered(answered)

    def _tell_answered(self, answered: AnsweredEscalation | None) -> None:
        if answered is not None:
            self._listeners.tell(lambda listener: listener.on_answered(answered))


def _begun(state: RunState, tick: int, *, agent: str = "", time_ns: int = 0) -> BegunRun:
    return BegunRun(
        run_id=state.run_id,
        agent=agent or state.agent,
        thresholds=state.thresholds,
        mode=state.mode,
        asks=state.asks,
        attended=state.attended,
        stoppable=state.stoppable,
        tick=tick,
        time_ns=time_ns,
    )


def _unclassified(raw: RawError) -> Classified:
    """The class of what our own fault kept from being classified: its type and tool are all that is known."""
    key = blake2b(f"unclassified\x1f{raw.type}\x1f{raw.tool}".encode("utf-8", "replace"), digest_size=8).hexdigest()
    facts = Facts(type=raw.type or "Error", cause="could not be classified", format="unclassified")
    return Classified(facts=facts, key=key, template=facts.cause)


def _fingerprint(tool: str, arguments: str, directory: str) -> str:
    """The identity of a call; empty where the arguments are unknown, since then no two calls are surely identical."""
    return call_fingerprint(tool, arguments, directory) if arguments else ""
