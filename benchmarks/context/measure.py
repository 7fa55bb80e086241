"""One candidate on the lists: what it keeps, what that costs, and how often it spoils a prompt cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.context.facts import find_case, kept_facts, stands_in, texts_of
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact_context import providers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.context.data import Run

USERS_SHARE = 0.1
"""The share of the window up to which users' messages count, the newest first."""


class Candidate(Protocol):
    """Compacts lists of one run."""

    persists: bool
    """Whether a program continues with the list that it is given back; if not, the whole list comes every time."""

    def compact(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        ...


class MakeCandidate(Protocol):
    """Makes a candidate for a run."""

    def __call__(self, window_tokens: int) -> Candidate:
        """Return a candidate for a window of so many tokens."""
        ...


@dataclass(slots=True)
class Score:
    """What a candidate has kept."""

    facts: int = 0
    facts_kept: int = 0
    tokens: int = 0
    tokens_kept: int = 0
    users: int = 0
    users_kept: int = 0
    over: int = 0
    lists: int = 0
    requests: int = 0
    prefixes_lost: int = 0
    requests_over: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Facts that went, each with its run."""

    @property
    def facts_per_thousand(self) -> float:
        """Facts kept for each 1,000 tokens that are sent."""
        return 1_000 * self.facts_kept / self.tokens_kept if self.tokens_kept else 0.0


def tokens_of(messages: Sequence[object]) -> int:
    """Return what a list costs, by the estimator: the same for all candidates."""
    return providers.read_list(messages, estimate_mixed_tokens, "openai-chat").tokens


def measure_cut(runs: Iterable[Run], share: float, make: MakeCandidate) -> Score:
    """Compact each list at its cut, in a window of a share of what it costs."""
    score = Score()
    for run in runs:
        case = find_case(run.messages, run.system)
        messages = case.messages
        if not case.facts and run.source != "tau-bench":
            continue
        whole = tokens_of(messages)
        window = int(whole * share)
        made = make(window).compact(messages)
        costs = tokens_of(made)
        score.lists += 1
        score.tokens += whole
        score.tokens_kept += costs
        score.over += costs > window
        kept = kept_facts(case.facts, made)
        score.facts += len(case.facts)
        score.facts_kept += len(kept)
        score.lost += [(run.name, fact) for fact in sorted(case.facts - kept)]
        if run.source == "tau-bench":
            said = fitting_users(messages, int(window * USERS_SHARE))
            held = "\n".join(text for message in made for text in texts_of(message))
            score.users += len(said)
            score.users_kept += sum(stands_in(text, held) for text in said)
    return score


def fitting_users(messages: Sequence[dict[str, Any]], budget: int) -> list[str]:
    """Return what users have said after the task, the newest first, each once, as far as a budget goes."""
    said: list[str] = []
    texts = [message["content"] for message in messages[1:] if message["role"] == "user"]
    for text in dict.fromkeys(reversed(texts)):
        budget -= estimate_mixed_tokens(text) + 4
        if budget < 0:
            break
        said.append(text)
    return said


def measure_growing(runs: Iterable[Run], share: float, make: MakeCandidate, score: Score) -> None:
    """
    Replay each run request by request, in a window of a share of the whole, and count lost cache prefixes.

    A request is sent before each message of the agent. Its prefix is lost if what was sent with the one before is not
    how it begins.
    """
    for run in runs:
        window = int(tokens_of(run.messages) * share)
        candidate = make(window)
        given: list[Any] = []
        before: list[Any] = []
        for message in run.messages:
            if message["role"] == "assistant" and given:
                sent = candidate.compact(given)
                score.requests += 1
                score.requests_over += tokens_of(sent) > window
                score.prefixes_lost += before != sent[: len(before)]
                before = list(sent)
                given = list(sent) if candidate.persists else given
            given = [*given, message]
