"""One exception of a chain, in the form that all languages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.extract.stacks.frames import Frame
    from otel_errcompact.extract.stacks.recursion import Recursion

MAX_CHAIN: Final = 100
"""Exceptions of one chain that are looked at."""

MAX_CHILDREN: Final = 100
"""Exceptions of one group that are looked at."""

MAX_DEPTH: Final = 10
"""Groups inside groups that are looked into; as deep as Python prints them."""


_SAYS_ALL: Final = lazy_pattern(
    r"\[Errno -?[0-9]{1,5}\] |No module named '|name '[^']{1,200}' is not defined"
    r"|(?:list|tuple|string) index out of range\b|(?:integer |float )?division by zero\b"
)
"""How the interpreter words what it says in one line."""


class Failure(NamedTuple):
    """
    One exception of a chain.

    A named tuple, since chains are what repeated failures are recognised by: they hash and compare in C.
    """

    type: str
    message: str = ""
    own: Frame | None = None
    """The innermost frame of the user's own code."""

    innermost: Frame | None = None
    extra: str = ""
    """What the exception carries besides its message: the body of a response, the standard error of a command."""

    children: tuple[tuple[Failure, ...], ...] = ()
    """The chains of a group's exceptions."""

    follows: bool = False
    """Whether it was raised while the next one of the chain was handled, and not because of it."""

    recursion: Recursion | None = None
    """The cycle of a stack that has overflowed."""

    shown: Frame | None = None
    """The frame that is shown in place of `own`, which counts for the key all the same."""

    caller: Frame | None = None
    """The own frame that called `own`, where `own` is a function that only checks."""

    attributes: tuple[str, ...] = ()
    """Values that the exception carries and its message does not hold, as `name: value`."""


def says_all(message: str) -> bool:
    """Tell whether what stands below the first line of a message is no part of it, but of another program."""
    return _SAYS_ALL.match(message) is not None
