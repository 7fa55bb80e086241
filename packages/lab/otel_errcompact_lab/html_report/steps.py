"""Time lines as data: calls in order, and what each changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.escalator.escalation import ActionName
    from otel_errcompact.escalator.thresholds import Threshold

_BESIDE: Final = 100

StepKind: TypeAlias = Literal["success", "failure", "ignored", "uncounted", "handled", "refused", "resumed"]
"""`uncounted`: a span that failed, whose failure is counted with another one."""

NoteKind: TypeAlias = Literal["refused", "resolved", "taken_back", "escalated", "answered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a call, in lines."""

    name: str
    """The way to it: `edits[0].old_string`; empty where the arguments have no names."""

    text: str
    cut: int = 0
    """Characters of its end that are not on the page."""

    @property
    def is_short(self) -> bool:
        """Whether it fits beside its name."""
        return not self.cut and "\n" not in self.text and len(self.text) <= _BESIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a step changed in its run."""

    kind: NoteKind
    key: str = ""
    type: str = ""
    cause: str = ""
    threshold: Threshold | None = None
    count: int = 0
    limit: int = 0
    halts: bool = False
    action: ActionName | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The raw error of a step, unless it stands at its class."""

    beginning: str = ""
    cut: int = 0
    """Characters more."""

    example: str = ""
    """The place on the page that has it whole; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a failed call adds to a step."""

    key: str
    type: str
    cause: str
    count: int = 0
    """Occurrences of the class in the run, this one included."""

    streak: int = 0
    """0 where the record does not support it."""

    transient: bool = False
    rejected: bool = False
    stated: bool = False
    """Whether the tool reported success."""

    exit_code: int | None
    trace_id: str
    text: Text = field(default_factory=Text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call, or one event between calls."""

    at: int
    """Its number in the time line, from 1."""

    kind: StepKind
    call: int = 0
    """The number of the call, from 1; 0 if nothing was executed."""

    line: int = 0
    time_ns: int | None = None
    tool: str = ""
    preview: str = ""
    """Arguments or operation, in one short line."""

    arguments: tuple[Argument, ...] = ()
    more_arguments: int = 0
    failure: Failure | None = None
    identical_to: int = 0
    """The step with the identical call; 0 if not known."""

    identical_call: int = 0
    """The number of that step's call."""

    said: str = ""
    """Why a call is ignored; a person's message."""

    notes: tuple[Note, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is a success that changed nothing."""
        return self.kind == "success" and not self.notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A stretch of plain successes."""

    steps: tuple[Step, ...]
    """The first ones."""

    count: int
    tools: tuple[tuple[str, int], ...]
    """The most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Steps that are not on the page."""

    steps: int
    failures: int


Part: TypeAlias = "Step | Fold | Gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLine:
    """A run, call by call."""

    parts: tuple[Part, ...] = ()
    folded: int = 0
    """Calls in folds."""

    def steps(self) -> Iterator[Step]:
        """Yield the steps that are on the page."""
        for part in self.parts:
            if isinstance(part, Fold):
                yield from part.steps
            elif isinstance(part, Step):
                yield part
