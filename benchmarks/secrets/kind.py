"""A kind of secret: how a value of it is made, and what a program calls it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Family = Literal["password", "key", "random", "session", "block", "connection"]
"""What decides which contexts make sense; a connection is a URL or string that holds more than its secret."""


@dataclass(frozen=True)
class Value:
    """
    A secret as it is written, and the parts of it that must not be readable.
    """

    text: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """
    A kind of secret.

    Attributes:
        name: What it is.
        variable: What it is called, as a name of an environment variable or of a cookie.
        family: Which contexts make sense.
        make: Makes one.
        recognisable: Whether its form alone tells that it is a secret.
    """

    name: str
    variable: str
    family: Family
    make: Callable[[Random], Value]
    recognisable: bool = True

    def value(self, seed: str) -> Value:
        """Return the value of `seed`."""
        return self.make(Random(f"{self.name}/{seed}"))


def is_held_out(name: str) -> bool:
    """Return whether a kind or context is of the half that rules are not tuned on."""
    return zlib.crc32(name.encode()) % 2 == 1


def whole(text: str) -> Value:
    """Return a value all of which is secret."""
    return Value(text, (text,))
