"""Values and patterns that are made at their first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - a decorator, like `property`
    """
    A property that is computed at its first use.

    Before Python 3.12 `functools.cached_property` computes under one lock for all objects of a class: threads wait for
    each other, and a process forked in that time waits for ever.

    Args:
        compute: The method; two calls of it return equal values.
    """

    def __init__(self, compute: Callable[..., T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | lazy[T]:
        if instance is None:
            return self
        value = self._compute(instance)
        # From now on attribute look-up finds the value before this descriptor.
        instance.__dict__[self._name] = value
        return value


def lazy_pattern(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """
    Return a regular expression that is compiled when it is first used.

    A thousand patterns cost more than all other work of an import, and a failure needs few of them. After its first
    use one costs what a compiled pattern does. It is no instance of `re.Pattern`: functions of `re` do not take it.

    Args:
        pattern: The expression, or a function that puts it together.
        flags: As `re.compile` takes them.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


_MEMBERS: Final = (
    *("search", "match", "fullmatch", "sub", "subn", "finditer", "findall", "split"),
    *("pattern", "flags", "groups", "groupindex"),
)


class _UsedPattern:
    """Hold the methods and attributes of a compiled pattern."""

    __slots__ = ("_flags", "_source", *_MEMBERS)

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self._source = source
        self._flags = flags


class _LazyPattern(_UsedPattern):
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name not in _MEMBERS:  # such as what `copy` and `inspect` look for
            raise AttributeError(name)
        source = self._source if isinstance(self._source, str) else self._source()
        # Threads that meet here set equal members; no lock is needed that a fork could leave held.
        compiled = re.compile(source, self._flags)
        for member in _MEMBERS:
            setattr(self, member, getattr(compiled, member))
        # A class without `__getattr__` is looked up in half the time.
        self.__class__ = _UsedPattern  # type: ignore[assignment]
        return getattr(compiled, name)
