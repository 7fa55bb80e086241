"""Old tool results, each to one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.window.layers.carrying.names import NameUse
from otel_errcompact_context.window.layers.carrying.survey import known_of
from otel_errcompact_context.window.layers.carrying.words import asks_user
from otel_errcompact_context.window.layers.editing import Edits
from otel_errcompact_context.window.layers.keeping import Keeper, describe
from otel_errcompact_context.window.layers.repeats import read_repeated
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import pair_calls, pairing_of, part_at
from otel_errcompact_context.window.schedule import Schedule

if TYPE_CHECKING:
    from otel_errcompact_context.messages import Conversation, Part
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

NAMES_TOKENS: Final = 60
"""Tokens that the names in one line may cost ..."""

NAMES_SHARE: Final = 8
"""... and one part in so many of the result ..."""

LEAST_NAMES: Final = 8
"""... unless that is not enough for one."""

LINE_TOKENS: Final = 40
"""About what one line costs, for an estimate of the gain before anything is kept."""


def micro(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Turn old results into one line each, the oldest first, until the conversation is as small as it should be.

    The line says which tool's result it was, how large, and where the whole of it lies. The newest `keep_results` stay,
    results of tools that are not among `clearable_tools` do, what users have answered a tool, and digests of errors.
    Where all of them together would gain less than `least_gain_tokens`, none is touched.
    """
    excess = conversation.tokens - workspace.target_tokens
    if excess <= 0:
        return Edited(conversation)
    old = [result for result in _find_old(conversation, workspace) if not _is_short_already(result[1], workspace)]
    if sum(max(part.tokens - LINE_TOKENS, 0) for _, part, _ in old) < workspace.least_gain_tokens:
        return Edited(conversation)
    named = conversation.messages if workspace.options.index_tokens else ()
    use = NameUse(named, find_names=known_of(workspace).find_names)
    keeper = Keeper(workspace)
    count_tokens = workspace.count_tokens
    edits = Edits()
    least, place_size = 0, -1
    for spot, part, tool in old:
        if excess <= 0:
            break
        kept = keeper.keep(part) if part.tokens > least else None
        if kept is None:
            continue
        line = marker(
            "micro",
            f"{describe(tool, kept.tokens, failed=part.failed)}{_describe_names(part, use, workspace)}",
            kept.place,
        )
        if len(kept.place) != place_size:
            # Places look alike: what costs no more than the shortest line is not archived in vain.
            least, place_size = count_tokens(marker("micro", "result", kept.place)), len(kept.place)
        excess -= edits.shorten_part(spot, part, line, count_tokens(line), tool=tool, place=kept.place)
    return edits.write_list(conversation, keeper.problem)


def _describe_names(part: Part, use: NameUse, workspace: Workspace) -> str:
    left = min(NAMES_TOKENS, part.tokens // NAMES_SHARE)
    if left < LEAST_NAMES or not use.names:
        return ""
    hidden = [name for name in use.names_of(part) if not use.calls[name] and not use.said[name]]
    shown: list[str] = []
    for name in use.rank_names(hidden):
        left -= workspace.count_tokens(name) + 1
        if left < 0:
            break
        shown.append(name)
    missing = len(hidden) - len(shown)
    return f"; names {', '.join(shown)}{f' and {missing:,} more' if missing else ''}" if shown else ""


LAYER: Final = Layer(name="micro", due=Schedule.when_cold, edit=micro)


def _find_old(conversation: Conversation, workspace: Workspace) -> list[tuple[Spot, Part, str]]:
    # Return the results that may become one line, the oldest first: where each stands, itself, and its tool.
    calls = pair_calls(conversation.messages, 0, pairing_of(conversation))
    results = ((spot, part_at(conversation.messages, spot), call) for spot, call in calls.items())
    found = [(spot, part, part.tool or call.tool) for spot, part, call in results]
    kept = [part for _, part, _ in found[-workspace.options.keep_results :]]
    del found[-workspace.options.keep_results :]
    repeated = read_repeated(kept, workspace.archive)
    found = [result for result in found if result[1].text not in repeated] if repeated else found
    clearable = workspace.options.clearable_tools
    return [result for result in found if result[2] in clearable or not (clearable or asks_user(result[2]))]


def _is_short_already(part: Part, workspace: Workspace) -> bool:
    found = marker_of(part.text)
    if found is None:
        return False
    return "\n" not in part.text or (found.layer == "errors" and part.tokens <= workspace.options.preview_tokens)
