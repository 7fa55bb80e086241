"""Put entries into a settings file, and take them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.hooks.settings.entries import OF_ENVIRONMENT, is_ours, list_handlers
from otel_errcompact_hosts.json_text import JsonText
from otel_errcompact_hosts.payloads import as_list, as_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from otel_errcompact_hosts.hooks.settings.entries import Entry

Place = tuple[str | int, ...]

_VERSION: Final[Place] = ("version",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A text with entries put into it."""

    text: str
    made: tuple[Place, ...]
    """Objects and arrays that were not there before."""

    left: tuple[Entry, ...]
    """Entries whose place somebody else has taken."""


def add_entries(text: str, entries: Iterable[Entry], name: str) -> Added:
    """Put entries into a settings file."""
    document = JsonText(text, name)
    if not isinstance(document.root.value, dict):
        raise ConfigurationError(f"{name} holds no JSON object, so its host cannot read it; correct it first")
    made: list[Place] = []
    left: list[Entry] = []
    for entry in entries:
        if not entry.is_element and document.find(entry.path) is not None:
            if document.get(entry.path) != entry.value:
                left.append(entry)
            continue
        folders = range(1, len(entry.path) + entry.is_element)
        made += [place for depth in folders if document.find(place := entry.path[:depth]) is None]
        if not entry.is_element:
            made.append(entry.path)
        document = (
            document.append(entry.path, entry.value) if entry.is_element else document.set(entry.path, entry.value)
        )
    return Added(text=document.text, made=tuple(made), left=tuple(left))


def remove_entries(text: str, name: str, made: Collection[Place] | None = None) -> str:
    """
    Take every entry of ours out of a settings file.

    Args:
        text: Its text.
        name: What errors call it.
        made: Objects and arrays that the installation has made, which go if nothing is left in them; None where that
            is not known, and then every one goes that held entries of ours.

    Raises:
        ConfigurationError: It is no JSON.
    """
    document = JsonText(text, name)
    emptied: list[Place] = []
    while (place := next(_find_ours(document), None)) is not None:
        document = document.remove(place)
        emptied += [place[:depth] for depth in range(len(place) - 1, 0, -1)]
    for place in sorted(set(emptied), key=len, reverse=True):
        # A group of a hook is ours alone where nothing but our handler stood in it.
        is_made = made is None or place in made or isinstance(place[-1], int)
        if is_made and document.get(place) in ({}, []):
            document = document.remove(place)
    if made is not None and _VERSION in made and not document.get(("hooks",)):
        document = document.remove(_VERSION)
    return document.text


def find_entries(text: str, name: str) -> tuple[object, ...]:
    """Return every entry of ours in a settings file, in its order."""
    document = JsonText(text, name)
    return tuple(document.get(place) for place in _find_ours(document))


def _find_ours(document: JsonText) -> Iterator[Place]:
    # From the end, so that the indexes of what is left stay what they are.
    for event, groups in as_record(document.get(("hooks",))).items():
        for number, group in reversed(list(enumerate(as_list(groups)))):
            place = ("hooks", event, number)
            handlers = list_handlers(group)
            if handlers is None:
                yield from (place,) if is_ours(group) else ()
                continue
            ours = [index for index, handler in enumerate(handlers) if is_ours(handler)]
            if ours and len(ours) == len(handlers):
                yield place
            else:
                yield from ((*place, "hooks", index) for index in reversed(ours))
    yield from (place for place in OF_ENVIRONMENT if is_ours(document.get(place), place))
