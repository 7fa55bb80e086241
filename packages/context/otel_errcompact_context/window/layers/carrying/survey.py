"""What messages hold, for the index and for what is put back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from otel_errcompact.detector.results import ResultVerdict
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.messages import Part
from otel_errcompact_context.window.layers.carrying.actions import ActionKind, find_actions
from otel_errcompact_context.window.layers.carrying.files import ReadFile, find_files
from otel_errcompact_context.window.layers.carrying.index import Sections, read_index
from otel_errcompact_context.window.layers.carrying.names import NameUse, make_finder, remember_short
from otel_errcompact_context.window.layers.carrying.open_errors import find_open_errors
from otel_errcompact_context.window.layers.keeping import read_whole
from otel_errcompact_context.window.pairs import pair_calls, pairing_of, part_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_context.messages import Conversation, Message
    from otel_errcompact_context.window.layers.carrying.actions import Action
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

MAX_MESSAGES: Final = 2_000
"""The newest messages that are read; of more than these an index shows nothing."""

_REMEMBERED: Final = 2 * MAX_MESSAGES
"""Calls and results of which it is remembered what they did: those of the newest messages, and those behind them."""


class Known:
    """Remembers what was found in the texts of a conversation."""

    def __init__(self, workspace: Workspace) -> None:
        pipeline = Pipeline(
            workspace.digest, workspace.count_tokens, hidden_failures=workspace.hidden_failures, roots=workspace.roots
        )
        archive = workspace.archive

        def classify(text: str, tool: str, arguments: str, flagged: bool | None) -> ResultVerdict:
            whole = read_whole(Part("result", text, 0), archive)
            found = marker_of(whole)
            if found is not None and found.layer != "recall":
                return ResultVerdict(outcome="failure" if found.layer == "errors" else "ignored")
            return pipeline.detect(whole, tool=tool, arguments=arguments, flagged=flagged)

        self.find_names: Final = make_finder()
        self.find_actions: Final = remember_short(
            _REMEMBERED, lambda tool, text: find_actions(Part("call", text, 0, tool))
        )
        self.classify_result: Final = remember_short(_REMEMBERED, classify)
        """What a result is; of one that was cut the whole is read, and what is not there any more proves nothing."""


def known_of(workspace: Workspace) -> Known:
    """Return what is known of the texts of a conversation."""
    found = workspace.states.get("survey")
    if not isinstance(found, Known):
        found = workspace.states["survey"] = Known(workspace)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What some messages of a list hold."""

    sections: Sections
    """The entries of the index, those first that matter most."""

    files: list[ReadFile]
    """Files that can be put back, newest first."""


def survey_messages(conversation: Conversation, start: int, end: int, workspace: Workspace) -> Survey:
    """
    Read what some messages hold; what follows says what is settled.

    Args:
        conversation: The list.
        start: The first of the messages.
        end: The first one after them.
        workspace: How failures are told, and the archive.
    """
    messages, known = conversation.messages, known_of(workspace)
    left = [*messages[: min(start, MAX_MESSAGES)], *messages[end:]]
    start = max(start, end - MAX_MESSAGES)
    gone = messages[start:end]
    calls = pair_calls(messages, start, pairing_of(conversation))
    verdicts = {
        spot: known.classify_result((part := part_at(messages, spot)).text, call.tool, call.text, part.failed)
        for spot, call in calls.items()
    }
    failed = frozenset(spot for spot, verdict in verdicts.items() if verdict.outcome == "failure")
    sections: Sections = defaultdict(list)
    sections["open errors"] = find_open_errors(messages, start, end, calls, verdicts, workspace)
    actions = {spot: known.find_actions(call.tool, call.text) for spot, call in calls.items()}
    for kind, what in _describe_calls(actions, failed, start, end):
        sections[kind].append(what)
    earlier = [read_index(message) for message in gone]
    for found in reversed(earlier):
        for section in get_args(ActionKind):
            sections[section] += found.get(section, ())
    sections["names"] += _rank_names(gone, left, earlier, workspace)
    files = find_files(messages, start, end, actions, failed, workspace.archive)
    return Survey(sections={name: list(dict.fromkeys(entries)) for name, entries in sections.items()}, files=files)


def _describe_calls(
    actions: dict[Spot, tuple[Action, ...]], failed: frozenset[Spot], start: int, end: int
) -> Iterator[tuple[ActionKind, str]]:
    done: set[str] = set()
    for spot in reversed(actions):
        if not start <= spot.message < end:
            continue
        for action in actions[spot]:
            if action.what not in done:
                done.add(action.what)
                yield action.kind, f"{action.what} (failed)" if spot in failed else action.what


def _rank_names(
    gone: Sequence[Message], left: Sequence[Message], earlier: Sequence[Sections], workspace: Workspace
) -> list[str]:
    # Names that no message holds any more when these are gone.
    use = NameUse(gone, workspace.archive, known_of(workspace).find_names)
    for found in earlier:
        use.said.update(found.get("names", ()))
    kept = use.find_names(left)
    return use.rank_names(name for name in use.names if name not in kept)
