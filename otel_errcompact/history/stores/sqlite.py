"""
Runs in an SQLite file: many processes of one machine.

The file is in WAL mode: who reads does not wait for who writes, and a commit does not wait for the disk, so that a loss
of power, and no crash of a process, may lose the newest commits. Not for network file systems, where its locks fail.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from otel_errcompact.history.stores.file_lock import CAN_LOCK, FileLock
from otel_errcompact.history.stores.parts import LostChangeError, Parts, StoreAwayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MIGRATIONS: Final = (
    """
    CREATE TABLE runs (run_id TEXT PRIMARY KEY, version INTEGER NOT NULL, used_s INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX runs_by_use ON runs (used_s);
    CREATE TABLE parts (run_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE UNIQUE INDEX parts_by_name ON parts (run_id, name);
    """,
)
"""What leads from each form of the file to the next; `PRAGMA user_version` is how many of them a file has behind it."""

ADD_RUN: Final = "INSERT INTO runs (version, used_s, run_id) VALUES (?, ?, ?) ON CONFLICT (run_id) DO NOTHING"
CHANGE_RUN: Final = "UPDATE runs SET version = ?, used_s = ? WHERE run_id = ? AND version = ?"
WRITE_PART: Final = """
INSERT INTO parts VALUES (?, ?, ?, ?)
ON CONFLICT (run_id, name) DO UPDATE SET version = excluded.version, body = excluded.body
"""

FIRST_SLEEP_S: Final = 0.000_05
LAST_SLEEP_S: Final = 0.002
"""Between two tries to get the lock; SQLite's own sleeps grow to a tenth of a second, and leave the lock idle."""

SWEEP_S: Final = 600.0
"""Seconds between two searches for expired runs."""

MAX_CHECKED: Final = 10_000
"""Runs of which it is remembered at what state of the file they were looked up."""


class SqliteBackend:
    """
    Runs in an SQLite file.

    Args:
        path: The file; made with its folder, for this user alone, if missing.
        expire_s: Seconds after which an unchanged run is forgotten.
        wait_s: Seconds that a change waits for those of others.
        clock: Seconds since the epoch.
    """

    def __init__(self, path: Path, *, expire_s: float, wait_s: float, clock: Callable[[], float] = time.time) -> None:
        self.name: Final = f"sqlite:///{path}"
        self._path = path
        self._names = str(path), f"{path}-wal"
        self._expire_s = expire_s
        self._wait_s = wait_s
        self._clock = clock
        self._left: list[object] = []
        self._connection: sqlite3.Connection | None = None
        self._locks: FileLock | None = None
        self._swept_at = 0.0
        self._checked: dict[str, int] = {}
        self._files: tuple[object, ...] = ()
        self._base = 0
        """The version of the run whose change is open, at its begin."""

    def begin(self, run_id: str, known: int) -> Parts:
        """Open a change, which locks the run until it ends."""
        if self._connection is not None and self._files != self._identify_file():
            self.close()  # the database was replaced or removed: open the one that is there now
        connection = self._open_connection()
        try:
            if connection.in_transaction:  # an interrupt has left it open
                connection.rollback()
            if self._locks is None:
                self._lock_database(connection)
                parts = _read_parts(connection, run_id, known)
            elif self._locks.acquire(run_id, self._wait_s):
                parts = self.read(run_id, known)
            else:
                raise StoreAwayError(f"run {run_id} has been locked for {self._wait_s:g} seconds")
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error
        self._base = parts.version
        return parts

    def commit(self, run_id: str, parts: Mapping[str, str | None], stamp: str) -> int:  # noqa: ARG002 - a commit is seen to fail
        """Write parts, end the change and return the run's new version."""
        connection = self._open_connection()
        now = self._clock()
        try:
            self._lock_file(connection)
            version = max(self._base + 1, int(now * 1_000_000))
            known = (version, int(now), run_id)
            added = (
                connection.execute(CHANGE_RUN, (*known, self._base))
                if self._base
                else connection.execute(ADD_RUN, known)
            )
            self._check_unchanged(run_id, added.rowcount == 1)
            written = [(run_id, name, version, body) for name, body in parts.items() if body is not None]
            connection.executemany(WRITE_PART, written)
            gone = [(run_id, name) for name, body in parts.items() if body is None]
            if gone:
                connection.executemany("DELETE FROM parts WHERE run_id = ? AND name = ?", gone)
            if now - self._swept_at > SWEEP_S:
                self._swept_at = now
                self._sweep_old_runs(connection, now)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error
        self._unlock_run()
        return version

    def has_committed(self, run_id: str, stamp: str) -> bool:  # noqa: ARG002 - as above
        """Return false: where a commit fails here, nothing is written."""
        return False

    def cancel(self, run_id: str) -> None:  # noqa: ARG002 - one change is open at a time
        """End the change without writing; raises nothing."""
        connection = self._connection
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.rollback()
        self._unlock_run()

    def remove(self, run_id: str) -> None:
        """Forget the run within its change, and end the change."""
        connection = self._open_connection()
        try:
            self._lock_file(connection)
            self._check_unchanged(run_id, _version_of(connection, run_id) == self._base)
            _remove_run(connection, run_id)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error
        self._unlock_run()
        self._checked.pop(run_id, None)

    def read(self, run_id: str, known: int) -> Parts:
        """Return the parts newer than `known`, inside a change or not."""
        connection = self._open_connection()
        try:
            if connection.in_transaction:
                return _read_parts(connection, run_id, known)
            if known and _version_of(connection, run_id) == known:
                return Parts(known, {})
            connection.execute("BEGIN")  # both statements see one state of the file
            try:
                return _read_parts(connection, run_id, known)
            finally:
                connection.rollback()
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error

    def may_have_changed(self, run_id: str, known: int) -> bool:
        """Return whether a run may be newer than `known`, at little cost."""
        connection = self._open_connection()
        try:
            # It changes with every commit of another connection.
            state: int = connection.execute("PRAGMA data_version").fetchone()[0]
            if self._checked.get(run_id) == state:
                return False
            row = connection.execute("SELECT version FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error
        if row is None or row[0] != known:
            return True
        if len(self._checked) >= MAX_CHECKED:
            self._checked.clear()
        self._checked[run_id] = state
        return False

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all runs that have not expired."""
        connection = self._open_connection()
        try:
            oldest = self._clock() - self._expire_s
            rows = connection.execute("SELECT run_id FROM runs WHERE used_s > ? ORDER BY used_s", (oldest,))
            return tuple(run_id for (run_id,) in rows)
        except sqlite3.Error as error:
            raise self._leave_after_error(error) from error

    def leave_to_parent(self) -> None:
        """Let go of what a forked child must not even close."""
        # Its closing would give up the locks of the child's own connection, and may remove the log of the parent's.
        self._left += filter(None, (self._connection, self._locks))
        self._connection = self._locks = None
        self._checked = {}

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        locks, self._locks = self._locks, None
        self._checked = {}
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
        if locks is not None:
            locks.close()

    def _lock_file(self, connection: sqlite3.Connection) -> None:
        if not connection.in_transaction:
            self._lock_database(connection)

    def _check_unchanged(self, run_id: str, is_as_read: bool) -> None:
        # Where the lock of the run has not held, as its file was removed, what was read may be old.
        if not is_as_read:
            self.cancel(run_id)
            raise LostChangeError(f"run {run_id} was changed in the middle of a change")

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        connection: sqlite3.Connection | None = None
        try:
            _make_private(self._path)
            # An absolute path: the working directory may change.
            connection = sqlite3.connect(
                self._path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=64
            )
            self._prepare_database(connection)
            # Without locks of runs the file's own holds for a whole change, and changes of other runs wait for it.
            self._locks = FileLock(self._path.with_name(f"{self._path.name}-lock")) if CAN_LOCK else None
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            raise StoreAwayError(str(error)) from error
        self._connection, self._files = connection, self._identify_file()
        return connection

    def _identify_file(self) -> tuple[object, ...]:
        # With its log, which stays while a connection is open.
        return _identify_file(self._names[0]), _identify_file(self._names[1])

    def _prepare_database(self, connection: sqlite3.Connection) -> None:
        self._retry_step(lambda: connection.execute("PRAGMA journal_mode = WAL"))
        connection.execute("PRAGMA synchronous = NORMAL")
        if _form_of(connection) < len(MIGRATIONS):
            self._lock_database(connection)
            try:
                for number in range(_form_of(connection), len(MIGRATIONS)):
                    for statement in filter(str.strip, MIGRATIONS[number].split(";")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {number + 1}")
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")
        if _form_of(connection) > len(MIGRATIONS):
            raise sqlite3.DatabaseError(
                f"the file has form {_form_of(connection)} of a newer otel-errcompact; this one reads {len(MIGRATIONS)}"
            )

    def _lock_database(self, connection: sqlite3.Connection) -> None:
        # The lock for writing comes first: one for reading that is raised later may fail for ever.
        self._retry_step(lambda: connection.execute("BEGIN IMMEDIATE"))

    def _retry_step(self, step: Callable[[], object]) -> None:
        until, sleep = time.monotonic() + self._wait_s, FIRST_SLEEP_S
        while True:
            try:
                step()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() >= until:
                    raise
            else:
                return
            time.sleep(sleep * random.uniform(0.5, 1.5))  # noqa: S311 - so that those who wait do not meet again
            sleep = min(1.5 * sleep, LAST_SLEEP_S)

    def _unlock_run(self) -> None:
        if self._locks is not None:
            self._locks.release()

    def _sweep_old_runs(self, connection: sqlite3.Connection, now: float) -> None:
        oldest = now - self._expire_s
        for (run_id,) in connection.execute("SELECT run_id FROM runs WHERE used_s <= ?", (oldest,)).fetchall():
            _remove_run(connection, run_id)

    def _leave_after_error(self, error: sqlite3.Error) -> StoreAwayError:
        # What is wrong with a file may be over with a new connection: it was replaced, or its disk was full.
        if _is_busy(error):
            self.cancel("")
        else:
            self.close()
        return StoreAwayError(str(error))


def _read_parts(connection: sqlite3.Connection, run_id: str, known: int) -> Parts:
    version = _version_of(connection, run_id)
    if version in {0, known}:
        return Parts(version, {})
    newer = known if known < version else 0
    bodies = connection.execute("SELECT name, body FROM parts WHERE run_id = ? AND version > ?", (run_id, newer))
    return Parts(version, dict(bodies.fetchall()))


def _version_of(connection: sqlite3.Connection, run_id: str) -> int:
    row = connection.execute("SELECT version FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return row[0] if row is not None else 0


def _identify_file(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - for each change
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_run(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute("DELETE FROM parts WHERE run_id = ?", (run_id,))
    connection.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))


def _form_of(connection: sqlite3.Connection) -> int:
    form: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return form


def _is_busy(error: sqlite3.Error) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def _make_private(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
