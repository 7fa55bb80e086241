"""What failed in one run: error classes with counts and streaks. It counts, and never acts on what it counts."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.masking import mask
from otel_errcompact.operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from otel_errcompact.classify import Classified
    from otel_errcompact.errors import Facts, RawError

SHORT_LENGTH: Final = 4
MAX_SCOPES: Final = 16
MAX_SHOWN_LINES: Final = 2_048
MAX_SHOWN_TEMPLATES: Final = 64
MAX_FAILED_CALLS: Final = 64

Outcome = Literal["new", "repeat", "handled", "after_escalation"]


# Repeats say mostly the same lines, and a template costs more than all the rest of a repeat.
_template: Final = lru_cache(maxsize=1_024)(mask)


class ShownLines:
    """
    A bounded memory of lines that the agent has been shown.

    Args:
        limit: How many lines are remembered; the oldest go first.
        identity: By what two lines are the same.
    """

    def __init__(self, limit: int, identity: Callable[[str], str] = str) -> None:
        self._limit = limit
        self._identity = identity
        self._lines: OrderedDict[str, None] = OrderedDict()

    def fresh(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return those of `lines` that have not been shown yet."""
        return tuple(line for line in lines if self._identity(line) not in self._lines)

    def known(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return those of `lines` that have been shown."""
        return tuple(line for line in lines if self._identity(line) in self._lines)

    def remember(self, lines: Iterable[str]) -> None:
        """Note that `lines` are shown."""
        for line in lines:
            self._lines[self._identity(line)] = None
        _trim(self._lines, self._limit)


@dataclass(slots=True, kw_only=True)
class ErrorClass:
    """
    All failures of one run that share a dedup key.
    """

    key: str
    short: str
    """The shortest prefix of the key, at least four characters, that was free in this run."""

    template: str
    facts: Facts
    """The facts of the newest occurrence."""

    tool: str
    first_seen_ns: int
    last_seen_ns: int
    hint: str = ""
    count: int = 0
    resolved: bool = False
    escalated: bool = False
    streaks: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Occurrences for each operation since it last succeeded; operations that did succeed are gone."""

    told: Facts | None = None
    """The facts whose lines the agent has been shown last."""

    shown: ShownLines = field(default_factory=lambda: ShownLines(MAX_SHOWN_TEMPLATES, _template))
    """Details of this class that the agent has been shown, by their template."""

    forgotten: bool = False
    """Whether what the agent was shown of this class has left its context, so that it has to be told whole again."""

    @property
    def streak(self) -> int:
        """The longest live streak over the operations that fail with this class."""
        return max(self.streaks.values()) if self.streaks else 0


class History:
    """
    The error classes of one run, least recently seen first.

    Args:
        max_classes: How many classes are kept; beyond it resolved ones go first, then the least recently seen.
    """

    def __init__(self, *, max_classes: int) -> None:
        self.total = 0
        """Occurrences in the whole run."""
        self.spent = 0
        """Occurrences counted against the error budget: those since the counters were last fresh."""
        self.consecutive = 0
        """Boundary failures in a row, of any class, with no success between."""
        self.evicted = 0
        """Classes forgotten because of `max_classes`."""
        self.shown = ShownLines(MAX_SHOWN_LINES)
        """Lines of any class that the agent has been shown in this run."""
        self._max_classes = max_classes
        self._classes: OrderedDict[str, ErrorClass] = OrderedDict()
        self._shorts: set[str] = set()
        self._failed_calls: OrderedDict[str, tuple[int, str]] = OrderedDict()

    def __iter__(self) -> Iterator[ErrorClass]:
        return iter(self._classes.values())

    def __len__(self) -> int:
        return len(self._classes)

    def get(self, key: str) -> ErrorClass | None:
        """Return the class with this dedup key."""
        return self._classes.get(key)

    def find(self, prefix: str) -> ErrorClass | None:
        """Return the most recently seen class whose key starts with `prefix`, written with or without `#`."""
        prefix = prefix.strip().removeprefix("#")
        matches = (found for found in reversed(self._classes.values()) if prefix and found.key.startswith(prefix))
        return next(matches, None)

    def record(self, raw: RawError, found: Classified, *, call: str = "", hint: str = "") -> ErrorClass:
        """
        Count one occurrence and return its class.

        Args:
            raw: The failure.
            found: Its facts, template and key.
            call: The fingerprint of the call that failed, if it may be refused when it is made again.
            hint: What is shown beside the class.
        """
        error_class = self._classes.get(found.key) or self._add(raw, found, hint)
        self._classes.move_to_end(found.key)
        self.total += 1
        self.spent += 1
        self.consecutive += raw.boundary
        error_class.count += 1
        error_class.facts = found.facts
        error_class.last_seen_ns = raw.time_ns
        error_class.resolved = False
        scope, streaks = raw.scope, error_class.streaks
        if scope in streaks or len(streaks) < MAX_SCOPES:
            streaks[scope] = streaks.get(scope, 0) + 1
        if call:
            self._failed_calls[call] = (self.failures_of(call) + 1, found.key)
            self._failed_calls.move_to_end(call)
            _trim(self._failed_calls, MAX_FAILED_CALLS)
        return error_class

    def succeed(self, scope: Operation, *, call: str = "") -> tuple[ErrorClass, ...]:
        """
        End the streaks of what `scope` covers and return the classes that are thereby resolved.
        """
        self.consecutive = 0
        self._failed_calls.pop(call, None)
        resolved: list[ErrorClass] = []
        for error_class in self._classes.values():
            ended = [operation for operation in error_class.streaks if scope.covers(operation)]
            for operation in ended:
                del error_class.streaks[operation]
            if ended and not error_class.streaks:
                error_class.resolved = True
                resolved.append(error_class)
        return tuple(resolved)

    @property
    def has_failed_calls(self) -> bool:
        """Whether there is a call that has failed since it last succeeded."""
        return bool(self._failed_calls)

    def failures_of(self, call: str) -> int:
        """Return how often the call with this fingerprint has failed since it last succeeded."""
        return self._failed_calls.get(call, (0, ""))[0]

    def class_of(self, call: str) -> ErrorClass | None:
        """Return the class the call with this fingerprint failed with last."""
        return self._classes.get(self._failed_calls.get(call, (0, ""))[1])

    def refuse(self) -> None:
        """Count a call that was refused unexecuted: no occurrence, but no success either."""
        self.consecutive += 1

    def refresh(self) -> None:
        """Give the run fresh counters: streaks, the row and the budget start anew; counts and classes stay."""
        self.spent = 0
        self.consecutive = 0
        self._failed_calls.clear()
        for error_class in self._classes.values():
            error_class.streaks = dict.fromkeys(error_class.streaks, 0)

    def forget_shown(self) -> None:
        """Forget what the agent has been shown, since its context has lost it; what was counted stays."""
        self.shown = ShownLines(MAX_SHOWN_LINES)
        for error_class in self._classes.values():
            error_class.forgotten = True
            error_class.shown = ShownLines(MAX_SHOWN_TEMPLATES, _template)

    def _add(self, raw: RawError, found: Classified, hint: str) -> ErrorClass:
        if len(self._classes) >= self._max_classes:
            self._evict()
        added = ErrorClass(
            key=found.key,
            short=self._short(found.key),
            template=found.template,
            facts=found.facts,
            tool=raw.tool,
            first_seen_ns=raw.time_ns,
            last_seen_ns=raw.time_ns,
            hint=hint,
        )
        self._classes[found.key] = added
        return added

    def _short(self, key: str) -> str:
        length = SHORT_LENGTH
        while key[:length] in self._shorts and length < len(key):
            length += 1
        self._shorts.add(key[:length])
        return key[:length]

    def _evict(self) -> None:
        candidates = [found for found in self._classes.values() if not found.escalated] or list(self._classes.values())
        gone = next((found for found in candidates if found.resolved), candidates[0])
        del self._classes[gone.key]
        self._shorts.discard(gone.short)
        self.evicted += 1


def _trim(
    entries: OrderedDict[str, object] | OrderedDict[str, None] | OrderedDict[str, tuple[int, str]], size: int
) -> None:
    while len(entries) > size:
        entries.popitem(last=False)
