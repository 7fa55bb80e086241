"""What a pass over a conversation knows of its failures: classes, what was told of them, and where they stand."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact import digest as rendering
from otel_errcompact.compactor.classify import Classified, classify
from otel_errcompact.compactor.hints import hint_for
from otel_errcompact.context.markers import marker
from otel_errcompact.digest import wording
from otel_errcompact.errors import Facts, RawError
from otel_errcompact.history.history import MAX_SHOWN_LINES, History, ShownLines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.context.layers.workspace import Workspace
    from otel_errcompact.context.markers import Marker
    from otel_errcompact.context.pairs import Spot
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.history.history import ErrorClass

MAX_CLASSES: Final = 100
"""Error classes that are told apart; the least recently seen is forgotten first."""

_MAX_RECALLED: Final = 256
"""Digests whose lines are gone through when others were pruned."""

_DIGESTED: Final = re.compile(r"#([0-9a-f]{4,16}) (.{1,80}) x([0-9]{1,9}), ([0-9,]{1,20}) tokens\Z")
_DETAIL: Final = "  | "
_HINT: Final = "  hint: "


class Standing(NamedTuple):
    """
    A failure as it stands in the list.
    """

    key: str
    text: str
    tokens: int
    raw_tokens: str
    """What the raw error cost, as the marker says it."""

    place: str
    """Where the raw error lies; empty if it stands in the list itself."""


class Failures:
    """
    The failures of one conversation, in order.

    Args:
        workspace: What the layer works with.
        options: How long a digest may be.
    """

    def __init__(self, workspace: Workspace, options: DigestOptions) -> None:
        self.history: Final = History(max_classes=MAX_CLASSES)
        self.standing: Final[dict[Spot, Standing]] = {}
        """Failures that may be pruned once they are resolved, oldest first."""
        self._workspace = workspace
        self._options = options
        self._spots: dict[str, list[Spot]] = {}
        self._labels: dict[str, list[tuple[str, str]]] = {}
        self._named: set[str] = set()
        """Classes that the list names, so that a repeat can."""
        self._places: dict[str, str] = {}
        """Where the newest failure lies of a class that an earlier pass has digested."""

    def add(self, raw: RawError, *, untold: bool) -> ErrorClass:
        """
        Count a failure and return its class.

        Args:
            raw: The failure.
            untold: Whether its text goes, so that it has to be known what was told of the class before.
        """
        found = classify(raw)
        found = self._as_labelled(found)
        known = self.history.get(found.key)
        if known is not None and untold and known.told is None:
            self._recall(known)
        hint = "" if known is not None else hint_for(found.facts)
        error_class = self.history.record(raw, found, hint=hint).error_class
        if not untold:
            error_class.told = found.facts
            self.history.shown.remember(found.facts.details)
        return error_class

    def add_digested(self, spot: Spot, standing: Marker, text: str, raw: RawError, tokens: int) -> str:
        """
        Count a failure that an earlier pass has digested and return its key; empty if the marker is not of such.
        """
        said = _DIGESTED.match(standing.what)
        if said is None:
            return ""
        label, kind, count, raw_tokens = said.groups()
        key = self._key(label, kind) or label
        if key == label and self.history.get(key) is None:
            self._labels.setdefault(label[:4], []).append((label, kind))
        found = Classified(facts=Facts(type=kind, cause=""), key=key, template="")
        error_class = self.history.record(raw, found).error_class
        error_class.count = max(int(count), error_class.count)
        error_class.told = None
        self._places[key] = standing.place
        self.stand(spot, Standing(key, text, tokens, raw_tokens, standing.place))
        self._remember(text)
        return key

    def stand(self, spot: Spot, standing: Standing) -> None:
        """Note where a failure stands, and as what."""
        self.standing[spot] = standing
        self._spots.setdefault(standing.key, []).append(spot)
        if standing.place:
            self._named.add(standing.key)

    def spots(self, key: str) -> list[Spot]:
        """Return where the failures of a class stand."""
        return self._spots.get(key, [])

    def digests(self, raw: RawError, error_class: ErrorClass) -> Iterator[str]:
        """Yield what may take the place of a raw error, the better text first."""
        is_named = error_class.key in self._named
        # A class that is not named in the list yet is told whole, though it failed before.
        told = error_class if is_named else replace(error_class, count=1)
        text = rendering.inline(
            raw,
            told,
            self.history,
            rendering.Standing(streak=error_class.streak),
            options=self._options,
            count_tokens=self._workspace.count_tokens,
        )
        error_class.told = told.told
        yield text
        if is_named:
            yield f"{wording.kind(error_class.facts.type)} #{error_class.short} again (x{error_class.count})"

    def prune(self, spots: list[Spot]) -> None:
        """Forget failures that are one line now: what fails like them later is told whole again."""
        for spot in spots:
            standing = self.standing.pop(spot, None)
            if standing is None:
                continue
            self._spots.pop(standing.key, None)
            self._named.discard(standing.key)
            self._places.pop(standing.key, None)
            if (error_class := self.history.get(standing.key)) is not None:
                error_class.count, error_class.told = 0, None
        self.history.shown = ShownLines(MAX_SHOWN_LINES)
        for standing in reversed([self.standing[spot] for spot in islice(reversed(self.standing), _MAX_RECALLED)]):
            self._remember(standing.text)

    def _key(self, label: str, kind: str) -> str:
        """Return the key of the class that a marker names; empty if this pass has not met it."""
        known = self.history.get(label) or self.history.find(label)
        return known.key if known is not None and wording.kind(known.facts.type) == kind else ""

    def _as_labelled(self, found: Classified) -> Classified:
        """Return a class under the name it has in the list, of which an earlier pass has written the beginning only."""
        kind = wording.kind(found.facts.type)
        for label, known in self._labels.get(found.key[:4], ()):
            if found.key.startswith(label) and known == kind:
                return replace(found, key=label)
        return found

    def _recall(self, error_class: ErrorClass) -> None:
        """Look up what was told of a class by an earlier pass, so that a repeat can say what is new."""
        place = self._places.get(error_class.key)
        if place:
            try:
                error_class.told = classify(RawError(text=self._workspace.archive.read(place))).facts
            except OSError:
                return

    def _remember(self, text: str) -> None:
        lines = text.split("\n")
        self.history.shown.remember(line[len(_DETAIL) :] for line in lines if line.startswith(_DETAIL))
        self.history.shown.remember(line[len(_HINT) :] for line in lines if line.startswith(_HINT))


def digested(error_class: ErrorClass, tokens: int, place: str) -> str:
    """Return the marker of a digest: it names the class, how often it has failed, and the place of the raw error."""
    return marker("errors", f"{_named(error_class)}, {tokens:,} tokens", place)


def pruned(error_class: ErrorClass, raw_tokens: str, place: str) -> str:
    """Return the one line that is left of a resolved failure."""
    return marker("errors", f"{_named(error_class)}, resolved since, {raw_tokens} tokens", place)


def _named(error_class: ErrorClass) -> str:
    return f"#{error_class.short} {wording.kind(error_class.facts.type)} x{error_class.count}"
