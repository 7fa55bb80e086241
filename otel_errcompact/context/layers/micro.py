"""Old tool results, each to one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact.context.layers.editing import Edits, with_edits, with_new_text
from otel_errcompact.context.layers.keeping import Keeper, described
from otel_errcompact.context.layers.workspace import Edited
from otel_errcompact.context.markers import marker, marker_of
from otel_errcompact.context.notes import Cut

if TYPE_CHECKING:
    from otel_errcompact.context.layers.workspace import Workspace
    from otel_errcompact.context.messages import Conversation, Part


class _Result(NamedTuple):
    message: int
    index: int
    part: Part
    tool: str


def micro(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Turn old results into one line each, the oldest first, until the conversation is as small as it should be.

    The line says which tool's result it was, how large, and where the whole of it lies. The newest `keep_results` stay,
    results of tools that are not among `clearable_tools` do, and so do digests of errors: they are short already.
    """
    excess = conversation.tokens - workspace.target_tokens
    if excess <= 0:
        return Edited(conversation)
    keeper = Keeper(workspace)
    edits: Edits = {}
    cuts: list[Cut] = []
    place = ""
    for result in _old_results(conversation, workspace):
        if excess <= 0 or keeper.has_given_up:
            break
        part = result.part
        # Places look alike: the one before tells what this one will cost, so that nothing small is archived in vain.
        if workspace.count_tokens(_line(result, part.tokens, place)) >= part.tokens:
            continue
        kept = keeper.keep(part)
        if kept is None:
            continue
        place = kept.place
        line = _line(result, kept.tokens, place)
        tokens = workspace.count_tokens(line)
        if tokens >= part.tokens:
            continue
        edits.setdefault(result.message, {})[result.index] = with_new_text(part, line, tokens)
        excess -= part.tokens - tokens
        cuts.append(
            Cut(
                message=result.message,
                tool=result.tool,
                call_id=part.call_id,
                tokens_before=part.tokens,
                tokens_after=tokens,
                place=place,
            )
        )
    return Edited(with_edits(conversation, edits), tuple(cuts), keeper.problem)


def _line(result: _Result, tokens: int, place: str) -> str:
    return marker("micro", described(result.tool, tokens, failed=result.part.failed), place)


def _old_results(conversation: Conversation, workspace: Workspace) -> list[_Result]:
    """Return the results that may become one line, the oldest first."""
    tools: dict[str, str] = {}
    found: list[_Result] = []
    for m, message in enumerate(conversation.messages):
        for p, part in enumerate(message.parts):
            kind = part.kind
            if kind == "call":
                tools[part.call_id] = part.tool
            elif kind == "result":
                found.append(_Result(m, p, part, part.tool or tools.get(part.call_id, "")))
    clearable = workspace.options.clearable_tools
    return [
        result
        for result in found[: -workspace.options.keep_results]
        if (not clearable or result.tool in clearable) and not _is_short_already(result.part, workspace)
    ]


def _is_short_already(part: Part, workspace: Workspace) -> bool:
    """Tell whether a result is the line of an earlier cut, or the digest of an error."""
    found = marker_of(part.text)
    if found is None:
        return False
    return "\n" not in part.text or (found.layer == "errors" and part.tokens <= workspace.options.preview_tokens)
