"""Which errors some messages leave open, and what resolved others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.operation import call_fingerprint, covers, operation_of
from otel_errcompact.digest import one_line, wording
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact.errors import RawError
from otel_errcompact.history.history import MAX_STEPS, tell_end
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.window.layers.failures import RESOLVED
from otel_errcompact_context.window.layers.keeping import read_whole
from otel_errcompact_context.window.pairs import part_at

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact.errors import Operation
    from otel_errcompact_context.messages import Message, Part
    from otel_errcompact_context.window.layers.carrying.index import Sections
    from otel_errcompact_context.window.layers.workspace import Workspace
    from otel_errcompact_context.window.pairs import Spot

_MAX_HEAD: Final = 200
_LABEL: Final = 4
"""Characters of a key that name a class, as in digests."""

_MAX_CLASSIFIED: Final = 24
"""Failures that are classified; more than a reader could use."""

_MAX_RESOLVED: Final = 8
"""Resolved ones that are classified beside them."""

_COUNT: Final = lazy_pattern(r"#[0-9a-f]{4,16} .{1,80} x([0-9]{1,9}), ")
_DIGEST: Final = lazy_pattern(
    r"(?P<head>\[[^\[\]\n]{1,80}\][^\n]{0,2400}? )?#(?P<key>[0-9a-f]{4,16})(?: again \(x(?P<count>[0-9]{1,9}))?"
)
"""The first line of a digest, ours in the list or one that a boundary has handed out."""


def find_errors(
    messages: Sequence[Message],
    start: int,
    end: int,
    calls: Mapping[Spot, Part],
    verdicts: Mapping[Spot, ResultVerdict],
    workspace: Workspace,
) -> Sections:
    """
    Return a line for each error class, open or resolved.

    The newest comes first. Of what only had to be tried again nothing is said.

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
    found = _Errors(rows, workspace)
    for number in reversed(range(len(rows))):
        spot, _, call, _ = rows[number]
        if spot.message < start or found.is_full:
            break
        if call.tool in tools:
            found.read_result(number, is_inside=spot.message < end)
    return found.write_lines()


class _Row(NamedTuple):
    """A result with its call."""

    spot: Spot
    result: Part
    call: Part
    verdict: ResultVerdict


class _Errors:
    """
    Collects the classes, from the newest result to the oldest.

    So what succeeded later has been seen already.
    """

    def __init__(self, rows: Sequence[_Row], workspace: Workspace) -> None:
        self._rows = rows
        self._pipeline = Pipeline(workspace.digest, workspace.count_tokens, roots=workspace.roots)
        self._archive = workspace.archive
        self._heads: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._resolved: dict[str, str] = {}
        self._succeeded: dict[Operation, int] = {}
        """Which row of each operation was the first to succeed, of those that were read."""
        self._classified = self._closed = 0

    @property
    def is_full(self) -> bool:
        """Whether older failures are left to the archive."""
        return self._classified >= _MAX_CLASSIFIED

    def write_lines(self) -> Sections:
        """Return the entries, counted if all failures were looked at."""
        counts = Counter[str]() if self.is_full else self._counts
        return {
            "open errors": [f"{head} x{counts[key]}" if counts[key] > 1 else head for key, head in self._heads.items()],
            "resolved errors": [line for key, line in self._resolved.items() if key not in self._heads],
        }

    def read_result(self, number: int, *, is_inside: bool) -> None:
        """Take the next older result."""
        _, result, call, verdict = self._rows[number]
        text = read_whole(result, self._archive)
        told, found = _DIGEST.match(text), marker_of(text)
        operation = operation_of(call.tool, call.text)
        if told is not None and (found is None or found.layer == "errors"):
            if is_inside and self._find_success(operation) is None:
                count = _COUNT.match(found.what) if found is not None else None
                self._add_digest(told, int(count[1] if count else told["count"] or 1))
        elif found is not None and (resolved := RESOLVED.match(found.what)):
            if is_inside and resolved["ran"]:
                self._resolved.setdefault(resolved["key"][:_LABEL], f"{resolved['head']}: {resolved['ended']}")
        elif verdict.outcome == "success":
            self._succeeded[operation] = number
        elif verdict.outcome == "failure" and is_inside and found is None:
            last = self._find_success(operation)
            ended = self._tell_end(number, last) if last is not None and self._closed < _MAX_RESOLVED else ""
            if last is None or ended:
                raw = RawError(
                    text=text, stated=verdict.stated, tool=call.tool, operation=operation, arguments=call.text
                )
                self._add_failure(raw, ended)

    def _find_success(self, operation: Operation) -> int | None:
        covering = (number for wide, number in self._succeeded.items() if wide.wide and covers(wide, operation))
        return self._succeeded.get(operation, min(covering, default=None))

    def _tell_end(self, failed: int, last: int) -> str:
        # Return what has resolved a failure; nothing if no other call lies between.
        first, again = self._rows[failed].call, self._rows[last].call
        between = [row.call for row in self._rows[failed + 1 : last] if row.verdict.outcome == "success"]
        names = [operation_of(call.tool, call.text).name for call in between[1 - MAX_STEPS :]]
        is_same = call_fingerprint(first.tool, first.text) == call_fingerprint(again.tool, again.text)
        end = "the same call" if is_same else operation_of(again.tool, again.text).name
        return tell_end(names, end) if names else ""

    def _add_failure(self, raw: RawError, ended: str) -> None:
        self._classified += not ended
        self._closed += bool(ended)
        found = self._pipeline.classify(raw)
        label = found.key[:_LABEL]
        head = f"{wording.write_head(found.facts, raw.tool, _MAX_HEAD)} #{label}"
        if ended:
            self._resolved.setdefault(label, f"{head}: {ended}")
        else:
            self._counts[label] += 1
            self._heads.setdefault(label, head)

    def _add_digest(self, told: re.Match[str], count: int) -> None:
        label = told["key"]
        # A digest counts all failures of its class up to itself.
        self._counts[label] = max(self._counts[label], count)
        self._heads.setdefault(label, f"{one_line(told['head'] or '', _MAX_HEAD)} #{label}".strip())
