"""What a reply's usage tells of a context that was too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact_context.notes import Overflow
from otel_errcompact_context.providers.overflow import STOP_REASONS, find_at

if TYPE_CHECKING:
    from collections.abc import Iterable

CUT_PART: Final = 3
"""
A prompt was cut if less than one part in so many of its estimate was counted.

The estimator is too high by at most 2.1 times for whole texts of one script (`docs/context.md`).
"""

LEAST_TOKENS: Final = 1_000
"""Of shorter prompts the estimate tells nothing: their frame and what is sent beside them weigh more."""

MOST: Final = 3.0
"""How far estimates are scaled at most."""

_HOLDERS: Final = (
    (),
    ("usage",),
    ("usage_metadata",),
    ("usageMetadata",),
    ("response", "usage"),
    ("message", "usage"),
    ("response_metadata", "token_usage"),
    ("response_metadata", "usage"),
)
_PROMPT: Final = ("prompt_tokens", "prompt_token_count", "promptTokenCount", "prompt_eval_count")
_INPUT: Final = ("input_tokens", "inputTokens")
# Anthropic and Bedrock count beside the input what a cache holds of it; with others it is a part of the input.
_CACHED: Final = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
)
_ANSWER: Final = (
    "completion_tokens",
    "output_tokens",
    "outputTokens",
    "candidates_token_count",
    "candidatesTokenCount",
    "eval_count",
)
_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a provider counted of one call, in tokens."""

    prompt_tokens: int
    """What was read, with what a cache held of it."""

    answer_tokens: int | None
    """What was written; None where it is not told."""

    ended_by_length: bool = False
    """Whether the answer ended for want of space."""

    cleared_tokens: int = 0
    """What the provider removed from the prompt before reading it, because the request asked for that."""

    compacted: bool = False
    """Whether the reply holds a compaction: then the count of tokens read does not describe what was sent."""


def read_usage(reply: object) -> Usage | None:
    """
    Read the usage in a reply; None without one.

    Read are Anthropic's, OpenAI's (Chat and Responses), Gemini's, Bedrock's, Ollama's and LangChain's.

    Args:
        reply: An SDK's object or a dictionary: the whole reply, or its usage alone.
    """
    for path in _HOLDERS:
        holder = find_at(reply, path)
        prompt = _find_number(holder, _PROMPT)
        if prompt is None and (prompt := _find_number(holder, _INPUT)) is not None:
            prompt += sum(number for name in _CACHED if (number := _find_number(holder, (name,))) is not None)
        if prompt is not None:
            edits = _list_at(reply, ("context_management", "applied_edits"))
            items = [*_list_at(reply, ("output",)), *_list_at(reply, ("content",))]
            return Usage(
                prompt_tokens=prompt,
                answer_tokens=_find_number(holder, _ANSWER),
                ended_by_length=any(_name_reason(find_at(reply, path)) in _LENGTH for path in STOP_REASONS),
                cleared_tokens=sum(_find_number(edit, ("cleared_input_tokens",)) or 0 for edit in edits),
                compacted=any(find_at(item, ("type",)) == "compaction" for item in items),
            )
    return None


def _list_at(reply: object, path: tuple[str, ...]) -> list[object]:
    value = find_at(reply, path)
    return cast("list[object]", value) if isinstance(value, list) else []


def overflow_in_usage(reply: object, window_tokens: int, estimate_tokens: int = 0) -> Overflow | None:
    """
    Tell whether a reply's usage says that the context was too long, where no error does.

    It does where nothing was written for want of space, where as much was read as the window holds or more, and where
    far less was read than was sent: the server has cut the prompt.

    Args:
        reply: An SDK's object or a dictionary: the whole reply, or its usage alone. A `Usage` will do.
        window_tokens: The model's window.
        estimate_tokens: What was estimated for what was sent; 0 if that is not known.
    """
    usage = reply if isinstance(reply, Usage) else read_usage(reply)
    if usage is None or usage.compacted:
        return None
    read = f"{usage.prompt_tokens:,} tokens were read"
    if usage.ended_by_length and usage.answer_tokens == 0:
        return _make_overflow(f"{read} and none written, for want of space")
    if usage.prompt_tokens >= window_tokens:
        return _make_overflow(f"{read}, and the window has {window_tokens:,}", window_tokens, usage.prompt_tokens)
    if estimate_tokens >= LEAST_TOKENS and (usage.prompt_tokens + usage.cleared_tokens) * CUT_PART < estimate_tokens:
        return _make_overflow(f"{read} of some {estimate_tokens:,} that were sent: the prompt was cut")
    return None


class Calibration:
    """
    How many tokens a provider counts for each one that is estimated, by conversation.

    Never less than one, so that an estimate is only ever raised, and never more than `MOST`. A higher figure counts at
    once; a lower one brings it down by half of the way.
    """

    def __init__(self, sessions: int) -> None:
        self._factors: BoundedTable[str, float] = BoundedTable(sessions)

    def learn(self, session: str, estimate_tokens: int, counted_tokens: int) -> None:
        """Learn from one call."""
        if estimate_tokens < LEAST_TOKENS:
            return
        factor = min(MOST, max(1.0, counted_tokens / estimate_tokens))
        self._factors.update(session, lambda known: max(factor, ((known or 1.0) + factor) / 2))

    def factor(self, session: str) -> float:
        """Return by how much estimates are too low; 1 if nothing is known."""
        return self._factors.get(session) or 1.0

    def forget(self, session: str) -> None:
        """Forget a conversation."""
        self._factors.pop(session)


def _make_overflow(message: str, limit: int | None = None, sent: int | None = None) -> Overflow:
    return Overflow(provider="usage", limit_tokens=limit, sent_tokens=sent, message=message)


def _find_number(holder: object, names: Iterable[str]) -> int | None:
    found = (find_at(holder, (name,)) for name in names)
    return next((one for one in found if isinstance(one, int) and not isinstance(one, bool) and one >= 0), None)


def _name_reason(reason: object) -> str:
    # Google's SDK has an enumeration for it.
    value: object = getattr(reason, "value", reason)
    return value.lower() if isinstance(value, str) else ""
