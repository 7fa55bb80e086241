"""The newest results that say what an earlier one says: a line that names it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.context.memory.markers import is_marked, marker, marker_of
from otel_errcompact.context.messages import is_beginning, with_new_text
from otel_errcompact.context.window.layers.carrying.actions import find_actions
from otel_errcompact.context.window.layers.carrying.calls import pair_calls
from otel_errcompact.context.window.layers.editing import Edits
from otel_errcompact.context.window.layers.keeping import Keeper, is_picture
from otel_errcompact.context.window.layers.results import find_newest_results
from otel_errcompact.context.window.layers.workspace import Edited, Layer
from otel_errcompact.context.window.pairs import Spot
from otel_errcompact.context.window.schedule import Schedule
from otel_errcompact.detector.results import classify_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.memory.archive import Archive
    from otel_errcompact.context.messages import Conversation, Message, Part
    from otel_errcompact.context.window.layers.workspace import Workspace

LEAST_TOKENS: Final = 100
"""Shorter results are hardly longer than the line."""

_MAX_CALL: Final = 80


def repeats(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Replace each of the newest results whose text stands whole in the list already.

    The line says which call it repeats. Failures are left to the error pass, and pictures stay.
    """
    messages = conversation.messages
    newest = [spot for spot in find_newest_results(messages) if _may_repeat(_part(messages, spot), workspace)]
    if not newest:
        return Edited(conversation)
    earlier = _find_firsts(conversation, workspace)
    newest = [spot for spot in newest if earlier[_part(messages, spot).text] < spot]
    if not newest:
        return Edited(conversation)
    calls = pair_calls(messages)
    keeper = Keeper(workspace, "repeats")
    edits = Edits(conversation)
    for spot in reversed(newest):
        part, call = _part(messages, spot), calls[spot]
        first = earlier[part.text]
        if calls[first].tool != call.tool or _has_failed(part, call):
            continue
        kept = keeper.keep(part)
        if kept is None:
            continue
        shown = find_actions(calls[first])[0].what[:_MAX_CALL]
        line = marker("repeats", f"unchanged: the result of {shown} above, {part.tokens:,} tokens", kept.place)
        tokens = workspace.count_tokens(line)
        if tokens < part.tokens:
            edits.replace(spot, with_new_text(part, line, tokens), tool=call.tool, place=kept.place)
    return edits.edited(keeper.problem)


LAYER: Final = Layer(name="repeats", due=Schedule.always, edit=repeats, forgets=False)


def read_repeated(parts: Sequence[Part], archive: Archive) -> set[str]:
    """Return the texts that some results repeat, so that they stay where they are."""
    texts: set[str] = set()
    for part in parts:
        found = marker_of(part.text)
        if found is not None and found.layer == "repeats":
            try:
                texts.add(archive.read(found.place))
            except OSError:
                continue
    return texts


def _part(messages: Sequence[Message], spot: Spot) -> Part:
    return messages[spot.message].parts[spot.part]


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

    def take(self, messages: Sequence[Message]) -> None:
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
    found.take(conversation.messages)
    workspace.states["repeats"] = found
    return found.spots


def _has_failed(part: Part, call: Part) -> bool:
    return classify_result(part.text, tool=call.tool, arguments=call.text, flagged=part.failed).outcome == "failure"
