"""Analysis of one recorded run, by the live pipeline's rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.lab.analysis.counts import Counts
from otel_errcompact.lab.analysis.recommendation import recommend_for_run
from otel_errcompact.lab.analysis.refusals import Refusals, Retries
from otel_errcompact.lab.analysis.repetition import Repetition
from otel_errcompact.lab.analysis.stops import Breaches
from otel_errcompact.lab.analysis.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact.escalator.thresholds import Threshold
    from otel_errcompact.lab.analysis.recommendation import Recommendation
    from otel_errcompact.lab.analysis.stops import Reached, Stop
    from otel_errcompact.lab.transcripts import RecordedCall, RecordedRun


@dataclass(frozen=True, slots=True, kw_only=True)
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

    counts: Counts
    longest_streak: int
    """The most failures of one class without a success of its operation between."""

    longest_row: int
    """The most failures in a row, of any class, without any success between."""

    silent_signs: Mapping[str, int]
    """What gave the silent failures away, and how many of them."""

    unflagged_signs: Mapping[str, int]
    """The same of failures that the record does not flag either way."""

    stops: tuple[Stop, ...]
    """What the thresholds would have stopped; that with the lowest number of the call is the one that would have."""

    reached: Mapping[Threshold, tuple[Reached, ...]]
    """For each threshold where its values 1, 2, 3 and so on were reached."""

    refusals: Refusals
    """What the refusal of identical calls would have done."""

    recommendation: Recommendation

    @property
    def stop(self) -> Stop | None:
        """The stop that comes first; None if no threshold was reached."""
        return min(self.stops, key=lambda stop: stop.call, default=None)

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "run_id": self.run_id,
            "agent": self.agent,
            "source": self.source,
            "outcome": self.outcome,
            "succeeded": self.succeeded,
            **self.counts.to_json(),
            "longest_streak": self.longest_streak,
            "longest_row": self.longest_row,
            "silent_signs": signs_to_json(self.silent_signs),
            "unflagged_signs": signs_to_json(self.unflagged_signs),
            "stops": [stop.to_json() for stop in self.stops],
            "refusals": self.refusals.to_json(),
            "verdict": self.recommendation.to_json(),
        }


class Analyzer:
    """
    Analyzes recorded runs with the live pipeline's own ledger.

    Args:
        options: All options, of which thresholds and digests matter; the defaults if None.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()
        self._ledger = Ledger(self._options)

    def analyze(self, run: RecordedRun) -> RunAnalysis:
        """
        Return the errors of a run in numbers.

        No threshold stops it and no answer resets its counters.
        """
        reading = _Reading(run=run, ledger=self._ledger, options=self._options)
        reading.read()
        return reading.result()


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One run while it is read."""

    run: RecordedRun
    ledger: Ledger
    options: Options
    counts: Counts = field(default_factory=Counts)
    breaches: Breaches = field(default_factory=Breaches)
    repetition: Repetition = field(default_factory=Repetition)
    retries: Retries = field(default_factory=Retries)
    silent_signs: Counter[str] = field(default_factory=Counter[str])
    unflagged_signs: Counter[str] = field(default_factory=Counter[str])
    digests: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])
    """Of each failure, the number of its call and the tokens its digest saves."""

    def read(self) -> None:
        run_id = self.run.run_id
        self.ledger.open(run_id, agent=self.run.agent, stoppable=False)
        number = 0
        for _, calls in groupby(zip(self.run.turns(), self.run.calls, strict=True), key=lambda turn: turn[0]):
            began = self.ledger.next_tick()
            # Whether a call may be made was decided when the model asked for it, before any outcome of its turn.
            asked = [(call, self._retry(call)) for _, call in calls]
            for call, retry in asked:
                number += 1
                self._take(call, number, began, retry)
        self.ledger.end(run_id)
        self.counts.calls = len(self.run.calls)
        self.counts.result_tokens = self.run.result_tokens
        self.counts.context_tokens = self.run.context_tokens

    def result(self) -> RunAnalysis:
        run, turns = self.run, Turns(self.run)
        self.counts.input_tokens = turns.input_tokens
        self.counts.input_tokens_saved = sum(saved * turns.later(number) for number, saved in self.digests)
        reached = self.breaches.list_reached(turns)
        return RunAnalysis(
            run_id=run.run_id,
            agent=run.agent,
            source=run.source,
            outcome=run.outcome,
            succeeded=run.succeeded,
            counts=replace(self.counts),
            longest_streak=self.breaches.longest_streak,
            longest_row=len(self.breaches.calls["consecutive"]),
            silent_signs=dict(self.silent_signs),
            unflagged_signs=dict(self.unflagged_signs),
            stops=tuple(self.breaches.stops(turns)),
            reached=reached,
            refusals=self.retries.sums,
            recommendation=recommend_for_run(self.counts),
        )

    def _retry(self, call: RecordedCall) -> _Retry:
        if not self.retries or not call.arguments:
            return _NO_RETRY
        before = self.retries.before(_identity(call))
        refused = before and self.ledger.refusal(
            self.run.run_id, call.tool, call.arguments, directory=call.directory, now_ns=call.start_ns
        )
        return _Retry(before, refused=bool(refused))

    def _take(self, call: RecordedCall, number: int, began: int, retry: _Retry) -> None:
        verdict = classify_result(
            call.result, tool=call.tool, arguments=call.arguments, flagged=call.flagged, exit_code=call.exit_code
        )
        if verdict.outcome == "failure":
            key = self._fail(call, verdict, number, began)
            if call.arguments:
                self.retries.record_failure(_identity(call), key, before=retry.before, refused=retry.refused)
        elif verdict.outcome == "ignored":
            self.counts.ignored += 1
        else:
            self._succeed(call, began)
            self.retries.record_success(before=retry.before, refused=retry.refused)

    def _succeed(self, call: RecordedCall, began: int) -> None:
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

    def _fail(self, call: RecordedCall, verdict: ResultVerdict, number: int, began: int) -> str:
        raw = build_raw_error(call, verdict, agent=self.run.agent, began=began)
        observation = self.ledger.observe(self.run.run_id, raw)
        counts, tokens = self.counts, estimate_tokens(call.result)
        counts.failures += 1
        counts.error_tokens += tokens
        counts.digest_tokens += observation.digest_tokens
        counts.classes += observation.count == 1
        counts.class_repeats += observation.count > 1
        if verdict.stated and _is_called_success(call):
            counts.silent += 1
            counts.silent_tokens += tokens
            self.silent_signs[verdict.stated] += 1
        elif verdict.stated:
            counts.unflagged += 1
            counts.unflagged_tokens += tokens
            self.unflagged_signs[verdict.stated] += 1
        self.digests.append((number, tokens - observation.digest_tokens))
        self.repetition.take(call.result, counts)
        self.breaches.fail(observation, number, self.options.thresholds)
        return observation.found.key


class _Retry(NamedTuple):
    """An identical call after a failure, and whether it is refused."""

    before: str = ""
    """The class that it has failed with; empty if it is none."""
    refused: bool = False


_NO_RETRY: Final = _Retry()


def _identity(call: RecordedCall) -> str:
    return call_fingerprint(call.tool, call.arguments, call.directory)


def _is_called_success(call: RecordedCall) -> bool:
    return call.flagged is False or call.exit_code == 0


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
