"""Raw errors of one time line without repetition, and their room."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.html_report.steps import Text
from otel_errcompact.lab.html_report.text import mark_special

if TYPE_CHECKING:
    from otel_errcompact.lab.html_report.steps import Step


@dataclass(slots=True)
class Room:
    """Characters that are left for the time lines of all runs."""

    left: int


@dataclass(slots=True)
class Share:
    """
    The room that one run takes.

    Args:
        room: What is left for all runs.
        most: The most that this run may take.
    """

    room: Room
    most: int
    taken: int = field(default=0, init=False)

    def take(self, size: int) -> bool:
        """Take room if there is enough, and return whether there was."""
        if self.taken + size > self.most or size > self.room.left:
            return False
        self.taken += size
        self.room.left -= size
        return True

    def give_back(self, size: int) -> None:
        """Give room back to all runs."""
        self.taken -= size
        self.room.left += size


SHORT: Final = 4_000
"""Characters of a raw error that stands in its step although the row of its class has it, too."""

END: Final = 2_000
"""Characters at either end of a raw error for which there is no room."""


@dataclass(slots=True)
class SharedText:
    """A raw error and its steps."""

    name: bytes
    text: Text
    size: int
    steps: int = 0
    first: Step | None = None
    """The step on the page that shows it."""

    def text_of(self, step: Step) -> Text:
        """Return the text at the first step, later its place."""
        if self.first is None:
            self.first = step
            return self.text
        return Text(same_as=self.first.at, same_call=self.first.call)


class SharedTexts:
    """
    The raw errors of one time line.

    Args:
        share: The room of the run.
    """

    def __init__(self, share: Share) -> None:
        self._share = share
        self._texts: dict[bytes, SharedText] = {}

    def add(self, text: str, example: str) -> SharedText:
        """
        Keep the raw error of a step.

        Args:
            text: The text as it is shown.
            example: The place on the page that has it whole; empty if there is none.
        """
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (shared := self._texts.get(name)) is None:
            shared = self._texts[name] = self._fit(name, text, example)
        shared.steps += 1
        return shared

    def drop(self, shared: SharedText) -> None:
        """Forget a step; with its last step the text goes."""
        shared.steps -= 1
        if not shared.steps:
            self._share.give_back(shared.size)
            del self._texts[shared.name]

    def _fit(self, name: bytes, text: str, example: str) -> SharedText:
        if example and len(text) > SHORT:
            fits = self._share.take(END)
            beginning = text[:END] if fits else ""
            return SharedText(
                name, Text(beginning=beginning, cut=len(text) - len(beginning), example=example), END if fits else 0
            )
        # What is certainly too long is not turned into HTML to know it.
        size = len(mark_special(text)) if len(text) <= self._share.room.left else len(text)
        if self._share.take(size):
            return SharedText(name, Text(beginning=text), size)
        if len(text) > 2 * END and self._share.take(2 * END):
            return SharedText(name, Text(beginning=text[:END], end=text[-END:], cut=len(text) - 2 * END), 2 * END)
        return SharedText(name, Text(missing=True, cut=len(text), example=example), 0)
