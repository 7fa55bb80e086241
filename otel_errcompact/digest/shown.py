"""Hold what the agent of a run has read, as frozen values."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact import late
from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from otel_errcompact.errors import Facts
    from otel_errcompact.history.history import History

MAX_LINES: Final = 2_048
MAX_TEMPLATES: Final = 128
MAX_CALLS: Final = 64


@lru_cache(maxsize=1_024)
def template_of(line: str) -> str:
    """Return a line with its volatile parts masked."""
    # Repeats mostly have the same lines, and a template costs more than all the rest of a repeat.
    return late.mask(line)


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines that the agent has been shown, oldest first."""

    limit: int = MAX_LINES
    """How many lines are remembered; the oldest go first."""

    identity: Callable[[str], str] = str
    """By what two lines are the same."""

    lines: Mapping[str, None] = field(default_factory=dict[str, None])

    def unseen(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return those of `lines` that have not been shown."""
        return tuple(line for line in lines if self.identity(line) not in self.lines)

    def seen(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return those of `lines` that have been shown."""
        return tuple(line for line in lines if self.identity(line) in self.lines)

    def add(self, lines: Iterable[str]) -> ShownLines:
        """Return these lines and `lines`."""
        unseen = self.unseen(lines)
        if not unseen:
            return self
        known = {**self.lines, **dict.fromkeys(map(self.identity, unseen))}
        if len(known) > self.limit:
            known = dict.fromkeys(tuple(known)[-self.limit :])
        return ShownLines(self.limit, self.identity, known)


@dataclass(frozen=True, slots=True)
class ShownClass:
    """What the agent has been shown of one error class."""

    facts: Facts | None = None
    """The facts whose lines were shown last."""

    details: ShownLines = field(default=ShownLines(MAX_TEMPLATES, template_of))
    """Details that were shown, by their template."""

    failed: ShownLines = field(default=ShownLines(MAX_TEMPLATES, template_of))
    """Causes and details of the failures before, shown or not, by their template."""

    calls: frozenset[str] = frozenset()
    """Calls whose failures were shown, by their fingerprints."""

    raw_lines: frozenset[int] = frozenset()
    """Lines of the raw texts of these failures, as hashes."""

    forgotten: bool = False
    """Whether the agent's context has lost it, so that the next digest is whole."""

    def show(self, facts: Facts) -> ShownClass:
        """Return this with facts whose lines the agent is shown."""
        return replace(self, facts=facts, forgotten=False)

    def show_text(self, call: str, lines: frozenset[int]) -> ShownClass:
        """Return this with a call and the lines of its text."""
        calls = self.calls | {call} if len(self.calls) < MAX_CALLS else self.calls
        known = self.raw_lines | lines
        return replace(self, calls=calls, raw_lines=known if len(known) <= MAX_LINES else lines)


_UNSEEN: Final = ShownClass()


@dataclass(frozen=True, slots=True)
class Shown:
    """What the agent of a run has been shown."""

    lines: ShownLines = field(default=ShownLines())
    """Lines of any class."""

    classes: Mapping[str, ShownClass] = field(default_factory=dict[str, ShownClass])
    """What was shown of each class, by its key."""

    forgotten: bool = False
    """Whether the agent's context has lost the classes that are not among `classes`."""

    def of(self, key: str) -> ShownClass:
        """Return what was shown of a class."""
        return self.classes.get(key) or ShownClass(forgotten=self.forgotten)

    def add_lines(self, lines: Iterable[str]) -> Shown:
        """Return this with lines that belong to no class alone."""
        added = self.lines.add(lines)
        return self if added is self.lines else Shown(added, self.classes, self.forgotten)

    def add_facts(self, key: str, facts: Facts | None) -> Shown:
        """Return this with the facts that were shown last of a class."""
        return self.set_class(key, replace(self.of(key), facts=facts))

    def set_class(self, key: str, shown: ShownClass) -> Shown:
        """Return this with what was shown of a class."""
        return Shown(self.lines, {**self.classes, key: shown}, self.forgotten)

    def begin_class(self, key: str, history: History) -> Shown:
        """Return the value with a new class, without classes the history forgot."""
        begun = self
        if len(self.classes) >= 2 * len(history):
            kept = {known: shown for known, shown in self.classes.items() if history.get(known) is not None}
            begun = Shown(self.lines, kept, self.forgotten)
        return begun.set_class(key, _UNSEEN) if self.forgotten or key in begun.classes else begun


NOTHING_SHOWN: Final = Shown()
ALL_FORGOTTEN: Final = Shown(forgotten=True)
"""What is left when the agent's context has lost all digests."""
