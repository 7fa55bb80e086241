"""Count every failure of this process, here and only here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from otel_errcompact import late
from otel_errcompact.engine.events import (
    Arrived,
    Ended,
    Event,
    Failed,
    Handled,
    Observation,
    Opened,
    Refused,
    Settled,
    Succeeded,
)
from otel_errcompact.engine.redacted import redact_operation, redact_target
from otel_errcompact.engine.refusals import find_refused
from otel_errcompact.engine.runs import Runs
from otel_errcompact.engine.state import EndedRun, RunState
from otel_errcompact.escalator.actions import Action, Continue, name_action

if TYPE_CHECKING:
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.engine.rules import Effects
    from otel_errcompact.errors import Operation, RawError
    from otel_errcompact.escalator.thresholds import Mode, Thresholds
    from otel_errcompact.history.history import ErrorClass


class Ledger(Runs):
    """Takes in what happens in runs: failures, successes, answers."""

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
        self.apply(Opened(run_id=run_id, agent=agent, thresholds=thresholds, mode=mode, asks=asks, stoppable=stoppable))

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
        state = self.store.discard(run_id, unless=partial(RunState.leave, failed=failed))
        if state is None:
            state = self._create(run_id)
            state.failed = failed
        told: Effects = ()
        if is_over := not state.members:
            told = self._begin_run(state)
            if state.answer is None:
                settled = Settled(run_id=run_id, action="unhandled", message="the run ended before it was answered")
                told += self._rules.apply(state, settled, self.next_tick())
        ended = EndedRun(report=state.report(), verdict=state.verdict(), digest=self._digest(state), raw=state.find_raw)
        for each in (*told, Ended(report=ended.report)) if is_over else ():
            self.listeners.notify(each)
        return ended

    def observe(self, run_id: str, raw: RawError, *, record: Failed | None = None, whole: bool = False) -> Observation:
        """
        Count one failure and return its observation.

        The audit sink gets the raw error first.

        Args:
            run_id: The run's id.
            raw: The failure.
            record: The failure as it was counted before.
            whole: Whether the text is for an agent that may have been shown nothing else of the run.
        """
        raw = self._receive_raw(run_id, raw)
        failed = record or self._rules.counter.prepare(run_id, raw, whole=whole)
        return cast("Observation", self._count_event(failed)[0])

    def _receive_raw(self, run_id: str, raw: RawError) -> RawError:
        if self.store.is_shared:  # first: listeners find a failure's record by its object
            raw = redact_target(raw)
        if self.listeners.want(Arrived):
            self.listeners.notify(Arrived(run_id=run_id, raw=raw))
        return raw

    def _count_event(self, event: Event) -> Effects:
        if self.store.is_held(event.run_id):
            # A signal handler or a finaliser, in the middle of this run's counts: counted when they are whole again.
            self._postponed.add(event)
            return self._rules.apply(self._create(event.run_id), event, self.next_tick())
        effects = self.apply(event)
        self._postponed.run()
        return effects

    def handled(self, run_id: str, raw: RawError) -> None:
        """
        Count a failure inside a call that succeeded in the end.

        Operators see it, the agent does not.
        """
        raw = self._receive_raw(run_id, raw)
        self.apply(Handled(run_id=run_id, agent=raw.agent, raw=raw, found=self._pipeline.classify(raw)))

    def succeed(
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
        """
        state = self.store.peek(run_id)
        if state is None or not state.history.total:
            return ()  # healthy runs pay for no lock and no operation
        operation = operation or late.operation_of(tool, arguments, target=target)
        effects = self._count_event(
            Succeeded(
                run_id=run_id,
                agent=agent or state.agent,
                tool=tool,
                operation=redact_operation(operation) if self.store.is_shared else operation,
                arguments=arguments,
                directory=directory,
                began=began,
            )
        )
        return effects[1].classes if len(effects) > 1 else ()

    def refuse(self, call: Refused) -> str:
        """
        Count the refusal of an identical call and return its reason.

        The text is empty if the call may be made; see `refusal`. It is no occurrence, but an attempt of the loop.
        """
        # Most calls have not failed: for these no run is locked.
        if find_refused(self.store.peek(call.run_id), call) is None:
            return ""
        effects = self.apply(call)
        return effects[0].text if effects else ""

    def answer(self, run_id: str, action: Action) -> None:
        """
        Settle the open escalation of a run; `Continue` gives fresh counters.

        Without an open escalation nothing happens.
        """
        message = action.message if isinstance(action, Continue) else action.reason
        self.apply(Settled(run_id=run_id, action=name_action(action), message=message))
