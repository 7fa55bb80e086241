"""The instruments: the ledger's events become metrics, and escalations become log records."""

from __future__ import annotations

import logging
import operator
import weakref
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from opentelemetry import metrics
from opentelemetry._logs import SeverityNumber

from otel_errcompact.digest import one_line
from otel_errcompact.engine.events import Ended, Handled, Observation, Refused, Repeated, Resolved
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import Location
from otel_errcompact.escalator.escalation import AnsweredEscalation
from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs import records
from otel_errcompact.otel.metrics.labels import Attributes, Cell, Labels, Series, shorten_place
from otel_errcompact.otel.providers import is_placeholder
from otel_errcompact.otel.sdk import forget_counts
from otel_errcompact.otel.spans.context import context_of
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.config import TelemetryOptions
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.errors import RawError, SpanRef

MAX_TOOLS: Final = 100
MAX_AGENTS: Final = 50
MAX_TYPES: Final = 200
MAX_MEMBERS: Final = 500
MAX_SERIES: Final = 1_800
"""Attribute sets of one counter; the SDK folds those beyond 2000 into one point without attributes."""

MAX_WAITING: Final = 500
"""Series whose counts wait for the SDK to collect; of more, the oldest is handed over at once."""

MAX_DURATIONS: Final = 250
"""Durations that wait for the SDK to collect, the newest: the SDK takes each by itself."""

MAX_INFO: Final = 300
"""Characters of a location or template in `errcompact.class.info`."""

CLASS_LABEL_OVERFLOW: Final = "class_label_overflow"
LABEL_OVERFLOW: Final = "label_overflow"
RUN_EVICTED: Final = "run_evicted"

DURATION_BUCKETS: Final = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1.0)
"""Seconds. The SDK's own buckets begin at 5, where our own cost must never be."""

_COUNTERS: Final = (
    (semconv.ERRORS, "{error}", "Occurrences of failures, by error class."),
    (semconv.ESCALATIONS, "{escalation}", "Thresholds that were reached, by what was done about it."),
    (semconv.RESOLUTIONS, "{error}", "Error classes whose operation has succeeded again, or proved not to have."),
    (semconv.REFUSALS, "{call}", "Identical calls that were not executed again."),
    (semconv.REPEATS, "{call}", "Identical calls that succeeded again, in a row, with the same result."),
    (semconv.MEMBERS, "{error}", "Failures of what has a name of its own inside one output: tests, targets."),
    (semconv.RUNS, "{run}", "Agent runs, by how they ended."),
)

_logger = logging.getLogger(semconv.SCOPE)


class Telemetry(Listener):
    """
    Reports the ledger's events: metrics, and a log record per answered escalation.

    Args:
        meter_provider: Where the instruments are made. While it is the API's placeholder for a provider that the
            application may set later, measurements wait for that.
        ledger: The ledger; add the telemetry to its listeners.
        options: How many error classes get a label of their own; the ledger's options if None.
        logger_provider: Where log records go; the global one if None.
    """

    stage = "instruments"

    def __init__(
        self,
        meter_provider: MeterProvider,
        ledger: Ledger,
        options: TelemetryOptions | None = None,
        *,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        options = options or ledger.options.telemetry
        self._ledger = ledger
        self._classes = Labels(options.class_labels)
        self._tools = Labels(MAX_TOOLS)
        self._agents = Labels(MAX_AGENTS)
        self._members = Labels(MAX_MEMBERS)
        self._types = Labels(MAX_TYPES, other=semconv.OTHER_TYPE)
        self._series: dict[tuple[str, ...], Cell] = {}
        self._streak_series: dict[tuple[str, ...], Cell] = {}
        self._errors = Series(semconv.ERRORS, MAX_SERIES, semconv.OUTCOME, semconv.CERTAINTY)
        self._escalations = Series(semconv.ESCALATIONS, MAX_SERIES, semconv.THRESHOLD, semconv.ACTION)
        self._resolutions = Series(semconv.RESOLUTIONS, MAX_SERIES, semconv.RESOLUTION)
        self._refusals = Series(semconv.REFUSALS, MAX_SERIES)
        self._repeats = Series(semconv.REPEATS, MAX_SERIES)
        self._failed_members = Series(semconv.MEMBERS, MAX_SERIES)
        self._runs = Series(semconv.RUNS, MAX_SERIES, semconv.RESULT)
        self._streaks = Series(semconv.STREAK, MAX_SERIES)
        self._info: dict[str, tuple[Attributes, Location, str]] = {}
        self._waiting: deque[Cell] = deque()
        """The cells that have counted something, the oldest first."""
        self._durations: deque[tuple[int, SpanRef | None]] = deque(maxlen=MAX_DURATIONS)
        self._lock = ReentrantLock()
        self._tokens = {semconv.FORM_RAW: 0, semconv.FORM_SENT: 0, semconv.FORM_DIGEST: 0}
        self._meter_provider = meter_provider
        self.logger_provider = logger_provider
        """Where log records go; the global one if None."""
        self._instruments: tuple[_Instruments, ...] = ()
        self._inherited: dict[str, int] = {}
        """What the library has counted of itself in the process that forked this one."""
        self._bind_instruments()
        reset_in_child(self._forget_counts)

    def close(self) -> None:
        """Stop reporting."""
        self.flush()
        self._leave_instruments()

    def receivers(self) -> Receivers:
        """Return what counts each kind of event."""
        return {
            Observation: self.count_observation,
            Handled: self._count_handled,
            Resolved: self._count_resolved,
            Refused: self._count_refused,
            Repeated: self._count_repeated,
            AnsweredEscalation: self._count_answered,
            Ended: self._count_ended,
        }

    def count_observation(self, observation: Observation) -> None:
        """Count one occurrence, with an exemplar that leads to its span."""
        raw = observation.raw
        cell = self._find_cell(raw, observation.found, observation.agent, observation.outcome)
        with self._lock:
            tokens = self._tokens
            tokens[semconv.FORM_RAW] += observation.raw_tokens
            tokens[semconv.FORM_SENT] += observation.sent_tokens
            tokens[semconv.FORM_DIGEST] += observation.digest_tokens
        self._durations.append((observation.duration_ns, raw.span))
        self._count_in_cell(cell, raw.span)
        if observation.taken_back:
            self._count_resolution(raw.tool, observation.found.key, semconv.TAKEN_BACK)
        for name in observation.found.facts.names:
            shown = shorten_place(Location(file=name)) if name[:1] == "/" else name
            attributes = {
                semconv.MEMBER: self._members.label(shown),
                semconv.GEN_AI_TOOL_NAME: self._tools.label(raw.tool),
            }
            self._count_in_cell(self._failed_members.admit(attributes), raw.span)

    def _count_handled(self, handled: Handled) -> None:
        self._count_in_cell(
            self._find_cell(handled.raw, handled.found, handled.agent, semconv.HANDLED), handled.raw.span
        )

    def _count_resolved(self, resolved: Resolved) -> None:
        for error_class in resolved.classes:
            self._count_resolution(resolved.tool, error_class.key, semconv.RESOLVED)

    def _count_refused(self, refusal: Refused) -> None:
        attributes = {
            semconv.CLASS: self._classes.find(refusal.key),
            semconv.GEN_AI_TOOL_NAME: self._tools.label(refusal.tool),
            semconv.GEN_AI_AGENT_NAME: self._agents.label(refusal.agent),
        }
        self._count_in_cell(self._refusals.admit(attributes))

    def _count_repeated(self, repeated: Repeated) -> None:
        attributes = {
            semconv.GEN_AI_TOOL_NAME: self._tools.label(repeated.tool),
            semconv.GEN_AI_AGENT_NAME: self._agents.label(repeated.agent),
        }
        self._count_in_cell(self._repeats.admit(attributes))

    def _count_answered(self, answered: AnsweredEscalation) -> None:
        attributes: Attributes = {
            semconv.THRESHOLD: answered.escalation.threshold,
            semconv.ACTION: answered.action,
            semconv.GEN_AI_AGENT_NAME: self._agents.label(answered.escalation.agent),
            semconv.CLASS: self._classes.find(answered.escalation.key),
        }
        self._count_in_cell(self._escalations.admit(attributes))
        self._log_escalation(answered)

    def _count_ended(self, ended: Ended) -> None:
        report = ended.report
        attributes = {semconv.RESULT: report.result, semconv.GEN_AI_AGENT_NAME: self._agents.label(report.agent)}
        self._count_in_cell(self._runs.admit(attributes))

    def _log_escalation(self, answered: AnsweredEscalation) -> None:
        # OpenTelemetry gets a record of its own only if no handler passes on the standard logger's.
        escalation = answered.escalation
        attributes = {
            semconv.RUN_ID: escalation.run_id,
            semconv.GEN_AI_AGENT_NAME: escalation.agent,
            semconv.GEN_AI_TOOL_NAME: escalation.tool,
            semconv.GEN_AI_TOOL_CALL_ARGUMENTS: escalation.arguments[:MAX_INFO],
            semconv.THRESHOLD: escalation.threshold,
            semconv.ACTION: answered.action,
            semconv.CLASS: escalation.key,
            semconv.ERROR_TYPE: escalation.type,
            semconv.LOCATION: escalation.location,
        }
        attributes = _drop_empty_values(attributes)
        severity = SeverityNumber.ERROR if answered.by_default else SeverityNumber.WARN
        text = f"{answered.action}: {escalation}"
        with records.grouped_by(escalation.key):
            extra = {**attributes, semconv.EVENT_NAME: semconv.ESCALATION_EVENT}
            _logger.log(logging.ERROR if answered.by_default else logging.WARNING, "escalation, %s", text, extra=extra)
        if not records.is_bridged(_logger):
            records.emit(
                self.logger_provider,
                semconv.ESCALATION_EVENT,
                f"escalation, {text}",
                attributes,
                span=escalation.span,
                time_ns=escalation.time_ns,
                severity=severity,
            )

    def _count_resolution(self, tool: str, key: str, resolution: str) -> None:
        attributes = {
            semconv.CLASS: self._classes.find(key),
            semconv.GEN_AI_TOOL_NAME: self._tools.label(tool),
            semconv.RESOLUTION: resolution,
        }
        self._count_in_cell(self._resolutions.admit(attributes))

    def flush(self) -> None:
        """Hand all counts over to the SDK, one call for each series."""
        instruments = self._bind_instruments()
        if not instruments:
            return
        # As many as there are now: threads that count meanwhile would keep it here.
        for _ in range(len(self._waiting)):
            self._hand_over_oldest(instruments)
        for _ in range(len(self._durations)):
            self._hand_over_duration(instruments)

    def class_info(self) -> Iterator[tuple[Attributes, int]]:
        """Yield the meaning of each class label."""
        for attributes, location, template in tuple(self._info.values()):
            yield _class_info(attributes, location, template), 1

    def streaks(self) -> Iterator[tuple[Attributes, int]]:
        """Yield each class's longest streak over all runs, 0 once ended."""
        longest: dict[Cell, int] = {}
        for (agent, tool, key), streak in self._ledger.streaks().items():
            place = (agent[:MAX_INFO], tool[:MAX_INFO], key)
            cell = self._streak_series.get(place) or self._new_streak(place)
            longest[cell] = max(longest.get(cell, 0), streak)
        # A gauge without new points keeps its last value for minutes: OTLP has no mark for its end.
        for cell in self._streaks:
            longest.setdefault(cell, 0)
        for cell, streak in longest.items():
            yield cell.attributes, streak

    def context_tokens(self) -> Iterator[tuple[Attributes, int]]:
        """Yield the tokens of raw errors, and of their digests."""
        for form, tokens in self._tokens.items():
            yield {semconv.FORM: form}, tokens

    def internal_failures(self) -> Iterator[tuple[Attributes, int]]:
        """Yield the library's own failures, and evictions that bound memory."""
        for stage, count in self._internal_counts().items():
            own = count - self._inherited.get(stage, 0)
            if own > 0:
                yield {semconv.STAGE: stage}, own

    def _internal_counts(self) -> dict[str, int]:
        counts = dict(self._ledger.guard.failures)
        counts[RUN_EVICTED] = self._ledger.store.evicted_runs
        counts[CLASS_LABEL_OVERFLOW] = self._classes.overflowed
        series = (self._errors, self._escalations, self._resolutions, self._refusals, self._repeats)
        folded = sum(one.folded for one in (*series, self._failed_members, self._streaks))
        labels = (self._tools, self._agents, self._types, self._members)
        counts[LABEL_OVERFLOW] = sum(one.overflowed for one in labels) + folded
        return counts

    def _count_in_cell(self, cell: Cell, span: SpanRef | None = None) -> None:
        """
        Count one in a cell until the SDK collects.

        To hand each over by itself costs more than all else about a failure.
        """
        with self._lock:
            # In this order nothing is lost if a signal handler counts or collects between two lines. One that raises
            # does so where a function returns: none is called before the cell is in line.
            cell.count += 1
            if span is not None and (span.sampled or cell.span is None or not cell.span.sampled):
                cell.span = span
            if not cell.waits:
                cell.waits = True
                self._waiting.append(cell)
        instruments = self._instruments or self._bind_instruments()
        if len(self._waiting) > MAX_WAITING and instruments:
            self._hand_over_oldest(instruments)

    def _hand_over_oldest(self, instruments: tuple[_Instruments, ...]) -> None:
        cell, count = None, 0
        try:
            with self._lock:
                try:
                    cell = self._waiting[0]
                except IndexError:  # another thread, or a signal handler, was faster
                    return
                cell.waits = False  # first: what a signal handler counts from here on waits by itself
                count, cell.count = cell.count, 0
                span, cell.span = cell.span, None
                with suppress(ValueError):  # a signal handler took it out
                    self._waiting.remove(cell)
                self._line_up(cell, 0)  # and another one counted, for what was taken out here
            if count:
                for each in instruments:
                    with self._ledger.guard.stage(self.stage):
                        each.counters[cell.instrument].add(count, cell.attributes, context_of(span))
        except BaseException:
            # An interrupt. The SDK may have the count already, or not: one that is in doubt is rather given twice.
            if cell is not None:
                self._line_up(cell, count)
            raise

    def _line_up(self, cell: Cell, count: int) -> None:
        with self._lock:
            cell.count += count
            if cell.count:
                cell.waits = True
                self._waiting.append(cell)

    def _hand_over_duration(self, instruments: tuple[_Instruments, ...]) -> None:
        with suppress(IndexError):  # another thread was faster
            duration_ns, span = self._durations.popleft()
            for each in instruments:
                with self._ledger.guard.stage(self.stage):
                    each.duration.record(duration_ns / 1e9, None, context_of(span))

    def join(self, meter_provider: MeterProvider, *, leave: bool) -> bool:
        """
        Report to one more meter provider, from now on.

        Args:
            meter_provider: What the application has set.
            leave: Whether to report no longer to those before it.

        Returns:
            Whether it is new.
        """
        self.flush()
        with self._lock:
            joined = _instruments_of(meter_provider)
            if self in joined.sources:
                return False
            if leave:
                self._leave_instruments()
            joined.sources = (*joined.sources, self)
            self._instruments = (*(() if leave else self._instruments), joined)
            return True

    def _leave_instruments(self) -> None:
        for each in self._instruments:
            each.sources = tuple(other for other in each.sources if other is not self)

    def _bind_instruments(self) -> tuple[_Instruments, ...]:
        """Return the instruments, if there is a meter provider by now."""
        with self._lock:
            provider = self._meter_provider
            if is_placeholder(provider):
                provider = metrics.get_meter_provider()
            if not self._instruments and not is_placeholder(provider):
                self._instruments = (_instruments_of(provider),)
                self._instruments[0].sources = (*self._instruments[0].sources, self)
            return self._instruments

    def _find_cell(self, raw: RawError, found: Classified, agent: str, outcome: str) -> Cell:
        place = (found.key, raw.tool[:MAX_INFO], agent[:MAX_INFO], outcome, raw.certainty)
        return self._series.get(place) or self._new_series(place, found)

    def _new_series(self, place: tuple[str, str, str, str, str], found: Classified) -> Cell:
        key, tool, agent, outcome, certainty = place
        attributes = {
            semconv.ERROR_TYPE: self._types.label(found.facts.type),
            semconv.GEN_AI_TOOL_NAME: self._tools.label(tool),
            semconv.GEN_AI_AGENT_NAME: self._agents.label(agent),
            semconv.CLASS: self._classes.label(key),
            semconv.OUTCOME: outcome,
            semconv.CERTAINTY: certainty,
        }
        if attributes[semconv.CLASS] != semconv.OTHER:
            self._info.setdefault(key, (attributes, found.facts.location, found.template))
        return self._remember_cell(self._series, place, self._errors.admit(attributes))

    def _new_streak(self, place: tuple[str, str, str]) -> Cell:
        agent, tool, key = place
        attributes = {
            semconv.GEN_AI_AGENT_NAME: self._agents.label(agent),
            semconv.GEN_AI_TOOL_NAME: self._tools.label(tool),
            semconv.CLASS: self._classes.find(key),
        }
        return self._remember_cell(self._streak_series, place, self._streaks.admit(attributes))

    def _remember_cell(self, table: dict[tuple[str, ...], Cell], place: tuple[str, ...], cell: Cell) -> Cell:
        # Many names have one label: the table is bounded, and a name that it lacks is labelled again.
        if cell.attributes[semconv.CLASS] != semconv.OTHER and len(table) < MAX_SERIES:
            table[place] = cell
        return cell

    def _forget_counts(self) -> None:
        """Start empty in a child process, which would repeat its parent's counts."""
        self._lock = ReentrantLock()
        self._tokens = dict.fromkeys(self._tokens, 0)
        self._streaks = Series(semconv.STREAK, MAX_SERIES)
        self._streak_series.clear()
        self._waiting.clear()
        self._durations.clear()
        self._inherited = self._internal_counts()


class _Instruments:
    """
    Holds the instruments of one meter provider, made once.

    An SDK refuses to make an instrument with callbacks twice.

    Args:
        meter: What makes them.
    """

    def __init__(self, meter: Meter) -> None:
        self.sources: tuple[Telemetry, ...] = ()
        """Whose state the observable instruments report; none while nothing is installed."""
        self.counters: Final = {name: meter.create_counter(name, unit, text) for name, unit, text in _COUNTERS}
        self.duration: Final = meter.create_histogram(
            semconv.COMPACTION_DURATION,
            "s",
            "What it took to compact one failure.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        meter.create_observable_gauge(
            semconv.CLASS_INFO,
            [self._build_callback(Telemetry.class_info, max)],
            "{class}",
            "What an error class key means.",
        )
        meter.create_observable_gauge(
            semconv.STREAK,
            [self._build_callback(Telemetry.streaks, max)],
            "{error}",
            "Occurrences of an error class since its operation last succeeded: the longest over all live runs.",
        )
        meter.create_observable_counter(
            semconv.CONTEXT_TOKENS,
            [self._build_callback(Telemetry.context_tokens, operator.add)],
            "{token}",
            "Tokens of raw errors, of what frameworks send of them (`str(e)`), and of the digests in their place.",
        )
        meter.create_observable_counter(
            semconv.INTERNAL_FAILURES,
            [self._build_callback(Telemetry.internal_failures, operator.add)],
            "{failure}",
            "Failures of this library itself, and what it had to forget to bound memory.",
        )
        reset_in_child(self._forget_counts)

    def _forget_counts(self) -> None:
        forget_counts(self.duration, (semconv.SCOPE, semconv.CONTEXT_SCOPE))

    def _build_callback(
        self, read: Callable[[Telemetry], Iterable[tuple[Attributes, int]]], merge: Callable[[int, int], int]
    ) -> Callable[[CallbackOptions], list[metrics.Observation]]:
        def callback(_: CallbackOptions) -> list[metrics.Observation]:
            points: dict[tuple[tuple[str, str], ...], tuple[int, Attributes]] = {}
            for source in self.sources:
                source.flush()
                for attributes, value in read(source):
                    labels = tuple(attributes.items())
                    other = points.get(labels)
                    points[labels] = (value if other is None else merge(other[0], value), attributes)
            return [metrics.Observation(value, attributes) for value, attributes in points.values()]

        return callback


_made: Final[dict[int, _Instruments]] = {}
"""By the identity of the provider: another one's may be no key."""
_making: Final = ReentrantLock()


def _instruments_of(provider: MeterProvider) -> _Instruments:
    with _making:
        made = _made.get(id(provider))
        if made is None:
            made = _made[id(provider)] = _Instruments(provider.get_meter(semconv.SCOPE))
            weakref.finalize(provider, _made.pop, id(provider), None).atexit = False
        return made


def _class_info(attributes: Attributes, location: Location, template: str) -> Attributes:
    info = {
        semconv.CLASS: attributes[semconv.CLASS],
        semconv.ERROR_TYPE: attributes[semconv.ERROR_TYPE],
        semconv.LOCATION: one_line(shorten_place(location), MAX_INFO),
        semconv.TEMPLATE: one_line(template, MAX_INFO),
    }
    return _drop_empty_values(info)


def _drop_empty_values(attributes: Attributes) -> Attributes:
    """Return the attributes that have a value."""
    return {name: value for name, value in attributes.items() if value}
