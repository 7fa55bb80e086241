"""
Read a text as its reader does.

That is without escapes, invisible characters, look-alike letters and hard line breaks.

A view is another text with a map of places. What is found in a view is replaced in the text itself, so that all that is
no secret stays as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.values import is_identifier
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

MAX_DEPTH: Final = 3
"""How often escapes within escapes are read."""

_ESCAPE: Final = lazy_pattern(
    # Each way begins with its sign: only there is it tried.
    r"\\(?<!\\.)\\{0,15}(?:u00[0-7][0-9A-Fa-f]|x[0-7][0-9A-Fa-f]|[\"'/`]|[nrt](?![\w:\\])|n(?=[\w-]))"
    r"|\\(?<!\\.)\r?\n|=\r?\n|=3D"
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

_SIGNS: Final = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a", "'"),
    **dict.fromkeys("\u2500\u2501\u2550", "-"),
    **dict.fromkeys("\u2502\u2503\u2551", "|"),
    **dict.fromkeys("\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c\u256d\u256e\u256f\u2570", "+"),
    **dict.fromkeys("\u00a0\u202f\u2009", " "),
    **dict.fromkeys("\u2192\u27f6", "->"),
    **dict.fromkeys("\u21d2\u27f9", "=>"),
}
"""Quotes, rules, blanks and arrows of typography, as programs write them."""

_TYPESET: Final = "".join(_SIGNS)
_FOREIGN: Final = "".join(LOOK_ALIKES)
_UNSEEN: Final = lazy_pattern(
    rf"\x1b(?:\[[0-9;]{{0,20}}[A-Za-z]|[(-/][0-9A-Z])|\u00ab[ \u00a0\u202f]?|[ \u00a0\u202f]\u00bb"
    rf"|[{_IGNORED}{_STYLED}{_TYPESET}]|(?<=[A-Za-z])[{_FOREIGN}]|[{_FOREIGN}](?=[A-Za-z])"
)
_CONCERNED: Final = lazy_pattern(rf"[\x1b{_IGNORED}{_STYLED}{_FOREIGN}{_TYPESET}]")
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
    gaps: list[tuple[int, int, str]] = []
    at = -1
    for line in lines[:-1]:
        at += len(line) + 1
        is_full = len(line) == width
        if len(line) < MIN_WIDTH or not (is_full or line[-1].isalnum()):
            continue
        end = at - len(line) + len(line.rstrip(_BORDER))
        gap = GAP.match(text, end)
        # A frame and the next line at the margin are what a terminal breaks; an indented line must look like the rest.
        if gap is not None and (
            (is_full and (gap["frame"] or gap.end() == at + 1)) or (is_rest(text, gap.end()) and _BROKEN.search(line))
        ):
            gaps.append((end, gap.end(), ""))
    return _build_view(text, iter(gaps), None)


_BORDER: Final = " \t\r|\u2502\u2503"
GAP: Final = lazy_pattern(
    r"(?<=[\w+/=%~.-])(?P<frame>[ \t]{0,2}[|\u2502\u2503])?\r?\n[ \t]{0,40}"
    r"(?:[|\u2502\u2503>#*]{1,2}[ \t]{1,4})?(?=[\w+/=%~.-])(?!--)"
)
"""Between two lines of one word: what frames them, and what the second begins with."""

_BROKEN: Final = lazy_pattern(
    r"(?:[=:'\"` ]|^)(?=[\w+/=.~%-]{0,400}[0-9])(?=[\w+/=.~%-]{0,400}[A-Za-z])[\w+/=.~%-]{4,400}\r?$"
)
_REST: Final = lazy_pattern(
    r"(?!\d{2,4}[-:/]\d\d)(?=[A-Za-z+/=_~-]*[0-9])(?=[0-9+/=_.~-]*[A-Za-z])[\w+/=.~-]+(?![\w:])"
)


def is_rest(text: str, at: int) -> bool:
    """Return whether letters and digits begin here that are no name."""
    rest = _REST.match(text, at)
    return rest is not None and not is_identifier(rest[0])


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
    sign = _SIGNS.get(character) or _SIGNS.get(character.strip())
    if sign is not None:
        return sign
    plain = plain_letters(character)
    return plain if plain.isascii() and character[0] != "\x1b" else ""
