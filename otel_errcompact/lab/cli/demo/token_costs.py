"""Token costs of a session: its errors, its conversation, and all prompts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.lab.cli.demo.agent import TASK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.lab.cli.demo.session import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Tokens with raw errors, as frameworks send them, and with digests."""

    raw: int
    sent: int
    digest: int

    @property
    def saved_percent(self) -> int:
        """How much digests save of the cost with raw errors."""
        return _percent(self.raw - self.digest, self.raw)

    @property
    def saved_of_sent_percent(self) -> int:
        """How much digests save of what is sent; may be negative."""
        return _percent(self.sent - self.digest, self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCosts:
    """What a session costs."""

    errors: Cost
    """The results of the failed calls, without the operator's words behind them."""

    conversation: Cost
    """All messages at the end: the task, the agent's own words, its calls, and all results."""

    prompts: Cost
    """All prompts together: each step sends the whole conversation so far, and on the digest's side its block."""


class ModelCall(NamedTuple):
    """Tokens of a model's prompt and answer before a step."""

    prompt: Cost
    answer: int
    """The tokens of the agent's own words."""

    then: Cost
    """The conversation after the step."""


def model_calls(steps: Sequence[Step]) -> Iterator[ModelCall]:
    """Yield the costs of each step, estimated from characters."""
    raw = sent = digest = estimate_tokens(TASK)
    block = ""
    for step in steps:
        prompt = Cost(raw=raw, sent=sent, digest=digest + estimate_tokens(block))
        block = step.recent_errors
        said = _count_own_words(step)
        raw += said + estimate_tokens(step.raw)
        sent += said + step.sent
        digest += said + estimate_tokens(step.read)
        yield ModelCall(prompt=prompt, answer=said, then=Cost(raw=raw, sent=sent, digest=digest))


def cost_session(steps: Sequence[Step]) -> SessionCosts:
    """
    Return the costs of a session of these steps.

    A refused call counts as if it had cost the same raw.
    """
    calls = list(model_calls(steps))
    failed = [step for step in steps if step.outcome == "failed"]
    return SessionCosts(
        errors=Cost(
            raw=sum(estimate_tokens(step.raw) for step in failed),
            sent=sum(step.sent for step in failed),
            digest=sum(estimate_tokens(step.digest) for step in failed),
        ),
        conversation=calls[-1].then,
        prompts=Cost(
            raw=sum(call.prompt.raw for call in calls),
            sent=sum(call.prompt.sent for call in calls),
            digest=sum(call.prompt.digest for call in calls),
        ),
    )


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0


def _count_own_words(step: Step) -> int:
    call = json.dumps({"tool": step.call.tool, **step.call.arguments})
    return estimate_tokens(step.call.thought) + estimate_tokens(call)
