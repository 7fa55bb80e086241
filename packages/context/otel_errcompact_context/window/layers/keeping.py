"""Results to the archive before they are cut: each once, and no more of them when the archive refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact_context.memory.archive import find_text
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.memory.recall import is_recalled
from otel_errcompact_context.window.shortening import shorten
from otel_errcompact_context.window.transcript import json_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.messages import Part
    from otel_errcompact_context.window.layers.workspace import Workspace

_TOLD_SHORT: Final = ("errors", "recall")
"""Who marks a text that is more than what was left of another."""

MAX_REFUSALS: Final = 3
"""After so many the disk is full, and not just too small for one large text."""


class Kept(NamedTuple):
    """The whole of a result in the archive."""

    place: str
    tokens: int
    """What the whole costs."""


class Keeper:
    """Keeps what a layer is about to cut, and remembers what could not be kept."""

    def __init__(self, workspace: Workspace, kind: str = "results") -> None:
        self._workspace = workspace
        self._kind = kind
        self._refusals = 0
        self._refusal = ""

    @property
    def problem(self) -> str:
        """Why something was not cut; empty if all could be kept."""
        if not self._refusals:
            return ""
        return f"{self._kind} stay whole because the archive refused {self._refusals} of them: {self._refusal}"

    def keep(self, part: Part) -> Kept | None:
        """
        Keep the whole of a result: a text as text, what holds more than text as the provider's JSON; None if refused.

        What stays of a result that was archived before is not kept again: its whole has a place already. The archive
        is asked for that, since a marker alone is a line that any tool can print.
        """
        before = self._find_kept(part)
        if before is not None:
            return before
        try:
            whole = self._write_whole(part)
        except OSError as error:
            self._note_refusal(error)
            return None
        place = self.keep_text(whole)
        return Kept(place, part.tokens) if place else None

    def keep_text(self, text: str) -> str:
        """Keep a text and return its place; empty if that was refused, or too many were before."""
        if self._refusals >= MAX_REFUSALS:
            return ""
        try:
            return self._workspace.archive.keep(text)
        except OSError as error:
            self._note_refusal(error)
            return ""

    def still_keeps(self, texts: Mapping[str, str]) -> bool:
        """Return whether texts are at their places, and keep lost ones again."""
        look = getattr(self._workspace.archive, "still_keeps", None)
        if look is not None and look(texts):
            return True
        return all(self.keep_text(text) == place for place, text in texts.items())

    def _note_refusal(self, error: OSError) -> None:
        self._refusals += 1
        self._refusal = str(error)

    def _write_whole(self, part: Part) -> str:
        if part.native is None or part.edited or part.tokens <= self._workspace.count_tokens(part.text):
            return part.text
        return json_line(part.native)

    def _find_kept(self, part: Part) -> Kept | None:
        found = marker_of(part.text)
        whole = find_text(self._workspace.archive, found.place) if found is not None else None
        if found is None or whole is None:
            return None
        line = part.text.partition("\n")[0]
        if not is_recalled(part.text, whole) and with_preview(line, whole, self._workspace) != part.text:
            return None
        return Kept(found.place, self._workspace.count_tokens(whole))


def read_whole(part: Part, archive: Archive) -> str:
    """Return a result as it came; a digest stays."""
    found = marker_of(part.text) if part.kind == "result" else None
    whole = find_text(archive, found.place) if found is not None and found.layer not in _TOLD_SHORT else None
    return part.text if whole is None else whole


def with_preview(marker: str, whole: str, workspace: Workspace) -> str:
    """Return what stays of an archived result: the marker, and below it head and tail."""
    preview = shorten(whole, workspace.options.preview_tokens, workspace.count_tokens)
    return f"{marker}\n{preview}" if preview else marker


def is_picture(part: Part, workspace: Workspace) -> bool:
    """Tell whether less than half of a result is text."""
    return part.tokens > 2 * workspace.count_tokens(part.text)


def describe(tool: str, tokens: int, *, failed: bool | None) -> str:
    """Return what a marker says of a result."""
    return f"{'failed result' if failed else 'result'}{f' of {tool}' if tool else ''}, {tokens:,} tokens"
