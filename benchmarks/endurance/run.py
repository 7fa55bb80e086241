"""Start workers, let everything around them fail, and judge each once it has ended."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.endurance import laws
from benchmarks.endurance.laws import Account, History, Seen
from benchmarks.endurance.sink import MODES, ROOT, SinkProcess
from benchmarks.endurance.truth import Truth
from benchmarks.endurance.worker import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AT_ONCE: Final = 3
"""Workers beside those that live from the begin to the end."""

ELDERS: Final = ("threads", "asyncio")
LIVES_S: Final = (15.0, 50.0)
FAULT_S: Final = (1.0, 12.0)
CALM_S: Final = (2.0, 12.0)
KILLED: Final = 0.35
"""The share of workers of which a process is killed."""

UNKILLED: Final = frozenset({"clock", "disk", "full"})
"""With a clock that jumps it is not known what was due; lines that wait for a disk are gone with the process."""

ABRUPT: Final = 0.2
TICK_S: Final = 0.1
SAMPLE_S: Final = 2.0
DISK_BYTES: Final = 24_000_000
PATIENCE_S: Final = 180.0
GROWTH: Final = 1.10
GROWTH_BYTES: Final = 12_000_000
"""What the memory of a worker may differ by between the second quarter of its life and the last: 10 % and an arena."""

WARM_S: Final = 120.0
"""A worker that lives for less says nothing about memory."""


class Group:
    """
    A worker with the processes that it forks.

    Args:
        kind: What it does.
        name: Its name.
        folder: Where it keeps what it does.
        url: The collector.
        seconds: How long it works.
        chance: Makes its choices.
        elder: Whether it lives from the begin to the end.
    """

    def __init__(
        self, kind: str, name: str, folder: Path, url: str, seconds: float, chance: random.Random, *, elder: bool
    ) -> None:
        self.kind = kind
        self.name = name
        self.folder = folder
        self.elder = elder
        folder.mkdir(parents=True)
        self.disk = Disk(folder / "disk", chance) if kind == "full" else None
        how = "abrupt" if not elder and chance.random() < ABRUPT else "calm"
        self.kill_at = time.monotonic() + chance.uniform(0.3, 0.9) * seconds
        self.to_kill = not elder and kind not in UNKILLED and chance.random() < KILLED
        self.killed: dict[int, bool] = {}
        self.history: dict[int, History] = {}
        self.truths: dict[int, Truth] = {}
        self.memory: list[int] = []
        self.files: list[int] = []
        self.give_up_at = time.monotonic() + seconds + PATIENCE_S
        self._sampled = 0.0
        where = self.disk.folder if self.disk is not None and self.disk.folder is not None else folder
        self.errors = (folder / "stderr.txt").open("wb")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "benchmarks.endurance.worker",
                kind,
                name,
                str(folder),
                str(seconds),
                str(chance.randrange(10**9)),
                how,
            ],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
            env={
                **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
                "OTEL_SERVICE_NAME": name,
                "OTEL_EXPORTER_OTLP_ENDPOINT": url,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
                "OTEL_METRIC_EXPORT_INTERVAL": "1000",
                "OTEL_BSP_SCHEDULE_DELAY": "500",
                "OTEL_ERRCOMPACT_TRAJECTORY_PATH": str(where / laws.TRAJECTORY),
                # Rotated as often as it can be, and nothing is thrown away.
                "OTEL_ERRCOMPACT_TRAJECTORY_MAX_BYTES": "4000000" if elder else "65536",
                "OTEL_ERRCOMPACT_TRAJECTORY_BACKUPS": "1000",
            },
        )

    def watch(self, chance: random.Random) -> bool:
        """Read what it has done so far, and kill what is to be killed; return whether it still lives."""
        now_ns = time.time_ns()
        self.process.poll()
        for path in self.folder.glob("truth-*.bin"):
            pid = int(path.stem.partition("-")[2])
            truth = self.truths.get(pid) or self.truths.setdefault(pid, Truth(path))
            self.history.setdefault(pid, History([])).samples.append((now_ns, truth.counts().done))
        alive = [pid for pid in self.truths if lives(pid)]
        if self.to_kill and alive and time.monotonic() >= self.kill_at:
            pid = chance.choice(alive)
            os.kill(pid, signal.SIGKILL)
            self.killed[pid] = True
            self.to_kill = False
        if self.disk is not None:
            self.disk.tick()
        if time.monotonic() - self._sampled >= SAMPLE_S and lives(self.process.pid):
            self._sampled = time.monotonic()
            self.memory.append(resident(self.process.pid))
            self.files.append(len(list(Path(f"/proc/{self.process.pid}/fd").iterdir())))
        return bool(alive) or self.process.poll() is None

    def ask_where(self) -> None:
        """Let its processes print where they stand."""
        for pid in filter(lives, self.truths):
            os.kill(pid, signal.SIGUSR1)
        time.sleep(1)

    def end(self) -> None:
        """Kill what does not end by itself."""
        for pid in {*self.truths, self.process.pid}:
            if lives(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def clear(self) -> None:
        """Remove what it has left."""
        self.errors.close()
        if self.disk is not None:
            self.disk.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def growth(self) -> list[str]:
        """Return whether memory or open files have grown."""
        if len(self.memory) * SAMPLE_S < WARM_S:
            return []
        quarter = len(self.memory) // 4
        early, late = self.memory[quarter : 2 * quarter], self.memory[-quarter:]
        broken = []
        if median(late) > GROWTH * median(early) + GROWTH_BYTES:
            broken.append(f"memory of {self.kind}: {median(early) / 1e6:.0f} MB, then {median(late) / 1e6:.0f} MB")
        if median(self.files[-quarter:]) > max(self.files[quarter : 2 * quarter]):
            broken.append(f"open files of {self.kind}: {self.files[quarter]}, then {self.files[-1]}")
        return broken


class Disk:
    """
    A file system of some megabytes that is full at times, where this user may mount one.

    Args:
        folder: Where it is mounted.
        chance: Says when it is full.
    """

    def __init__(self, folder: Path, chance: random.Random) -> None:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
        mounted = (
            shutil.which("mount") is not None
            and not subprocess.run(command, capture_output=True, check=False).returncode
        )
        self.folder = folder if mounted else None
        self._chance = chance
        self._at = time.monotonic() + 3

    def tick(self) -> None:
        """Fill it, or free it again."""
        if self.folder is None or time.monotonic() < self._at:
            return
        self._at = time.monotonic() + self._chance.uniform(0.5, 3)
        filler = self.folder / "filler"
        if filler.exists():
            filler.unlink()
            return
        try:
            with filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(100_000))
        except OSError:
            return

    def close(self) -> None:
        """Unmount it."""
        if self.folder is not None:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)


class Faults:
    """
    What the collector does, by chance.

    Args:
        sink: The collector.
        chance: Makes the choices.
    """

    def __init__(self, sink: SinkProcess, chance: random.Random) -> None:
        self.happened: Counter[str] = Counter()
        self._sink = sink
        self._chance = chance
        self._at = time.monotonic() + 5
        self._is_faulty = False

    def tick(self) -> None:
        """Begin a fault, or end it, where it is time."""
        if time.monotonic() < self._at:
            return
        if self._is_faulty:
            self.stop()
            return
        fault = self._chance.choice(("killed", *MODES))
        self.happened[fault] += 1
        if fault == "killed":
            self._sink.kill()
        else:
            self._sink.behave(fault)
        self._is_faulty = True
        self._at = time.monotonic() + self._chance.uniform(*FAULT_S)

    def stop(self) -> None:
        """Let the collector work."""
        self._sink.behave("ok")
        self._sink.start()
        self._is_faulty = False
        self._at = time.monotonic() + self._chance.uniform(*CALM_S)


class Ear:
    """
    What the collector has received, by worker.
    """

    def __init__(self) -> None:
        self._seen: defaultdict[str, Seen] = defaultdict(lambda: Seen(set(), {}))

    def listen(self, sink: SinkProcess) -> None:
        """Read what has come in."""
        for entry in sink.received():
            if "spans" in entry:
                for identity in entry["spans"]:
                    self._seen[identity.partition(":")[0]].spans.add(identity)
            elif entry["time_ns"] or entry["errors"]:
                known = self._seen[entry["service"]].metrics
                # Cumulative: what comes late after an attempt that was given up tells of less.
                time_ns, errors = known.get(entry["instance"], (0, 0))
                known[entry["instance"]] = max(time_ns, entry["time_ns"]), max(errors, entry["errors"])

    def of(self, name: str) -> Seen:
        """Return what has come from a worker."""
        return self._seen[name]

    def forget(self, name: str) -> None:
        """Forget a worker."""
        self._seen.pop(name, None)


def endure(
    folder: Path,
    *,
    minutes: float,
    seed: int,
    kinds: Sequence[str] = KINDS,
    lives_s: tuple[float, float] = LIVES_S,
    elders: Sequence[str] = ELDERS,
) -> list[str]:
    """
    Run for some minutes and print the table; return the laws that were broken.

    Args:
        folder: Where workers keep what they do.
        minutes: How long workers are started.
        seed: Of all choices.
        kinds: What workers do.
        lives_s: How long they work, at least and at most.
        elders: What those do that work from the begin to the end.
    """
    chance = random.Random(seed)
    sink = SinkProcess(folder / "sink")
    faults, ear = Faults(sink, chance), Ear()
    accounts: defaultdict[str, Account] = defaultdict(Account)
    broken: list[str] = []
    memory: list[str] = []
    seconds = minutes * 60
    started = time.monotonic()
    until = started + seconds
    names = _names()
    # The two that the others come and go beside.
    living = [
        Group(kind, next(names), folder / f"elder-{kind}", sink.url, seconds, chance, elder=True) for kind in elders
    ]
    order = _kinds(chance, kinds)
    try:
        while living:
            faults.tick() if time.monotonic() < until else faults.stop()
            ear.listen(sink)
            for group in tuple(living):
                if group.watch(chance) and time.monotonic() < group.give_up_at:
                    continue
                living.remove(group)
                account, found = _judge(group, sink, ear)
                accounts[f"{group.kind}{' (whole time)' if group.elder else ''}"] += account
                broken += found
                for law in found:
                    print(f"BROKEN: {law}", file=sys.stderr, flush=True)
                memory += [_describe(group)] if group.elder else []
            while time.monotonic() < until - lives_s[0] and len(living) < AT_ONCE + len(elders):
                name = next(names)
                life = min(chance.uniform(*lives_s), until - time.monotonic())
                living.append(Group(next(order), name, folder / name, sink.url, life, chance, elder=False))
            time.sleep(TICK_S)
    finally:
        for group in living:
            group.end()
            group.clear()
        sink.kill()
    _print(accounts, faults, memory, seed=seed, taken_s=time.monotonic() - started)
    return broken


def _judge(group: Group, sink: SinkProcess, ear: Ear) -> tuple[Account, list[str]]:
    stuck = time.monotonic() >= group.give_up_at
    if stuck:
        group.ask_where()
    group.end()
    ear.listen(sink)
    account, found = laws.judge(group.kind, group.folder, ear.of(group.name), group.killed, group.history)
    if stuck:
        found.append("it did not end")
    code = group.process.returncode
    if code and not group.killed.get(group.process.pid):
        found.append(
            f"exit code {code}: {(group.folder / 'stderr.txt').read_text(encoding='utf-8', errors='replace')[-600:]}"
        )
    found += group.growth()
    if found:
        said = (group.folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")
        print(
            f"what {group.kind} {group.name} said last:\n{said[-(9_000 if stuck else 1_500) :]}",
            file=sys.stderr,
            flush=True,
        )
    ear.forget(group.name)
    group.clear()
    return account, [f"{group.kind} {group.name}: {law}" for law in found]


def _describe(group: Group) -> str:
    quarter = max(len(group.memory) // 4, 1)
    early, late = group.memory[quarter : 2 * quarter] or group.memory, group.memory[-quarter:]
    files = group.files or [0]
    return (
        f"| {group.kind} | {median(early) / 1e6:.0f} | {median(late) / 1e6:.0f} | {max(group.memory) / 1e6:.0f} "
        f"| {files[min(quarter, len(files) - 1)]} | {files[-1]} | {max(files)} |"
    )


def _print(accounts: dict[str, Account], faults: Faults, memory: list[str], *, seed: int, taken_s: float) -> None:
    columns = {
        "processes": "processes",
        "killed": "killed",
        "begun": "failures",
        "unwatched": "while uninstalled",
        "metrics": "in metrics",
        "metrics_cut": "of these cut",
        "lines": "lines",
        "lines_given_up": "given up",
        "lines_cut": "cut",
        "torn": "torn",
        "spans": "spans",
        "spans_dropped": "dropped",
        "spans_cut": "cut",
    }
    print(f"seed {seed}, {taken_s / 60:.1f} minutes, Python {sys.version.split()[0]}")
    print(f"the collector: {', '.join(f'{name} {count} times' for name, count in sorted(faults.happened.items()))}")
    print("\n| workers | " + " | ".join(columns.values()) + " |")
    print("|---|" + "---:|" * len(columns))
    for kind, account in sorted(accounts.items()):
        print(f"| {kind} | " + " | ".join(f"{getattr(account, name):,}" for name in columns) + " |")
    whole = sum(accounts.values(), Account())
    print("| all | " + " | ".join(f"{getattr(whole, name):,}" for name in columns) + " |")
    print("\n| whole time | MB, second quarter | MB, last quarter | MB, peak | open files | at the end | most |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    print("\n".join(memory))


def _names() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"w{number}"


def _kinds(chance: random.Random, kinds: Sequence[str]) -> Iterator[str]:
    while True:
        yield from chance.sample(kinds, len(kinds))


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[
            0
        ] not in {"Z", "X"}
    except OSError:
        return False


def resident(pid: int) -> int:
    """Return the bytes that a process holds in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
