"""The instruments: the ledger's events become metrics, and escalations become log records."""

from __future__ import annotations

import logging
import operator
import weakref
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from opentelemetry import metrics
from opentelemetry._logs import SeverityNumber

from otel_errcompact.digest import one_line
from otel_errcompact.engine.events import Ended, Handled, Observation, Refused, Repeated, Resolved
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import SHED, Location
from otel_errcompact.escalator.escalation import AnsweredEscalation
from otel_errcompact.otel import semconv
from otel_errcompact.otel.logs import records
from otel_errcompact.otel.metrics.labels import MAX_LABEL, Attributes, Cell, Labels, Series, shorten_place
from otel_errcompact.otel.metrics.runs import RunReadings
from otel_errcompact.otel.providers import is_placeholder
from otel_errcompact.otel.sdk import forget_counts, forget_series
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
    from otel_errcompact.otel.metrics.runs import Reading

    Points = Iterable[tuple[Attributes, float | None]]
    _Labels = tuple[tuple[str, str], ...]
    _Read = Callable[["Telemetry"], Points]
    _Merge = Callable[[float, float], float]

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
"""Characters of a location, template or hint in `errcompact.class.info`."""

CLASS_LABEL_OVERFLOW: Final = "class_label_overflow"
LABEL_OVERFLOW: Final = "label_overflow"
RUN_EVICTED: Final = "run_evicted"

DURATION_BUCKETS: Final = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1.0)
"""Seconds. The SDK's own buckets begin at 5, where our own cost must never be."""

ZEROS: Final = 2
"""How often the series of a run is reported as 0 once it is over, before it is forgotten."""

FORMS: Final = (semconv.FORM_RAW, semconv.FORM_SENT, semconv.FORM_DIGEST)

_COUNTERS: Final = (
    (semconv.ERRORS, "{error}", "Occurrences of failures, by error class."),
    (semconv.ESCALATIONS, "{escalation}", "Thresholds that were reached, by what was done about it."),
    (semconv.RESOLUTIONS, "{error}", "Error classes whose operation has succeeded again, or proved not to have."),
    (semconv.REFUSALS, "{call}", "Identical calls that were not executed again."),
    (semconv.REPEATS, "{call}", "Identical calls that succeeded again, in a row, with the same result."),
    (semconv.MEMBERS, "{error}", "Failures of what has a name of its own inside one output: tests, targets."),
    (semconv.RUNS, "{run}", "Agent runs, by how they ended."),
)

_OF_FEW: Final = (
    semconv.OUTCOME,
    semconv.CERTAINTY,
    semconv.THRESHOLD,
    semconv.ACTION,
    semconv.RESOLUTION,
    semconv.RESULT,
)
"""Attributes of few values, which attribute sets beyond `MAX_SERIES` keep."""

_RUN_GAUGES: Final = (
    (semconv.RUN_STREAK, "{error}", "The longest streak of a live run, from 2 on: the newest 50 such runs."),
    (semconv.RUN_PENDING, "s", "How long an escalation of a live run has been waiting for its answer: the newest 50."),
    (semconv.RUN_TOKENS, "{token}", "Tokens that failures have put into the context of a run: the 50 with the most."),
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
        self._counted = {name: Series(name, MAX_SERIES, *_OF_FEW) for name, _, _ in _COUNTERS}
        self._run_readings = RunReadings(self._label_run)
        self._info: dict[str, tuple[Attributes, Location, str]] = {}
        self._advice: dict[str, Attributes] = {}
        """What classes say of what to do; of one whose failures were all handled nothing is known."""
        self._waiting: deque[Cell] = deque()
        """The cells that have counted something, the oldest first."""
        self._durations: deque[tuple[int, SpanRef | None]] = deque(maxlen=MAX_DURATIONS)
        self._lock = ReentrantLock()
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
        cell = self._find_cell(raw, observation.found, observation.agent, observation.outcome, observation)
        with self._lock:
            cell.raw_tokens += observation.raw_tokens
            cell.sent_tokens += observation.sent_tokens
            cell.digest_tokens += observation.digest_tokens
        self._durations.append((observation.duration_ns, raw.span))
        self._count_in_cell(cell, raw.span)
        if observation.taken_back:
            self._count_resolution(raw.tool, observation.found.key, semconv.TAKEN_BACK)
        for name in observation.found.facts.names:
            shown = shorten_place(Location(file=name)) if name[:1] == "/" else name
            attributes = {semconv.MEMBER: self._members.label(shown), **self._label(tool=raw.tool)}
            self._count_in_cell(self._counted[semconv.MEMBERS].admit(attributes), raw.span)

    def _count_handled(self, handled: Handled) -> None:
        cell = self._find_cell(handled.raw, handled.found, handled.agent, semconv.HANDLED)
        self._count_in_cell(cell, handled.raw.span)

    def _count_resolved(self, resolved: Resolved) -> None:
        for error_class in resolved.classes:
            self._count_resolution(resolved.tool, error_class.key, semconv.RESOLVED)

    def _count_refused(self, refusal: Refused) -> None:
        self._count(semconv.REFUSALS, self._label(refusal.key, refusal.tool, refusal.agent))
        if refusal.escalation is not None:
            self._run_readings.refused[refusal.run_id] = refusal.time_ns

    def _count_repeated(self, repeated: Repeated) -> None:
        self._count(semconv.REPEATS, self._label(tool=repeated.tool, agent=repeated.agent))

    def _count_answered(self, answered: AnsweredEscalation) -> None:
        escalation = answered.escalation
        of = {semconv.THRESHOLD: escalation.threshold, semconv.ACTION: answered.action}
        self._count(semconv.ESCALATIONS, {**of, **self._label(escalation.key, agent=escalation.agent)})
        self._run_readings.keep_escalated(escalation)
        self._log_escalation(answered)

    def _count_ended(self, ended: Ended) -> None:
        report = ended.report
        self._run_readings.keep_ended(report)
        self._count(semconv.RUNS, {semconv.RESULT: report.result, **self._label(agent=report.agent)})

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
        self._count(semconv.RESOLUTIONS, {semconv.RESOLUTION: resolution, **self._label(key, tool)})

    def _label(self, key: str = "", tool: str = "", agent: str = "") -> Attributes:
        return {
            semconv.CLASS: self._classes.find(key),
            semconv.GEN_AI_TOOL_NAME: self._tools.label(tool),
            semconv.GEN_AI_AGENT_NAME: self._agents.label(agent),
        }

    def _count(self, instrument: str, attributes: Attributes) -> None:
        self._count_in_cell(self._counted[instrument].admit(attributes))

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
        for key, (attributes, location, template) in tuple(self._info.items()):
            names = {name: attributes[name] for name in (semconv.CLASS, semconv.ERROR_TYPE)}
            texts = {semconv.LOCATION: shorten_place(location), semconv.TEMPLATE: template, **self._advice.get(key, {})}
            yield _drop_empty_values(names | {name: one_line(text, MAX_INFO) for name, text in texts.items()}), 1

    def run_points(self, instrument: str) -> Points:
        """Return a gauge's values by run; None where one lives unseen."""
        if instrument == semconv.RUN_STREAK:  # the first that a collection asks for
            self._run_readings.read(self._ledger.store.states())
        return self._run_readings.points(instrument)

    def context_tokens(self) -> Iterator[tuple[Attributes, int]]:
        """Yield the tokens of raw errors, and of their digests, by agent."""
        sums = {"": (0, 0, 0)}  # without an agent: a sign of life
        for cell in self._counted[semconv.ERRORS].cells():
            agent = cell.attributes.get(semconv.GEN_AI_AGENT_NAME, "")
            given, sent, digests = sums.get(agent, (0, 0, 0))
            sums[agent] = given + cell.raw_tokens, sent + cell.sent_tokens, digests + cell.digest_tokens
        for agent, of_forms in sums.items():
            for form, tokens in zip(FORMS, of_forms, strict=True):
                yield _drop_empty_values({semconv.FORM: form, semconv.GEN_AI_AGENT_NAME: agent}), tokens

    def class_tokens(self) -> Iterator[tuple[Attributes, int]]:
        """Yield the tokens of digests by class and agent."""
        for cell in self._counted[semconv.ERRORS].cells():
            if cell.digest_tokens:
                labels = {name: cell.attributes.get(name, "") for name in (semconv.CLASS, semconv.GEN_AI_AGENT_NAME)}
                yield _drop_empty_values(labels), cell.digest_tokens

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
        folded = sum(one.folded for one in self._counted.values())
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

    def _find_cell(
        self, raw: RawError, found: Classified, agent: str, outcome: str, observation: Observation | None = None
    ) -> Cell:
        place = (found.key, raw.tool[:MAX_INFO], agent[:MAX_INFO], outcome, raw.certainty)
        return self._series.get(place) or self._new_series(place, found, observation)

    def _new_series(
        self, place: tuple[str, str, str, str, str], found: Classified, observation: Observation | None
    ) -> Cell:
        key, tool, agent, outcome, certainty = place
        if found.facts.format != SHED:  # each such text is a class of its own, for want of time
            self._classes.label(key)
        attributes = {
            semconv.ERROR_TYPE: self._types.label(found.facts.type),
            **self._label(key, tool, agent),
            semconv.OUTCOME: outcome,
            semconv.CERTAINTY: certainty,
        }
        if attributes[semconv.CLASS] != semconv.OTHER:
            self._info.setdefault(key, (attributes, found.facts.location, found.template))
            if observation is not None:
                transient = "true" if observation.kind.transient else ""
                self._advice.setdefault(key, {semconv.HINT: observation.hint, semconv.TRANSIENT: transient})
        cell = self._counted[semconv.ERRORS].admit(attributes)
        # Many names have one label: the table is bounded, and a name that it lacks is labelled again.
        if cell.attributes[semconv.CLASS] != semconv.OTHER and len(self._series) < MAX_SERIES:
            self._series[place] = cell
        return cell

    def _label_run(self, reading: Reading) -> Attributes:
        run = {semconv.RUN_ID: one_line(reading.run_id, MAX_LABEL), semconv.THRESHOLD: reading.threshold}
        return _drop_empty_values({**run, **self._label(reading.key, reading.tool, reading.agent)})

    def _forget_counts(self) -> None:
        self._lock = ReentrantLock()
        self._run_readings = RunReadings(self._label_run)
        self._waiting.clear()
        self._durations.clear()
        self._inherited = self._internal_counts()


_SUMS: Final[tuple[tuple[str, str, str, _Read], ...]] = (
    (semconv.CONTEXT_TOKENS, "{token}", "Tokens of raw errors, of `str(e)` and of digests.", Telemetry.context_tokens),
    (semconv.CLASS_TOKENS, "{token}", "Tokens of the digests of an error class.", Telemetry.class_tokens),
    (semconv.INTERNAL_FAILURES, "{failure}", "Failures of this library, and evictions.", Telemetry.internal_failures),
)


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
        for name, unit, text, read in _SUMS:
            meter.create_observable_counter(name, [partial(self._observe_points, read, operator.add)], unit, text)
        info = partial(self._observe_points, Telemetry.class_info, max)
        meter.create_observable_gauge(semconv.CLASS_INFO, [info], "{class}", "What an error class key means.")
        self._ended: dict[str, dict[_Labels, int]] = {name: {} for name, _, _ in _RUN_GAUGES}
        """How often series that are over are still to be reported as 0, and all that are not."""
        self._run_gauges: Final[dict[str, object]] = {}
        for name, unit, text in _RUN_GAUGES:
            observe = partial(self._observe_runs, name)
            self._run_gauges[name] = meter.create_observable_gauge(name, [observe], unit, text)
        reset_in_child(self._forget_counts)

    def _forget_counts(self) -> None:
        forget_counts(self.duration, (semconv.SCOPE, semconv.CONTEXT_SCOPE))
        self._ended = {name: {} for name in self._ended}

    def _observe_points(self, read: _Read, merge: _Merge, _: CallbackOptions) -> list[metrics.Observation]:
        return _list_observations(self._read_points(read, merge))

    def _observe_runs(self, name: str, _: CallbackOptions) -> list[metrics.Observation]:
        points = self._read_points(lambda source: source.run_points(name), max)
        over = {labels: left - 1 for labels, left in self._ended[name].items() if left and labels not in points}
        shown = (labels for labels, value in points.items() if value is not None)
        self._ended[name] = {**dict.fromkeys(shown, ZEROS), **over}
        forget_series(self._run_gauges[name])
        return _list_observations({**points, **dict.fromkeys(over, 0)})

    def _read_points(self, read: _Read, merge: _Merge) -> dict[_Labels, float | None]:
        points: dict[_Labels, float | None] = {}
        for source in self.sources:
            source.flush()
            for attributes, value in read(source):
                labels = tuple(attributes.items())
                other = points.get(labels)
                points[labels] = other if value is None else value if other is None else merge(other, value)
        return points


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


def _list_observations(points: dict[_Labels, float | None]) -> list[metrics.Observation]:
    return [metrics.Observation(value, dict(labels)) for labels, value in points.items() if value is not None]


def _drop_empty_values(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if value}
