"""The failures of one conversation: their classes, what the list shows of them, and where they are in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.compactor.classify import Classified
from otel_errcompact.digest import Situation, one_line, wording
from otel_errcompact.digest.shown import ShownLines
from otel_errcompact.engine.pipeline import FailureMemory
from otel_errcompact.errors import Facts, RawError
from otel_errcompact.history.history import History
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.archive import find_text
from otel_errcompact_context.memory.markers import marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.engine.pipeline import Pipeline
    from otel_errcompact.history.history import ErrorClass
    from otel_errcompact_context.memory.markers import Marker
    from otel_errcompact_context.messages import Part
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

MAX_CLASSES: Final = 100
"""Error classes that are kept; the least recently seen is forgotten first."""

_MAX_ENDED: Final = 160
"""Characters of what has resolved a failure."""

_MAX_RECALLED: Final = 256
"""Digests whose lines are gone through when others were pruned."""

_DIGESTED: Final = lazy_pattern(r"#([0-9a-f]{4,16}) (.{1,80}) x([0-9]{1,9}), ([0-9,]{1,20}) tokens\Z")

_DETAIL: Final = "  | "
_HINT: Final = "  hint: "


class ListedFailure(NamedTuple):
    """A failure as the list holds it."""

    key: str
    text: str
    tokens: int
    raw_tokens: str
    """What the raw error cost, as the marker has it."""

    place: str
    """Where the raw error lies; empty if it is in the list itself."""


class Failures:
    """The failures of one conversation, in order."""

    def __init__(self, workspace: Workspace, pipeline: Pipeline) -> None:
        self.listed: Final[dict[Spot, ListedFailure]] = {}
        """Failures that may be pruned once they are resolved, oldest first."""
        self._memory = FailureMemory(history=History(max_classes=MAX_CLASSES))
        self._pipeline = pipeline
        self._workspace = workspace
        self._spots: dict[str, list[Spot]] = {}
        self._labels: dict[str, list[tuple[str, str]]] = {}
        self._named: set[str] = set()
        """Classes that the list names, so that a repeat can."""
        self._places: dict[str, str] = {}
        """Where the newest failure lies of a class that an earlier pass has digested."""

    @property
    def history(self) -> History:
        """The error classes of the conversation."""
        return self._memory.history

    def add_failure(self, raw: RawError, call: str, tick: int, *, is_removed: bool) -> ErrorClass:
        """Count the failure of a call and return its class."""
        memory = self._memory
        found = self._as_labelled(self._pipeline.classify(raw))
        known = self.history.get(found.key)
        if known is not None and is_removed and memory.shown.of(found.key).facts is None:
            self._recall_class(known)
        error_class = self._record(raw, found, call, tick)
        if not is_removed:
            memory.shown = memory.shown.add_facts(found.key, found.facts).add_lines(found.facts.details)
        return error_class

    def add_digested(self, spot: Spot, found: Marker, part: Part, raw: RawError, call: str, tick: int) -> str:
        """Count a digested failure and return its key; empty if it is none."""
        match = _DIGESTED.match(found.what)
        if match is None:
            return ""
        label, kind, count, raw_tokens = match.groups()
        key = self._key_of(label, kind) or label
        if key == label and self.history.get(key) is None:
            self._labels.setdefault(label[:4], []).append((label, kind))
        memory = self._memory
        facts = Facts(type=kind, cause=part.text.partition("\n")[0])
        digested = Classified(facts=facts, key=key, template="")
        error_class = self._record(raw, digested, call, tick, hint="")
        error_class.count = max(int(count), error_class.count)
        memory.shown = memory.shown.add_facts(key, None).add_lines(_read_lines(part.text))
        self._places[key] = found.place
        self.put_failure(spot, ListedFailure(key, part.text, part.tokens, raw_tokens, found.place))
        return key

    def _record(self, raw: RawError, found: Classified, call: str, tick: int, hint: str | None = None) -> ErrorClass:
        kind = self._pipeline.kind_of(raw, found)
        return self._pipeline.record(self._memory, raw, found, kind=kind, call=call, hint=hint, tick=tick).error_class

    def put_failure(self, spot: Spot, failure: ListedFailure) -> None:
        """Note where a failure is in the list, and as what."""
        self.listed[spot] = failure
        self._spots.setdefault(failure.key, []).append(spot)
        if failure.place:
            self._named.add(failure.key)

    def spots_of(self, key: str) -> list[Spot]:
        """Return where the failures of a class are."""
        return self._spots.get(key, [])

    def render_digests(self, raw: RawError, error_class: ErrorClass) -> Iterator[str]:
        """Yield what may take the place of a raw error, the better text first."""
        is_named = error_class.key in self._named
        # A class that the list does not name yet is shown whole, though it failed before.
        shown_as = error_class if is_named else replace(error_class, count=1)
        yield self._pipeline.render(self._memory, raw, shown_as, Situation(streak=error_class.streak))
        if is_named:
            yield f"{wording.name_type(error_class.facts.type)} #{error_class.short} again (x{error_class.count})"

    def forget_pruned(self, spots: list[Spot]) -> None:
        """Forget failures that are one line now: the next one like them is shown whole again."""
        memory = self._memory
        for spot in spots:
            failure = self.listed.pop(spot, None)
            if failure is None:
                continue
            self._spots.pop(failure.key, None)
            self._named.discard(failure.key)
            self._places.pop(failure.key, None)
            if (error_class := self.history.get(failure.key)) is not None:
                error_class.count = 0
                memory.shown = memory.shown.add_facts(failure.key, None)
        newest = [self.listed[spot] for spot in islice(reversed(self.listed), _MAX_RECALLED)]
        left = (line for failure in reversed(newest) for line in _read_lines(failure.text))
        memory.shown = replace(memory.shown, lines=ShownLines().add(left))

    def _key_of(self, label: str, kind: str) -> str:
        known = self.history.get(label) or self.history.find(label)
        return known.key if known is not None and wording.name_type(known.facts.type) == kind else ""

    def _as_labelled(self, found: Classified) -> Classified:
        # Return a class under the name it has in the list, of which an earlier pass has written the beginning only.
        kind = wording.name_type(found.facts.type)
        for label, known in self._labels.get(found.key[:4], ()):
            if found.key.startswith(label) and known == kind:
                return replace(found, key=label)
        return found

    def _recall_class(self, error_class: ErrorClass) -> None:
        # Look up what an earlier pass has shown of a class, so that a repeat shows what is new.
        place = self._places.get(error_class.key)
        text = find_text(self._workspace.archive, place) if place else None
        if text is not None:
            facts = self._pipeline.classify(RawError(text=text)).facts
            self._memory.shown = self._memory.shown.add_facts(error_class.key, facts)


def _read_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line[len(mark) :] for mark in (_DETAIL, _HINT) for line in lines if line.startswith(mark)]


def mark_digest(error_class: ErrorClass, tokens: int, place: str) -> str:
    """Return the marker of a digest: it names the class, how often it has failed, and the place of the raw error."""
    return marker("errors", f"{_name_class(error_class)}, {tokens:,} tokens", place)


def mark_resolved(error_class: ErrorClass, raw_tokens: str, place: str) -> str:
    """Return the one line that is left of a resolved failure."""
    ran, same, _ = error_class.ended.partition("the same call")
    how = f": {one_line(f'{ran}{same}', _MAX_ENDED)} returned without an error" if same else " since"
    return marker("errors", f"{_name_class(error_class)}, resolved{how}, {raw_tokens} tokens", place)


def _name_class(error_class: ErrorClass) -> str:
    return f"#{error_class.short} {wording.name_type(error_class.facts.type)} x{error_class.count}"
