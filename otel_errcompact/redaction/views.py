"""
Read a text as its reader does.

That is without escapes, invisible characters, look-alike letters and hard line breaks.

A view is another text with a map of places. What is found in a view is replaced in the text itself, so that all that is
no secret stays as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.letters import LOOK_ALIKES, plain_letters
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A text that stands for another one."""

    text: str
    """The text to search."""

    starts: Sequence[int]
    """Places in the view at which a new stretch begins."""

    origins: Sequence[int]
    """For each stretch its place in the original text; within a stretch both go on one by one."""

    below: View | None = None
    """The view of which this is a view; None where it is of the text itself."""

    def locate(self, place: int) -> int:
        """Return where a place of the view stands in the original text."""
        at = bisect_right(self.starts, place) - 1
        origin = self.origins[at] + place - self.starts[at]
        if at + 1 < len(self.origins):
            origin = min(origin, self.origins[at + 1])
        return origin if self.below is None else self.below.locate(origin)


MIN_WIDTH: Final = 40
"""Columns of the narrowest terminal at whose width lines are taken for broken."""

_IN_SECRETS: Final = frozenset(f"{ascii_letters}{digits}_-.~+/=%")

MAX_DEPTH: Final = 3
"""How often escapes within escapes are read."""

_ESCAPE: Final = lazy_pattern(
    r"(?<!\\)\\{1,16}(?:u00[0-7][0-9A-Fa-f]|x[0-7][0-9A-Fa-f]|[\"'/`]|[nrt](?![\w:\\])|n(?=[\w-]))|(?<!\\)\\\r?\n|=\r?\n|=3D"
    r"|%(?:25){0,8}[2-7][0-9A-Fa-f]|&(?:quot|apos|amp|lt|gt|#39|#34|#x27|#x22|#61|#58);"
)
_ENTITIES: Final = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "#39": "'", "#34": '"'} | {
    "#x27": "'",
    "#x22": '"',
    "#61": "=",
    "#58": ":",
}
_IGNORED: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters of which nothing shows: Default_Ignorable_Code_Point of Unicode."""

_STYLED: Final = "\uff01-\uff5e\U0001d400-\U0001d7ff"
"""Full width and mathematical letters."""

_FOREIGN: Final = "".join(LOOK_ALIKES)
_UNSEEN: Final = lazy_pattern(
    rf"\x1b(?:\[[0-9;]{{0,20}}[A-Za-z]|[(-/][0-9A-Z])|[{_IGNORED}{_STYLED}]|(?<=[A-Za-z])[{_FOREIGN}]|[{_FOREIGN}](?=[A-Za-z])"
)
_CONCERNED: Final = lazy_pattern(rf"[\x1b{_IGNORED}{_STYLED}{_FOREIGN}]")
"""One of these stands in each text that has something unseen; one class of characters is searched for quickly."""


def view_without_unseen(text: str) -> View | None:
    """Return `text` in plain ASCII where readers see that; None if unchanged."""
    if not _CONCERNED.search(text):
        return None
    return _build_view(text, ((*match.span(), _read_character(match[0])) for match in _UNSEEN.finditer(text)), None)


def view_without_escapes(text: str, below: View | None) -> View | None:
    """Return `text` with its escapes read once; None where it has none."""
    matches = _ESCAPE.finditer(text)
    if "=3D" not in text:  # quoted-printable has it where a name is given a value
        matches = (match for match in matches if match[0][0] != "=")
    return _build_view(text, ((*match.span(), _read_escape(match[0])) for match in matches), below)


def view_without_wraps(text: str) -> View | None:
    """Return `text` with words that a width broke whole."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if width < MIN_WIDTH or len(lines) == 1:
        return None
    places: list[int] = []
    at = -1
    for number, line in enumerate(lines[:-1]):
        at += len(line) + 1
        if len(line) == width and line[-1] in _IN_SECRETS and lines[number + 1][:1] in _IN_SECRETS:
            places.append(at)
    return _build_view(text, ((at, at + 1, "") for at in places), None) if places else None


def _build_view(text: str, changes: Iterator[tuple[int, int, str]], below: View | None) -> View | None:
    parts: list[str] = []
    starts, origins = [0], [0]
    at = size = 0
    for start, end, new in changes:
        parts += (text[at:start], new)
        size += start - at
        starts += (size, size + len(new))
        origins += (start, end)
        size += len(new)
        at = end
    if not at:
        return None
    parts.append(text[at:])
    return View(text="".join(parts), starts=starts, origins=origins, below=below)


def _read_escape(escape: str) -> str:
    first = escape[0]
    if first == "%":
        return chr(int(escape[-2:], base=16))
    if first == "&":
        return _ENTITIES[escape[1:-1]]
    if first == "=" or escape[-1] == "\n":
        return "=" if escape == "=3D" else ""
    said = escape.lstrip("\\")
    return chr(int(said[1:], base=16)) if len(said) > 1 else _SAID.get(said, said)


_SAID: Final = {"n": "\n", "r": "\n", "t": "\t"}


def _read_character(character: str) -> str:
    plain = plain_letters(character)
    return plain if plain.isascii() and character[0] != "\x1b" else ""
