"""Our own window as a candidate, with its defaults for a window of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from benchmarks.context.stand_in import extract
from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact_context import ContextWindow, MemoryArchive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.context.measure import MakeCandidate
    from otel_errcompact_context.window.layers.requests import SummaryRequest


class Ours:
    """
    A `ContextWindow`.

    Args:
        options: How large, and what is changed of the defaults.
        with_summary: Whether the stand-in summarises.
    """

    persists = True

    def __init__(self, options: ContextOptions, *, with_summary: bool) -> None:
        self._window = ContextWindow(
            options,
            archive=MemoryArchive(),
            count_tokens=estimate_mixed_tokens,
            summarize=_summarise if with_summary else None,
            observers=(),
        )

    def compact(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        return cast("list[dict[str, Any]]", self._window.compact(messages, format="openai-chat").messages)


def _summarise(request: SummaryRequest) -> str:
    return extract(request.transcript, request.limit_tokens)


def make_ours(changed: Mapping[str, Any], *, with_summary: bool) -> MakeCandidate:
    """Return what makes our candidate: the defaults, with everything that is counted in tokens in proportion."""

    def make(window_tokens: int) -> Ours:
        share = window_tokens / ContextOptions().window_tokens
        preview = max(20, int(500 * share))
        fields = {
            "window_tokens": window_tokens,
            "reserve_tokens": window_tokens // 4,
            "preview_tokens": preview,
            "result_budget_tokens": max(preview, int(25_000 * share)),
            **changed,
        }
        return Ours(ContextOptions(**fields), with_summary=with_summary)

    return make
