"""A recorded life of a run, counted once more by a ledger."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.audit import life
from otel_errcompact.compactor.classify import Classified, classify
from otel_errcompact.engine.events import Began, Ended, Failed, Refused, Succeeded
from otel_errcompact.errors import NOT_READ, FailureKind, Location, RawError, SpanRef
from otel_errcompact.otel import semconv
from otel_errcompact_lab.replay.results import PlayedCall
from otel_errcompact_lab.transcripts.model import Attributed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.escalator.escalation import AnsweredEscalation
    from otel_errcompact_lab.replay.results import CallOutcome, ReplayedRun
    from otel_errcompact_lab.replay.tally import Tallies, Tally
    from otel_errcompact_lab.transcripts import RecordedLife, RecordedLine, RecordedSpan

NO_BEGIN: Final = "no begin was recorded"
NO_END: Final = "no end was recorded"

_RESULTS: Final = frozenset({"clean", "recovered", "unresolved", "failed", "halted"})


def play_life(recorded: RecordedLife, ledger: Ledger, tallies: Tallies) -> ReplayedRun:
    """
    Count everything recorded about a run, and return the result.

    Args:
        recorded: The record.
        ledger: What counts.
        tallies: What listens to it.
    """
    return _Player(recorded, ledger, tallies).play()


class _Player:
    def __init__(self, recorded: RecordedLife, ledger: Ledger, tallies: Tallies) -> None:
        self._life = recorded
        self._run_id = recorded.run_id
        self._ledger = ledger
        self._tallies = tallies
        self._raw_tokens = self._sent_tokens = self._digest_tokens = 0
        self._digests: dict[tuple[int, str, str, int], list[str]] = {}
        self._end: RecordedLine | None = None
        self._tally: Tally
        self._takes: Final[Mapping[str, Callable[[RecordedLine], None]]] = {
            "": self._observe_unsettled,
            semconv.RUN_ERROR: self._observe_failure,
            semconv.RUN_HANDLED: self._count_handled,
            semconv.RUN_ESCALATED: self._note_escalation,
            semconv.RUN_END: self._note_end,
        }

    def play(self) -> ReplayedRun:
        lines = self._life.lines
        self._tally = self._tallies.attend(self._run_id, agent=lines[0].text(semconv.GEN_AI_AGENT_NAME))
        if lines[0].event != semconv.RUN_BEGIN:
            self._ledger.apply(
                Began(
                    run_id=self._run_id,
                    agent=self._tally.agent,
                    thresholds=life.no_thresholds(),
                    mode="observe",
                    asks=False,
                    attended=False,
                )
            )
        for line in lines:
            self._takes.get(line.event, self._apply_line)(line)
        # Ending a run answers open escalations, so that a run without a recorded end is reported before that.
        stood = self._ledger.report(self._run_id)
        failed = self._end is not None and self._end.text(semconv.RESULT) == "failed"
        played = self._tallies.close(self._run_id, failed=failed)
        report = self._as_recorded(stood if self._end is None else played.report)
        lacks = " and ".join(self._list_lacks(report))
        return played.model_copy(
            update={
                "result": report.result,
                "lacks": lacks,
                "outcome": lacks,
                "raw_error_tokens": self._raw_tokens,
                "digest_tokens": self._digest_tokens,
                "report": report,
            }
        )

    def _list_lacks(self, report: RunReport) -> list[str]:
        notes = [NO_BEGIN] if self._life.lines[0].event != semconv.RUN_BEGIN else []
        if self._end is None:
            return [*notes, NO_END]
        told = self._end.integer(semconv.OCCURRENCES)
        where = "the file" if self._life.files == 1 else "these files"
        if report.occurrences < told:
            notes.append(f"{report.occurrences} of {told} failures are in {where}")
        elif report.occurrences > told:  # a process of the run ended before it had counted its last one
            more = report.occurrences - told
            notes.append(f"{more} more {'failure is' if more == 1 else 'failures are'} in {where} than was counted")
        elif self._differs_from_end(report):
            notes.append("lines are missing")
        return notes

    def _differs_from_end(self, report: RunReport) -> bool:
        end = self._end
        _, counted = life.describe_event(Ended(report=report))
        # Older files lack some.
        return end is not None and any(
            end.integer(name) != counted[name] for name in _COMPARED if name in end.attributes
        )

    def _as_recorded(self, report: RunReport) -> RunReport:
        # Only the record knows how the run ended, and what texts cost then.
        result = self._end.text(semconv.RESULT) if self._end is not None else ""
        return report.model_copy(
            update={
                "result": result if result in _RESULTS else report.result,
                "repeats": self._end.integer(semconv.REPEATS) if self._end is not None else 0,
                "raw_tokens": self._raw_tokens,
                "sent_tokens": self._sent_tokens,
                "digest_tokens": self._digest_tokens,
                "escalations": self._with_digests(report.escalations),
            }
        )

    def _with_digests(self, answers: tuple[AnsweredEscalation, ...]) -> tuple[AnsweredEscalation, ...]:
        # One breach may be answered twice.
        shown: dict[int, str] = {}
        recorded: list[AnsweredEscalation] = []
        for answered in answers:
            breach = answered.escalation
            if id(breach) not in shown:
                told = self._digests.get((breach.time_ns, breach.threshold, breach.key, breach.count))
                shown[id(breach)] = told.pop(0) if told else breach.digest
            escalation = breach.model_copy(update={"digest": shown[id(breach)]})
            recorded.append(answered.model_copy(update={"escalation": escalation}))
        return tuple(recorded)

    def _apply_line(self, line: RecordedLine) -> None:
        event = life.read_event(line.event, line.attributes)
        if isinstance(event, Succeeded):
            self._tally.tool_calls += 1
            self._announce_call(line, event.tool, "success")
        elif isinstance(event, Refused):
            self._announce_call(line, event.tool, "refused")
        if event is not None:
            self._ledger.apply(event)

    def _observe_failure(self, line: RecordedLine) -> None:
        raw = raw_of(line.raw, line)
        # Of a text frameworks send the whole, of an exception its message.
        told_sent = semconv.TOKENS_SENT in line.attributes
        sent = line.integer(semconv.TOKENS_SENT if told_sent else semconv.TOKENS_RAW)
        raw = replace(raw, was_exception=sent != line.integer(semconv.TOKENS_RAW))
        told = life.read_observation(line.attributes)
        kind = told["kind"]
        record = Failed(
            run_id=self._run_id,
            raw=raw,
            tick=told["tick"],
            found=self._restore_class(raw, line, told),
            kind=FailureKind(
                transient=kind in {"transient", "unknown"}, rejected=kind == "rejected", unknown=kind == "unknown"
            ),
            call=told["call"],
            hint=told["hint"] if semconv.CAUSE in line.attributes else None,
        )
        self._tally.tool_calls += raw.boundary
        if raw.boundary:
            self._announce_call(line, raw.tool, "failure", raw=raw)
        self._tally.stated += bool(raw.stated)
        self._ledger.observe(self._run_id, raw, record=record)
        self._raw_tokens += told["raw_tokens"]
        # Older files lack it: there the raw error is the nearest known.
        self._sent_tokens += sent
        self._digest_tokens += told["digest_tokens"]

    def _observe_unsettled(self, line: RecordedLine) -> None:
        # The process ended before anything else was recorded.
        observation = self._ledger.observe(self._run_id, raw_of(line.raw, line))
        self._raw_tokens += observation.raw_tokens
        self._sent_tokens += observation.sent_tokens
        self._digest_tokens += observation.digest_tokens

    def _restore_class(self, raw: RawError, line: RecordedLine, told: dict[str, Any]) -> Classified:
        # The text gives what the line lacks.
        found = classify(raw)
        if NOT_READ in (line.text(semconv.TEMPLATE), line.text(semconv.CAUSE)):
            return found
        key = told["found.key"] or found.key
        if semconv.CAUSE in line.attributes or semconv.ERROR_TYPE in line.attributes:
            facts = replace(
                found.facts,
                type=told["found.facts.type"],
                cause=told["found.facts.cause"],
                tally=told["found.facts.tally"],
                location=Location(
                    function=told["found.facts.location.function"],
                    file=told["found.facts.location.file"],
                    line=told["found.facts.location.line"] if _LINE in line.attributes else None,
                ),
            )
            template = told["found.template"] or facts.cause
        else:
            facts, template = found.facts, found.template
        return Classified(facts=facts, key=key, template=template)

    def _count_handled(self, line: RecordedLine) -> None:
        self._ledger.handled(self._run_id, raw_of(line.raw, line))

    def _announce_call(self, line: RecordedLine, tool: str, outcome: CallOutcome, raw: RawError | None = None) -> None:
        if self._tallies.on_call is None:
            return
        self._tallies.on_call(
            PlayedCall(
                run_id=self._run_id,
                tool=tool,
                arguments=raw.arguments if raw is not None else "",
                operation=str(life.RAW.read(line.attributes)["operation"]).removeprefix(tool).strip(),
                outcome=outcome,
                time_ns=raw.time_ns if raw is not None else line.time_ns,
                span_id=raw.span.span_id if raw is not None and raw.span is not None else 0,
                fingerprint=line.text(semconv.CALL),
            )
        )

    def _note_escalation(self, line: RecordedLine) -> None:
        # With threads the lines may be in another order than the breaches.
        said = line.text(semconv.THRESHOLD), line.text(semconv.CLASS), line.integer(semconv.COUNT)
        self._digests.setdefault((line.time_ns, *said), []).append(line.text(semconv.DIGEST))

    def _note_end(self, line: RecordedLine) -> None:
        self._end = line


_COMPARED: Final = (
    semconv.HANDLED_COUNT,
    semconv.AFTER_ESCALATION,
    semconv.CLASS_COUNT,
    semconv.ESCALATION_COUNT,
    semconv.RECOVERED_COUNT,
)
_LINE: Final = semconv.CODE_LINE_NUMBER


def raw_of(span: RecordedSpan | None, line: RecordedLine) -> RawError:
    """Return a recorded raw error; an empty one if it is lost."""
    if span is None:
        return RawError(text="", agent=line.text(semconv.GEN_AI_AGENT_NAME), time_ns=line.time_ns)
    said = next((event for event in span.events if event.name == semconv.EXCEPTION_EVENT), Attributed())
    kind = said.text(semconv.EXCEPTION_TYPE)
    operation = span.text(semconv.GEN_AI_OPERATION_NAME)
    status = span.attributes.get(semconv.PROCESS_EXIT_CODE)
    if operation:
        tool = span.text(semconv.GEN_AI_TOOL_NAME) if operation == semconv.SPAN_TOOL else operation
    else:
        tool = span.text(semconv.TOOL)
    return RawError(
        text=_decode_text(said.text(semconv.RAW)) or said.text(semconv.EXCEPTION_STACKTRACE),
        type="" if kind == semconv.TOOL_ERROR else kind,
        message=said.text(semconv.EXCEPTION_MESSAGE),
        exit_code=status if isinstance(status, int) else None,
        tool=tool,
        call_id=span.text(semconv.GEN_AI_TOOL_CALL_ID),
        arguments=span.text(semconv.GEN_AI_TOOL_CALL_ARGUMENTS),
        agent=span.text(semconv.GEN_AI_AGENT_NAME),
        **life.RAW.read(span.attributes),
        boundary=bool(operation),
        time_ns=span.end_ns,
        span=SpanRef(trace_id=span.trace_id, span_id=span.span_id),
    )


def _decode_text(encoded: str) -> str:
    # No string attribute could hold these bytes.
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8", "surrogatepass")
    except ValueError:
        return ""
