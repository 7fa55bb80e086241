"""Which errors some messages leave open, by class."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.operation import covers, operation_of
from otel_errcompact.digest import one_line, wording
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact.errors import Operation, RawError
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.window.layers.carrying.index import read_index
from otel_errcompact_context.window.layers.keeping import read_whole
from otel_errcompact_context.window.pairs import part_at

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact_context.messages import Message, Part
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

_MAX_HEAD: Final = 200
_LABEL: Final = 4
"""Characters of a key that name a class, as in digests."""

_MAX_CLASSIFIED: Final = 24
"""Failures that are classified; more open ones than a reader could use."""

_COUNT: Final = lazy_pattern(r"#[0-9a-f]{4,16} .{1,80} x([0-9]{1,9}), ")
_DIGEST: Final = lazy_pattern(
    r"(?P<head>\[[^\[\]\n]{1,80}\][^\n]{0,2400}? )?#(?P<key>[0-9a-f]{4,16})(?: again \(x(?P<count>[0-9]{1,9}))?"
)
"""The first line of a digest, ours in the list or one that a boundary has handed out."""

_CARRIED: Final = lazy_pattern(
    r"(?P<head>.{0,600})#(?P<key>[0-9a-f]{4,16})(?: x(?P<count>[0-9]{1,9}))? in (?P<calls>.{1,200})\Z"
)
"""A line of an earlier index; one that names no call is left, since nothing could resolve it."""

_MAX_CALLS: Final = 3
"""Calls of a class that its line names."""

_OTHERS: Final = Operation("others")
"""Stands behind the calls of a line for those that it does not name, and so for ever."""


def find_open_errors(
    messages: Sequence[Message],
    start: int,
    end: int,
    calls: Mapping[Spot, Part],
    verdicts: Mapping[Spot, ResultVerdict],
    workspace: Workspace,
) -> list[str]:
    """
    Return a line for each error class that some messages left open.

    The newest comes first.

    Args:
        messages: The whole list: what succeeds after these messages has resolved what failed in them.
        start: The first of the messages.
        end: The first one after them.
        calls: The call of each result, by the result's place, in order.
        verdicts: What each result is, as far as it can still be read.
        workspace: How failures are classified.
    """
    rows = [_Row(spot, part_at(messages, spot), call, verdicts[spot]) for spot, call in calls.items()]
    inside = [row for row in rows if start <= row.spot.message < end]
    tools = {row.call.tool for row in inside if row.verdict.outcome == "failure" or _DIGEST.match(row.result.text)}
    indexes = ((place, read_index(messages[place]).get("open errors", ())) for place in range(start, end))
    carried = [(place, told) for place, lines in indexes for told in map(_CARRIED.match, reversed(lines)) if told]
    for call in (call for _, told in carried for call in _split_calls(told["calls"])):
        # A program stands behind the name of its tool, which may have blanks itself.
        tools.update(accumulate(call.name.split(" "), "{} {}".format))
    found = _OpenErrors(workspace)
    steps: list[tuple[int, _Row | re.Match[str]]] = [*((row.spot.message, row) for row in rows), *carried]
    steps.sort(key=itemgetter(0))
    for place, step in reversed(steps):
        if place < start or found.is_full:
            break
        if not isinstance(step, _Row):
            found.read_line(step)
        elif step.call.tool in tools:
            found.read_result(step, is_inside=place < end)
    return found.write_lines()


def _add_calls(line: str, calls: Iterable[Operation]) -> str:
    # The newest calls, if the line reads as the same again.
    named = dict.fromkeys(calls)
    shown = [call for call in named if call != _OTHERS]
    if len(shown) < len(named) or len(shown) > _MAX_CALLS:
        shown = [*shown[:_MAX_CALLS], _OTHERS]
    text = "; ".join(f"{call.name}: {', '.join(call.targets)}".removesuffix(": ") for call in shown)
    whole = f"{line} in {one_line(text, _MAX_HEAD).replace(' | ', ' / ')}"
    told = _CARRIED.match(whole)
    return whole if told and told.start("calls") == len(line) + 4 and _split_calls(told["calls"]) == shown else line


def _split_calls(text: str) -> list[Operation]:
    parts = (call.partition(": ") for call in text.split("; "))
    return [Operation(name, tuple(targets.split(", ")) if targets else ()) for name, _, targets in parts]


class _Row(NamedTuple):
    """A result with its call."""

    spot: Spot
    result: Part
    call: Part
    verdict: ResultVerdict


class _OpenErrors:
    """
    Collects the open classes, from the newest result to the oldest.

    So what succeeded later has been seen already.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._pipeline = Pipeline(workspace.digest, workspace.count_tokens, roots=workspace.roots)
        self._archive = workspace.archive
        self._heads: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._covered: set[str] = set()
        """The classes of which a digest was read: it counts all failures up to itself."""
        self._open: defaultdict[str, list[Operation]] = defaultdict(list)
        self._succeeded: set[Operation] = set()
        self._classified = 0

    @property
    def is_full(self) -> bool:
        """Whether older failures are left to the archive."""
        return self._classified >= _MAX_CLASSIFIED

    def write_lines(self) -> list[str]:
        """Return what is open; counted if all failures were looked at."""
        counts = Counter[str]() if self.is_full else self._counts
        times = {key: f" x{counts[key]}" if counts[key] > 1 else "" for key in self._heads}
        return [_add_calls(f"{head}{times[key]}", self._open[key]) for key, head in self._heads.items()]

    def read_result(self, row: _Row, *, is_inside: bool) -> None:
        """Take the next older result."""
        _, result, call, verdict = row
        text = read_whole(result, self._archive)
        told, found = _DIGEST.match(text), marker_of(text)
        operation = operation_of(call.tool, call.text)
        if told is not None and (found is None or found.layer == "errors"):
            if is_inside and not self._is_resolved(operation):
                count = _COUNT.match(found.what) if found is not None else None
                head = one_line(told["head"] or "", _MAX_HEAD)
                self._add(told["key"], head, int(count[1] if count else told["count"] or 1), [operation])
                self._covered.add(told["key"])
        elif verdict.outcome == "success":
            self._succeeded.add(operation)
        elif verdict.outcome == "failure" and is_inside and found is None and not self._is_resolved(operation):
            raw = RawError(text=text, stated=verdict.stated, tool=call.tool, operation=operation, arguments=call.text)
            self._classified += 1
            failure = self._pipeline.classify(raw)
            label = failure.key[:_LABEL]
            head = wording.write_head(failure.facts, raw.tool, _MAX_HEAD)
            self._add(label, head, 1, [operation])

    def read_line(self, told: re.Match[str]) -> None:
        """Take a line of an earlier index."""
        named = _split_calls(told["calls"])
        calls = [call for call in named if not self._is_resolved(call)]
        if calls:
            # The message is the newest call's.
            head = told["head"].rstrip() if calls[0] == named[0] else f"{told['head'].partition(']')[0]}]"
            count = int(told["count"] or 1) if calls == named else len(calls)
            self._add(told["key"], head, 1 if calls != named and _OTHERS in calls else count, calls)

    def _is_resolved(self, operation: Operation) -> bool:
        return operation in self._succeeded or any(wide.wide and covers(wide, operation) for wide in self._succeeded)

    def _add(self, label: str, head: str, count: int, calls: Iterable[Operation]) -> None:
        self._counts[label] += 0 if label in self._covered else count
        self._heads.setdefault(label, f"{head} #{label}".strip())
        self._open[label] += calls
