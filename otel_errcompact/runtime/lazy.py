"""Values that are computed when they are first needed, without a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - a decorator, like `property`
    """
    A property that is computed once for each object, and by two threads at worst.

    Before Python 3.12 `functools.cached_property` computes under one lock for all objects of a class: threads wait for
    each other, and a process forked meanwhile waits for ever.

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
        instance.__dict__[self._name] = value  # found before this descriptor from now on
        return value
