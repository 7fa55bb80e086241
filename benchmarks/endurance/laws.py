"""What must hold of a worker once it has ended, and what was seen."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.endurance.sink import IDENTITY
from benchmarks.endurance.truth import Truth, has_arrived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TRAJECTORY: Final = "trajectory.jsonl"
CLOCK: Final = "clock"
DISK_FAULTS: Final = frozenset({"disk", "full"})
LOSSES: Final = frozenset(
    {"export_dropped", "log_export_dropped", "class_label_overflow", "label_overflow", "run_evicted"}
)
"""What the library counts of itself and is no fault of it."""

SLACK_NS: Final = 1_500_000_000
"""Between the moment in which counts are collected, and the one that the collection is stamped with, at most."""

SHUTDOWN_S: Final = 30.0


class Seen(NamedTuple):
    """
    What the back end has seen of one worker.
    """

    spans: set[str]
    """Identities of failures on spans."""

    metrics: dict[str, tuple[int, int]]
    """By process: the time of the newest export that was taken, and the failures that it held."""


class History(NamedTuple):
    """
    What was read from outside while a process worked.
    """

    samples: list[tuple[int, int]]
    """Times in nanoseconds, and failures that were done."""


class Account(NamedTuple):
    """
    The numbers of one worker, or of several.
    """

    processes: int = 0
    killed: int = 0
    begun: int = 0
    unwatched: int = 0
    lines: int = 0
    lines_given_up: int = 0
    lines_cut: int = 0
    """By SIGKILL: failures whose line was not written yet."""

    torn: int = 0
    metrics: int = 0
    metrics_cut: int = 0
    """By SIGKILL or by an end while the collector was away."""

    spans: int = 0
    spans_dropped: int = 0
    spans_cut: int = 0

    def __add__(self, other: Any) -> Account:
        return Account(*map(sum, zip(self, other, strict=True)))


def judge(
    kind: str, folder: Path, seen: Seen, killed: dict[int, bool], history: dict[int, History]
) -> tuple[Account, list[str]]:
    """
    Return the account of a worker, and the laws that it has broken.

    Args:
        kind: What the worker did.
        folder: Where it kept what it did.
        seen: What the back end has seen.
        killed: Which of its processes were killed.
        history: What was read of its processes while they worked.
    """
    truths = {int(path.stem.partition("-")[2]): Truth(path).counts() for path in folder.glob("truth-*.bin")}
    results = {pid: _result(folder, pid) for pid in truths}
    broken = [
        f"process {pid} has ended without a result" for pid in truths if results[pid] is None and not killed.get(pid)
    ]
    ended = [result for result in results.values() if result is not None]
    begun = sum(counts.begun for counts in truths.values())
    unwatched = sum(counts.unwatched for counts in truths.values())
    may_be_cut = sum(counts.under_way for pid, counts in truths.items() if results[pid] is None)
    watched = begun - unwatched

    lines, twice, torn = read_lines(folder)
    given_up = sum(result["unwritten"] for result in ended)
    missing = watched - lines
    if twice:
        broken.append(f"{twice} raw errors stand twice in the trajectory")
    if not given_up <= missing <= given_up + may_be_cut:
        broken.append(
            f"trajectory: {missing} lines are missing, {given_up} given up, at most {may_be_cut} cut by SIGKILL"
        )
    if torn and kind not in DISK_FAULTS and not any(killed.values()):
        broken.append(f"trajectory: {torn} torn lines")

    metrics = sum(count for _, count in seen.metrics.values())
    calm = len(ended) == len(truths) and all(result["calm"] for result in ended)
    least = watched if calm else _least(folder, truths, results, seen, history, unwatched)
    if kind == CLOCK and not all(has_arrived(result.get("exports") or []) for result in ended):
        least = 0  # the SDK's limits are times of day: a jump ends its last export, or lets one wait for a day
    if not least <= metrics <= watched:
        exports = [result.get("exports") for result in ended]
        broken.append(f"metrics: {metrics} of {watched} failures, at least {least} were due; last exports {exports}")

    dropped = sum(result["failures"].get("export_dropped", 0) for result in ended)
    spans = len(seen.spans)
    if spans > begun:
        broken.append(f"spans: {spans} of {begun} failures")
    if len(ended) == len(truths) and spans + dropped < watched:
        broken.append(f"spans: {spans} arrived and {dropped} were dropped of {watched}")

    faults = Counter[str]()
    for result in ended:
        faults.update(result["failures"])
        if result["shutdown_s"] > SHUTDOWN_S:
            broken.append(f"the end took {result['shutdown_s']:.0f} s")
    allowed = LOSSES | ({"trajectory", "trajectory_dropped"} if kind in DISK_FAULTS else set())
    broken += [f"internal failure in {stage}: {count}" for stage, count in faults.items() if stage not in allowed]
    account = Account(
        processes=len(truths),
        killed=sum(killed.values()),
        begun=begun,
        unwatched=unwatched,
        lines=lines,
        lines_given_up=given_up,
        lines_cut=max(missing - given_up, 0),
        torn=torn,
        metrics=metrics,
        metrics_cut=watched - metrics,
        spans=spans,
        spans_dropped=dropped,
        spans_cut=max(watched - spans - dropped, 0),
    )
    return account, broken


def _least(
    folder: Path,
    truths: dict[int, Any],
    results: dict[int, Any],
    seen: Seen,
    history: dict[int, History],
    unwatched: int,
) -> int:
    """Return how many failures the newest exports that were taken must have held."""
    least = 0
    for pid, counts in truths.items():
        result = results[pid]
        if result is not None and result["calm"]:
            least += counts.done
            continue
        instance = (
            (folder / f"instance-{pid}.txt").read_text(encoding="utf-8")
            if (folder / f"instance-{pid}.txt").exists()
            else ""
        )
        time_ns, _ = seen.metrics.get(instance, (0, 0))
        samples = history[pid].samples if pid in history else []
        least += max((done for at, done in samples if at <= time_ns - SLACK_NS), default=0)
    return max(least - unwatched, 0)


def _result(folder: Path, pid: int) -> dict[str, Any] | None:
    path = folder / f"result-{pid}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def read_lines(folder: Path) -> tuple[int, int, int]:
    """Return how many raw errors a trajectory holds, how many of them twice, and how many torn lines."""
    found: set[bytes] = set()
    twice = torn = 0
    for line in _lines(folder):
        try:
            json.loads(line)
        except ValueError:
            torn += 1
            continue
        identity = IDENTITY.search(line)
        if identity is not None:
            twice += identity[0] in found
            found.add(identity[0])
    return len(found), twice, torn


def _lines(folder: Path) -> Iterator[bytes]:
    for path in _parts(folder):
        with path.open("rb") as file:
            yield from (line for line in file if line.strip())


def _parts(folder: Path) -> Iterable[Path]:
    # On the full disk it is in a folder of its own.
    return [path for path in folder.rglob(f"{TRAJECTORY}*") if path.is_file()]
