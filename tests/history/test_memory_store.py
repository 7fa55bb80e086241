from __future__ import annotations

import os
import threading

import pytest

from otel_errcompact.engine.state import RunState
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.history import History
from otel_errcompact.history.stores.memory import MemoryLimits, MemoryStore
from tests.builders import classified, raw


def fresh(run_id: str) -> RunState:
    return RunState(run_id=run_id, agent="", thresholds=Thresholds(), history=History(max_classes=100))


def fail(store: MemoryStore, run_id: str, *, classes: int = 1) -> None:
    for number in range(classes):
        with store.edit(run_id, fresh) as state:
            state.history.record(raw(), classified(f"{number:04}0"))
        store.account(state)


def test_a_run_is_created_once() -> None:
    """The same state is handed out every time."""
    store = MemoryStore()
    with store.edit("r", fresh) as state:
        state.handled = 7
    with store.edit("r", fresh) as state:
        assert state.handled == 7


def test_an_unknown_run_is_not_created_by_looking() -> None:
    """Looking for a run leaves nothing behind."""
    store = MemoryStore()
    with store.find("r") as state:
        assert state is None
    assert store.run_ids() == ()
    assert store.discard("r") is None


def test_runs_are_bounded_and_the_least_recently_used_goes_first() -> None:
    """Beyond the limit the run that was used longest ago is forgotten, and counted."""
    store = MemoryStore(MemoryLimits(runs=2))
    for run_id in ("a", "b", "a", "c"):
        fail(store, run_id)
    assert store.run_ids() == ("a", "c")
    assert store.evicted_runs == 1


def test_classes_of_all_runs_together_are_bounded() -> None:
    """Many runs with many classes cost no more than few."""
    store = MemoryStore(MemoryLimits(classes=10))
    for run_id in ("a", "b", "c"):
        fail(store, run_id, classes=5)
    assert store.run_ids() == ("b", "c")


def test_raw_characters_of_all_runs_together_are_bounded() -> None:
    """Runs whose raw errors take too much room are forgotten, oldest first."""
    store = MemoryStore(MemoryLimits(raw_characters=1_000))
    for run_id in ("a", "b", "c"):
        with store.edit(run_id, fresh) as state:
            state.raw_characters = 400
        store.account(state)
    assert store.run_ids() == ("b", "c")


def test_the_states_of_all_runs() -> None:
    """They may be read without the locks of their runs, also while another thread holds one."""
    store = MemoryStore(MemoryLimits())
    for run_id in ("a", "b"):
        fail(store, run_id)
    with store.edit("a", fresh) as state:
        assert store.states()[1] is state
    assert [state.run_id for state in store.states()] == ["b", "a"]


def test_the_only_run_stays_however_large() -> None:
    """Bounding one run is the history's business."""
    store = MemoryStore(MemoryLimits(classes=2))
    fail(store, "a", classes=5)
    assert store.run_ids() == ("a",)


def test_a_discarded_run_frees_its_room() -> None:
    """What was counted for a run is given back with it."""
    store = MemoryStore(MemoryLimits(classes=10))
    fail(store, "a", classes=8)
    discarded = store.discard("a")
    assert discarded is not None
    assert len(discarded.history) == 8
    fail(store, "b", classes=5)
    fail(store, "c", classes=5)
    assert store.run_ids() == ("b", "c")


def test_a_run_stays_where_it_is_asked_to() -> None:
    """Whoever discards it may look at it first."""
    store = MemoryStore()
    fail(store, "a")
    assert store.discard("a", unless=lambda state: state.history.total == 1) is not None
    assert store.run_ids() == ("a",)
    store.discard("a", unless=lambda state: state.history.total == 2)
    assert store.run_ids() == ()


def test_a_run_evicted_while_it_was_handed_out_counts_for_nothing() -> None:
    """Whoever still holds it may finish; the totals stay true."""
    store = MemoryStore(MemoryLimits(runs=1, classes=10))
    with store.edit("a", fresh) as state:
        fail(store, "b")
        for number in range(9):
            state.history.record(raw(), classified(f"{number:04}0"))
        store.account(state)
    assert store.run_ids() == ("b",)
    fail(store, "b", classes=10)
    assert store.run_ids() == ("b",)
    assert store.evicted_runs == 1


def test_one_run_is_handed_out_to_one_thread_at_a_time() -> None:
    """A second thread waits until the first has given the run back."""
    store = MemoryStore()
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait()
        with store.edit("r", fresh):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with store.edit("r", fresh):
        inside.set()
        thread.join(timeout=0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_starts_empty() -> None:
    """After a fork the parent's counts are not the child's, not even while a run is handed out."""
    store = MemoryStore()
    fail(store, "r")
    with store.edit("r", fresh):
        child = os.fork()
        if child == 0:
            os._exit(0 if store.run_ids() == () and not _stuck(store) else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store.run_ids() == ("r",)


def _stuck(store: MemoryStore) -> bool:
    with store.edit("r", fresh) as state:
        return state.history.total != 0


def open_run(store: MemoryStore, run_id: str, *, characters: int = 0) -> None:
    with store.edit(run_id, fresh) as state:
        state.attended = True
        if characters:
            state.keep_raw(run_id, "x" * characters, MemoryLimits())
    store.account(state)


def test_open_runs_are_bounded_by_their_classes_alone() -> None:
    """However many there are, each keeps its streaks, and runs of others take no room from them."""
    store = MemoryStore(MemoryLimits(runs=1, classes=10))
    for number in range(20):
        open_run(store, f"open-{number}")
        fail(store, f"open-{number}")
        fail(store, f"other-{number}")
    assert store.run_ids() == ("other-19", *(f"open-{number}" for number in range(20)))
    assert store.evicted_runs == 19


def test_beyond_the_room_of_open_runs_the_least_recently_used_goes() -> None:
    """A program that never ends its runs keeps no more than that, and what goes is counted."""
    store = MemoryStore(MemoryLimits(classes=2))
    for number in range(12):
        open_run(store, f"{number}")
        if number == 5:
            open_run(store, "0")
    assert store.run_ids() == ("3", "4", "5", "0", "6", "7", "8", "9", "10", "11")
    assert store.evicted_runs == 2


def test_open_runs_lose_raw_errors_before_anything_else() -> None:
    """The texts of the runs that changed longest ago go; the runs stay."""
    store = MemoryStore(MemoryLimits(raw_characters=1_000))
    for run_id in ("a", "b", "c"):
        open_run(store, run_id, characters=400)
    assert store.run_ids() == ("a", "b", "c")
    kept = {}
    for run_id in store.run_ids():
        with store.find(run_id) as state:
            kept[run_id] = len(state.raw_texts)
    assert kept == {"a": 0, "b": 1, "c": 1}
    assert store.evicted_runs == 0


def test_a_run_at_work_keeps_its_raw_errors() -> None:
    """They are not taken from under a thread that holds the run: the next run gives way."""
    store = MemoryStore(MemoryLimits(raw_characters=1_000))
    for run_id in ("a", "b"):
        open_run(store, run_id, characters=400)
    with store.edit("a", fresh) as state:
        open_run(store, "c", characters=400)
        assert len(state.raw_texts) == 1
    with store.find("b") as state:
        assert len(state.raw_texts) == 0


def test_an_open_run_that_is_discarded_frees_its_room() -> None:
    """What was counted for it is given back."""
    store = MemoryStore(MemoryLimits(classes=2, raw_characters=1_000))
    for number in range(30):
        open_run(store, f"{number}", characters=900)
        assert store.discard(f"{number}") is not None
    assert store.run_ids() == ()
    assert store.evicted_runs == 0


def test_a_look_without_the_lock() -> None:
    """It finds what is known, while another thread is at work on it, and creates nothing."""
    store = MemoryStore()
    assert store.peek("r") is None
    with store.edit("r", fresh) as state:
        assert store.peek("r") is state
    assert store.run_ids() == ("r",)


def test_what_a_forgotten_run_has_counted_is_not_its_successor_s() -> None:
    """A run of the same id that began since has totals of its own."""
    store = MemoryStore(MemoryLimits(runs=1, classes=10))
    with store.edit("a", fresh) as state:
        fail(store, "b")
        with store.edit("a", fresh) as successor:
            assert successor is not state
        for number in range(12):
            state.history.record(raw(), classified(f"{number:04}0"))
        store.account(state)
    fail(store, "a", classes=10)
    assert store.run_ids() == ("a",)
    assert store.evicted_runs == 2
