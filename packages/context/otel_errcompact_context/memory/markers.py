"""The one form in which a context says what was cut out of it, and where the whole of it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from otel_errcompact.digest import one_line
from otel_errcompact_context.notes import LAYERS

if TYPE_CHECKING:
    from otel_errcompact_context.notes import LayerName

MarkedBy: TypeAlias = "LayerName | Literal['recall']"
"""Who marks a text: the layer that cut it, or the tool by which a model reads what was cut."""

_MARKED_BY: Final[dict[str, MarkedBy]] = {**{layer: layer for layer in LAYERS}, "recall": "recall"}
_OPENING: Final = "[errcompact "
_WHOLE: Final = "; whole: "
_CLOSING: Final = "]"
_MAX_WHAT: Final = 300
_MAX_LINE: Final = 8_192
"""Longer than any marker of a path that an operating system allows; what is longer is a tool's own text."""


class Marker(NamedTuple):
    """What a marker says."""

    layer: MarkedBy
    what: str
    place: str


def marker(layer: MarkedBy, what: str, place: str) -> str:
    """
    Return the line that stands where something was cut: `[errcompact <layer>: <what>; whole: <place>]`.

    Args:
        layer: Which layer cut it, or `recall`.
        what: What was cut, with numbers. Names of tools may stand in it as they are: untrusted text can neither break
            the line nor name another place.
        place: Where the archive keeps the whole of it.
    """
    what = one_line(what, _MAX_WHAT)
    if "; whole" in what or "[err" in what:
        what = what.replace("; whole", ", whole").replace("[err", "(err")
    return f"{_OPENING}{layer}: {what}{_WHOLE}{place}{_CLOSING}"


def marker_of(text: str) -> Marker | None:
    """
    Return the marker that a text begins or ends with, as a line of its own.

    A tool can print such a line as well. Whoever would drop something on a marker's word alone looks into the archive
    first: `layers.keeping` does.
    """
    if text.startswith(_OPENING):
        end = text.find("\n", 0, _MAX_LINE)
        found = _parse_marker(text if end < 0 else text[:end])
        if found:
            return found
    if text.endswith(_CLOSING):
        return _parse_marker(text[text.rfind("\n", max(0, len(text) - _MAX_LINE)) + 1 :])
    return None


def is_marked(text: str) -> bool:
    """Tell whether a layer has compacted a text before: it begins or ends with a marker."""
    return marker_of(text) is not None


def _parse_marker(line: str) -> Marker | None:
    if len(line) > _MAX_LINE or not line.startswith(_OPENING) or not line.endswith(_CLOSING):
        return None
    name, colon, rest = line[len(_OPENING) : -len(_CLOSING)].partition(": ")
    what, whole, place = rest.partition(_WHOLE)
    layer = _MARKED_BY.get(name)
    return Marker(layer, what, place) if layer and colon and whole and place else None
