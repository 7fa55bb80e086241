"""Whether messages still hold what they held before, at any depth."""

from __future__ import annotations

from enum import Enum
from itertools import chain
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Sized

    Model: TypeAlias = BaseModel

MAX_CONTAINERS: Final = 1_000
"""Containers in one message. A message that holds more, or itself, is read each time."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None), bytes})
_UNCHANGING: Final = (str, int, float, bytes, Enum)
_STATE_OF: Final = attrgetter("__dict__", "__pydantic_extra__", "__pydantic_fields_set__")
_VALUES_OF: Final = cast("Callable[[dict[str, object]], Iterable[object]]", dict.values)  # pyright: ignore[reportUnknownMemberType]


class Witness:
    """
    Tells whether any of some messages has changed since it was added.

    A message is unchanged as long as each container in it holds the very same objects under the same keys in the same
    order. A text or a number cannot change, and one that was replaced by an equal one counts as changed. The objects
    are held, so that no other can come to lie at the same address. All are compared by loops of the interpreter, in
    less than a microsecond for a message.
    """

    def __init__(self) -> None:
        self.characters = 0
        """The length of all texts that are held."""
        self._dicts: list[dict[str, object]] = []
        self._keys: list[str] = []
        self._values: list[object] = []
        self._lists: list[Sequence[object]] = []
        self._items: list[object] = []
        self._models: list[Model] = []
        self._states: list[object] = []
        self._sized: list[Sized] = []
        """All dicts and lists, and the names of fields that were set in models."""
        self._sizes: list[int] = []

    def add_messages(self, natives: Iterable[object]) -> bool:
        """
        Add messages before they are read.

        Returns:
            Whether they were added; none is if one of them holds what can change unseen.
        """
        found = _Containers()
        if not all(map(found.find_containers, natives)):
            return False
        states = list(map(_STATE_OF, found.models))
        sized: list[Sized] = [*found.dicts, *found.lists, *[state[2] for state in states]]
        self.characters += found.characters
        self._dicts += found.dicts
        self._keys += chain.from_iterable(found.dicts)
        self._values += chain.from_iterable(map(_VALUES_OF, found.dicts))
        self._lists += found.lists
        self._items += chain.from_iterable(found.lists)
        self._models += found.models
        self._states += chain.from_iterable(states)
        self._sized += sized
        self._sizes += map(len, sized)
        return True

    def is_unchanged(self) -> bool:
        """Tell whether all messages hold what they held when they were added."""
        return (
            list(map(len, self._sized)) == self._sizes
            and list(chain.from_iterable(self._dicts)) == self._keys
            and all(map(is_, chain.from_iterable(map(_VALUES_OF, self._dicts)), self._values))
            and all(map(is_, chain.from_iterable(self._lists), self._items))
            and all(map(is_, chain.from_iterable(map(_STATE_OF, self._models)), self._states))
        )


class _Containers:
    """Collects what can change in messages."""

    def __init__(self) -> None:
        self.dicts: list[dict[str, object]] = []
        self.lists: list[Sequence[object]] = []
        self.models: list[Model] = []
        self.characters = 0

    def find_containers(self, native: object) -> bool:
        """Add the containers of a message; False if one cannot be watched."""
        todo: list[object] = [native]
        left = MAX_CONTAINERS
        while todo and left:
            value = todo.pop()
            left -= 1
            kind = type(value)
            if kind is dict:
                fields = cast("dict[str, object]", value)
                if not all(type(name) is str for name in fields):
                    return False
                self.dicts.append(fields)
                todo += self._sort_out(fields.values())
            elif kind is list or kind is tuple:
                items = cast("Sequence[object]", value)
                self.lists.append(items)
                todo += self._sort_out(items)
            elif isinstance(value, BaseModel) and _is_open(value):
                self.models.append(value)
                todo += (held for held in (value.__dict__, value.__pydantic_extra__) if held is not None)
            elif not isinstance(value, _UNCHANGING):
                return False
        return not todo

    def _sort_out(self, values: Iterable[object]) -> list[object]:
        further: list[object] = []
        for value in values:
            if type(value) is str:
                self.characters += len(value)
            elif type(value) not in _PLAIN:
                further.append(value)
        return further


def _is_open(model: Model) -> bool:
    return not type(model).model_computed_fields and model.__pydantic_private__ is None
