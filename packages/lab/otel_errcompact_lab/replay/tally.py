"""Numbers of replayed runs, counted from the ledger's events."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.engine.events import Arrived, Handled, Observation, Refused
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact_lab.replay.results import ReplayedEscalation, ReplayedRun

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact_lab.replay.results import OnCall

RAW_ERRORS_ALONE: Final = "only raw errors are recorded: recoveries, escalations and digests are unknown"
"""What a trajectory file without its `.runs.jsonl` lacks, as when it comes from a pipe."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """The numbers of one run while it is played."""

    run_id: str
    agent: str
    source: str
    outcome: str = ""
    raw_errors_alone: bool = False
    """Whether the record holds no successes and no end."""

    tool_calls: int = 0
    failures: int = 0
    stated: int = 0
    ignored: int = 0
    handled: int = 0
    refused: int = 0
    raw_error_tokens: int = 0
    digest_tokens: int = 0
    result_tokens: int = 0
    context_tokens: int = 0
    streaks: dict[str, int] = field(default_factory=dict[str, int])
    """The longest streak of each class, in the order in which they were first seen."""

    escalations: list[ReplayedEscalation] = field(default_factory=list[ReplayedEscalation])


class Tallies(Listener):
    """
    The numbers of all open runs; no escalation stops them.

    Args:
        ledger: The ledger that counts the runs.
        on_call: Takes each call of a record, before the ledger counts it.
    """

    stage = "replay"

    def __init__(self, ledger: Ledger, on_call: OnCall | None = None) -> None:
        self.source = ""
        """The file that is being played."""
        self.on_call = on_call
        self._ledger = ledger
        self._open: OrderedDict[str, Tally] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._open

    def open(self, run_id: str, *, agent: str = "", outcome: str = "") -> Tally:
        """Return the numbers of a run, which is open from now on."""
        tally = self._open.get(run_id)
        if tally is None:
            tally = self._open[run_id] = Tally(run_id=run_id, agent=agent, source=self.source, outcome=outcome)
            # A recorded run cannot be stopped: what would have stopped it is an escalation like all others.
            self._ledger.open(run_id, agent=agent, stoppable=False)
        self._open.move_to_end(run_id)
        return tally

    def attend(self, run_id: str, *, agent: str = "") -> Tally:
        """Return the numbers of a run with settings of its own."""
        tally = self._open[run_id] = Tally(run_id=run_id, agent=agent, source=self.source)
        return tally

    def close(self, run_id: str, *, failed: bool = False) -> ReplayedRun:
        """End a run and return what came of it."""
        tally = self._open.pop(run_id)
        report = self._ledger.end(run_id, failed=failed)
        if tally.raw_errors_alone:
            report = _without_claims(report)
        told: dict[str, Any] = {each.name: getattr(tally, each.name) for each in fields(tally)}
        told["agent"] = tally.agent or report.agent
        return ReplayedRun(
            **told,
            lacks=RAW_ERRORS_ALONE if tally.raw_errors_alone else "",
            result=report.result,
            classes=len(tally.streaks),
            class_keys=tuple(tally.streaks),
            longest_streak=max(tally.streaks.values(), default=0),
            report=report,
        )

    def close_oldest(self) -> ReplayedRun:
        """End the run that was touched least recently."""
        return self.close(next(iter(self._open)))

    def receivers(self) -> Receivers:
        """Return what counts each kind of event."""
        return {
            Arrived: self._attend_failing,
            Observation: self._count_observation,
            Handled: self._count_handled,
            Refused: self._count_refused,
            Escalation: self._note_escalation,
        }

    def _attend_failing(self, arrived: Arrived) -> None:
        self.open(arrived.run_id, agent=arrived.raw.agent)

    def _count_observation(self, observation: Observation) -> None:
        tally = self.open(observation.run_id)
        tally.failures += 1
        tally.raw_error_tokens += observation.raw_tokens
        tally.digest_tokens += observation.digest_tokens
        key = observation.found.key
        tally.streaks[key] = max(tally.streaks.get(key, 0), observation.streak)

    def _count_handled(self, handled: Handled) -> None:
        self.open(handled.run_id).handled += 1

    def _count_refused(self, refusal: Refused) -> None:
        self.open(refusal.run_id).refused += 1

    def _note_escalation(self, escalation: Escalation) -> None:
        tally = self.open(escalation.run_id)
        tally.escalations.append(
            ReplayedEscalation(
                threshold=escalation.threshold,
                limit=escalation.limit,
                halts=escalation.halts,
                key=escalation.key,
                call=tally.tool_calls,
                refused=tally.refused,
            )
        )


def _without_claims(report: RunReport) -> RunReport:
    classes = tuple(found.model_copy(update={"status": "UNKNOWN"}) for found in report.classes)
    return report.model_copy(update={"result": "unknown", "classes": classes})
