"""What each event changes in a run, the first time and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact import late
from otel_errcompact.engine.counting import FailureCounter
from otel_errcompact.engine.events import (
    Began,
    Changed,
    Event,
    Failed,
    Handled,
    Opened,
    Refused,
    Repeated,
    Resolved,
    Resumed,
    Settled,
    Succeeded,
)
from otel_errcompact.engine.ladder import Ladder
from otel_errcompact.engine.refusals import find_refused
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.config import Options
    from otel_errcompact.engine.pipeline import Pipeline
    from otel_errcompact.engine.state import RunState

    Effects = tuple[Any, ...]
    """What has come of an event, for listeners and for the caller: empty where nothing has."""


class Rules:
    """
    Applies events to the state of their run.

    A shared store that has missed an event applies it again.

    Args:
        options: All options.
        pipeline: Classifies, records and renders.
        create: Returns the state of a run in which nothing has happened.
        timer: Nanoseconds for measuring our own cost.
    """

    def __init__(
        self, options: Options, pipeline: Pipeline, *, create: Callable[[str], RunState], timer: Callable[[], int]
    ) -> None:
        self._digest = options.digest
        self._ladder = Ladder(pipeline)
        self.counter: Final = FailureCounter(pipeline, self._ladder, options.memory, create=create, timer=timer)
        self._of: Final[Mapping[type[Event], Callable[[RunState, Any, int], Effects]]] = {
            Opened: _open_run,
            Began: _restore_run,
            Changed: _restore_run,
            Failed: self.counter.count,
            Handled: _count_handled,
            Succeeded: _count_success,
            Repeated: _count_repeated,
            Refused: self._count_refusal,
            Settled: self._settle_escalation,
            Resumed: self._resume_run,
        }

    def apply(self, state: RunState, event: Event, tick: int) -> Effects:
        """
        Change a run by an event; return what has come of it.

        The run is locked.

        Args:
            state: The run.
            event: What has happened.
            tick: When it is recorded.
        """
        return self._of[type(event)](state, event, tick)

    def _count_refusal(self, state: RunState, event: Refused, tick: int) -> Effects:
        refused = find_refused(state, event)
        return () if refused is None else refused.count(state, self._ladder, self._digest, tick)

    def _settle_escalation(self, state: RunState, event: Settled, tick: int) -> Effects:
        if event.action is None:
            answered = self._ladder.answer_by_default(state, event.message, tick)
        else:
            answered = self._ladder.answer(state, event.action, event.message, tick)
        return () if answered is None else (answered,)

    def _resume_run(self, state: RunState, event: Resumed, tick: int) -> Effects:
        if (answered := self._ladder.answer(state, "continue", event.message, tick)) is not None:
            return (answered,)
        state.resume(event.message)
        return (replace(event, agent=state.agent, tick=tick),) if state.begun else ()


def _open_run(state: RunState, event: Opened, tick: int) -> Effects:
    # One process that can stop the agent is enough, whichever others open the run.
    state.stoppable = event.stoppable or (state.attended and state.stoppable)
    state.attended = True
    state.agent = event.agent or state.agent
    state.thresholds = event.thresholds or state.thresholds
    state.mode = event.mode or state.mode
    state.join(asks=event.asks)
    return (state.settings(tick, kind=Changed),) if state.begun else ()


def _restore_run(state: RunState, event: Began, tick: int) -> Effects:  # noqa: ARG001 - as all of them
    for name in ("agent", "thresholds", "mode", "asks", "attended", "stoppable"):
        setattr(state, name, getattr(event, name))
    return ()


def _count_handled(state: RunState, event: Handled, tick: int) -> Effects:  # noqa: ARG001 - as above
    state.handled += 1
    return (event if event.agent else replace(event, agent=state.agent),)


def _count_repeated(state: RunState, event: Repeated, tick: int) -> Effects:  # noqa: ARG001 - as above
    state.repeats += 1
    return (event if event.agent or not state.agent else replace(event, agent=state.agent),)


def _count_success(state: RunState, event: Succeeded, tick: int) -> Effects:
    history = state.history
    if not history.total:
        return ()
    agent, began = event.agent or state.agent, event.began or history.tick
    call = event.call
    if not call and history.knows(event.operation):  # a success of anything else ends no streak
        call = late.call_fingerprint(event.tool, event.arguments, event.directory)
    classes = history.succeed(event.operation, agent=agent, call=call, began=began)
    succeeded = replace(event, agent=agent, began=began, tick=tick, call=call)
    if not classes:
        return (succeeded,)
    return succeeded, Resolved(run_id=event.run_id, agent=agent, tool=event.tool, classes=classes)
