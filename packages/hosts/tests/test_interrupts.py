"""Signals in the middle of the library: handlers that raise, and handlers that fail, log or ask themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact.runtime.locks import Held, ReentrantLock
from packages.hosts.tests.programs import played

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.timeout(1_000)]


@pytest.mark.programs
@pytest.mark.parametrize("kind", ["Timeout", "KeyboardInterrupt"])
def test_interrupts_leave_nothing_held_and_nothing_lost(tmp_path: Path, kind: str) -> None:
    """
    Five thousand of each, wherever they land: no lock stays held, other threads go on, no block stays open, and
    every failure of which the program has read the digest is counted, kept and measured.
    """
    found = played(
        tmp_path,
        f"""
        class Timeout(BaseException): pass
        def interrupt(*_): raise {kind}()
        signal.signal(signal.SIGALRM, interrupt)
        chance = random.Random(7)
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        reader = InMemoryMetricReader()
        installed = errcompact.install(
            meter_provider=MeterProvider([reader], shutdown_on_exit=False),
            options=Options(thresholds=NEVER, trajectory=TrajectoryOptions(max_bytes=10**9)),
        )
        store = installed.ledger.store
        def measured():
            data = reader.get_metrics_data()
            metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics] if data else []
            return sum(p.value for m in metrics if m.name == "errcompact.errors" for p in m.data.data_points)
        run = errcompact.run("r"); run.port.open()
        interrupts = told = left_open = 0
        def held():
            locks = [store._lock, installed.trajectory._lock, installed.telemetry._lock]
            locks += [entry.lock for entry in store._entries.values()]
            return [lock for lock in locks if repr(lock).startswith("<locked ")]
        def work():
            global told
            with errcompact.run("inner") as inner:
                inner.fail("of the inner run", tool="t")
            for _ in range(10):
                run.fail("with a text", tool="t"); told += 1
                with run.tool("u") as call:
                    raise ValueError("with an exception")
                told += 1
                with run.tool("v") as call:
                    call.result = "fine"
                run.digest()
            measured()
        # Python's own lock of imports stays held where one is interrupted: what is needed is imported by now.
        work(); run.fail("in a thread", tool="t")
        stuck = []
        while interrupts < 5_000 and not stuck:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00005, 0.0015))
                work()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except {kind}:
                interrupts += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            stuck = held()
            left_open += current_run() is not None
        other = threading.Thread(target=run.fail, args=("in a thread",), kwargs={{"tool": "t"}}, daemon=True)
        other.start(); other.join(60)
        print(json.dumps({{
            "stuck": len(stuck),
            "left open": left_open,
            "blocked": other.is_alive(),
            "lost": max(told - run.report().occurrences, 0),
            "not kept": max(told - len(kept()), 0),
            "not measured": max(told - measured(), 0),
        }}))
        os._exit(0)
        """,
    )
    assert found == {"stuck": 0, "left open": 0, "blocked": False, "lost": 0, "not kept": 0, "not measured": 0}


@pytest.mark.programs
def test_signal_handlers_that_fail_log_and_ask(tmp_path: Path) -> None:
    """They interrupt the library, which they call: nothing waits for itself, and every count is exact."""
    found = played(
        tmp_path,
        """
        import logging
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs import LoggingHandler
        logs = LoggerProvider(shutdown_on_exit=False)
        installed = errcompact.install(logger_provider=logs, options=Options(thresholds=NEVER))
        log = logging.getLogger("app"); log.propagate = False; log.addHandler(LoggingHandler(logger_provider=logs))
        counts = {"signals": 0, "program": 0}
        with errcompact.run("r") as run:
            def interrupt(*_):
                counts["signals"] += 1  # and the next one comes when this has returned: signals do not pile up
                run.fail("from the signal handler", tool="s")
                with run.tool("ok") as call: call.result = "fine"
                run.digest(); run.report(); run.check()
                with errcompact.run("other") as other: other.fail("of another run", tool="s")
                try: raise OSError("stopping")
                except OSError: log.exception("terminating")
            signal.signal(signal.SIGALRM, interrupt)
            chance, due = random.Random(3), 0
            while due < 300:
                if counts["signals"] == due:
                    due += 1
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.002))
                counts["program"] += 1
                run.fail(f"Error: from the program in file a{counts['program'] % 50}.py", tool="p")
                with run.tool("p") as call: call.result = "fine"
            signal.setitimer(signal.ITIMER_REAL, 0)
            # What the handler logs is the failure of a call that it interrupts, or one of the run.
            occurrences = sum(found.count for found in run.report().classes if found.tool in {"p", "s"})
        print(json.dumps({"counted": occurrences - sum(counts.values()),
                          "internal": dict(installed.ledger.guard.failures)}))
        """,
    )
    assert found == {"counted": 0, "internal": {}}


@pytest.mark.programs
def test_finalisers_that_fail(tmp_path: Path) -> None:
    """The garbage collector runs them wherever it likes, also in the middle of a count."""
    found = played(
        tmp_path,
        """
        import gc
        errcompact.install(options=Options(thresholds=NEVER))
        counts = {"dropped": 0, "program": 0}
        run = errcompact.run("r"); run.port.open()
        class Stream:
            def __init__(self): self.itself = self
            def __del__(self):
                counts["dropped"] += 1
                run.fail("Error: the stream was dropped", tool="stream")
        gc.set_threshold(5, 2, 2)
        while counts["program"] < 1_000:
            Stream()
            run.fail(f"Error: from the program in file a{counts['program'] % 50}.py", tool="p"); counts["program"] += 1
        gc.disable(); gc.collect()
        occurrences = run.report().occurrences
        print(json.dumps({"counted": occurrences - sum(counts.values()), "kept": len(kept()) - occurrences}))
        """,
    )
    assert found == {"counted": 0, "kept": 0}


@pytest.mark.programs
def test_a_signal_handler_that_ends_the_process_loses_no_raw_error(tmp_path: Path) -> None:
    """What it tells is on disk when it is told, also in the middle of another line."""
    found = played(
        tmp_path,
        """
        errcompact.install(options=Options(thresholds=NEVER))
        children = []
        for number in range(20):
            child = os.fork()
            if not child:
                with errcompact.run() as run:
                    def stop(*_):
                        run.fail(f"stopped {number}.", tool="s")
                        os._exit(0)
                    signal.signal(signal.SIGALRM, stop)
                    signal.setitimer(signal.ITIMER_REAL, 0.002 + number / 10_000)
                    while True: run.fail("at work", tool="t")
            children.append(child)
        for child in children: os.waitpid(child, 0)
        told = json.dumps(kept())
        print(json.dumps({"lost": [number for number in range(20) if f"stopped {number}." not in told]}))
        """,
    )
    assert found == {"lost": []}


def test_a_lock_is_free_after_an_interrupt_that_waits_for_it_or_has_just_taken_it() -> None:
    """Both are told by the same exception: only the lock knows whether it was taken."""

    class Interrupted(ReentrantLock):
        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if blocking and not free:
                raise KeyboardInterrupt
            super().acquire(blocking, timeout)
            if blocking:
                raise KeyboardInterrupt
            return True

    for case in (True, False):
        free = case
        lock = Interrupted()
        with pytest.raises(KeyboardInterrupt), Held(lock, "value"):
            raise AssertionError("must not be reached")
        assert not lock.is_mine()


def test_a_lock_tells_who_holds_it() -> None:
    """This thread may take it again, and gives it back as often."""
    lock = ReentrantLock()
    assert not lock.is_mine()
    with Held(lock, 1) as one, Held(lock, 2) as two:
        assert (one, two, lock.is_mine()) == (1, 2, True)
    assert not lock.is_mine()
