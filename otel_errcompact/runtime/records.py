"""
Make dataclasses, each at its first use.

The standard decorator names the fields; the methods are written here. It would compile source for each class, which
took half of an import, though most classes are not used before something fails. Its frozen classes look up a setter for
each field of each object: large ones are filled here while they are still open.
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

    def dataclass(
        *, eq: bool = True, frozen: bool = False, slots: bool = False, kw_only: bool = False
    ) -> Callable[[type], type]:
        """
        Return the decorator that makes a dataclass.

        Args:
            eq: Whether objects are compared by their values.
            frozen: Whether they cannot change; where they are compared by their values, frozen ones have a hash.
            slots: Whether they have no dictionary.
            kw_only: Whether their values are given by name.
        """

        def make(cls: type) -> type:
            hints = cls.__annotations__
            names = [name for name in hints if not hints[name].startswith("ClassVar")]
            defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}
            left = {*names, "__dict__", "__weakref__"}
            body = {name: value for name, value in vars(cls).items() if name not in left}
            body.setdefault("__repr__", _represent_record)
            body["__qualname__"] = cls.__qualname__
            if slots:
                known = {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}
                body["__slots__"] = tuple(name for name in names if name not in known)
            if frozen:
                body |= _FROZEN

            def complete() -> None:
                about = {name: value for name, value in vars(cls).items() if name in _ABOUT}
                twin = type(cls.__name__, cls.__bases__, {**about, "__annotations__": hints, **defaults})
                dataclasses.dataclass(init=False, eq=False, repr=False, kw_only=kw_only)(twin)
                for name in _TAKEN:
                    setattr(made, name, getattr(twin, name))
                _write_init(made, frozen=frozen, kw_only=kw_only)
                if eq:
                    _compare_by_values(made, hashable=frozen)

            body |= {name: _Later(name, complete) for name in ("__init__", *_TAKEN, *_COMPARING * eq)}
            if eq and not frozen:
                body["__hash__"] = None
            made = type(cls)(cls.__name__, cls.__bases__, body)
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

_REPLACE: Final = """
def __replace__(self, /, **changes):
    made = new(Open)
    {}
    for name, value in changes.items():
        setattr(made, name, value)
    made.__class__ = Closed
    return made
"""


class _Later:
    # An attribute of a class, until one of them is read: all are made then. Threads that meet here make equal ones.
    __slots__ = ("_complete", "_name")

    def __init__(self, name: str, complete: Callable[[], None]) -> None:
        self._name = name
        self._complete = complete

    def __get__(self, instance: object | None, owner: type) -> Any:
        self._complete()
        return getattr(owner if instance is None else instance, self._name)


def _write_init(cls: Any, *, frozen: bool, kw_only: bool) -> None:
    fields = dataclasses.fields(cls)
    is_made = {each.name: each.default_factory is not dataclasses.MISSING for each in fields}
    opens = frozen and "__slots__" in vars(cls) and len(fields) >= _LARGE and not any(is_made.values())
    set_value = "set_value(self, {0!r}, {1})" if frozen and not opens else "self.{0} = {1}"
    scope: dict[str, Any] = {"Closed": cls, "new": object.__new__, "set_value": object.__setattr__}
    parameters, lines = ["self", *["*"] * kw_only], list[str]()
    for name, field in ((each.name, each) for each in fields if each.init):
        default = f"default_{name}"
        scope[default] = field.default_factory if is_made[name] else field.default
        parameters.append(name if scope[default] is dataclasses.MISSING else f"{name}={default}")
        lines.append(
            set_value.format(name, f"{default}() if {name} is {default} else {name}" if is_made[name] else name)
        )
    if opens:
        # An object has the class that can change until it is filled; nothing else has seen it by then.
        scope["Open"] = type(cls.__name__, (cls,), {"__slots__": (), "__setattr__": object.__setattr__})
        lines = ["set_value(self, '__class__', Open)", *lines, "self.__class__ = Closed"]
        copied = "; ".join(f"made.{each.name} = self.{each.name}" for each in fields)
        _compile(cls, "__replace__", _REPLACE.format(copied), scope)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    _compile(cls, "__init__", f"def __init__({', '.join(parameters)}): {'; '.join(lines)}", scope)


def _compile(cls: Any, name: str, source: str, scope: dict[str, Any]) -> None:
    exec(source, scope)  # noqa: S102
    scope[name].__qualname__ = f"{cls.__qualname__}.{name}"  # for errors about a wrong argument
    setattr(cls, name, scope[name])


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


def _refuse_change(_: object, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _read_values(self: Any) -> dict[str, Any]:
    return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _set_values(self: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        object.__setattr__(self, name, value)


_FROZEN: Final = {
    **dict.fromkeys(("__setattr__", "__delattr__"), _refuse_change),
    "__getstate__": _read_values,
    "__setstate__": _set_values,
}
_ABOUT: Final = ("__module__", "__doc__", "__orig_bases__")
_TAKEN: Final = ("__match_args__", "__dataclass_fields__", "__dataclass_params__")
_COMPARING: Final = ("__eq__", "__hash__")
