"""What a process and a backend know of each other after one of them was away: each change counts once."""

from __future__ import annotations

import logging
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.history.stores import absence
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.history.stores.parts import LostChangeError, Parts, StoreAwayError
from tests.builders import raw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.history.stores.parts import Backend
    from tests.servers import RedisServer

pytestmark = pytest.mark.usefixtures("asks_again_at_once")

REFUSED = "ConnectionError: certificate has expired"
MISSING = "KeyError: 'sku'"


class Losing:
    """A real backend, of which what is named is lost: the question or the answer of a method's next calls."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.loses: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._backend, name)
        lost = f"{name} {self.loses[0].rpartition(' ')[2]}" if self.loses else ""
        if not self.loses or self.loses[0] != lost:
            return method

        def lose(*arguments: Any) -> Any:
            if self.loses.pop(0).endswith("answer"):
                method(*arguments)
            raise StoreAwayError(f"lost: {lost}")

        return lose


def losing(ledger: Ledger) -> tuple[Any, Losing]:
    store: Any = ledger.store
    store._backend = lossy = Losing(store._backend)
    return store, lossy


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message.partition(": runs are")[0] for record in caplog.records if "the store" in record.message]


def test_changes_made_again_count_once_though_that_answer_is_lost_too(
    address_of_server: str, join: Callable[..., Ledger]
) -> None:
    """The commit that makes them again has a number of its own, by which the server knows them."""
    ledger, other = join(address_of_server), join(address_of_server)
    store, lossy = losing(ledger)
    ledger.observe("r", raw(REFUSED))
    lossy.loses = ["commit question", "begin question", "commit answer"]
    assert [ledger.observe("r", raw(REFUSED)).count for _ in range(2)] == [2, 3]
    store.catch_up()
    assert lossy.loses == []
    store.catch_up()
    assert (ledger.report("r").occurrences, other.report("r").occurrences) == (3, 3)


@pytest.mark.parametrize("lost", ["question", "answer"])
def test_the_end_of_a_run_that_is_lost_is_made_again(address: str, join: Callable[..., Ledger], lost: str) -> None:
    """Though the run's newest commit before it has arrived."""
    ledger, other = join(address), join(address)
    store, lossy = losing(ledger)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    lossy.loses = [f"remove {lost}"]
    assert ledger.end("r").occurrences == 1
    store.catch_up()
    assert other.store.run_ids() == ()


def test_a_run_that_ends_and_begins_again_meanwhile_begins_with_nothing(
    address: str, join: Callable[..., Ledger]
) -> None:
    """What was counted before its end is not part of it."""
    ledger, other = join(address), join(address)
    _, lossy = losing(ledger)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    lossy.loses = ["remove question", *["begin question"] * 2]
    ledger.end("r")
    ledger.open("r")
    assert ledger.observe("r", raw(MISSING)).count == 1
    assert lossy.loses == []
    ledger.report("r")
    for each in (ledger, other):
        assert [found.cause for found in each.report("r").classes] == ["'sku'"]
        assert each.report("r").occurrences == 1


def test_a_run_that_others_have_ended_and_begun_again_is_a_new_one(address: str, join: Callable[..., Ledger]) -> None:
    """A copy of the old one, with its classes, is no part of it."""
    first, second = join(address), join(address)
    first.observe("r", raw(REFUSED))
    second.report("r")
    first.end("r")
    first.observe("r", raw(MISSING))
    assert [found.cause for found in second.report("r").classes] == ["'sku'"]
    assert second.digest("r") == first.digest("r")
    assert second.observe("r", raw(REFUSED)).count == 1
    assert first.report("r").occurrences == 2


def test_what_a_backend_says_of_a_version_that_it_has_lost(address: str, backends: list[Backend]) -> None:
    """As one that was started again with what it had on the disk: it gives the whole."""
    backend = open_backend(address)
    assert backend is not None
    backends.append(backend)
    backend.begin("r", 0)
    version = backend.commit("r", {"a": "1", "b": "2"}, "p 1")
    assert backend.read("r", version + 1) == Parts(version, {"a": "1", "b": "2"})


def test_a_file_that_is_replaced_by_an_older_one(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """As from a backup, beneath a process that has it open: what is open here is written into it whole."""
    path, kept = tmp_path / "runs.db", tmp_path / "kept.db"
    ledger = join(f"sqlite:///{path}")
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    ledger.store._backend._connection.execute("VACUUM INTO ?", (str(kept),))  # type: ignore[attr-defined]
    ledger.observe("r", raw(REFUSED))
    ledger.observe("r", raw(MISSING))
    for each in tmp_path.glob("runs.db*"):
        each.unlink()
    shutil.copy(kept, path)
    assert ledger.observe("r", raw(REFUSED)).count == 3
    found = join(f"sqlite:///{path}").report("r")
    assert {each.cause: each.count for each in found.classes} == {"certificate has expired": 3, "'sku'": 1}
    assert found.occurrences == 4
    assert ledger.guard.failures == {}


def test_a_file_that_is_removed_beneath_a_process(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """It is made again at the next look or change, and others see what is written."""
    address = f"sqlite:///{tmp_path}/runs.db"
    ledger = join(address)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    for each in tmp_path.iterdir():
        each.unlink()
    assert ledger.observe("r", raw(REFUSED)).count == 2
    other = join(address)
    assert other.observe("r", raw(REFUSED)).count == 3
    assert ledger.report("r").occurrences == 3


def test_a_change_of_what_was_not_read_is_not_written(address: str, join: Callable[..., Ledger]) -> None:
    """Where the lock has not held: its file was removed, or the run has expired in the middle of the change."""
    first, second = (join(address).store._backend for _ in range(2))  # type: ignore[attr-defined]
    first.begin("r", 0)
    version = first.commit("r", {"a": "1"}, "p 1")
    first.begin("r", version)
    if hasattr(second, "_client"):
        from redis import Redis

        with closing(Redis.from_url(address)) as client:
            client.delete(first._build_keys("r")[0])
    else:
        second.begin("r", version)  # as a process with another file of locks
        second.commit("r", {"a": "2"}, "q 1")
    with pytest.raises(LostChangeError):
        first.commit("r", {"b": "3"}, "p 2")
    assert "b" not in second.read("r", 0).bodies
    first.begin("r", 0)
    first.cancel("r")


def test_an_absence_is_said_once_until_it_is_over(
    redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture
) -> None:
    """Whether looks or changes meet it; and its end is said when the backend has answered."""
    caplog.set_level(logging.INFO)
    ledger = join(address_of_server)
    ledger.open("r")
    name = f"the store of runs unix://{redis_server.socket}"
    for number in (1, 0):
        redis_server.kill()
        try:
            for _ in range(2):
                ledger.report("r")
                ledger.claim_question("r", has_handler=True, now_ns=1)
            if number:
                ledger.observe("r", raw(REFUSED))
            assert [each.partition(" (")[0] for each in said(caplog)] == [f"{name} is away"]
        finally:
            redis_server.start()
        caplog.clear()
        ledger.report("r")
        ledger.report("r")
        assert said(caplog) == [f"{name} is back, with {number} changes that it had missed"]
        caplog.clear()


def test_a_run_that_cannot_be_read_keeps_no_other_run_away(
    address: str, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted here alone, which is said once; all others are shared."""
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 3)
    newer = join(address)
    newer.observe("r", raw(REFUSED))
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 2)
    ledger = join(address)
    assert [ledger.observe("r", raw(REFUSED)).count for _ in range(2)] == [1, 2]
    assert ledger.observe("s", raw(REFUSED)).count == 1
    assert ledger.report("r").occurrences == 2
    assert join(address).report("s").occurrences == 1
    assert ledger.guard.failures == {"store_away": 2}
    why = "ValueError: the run is in form 3 of another otel-errcompact; this one reads 2"
    assert [record.message for record in caplog.records if "the store" in record.message] == [
        f"run r of the store cannot be read ({why}): it is counted in this process alone"
    ]


def test_a_run_whose_id_no_backend_can_hold_is_counted_here_alone(
    address: str, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture
) -> None:
    """As one that was made of a broken file name: nothing is raised into the application."""
    ledger = join(address)
    ledger.open("r\udc80")
    assert [ledger.observe("r\udc80", raw(REFUSED)).count for _ in range(2)] == [1, 2]
    assert (ledger.report("r\udc80").occurrences, ledger.end("r\udc80").occurrences) == (2, 2)
    (message,) = said(caplog)
    assert message.startswith("run r\\udc80 of the store cannot be read (")
    assert ledger.observe("s", raw(REFUSED)).count == 1
    assert join(address).report("s").occurrences == 1


def test_missed_changes_of_a_run_that_cannot_be_read_stay_here(
    address: str, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of other runs are made again behind them."""
    ledger = join(address)
    store, lossy = losing(ledger)
    lossy.loses = ["begin question"] * 2
    for run_id in ("r", "s"):
        ledger.observe(run_id, raw(REFUSED))
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 3)
    newer = join(address)
    newer.observe("r", raw(MISSING))
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 2)
    store.catch_up()
    assert (len(store._absence.missed), join(address).report("s").occurrences) == (0, 1)
    assert [found.cause for found in ledger.report("r").classes] == ["certificate has expired"]
    assert newer.report("r").occurrences == 1


def test_the_texts_of_missed_changes_are_bounded(
    tmp_path: Path, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit the oldest changes stay in this process, as beyond the limit of their number."""
    ledger = join(f"sqlite:///{tmp_path}/runs.db")
    lost: Any = ledger.store._absence  # type: ignore[attr-defined]
    assert (absence.MAX_MISSED, absence.MAX_CHARACTERS) == (10_000, 64_000_000)
    monkeypatch.setattr(absence, "MAX_CHARACTERS", 1_000)
    monkeypatch.setattr(absence, "MAX_MISSED", 5)
    (tmp_path / "runs.db").mkdir()
    for size in (400, 400, 400):
        ledger.observe("r", raw("KeyError: 'sku'\n".ljust(size, "x")))
    assert len(lost.missed) == 2
    for _ in range(9):
        ledger.handled("r", raw(MISSING))
    assert len(lost.missed) == 5
    ledger.observe("r", raw("KeyError: 'sku'\n".ljust(2_000, "x")))
    assert len(lost.missed) == 0
