"""
The error pass: raw error results become digests, resolved ones one line, and huge inputs of failed calls are shortened.

Cache friendliness. What becomes of a new error is decided by what stands before it, never by what follows, so that a
list to which messages are appended is compacted as it was before. Two things do depend on what follows: an error is
resolved, an input grows old. Both edit old messages, and so wait until a batch of
tokens can be gained at once, unless the list is cut anyway.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.operation import call_fingerprint, covers, operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact.errors import Operation, RawError
from otel_errcompact.history.history import MAX_STEPS
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.messages import is_beginning
from otel_errcompact_context.window.layers.editing import Edits
from otel_errcompact_context.window.layers.failures import Failures, ListedFailure, mark_digest, mark_resolved
from otel_errcompact_context.window.layers.keeping import Keeper
from otel_errcompact_context.window.layers.workspace import Layer
from otel_errcompact_context.window.pairs import Pairing, Spot, part_at
from otel_errcompact_context.window.schedule import Schedule
from otel_errcompact_context.window.shortening import shorten_arguments

if TYPE_CHECKING:
    import re

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact_context.messages import Conversation, Message, Part
    from otel_errcompact_context.window.layers.workspace import Edited, Workspace

_WAY_BACK: Final = "kept, see below"
"""Where the place of the whole text stands, with each digest of a list of messages."""

LEAST_TOKENS: Final = 100
"""Shorter errors stay as they are: they are precise, and a digest with its marker would hardly be shorter."""

HUGE_INPUT_TOKENS: Final = 1_000
"""Inputs of failed calls are shortened beyond this ..."""

INPUT_TOKENS: Final = 300
"""... to this."""

INPUT_TURNS: Final = 4
"""Further answers of the model during which a failed input stays whole: it may want to send it again."""

_OURS: Final = "[errcompact errors: "
_CUT: Final = lazy_pattern(r"\[\.\.\. ([0-9,]{1,20}) characters cut \.\.\.\]")
_HANDED_OUT: Final = lazy_pattern(
    r"\[[^\[\]\n]{1,80}\](?: at [^\n]{1,400})?(?:: [^\n]{1,2000})? #[0-9a-f]{4,16}(?: again \(x[^\n]{1,200}\))?"
    r"(?: \((?:the tool reported success; )?detected: [^\n]{1,100}\))?(?:\n|\Z)"
    r"|(?:[^\s\[\]]{1,80} )?#[0-9a-f]{4,16} again \(x[0-9]"
    r"|NOT EXECUTED: this exact call has failed "
)
"""How the texts begin that our boundaries hand out in place of raw errors."""


def errors(conversation: Conversation, workspace: Workspace) -> Edited:
    """Return the conversation with its errors compacted."""
    before = workspace.states.pop("errors", None)
    if isinstance(before, _Pass) and before.can_continue(conversation, workspace):
        walk = before
    else:
        walk = _Pass(replace(workspace, states={}))
    edited = walk.walk_on(conversation)
    if not edited.problem:
        workspace.states["errors"] = walk
    return edited


LAYER: Final = Layer(name="errors", due=Schedule.always, edit=errors, forgets=False)


class _Call(NamedTuple):
    """The call that a result answers."""

    tool: str
    arguments: str
    spot: Spot | None

    @property
    def fingerprint(self) -> str:
        """By which the very same call is known again."""
        return call_fingerprint(self.tool, self.arguments) if self.spot is not None else ""


class _New(NamedTuple):
    """The text that replaces a part."""

    text: str
    tokens: int
    place: str


class _Pass:
    """One walk through a conversation, which continues where the list has grown."""

    def __init__(self, workspace: Workspace) -> None:
        self._messages: tuple[Message, ...] = ()
        self._workspace = workspace
        self._pipeline = Pipeline(
            workspace.digest.model_copy(update={"way_back": workspace.digest.way_back or _WAY_BACK}),
            workspace.count_tokens,
            hidden_failures=workspace.hidden_failures,
            roots=workspace.roots,
        )
        self._failures = Failures(workspace, self._pipeline)
        self._edits = Edits()
        self._open: dict[str, set[Operation]] = {}
        """The operations that have failed and not succeeded since, by tool."""
        self._tick = 0
        """How many results were taken."""
        self._steps: deque[tuple[int, Part, _Call]] = deque(maxlen=MAX_STEPS - 1)
        """The newest that may have resolved nothing, and are read only where something is."""
        self._calls: dict[str, Spot] = {}
        self._operations: dict[Spot, Operation] = {}
        self._pairing = Pairing()
        """For results without an id; most lists have none."""
        self._inputs: deque[tuple[int, Spot]] = deque()
        """Huge inputs of failed calls, each with the answer of the model from which on it is old."""
        self._due: dict[Spot, int] = {}
        """Old parts that can be edited, with what that would gain."""
        self._gain = 0
        self._answers = 0
        self._role = ""
        self._place = ""
        """The newest place: others look alike, so that it shows the cost of a marker."""
        self._keeper = Keeper(workspace, "errors")
        self._kept: dict[str, str] = {}
        """The texts that were kept, by their places."""

    def can_continue(self, conversation: Conversation, workspace: Workspace) -> bool:
        """
        Return whether a list begins with what was walked through.

        Its archive must be as it was. Nothing that follows changes what was decided before.
        """
        return (
            workspace.digest == self._workspace.digest
            and workspace.hidden_failures == self._workspace.hidden_failures
            and workspace.batch_tokens == self._workspace.batch_tokens
            and is_beginning(self._messages, conversation.messages)
            and self._keeper.still_keeps(self._kept)
        )

    def walk_on(self, conversation: Conversation) -> Edited:
        """Walk to the end of a conversation, and return the result."""
        start, self._messages = len(self._messages), conversation.messages
        calls, open_ = self._calls, self._open
        for m, message in enumerate(islice(self._messages, start, None), start):
            role = message.role
            if role == "assistant" != self._role:
                self._answers += 1
                if self._inputs:
                    self._age_inputs()
            self._role = role
            for p, part in enumerate(message.parts):
                if part.kind == "call":
                    calls[part.call_id] = Spot(m, p)
                elif part.kind == "result" and (
                    part.failed or open_ or part.tokens >= LEAST_TOKENS or _OURS in part.text
                ):
                    self._take_result(Spot(m, p), part)
        return self._edits.write_list(conversation, self._keeper.problem)

    def _take_result(self, spot: Spot, part: Part) -> None:
        call = self._call_of(spot, part)
        self._tick += 1
        found = marker_of(part.text) if "[errcompact " in part.text else None
        if found is not None:
            # What another layer has cut proves nothing any more.
            if found.layer == "errors":
                raw = RawError(text="", tool=call.tool, operation=self._operation_of(call))
                if key := self._failures.add_digested(spot, found, part, raw, call.fingerprint, self._tick):
                    self._place = found.place
                    self._note_failure(raw, key, call)
            return
        if not part.failed and not self._may_matter(part, call) and not self._may_resolve(call):
            self._steps.append((self._tick, part, call))
            return
        verdict = self._detect(part, call)
        if verdict.outcome == "ignored" or _HANDED_OUT.match(part.text):
            return
        if verdict.outcome == "failure":
            self._compact_failure(spot, part, call, verdict.stated)
        elif verdict.outcome == "success":
            self._note_success(call)

    def _detect(self, part: Part, call: _Call) -> ResultVerdict:
        return self._pipeline.detect(part.text, tool=call.tool, arguments=call.arguments, flagged=part.failed)

    @staticmethod
    def _may_matter(part: Part, call: _Call) -> bool:
        if part.tokens < LEAST_TOKENS:
            return False
        return classify_result(part.text, tool=call.tool, arguments=call.arguments).outcome == "failure"

    def _may_resolve(self, call: _Call) -> bool:
        scopes = self._open.get(call.tool)
        return scopes is not None and bool(self._find_covered(self._operation_of(call), scopes))

    @staticmethod
    def _find_covered(operation: Operation, scopes: set[Operation]) -> set[Operation]:
        # Return those of many operations whose failures this one's success ends; mostly that is looked up.
        if operation.wide:
            return {scope for scope in scopes if covers(operation, scope)}
        return {operation} & scopes

    def _operation_of(self, call: _Call) -> Operation:
        # Return what must succeed for a failure of this call to be resolved; it is asked for more than once.
        if call.spot is None:
            return operation_of(call.tool, call.arguments)
        known = self._operations.get(call.spot)
        if known is None:
            known = self._operations[call.spot] = operation_of(call.tool, call.arguments)
        return known

    def _call_of(self, spot: Spot, part: Part) -> _Call:
        if part.call_id:
            at = self._calls.get(part.call_id)
        else:
            self._pairing.read_on(self._messages)
            at = self._pairing.by_result.get(spot)
        if at is None:
            return _Call(part.tool, "", None)
        call = self._part_at(at)
        return _Call(call.tool or part.tool, call.text, at)

    def _part_at(self, spot: Spot) -> Part:
        return part_at(self._messages, spot)

    # Failures.

    def _compact_failure(self, spot: Spot, part: Part, call: _Call, stated: str) -> None:
        raw = RawError(
            text=part.text,
            stated=stated,
            tool=call.tool,
            operation=self._operation_of(call),
            call_id=part.call_id,
            arguments=call.arguments,
        )
        count_tokens = self._workspace.count_tokens
        is_verbatim = call.tool in self._workspace.digest.verbatim_tools
        # With an image it costs more than its text, and no digest describes it.
        is_removed = not is_verbatim and part.tokens >= LEAST_TOKENS and part.tokens <= count_tokens(part.text)
        error_class = self._failures.add_failure(raw, call.fingerprint, self._tick, is_removed=is_removed)
        self._note_failure(raw, error_class.key, call)
        if not is_removed:
            return
        new = self._render_failure(raw, part, error_class)
        text, tokens, place = new or _New(part.text, part.tokens, "")
        self._failures.put_failure(spot, ListedFailure(error_class.key, text, tokens, f"{part.tokens:,}", place))
        if new is not None:
            self._edit_part(spot, new)

    def _render_failure(self, raw: RawError, part: Part, error_class: ErrorClass) -> _New | None:
        # Return what takes the place of a raw error; nothing if that would not be shorter, or it cannot be kept.
        count_tokens = self._workspace.count_tokens
        for digest in self._failures.render_digests(raw, error_class):
            # Places look alike: the one before shows the cost of this one, so that nothing is archived in vain.
            likely = f"{digest}\n{mark_digest(error_class, part.tokens, self._place)}"
            if count_tokens(likely) >= part.tokens:
                continue
            place = self._keep_text(part.text)
            text = f"{digest}\n{mark_digest(error_class, part.tokens, place)}"
            tokens = count_tokens(text)
            if place and tokens < part.tokens:
                return _New(text, tokens, place)
        return None

    def _note_failure(self, raw: RawError, key: str, call: _Call) -> None:
        # Note that an operation has failed: its class is not resolved any more, and a huge input will grow old.
        self._open.setdefault(raw.tool, set()).add(raw.scope)
        for spot in self._failures.spots_of(key):
            self._gain -= self._due.pop(spot, 0)
        if call.spot is not None and self._part_at(call.spot).tokens > HUGE_INPUT_TOKENS:
            self._inputs.append((self._answers + INPUT_TURNS, call.spot))

    # Proof that a failure is over.

    def _note_success(self, call: _Call) -> None:
        if not self._may_resolve(call):
            return
        operation, scopes = self._operation_of(call), self._open[call.tool]
        scopes -= self._find_covered(operation, scopes)
        if not scopes:
            del self._open[call.tool]
        history = self._failures.history
        while self._steps:
            tick, part, step = self._steps.popleft()
            if self._detect(part, step).outcome == "success":
                history.note_step(tick, self._operation_of(step).name)
        for error_class in history.succeed(operation, call=call.fingerprint, began=self._tick):
            # What may have taken effect is not settled by a later call.
            for spot in () if error_class.kind.unknown else self._failures.spots_of(error_class.key):
                listed = self._failures.listed[spot]
                line = mark_resolved(error_class, listed.raw_tokens, listed.place or self._place)
                self._note_due(spot, listed.tokens - self._workspace.count_tokens(line))
        self._edit_old()

    def _note_due(self, spot: Spot, gain: int) -> None:
        if gain > 0:
            self._gain += gain - self._due.get(spot, 0)
            self._due[spot] = gain

    def _edit_old(self) -> None:
        if self._gain < self._workspace.batch_tokens:
            return
        due, self._due, self._gain = list(self._due), {}, 0
        results: list[Spot] = []
        for spot in due:
            if self._part_at(spot).kind == "call":
                self._edit_input(spot)
            elif self._prune_failure(spot):
                results.append(spot)
        self._failures.forget_pruned(results)

    def _prune_failure(self, spot: Spot) -> bool:
        listed = self._failures.listed[spot]
        error_class = self._failures.history.get(listed.key)
        place = listed.place or self._keep_text(listed.text)
        if error_class is None or not place:
            return False
        line = mark_resolved(error_class, listed.raw_tokens, place)
        tokens = self._workspace.count_tokens(line)
        if tokens >= listed.tokens:
            return False
        self._edit_part(spot, _New(line, tokens, place))
        return True

    # Inputs.

    def _age_inputs(self) -> None:
        while self._inputs and self._inputs[0][0] <= self._answers:
            _, spot = self._inputs.popleft()
            if spot not in self._edits.cuts and (shorter := self._shorten_input(spot, self._place)):
                self._note_due(spot, self._part_at(spot).tokens - self._workspace.count_tokens(shorter))
        self._edit_old()

    def _shorten_input(self, spot: Spot, place: str) -> str:
        # Return the input of a call with long strings in it shortened, the first cut naming the place; or nothing.
        part = self._part_at(spot)
        if _OURS in part.text:
            return ""
        shorter = shorten_arguments(part.text, INPUT_TOKENS, self._workspace.count_tokens)
        if shorter == part.text or operation_of(part.tool, shorter) != operation_of(part.tool, part.text):
            return ""

        def named(cut: re.Match[str]) -> str:
            return json.dumps(marker("errors", f"{cut[1]} characters of the input", place))[1:-1]

        text, cuts = _CUT.subn(named, shorter, count=1)
        return text if cuts else ""

    def _edit_input(self, spot: Spot) -> None:
        part = self._part_at(spot)
        place = self._keep_text(part.text)
        text = self._shorten_input(spot, place) if place else ""
        if text:
            self._edit_part(spot, _New(text, self._workspace.count_tokens(text), place))

    # What is written.

    def _keep_text(self, text: str) -> str:
        # Keep the whole of what is to go and return its place; empty if that cannot be.
        place = self._keeper.keep_text(text)
        if place:
            self._place = place
            self._kept[place] = text
        return place

    def _edit_part(self, spot: Spot, new: _New) -> None:
        part = self._part_at(spot)
        tool = part.tool if part.kind == "call" else self._call_of(spot, part).tool
        self._edits.shorten_part(spot, part, new.text, new.tokens, tool=tool, place=new.place)
