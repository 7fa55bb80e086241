"""Runs that several processes share: what each sees, what is bounded, and what happens while the backend is away."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import stat
import weakref
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.engine.events import Ended, Refused, Resumed
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import SpanRef
from otel_errcompact.escalator.actions import Halt
from otel_errcompact.history.stores import absence, redis, shared
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.history.stores.parts import LostChangeError, Parts, StoreAwayError
from otel_errcompact.history.stores.sqlite import MIGRATIONS, SqliteBackend
from tests.builders import raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.history.stores.parts import Backend
    from tests.servers import RedisServer

REFUSED = "ConnectionError: certificate has expired"
MISSING = "KeyError: 'sku'"


pytestmark = pytest.mark.usefixtures("asks_again_at_once")


def without_tokens(ledger: Ledger) -> RunReport:
    """The account of the run, without what depends on what an agent has read."""
    return ledger.report("r").model_copy(update={"digest_tokens": 0})


@contextmanager
def locked(address: str) -> Iterator[None]:
    """Keep an SQLite file locked, as a stopped process does."""
    with closing(sqlite3.connect(address.removeprefix("sqlite:///").partition("?")[0], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_each_process_sees_what_the_others_have_counted(address: str, join: Callable[..., Ledger]) -> None:
    """A failure here and one there are two failures of one run, for both."""
    first, second = join(address), join(address)
    assert first.observe("r", raw(REFUSED)).count == 1
    assert second.observe("r", raw(REFUSED)).count == 2
    assert [ledger.report("r").occurrences for ledger in (first, second)] == [2, 2]
    assert first.digest("r") == second.digest("r") != ""


def test_the_agent_of_another_process_reads_a_class_whole(address: str, join: Callable[..., Ledger]) -> None:
    """What one agent has read, another has not: its first digest of the class is no reminder of one it never saw."""
    long = "ValueError: 7 is no price\n" + "\n".join(f"  row {number} of the table is empty" for number in range(5))
    first, second = join(address), join(address)
    shown = first.observe("r", raw(long)).text
    again = second.observe("r", raw(long)).text
    assert all(line in again for line in shown.splitlines() if "row" in line)
    assert "x2" in again


def test_a_run_that_nobody_knows_is_not_made_by_looking(address: str, join: Callable[..., Ledger]) -> None:
    """Looking leaves nothing behind, in no process."""
    ledger = join(address)
    assert (ledger.report("r").result, ledger.digest("r"), ledger.raw("r", "#"), ledger.succeed("r", "t")) == (
        "clean",
        "",
        None,
        (),
    )
    ledger.answer("r", Halt())
    ledger.store.repeat_later("r", lambda _: None)
    ledger.store.catch_up()  # type: ignore[attr-defined]
    assert ledger.store.discard("r") is None
    assert ledger.store.run_ids() == join(address).store.run_ids() == ()


def test_the_ids_of_all_runs(address: str, join: Callable[..., Ledger]) -> None:
    """Whichever process has opened them, and whatever stands in them."""
    names = ("a", "session/agent", "with {braces}", "*?[x]\\", "ünïcode", "a b:c")
    for name in names:
        join(address).open(name)
    assert sorted(join(address).store.run_ids()) == sorted(names)


def test_raw_errors_stay_in_their_process(address: str, join: Callable[..., Ledger]) -> None:
    """They are not redacted, so that no backend gets them."""
    first, second = join(address), join(address)
    observation = first.observe("r", raw(REFUSED))
    assert first.raw("r", observation.found.key) == REFUSED
    assert second.raw("r", observation.found.key) is None


def test_no_secret_reaches_the_backend(address: str, join: Callable[..., Ledger], request: Any) -> None:
    """Neither from the text of a failure, nor from what its call was about."""
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    ledger = join(address)
    arguments = f'{{"url": "https://ann:{secret}@example.com/prices", "path": "/srv/token={secret}"}}'
    text = f"HTTPError: 401 for token {secret}\n  token={secret}"
    failure = raw(text, tool="get", arguments=arguments, operation=operation_of("get", arguments))
    for _ in range(4):
        ledger.observe("r", failure)
    assert ledger.is_failing("r", failure.operation)
    ledger.succeed("r", "get", arguments=arguments)
    assert ledger.report("r").result == "recovered"
    if address.startswith("sqlite"):
        files = Path(address.removeprefix("sqlite:///")).parent.glob("runs.db*")
        kept = b"".join(path.read_bytes() for path in files)
    else:
        from redis import Redis

        with closing(Redis.from_url(address)) as client:
            kept = b"".join(client.dump(key) for key in client.scan_iter())  # type: ignore[misc]
            kept += repr([client.hgetall(key) for key in client.scan_iter("*run")]).encode()
    assert b"401" in kept
    assert secret.encode() not in kept


# The end of a run.


def test_a_run_ends_with_the_last_process_that_leaves_it(address: str, join: Callable[..., Ledger], other: str) -> None:
    """Until then it can be left and joined; an escalation that is open is unhandled only at the end."""
    ledger = join(address)
    ended: list[str] = []
    ledger.listeners.add(Listener({Ended: lambda event: ended.append(event.report.result)}))
    ledger.open("r")
    with ledger.store.edit("r", ledger._create) as state:
        state.members.add(other)
    ledger.observe("r", raw(REFUSED))
    assert (ledger.end("r").occurrences, ended) == (1, [])
    assert join(address).report("r").occurrences == 1
    with ledger.store.edit("r", ledger._create) as state:
        state.members.clear()
    ledger.open("r")
    assert (ledger.end("r").occurrences, ended) == (1, ["unresolved"])
    assert join(address).store.run_ids() == ()


@pytest.fixture
def other() -> str:
    """The name of a process of another machine, of which nobody here knows whether it runs."""
    return "far-away/17/99"


@pytest.mark.programs
def test_a_process_that_has_ended_without_leaving_keeps_no_run_open(address: str, join: Callable[..., Ledger]) -> None:
    """As one that was killed."""
    ledger = join(address)
    ledger.open("r")
    child = os.fork()
    if child == 0:
        join(address).open("r")
        os._exit(0)
    os.waitpid(child, 0)
    assert len([state.members for state in ledger.store.states()]) == 1
    ledger.end("r")
    assert ledger.store.run_ids() == ()


def test_a_process_that_has_left_a_run_reports_no_streak_of_it(
    address: str, join: Callable[..., Ledger], other: str
) -> None:
    """Nor one that has ended in another process."""
    first, second = join(address), join(address)
    first.open("r")
    first.observe("r", raw(REFUSED))
    with first.store.edit("r", first._create) as state:
        state.members.add(other)
    assert (streaks(first), streaks(second)) == ([1], [])
    second.report("r")
    assert streaks(second) == [1]
    first.end("r")
    assert streaks(first) == []
    first.succeed("r", "db.query")
    assert streaks(second) == []


def streaks(ledger: Ledger) -> list[int]:
    """The live streaks that a collection of metrics reads."""
    return [found.streak for state in ledger.store.states() for found in state.history if found.streak]


def test_a_run_that_another_process_has_ended_is_unknown_here(address: str, join: Callable[..., Ledger]) -> None:
    """A process that has not opened it holds a copy, and no run."""
    first, second = join(address), join(address)
    first.observe("r", raw(REFUSED))
    second.report("r")
    first.end("r")
    assert second.report("r").occurrences == 0
    assert second.observe("r", raw(REFUSED)).count == 1


def test_runs_expire(address: str, join: Callable[..., Ledger]) -> None:
    """A run that has not changed for so long is forgotten."""
    sign = "&" if "?" in address else "?"
    ledger = join(f"{address}{sign}expire_days=0.000005")  # 0.432 seconds
    ledger.observe("old", raw(REFUSED))
    if isinstance(ledger.store._backend, SqliteBackend):
        ledger.store._backend._clock = lambda: 4_000_000_000.0
        ledger.store._backend._swept_at = 0.0
        ledger.observe("new", raw(REFUSED))
    else:
        import time

        while ledger.store._backend.run_ids():
            time.sleep(0.05)
    assert "old" not in join(address).store.run_ids()
    assert join(address).report("old").occurrences == 0


# Half-made changes.


def test_what_an_exception_leaves_half_made_is_not_written(address: str, join: Callable[..., Ledger]) -> None:
    """Neither here nor there: the next look is at what was written."""
    ledger, other = join(address), join(address)
    ledger.observe("r", raw(REFUSED))
    with pytest.raises(KeyboardInterrupt), ledger.store.edit("r", ledger._create) as state:
        state.handled = 99
        raise KeyboardInterrupt
    assert (ledger.report("r").handled, other.report("r").handled) == (0, 0)
    assert other.observe("r", raw(REFUSED)).count == 2


def test_a_signal_handler_joins_the_change_that_it_interrupts(address: str, join: Callable[..., Ledger]) -> None:
    """Its own counts come when the change is over, of this run and of others."""
    ledger = join(address)

    def handle(*_: object) -> None:
        ledger.observe("r", raw(MISSING))
        ledger.observe("other", raw(MISSING))
        ledger.answer("other", Halt())
        ledger.answer("r", Halt())
        assert ledger.verdict("r").standing == "carry_on"

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with ledger.store.edit("r", ledger._create):
            os.kill(os.getpid(), signal.SIGUSR1)
        ledger.observe("r", raw(REFUSED))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [join(address).report(run_id).occurrences for run_id in ("r", "other")] == [2, 1]


@pytest.mark.programs
def test_a_forked_child_works_on_the_same_runs(address: str, join: Callable[..., Ledger]) -> None:
    """Over a connection of its own; the parent's stays as it is."""
    ledger = join(address)
    ledger.observe("r", raw(REFUSED))
    child = os.fork()
    if child == 0:
        os._exit(0 if ledger.observe("r", raw(REFUSED)).count == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert ledger.observe("r", raw(REFUSED)).count == 3


def test_copies_are_bounded_and_none_is_lost(address: str, join: Callable[..., Ledger]) -> None:
    """A copy that had to go is read again when it is needed."""
    ledger = join(address, memory=MemoryLimits(runs=2))
    for number in range(5):
        ledger.observe(f"r{number}", raw(REFUSED))
    assert len(ledger.store.states()) == 2
    assert [ledger.observe(f"r{number}", raw(REFUSED)).count for number in range(5)] == [2] * 5
    assert ledger.store.evicted_runs == 0


def test_an_interrupt_while_the_backend_is_away(
    redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger]
) -> None:
    """It passes, also where the run is new."""
    ledger = join(address_of_server)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    redis_server.kill()
    try:
        for run_id in ("r", "new"):
            with pytest.raises(KeyboardInterrupt), ledger.store.edit(run_id, ledger._create):
                raise KeyboardInterrupt
    finally:
        redis_server.start()
    assert ledger.observe("r", raw(REFUSED)).count == 2


def test_an_interrupt_in_the_middle_of_an_answer(
    address_of_server: str, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is free at once, and the answer is taken for nothing else."""
    ledger, other = join(address_of_server), join(address_of_server)
    ledger.observe("r", raw(REFUSED))
    evaluate = redis._evaluate_script

    def interrupt(*arguments: Any) -> Any:
        monkeypatch.setattr(redis, "_evaluate_script", evaluate)
        evaluate(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(redis, "_evaluate_script", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ledger.observe("r", raw(REFUSED))
    assert (other.observe("r", raw(REFUSED)).count, ledger.observe("r", raw(REFUSED)).count) == (2, 3)
    assert other.guard.failures == ledger.guard.failures == {}


def test_an_escalation_is_the_same_in_every_process(address: str, join: Callable[..., Ledger]) -> None:
    """With its span and its tick, by which a receiver knows what it gets twice."""
    first, second = join(address), join(address)
    first.open("r", asks=True)
    second.report("r")
    text = "Error: deploy failed\nconfig: /srv/a.yaml\nservice web: port 80 is taken\nservice db: not healthy\nstatus 3"
    span = SpanRef(trace_id=2**127 + 1, span_id=2**63 + 1, sampled=False)
    for number in range(3):
        first.observe("r", replace(raw(text, arguments=f'{{"n": {number}}}'), span=span))
    raised = second.verdict("r").escalation
    assert raised is not None
    assert raised == first.verdict("r").escalation
    assert (raised.span, raised.tick) == (span, getattr(first.verdict("r").escalation, "tick", 0))
    assert [found.facts for state in second.store.states() for found in state.history] == [
        found.facts for state in first.store.states() for found in state.history
    ]


# A backend that is away.


def test_a_file_that_is_locked_for_too_long(
    tmp_path: Path, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture
) -> None:
    """The process goes on in its memory, says so once, counts it, and brings the file what it has missed."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger, other = join(address), join(address)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    with locked(address), caplog.at_level(logging.WARNING):
        assert [ledger.observe("r", raw(REFUSED)).count for _ in range(3)] == [2, 3, 4]
        ledger.succeed("r", "db.query")
        ledger.handled("r", raw(MISSING))
        assert ledger.report("r").occurrences == 4
    away = f"the store of runs sqlite:///{tmp_path}/runs.db is away (database is locked)"
    said = [record.message for record in caplog.records if "away" in record.message]
    assert said == [f"{away}: runs are counted in this process alone until it is back"]
    assert ledger.guard.failures == {"store_away": 5}
    other.observe("r", raw(MISSING))
    assert without_tokens(ledger) == without_tokens(other)
    assert (other.report("r").occurrences, other.report("r").handled) == (5, 1)
    assert [found.status for found in other.report("r").classes] == ["RECOVERED", "ACTIVE"]


def test_escalations_while_the_backend_is_away(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """They are raised and answered here, and stand there afterwards."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger, other = join(address), join(address)
    ledger.open("r", asks=True)
    with locked(address):
        for number in range(3):
            ledger.observe("r", raw(REFUSED, arguments=f'{{"n": {number}}}'))
        assert ledger.verdict("r").standing == "pending"
        ledger.answer("r", Halt("enough"))
        assert ledger.verdict("r").standing == "halt"
        assert other.verdict("r").standing == "carry_on"
    ledger.report("r")
    assert (other.verdict("r").standing, other.verdict("r").reason) == ("halt", "enough")
    ledger.apply(Resumed(run_id="r", message="go"))
    assert other.verdict("r").standing == "carry_on"


def test_refusals_while_the_backend_is_away(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """They are attempts of the loop there too, also of a run that has changed meanwhile."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger, other = join(address), join(address)
    refused = Refused(run_id="r", tool="db.query", arguments='{"n": 1}')
    ledger.open("r")
    for _ in range(2):
        ledger.observe("r", raw(REFUSED, arguments='{"n": 1}'))
    with locked(address):
        assert ledger.refuse(refused) != ""
    other.observe("r", raw(MISSING, tool="other"))
    ledger.store.catch_up()  # type: ignore[attr-defined]
    with other.store.view("r") as state:
        assert state is not None
        call = state.history.repeats.find("", call_fingerprint("db.query", '{"n": 1}', ""))
        assert call is not None
        assert (call.failed, call.attempts.count) == (2, 3)


def test_a_run_that_ends_while_the_backend_is_away_is_gone_there_too(
    tmp_path: Path, join: Callable[..., Ledger]
) -> None:
    """As soon as the backend is back."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger, other = join(address), join(address)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    with locked(address):
        assert ledger.end("r").occurrences == 1
    ledger.store.catch_up()  # type: ignore[attr-defined]
    assert other.store.run_ids() == ()


def test_a_server_that_is_killed_and_comes_back_empty(
    redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger]
) -> None:
    """What is open here is written there again, once: nothing is lost, and nothing counts twice."""
    ledger = join(address_of_server)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    redis_server.kill()
    redis_server.start()
    assert ledger.report("r").occurrences == 1
    redis_server.kill()
    try:
        assert [ledger.observe("r", raw(REFUSED)).count for _ in range(2)] == [2, 3]
    finally:
        redis_server.start()
    assert ledger.observe("r", raw(REFUSED)).count == 4
    assert join(address_of_server).report("r").occurrences == 4
    assert ledger.guard.failures == {"store_away": 2}


def test_a_server_that_hangs(redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger]) -> None:
    """It is waited for as long as was asked, and its late answers are taken for nothing else."""
    ledger, other = join(f"{address_of_server}&wait_seconds=0.2"), join(address_of_server)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    redis_server.freeze()
    try:
        assert [ledger.observe("r", raw(REFUSED)).count for _ in range(2)] == [2, 3]
    finally:
        redis_server.thaw()
    while ledger.store._absence.missed:  # type: ignore[attr-defined]
        ledger.store.catch_up()  # type: ignore[attr-defined]
    assert other.observe("r", raw(REFUSED)).count == 4


def test_a_connection_that_the_server_has_closed_is_opened_anew(
    redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger]
) -> None:
    """A server closes idle connections: that is no absence."""
    from redis import Redis

    ledger = join(address_of_server)
    ledger.observe("r", raw(REFUSED))
    with closing(Redis.from_url(address_of_server)) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert ledger.observe("r", raw(REFUSED)).count == 2
    assert ledger.guard.failures == {}


class Faulty:
    """A real backend, of which one answer is lost."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.loses = ""

    def commit(self, run_id: str, parts: Any, stamp: str) -> int:
        loses, self.loses = self.loses, ""
        if loses == "question":
            raise StoreAwayError("the question was lost")
        version = self._backend.commit(run_id, parts, stamp)
        if loses == "answer":
            raise StoreAwayError("the answer was lost")
        return version

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


@pytest.mark.parametrize("lost", ["question", "answer"])
def test_a_commit_whose_answer_is_lost_counts_once(
    address_of_server: str, join: Callable[..., Ledger], lost: str
) -> None:
    """Whether the server has made it or not: it knows the number of the newest commit of each process."""
    ledger, other = join(address_of_server), join(address_of_server)
    store: Any = ledger.store
    store._backend = faulty = Faulty(store._backend)
    ledger.observe("r", raw(REFUSED))
    faulty.loses = lost
    assert ledger.observe("r", raw(REFUSED)).count == 2
    store.catch_up()
    assert other.report("r").occurrences == 2


def test_a_change_that_outlasts_its_lease_is_made_again(
    address_of_server: str, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has taken the run over meanwhile: both count."""
    ledger, other = join(address_of_server), join(address_of_server)
    ledger.observe("r", raw(REFUSED))
    monkeypatch.setattr(redis, "LEASE_MS", 1)
    apply, slept = ledger._rules.apply, False

    def slow(*arguments: Any, **named: Any) -> Any:
        nonlocal slept
        if slept:
            return apply(*arguments, **named)
        slept = True
        monkeypatch.setattr(redis, "LEASE_MS", 3_000)
        import time

        time.sleep(0.05)
        assert other.observe("r", raw(MISSING)).count == 1
        return apply(*arguments, **named)

    monkeypatch.setattr(ledger._rules, "apply", slow)
    assert ledger.observe("r", raw(REFUSED)).count == 2
    assert ledger.report("r").occurrences == 3
    assert without_tokens(ledger) == without_tokens(other)


def test_a_run_that_was_taken_over_is_not_removed_by_a_late_end(
    address_of_server: str, join: Callable[..., Ledger]
) -> None:
    """The lock decides."""
    ledger = join(address_of_server)
    ledger.observe("r", raw(REFUSED))
    backend: Any = ledger.store._backend  # type: ignore[attr-defined]
    backend.begin("r", 0)
    backend._token = "of another"
    with pytest.raises(LostChangeError):
        backend.remove("r")
    with pytest.raises(StoreAwayError, match="has been locked for 0"):
        join(f"{address_of_server}&wait_seconds=0.01").store._backend.begin("r", 0)  # type: ignore[attr-defined]


# Files.


def test_a_file_is_for_its_user_alone(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """Also its folder, where it was missing."""
    join(f"sqlite:///{tmp_path}/new/runs.db").open("r")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "runs.db").stat().st_mode) == 0o600


def test_a_path_is_kept_when_the_working_directory_changes(
    tmp_path: Path, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three slashes are a path from where the program was started."""
    monkeypatch.chdir(tmp_path)
    ledger = join("sqlite:///runs.db")
    monkeypatch.chdir("/")
    ledger.open("r")
    assert (tmp_path / "runs.db").is_file()


@pytest.mark.parametrize("kind", ["newer", "no database", "folder"])
def test_a_file_that_cannot_be_used(
    tmp_path: Path, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """It is left as it is; runs are counted in this process alone, and why is said once."""
    path = tmp_path / "runs.db"
    reason = {
        "newer": f"the file has form 99 of a newer otel-errcompact; this one reads {len(MIGRATIONS)}",
        "no database": "file is not a database",
        "folder": "unable to open database file",
    }[kind]
    if kind == "newer":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
            connection.commit()
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"no database at all, but a text of some length" * 100)
    before = path.read_bytes() if path.is_file() else b""
    ledger = join(f"sqlite:///{path}")
    assert [ledger.observe("r", raw(REFUSED)).count for _ in range(2)] == [1, 2]
    away = f"the store of runs sqlite:///{path} is away ({reason})"
    said = [record.message for record in caplog.records if "away" in record.message]
    assert said == [f"{away}: runs are counted in this process alone until it is back"]
    assert (path.read_bytes() if path.is_file() else b"") == before or kind == "newer"


def test_a_file_of_an_older_form_is_brought_up_to_date(
    tmp_path: Path, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step, and what stands in it stays."""
    address = f"sqlite:///{tmp_path}/runs.db"
    join(address).observe("r", raw(REFUSED))
    added = (*MIGRATIONS, "ALTER TABLE runs ADD COLUMN note TEXT; CREATE INDEX runs_by_note ON runs (note);")
    monkeypatch.setattr("otel_errcompact.history.stores.sqlite.MIGRATIONS", added)
    assert join(address).report("r").occurrences == 1
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert connection.execute("SELECT note FROM runs").fetchall() == [(None,)]


def test_a_step_to_a_newer_form_that_fails_changes_nothing(
    tmp_path: Path, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays in its form."""
    address = f"sqlite:///{tmp_path}/runs.db"
    join(address).observe("r", raw(REFUSED))
    monkeypatch.setattr("otel_errcompact.history.stores.sqlite.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE x (a); X"))
    assert join(address).observe("r", raw(REFUSED)).count == 1
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'x'").fetchall() == []


def test_a_run_that_another_version_has_written(
    address: str, join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not misread: it is counted here alone."""
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 3)
    join(address).observe("r", raw(REFUSED))
    monkeypatch.setattr("otel_errcompact.engine.stored.SCHEMA", 2)
    assert join(address).observe("r", raw(REFUSED)).count == 1
    assert "form 3 of another otel-errcompact; this one reads 2" in caplog.text


def test_an_open_transaction_that_an_interrupt_has_left(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """The next change ends it first."""
    address = f"sqlite:///{tmp_path}/runs.db"
    ledger = join(address)
    ledger.observe("r", raw(REFUSED))
    ledger.store._backend._connection.execute("BEGIN IMMEDIATE")  # type: ignore[attr-defined]
    assert ledger.observe("r", raw(REFUSED)).count == 2


def test_where_a_platform_has_no_locks_of_bytes(
    tmp_path: Path, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of the whole file holds for a change, and other processes wait for it."""
    monkeypatch.setattr("otel_errcompact.history.stores.sqlite.CAN_LOCK", False)
    ledger, other = join(f"sqlite:///{tmp_path}/runs.db"), join(f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01")
    ledger.observe("r", raw(REFUSED))
    assert other.observe("r", raw(REFUSED)).count == 2
    with ledger.store.edit("r", ledger._create):
        assert other.observe("other", raw(REFUSED)).count == 1
    assert other.guard.failures == {"store_away": 1}
    assert (ledger.end("r").occurrences, other.report("r").occurrences) == (2, 0)
    narrow = [join(f"sqlite:///{tmp_path}/runs.db", memory=MemoryLimits(classes_per_run=2)) for _ in range(2)]
    counts = [narrow[number % 2].observe("n", raw(f"KeyError: {'x' * number}")).count for number in range(1, 9)]
    assert counts == [1] * 8
    assert [ledger.report("n").forgotten_classes for ledger in narrow] == [6, 6]


@pytest.mark.programs
def test_a_run_that_another_process_keeps_locked(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """It is waited for as long as was asked; other runs go their way."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger = join(address)
    ledger.observe("r", raw(REFUSED))
    ready, wait = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with ledger.store.edit("r", ledger._create):
            os.write(ready[1], b"x")
            os.read(wait[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    assert ledger.observe("other", raw(REFUSED)).count == 1
    assert ledger.guard.failures == {}
    assert ledger.observe("r", raw(REFUSED)).count == 2
    assert ledger.guard.failures == {"store_away": 1}
    os.kill(child, signal.SIGKILL)  # which gives its locks up
    os.waitpid(child, 0)
    for end in (*ready, *wait):
        os.close(end)
    assert join(address).observe("r", raw(REFUSED)).count == 2
    assert ledger.observe("r", raw(REFUSED)).count == 4


def test_parts_of_a_version_are_the_whole_or_what_is_newer(address: str, backends: list[Backend]) -> None:
    """What a backend promises, tried on it alone."""
    backend = open_backend(address)
    assert backend is not None
    backends.append(backend)
    assert backend.begin("r", 0) == Parts(0, {})
    first = backend.commit("r", {"a": "1", "b": "2"}, "p 1")
    assert backend.read("r", 0) == Parts(first, {"a": "1", "b": "2"})
    assert backend.begin("r", first) == Parts(first, {})
    second = backend.commit("r", {"a": "3", "b": None, "c": "ü\n\0x"}, "p 2")
    assert second > first
    assert backend.read("r", first) == Parts(second, {"a": "3", "c": "ü\n\0x"})
    assert backend.may_have_changed("r", first) is True
    may_have = [backend.may_have_changed("r", second) for _ in range(2)]
    assert may_have == [not isinstance(backend, SqliteBackend)] * 2  # a server is asked by reading
    backend.begin("r", 0)
    backend.cancel("r")
    backend.begin("r", 0)
    backend.remove("r")
    assert (backend.read("r", second), backend.may_have_changed("r", second)) == (Parts(0, {}), True)


def test_an_extra_that_is_missing(
    join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said how to get it, and the application runs."""
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    assert join("redis://localhost:1/0").observe("r", raw(REFUSED)).count == 1
    assert "it needs the extra redis: pip install 'otel-errcompact[redis]'" in caplog.text


def test_a_password_is_in_no_message(join: Callable[..., Ledger], caplog: pytest.LogCaptureFixture) -> None:
    """The address in it has none."""
    join("redis://ann:hunter2@localhost:1/0").observe("r", raw(REFUSED))
    assert "the store of runs redis://localhost:1/0 is away" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_process_that_leaves_lets_another_one_ask(address: str, join: Callable[..., Ledger], other: str) -> None:
    """It will not get an answer any more."""
    ledger = join(address)
    ledger.open("r", asks=True)
    for number in range(3):
        ledger.observe("r", raw(REFUSED, arguments=f'{{"n": {number}}}'))
    assert ledger.claim_question("r", has_handler=True, now_ns=1)
    with ledger.store.edit("r", ledger._create) as state:
        state.members.add(other)
    ledger.end("r")
    with join(address).store.view("r") as state:
        assert state is not None
        assert (state.asker, state.members) == ("", {other})


def test_a_silent_process_is_asked_no_longer(address: str, join: Callable[..., Ledger], other: str) -> None:
    """Of another machine nobody knows whether it runs: after half a minute without a sign another one asks."""
    ledger = join(address)
    ledger.open("r", asks=True)
    for number in range(3):
        ledger.observe("r", raw(REFUSED, arguments=f'{{"n": {number}}}'))
    with ledger.store.edit("r", ledger._create) as state:
        state.asker, state.asker_until_ns = other, 100
        state.askers.add(other)
    assert not ledger.claim_question("r", has_handler=True, now_ns=99)
    assert not ledger.claim_question("r", has_handler=False, now_ns=100)
    assert ledger.claim_question("r", has_handler=True, now_ns=100)
    assert ledger.claim_question("unknown", has_handler=True, now_ns=100)


def test_a_call_that_has_not_failed_locks_no_run(
    address: str, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is refused is asked before each call, and mostly it is not."""
    ledger = join(address)
    ledger.open("r")
    for _ in range(2):
        ledger.observe("r", raw(REFUSED, arguments='{"n": 1}', tool="t"))
    locked = list[str]()
    begin = ledger.store._backend.begin  # type: ignore[attr-defined]
    monkeypatch.setattr(
        ledger.store._backend,  # type: ignore[attr-defined]
        "begin",
        lambda run_id, known: locked.append(run_id) or begin(run_id, known),
    )
    assert (ledger.refuse(Refused(run_id="r", tool="t", arguments='{"n": 2}')), locked) == ("", [])


def test_a_claim_that_comes_after_the_answer_keeps_nobody_from_asking(
    address: str, join: Callable[..., Ledger], other: str
) -> None:
    """Such as of the thread that has kept it while the handler was asked."""
    ledger = join(address)
    ledger.open("r", asks=True)
    for number in range(3):
        ledger.observe("r", raw(REFUSED, arguments=f'{{"n": {number}}}'))
    assert ledger.claim_question("r", has_handler=True, now_ns=1)
    ledger.answer("r", Halt())
    assert ledger.claim_question("r", has_handler=True, now_ns=2)
    with join(address).store.view("r") as state:
        assert state is not None
        assert state.asker == ""


def test_changes_that_cannot_be_made_again_are_counted(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """Such as a claim, which is over when the backend is back."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger = join(address)
    ledger.open("r")
    with locked(address):
        ledger.observe("r", raw(REFUSED))
        ledger.claim_question("r", has_handler=True, now_ns=1)
    assert ledger.guard.failures == {"store_away": 2}
    assert ledger.observe("r", raw(REFUSED)).count == 2


def test_ids_and_looks_while_the_backend_is_away(
    redis_server: RedisServer, address_of_server: str, join: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known here is answered, and nothing is raised."""
    monkeypatch.setattr(absence, "FIRST_WAIT_S", 60.0)
    ledger = join(address_of_server)
    ledger.open("r")
    ledger.observe("r", raw(REFUSED))
    redis_server.kill()
    try:
        store: Any = ledger.store
        assert ledger.report("r").occurrences == 1
        assert store.run_ids() == ("r",)
        assert (ledger.may_refuse("r"), ledger.is_quiet("r")) == (False, True)
        store._absence._until = None
        assert store.run_ids() == ("r",)
        ledger.observe("r", raw(REFUSED))
        store.catch_up()
        assert len(store._absence.missed) == 1
        assert ledger.end("r").occurrences == 2
    finally:
        redis_server.start()


class Gone:
    """What nothing refers to."""


def test_an_exit_brings_the_backend_what_it_has_missed(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """A process that ends while it works alone tries once more."""
    address = f"sqlite:///{tmp_path}/runs.db?wait_seconds=0.01"
    ledger, other = join(address), join(address)
    ledger.open("r")
    with locked(address):
        ledger.observe("r", raw(REFUSED))
    shared._catch_up_at_exit(weakref.ref(ledger.store))  # type: ignore[arg-type]
    assert other.report("r").occurrences == 1
    shared._catch_up_at_exit(weakref.ref(Gone()))  # type: ignore[arg-type]


def test_an_interrupt_in_the_middle_of_a_commit(tmp_path: Path, join: Callable[..., Ledger]) -> None:
    """What was changed here is read anew, and the run is free."""
    ledger, other = join(f"sqlite:///{tmp_path}/runs.db"), join(f"sqlite:///{tmp_path}/runs.db")
    store: Any = ledger.store
    ledger.observe("r", raw(REFUSED))
    write = store._codec.dump

    def dump(*arguments: Any) -> Any:
        store._codec.dump = write
        raise KeyboardInterrupt

    store._codec = type("Codec", (), {"dump": staticmethod(dump), "load": store._codec.load})()
    with pytest.raises(KeyboardInterrupt):
        ledger.observe("r", raw(REFUSED))
    assert (ledger.report("r").occurrences, other.observe("r", raw(REFUSED)).count) == (1, 2)


@pytest.mark.parametrize("change", ["commit", "remove", "read", "may_have_changed", "run_ids", "begin"])
def test_a_file_that_breaks_at_any_point(tmp_path: Path, backends: list[Backend], change: str) -> None:
    """Each method says so in the same way, and a new connection may help."""
    backend = SqliteBackend(tmp_path / "runs.db", expire_s=60, wait_s=0.01)
    backends.append(backend)
    backend.begin("r", 0)
    backend.commit("r", {"a": "1"}, "p 1")
    if change in {"commit", "remove"}:
        backend.begin("r", 0)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.execute("DROP TABLE runs")
        connection.commit()
    steps: dict[str, Callable[[], object]] = {
        "begin": lambda: backend.begin("r", 0),
        "commit": lambda: backend.commit("r", {"a": "2"}, "p 2"),
        "remove": lambda: backend.remove("r"),
        "read": lambda: backend.read("r", 0),
        "may_have_changed": lambda: backend.may_have_changed("r", 1),
        "run_ids": backend.run_ids,
    }
    with pytest.raises(StoreAwayError, match="no such table: runs"):
        steps[change]()
    backend.cancel("r")
    backend.close()


def test_what_is_remembered_of_looks_is_bounded(
    tmp_path: Path, backends: list[Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may look at any number of runs."""
    monkeypatch.setattr("otel_errcompact.history.stores.sqlite.MAX_CHECKED", 2)
    backend = SqliteBackend(tmp_path / "runs.db", expire_s=60, wait_s=1)
    backends.append(backend)
    for number in range(5):
        backend.begin(f"r{number}", 0)
        version = backend.commit(f"r{number}", {"a": "1"}, "p 1")
        assert not backend.may_have_changed(f"r{number}", version)
    assert len(backend._checked) <= 2


def test_the_wait_for_a_backend_doubles_up_to_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that one that stays away costs nothing."""
    monkeypatch.undo()
    now = 0.0
    waits: list[float] = []
    gone = absence.Absence[Any]("x", lambda: None, clock=lambda: now)
    for _ in range(9):
        gone.begin(OSError("gone"))
        assert gone.lasts
        waits.append((gone._until or 0.0) - now)
        now += waits[-1]
        assert not gone.lasts
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    gone.end(0)
    gone.ask_again()
    gone.end(0)
    gone.begin(OSError("again"))
    gone.ask_again()
    assert not gone.lasts
