"""The collector is away for minutes under load, and then back: what is lost, and whether that was said."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Final

from benchmarks.endurance import laws
from benchmarks.endurance.run import TICK_S, Ear, Group, resident
from benchmarks.endurance.sink import SinkProcess
from otel_errcompact.otel.export.queue import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path

BEFORE_S: Final = 5.0
AFTER_S: Final = 10.0
START_S: Final = 1.0
"""What a worker needs to start, about."""

ONE_ITEM_BYTES: Final = 1_000_000
"""Where something was dropped, no more than this was left of the bound."""


def endure(
    folder: Path, *, minutes: float, seed: int, before_s: float = BEFORE_S, after_s: float = AFTER_S
) -> list[str]:
    """Let the collector be away for some minutes and print what came; return the laws that were broken."""
    chance = random.Random(seed)
    sink, ear = SinkProcess(folder / "sink"), Ear()
    seconds = before_s + minutes * 60 + after_s
    group = Group("threads", "outage", folder / "worker", sink.url, seconds, chance, elder=True)
    started = time.monotonic()
    away, back, before, peak = started + before_s + START_S, started + seconds - after_s + START_S, 0, 0
    try:
        while group.watch(chance) and time.monotonic() < group.give_up_at:
            if away <= time.monotonic() < back:
                before = before or resident(group.process.pid)
                sink.kill()
            else:
                sink.start()
            peak = max(peak, resident(group.process.pid))
            ear.listen(sink)
            time.sleep(TICK_S)
        group.end()
        ear.listen(sink)
    finally:
        group.end()
        sink.kill()
    account, broken = laws.judge(group.kind, group.folder, ear.of(group.name), group.killed, group.history)
    results = [json.loads(path.read_text(encoding="utf-8")) for path in group.folder.glob("result-*.json")]
    waited = max((result["most_waiting"] for result in results), default=0)
    if not results:
        broken.append("it did not end")
    if waited > MAX_BYTES:
        broken.append(f"{waited} bytes waited, the bound is {MAX_BYTES}")
    if account.spans_dropped and waited < MAX_BYTES - ONE_ITEM_BYTES:
        broken.append(f"{account.spans_dropped} spans were dropped although only {waited} of {MAX_BYTES} bytes waited")
    print("| outage | measured |\n|---|---:|")
    for name, value in {
        "minutes without a collector": f"{(back - away) / 60:.2f}",
        "failures": f"{account.begun:,}",
        "in metrics at the end": f"{account.metrics:,}",
        "lines of the trajectory": f"{account.lines:,}",
        "spans of failures that arrived": f"{account.spans:,}",
        "spans dropped and counted, healthy ones included": f"{account.spans_dropped:,}",
        "bytes that waited at most, by the library's estimate": f"{waited:,}",
        "the bound": f"{MAX_BYTES:,}",
        "memory before, MB": f"{before / 1e6:.0f}",
        "memory at most, MB": f"{peak / 1e6:.0f}",
    }.items():
        print(f"| {name} | {value} |")
    group.clear()
    return broken
