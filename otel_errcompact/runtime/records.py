"""
Make dataclasses whose comparison and representation are shared instead of generated.

The standard decorator writes and compiles source for each method of each class, which took a sixth of an import.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(*, eq: bool = True, frozen: bool = False, **how: bool) -> Callable[[type], type]:
        """
        Return the decorator that makes a dataclass.

        Args:
            eq: Whether objects are compared by their values.
            frozen: Whether they cannot change; where they are compared by their values, frozen ones have a hash.
            how: As the standard decorator takes it.
        """

        def make(cls: type) -> type:
            own = vars(cls).keys()
            made = dataclasses.dataclass(eq=False, repr=False, frozen=frozen, **how)(cls)
            if "__repr__" not in own:
                made.__repr__ = _represent_record
            if eq:
                _compare_by_values(made, hashable=frozen)
            return made

        return make


__all__ = ["dataclass"]


@recursive_repr("...")
def _represent_record(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _compare_by_values(cls: Any, *, hashable: bool) -> None:
    values = attrgetter(*(field.name for field in dataclasses.fields(cls) if field.compare))

    def is_equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    def make_hash(self: object) -> int:
        return hash(values(self))

    cls.__eq__ = is_equal
    cls.__hash__ = make_hash if hashable else None
