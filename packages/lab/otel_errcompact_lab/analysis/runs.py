"""Analysis of one recorded run, by the live pipeline's rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact_lab.analysis.counts import Counts, Refusals, Retries
from otel_errcompact_lab.analysis.recommendation import UNKNOWN, recommend_for_run
from otel_errcompact_lab.analysis.stops import Breaches, Turns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact.escalator.thresholds import Threshold
    from otel_errcompact_lab.analysis.recommendation import Recommendation
    from otel_errcompact_lab.analysis.stops import Reached, Stop
    from otel_errcompact_lab.transcripts import RecordedCall, RecordedRun


@dataclass(slots=True, kw_only=True)
class RunAnalysis:
    """The errors of one run in numbers."""

    run_id: str
    agent: str
    source: str
    """The file."""

    outcome: str
    """How the run ended in the record's words."""

    succeeded: bool | None
    """Whether it reached its goal; None if the record does not say."""

    counts: Counts = field(default_factory=Counts)
    longest_streak: int = 0
    """The most failures of one class without a success of its operation between."""

    longest_row: int = 0
    """The most failures in a row, of any class, without any success between."""

    silent_signs: Counter[str] = field(default_factory=Counter[str])
    """What gave the silent failures away, and how many of them."""

    unflagged_signs: Counter[str] = field(default_factory=Counter[str])
    """The same of failures that the record does not flag either way."""

    members: set[str] = field(default_factory=set[str])
    """The red tests, and other members of outputs, that failed in it."""

    stops: tuple[Stop, ...] = ()
    """What the thresholds would have stopped; that with the lowest number of the call is the one that would have."""

    reached: Mapping[Threshold, tuple[Reached, ...]] = field(default_factory=dict["Threshold", "tuple[Reached, ...]"])
    """For each threshold where its values 1, 2, 3 and so on were reached."""

    refusals: Refusals = field(default_factory=Refusals)
    """What the refusal of identical calls would have done."""

    recommendation: Recommendation = UNKNOWN

    @property
    def stop(self) -> Stop | None:
        """The stop that comes first; None if no threshold was reached."""
        return min(self.stops, key=lambda stop: stop.call, default=None)

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {
            **{name: getattr(self, name) for name in ("run_id", "agent", "source", "outcome", "succeeded")},
            **self.counts.to_json(),
            "longest_streak": self.longest_streak,
            "longest_row": self.longest_row,
            "silent_signs": signs_to_json(self.silent_signs),
            "unflagged_signs": signs_to_json(self.unflagged_signs),
            "members": sorted(self.members),
            "stops": [stop.to_json() for stop in self.stops],
            "refusals": self.refusals.to_json(),
            "verdict": self.recommendation.to_json(),
        }


class Analyzer:
    """Analyzes recorded runs with the live pipeline's own ledger."""

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()
        self._ledger = Ledger(self._options)

    def analyze(self, run: RecordedRun) -> RunAnalysis:
        """
        Return the errors of a run in numbers.

        No threshold stops it and no answer resets its counters.
        """
        found = RunAnalysis(
            run_id=run.run_id, agent=run.agent, source=run.source, outcome=run.outcome, succeeded=run.succeeded
        )
        _Reading(run=run, found=found, ledger=self._ledger, options=self._options).read()
        return found


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One run while it is read."""

    run: RecordedRun
    found: RunAnalysis
    ledger: Ledger
    options: Options
    breaches: Breaches = field(default_factory=Breaches)
    retries: Retries = field(default_factory=Retries)

    def read(self) -> None:
        run, found, run_id = self.run, self.found, self.run.run_id
        self.ledger.open(run_id, agent=self.run.agent, stoppable=False)
        number = 0
        for _, calls in groupby(zip(self.run.turns(), self.run.calls, strict=True), key=lambda turn: turn[0]):
            began = self.ledger.next_tick()
            # Whether a call may be made was decided when the model asked for it, before any outcome of its turn.
            asked = [(call, self._find_retry(call)) for _, call in calls]
            for call, retry in asked:
                number += 1
                self._take_call(call, number, began, retry)
        self.ledger.end(run_id)
        counts, turns = found.counts, Turns(run)
        counts.calls, counts.result_tokens, counts.context_tokens = (
            len(run.calls),
            run.result_tokens,
            run.context_tokens,
        )
        found.longest_streak, found.longest_row = self.breaches.longest_streak, len(self.breaches.calls["consecutive"])
        found.stops, found.reached = tuple(self.breaches.stops(turns)), self.breaches.list_reached(turns)
        found.refusals, found.recommendation = self.retries.sums, recommend_for_run(counts)

    def _find_retry(self, call: RecordedCall) -> _Retry:
        if not self.retries or not call.arguments:
            return _NO_RETRY
        before = self.retries.before(_identity_of_call(call))
        refused = before and self.ledger.refusal(
            Refused(
                run_id=self.run.run_id,
                tool=call.tool,
                arguments=call.arguments,
                directory=call.directory,
                time_ns=call.start_ns,
            )
        )
        return _Retry(before, refused=bool(refused))

    def _take_call(self, call: RecordedCall, number: int, began: int, retry: _Retry) -> None:
        verdict = classify_result(
            call.result, tool=call.tool, arguments=call.arguments, flagged=call.flagged, exit_code=call.exit_code
        )
        if verdict.outcome == "failure":
            key = self._take_failure(call, verdict, number, began)
            if call.arguments:
                self.retries.record_failure(_identity_of_call(call), key, before=retry.before, refused=retry.refused)
        elif verdict.outcome == "ignored":
            self.found.counts.ignored += 1
        else:
            self._take_success(call, began)
            self.retries.record_success(before=retry.before, refused=retry.refused)

    def _take_success(self, call: RecordedCall, began: int) -> None:
        # Before the first failure nothing can be resolved, and to find the operation is the most expensive step.
        if self.breaches.total:
            operation = operation_of(call.tool, call.arguments)
            self.ledger.succeed(
                self.run.run_id,
                call.tool,
                operation=operation,
                arguments=call.arguments,
                began=began,
                directory=call.directory,
            )

    def _take_failure(self, call: RecordedCall, verdict: ResultVerdict, number: int, began: int) -> str:
        raw = build_raw_error(call, verdict, agent=self.run.agent, began=began)
        observation = self.ledger.observe(self.run.run_id, raw)
        counts, tokens = self.found.counts, estimate_tokens(call.result)
        counts.failures += 1
        counts.error_tokens += tokens
        counts.digest_tokens += observation.digest_tokens
        counts.classes += observation.count == 1
        counts.class_repeats += observation.count > 1
        if verdict.stated and (call.flagged is False or call.exit_code == 0):
            counts.silent += 1
            counts.silent_tokens += tokens
            self.found.silent_signs[verdict.stated] += 1
        elif verdict.stated:
            counts.unflagged += 1
            counts.unflagged_tokens += tokens
            self.found.unflagged_signs[verdict.stated] += 1
        self.found.members.update(observation.found.facts.names)
        self.breaches.fail(observation, number, self.options.thresholds)
        return observation.found.key


class _Retry(NamedTuple):
    """An identical call after a failure, and whether it is refused."""

    before: str = ""
    """The class that it has failed with; empty if it is none."""
    refused: bool = False


_NO_RETRY: Final = _Retry()


def _identity_of_call(call: RecordedCall) -> str:
    return call_fingerprint(call.tool, call.arguments, call.directory)


def build_raw_error(call: RecordedCall, verdict: ResultVerdict, *, agent: str = "", began: int = 0) -> RawError:
    """Return the raw error of a recorded call that has failed."""
    text = call.result
    if not text.strip() and call.exit_code is not None:
        text = f"exit code {call.exit_code}"
    return RawError(
        text=text,
        message=text,
        exit_code=call.exit_code,
        stated=verdict.stated,
        tool=call.tool,
        operation=operation_of(call.tool, call.arguments),
        call_id=call.call_id,
        arguments=call.arguments,
        directory=call.directory,
        began=began,
        agent=agent,
        time_ns=call.end_ns,
    )


def signs_to_json(signs: Mapping[str, int]) -> list[dict[str, object]]:
    """Return what gave failures away, the most frequent first."""
    ordered = sorted(signs.items(), key=lambda item: (-item[1], item[0]))
    return [{"sign": sign, "failures": count} for sign, count in ordered]
