"""The result budget: what the newest results may cost together; the largest go to the archive, a preview stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.results import classify_result
from otel_errcompact_context.memory.markers import is_marked, marker
from otel_errcompact_context.window.layers.editing import Edits
from otel_errcompact_context.window.layers.keeping import Keeper, describe, is_picture, with_preview
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import Spot, pair_calls, pairing_of, part_at
from otel_errcompact_context.window.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.messages import Conversation, Message, Part
    from otel_errcompact_context.window.layers.workspace import Workspace


def results(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Archive the largest of the newest results until all of them are within `result_budget_tokens`.

    The newest are those that answer the newest calls: what the model has not read yet, so that hardly any cached prefix
    is lost. Of an archived one a marker with its place stays, and a preview of `preview_tokens`; pictures stay, since
    nobody has seen them yet. Failures are left to the error pass, whose digests say more than a preview.
    """
    messages = conversation.messages
    newest = find_newest_results(messages)
    budget = workspace.options.result_budget_tokens
    if sum(messages[m].parts[p].tokens for m, p in newest) <= budget:
        return Edited(conversation)
    calls = pair_calls(messages, newest[-1].message, pairing_of(conversation))
    found = [(spot, part_at(messages, spot)) for spot in newest]
    left = [(spot, part) for spot, part in found if not has_failed(part, calls[spot])]
    excess = sum(part.tokens for _, part in left) - budget
    keeper = Keeper(workspace)
    edits = Edits()
    for spot, part in sorted(left, key=lambda one: -one[1].tokens):
        if excess <= 0 or part.tokens <= workspace.options.preview_tokens:
            break
        if _is_short_already(part, workspace) or is_picture(part, workspace):
            continue
        tool = part.tool or calls[spot].tool
        kept = keeper.keep(part)
        if kept is None:
            continue
        line = marker("results", describe(tool, kept.tokens, failed=part.failed), kept.place)
        text = with_preview(line, part.text, workspace)
        excess -= edits.shorten_part(spot, part, text, workspace.count_tokens(text), tool=tool, place=kept.place)
    return edits.write_list(conversation, keeper.problem)


LAYER: Final = Layer(name="results", due=Schedule.always, edit=results, forgets=False)


def _is_short_already(part: Part, workspace: Workspace) -> bool:
    if not is_marked(part.text):
        return False
    line = part.text.partition("\n")[0]
    return part.tokens <= workspace.options.preview_tokens + workspace.count_tokens(line) + 1


def find_newest_results(messages: Sequence[Message]) -> list[Spot]:
    """
    Return the results that follow the newest calls, the last one first.

    None if those still wait, or were read and then taken out: what stands before the marker of that was read too.
    """
    spots: list[Spot] = []
    for m in range(len(messages) - 1, -1, -1):
        parts = messages[m].parts
        if any(part.kind == "call" or (part.kind == "text" and is_marked(part.text)) for part in parts):
            break
        spots += [Spot(m, p) for p in range(len(parts) - 1, -1, -1) if parts[p].kind == "result"]
    return spots


def has_failed(part: Part, call: Part) -> bool:
    """Tell whether a result says that its call failed."""
    return classify_result(part.text, tool=call.tool, arguments=call.text, flagged=part.failed).outcome == "failure"
