"""A context: a text that a program prints, with a place for a secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks.secrets.writing import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.secrets.kind import Family, Kind

VALUE, NAME = "%V%", "%N%"

Naming = Literal["none", "text", "VARIABLE", "variable", "cookie", "camel", "kebab"]
"""Whether a value has a name: none, one in the text, or that of its kind, written so."""

LOGIN: frozenset[Family] = frozenset({"password", "random", "key"})
NAMED: frozenset[Family] = frozenset({"password", "random", "key", "connection"})
TOKENS: frozenset[Family] = frozenset({"random", "key"})
SECRETS: frozenset[Family] = frozenset({"password", "random"})
COOKIES: frozenset[Family] = frozenset({"session"})
FORMS: frozenset[Family] = frozenset({"key", "connection", "block"})


@dataclass(frozen=True)
class Context:
    """
    How people and programs write a secret.

    Attributes:
        name: What it is.
        text: The text, `%V%` for the value and `%N%` for its name.
        keeps: What of the text a reader needs.
        naming: Whether, and how, the value is named.
        takes: The families of secrets that make sense in it.
        has_lines: Whether it holds a value of several lines.
        forbids: Characters that such a text cannot hold, because they end the value.
        write: Writes a value in it.
        shape: Changes the whole text.
        read: Gets a value back.
    """

    name: str
    text: str
    keeps: tuple[str, ...]
    naming: Naming = "text"
    takes: frozenset[Family] = LOGIN
    has_lines: bool = False
    forbids: str = ""
    write: Callable[[str], str] = plain
    shape: Callable[[str], str] = plain
    read: Callable[[str], str] = plain

    def fill(self, kind: Kind, value: str) -> str:
        """Return the text with `value`, under the name that `kind` has in it."""
        text = self.text.replace(NAME, called(kind.variable, self.naming))
        return self.shape(text.replace(VALUE, self.write(value)))

    def refusal(self, kind: Kind, value: str) -> str | None:
        """Return why `value` makes no sense here, or `None`."""
        if kind.family == "block":
            if not self.has_lines:
                return "holds one line"
        elif kind.family not in self.takes:
            return "holds other kinds"
        if self.naming == "none" and not kind.recognisable:
            return "no name, no form"
        if any(mark in value for mark in self.forbids):
            return "a character ends it"
        return None


def called(variable: str, naming: Naming) -> str:
    """Return the name of a value, as `naming` writes it."""
    words = variable.lower().split("_")
    match naming:
        case "variable":
            return variable.lower()
        case "camel":
            return words[0] + "".join(word.title() for word in words[1:])
        case "kebab":
            return "-".join(words)
        case _:
            return variable
