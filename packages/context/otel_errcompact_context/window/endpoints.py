"""
What providers do to a context themselves, used on request.

Their compaction can be the summary step, and a request can ask them to clear or compact what they are sent.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.providers.overflow import find_at
from otel_errcompact_context.window.room import reserve_of
from otel_errcompact_context.window.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.window.layers.requests import Summarize, Summary, SummaryRequest
    from otel_errcompact_context.window.window import ContextWindow

ANTHROPIC_BETA: Final = "compact-2026-09-04"
"""The version of Anthropic's interface that this was written for."""

ANTHROPIC_EDITING_BETA: Final = "context-management-2025-06-27"
"""The version of Anthropic's context editing that this was written for."""

T = TypeVar("T")


def anthropic_context_editing(window: ContextWindow, *, exclude_tools: Sequence[str] = ()) -> dict[str, Any]:
    """
    Return the parameters with which Anthropic clears old results itself.

        client.beta.messages.create(..., **anthropic_context_editing(window))

    The list stays whole on your side. The provider begins at the window's target, keeps as many results as the window
    would, and clears no less at once than is worth a prompt cache. A guard that is handed the replies goes by what they
    say was cleared, so that the window cuts only what is too long all the same.

    Args:
        window: Whose options count.
        exclude_tools: Tools whose results are not cleared.
    """
    schedule = _make_schedule(window)
    edit: dict[str, Any] = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": schedule.target},
        "keep": {"type": "tool_uses", "value": window.options.keep_results},
        "clear_at_least": {"type": "input_tokens", "value": schedule.least_gain},
    }
    if exclude_tools:
        edit["exclude_tools"] = list(exclude_tools)
    return {"betas": [ANTHROPIC_EDITING_BETA], "context_management": {"edits": [edit]}}


def openai_context_management(window: ContextWindow) -> dict[str, Any]:
    """
    Return the parameters with which OpenAI compacts the context itself.

        client.responses.create(..., **openai_context_management(window))

    It begins at the window's target. The opaque item that comes in the output has to go into the list with the rest of
    it, and no layer takes it out again.

    Args:
        window: Whose options count.
    """
    return {"context_management": [{"type": "compaction", "compact_threshold": _make_schedule(window).target}]}


def _make_schedule(window: ContextWindow) -> Schedule:
    room = window.window_tokens - reserve_of(window.options, window.window_tokens)
    return Schedule(window.options, room, 0, "over_trigger")


def openai_compaction(client: Any, model: str, **options: Any) -> Summarize:
    """
    Return a summariser that has OpenAI compact the conversation: `client.responses.compact`.

    What comes back is its opaque compaction item, and what users said since the task; both go into the list. For lists
    of the Responses interface.

    Args:
        client: An `OpenAI` or `AsyncOpenAI`; with the latter the window is used asynchronously.
        model: The model that compacts.
        options: What else the call is given: `instructions`, `prompt_cache_key`, `timeout`.
    """

    def summarize(request: SummaryRequest) -> Summary | Awaitable[Summary]:
        _expect_format(request, "openai-responses", "openai_compaction")
        answer = client.responses.compact(model=model, input=list(request.messages), **options)
        return _read_later(answer, lambda compacted: _drop_task(compacted.output, request.messages))

    cast("Any", summarize).reads_compacted = True
    return summarize


def anthropic_compaction(client: Any, model: str, *, max_tokens: int = 8_000, **options: Any) -> Summarize:
    """
    Return a summariser that has Anthropic compact the conversation: a request of the Messages beta for compaction.

    Its summary is taken as text, which any later request may hold wherever it stands; the signed block could only be
    the first of a list, and only under the same beta.

    Args:
        client: An `Anthropic` or `AsyncAnthropic`; with the latter the window is used asynchronously.
        model: The model that compacts.
        max_tokens: What the provider may write at most; the request's own limit if that is less.
        options: What else the call is given: `system` and `tools`, as the conversation has them.
    """
    betas = [ANTHROPIC_BETA, *options.pop("betas", ())]

    def summarize(request: SummaryRequest) -> Summary | Awaitable[Summary]:
        _expect_format(request, "anthropic", "anthropic_compaction")
        answer = client.beta.messages.create(
            model=model,
            max_tokens=min(max_tokens, request.limit_tokens),
            messages=list(request.messages),
            betas=betas,
            # Older releases of the SDK know no such parameter, but send it all the same.
            extra_body={"compaction": {"type": "summarize", "instructions": request.instructions}},
            **options,
        )
        return _read_later(answer, _find_summary)

    return summarize


def _expect_format(request: SummaryRequest, format_name: FormatName, function: str) -> None:
    if request.format != format_name:
        raise ConfigurationError(f"{function} compacts lists of the format {format_name}, not {request.format}")


def _read_later(answer: object, read: Callable[[Any], Summary]) -> Summary | Awaitable[Summary]:
    if not inspect.isawaitable(answer):
        return read(answer)

    async def awaited() -> Summary:
        return read(await answer)

    return awaited()


def _drop_task(output: Sequence[object], messages: Sequence[object]) -> list[object]:
    # Return what was compacted without the task that it repeats, since the task stays in the list itself.
    first = next((_quote_words(message) for message in messages if find_at(message, ("role",)) == "user"), None)
    if first is not None and output and find_at(output[0], ("role",)) == "user" and _quote_words(output[0]) == first:
        return list(output[1:])
    return list(output)


def _quote_words(message: object) -> str:
    content = find_at(message, ("content",))
    if isinstance(content, str):
        return content
    blocks = cast("Sequence[object]", content) if isinstance(content, list | tuple) else ()
    return "".join(str(find_at(block, ("text",)) or "") for block in blocks)


def _find_summary(message: object) -> str:
    blocks = cast("Sequence[object]", find_at(message, ("content",)) or ())
    return "".join(
        str(find_at(block, ("content",)) or "") for block in blocks if find_at(block, ("type",)) == "compaction"
    )
