"""Time lines of runs while they are played, in bounded memory."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact_lab.html_report.arguments import preview, read_arguments
from otel_errcompact_lab.html_report.bounded import Share
from otel_errcompact_lab.html_report.steps import Failure, Fold, Gap, Note, Step, Text, TimeLine
from otel_errcompact_lab.html_report.text import mark_special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.engine.events import Observation, Refused, Resumed
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact_lab.html_report.bounded import Room
    from otel_errcompact_lab.html_report.steps import NoteKind, Part, StepKind
    from otel_errcompact_lab.replay import PlayedCall
    from otel_errcompact_lab.replay.results import CallOutcome


MAX_HEAD: Final = 6_000
MAX_TAIL: Final = 6_000
"""Steps of one run, at either end."""

SHARE: Final = 4
"""One run takes at most this part of the room of all time lines."""

MAX_TEXT: Final = 4_000
"""Characters of a raw error that its class does not show."""

SHORTEST_FOLD: Final = 3
MAX_FOLDED: Final = 1_000
"""Steps of one fold that have a line of their own."""

_PLAIN: Final = 160
_MARKED: Final = 1_200
"""Characters of a step on the page, about, without its texts."""


class _Place(NamedTuple):
    step: int
    call: int


_NOWHERE: Final = _Place(0, 0)


@dataclass(slots=True)
class _Draft:
    step: Step
    size: int
    notes: list[Note] = field(default_factory=list[Note])
    is_gone: bool = False

    def finish(self) -> Step:
        return replace(self.step, notes=tuple(self.notes)) if self.notes else self.step


class TimeLineDraft:
    """One run, step by step."""

    def __init__(self, room: Room, hide_secrets: Callable[[str], str], *, supports_counts: bool) -> None:
        self._share = Share(room, room.left // SHARE)
        self._hide_secrets = hide_secrets
        self._supports_counts = supports_counts
        self._head: list[_Draft] = []
        self._tail: deque[_Draft] = deque()
        self._serial = self._calls = 0
        self._gone = self._gone_failures = 0
        self._last: _Draft | None = None
        self._spans: dict[int, _Draft] = {}
        self._identical: dict[str, _Place] = {}

    def add_call(self, call: PlayedCall, time_ns: int | None) -> None:
        """Add a call; a failure becomes one when it is counted."""
        executed = call.outcome != "refused"
        self._calls += executed
        kind = _KINDS[call.outcome]
        first = self._identical.get(call.fingerprint, _NOWHERE) if kind != "success" else _NOWHERE
        draft = self._add_step(
            Step(
                at=self._next_number(),
                kind=kind,
                call=self._calls if executed else 0,
                line=call.line,
                time_ns=time_ns,
                tool=self._hide_secrets(call.tool),
                preview=preview(call.arguments, self._hide_secrets) or self._hide_secrets(call.operation),
                identical_to=first.step,
                identical_call=first.call,
                said=call.reason,
            ),
            _PLAIN if kind == "success" else _MARKED,
        )
        if draft is None:
            return
        if call.fingerprint and kind != "success":
            self._identical.setdefault(call.fingerprint, _Place(draft.step.at, draft.step.call))
        if call.span_id:
            self._spans[call.span_id] = draft
            if len(self._spans) > MAX_HEAD + MAX_TAIL:
                del self._spans[next(iter(self._spans))]

    def step_of(self, raw: RawError) -> int:
        """Return the number of the step that a failure will have."""
        draft = self._spans.get(raw.span.span_id) if raw.span is not None else None
        return draft.step.at if draft is not None else self._serial + 1

    def fail(self, observation: Observation, text: str, time_ns: int | None, example: str) -> None:
        """
        Add a failure, or turn its call into one.

        Args:
            observation: The failure, counted.
            text: Its raw error as it is shown.
            time_ns: When it came; None if the record has no times.
            example: The place on the page that has its text whole; empty if there is none.
        """
        raw = observation.raw
        draft = self._spans.pop(raw.span.span_id, None) if raw.span is not None else None
        if draft is None:
            draft = self._add_step(self._begin_step("failure", raw, time_ns))
        if draft is None or draft.is_gone:
            self._gone_failures += 1
            self._last = None
            return
        # Of a trace it may be an earlier call, whose failure is settled only now.
        self._last = draft
        arguments, more = read_arguments(raw.arguments, self._hide_secrets)
        size = sum(len(each.text) for each in arguments)
        if self._share.take(size):
            draft.size += size
        else:
            arguments, more = (), len(arguments) + more
        kind = observation.kind
        draft.step = replace(
            draft.step,
            kind="failure",
            arguments=arguments,
            more_arguments=more,
            failure=replace(
                self._failure_of(raw, observation.found, self._keep_text(draft, text, example)),
                count=observation.count,
                streak=observation.streak if self._supports_counts else 0,
                transient=kind.transient,
                rejected=kind.rejected,
                stated=bool(raw.stated),
            ),
        )

    def handle(self, raw: RawError, found: Classified, time_ns: int | None) -> None:
        """Add a failure inside a call that in the end succeeded."""
        draft = self._add_step(self._begin_step("handled", raw, time_ns))
        if draft is None:
            return
        text = self._keep_text(draft, self._hide_secrets(raw.text or raw.message), "")
        draft.step = replace(draft.step, failure=self._failure_of(raw, found, text))

    def _keep_text(self, draft: _Draft, text: str, example: str) -> Text:
        # A raw error stands once on the page: where its class has it, the step leads there.
        shown = "" if example else text[:MAX_TEXT]
        size = len(mark_special(shown))
        if not self._share.take(size):
            return Text(cut=len(text))
        draft.size += size
        return Text(beginning=shown, cut=len(text) - len(shown), example=example)

    def _failure_of(self, raw: RawError, found: Classified, text: Text) -> Failure:
        return Failure(
            key=found.key,
            type=self._hide_secrets(found.facts.type),
            cause=found.facts.cause,
            exit_code=raw.exit_code,
            trace_id=f"{raw.span.trace_id:032x}" if raw.span is not None else "",
            text=text,
        )

    def refuse(self, refusal: Refused, kind: str, cause: str) -> None:
        """Add to the last step why the call was refused."""
        self._add_note(Note(kind="refused", key=refusal.key, type=kind, cause=cause, count=refusal.failures))

    def resume(self, resumed: Resumed) -> None:
        """Add a person's word that the run continues."""
        self._add_step(Step(at=self._next_number(), kind="resumed", said=self._hide_secrets(resumed.message)))

    def note_classes(self, kind: NoteKind, classes: Iterable[ErrorClass | Classified]) -> None:
        """Add classes to the last step: resolved, or open again."""
        for found in classes:
            self._add_note(
                Note(kind=kind, key=found.key, type=self._hide_secrets(found.facts.type), cause=found.facts.cause)
            )

    def note_escalation(self, escalation: Escalation) -> None:
        """Add to the last step a threshold that it has reached."""
        self._add_note(
            Note(
                kind="escalated",
                key=escalation.key,
                threshold=escalation.threshold,
                count=escalation.count,
                limit=escalation.limit,
                halts=escalation.halts,
            )
        )

    def note_answer(self, answered: AnsweredEscalation) -> None:
        """Add to the last step the answer to an escalation."""
        self._add_note(
            Note(
                kind="answered",
                threshold=answered.escalation.threshold,
                action=answered.action,
                message=self._hide_secrets(answered.message),
            )
        )

    @property
    def last(self) -> int:
        """The step that changed last; 0 if it is not kept."""
        return self._last.step.at if self._last is not None else 0

    @property
    def size(self) -> int:
        """Room that it has taken."""
        return self._share.taken

    def finish(self) -> TimeLine:
        """Return all that was kept, stretches of plain successes folded."""
        parts = [*_fold_steps(draft.finish() for draft in self._head)]
        if self._gone:
            parts.append(Gap(steps=self._gone, failures=self._gone_failures))
        parts += _fold_steps(draft.finish() for draft in self._tail)
        folded = sum(part.count for part in parts if isinstance(part, Fold))
        return TimeLine(parts=tuple(parts), folded=folded)

    def _next_number(self) -> int:
        self._serial += 1
        return self._serial

    def _begin_step(self, kind: StepKind, raw: RawError, time_ns: int | None) -> Step:
        return Step(at=self._next_number(), kind=kind, time_ns=time_ns, tool=self._hide_secrets(raw.tool))

    def _add_step(self, step: Step, size: int = _MARKED) -> _Draft | None:
        while not self._share.take(size):
            if not self._tail:
                self._gone += 1
                self._last = None
                return None
            self._drop_step(self._tail.popleft())
        self._last = draft = _Draft(step, size)
        # What comes last says how it ended: half of the room is for the end.
        if len(self._head) < MAX_HEAD and not self._tail and self._share.taken <= self._share.most // 2:
            self._head.append(draft)
            return draft
        self._tail.append(draft)
        if len(self._tail) > MAX_TAIL:
            self._drop_step(self._tail.popleft())
        return draft

    def _drop_step(self, draft: _Draft) -> None:
        draft.is_gone = True
        self._gone += 1
        self._gone_failures += draft.step.kind == "failure"
        self._share.give_back(draft.size)

    def _add_note(self, note: Note) -> None:
        if self._last is not None:
            self._last.notes.append(note)


_KINDS: Final[dict[CallOutcome, StepKind]] = {
    "success": "success",
    "failure": "uncounted",
    "ignored": "ignored",
    "refused": "refused",
}
"""What a call is until the ledger has counted it."""


def _fold_steps(steps: Iterable[Step]) -> Iterator[Part]:
    stretch: list[Step] = []
    for step in steps:
        if step.is_plain:
            stretch.append(step)
            continue
        yield from _fold_stretch(stretch)
        stretch = []
        yield step
    yield from _fold_stretch(stretch)


def _fold_stretch(steps: list[Step]) -> Iterator[Part]:
    if len(steps) < SHORTEST_FOLD:
        yield from steps
        return
    tools = Counter(step.tool for step in steps)
    yield Fold(steps=tuple(steps[:MAX_FOLDED]), count=len(steps), tools=tuple(tools.most_common()))
