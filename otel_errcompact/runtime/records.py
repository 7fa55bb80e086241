"""
Make dataclasses whose comparison and representation are shared instead of generated.

The standard decorator writes and compiles source for each method of each class, which took a sixth of an import. Its
frozen classes look up a setter for each field of each object: large ones are filled here while they are still open.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, replace
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
            opens = frozen and how.get("slots", False) and _is_large(cls)
            made = dataclasses.dataclass(eq=False, repr=False, frozen=frozen, init=not opens, **how)(cls)
            if opens:
                _fill_while_open(made)
            if "__repr__" not in own:
                made.__repr__ = _represent_record
            if eq:
                _compare_by_values(made, hashable=frozen)
            return made

        return make

    def replace(record: Any, /, **changes: Any) -> Any:
        """
        Return a copy of a dataclass with changes.

        Args:
            record: The object.
            changes: New values by field.
        """
        copy = vars(type(record)).get("__replace__", dataclasses.replace)
        return copy(record, **changes)


__all__ = ["dataclass", "replace"]

_LARGE: Final = 8
"""Fields from which on a frozen class is filled while it is open."""

_METHODS: Final = """
def __init__(self, *, {parameters}):
    set_value(self, "__class__", Open)
    {given}
    self.__class__ = Closed

def __replace__(self, /, **changes):
    made = new(Open)
    {copied}
    for name, value in changes.items():
        setattr(made, name, value)
    made.__class__ = Closed
    return made
"""


def _is_large(cls: type) -> bool:
    inherited = getattr(cls, "__dataclass_fields__", {})
    values = (*inherited.values(), *vars(cls).values())
    factories = [getattr(value, "default_factory", dataclasses.MISSING) for value in values]
    is_large = len(inherited) + len(cls.__annotations__) >= _LARGE and not hasattr(cls, "__post_init__")
    return is_large and all(each is dataclasses.MISSING for each in factories)


def _fill_while_open(cls: Any) -> None:
    # An object has the class that can change until it is filled; nothing else has seen it by then.
    opened = type(cls.__name__, (cls,), {"__slots__": (), "__setattr__": object.__setattr__})
    made: dict[str, Any] = {"Closed": cls, "Open": opened, "new": object.__new__, "set_value": object.__setattr__}
    fields = dataclasses.fields(cls)
    made.update({f"default_{field.name}": field.default for field in fields})
    parameters = [each.name + f"=default_{each.name}" * (each.default is not dataclasses.MISSING) for each in fields]
    given = "; ".join(f"self.{field.name} = {field.name}" for field in fields)
    copied = "; ".join(f"made.{field.name} = self.{field.name}" for field in fields)
    exec(_METHODS.format(parameters=", ".join(parameters), given=given, copied=copied), made)  # noqa: S102
    for name in ("__init__", "__replace__"):
        made[name].__qualname__ = f"{cls.__qualname__}.{name}"  # what Python says of a wrong argument names the class
        setattr(cls, name, made[name])


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
