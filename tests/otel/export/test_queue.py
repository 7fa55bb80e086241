"""What waits to be exported: in order, once, within a bound of bytes, and never in the way of whoever puts it there."""

from __future__ import annotations

import os
import time
from threading import Event
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.otel.export import queue as module
from otel_errcompact.otel.export.queue import BatchPolicy, ExportQueue
from tests.clock import PATIENCE_S, waits_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

AT_ONCE = BatchPolicy(delay_s=0.01, batch=8)
SOON = (0.005,)


class Collector:
    """
    Takes what it is sent, unless it is away, or refuses some of it.
    """

    def __init__(self) -> None:
        self.got: list[str] = []
        self.batches: list[int] = []
        self.away = False
        self.refused: set[str] = set()
        self.largest = 1_000
        self.lost = 0
        self.closed = 0
        self.hold: Event | None = None

    def send(self, batch: Sequence[str]) -> bool:
        self.batches.append(len(batch))
        if self.hold is not None:
            self.hold.wait(2 * PATIENCE_S)
        if self.away or self.refused & set(batch):
            return False
        if len(batch) > self.largest:
            raise ValueError("message larger than max")
        self.got += batch
        return True

    def close(self) -> None:
        self.closed += 1

    def lose(self, number: int) -> None:
        self.lost += number


@pytest.fixture
def collector() -> Collector:
    return Collector()


@pytest.fixture
def make(collector: Collector) -> Iterator[Callable[..., ExportQueue[str]]]:
    made: list[ExportQueue[str]] = []

    def make(**options: object) -> ExportQueue[str]:
        given: dict[str, object] = {"batches": AT_ONCE, "backoff_s": SOON, **options}
        made.append(
            ExportQueue(collector.send, len, close=collector.close, on_lost=collector.lose, **given)  # type: ignore[arg-type]
        )
        return made[-1]

    yield make
    if collector.hold is not None:
        collector.hold.set()
    for box in made:
        box.shutdown()


def names(number: int) -> list[str]:
    return [f"{n:03}" for n in range(number)]


def test_all_of_it_arrives_in_order(make, collector):
    """What is put in is sent without being asked for, in batches."""
    box = make()
    for name in names(100):
        box.put(name)
    assert waits_until(lambda: len(box) == 0)
    assert collector.got == names(100)
    assert max(collector.batches) <= 8
    assert (box.bytes, collector.lost) == (0, 0)


def test_a_flush_waits_until_it_has_arrived(make, collector):
    """However long the delay is."""
    box = make(batches=BatchPolicy(delay_s=60, batch=512))
    box.put("a")
    assert box.flush(5)
    assert collector.got == ["a"]


def test_a_flush_of_nothing_is_done(make):
    """There is nothing to wait for."""
    assert make(batches=BatchPolicy(delay_s=60)).flush(0.5)


def test_a_flush_that_fails_says_so_at_once(make, collector):
    """It does not wait for a collector that is away."""
    collector.away = True
    box = make(backoff_s=(600,), batches=BatchPolicy(delay_s=600))
    box.put("a")
    started = time.monotonic()
    assert not box.flush(300)
    assert time.monotonic() - started < PATIENCE_S
    assert len(box) == 1


def test_a_flush_beside_an_attempt_that_does_not_end(make, collector):
    """Its time-out ends it."""
    collector.hold = Event()
    box = make()
    box.put("a")
    assert not box.flush(0.1)


def test_a_flush_by_the_thread_that_sends(make, collector):
    """It does not wait for itself: what an exporter logs may reach a handler that flushes."""
    told: list[bool] = []
    box = make()
    box._send = lambda batch: told.append(box.flush(30)) or collector.send(batch)
    box.put("a")
    assert waits_until(lambda: collector.got == ["a"])
    assert told == [False]


def test_on_return_all_of_it_arrives_in_order_and_once(make, collector):
    """What fails is kept and tried again."""
    collector.away = True
    box = make(backoff_s=(0.005, 0.01, 30.0))
    for name in names(60):
        box.put(name)
    assert waits_until(lambda: len(collector.batches) >= 3)
    collector.away = False
    assert box.flush(5)
    assert collector.got == names(60)
    assert collector.lost == 0


def test_the_pauses_grow(make, collector):
    """A collector that is away is asked ever more seldom."""
    collector.away = True
    box = make(backoff_s=(0.001, 0.2, 60))
    box.put("a")
    assert waits_until(lambda: len(collector.batches) == 3)
    assert not waits_until(lambda: len(collector.batches) > 3, within_s=0.3)


def test_beyond_the_bound_the_oldest_go_and_are_counted(make, collector):
    """The bytes that wait never exceed what is named."""
    collector.away = True
    box = make(max_bytes=30)
    most = 0
    for name in names(100):
        box.put(name)
        most = max(most, box.bytes)
    collector.away = False
    assert waits_until(lambda: len(box) == 0)
    assert most <= 30
    assert collector.got == names(100)[-len(collector.got) :]
    assert len(collector.got) + collector.lost == 100
    assert 1 <= len(collector.got) <= 10


def test_what_is_larger_than_the_bound_drives_nothing_out(make, collector):
    """It is itself what is lost."""
    box = make(max_bytes=30, batches=BatchPolicy(delay_s=60))
    box.put("a")
    box.put("x" * 31)
    assert (len(box), collector.lost) == (1, 1)


def test_what_is_under_way_is_within_the_bound(make, collector):
    """There is no room beside it: what comes then is lost, and the attempt is not disturbed."""
    collector.hold = Event()
    box = make(max_bytes=10)
    box.put("x" * 10)
    assert waits_until(lambda: collector.batches == [1])
    box.put("y")
    assert (collector.lost, box.bytes) == (1, 10)
    collector.hold.set()
    assert waits_until(lambda: collector.got == ["x" * 10])


def test_batches_are_bounded_in_bytes(make, collector, monkeypatch):
    """A collector refuses messages beyond a size; what is larger by itself goes alone."""
    monkeypatch.setattr(module, "MAX_BATCH_BYTES", 10)
    box = make(batches=BatchPolicy(delay_s=60, batch=512))
    for text in ("a" * 4, "b" * 4, "c" * 4, "d" * 40, "e"):
        box.put(text)
    assert box.flush(5)
    assert collector.batches == [2, 1, 1, 1]


def test_enough_for_a_batch_is_sent_before_its_delay_is_over(make, collector):
    """A burst does not wait."""
    box = make(batches=BatchPolicy(delay_s=60, batch=4))
    for name in names(4):
        box.put(name)
    assert waits_until(lambda: collector.got == names(4))


def test_a_batch_that_is_too_large_is_sent_in_parts(make, collector):
    """Whatever the collector's bound is, all of it arrives."""
    collector.largest = 3
    box = make(batches=BatchPolicy(delay_s=0.01, batch=64))
    for name in names(64):
        box.put(name)
    assert waits_until(lambda: len(box) == 0)
    assert collector.got == names(64)


def test_what_the_collector_refuses_is_given_up_and_the_rest_arrives(make, collector):
    """One bad item does not stand in the way of the others for ever."""
    collector.refused = {"003", "017"}
    box = make()
    for name in names(40):
        box.put(name)
    assert waits_until(lambda: len(box) == 0)
    assert sorted(collector.got) == [name for name in names(40) if name not in collector.refused]
    assert collector.lost == 2


def test_bad_items_one_behind_the_other_do_not_stand_in_the_way_either(make, collector):
    """The items behind are tried, one further back each time, until one of them arrives."""
    collector.refused = {"003", "004", "005", "006"}
    box = make(backoff_s=(0.001,))
    for name in names(40):
        box.put(name)
    assert waits_until(lambda: len(box) == 0)
    assert sorted(collector.got) == [name for name in names(40) if name not in collector.refused]
    assert (collector.lost, box.bytes) == (4, 0)


def test_a_flush_does_not_take_what_was_given_up_for_arrived(make, collector, monkeypatch):
    """It says that something is missing."""
    monkeypatch.setattr(module, "REFUSALS", 0)
    collector.refused = {"a"}
    box = make(batches=BatchPolicy(delay_s=60, batch=1))
    box.put("a")
    box.put("b")
    assert not box.flush(5)
    assert waits_until(lambda: len(box) == 0)
    assert (collector.got, collector.lost) == (["b"], 1)


def test_what_is_let_go_may_put_something_in(collector):
    """A finalizer may end a span: then the count of bytes still holds."""
    collector.away = True

    class Item:
        def __init__(self, size: int, last_words: Item | None = None) -> None:
            self.size = size
            self.last_words = last_words

        def __del__(self) -> None:
            if self.last_words is not None:
                box.put(self.last_words)

    box: ExportQueue[Item] = ExportQueue(
        lambda _: False, lambda item: item.size, max_bytes=10, batches=BatchPolicy(delay_s=60)
    )
    box.put(Item(5, Item(2)))
    box.put(Item(5))
    box.put(Item(3))
    assert box.bytes == sum(size for _, size in box._fresh) <= 10
    box.shutdown()


def test_what_is_told_of_a_loss_cannot_stop_it(collector):
    """An application's log handler may raise: whoever puts does not see it, and the rest is sent."""
    collector.refused = {"bad"}

    def on_lost(_: int) -> None:
        raise OSError("the log's disk is full")

    box = ExportQueue(collector.send, len, on_lost=on_lost, max_bytes=12, batches=AT_ONCE, backoff_s=(0.001,))
    for item in ("bad", "a", "b", "x" * 13):
        box.put(item)
    assert waits_until(lambda: len(box) == 0)
    box.put("c")
    assert box.flush(5)
    assert sorted(collector.got) == ["a", "b", "c"]
    box.shutdown()


def test_nothing_is_given_up_because_the_collector_is_away(make, collector):
    """However often an item has failed: others fail as well."""
    collector.away = True
    box = make(backoff_s=(0.0005,))
    for name in names(3):
        box.put(name)
    assert waits_until(lambda: len(collector.batches) > 40)
    assert (len(box), collector.lost) == (3, 0)


def test_an_item_that_was_doubted_while_the_collector_came_back_is_not_lost(make, collector):
    """The one behind it has passed; then it is tried once more."""
    asked: list[list[str]] = []

    def send(batch: Sequence[str]) -> bool:
        asked.append(list(batch))
        collector.away = len(asked) <= module.REFUSALS + 1
        return collector.send(batch)

    box = ExportQueue(send, len, on_lost=collector.lose, batches=BatchPolicy(delay_s=60, batch=1), backoff_s=SOON)
    box.put("a")
    box.put("b")
    assert waits_until(lambda: len(box) == 0)
    assert (sorted(collector.got), collector.lost) == (["a", "b"], 0)
    box.shutdown()


def test_whoever_puts_never_waits(make, collector):
    """Not even while an attempt does not end."""
    collector.hold = Event()
    box = make(max_bytes=1_000)
    box.put("first")
    assert waits_until(lambda: collector.batches == [1])
    started = time.monotonic()
    for name in names(1_000):
        box.put(name)
    assert time.monotonic() - started < PATIENCE_S


def test_what_waits_is_final_once_its_delay_is_over(make, collector):
    """Also what cannot be sent yet; and what cannot be settled goes as it is."""
    collector.away = True
    settled: list[str] = []

    def settle(item: str) -> str:
        settled.append(item)
        return str(1 // 0) if item == "b" else item.upper()

    box = make(finalise=settle, backoff_s=(0.01,))
    for item in ("a", "b", "c"):
        box.put(item)
    assert waits_until(lambda: settled == ["a", "b", "c"])
    collector.away = False
    assert waits_until(lambda: collector.got == ["A", "b", "C"])
    assert settled == ["a", "b", "c"]


def test_what_goes_for_want_of_room_while_others_are_final(collector):
    """To settle one may put another in, as a finalizer does: nobody stumbles over that; the count of bytes holds."""
    collector.away = True

    def settle(item: str) -> str:
        if item == "a":
            box.put("dddd")
        return item

    box: ExportQueue[str] = ExportQueue(
        collector.send, len, finalise=settle, on_lost=collector.lose, max_bytes=4, batches=AT_ONCE
    )
    with box._lock:
        for item in ("a", "b", "c"):
            box.put(item)
    assert waits_until(lambda: len(collector.batches) > 0)
    assert (len(box), box.bytes, collector.lost) == (1, 1, 3)
    box.shutdown()


class TestShutdown:
    def test_everything_is_sent(self, make, collector):
        """Batch after batch, and then the exporter is closed."""
        box = make(batches=BatchPolicy(delay_s=60, batch=7))
        for name in names(50):
            box.put(name)
        box.shutdown()
        assert collector.got == names(50)
        assert (collector.closed, collector.lost) == (1, 0)

    def test_an_exporter_that_cannot_be_closed(self, collector):
        """It is over all the same, without a word on the terminal."""

        def close() -> None:
            raise OSError("no")

        box = ExportQueue(collector.send, len, close=close)
        box.put("a")
        box.shutdown()
        assert (box._done, collector.got) == (True, ["a"])

    def test_again(self, make, collector):
        """The second one finds nothing left to do."""
        box = make()
        box.shutdown()
        box.shutdown()
        assert collector.closed == 1

    def test_away(self, make, collector):
        """One more attempt, at once, whatever the pause; what it leaves is counted as lost."""
        collector.away = True
        box = make(backoff_s=(600,))
        for name in names(5):
            box.put(name)
        assert waits_until(lambda: len(collector.batches) == 1)
        started = time.monotonic()
        box.shutdown()
        assert time.monotonic() - started < PATIENCE_S
        assert len(collector.batches) == 2
        assert (collector.lost, collector.closed, len(box), box.bytes) == (5, 1, 0, 0)

    def test_an_attempt_that_does_not_end(self, make, collector, monkeypatch):
        """It is waited for no longer than is named; what becomes of it later changes nothing."""
        monkeypatch.setattr(module, "STALLED_S", 0.1)
        collector.hold = Event()
        box = make()
        box.put("a")
        assert waits_until(lambda: collector.batches == [1])
        box.put("b")
        started = time.monotonic()
        box.shutdown()
        assert time.monotonic() - started < PATIENCE_S
        assert collector.lost == 2
        collector.hold.set()
        assert waits_until(lambda: collector.closed == 1)
        assert (len(box), box.bytes, collector.lost) == (0, 0, 2)

    def test_a_collector_that_is_slow_has_time_while_it_goes_on(self, make, collector, monkeypatch):
        """But not for ever."""
        monkeypatch.setattr(module, "STALLED_S", 1.5)
        monkeypatch.setattr(module, "DRAIN_S", 2)
        box = make(batches=BatchPolicy(delay_s=60, batch=1))
        box._send = lambda batch: time.sleep(0.05) or collector.send(batch)
        for name in names(3_000):
            box.put(name)
        started = time.monotonic()
        box.shutdown()
        assert 2 <= time.monotonic() - started < PATIENCE_S
        assert len(collector.got) >= 3
        assert len(collector.got) + collector.lost in {3_000, 3_001}
        box._send = collector.send

    def test_a_collector_that_stops_taking_it(self, make, collector, monkeypatch):
        """What the last attempt is waited for counts too."""
        monkeypatch.setattr(module, "STALLED_S", 5)
        monkeypatch.setattr(module, "DRAIN_S", 0.4)
        collector.hold = Event()
        box = make(batches=BatchPolicy(delay_s=60, batch=1))
        held = box._send
        box._send = lambda batch: held(batch) if batch == ["b"] else not time.sleep(0.2)
        box.put("a")
        box.put("b")
        started = time.monotonic()
        box.shutdown()
        assert 0.3 < time.monotonic() - started < PATIENCE_S

    def test_afterwards(self, make, collector):
        """What comes too late is counted as lost."""
        box = make()
        box.shutdown()
        box.put("a")
        assert (len(box), collector.lost) == (0, 1)
        assert box.flush(0.5)

    def test_a_doubted_item_whose_attempt_does_not_end(self, make, collector, monkeypatch):
        """It is counted once."""
        monkeypatch.setattr(module, "STALLED_S", 0.05)
        monkeypatch.setattr(module, "REFUSALS", 0)
        hold = Event()
        asked: list[str] = []

        def send(batch: Sequence[str]) -> bool:
            asked.extend(batch)
            if asked == ["a", "b", "a"]:
                hold.wait(PATIENCE_S)
            return asked[-1] == "b"

        box = ExportQueue(send, len, on_lost=collector.lose, batches=BatchPolicy(delay_s=60, batch=1), backoff_s=(60,))
        box.put("a")
        box.put("b")
        assert waits_until(lambda: asked == ["a", "b", "a"])
        box.shutdown()
        hold.set()
        assert not waits_until(lambda: collector.lost != 1, within_s=0.1)


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_starts_empty_and_sends_its_own(make, collector):
    """What waits is its parent's to send."""
    collector.away = True
    box = make()
    box.put("parent")
    child = os.fork()
    if child == 0:
        collector.away = False
        collector.got.clear()
        box.put("child")
        box.flush(5)
        os._exit(0 if collector.got == ["child"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(box) == 1
