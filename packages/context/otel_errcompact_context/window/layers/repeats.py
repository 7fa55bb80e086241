"""The newest results that say what an earlier one says: a line that names it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact_context.memory.archive import find_text
from otel_errcompact_context.memory.markers import is_marked, marker, marker_of
from otel_errcompact_context.messages import is_beginning
from otel_errcompact_context.window.layers.carrying.actions import find_actions
from otel_errcompact_context.window.layers.editing import Edits
from otel_errcompact_context.window.layers.keeping import Keeper, is_picture
from otel_errcompact_context.window.layers.results import find_newest_results, has_failed
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import Spot, pair_calls, pairing_of, part_at
from otel_errcompact_context.window.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.messages import Conversation, Message, Part
    from otel_errcompact_context.window.layers.workspace import Workspace

LEAST_TOKENS: Final = 100
"""Shorter results are hardly longer than the line."""

_MAX_CALL: Final = 80


def repeats(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Replace each of the newest results whose text stands whole in the list already.

    The line says which call it repeats. Failures are left to the error pass, and pictures stay.
    """
    messages = conversation.messages
    newest = [spot for spot in find_newest_results(messages) if _may_repeat(part_at(messages, spot), workspace)]
    if not newest:
        return Edited(conversation)
    earlier = _find_firsts(conversation, workspace)
    newest = [spot for spot in newest if earlier[part_at(messages, spot).text] < spot]
    if not newest:
        return Edited(conversation)
    calls = pair_calls(messages, 0, pairing_of(conversation))
    keeper = Keeper(workspace, "repeats")
    edits = Edits()
    for spot in reversed(newest):
        part, call = part_at(messages, spot), calls[spot]
        first = earlier[part.text]
        if calls[first].tool != call.tool or has_failed(part, call):
            continue
        kept = keeper.keep(part)
        if kept is None:
            continue
        shown = find_actions(calls[first])[0].what[:_MAX_CALL]
        line = marker("repeats", f"unchanged: the result of {shown} above, {part.tokens:,} tokens", kept.place)
        edits.shorten_part(spot, part, line, workspace.count_tokens(line), tool=call.tool, place=kept.place)
    return edits.write_list(conversation, keeper.problem)


LAYER: Final = Layer(name="repeats", due=Schedule.always, edit=repeats, forgets=False)


def read_repeated(parts: Sequence[Part], archive: Archive) -> set[str]:
    """Return the texts that some results repeat, so that they stay where they are."""
    marks = (marker_of(part.text) for part in parts)
    texts = {find_text(archive, found.place) for found in marks if found is not None and found.layer == "repeats"}
    return {text for text in texts if text is not None}


def _may_repeat(part: Part, workspace: Workspace) -> bool:
    return part.tokens >= LEAST_TOKENS and not is_marked(part.text) and not is_picture(part, workspace)


class _Firsts:
    """Holds where each text of a growing list stands first as a result."""

    def __init__(self) -> None:
        self.spots: Final[dict[str, Spot]] = {}
        self._messages: Sequence[Message] = ()

    def is_of(self, conversation: Conversation) -> bool:
        """Tell whether a list begins with what was read."""
        return is_beginning(self._messages, conversation.messages)

    def read_on(self, messages: Sequence[Message]) -> None:
        """Read the messages that were not read yet."""
        # The first that holds a text: what stands before it does not change when this one goes.
        known, self._messages = len(self._messages), messages
        for m, message in enumerate(islice(messages, known, None), known):
            for p, part in enumerate(message.parts):
                if part.kind == "result" and part.tokens >= LEAST_TOKENS and part.text not in self.spots:
                    self.spots[part.text] = Spot(m, p)


def _find_firsts(conversation: Conversation, workspace: Workspace) -> dict[str, Spot]:
    found = workspace.states.pop("repeats", None)
    if not isinstance(found, _Firsts) or not found.is_of(conversation):
        found = _Firsts()
    found.read_on(conversation.messages)
    workspace.states["repeats"] = found
    return found.spots
