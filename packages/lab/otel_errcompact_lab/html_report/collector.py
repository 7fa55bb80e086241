"""The data of the page, collected from replayed runs in bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from otel_errcompact.engine.events import Handled, Observation, Refused, Resolved, Resumed
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from otel_errcompact.redaction.redact import redact
from otel_errcompact_lab.html_report.bounded import Best, Histogram, Room
from otel_errcompact_lab.html_report.class_summary import ClassSummary
from otel_errcompact_lab.html_report.model import (
    RESULTS,
    Axis,
    Breach,
    EscalationEntry,
    EscalationGroup,
    Place,
    RunEntry,
    TokenTotals,
    Totals,
)
from otel_errcompact_lab.html_report.time_line import TimeLineDraft
from otel_errcompact_lab.transcripts.run_builder import FIRST_NS

if TYPE_CHECKING:
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.engine.report import ClassReport, Result
    from otel_errcompact_lab.html_report.model import (
        RecordKind,
        Standing,
    )
    from otel_errcompact_lab.replay import PlayedCall, ReplayedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """The whole page."""

    totals: Totals
    tokens: TokenTotals
    axis: Axis | None
    """None where nothing has failed."""

    classes: tuple[ClassSummary, ...]
    """The most frequent first."""

    other_classes: int
    """Classes that have no row; a lower bound where `others_uncounted`."""

    other_failures: int
    others_uncounted: bool
    results: tuple[tuple[Result, int], ...]
    """How many runs with failures ended how, in the order of `RESULTS`."""

    escalations: tuple[EscalationGroup, ...]
    """The most frequent first."""

    more_escalations: int
    """Escalations of groups that are not on the page."""
    runs: tuple[RunEntry, ...]
    """Those with failures, the most first."""

    more_runs: int
    untimed: int
    """Occurrences without a time in the record."""

    other_keys: frozenset[str]
    """Classes that have no row, as far as they are known."""

    redacted: bool

    @property
    def anchors(self) -> frozenset[str]:
        """Names of the places that are on the page, for links."""
        classes = {f"c-{entry.key}" for entry in self.classes}
        examples = {example.name for entry in self.classes for example in entry.examples}
        runs = {f"r-{run.number}" for run in self.runs}
        steps = {f"r-{run.number}-{step.at}" for run in self.runs for step in run.time_line.steps()}
        return frozenset(classes | examples | runs | steps)


MAX_CLASSES: Final = 1_000
"""Rows of classes; of more, those with the most failures."""

MAX_RUNS: Final = 500
"""Rows of runs; of more, those with the most failures."""

MAX_KEYS_OF_RUN: Final = 100
MAX_ESCALATIONS: Final = 100
"""Groups of escalations that are on the page; of more, the most frequent."""

MAX_ESCALATIONS_OF_RUN: Final = 1_000
MAX_GROUPS: Final = 10_000
"""Groups that are counted; escalations of further ones are counted together."""

MAX_KEYS: Final = 200_000
"""Keys of classes without a row that are kept for their number."""

BINS: Final = 48
"""Bars of a sparkline."""

ROOM: Final = 16_000_000
"""Characters that raw errors may take of the rows of classes, as HTML."""

TIME_LINE_ROOM: Final = 16_000_000
"""Characters that time lines may take, about."""

MADE_UP_NS: Final = 86_400_000_000_000
"""A day: how far the made-up times of a record without any may be from `FIRST_NS`."""


class Collector(Listener):
    """
    Listens to a replay's ledger, and makes the page's data.

    Memory is bounded: rows, examples, places and characters have a maximum each, and the rest is counted.

    Args:
        raw: Whether raw errors are shown with their secrets.
    """

    stage = "page"

    def __init__(self, *, raw: bool = False) -> None:
        self._raw = raw
        self._source = ""
        self._kind: RecordKind = "calls"
        self._files: int = 0
        self._totals: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._longest = 0
        self._classes: dict[str, ClassSummary] = {}
        self._other_keys: set[str] = set()
        self._other_failures = 0
        self._room = ROOM
        self._numbers = count(1)
        self._time_lines = Room(TIME_LINE_ROOM)
        self._drafts: dict[str, tuple[int, TimeLineDraft]] = {}
        self._sizes: dict[int, int] = {}
        self._answers: dict[str, dict[tuple[str, str, int], AnsweredEscalation]] = {}
        """By what was reached and when."""
        self._runs: Best[RunEntry] = Best(MAX_RUNS)
        self._results: Counter[Result] = Counter()
        self._escalations: dict[Breach, EscalationGroup] = {}
        self._open_escalations: dict[str, list[tuple[Escalation, int]]] = {}
        self._times = Histogram()
        self._order = Histogram()
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._untimed = 0

    def begin(self, source: str, *, kind: RecordKind, more: bool = False) -> None:
        """Begin a file, or more of one."""
        self._source = source
        self._kind = kind
        self._files += not more

    def take_call(self, call: PlayedCall) -> None:
        """Keep a call, before it is counted."""
        self._draft(call.run_id)[1].add_call(call, _real(call.time_ns))

    def receivers(self) -> Receivers:
        """Return what keeps each kind of event."""
        return {
            Observation: self._keep_observation,
            Handled: self._keep_handled,
            Resolved: self._keep_resolved,
            Refused: self._keep_refused,
            Escalation: self._keep_escalation,
            AnsweredEscalation: self._keep_answer,
            Resumed: self._keep_resumed,
        }

    def _keep_observation(self, observation: Observation) -> None:
        at = self._totals["observed"]
        self._totals["observed"] += 1
        time_ns = _real(observation.raw.time_ns)
        self._mark(at, time_ns)
        summary = self._class_of(observation, at)
        summary.observe(observation, at=at, time_ns=time_ns)
        if self._kind != "raw" and observation.count == 1:
            summary.digest = summary.digest or observation.text
        number, draft = self._draft(observation.run_id)
        step = draft.step_of(observation.raw)
        place = Place(run_id=self._hide_secrets(observation.run_id), source=self._source, run=number, step=step)
        raw = observation.raw
        text = self._hide_secrets(raw.text or raw.message)
        took, example = summary.exemplify(raw, text, place, time_ns, self._room)
        self._room -= took
        draft.fail(observation, text, time_ns, example)
        if observation.taken_back:
            draft.note_classes("taken_back", (observation.found,))

    def _keep_handled(self, handled: Handled) -> None:
        self._draft(handled.run_id)[1].handle(handled.raw, handled.found, _real(handled.raw.time_ns))

    def _keep_resolved(self, resolved: Resolved) -> None:
        self._draft(resolved.run_id)[1].note_classes("resolved", resolved.classes)

    def _keep_refused(self, refusal: Refused) -> None:
        summary = self._classes.get(refusal.key)
        kind, cause = (summary.type, summary.cause) if summary is not None else ("", "")
        self._draft(refusal.run_id)[1].refuse(refusal, kind, cause)

    def _keep_answer(self, answered: AnsweredEscalation) -> None:
        if self._kind != "live":
            return
        breach = answered.escalation
        self._answers.setdefault(breach.run_id, {})[breach.threshold, breach.key, breach.tick] = answered
        self._draft(breach.run_id)[1].note_answer(answered)

    def _keep_resumed(self, resumed: Resumed) -> None:
        self._draft(resumed.run_id)[1].resume(resumed)

    def _keep_escalation(self, escalation: Escalation) -> None:
        # Until its run ends.
        draft = self._draft(escalation.run_id)[1]
        draft.note_escalation(escalation)
        kept = self._open_escalations.setdefault(escalation.run_id, [])
        if len(kept) < MAX_ESCALATIONS_OF_RUN:
            kept.append((escalation, draft.last))

    def take(self, run: ReplayedRun) -> None:
        """Keep what came of a run."""
        self._count(run)
        number, draft = self._draft(run.run_id)
        del self._drafts[run.run_id]
        place = Place(run_id=self._hide_secrets(run.run_id), source=run.source, run=number)
        fired = Counter(escalation.key for escalation in run.escalations)
        self._take_run(run, place, draft)
        self._take_escalations(run, place)
        for found in run.report.classes:
            if (summary := self._classes.get(found.key)) is not None:
                summary.end(found, self._standing(found, fired), replace(place, count=found.count), fired[found.key])
            if summary is not None and self._kind != "raw" and (length := run.streaks.get(found.key, 0)) > 1:
                summary.streak = max(summary.streak or 0, length)

    def page(self) -> PageData:
        """Return all that was kept."""
        self._prune(MAX_CLASSES)
        axis = self._axis()
        summaries = sorted(self._classes.values(), key=lambda summary: (-summary.count, summary.first_at))
        if axis is not None:
            for summary in summaries:
                summary.spread(axis, BINS)
        escalations = tuple(sorted(self._escalations.values(), key=lambda group: -group.count)[:MAX_ESCALATIONS])
        return PageData(
            totals=Totals(
                files=self._files, longest_streak=self._longest, **{name: self._totals[name] for name in _COUNTED}
            ),
            tokens=TokenTotals(**self._tokens),
            results=tuple((result, self._results[result]) for result in RESULTS if self._results[result]),
            axis=axis,
            classes=tuple(summaries),
            other_classes=len(self._other_keys),
            other_failures=self._other_failures,
            others_uncounted=len(self._other_keys) >= MAX_KEYS,
            escalations=escalations,
            more_escalations=self._totals["escalations"] - sum(group.count for group in escalations),
            runs=self._runs.entries(),
            more_runs=self._totals["runs_with_failures"] - len(self._runs),
            untimed=self._untimed,
            other_keys=frozenset(self._other_keys),
            redacted=not self._raw,
        )

    def _hide_secrets(self, text: str) -> str:
        return text if self._raw else redact(text)

    def _draft(self, run_id: str) -> tuple[int, TimeLineDraft]:
        if run_id not in self._drafts:
            draft = TimeLineDraft(self._time_lines, self._hide_secrets, supports_counts=self._kind != "raw")
            self._drafts[run_id] = next(self._numbers), draft
        return self._drafts[run_id]

    def _mark(self, at: int, time_ns: int | None) -> None:
        self._order.add(at)
        if time_ns is None:
            self._untimed += 1
            return
        self._times.add(time_ns)
        self._first_ns = time_ns if self._first_ns is None else min(self._first_ns, time_ns)
        self._last_ns = time_ns if self._last_ns is None else max(self._last_ns, time_ns)

    def _class_of(self, observation: Observation, at: int) -> ClassSummary:
        key = observation.found.key
        summary = self._classes.get(key)
        if summary is None:
            if len(self._classes) >= 2 * MAX_CLASSES:
                self._prune(MAX_CLASSES)
            summary = self._classes[key] = ClassSummary(observation, hide_secrets=self._hide_secrets, at=at)
        return summary

    def _prune(self, keep: int) -> None:
        # The rows of classes with the fewest failures go; the classes stay counted.
        if len(self._classes) <= keep:
            return
        by_count = sorted(self._classes.values(), key=lambda summary: (-summary.count, -summary.last_at))
        for summary in by_count[keep:]:
            del self._classes[summary.key]
            self._other_failures += summary.count
            self._room += summary.characters
            if len(self._other_keys) < MAX_KEYS:
                self._other_keys.add(summary.key)
        self._other_keys.difference_update(self._classes)

    def _standing(self, found: ClassReport, fired: Counter[str]) -> Standing:
        if self._kind == "raw":
            return "unknown"
        if found.status == "RECOVERED":
            return "resolved"
        return "escalated" if fired[found.key] else "unresolved"

    def _count(self, run: ReplayedRun) -> None:
        counts = {name: getattr(run, name) for name in ("failures", "stated", "handled", "ignored")}
        self._totals.update(counts, runs=1, runs_with_failures=run.failures > 0)
        self._tokens.update(raw=run.raw_error_tokens)
        if run.failures:
            self._results["unknown" if self._kind == "raw" else run.result] += 1
        if self._kind == "raw":
            self._totals["failures_only_runs"] += 1
            return
        self._longest = max(self._longest, run.longest_streak)
        self._totals.update(tool_calls=run.tool_calls, refused=run.refused, escalations=len(run.escalations))
        if self._kind == "live":
            self._totals.update(live_runs=1, after_escalation=run.report.after_escalation)
            sent, digests = run.report.sent_tokens, run.digest_tokens
            self._tokens.update(live_raw=run.raw_error_tokens, live_sent=sent, live_digests=digests)
            return
        self._tokens.update(
            whole_raw=run.raw_error_tokens,
            whole_digests=run.digest_tokens,
            results=run.result_tokens,
            context=run.context_tokens,
        )

    def _take_run(self, run: ReplayedRun, place: Place, draft: TimeLineDraft) -> None:
        if not run.failures:
            self._time_lines.left += draft.size
            return
        entry = RunEntry(
            number=place.run,
            run_id=place.run_id,
            agent=self._hide_secrets(run.agent),
            source=run.source,
            outcome="" if run.lacks else self._hide_secrets(run.outcome),
            lacks=run.lacks,
            kind=self._kind,
            result="unknown" if self._kind == "raw" else run.result,
            tool_calls=run.tool_calls,
            refused=run.refused,
            failures=run.failures,
            classes=run.classes,
            streak=run.longest_streak,
            escalations=len(run.escalations),
            raw_tokens=run.raw_error_tokens,
            digest_tokens=run.digest_tokens,
            context_tokens=run.context_tokens if self._kind == "calls" else 0,
            keys=tuple((found.key, found.count) for found in run.report.classes[:MAX_KEYS_OF_RUN]),
            time_line=draft.finish(),
        )
        if (lost := self._runs.add(entry, run.failures)) is not None:
            self._time_lines.left += self._sizes.pop(lost.number, draft.size)
        if lost is not entry:
            self._sizes[entry.number] = draft.size

    def _take_escalations(self, run: ReplayedRun, place: Place) -> None:
        kept = self._open_escalations.pop(run.run_id, [])
        answers = self._answers.pop(run.run_id, {})
        for (escalation, step), replayed in zip(kept, run.escalations, strict=False):
            answered = answers.get((escalation.threshold, escalation.key, escalation.tick))
            entry = EscalationEntry(
                tool=self._hide_secrets(escalation.tool),
                call=replayed.call,
                refused=replayed.refused,
                message=self._hide_secrets(answered.message) if answered is not None else "",
                place=replace(place, step=step),
            )
            breach = self._breach(escalation, answered)
            if breach in self._escalations or len(self._escalations) < MAX_GROUPS:
                self._escalations.setdefault(breach, EscalationGroup(breach)).add(entry)

    def _breach(self, escalation: Escalation, answered: AnsweredEscalation | None) -> Breach:
        # One name for the class over all runs: its causes differ in what the template masks.
        known = self._classes.get(escalation.key)
        return Breach(
            threshold=escalation.threshold,
            count=escalation.count,
            limit=escalation.limit,
            key=escalation.key,
            type=known.type if known is not None else self._hide_secrets(escalation.type),
            cause=known.cause if known is not None else escalation.cause,
            halts=escalation.halts,
            live=self._kind == "live",
            action=answered.action if answered is not None else None,
        )

    def _axis(self) -> Axis | None:
        observed = self._totals["observed"]
        if not observed:
            return None
        if self._untimed or self._first_ns is None or self._last_ns is None:
            return Axis(first=0, last=observed - 1, timed=False, bins=self._order.bins(0, observed - 1, 2 * BINS))
        bins = self._times.bins(self._first_ns, self._last_ns, 2 * BINS)
        return Axis(first=self._first_ns, last=self._last_ns, timed=True, bins=bins)


_COUNTED: Final = (
    *("runs", "runs_with_failures", "failures_only_runs", "live_runs", "tool_calls", "refused"),
    *("failures", "stated", "handled", "ignored", "escalations", "after_escalation"),
)


def _real(time_ns: int) -> int | None:
    # None where the time was made up, because the record has none.
    return time_ns if time_ns and not FIRST_NS <= time_ns < FIRST_NS + MADE_UP_NS else None
