"""Lives of runs from the lines of several trajectory files and processes."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv
from otel_errcompact_lab.transcripts.model import RecordedLife, RecordedLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from otel_errcompact_lab.transcripts.model import AttributeValue, RecordedRun, RecordedSpan, RecordedTrace

    Recorded = RecordedRun | RecordedTrace | RecordedLife

MAX_LINES: Final = 50_000
"""Lines kept for runs that others may still be of; beyond that number the run touched least recently is yielded."""

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

_Key = tuple[str, str]
"""
Whose run it is, and the run: several processes may record runs of one id. It is the ledger's, or, in a shared store,
that of all ledgers that name the same life.
"""


@dataclass(slots=True)
class _Life:
    source: str
    life: str = ""
    lines: list[RecordedLine] = field(default_factory=list[RecordedLine])
    ledgers: set[str] = field(default_factory=set[str])

    def parts(self, run_id: str) -> Iterator[RecordedLife]:
        lines = _in_order(self.lines)
        if self.life:
            yield RecordedLife(run_id=run_id, source=self.source, lines=lines, life=self.life)
            return
        # A second begin is another life.
        parts: list[list[RecordedLine]] = [[]]
        for line in lines:
            if line.event == semconv.RUN_BEGIN and parts[-1]:
                parts.append([])
            parts[-1].append(line)
        for part in parts:
            yield RecordedLife(run_id=run_id, source=self.source, lines=tuple(part))


class Lives:
    """Open runs of a trajectory file, and raw errors without a run."""

    def __init__(self) -> None:
        self._lives: OrderedDict[_Key, _Life] = OrderedDict()
        self._ended: OrderedDict[_Key, None] = OrderedDict()
        """Those that have ended, of which another process may have lines further on."""
        self._raws: OrderedDict[tuple[str, str], RecordedSpan] = OrderedDict()
        self._size = 0

    def add_raw(self, span: RecordedSpan) -> Iterator[RecordedLife | RecordedSpan]:
        """Keep a raw error for its run; yield what that evicts."""
        record = _read_record(span.attributes)
        if not all(record):
            yield span
            return
        self._raws[record] = span
        self._size += 1
        yield from self._evict()

    def add(
        self, event: str, attributes: Mapping[str, AttributeValue], time_ns: int, source: str
    ) -> Iterator[RecordedLife | RecordedSpan]:
        """Add a line; yield the run that it ends or evicts."""
        record, run_id = _read_record(attributes), attributes.get(semconv.RUN_ID)
        if event not in EVENTS or not record[0] or not isinstance(run_id, str):
            return
        line = RecordedLine(event=event, time_ns=time_ns, attributes=attributes, raw=self._raws.pop(record, None))
        self._size -= line.raw is not None
        shared = line.text(semconv.LIFE_ID)
        key = shared or record[0], run_id
        life = self._lives.setdefault(key, _Life(source, shared))
        life.lines.append(line)
        life.ledgers.add(record[0])
        self._lives.move_to_end(key)
        self._size += 1
        if event == semconv.RUN_END:
            if shared:
                self._ended[key] = None
            else:
                yield from self._close_life(key)
        yield from self._evict()

    def rest(self) -> Iterator[RecordedLife | RecordedSpan]:
        """Yield the open runs, and the raw errors that belong to none."""
        of_ledger = {(ledger, key[1]): life for key, life in self._lives.items() for ledger in life.ledgers}
        of_run = {key[1]: life for key, life in self._lives.items() if life.life}
        for (ledger, _), span in tuple(self._raws.items()):
            run_id = str(span.attributes.get(semconv.GEN_AI_CONVERSATION_ID))
            # A process that was killed at its first failure has no other line of the run.
            life = of_ledger.get((ledger, run_id)) or of_run.get(run_id)
            if life is None:
                yield span
            else:
                life.lines.append(RecordedLine(event="", time_ns=span.end_ns, raw=span))
        self._raws.clear()
        while self._lives:
            yield from self._close_life(next(iter(self._lives)))

    def _close_life(self, key: _Key) -> Iterator[RecordedLife]:
        life = self._lives.pop(key)
        self._ended.pop(key, None)
        self._size -= len(life.lines)
        yield from life.parts(key[1])

    def _evict(self) -> Iterator[RecordedLife | RecordedSpan]:
        while self._size > MAX_LINES:
            if self._lives:
                yield from self._close_life(next(iter(self._ended or self._lives)))
            else:
                yield self._raws.popitem(last=False)[1]
                self._size -= 1


class SharedLives:
    """Runs that processes may have recorded in files of their own."""

    def __init__(self) -> None:
        self._lives: OrderedDict[tuple[str, str], tuple[Path, RecordedLife]] = OrderedDict()
        self._size = 0

    def keep(self, file: Path, records: Iterable[Recorded]) -> Iterator[Recorded]:
        """Yield the records of a file, without runs that processes shared."""
        for record in records:
            if not isinstance(record, RecordedLife) or not record.life:
                yield record
                continue
            key = record.life, record.run_id
            first, known = self._lives.pop(key, (file, None))
            self._size += len(record.lines)
            if known is not None:
                lines = _in_order((*known.lines, *record.lines))
                record = replace(known, lines=lines, files=known.files + record.files)  # noqa: PLW2901 - the same life
            self._lives[key] = first, record
            while self._size > MAX_LINES:
                yield self._pop_oldest()[1]

    def rest(self) -> Iterator[tuple[Path, Iterator[RecordedLife]]]:
        """Yield the lives by the file that told of them first."""
        lives = sorted((self._pop_oldest() for _ in range(len(self._lives))), key=itemgetter(0))
        for file, group in itertools.groupby(lives, key=itemgetter(0)):
            yield file, (life for _, life in group)

    def _pop_oldest(self) -> tuple[Path, RecordedLife]:
        _, (file, life) = self._lives.popitem(last=False)
        self._size -= len(life.lines)
        return file, life


def _read_record(attributes: Mapping[str, AttributeValue]) -> tuple[str, str]:
    # The ledger that has written a line, and the number of the raw error that it is about.
    ledger, record = attributes.get(semconv.LEDGER_ID), str(attributes.get(semconv.RECORD, ""))
    if isinstance(ledger, str):  # of a line about no raw error, and in older files of all
        return ledger, record
    ledger, _, number = record.rpartition("-")
    return ledger, number


def _in_order(lines: Iterable[RecordedLine]) -> tuple[RecordedLine, ...]:
    # By their ticks; one without stands behind those of its ledger.
    newest: dict[str, int] = {}
    last = 0
    placed: list[tuple[bool, int, int, RecordedLine]] = []
    for place, line in enumerate(lines):
        of = line.raw if line.raw is not None else line
        (ledger, _), tick = _read_record(of.attributes), line.integer(semconv.TICK)
        last = max(last, tick)
        newest[ledger] = max(newest.get(ledger, 0), tick) or last
        # The last process has ended the run, which may have nothing else to tell of it.
        placed.append((line.event == semconv.RUN_END, tick or newest[ledger], place, line))
    return tuple(line for *_, line in sorted(placed, key=lambda each: each[:3]))
