"""
A worker of the endurance run: calls that fail and calls that do not, in lanes, until its time is over.

    python -m benchmarks.endurance.worker KIND NAME FOLDER SECONDS SEED END

END is `calm` (export until all has arrived, then end) or `abrupt` (end now, whatever the collector does). What it did
is in `FOLDER/truth-PID.bin` while it works, and in `FOLDER/result-PID.json` once it has ended.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.endurance.truth import Truth, has_arrived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS: Final = ("threads", "asyncio", "prefork", "programs", "clock", "plugin", "disk", "full")
LANES: Final = {"threads": 4, "asyncio": 8, "prefork": 2, "programs": 2, "clock": 3, "plugin": 3, "disk": 3, "full": 3}
"""Of each process."""

CHILDREN: Final = 3
"""Processes that a prefork worker forks one after the other, each after failures of its own."""

PAUSE_S: Final = 0.06
"""Between two calls of a lane, on average."""

FLUSH_S: Final = 120.0
JUMP_S: Final = 86_400.0


class Gate:
    """
    Lets calls pass until the plugin is to be changed, and then waits for those under way.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False
        self.is_installed = True

    @contextmanager
    def passing(self) -> Iterator[bool]:
        """Pass with one call; give whether the plugin is installed all the while."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed)
            self._inside += 1
        try:
            yield self.is_installed
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Keep calls away."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()


class Worker:
    """
    One process of a worker.

    Args:
        kind: What it does.
        name: The name of the worker, shared by the processes that it forks.
        folder: Where it keeps what it did.
        seconds: How long it works.
        seed: Of its own choices.
    """

    def __init__(self, kind: str, name: str, folder: Path, seconds: float, seed: int) -> None:
        self.kind = kind
        self.name = name
        self.folder = folder
        self.until = time.monotonic() + seconds
        self.gate = Gate()
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Begin as a process of its own, also after a fork."""
        self.chance = random.Random(seed)
        self.truth = Truth(self.folder / f"truth-{os.getpid()}.bin")
        self.most_waiting = 0

    @property
    def is_over(self) -> bool:
        """Whether its time is over."""
        return time.monotonic() >= self.until

    def fail(self, lane: int, *, watched: bool, hand_in: Callable[[str], object]) -> None:
        """Hand in one failure, counted before and after."""
        number = self.truth.begin(lane)
        identity = f"[id {self.name}:{os.getpid()}:{lane}:{number}]"
        with suppress(ValueError, OSError):
            hand_in(identity)
        self.truth.finish(lane, unwatched=not watched)

    def pause(self, chance: random.Random) -> float:
        """Return for how many seconds a lane rests."""
        return chance.uniform(0.2, 1.8) * PAUSE_S


def thread_lane(worker: Worker, lane: int, seed: int) -> None:
    """Call tools in runs of ten calls, of which some fail, in every way that an application may tell it."""
    from opentelemetry import trace

    import otel_errcompact as errcompact

    chance = random.Random(seed)
    tracer = trace.get_tracer("endurance")
    bounds = errcompact.Thresholds(same=10**9, rejected=10**9, consecutive=10**9, total=10**9)
    while not worker.is_over:
        # Half of the runs escalate: their calls may be refused, and such a run is given up.
        loose = chance.random() < 0.5
        how = {"thresholds": bounds} if loose else {"on_escalation": lambda _: errcompact.Continue("go on")}
        with suppress(errcompact.RunHalted), errcompact.run(agent="endurance", **how) as run:
            for _ in range(10):
                if worker.is_over:
                    break
                with worker.gate.passing() as watched:
                    _call(worker, lane, chance, run, tracer, watched=watched)
                time.sleep(worker.pause(chance))


def _call(worker: Worker, lane: int, chance: random.Random, run: Any, tracer: Any, *, watched: bool) -> None:
    tool, arguments = f"tool_{chance.randrange(8)}", {"order": chance.randrange(10**6)}
    way = chance.choice(("healthy", "healthy", "raised", "returned", "told", "span", "program"))
    if way == "program" and worker.kind != "programs":
        way = "raised"
    if way == "healthy":
        with run.tool(tool, arguments=arguments) as call:
            call.result = "found"
    elif way == "told":
        worker.fail(lane, watched=watched, hand_in=lambda identity: run.fail(_text(chance, identity), tool=tool))
    elif way == "span":

        def hand_in(identity: str) -> None:
            with tracer.start_as_current_span(f"load {tool}", context=_no_context()):
                raise ValueError(f"cannot load order {identity}")

        worker.fail(lane, watched=watched, hand_in=hand_in)
    else:
        with run.tool(tool, arguments=arguments) as call:
            if call.refused:
                return
            number = worker.truth.begin(lane)
            identity = f"[id {worker.name}:{os.getpid()}:{lane}:{number}]"
            if way == "raised":
                raise OSError(f"{_text(chance, identity)}")
            call.fail(_output(identity) if way == "program" else _text(chance, identity), exit_code=1)
        worker.truth.finish(lane, unwatched=not watched)


def _no_context() -> Any:
    from opentelemetry.context import Context

    return Context()


def _text(chance: random.Random, identity: str) -> str:
    cause = chance.choice(
        ("no such table: orders", "connection refused by db:5432", "order is not known", "disk quota")
    )
    return f"OperationalError: {cause} {identity}\n" + "  detail of the query\n" * chance.randrange(20)


def _output(identity: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", 'echo "cat: /srv/orders: No such file or directory $0" >&2; exit 1', identity],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


async def task_lanes(worker: Worker, lanes: int) -> None:
    """Call tools in tasks, each in runs of its own."""
    import otel_errcompact as errcompact

    bounds = errcompact.Thresholds(same=10**9, rejected=10**9, consecutive=10**9, total=10**9)

    async def one(lane: int, chance: random.Random) -> None:
        while not worker.is_over:
            async with errcompact.run(agent="endurance", thresholds=bounds) as run:
                for _ in range(10):
                    await asyncio.sleep(worker.pause(chance))
                    async with run.tool("ask", arguments={"order": chance.randrange(10**6)}) as call:
                        if call.refused or chance.random() < 0.4:
                            call.result = "found"
                            continue
                        number = worker.truth.begin(lane)
                        await asyncio.sleep(0)
                        raise OSError(_text(chance, f"[id {worker.name}:{os.getpid()}:{lane}:{number}]"))
                    worker.truth.finish(lane)

    await asyncio.gather(*(one(lane, random.Random(worker.chance.random())) for lane in range(lanes)))


def change_plugin(worker: Worker) -> None:
    """Take the plugin out and put it in again, in turns."""
    import otel_errcompact as errcompact

    while not worker.is_over:
        time.sleep(worker.chance.uniform(1, 3))
        with worker.gate.closed():
            errcompact.uninstall()
            worker.gate.is_installed = False
        time.sleep(worker.chance.uniform(0.2, 1))
        with worker.gate.closed():
            errcompact.install()
            worker.gate.is_installed = True


def limit_files(worker: Worker) -> None:
    """Let the system refuse to write beyond some size, in turns: at times a part of a line is written."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        while not worker.is_over:
            time.sleep(worker.chance.uniform(0.5, 3))
            resource.setrlimit(resource.RLIMIT_FSIZE, (worker.chance.choice((0, 10_000, 40_000, 60_000)), hard))
            time.sleep(worker.chance.uniform(0.2, 3))
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def jump_clock(seed: int) -> None:
    """Let the clock of this process jump by up to a day, back and forth; what is monotonic stays so."""
    chance = random.Random(seed)
    real_ns = time.time_ns
    offset = [0, 0]

    def jumping_ns() -> int:
        if real_ns() >= offset[1]:
            offset[0] = int(chance.uniform(-JUMP_S, JUMP_S) * 1e9)
            offset[1] = real_ns() + int(chance.uniform(0.2, 2) * 1e9)
        return real_ns() + offset[0]

    time.time_ns = jumping_ns
    time.time = lambda: jumping_ns() / 1e9


def work(worker: Worker) -> None:
    """Run all lanes until the time is over."""
    lanes = LANES[worker.kind]
    beside = {"plugin": change_plugin, "disk": limit_files}.get(worker.kind)
    threads = [threading.Thread(target=beside, args=(worker,))] if beside else []
    if worker.kind == "asyncio":
        asyncio.run(task_lanes(worker, lanes))
    else:
        seeds = [worker.chance.randrange(10**9) for _ in range(lanes)]
        threads += [threading.Thread(target=thread_lane, args=(worker, n, seed)) for n, seed in enumerate(seeds)]
    threads.append(threading.Thread(target=watch_queue, args=(worker,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def watch_queue(worker: Worker) -> None:
    """Keep how many bytes have waited to be exported at most."""
    waiting = queue()
    while waiting is not None and not worker.is_over:
        worker.most_waiting = max(worker.most_waiting, waiting.bytes)
        time.sleep(0.05)


def queue() -> Any:
    """Return the queue of spans, if the library has made one."""
    from opentelemetry import trace

    from otel_errcompact.otel.export.resending import ResendingSpanProcessor

    active = getattr(trace.get_tracer_provider(), "_active_span_processor", None)
    for processor in getattr(active, "_span_processors", ()):
        if isinstance(processor, ResendingSpanProcessor):
            return processor.queue
    return None


def end(worker: Worker, how: str) -> None:
    """Export what is left, and tell what was done and what was given up."""
    from opentelemetry import trace

    import otel_errcompact as errcompact
    from otel_errcompact.installation.install import current_meter_provider

    installed = errcompact.install()
    exports: list[int] = []
    providers: list[Any] = [trace.get_tracer_provider(), current_meter_provider()]
    if how == "calm":
        exports = note_exports(providers[1])
        deadline = time.monotonic() + FLUSH_S
        while time.monotonic() < deadline:
            exports.clear()
            # A clock that jumps makes the SDK raise; that metrics have not arrived, it does not say.
            with suppress(Exception):
                if all(provider.force_flush(10_000) for provider in providers) and has_arrived(exports):
                    break
            time.sleep(0.3)
    raws = None
    if installed.trajectory is not None:
        installed.trajectory.close()  # as at the end of the process: what waits is written, or given up
        raws = installed.trajectory._raws  # noqa: SLF001 - of one of two files
    began = time.monotonic()
    for provider in providers:
        provider.shutdown()
    result = {
        "unwritten": raws.unwritten if raws is not None else 0,
        "failures": dict(installed.ledger.guard.failures),
        "shutdown_s": time.monotonic() - began,
        "most_waiting": worker.most_waiting,
        "calm": how == "calm",
        "exports": exports,
    }
    path = worker.folder / f"result-{os.getpid()}.json"
    path.with_suffix(".new").write_text(json.dumps(result), encoding="utf-8")
    path.with_suffix(".new").replace(path)


def note_exports(meters: Any) -> list[int]:
    """Return a list to which each export of metrics adds the failures it holds; -1 if it did not arrive."""
    exports: list[int] = []
    for reader in meters._metric_readers:  # noqa: SLF001 - there is no public way
        exporter = reader._exporter  # noqa: SLF001 - as above
        export = exporter.export

        def noted(*arguments: Any, export: Any = export, **options: Any) -> Any:
            result = export(*arguments, **options)
            exports.append(failures_in(arguments[0]) if result.name == "SUCCESS" else -1)
            return result

        exporter.export = noted
    return exports


def failures_in(data: Any) -> int:
    """Return how many failures an export of metrics holds."""
    return sum(
        point.value
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "errcompact.errors"
        for point in metric.data.data_points
    )


def say_who(worker: Worker) -> None:
    """Tell by which id the metrics of this process are known."""
    from otel_errcompact.installation.install import current_meter_provider

    config = getattr(current_meter_provider(), "_sdk_config", None)
    instance = config.resource.attributes.get("service.instance.id", "") if config else ""
    (worker.folder / f"instance-{os.getpid()}.txt").write_text(str(instance), encoding="utf-8")


def main() -> None:
    """Work as the arguments say."""
    kind, name, folder, seconds, seed, how = sys.argv[1:]
    faulthandler.register(signal.SIGUSR1)  # where it stands, should it never end
    if kind == "clock":
        jump_clock(int(seed))
    import otel_errcompact as errcompact

    errcompact.install()
    worker = Worker(kind, name, Path(folder), float(seconds), int(seed))
    say_who(worker)
    children = []
    if kind == "prefork":
        with errcompact.run(agent="endurance") as run:
            for number in range(CHILDREN):
                # What the parent has counted before is the parent's.
                worker.fail(
                    LANES[kind], watched=True, hand_in=lambda identity: run.fail(f"KeyError: {identity}", tool="boot")
                )
                child = os.fork()
                if child == 0:
                    worker.begin(int(seed) + number + 1)
                    say_who(worker)
                    children = []
                    break
                children.append(child)
    work(worker)
    for child in children:
        os.waitpid(child, 0)
    end(worker, how)


if __name__ == "__main__":
    main()
