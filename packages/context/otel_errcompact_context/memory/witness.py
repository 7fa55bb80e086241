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
"""Containers in a message, on the average. Messages that hold more, or themselves, are read each time."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None), bytes})
_WATCHED: Final = frozenset({dict, list, tuple})
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
        news = Witness()
        if not news._find_containers(list(natives)):
            return False
        states = list(map(_STATE_OF, news._models))
        news._states += chain.from_iterable(states)
        news._sized += [*news._dicts, *news._lists, *[state[2] for state in states]]
        news._sizes += map(len, news._sized)
        for name, new in vars(news).items():
            vars(self)[name] += new
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

    def _find_containers(self, level: list[object]) -> bool:
        # Add the containers of messages; False if one cannot be watched.
        left = MAX_CONTAINERS * len(level)
        while level:
            left -= len(level)
            dicts = [cast("dict[str, object]", value) for value in level if type(value) is dict]
            lists = [cast("Sequence[object]", value) for value in level if type(value) is list or type(value) is tuple]
            keys = list(chain.from_iterable(dicts))
            if left < 0 or not {*map(type, keys)} <= {str}:
                return False
            values = list(chain.from_iterable(map(_VALUES_OF, dicts)))
            items = list(chain.from_iterable(lists))
            held = values + items
            if len(dicts) + len(lists) < len(level):
                others = [value for value in level if type(value) not in _WATCHED]
                if not all(map(_can_watch, others)):
                    return False
                models = [value for value in others if isinstance(value, BaseModel)]
                self._models += models
                held += chain.from_iterable((model.__dict__, model.__pydantic_extra__) for model in models)
            self._dicts += dicts
            self._keys += keys
            self._values += values
            self._lists += lists
            self._items += items
            self.characters += sum([len(value) for value in held if type(value) is str])
            level = [value for value in held if type(value) not in _PLAIN]
        return True


def _can_watch(value: object) -> bool:
    return _is_open(value) if isinstance(value, BaseModel) else isinstance(value, _UNCHANGING)


def _is_open(model: Model) -> bool:
    return not type(model).model_computed_fields and model.__pydantic_private__ is None
