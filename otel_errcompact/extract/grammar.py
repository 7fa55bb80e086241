"""
The grammar of formats: forms of lines, rules, blocks, and their facts.

A format says what its lines look like; this module compiles, searches, and puts the facts together. It also hands out
the words that each format needs, so that most formats import nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.command import Checker, Command
from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format, Hint, Text, split_names
from otel_errcompact.extract.forms import PLACEHOLDER, Found, Lines, fill, find, find_all, form, place_of, read_total
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.runtime.lazy import lazy, lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

__all__ = (
    "MAX_MEMBERS", "NOWHERE", "Block", "Checker", "Command", "Diagnostic", "Diagnostics", "Facts", "Format", "Found",
    "Hint", "Lines", "Location", "Member", "Members", "Rules", "Text", "clip", "details", "facts_of_members", "fill",
    "find", "find_all", "find_blocks", "form", "place_of", "read_total", "split_names",
)  # fmt: skip

Members = Iterator[Member]

_NAMED: Final = lazy_pattern(r"\(\?P<\w+>")
_MAX_BLOCK: Final = 300
"""Lines of one block."""


# --- rules -----------------------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """What a line of one form states, and in which details."""

    type: str
    pattern: str
    form: re.Pattern[str]
    message: str
    details: tuple[str, ...]


class Rules:
    """
    Rules for single lines; the first that matches decides.

    Each stands in a line of its own: a type, two spaces, and a form, whose group `message` is what the line states.
    `file`, `line` and `function` are its place, `name` is what failed. In the type and in details `{code}` stands for
    the group `code`. A line with a margin continues the form above it; behind a `=` stands what the rule states where
    it has no group `message`, behind a `>` a detail, which is left out where one of its groups found nothing.

    Args:
        table: The rules in the order in which they are tried.
        begins: The beginnings of which each line has one; without them every line is tried.
    """

    def __init__(self, table: str, *, begins: tuple[str, ...] = ("",)) -> None:
        self._table = table
        self._begins = begins

    def read(self, line: str) -> Member | None:
        """Return what a line states, or nothing where it has no form."""
        if line.startswith(self._begins):
            for rule in self._rules:
                found = rule.form.match(line)
                if found is not None:
                    return _build_member(rule, found)
        return None

    def read_all(self, lines: Iterable[str]) -> Members:
        """Yield what each line states."""
        return filter(None, map(self.read, lines))

    def find(self, lines: Iterable[str]) -> Facts | None:
        """Return the facts of the first line that states something."""
        stated = next(self.read_all(lines), None)
        if stated is None:
            return None
        kind, cause, place, _, more, *_ = stated
        return Facts(type=kind, cause=clip(cause), location=place, details=details(more))

    def type_of(self, line: str) -> str:
        """Return the type of what a line states, empty without any."""
        return next((rule.type for rule in self._rules if rule.form.match(line)), "")

    @property
    def closings(self) -> tuple[str, ...]:
        """The forms as what a program closes with."""
        return tuple(_NAMED.sub("(?:", fill(rule.pattern)) for rule in self._rules)

    @lazy
    def _rules(self) -> list[Rule]:
        return [_parse_rule(rule) for rule in self._table.strip("\n").replace("\n ", "\t").split("\n")]


def _parse_rule(rule: str) -> Rule:
    head, *below = rule.split("\t")
    kind, _, begin = head.partition("  ")
    more = [line.strip() for line in below]
    pattern = begin.lstrip() + "".join(line for line in more if line[0] not in "=>")
    message, *_ = *(line[2:] for line in more if line[0] == "="), "{message}"
    return Rule(kind, pattern, form(pattern), message, tuple(line[2:] for line in more if line[0] == ">"))


def _build_member(rule: Rule, found: Found) -> Member:
    groups = found.groupdict("")
    lines = (line for line in rule.details if all(groups[name] for name in PLACEHOLDER.findall(line)))
    return Member(
        rule.type.format_map(groups),
        rule.message.format_map(groups),
        place_of(found),
        groups.get("name", ""),
        tuple(line.format_map(groups) for line in lines),
    )


# --- blocks ----------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A heading, the lines below it up to the next heading, and the number of the heading's line."""

    head: Found
    lines: Lines
    start: int


def find_blocks(
    lines: Lines,
    head: re.Pattern[str] | Callable[[str], Found | None],
    *,
    most: int = _MAX_BLOCK,
    limit: int = MAX_MEMBERS,
) -> Iterator[Block]:
    """Yield each heading with the lines below it, up to the next."""
    match = head if callable(head) else head.match
    heads = [(number, found) for number, line in enumerate(lines) if (found := match(line))][: limit + 1]
    ends = [*(number for number, _ in heads[1:]), len(lines)]
    for (start, found), end in zip(heads[:limit], ends, strict=False):
        yield Block(found, lines[start + 1 : min(end, start + 1 + most)], start)
