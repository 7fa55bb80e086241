"""Counting what the ledger tells of replayed runs."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_errcompact.escalation import Continue
from otel_errcompact.ledger import Listener
from otel_errcompact.operation import Operation
from otel_errcompact.replay.results import ReplayedEscalation, ReplayedRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.classify import Classified
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalation import Escalation
    from otel_errcompact.history import ErrorClass
    from otel_errcompact.ledger import Ledger, Observation


@dataclass(slots=True, kw_only=True)
class Tally:
    """
    The numbers of one run while it is played.
    """

    run_id: str
    agent: str
    source: str
    outcome: str = ""
    tool_calls: int = 0
    failures: int = 0
    detected: int = 0
    ignored: int = 0
    handled: int = 0
    raw_error_tokens: int = 0
    digest_tokens: int = 0
    result_tokens: int = 0
    context_tokens: int = 0
    streaks: dict[str, int] = field(default_factory=dict[str, int])
    """The longest streak of each class, in the order in which they were first seen."""

    escalations: list[ReplayedEscalation] = field(default_factory=list[ReplayedEscalation])
    carried: dict[str, dict[Operation, int]] = field(default_factory=dict[str, dict[Operation, int]])
    """Streaks by class and then operation that fresh counters have cut, though nothing has succeeded."""


class Tallies(Listener):
    """
    The numbers of all runs that are being played. Answers every escalation with `Continue`.

    Args:
        ledger: What tells of the runs.
    """

    stage = "replay"

    def __init__(self, ledger: Ledger) -> None:
        self.source = ""
        """The file that is being played."""
        self._ledger = ledger
        self._open: OrderedDict[str, Tally] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._open

    def open(self, run_id: str, *, agent: str = "", outcome: str = "") -> Tally:
        """Return the numbers of a run, which somebody attends from now on."""
        tally = self._open.get(run_id)
        if tally is None:
            tally = self._open[run_id] = Tally(run_id=run_id, agent=agent, source=self.source, outcome=outcome)
            self._ledger.open(run_id, agent=agent)
        self._open.move_to_end(run_id)
        return tally

    def close(self, run_id: str) -> ReplayedRun:
        """End a run and return what came of it."""
        tally = self._open.pop(run_id)
        report = self._ledger.end(run_id)
        return ReplayedRun(
            run_id=tally.run_id,
            agent=tally.agent or report.agent,
            source=tally.source,
            outcome=tally.outcome,
            result=report.result,
            tool_calls=tally.tool_calls,
            failures=tally.failures,
            detected=tally.detected,
            ignored=tally.ignored,
            handled=tally.handled,
            classes=len(tally.streaks),
            class_keys=tuple(tally.streaks),
            longest_streak=max(tally.streaks.values(), default=0),
            escalations=tuple(tally.escalations),
            raw_error_tokens=tally.raw_error_tokens,
            digest_tokens=tally.digest_tokens,
            result_tokens=tally.result_tokens,
            context_tokens=tally.context_tokens,
            streaks=tally.streaks,
            report=report,
        )

    def close_oldest(self) -> ReplayedRun:
        """End the run that was touched least recently."""
        return self.close(next(iter(self._open)))

    def on_raw(self, run_id: str, raw: RawError) -> None:
        """Attend a run that makes itself known by a failure."""
        self.open(run_id, agent=raw.agent)

    def on_observed(self, observation: Observation) -> None:
        """Count one occurrence."""
        tally = self.open(observation.run_id)
        tally.failures += 1
        tally.raw_error_tokens += observation.raw_tokens
        tally.digest_tokens += observation.digest_tokens
        key = observation.found.key
        if observation.count == 1:
            tally.carried.pop(key, None)  # the history had forgotten the class, and begins with it anew
        tally.streaks[key] = max(tally.streaks.get(key, 0), self._streak(tally, key))

    def on_succeeded(self, run_id: str, operation: Operation) -> None:
        """Forget what was carried over of the streaks that the success ends."""
        if (tally := self._open.get(run_id)) is not None:
            for streaks in tally.carried.values():
                for ended in [scope for scope in streaks if operation.covers(scope)]:
                    del streaks[ended]

    def on_handled(self, run_id: str, agent: str, raw: RawError, found: Classified) -> None:  # noqa: ARG002 - the listener's signature
        """Count a failure inside a call that in the end succeeded."""
        self.open(run_id).handled += 1

    def on_escalated(self, escalation: Escalation) -> None:
        """Note an escalation and let the run go on with fresh counters."""
        tally = self.open(escalation.run_id)
        tally.escalations.append(
            ReplayedEscalation(threshold=escalation.threshold, key=escalation.key, call=tally.tool_calls)
        )
        carried, tally.carried = tally.carried, {}
        for found in self._classes(escalation.run_id):
            before = carried.get(found.key, {})
            tally.carried[found.key] = {scope: before.get(scope, 0) + streak for scope, streak in found.streaks.items()}
        self._ledger.answer(escalation.run_id, Continue())

    def _streak(self, tally: Tally, key: str) -> int:
        carried = tally.carried.get(key, {})
        with self._ledger.store.find(tally.run_id) as state:
            found = state.history.get(key) if state is not None else None
            streaks = found.streaks if found is not None else {}
            return max((streak + carried.get(scope, 0) for scope, streak in streaks.items()), default=0)

    def _classes(self, run_id: str) -> Iterator[ErrorClass]:
        with self._ledger.store.find(run_id) as state:
            yield from state.history if state is not None else ()
