"""
What sharing a run costs: `python -m benchmarks.stores [--rounds N] [--redis ADDRESS]`.

- added: the median wall time of one observation of a known class, less the same in memory, in turns in one process: a
  store waits for its disk or its server, which processor time would not show; that is beside it;
- together: observations a second of eight processes, on one run and on a run each.

The Redis server is one of its own on a Unix socket, where `redis-server` is on the path.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.history.stores.address import open_backend
from tests.servers import RedisServer

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

TEXT = """Traceback (most recent call last):
  File "/srv/shop/orders.py", line 42, in load
    return prices[sku]
KeyError: 'tea'
"""
ARGUMENTS = '{"sku": "tea"}'
OPERATION = operation_of("load", ARGUMENTS)
PROCESSES = 8
EVERY = 5
"""After so many failures the call succeeds, as calls of an agent do."""


def main() -> int:
    """Print both tables."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--rounds", type=int, default=2_000)
    asked = reader.parse_args()
    folder = Path(mkdtemp(prefix="errcompact-stores-"))
    addresses = {"memory": "memory", "SQLite": f"sqlite:///{folder}/runs.db?wait_seconds=60"}
    server = None
    with suppress(BaseException):
        server = RedisServer()
        addresses["Redis"] = f"{server.new_address()}&wait_seconds=60"
    try:
        measure_one(addresses, asked.rounds)
        measure_together(addresses, asked.rounds // 4)
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder)
    return 0


def open_ledger(address: str, run_id: str) -> Ledger:
    """Return a ledger on a store, with a run that has some classes."""
    ledger = Ledger(Options(), backend=open_backend(address))
    ledger.open(run_id, agent="shop")
    for number in range(8):  # a run with some classes
        ledger.observe(run_id, RawError(text=f"ValueError: {'x' * (number + 1)} is no price", tool="price"))
    return ledger


def fail(ledger: Ledger, run_id: str, number: int) -> None:
    """Take one step of an agent."""
    began = ledger.next_tick()
    failure = RawError(
        text=TEXT, tool="load", operation=OPERATION, arguments=ARGUMENTS, began=began, time_ns=number + 1
    )
    ledger.observe(run_id, failure)
    if number % EVERY == EVERY - 1:
        ledger.succeed(run_id, "load", operation=OPERATION, arguments=ARGUMENTS)


def measure_one(addresses: dict[str, str], rounds: int) -> None:
    """Measure one process."""
    ledgers = {name: open_ledger(address, "one") for name, address in addresses.items()}
    wall: dict[str, list[float]] = {name: [] for name in addresses}
    cpu: dict[str, list[float]] = {name: [] for name in addresses}
    for number in range(rounds):
        for name, ledger in ledgers.items():
            before, started = time.thread_time(), time.perf_counter()
            fail(ledger, "one", number)
            if number % EVERY != EVERY - 1:
                wall[name].append(1_000 * (time.perf_counter() - started))
                cpu[name].append(1_000 * (time.thread_time() - before))
    print(
        "| store | observation, median ms | added, median ms | added, p99 ms | added processor time of the thread, ms |"
    )
    print("|---|---|---|---|---|")
    plain, p99 = statistics.median(wall["memory"]), statistics.quantiles(wall["memory"], n=100)[98]
    for name in addresses:
        median, high = statistics.median(wall[name]), statistics.quantiles(wall[name], n=100)[98]
        spent = statistics.median(cpu[name]) - statistics.median(cpu["memory"])
        print(f"| {name} | {median:.3f} | {median - plain:.3f} | {high - p99:.3f} | {spent:.3f} |")


def work(address: str, run_id: str, rounds: int, barrier: Barrier) -> None:
    """Be one of several processes."""
    ledger = open_ledger(address, run_id)
    barrier.wait()
    for number in range(rounds):
        fail(ledger, run_id, number)
    barrier.wait()


def measure_together(addresses: dict[str, str], rounds: int) -> None:
    """Measure several processes."""
    context = multiprocessing.get_context("fork")
    print(f"\n| store | {PROCESSES} processes on one run, observations/s | on a run each, observations/s |")
    print("|---|---|---|")
    for name, address in addresses.items():
        rates = []
        for of in (lambda _: "shared", lambda number: f"own-{number}"):
            barrier = context.Barrier(PROCESSES + 1)
            children = [
                context.Process(target=work, args=(address, of(number), rounds, barrier)) for number in range(PROCESSES)
            ]
            for child in children:
                child.start()
            barrier.wait()
            started = time.perf_counter()
            barrier.wait()
            rates.append(PROCESSES * rounds / (time.perf_counter() - started))
            for child in children:
                child.join()
        note = " (each counts for itself)" if name == "memory" else ""
        print(f"| {name} | {rates[0]:,.0f}{note} | {rates[1]:,.0f} |")


if __name__ == "__main__":
    sys.exit(main())
