"""
Values of the application.

Its own `__str__`, properties and metaclasses run when they are read, and may raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import TracebackType

NO_STRING: Final = "<exception str() failed>"
"""What Python prints where an exception cannot be turned into text."""

_SPEAKING: Final = frozenset({"__str__", "__repr__", "__format__"})
_READING: Final = frozenset({"__getattr__", "__getattribute__", "__get__"})


def string_of(value: object) -> str:
    """Return `str(value)`, or Python's own substitute where it raises."""
    try:
        return "" + str(value)  # An instance of a subclass of `str` becomes a plain one.
    except Exception:  # noqa: BLE001 - it may raise anything
        return NO_STRING
    except BaseException as error:
        if _is_raised_in(error.__traceback__, _SPEAKING):
            return NO_STRING
        raise  # by a signal handler, which means the program


def attribute_of(owner: object, name: str, default: object = None) -> object:
    """Return an attribute; `default` where it is missing or raises."""
    try:
        return getattr(owner, name, default)
    except Exception:  # noqa: BLE001 - it may raise anything
        return default
    except BaseException as error:
        if _is_raised_in(error.__traceback__, _READING | {name}):
            return default
        raise  # as above


def name_of(function: object) -> str:
    """Return the name of a callable or its class, with the module."""
    function = attribute_of(function, "func", function)  # of a `functools.partial`
    name = attribute_of(function, "__qualname__")
    named = f"{attribute_of(function, '__module__')}.{name}" if name else qualified_name_of(type(function))
    return string_of(named)


def mark_of(exception: BaseException, name: str) -> object:
    """
    Return what was set on an exception from outside.

    It is None if nothing was. A class whose `__getattr__` has an answer to every name does not answer here.
    """
    try:
        return _GET(exception, name)
    except Exception:  # noqa: BLE001 - a property of the same name may raise anything
        return None


def qualname_of(kind: type) -> str:
    """Return a type's own name, as its metaclass cannot change it."""
    return string_of(_QUALNAME.__get__(kind))


def module_of(kind: type) -> str:
    """Return the name of a type's module."""
    return string_of(_MODULE.__get__(kind))


def bases_of(kind: type) -> tuple[type, ...]:
    """Return a type and all that it inherits from."""
    bases: tuple[type, ...] = _MRO.__get__(kind)
    return bases


def qualified_name_of(kind: type) -> str:
    """Return a type's name with its module, unless it is built in."""
    module = module_of(kind)
    return qualname_of(kind) if module == "builtins" else f"{module}.{qualname_of(kind)}"


def traceback_of(exception: BaseException) -> TracebackType | None:
    """Return an exception's traceback, whatever its class makes of attributes."""
    traceback: TracebackType | None = _TRACEBACK.__get__(exception)
    return traceback


def origin_of(exception: BaseException) -> tuple[BaseException | None, bool]:
    """Return the exception that caused this one, and whether it is explicit."""
    cause: BaseException | None = _CAUSE.__get__(exception)
    if cause is not None or _SUPPRESSES.__get__(exception):
        return cause, True
    return _CONTEXT.__get__(exception), False


def _is_raised_in(traceback: TracebackType | None, functions: frozenset[str]) -> bool:
    called = traceback.tb_next if traceback is not None else None
    return called is not None and called.tb_frame.f_code.co_name in functions


_QUALNAME: Final[Any] = type.__dict__["__qualname__"]
_MODULE: Final[Any] = type.__dict__["__module__"]
_MRO: Final[Any] = type.__dict__["__mro__"]
_GET: Final = BaseException.__getattribute__
_TRACEBACK: Final[Any] = BaseException.__dict__["__traceback__"]
_CAUSE: Final[Any] = BaseException.__dict__["__cause__"]
_CONTEXT: Final[Any] = BaseException.__dict__["__context__"]
_SUPPRESSES: Final[Any] = BaseException.__dict__["__suppress_context__"]
