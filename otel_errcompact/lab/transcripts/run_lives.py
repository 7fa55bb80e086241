"""Lives of runs from the lines of several trajectory files and processes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.transcripts.model import RecordedLife, RecordedLine
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from otel_errcompact.lab.transcripts.model import AttributeValue, RecordedSpan

MAX_LINES: Final = 50_000
"""Lines kept for open runs; beyond that number the run touched least recently is yielded."""

EVENTS: Final = frozenset(
    {
        semconv.RUN_BEGIN,
        semconv.RUN_CHANGED,
        semconv.RUN_ERROR,
        semconv.RUN_HANDLED,
        semconv.RUN_SUCCESS,
        semconv.RUN_RESOLVED,
        semconv.RUN_TAKEN_BACK,
        semconv.RUN_REFUSED,
        semconv.RUN_ESCALATED,
        semconv.RUN_ANSWERED,
        semconv.RUN_RESUMED,
        semconv.RUN_END,
    }
)

_ABOUT_RAW: Final = frozenset({semconv.RUN_ERROR, semconv.RUN_HANDLED})

_Key = tuple[str, str]
"""The ledger and the run: several processes may record runs with one id."""


@dataclass(slots=True)
class _Life:
    source: str
    lines: list[tuple[int, int, RecordedLine]] = field(default_factory=list[tuple[int, int, RecordedLine]])
    """With the tick of each and its place in the file."""

    tick: int = 0
    """The newest tick; a line without one stands behind the lines before it."""

    def add(self, line: RecordedLine) -> None:
        tick = line.integer(semconv.TICK)
        self.tick = max(self.tick, tick)
        self.lines.append((tick or self.tick, len(self.lines), line))

    def parts(self, key: _Key) -> Iterator[RecordedLife]:
        # A second begin is another life.
        parts: list[list[RecordedLine]] = [[]]
        for _, _, line in sorted(self.lines, key=lambda each: each[:2]):
            if line.event == semconv.RUN_BEGIN and parts[-1]:
                parts.append([])
            parts[-1].append(line)
        for lines in parts:
            yield RecordedLife(run_id=key[1], source=self.source, lines=tuple(lines))


class Lives:
    """Open runs of a trajectory file, and raw errors without a run."""

    def __init__(self) -> None:
        self._lives: OrderedDict[_Key, _Life] = OrderedDict()
        self._raws: OrderedDict[tuple[str, int], RecordedSpan] = OrderedDict()
        self._size = 0

    def add_raw(self, span: RecordedSpan) -> Iterator[RecordedLife | RecordedSpan]:
        """Keep a raw error for its run; yield what that evicts."""
        ledger, number = span.attributes.get(semconv.LEDGER_ID), span.attributes.get(semconv.RECORD)
        if not isinstance(ledger, str) or not isinstance(number, int):
            yield span
            return
        self._raws[ledger, number] = span
        self._size += 1
        yield from self._evict()

    def add(
        self, event: str, attributes: Mapping[str, AttributeValue], time_ns: int, source: str
    ) -> Iterator[RecordedLife | RecordedSpan]:
        """Add a line; yield the run that it ends or evicts."""
        ledger, run_id = attributes.get(semconv.LEDGER_ID), attributes.get(semconv.RUN_ID)
        if event not in EVENTS or not isinstance(ledger, str) or not isinstance(run_id, str):
            return
        key = ledger, run_id
        line = RecordedLine(event=event, time_ns=time_ns, attributes=attributes)
        if event in _ABOUT_RAW:
            line = RecordedLine(
                event=event,
                time_ns=time_ns,
                attributes=attributes,
                raw=self._raws.pop((ledger, line.integer(semconv.RECORD)), None),
            )
            self._size -= line.raw is not None
        self._lives.setdefault(key, _Life(source)).add(line)
        self._lives.move_to_end(key)
        self._size += 1
        if event == semconv.RUN_END:
            yield from self._close(key)
        yield from self._evict()

    def rest(self) -> Iterator[RecordedLife | RecordedSpan]:
        """Yield the open runs, and the raw errors that belong to none."""
        for (ledger, _), span in tuple(self._raws.items()):
            life = self._lives.get((ledger, str(span.attributes.get(semconv.RUN_ID))))
            if life is None:
                yield span
            else:
                life.add(RecordedLine(event="", time_ns=span.end_ns, raw=span))
        self._raws.clear()
        while self._lives:
            yield from self._close(next(iter(self._lives)))

    def _close(self, key: _Key) -> Iterator[RecordedLife]:
        life = self._lives.pop(key)
        self._size -= len(life.lines)
        yield from life.parts(key)

    def _evict(self) -> Iterator[RecordedLife | RecordedSpan]:
        while self._size > MAX_LINES:
            if self._lives:
                yield from self._close(next(iter(self._lives)))
            else:
                yield self._raws.popitem(last=False)[1]
                self._size -= 1
