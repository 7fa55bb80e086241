"""Calls at which each value of a threshold is reached, and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.escalator.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.engine.events import Observation
    from otel_errcompact.escalator.thresholds import Threshold, Thresholds
    from otel_errcompact_lab.transcripts import RecordedRun


class After(NamedTuple):
    """The part of a run after a given point."""

    calls: int = 0
    """Tool calls."""

    context_tokens: int = 0
    """By how many tokens the context grew."""


NOTHING: Final = After()


class Turns:
    """The turns of a run: calls that were asked for at once."""

    def __init__(self, run: RecordedRun) -> None:
        self._context_tokens = run.context_tokens
        self._turn_of = run.turns()
        calls = enumerate(zip(run.calls, self._turn_of, strict=True), start=1)
        self._ends = {turn: (number, call.context_tokens) for number, (call, turn) in calls}
        """The tool calls, and the context, up to the end of each turn."""

    def after(self, call: int) -> After:
        """Return the part of the run after this tool call's turn."""
        calls, context_tokens = self._ends[self._turn_of[call - 1]]
        return After(len(self._turn_of) - calls, self._context_tokens - context_tokens)


MAX_VALUE: Final = 200
"""The highest value of a threshold that is analysed."""


class Reached(NamedTuple):
    """That a count was reached for the first time."""

    call: int
    """The number of the tool call, from 1."""

    after: After
    """What came after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What a threshold would have stopped."""

    threshold: Threshold
    limit: int
    call: int
    """The number of the tool call after which it was reached, from 1."""

    error: str
    """The failure that reached it: its type and cause."""

    key: str
    after: After

    def to_json(self) -> dict[str, object]:
        """Return it under stable names."""
        return {
            "threshold": self.threshold,
            "limit": self.limit,
            "call": self.call,
            "key": self.key,
            "error": self.error,
            **render_after(self.after),
        }


@dataclass(slots=True)
class Breaches:
    """The first call at which each count of a run is reached."""

    calls: dict[Threshold, list[int]] = field(default_factory=lambda: {name: [] for name in THRESHOLDS})
    """Of each threshold, for the values 1, 2, 3 and so on, the number of the call, from 1."""

    total: int = 0
    longest_streak: int = 0
    """The most failures of one class in one operation without a success of it between."""

    _errors: dict[tuple[Threshold, int], tuple[str, str]] = field(
        default_factory=dict["tuple[Threshold, int]", "tuple[str, str]"]
    )

    def fail(self, observation: Observation, call: int, thresholds: Thresholds) -> None:
        """Count one failure."""
        self.total += 1
        self.longest_streak = max(self.longest_streak, observation.streak)
        for name in THRESHOLDS:
            count, limit = observation.counts[name], int(getattr(thresholds, name))
            reached = self.calls[name]
            while count > len(reached):
                reached.append(call)
                if len(reached) == limit:
                    facts = observation.found.facts
                    self._errors[name, limit] = (f"[{facts.type}] {facts.cause}", observation.found.key)

    def stops(self, turns: Turns) -> Iterator[Stop]:
        """Yield the stop of each threshold; only the first one matters."""
        for (name, limit), (error, key) in self._errors.items():
            call = self.calls[name][limit - 1]
            yield Stop(threshold=name, limit=limit, call=call, error=error, key=key, after=turns.after(call))

    def list_reached(self, turns: Turns) -> dict[Threshold, tuple[Reached, ...]]:
        """Return by threshold the calls that reach 1, 2, 3 ..."""
        return {
            name: tuple(Reached(call, turns.after(call)) for call in calls[:MAX_VALUE])
            for name, calls in self.calls.items()
        }


def render_after(after: After) -> dict[str, object]:
    """Return the rest of a run under its names in JSON."""
    return {
        "calls_after": after.calls,
        "context_tokens_after": after.context_tokens,
    }
