"""Read what single runs come to, for gauges that name them."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.otel.metrics.labels import Attributes

MAX_RUNS: Final = 50
"""Runs that one gauge shows."""

MAX_LIVE: Final = 200
"""The same with those that it only knows to live: a run that others push out is not over."""

MIN_STREAK: Final = 2


class Reading(NamedTuple):
    """What a gauge says of one run."""

    rank: float
    """Of too many runs those with the highest are shown."""

    value: float
    run_id: str
    agent: str
    tool: str = ""
    key: str = ""
    threshold: str = ""


class RunReadings:
    """
    Holds what the newest collection has read of all runs.

    Args:
        label: Returns the attributes of a reading.
    """

    def __init__(self, label: Callable[[Reading], Attributes]) -> None:
        self._label = label
        self._points: dict[str, list[tuple[Attributes, float | None]]] = {}
        self._labels: dict[tuple[object, ...], Attributes] = {}
        self._kept: dict[str, list[Reading]] = defaultdict(list)
        """Runs that have escalated, or ended, since the newest collection: most are gone by the next."""
        self._kept_before: dict[str, list[Reading]] = {}
        self.refused: dict[str, int] = {}  # when refusals have led to escalations, which have the time of the failure

    def read(self, states: Sequence[RunState]) -> None:
        """Read all runs, without their locks: one number of each."""
        kept = (self._kept_before, self._kept)
        self._kept_before, self._kept = self._kept, defaultdict(list)
        most = sorted(states, key=attrgetter("digest_tokens"), reverse=True)[:MAX_LIVE]
        failing = [state for state in states if state.history.total >= MIN_STREAK]  # most runs have nothing to show
        asking = [(state, self.refused.get(state.run_id, 0)) for state in states if state.escalation is not None]
        self.refused, now_ns = {state.run_id: refused for state, refused in asking if refused}, time.time_ns()
        live = {
            semconv.RUN_STREAK: map(_read_streak, failing),
            semconv.RUN_PENDING: (_read_wait(state, refused, now_ns) for state, refused in asking),
            semconv.RUN_TOKENS: (_read_tokens(state) for state in most if state.digest_tokens),
        }
        labels: dict[tuple[object, ...], Attributes] = {}
        points: dict[str, list[tuple[Attributes, float | None]]] = {}
        for name, readings in live.items():
            found = chain(*(each.get(name, ()) for each in kept), filter(None, readings))
            for place, reading in enumerate(heapq.nlargest(MAX_LIVE, found)):
                attributes = labels[reading[2:]] = self._labels.get(reading[2:]) or self._label(reading)
                points.setdefault(name, []).append((attributes, reading.value if place < MAX_RUNS else None))
        self._labels, self._points = labels, points  # at once: another provider may read them now

    def keep_escalated(self, escalation: Escalation) -> None:
        """Keep the id of an escalated run for the next two collections."""
        self._keep(semconv.RUN_STREAK, _read_escalation(escalation, 0))

    def keep_ended(self, report: RunReport) -> None:
        """Keep the tokens of an ended run for the next two collections."""
        if report.digest_tokens:
            self._keep(semconv.RUN_TOKENS, _read_tokens(report))

    def _keep(self, instrument: str, reading: Reading) -> None:
        kept = self._kept[instrument]
        (heapq.heappush if len(kept) < MAX_RUNS else heapq.heappushpop)(kept, reading)

    def points(self, instrument: str) -> Sequence[tuple[Attributes, float | None]]:
        """Return a gauge's values; None for a run that lives unseen."""
        return self._points.get(instrument, ())


def _read_escalation(escalation: Escalation, value: float) -> Reading:
    place = escalation.run_id, escalation.agent, escalation.tool, escalation.key, escalation.threshold
    return Reading(escalation.time_ns, value, *place)


def _read_wait(state: RunState, refused_ns: int, now_ns: int) -> Reading | None:
    escalation, answer = state.escalation, state.answer
    # A paused run waits for the same human: its handler has only said that there is no answer yet.
    if escalation is None or not escalation.time_ns or (answer is not None and answer.action != "pause"):
        return None
    return _read_escalation(escalation, max(0, now_ns - max(escalation.time_ns, refused_ns)) / 1e9)


def _read_tokens(run: RunState | RunReport) -> Reading:
    return Reading(run.digest_tokens, run.digest_tokens, run.run_id, run.agent)


def _read_streak(state: RunState) -> Reading | None:
    longest = max(state.history, key=attrgetter("streak"), default=None)
    if longest is None or longest.streak < MIN_STREAK:
        return None
    raised = (state.escalation, *(each.escalation for each in reversed(state.answered))) if longest.unlifted else ()
    threshold = next((each.threshold for each in raised if each is not None and each.key == longest.key), "")
    return Reading(state.history.tick, longest.streak, state.run_id, state.agent, longest.tool, longest.key, threshold)
