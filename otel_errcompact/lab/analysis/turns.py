"""Model calls of a run, which its tool calls only imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from otel_errcompact.lab.transcripts import RecordedCall, RecordedRun


class After(NamedTuple):
    """The part of a run after a given point."""

    calls: int = 0
    """Tool calls."""

    context_tokens: int = 0
    """By how many tokens the context grew."""

    input_tokens: int = 0
    """What later model calls read, had no cache helped: the context up to each, and with it what came before."""


NOTHING: Final = After()


class Turns:
    """
    The turns of a run: model calls, with their tool calls.

    Calls are of one turn where one was asked for before the other was answered. A turn that called no tool shows in
    none of the records, but for the answer at the end: what models read is at least what is told here.

    Args:
        run: The run.
    """

    def __init__(self, run: RecordedRun) -> None:
        self._total_context = run.context_tokens
        self._contexts: list[int] = []
        """The context at the end of each turn."""
        self._inputs: list[int] = []
        """The context at the beginning of each turn, and of all before it."""
        self._ends: list[int] = []
        """The tool calls up to the end of each turn."""
        self._turn_of: list[int] = []
        self._read(run)
        before = self._inputs[-1] if self._inputs else 0
        last = self._contexts[-1] if self._contexts else 0
        has_answer = run.context_tokens > last
        self.count = len(self._contexts) + has_answer
        """How many model calls there were, at least."""
        self.input_tokens = before + has_answer * last
        """What all of them read, had no cache helped."""

    def after(self, call: int) -> After:
        """Return the part of the run after this tool call's turn."""
        turn = self._turn_of[call - 1]
        return After(
            calls=len(self._turn_of) - self._ends[turn],
            context_tokens=self._total_context - self._contexts[turn],
            input_tokens=self.input_tokens - self._inputs[turn],
        )

    def later(self, call: int) -> int:
        """Return the number of model calls after this tool call."""
        return self.count - self._turn_of[call - 1] - 1

    def _read(self, run: RecordedRun) -> None:
        context, read = 0, 0
        for number, (call, turn) in enumerate(zip(run.calls, run.turns(), strict=True), start=1):
            if turn == len(self._ends):
                read += context if self._ends else _before(call)
                self._inputs.append(read)
                self._ends.append(number)
                self._contexts.append(call.context_tokens)
            context = call.context_tokens
            self._ends[-1], self._contexts[-1] = number, context
            self._turn_of.append(turn)


def _before(call: RecordedCall) -> int:
    # The prompt, and a few words of the model.
    return max(call.context_tokens - estimate_tokens(call.result) - estimate_tokens(call.arguments), 0)
