"""
An agent that does nothing but call tools, four of ten in vain.

    python -m benchmarks.operating.agent FAILURES SEED PAUSE

It is installed as the README says and exports by OTLP; what it did stands on its standard output as JSON.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace

import otel_errcompact as errcompact
from benchmarks.operating.mix import kinds, weights
from otel_errcompact.installation.install import current_meter_provider
from otel_errcompact.otel.export.resending import ResendingSpanProcessor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.operating.mix import Kind

AGENT: Final = "operating"
CALLS: Final = 10
FAILING: Final = 4
"""Of the calls of a run."""

SAMPLE_EVERY: Final = 1_000
"""Of so many failures one is compared, byte for byte, with what arrived."""


class Account:
    """
    What the agent has done.
    """

    def __init__(self) -> None:
        self.failures = 0
        self.raw_bytes = 0
        self.spans = 0
        self.runs = 0
        self.escalations = 0
        self.classes: set[str] = set()
        self.samples: list[dict[str, str]] = []


def main() -> None:
    """Fail as often as asked, hand over what waits, and tell what was done and what it cost."""
    failures, seed, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    # A generator of its own: the SDK makes trace ids with the module's, and two agents with one seed would share them.
    chance = random.Random(seed)
    errcompact.install()
    known, account = kinds(), Account()
    with errcompact.run(agent=AGENT) as run:  # what is loaded or compiled by the first failure is no cost of one
        run.fail(known[0].output or "Error: warm up", tool=known[0].tool)
    trace.get_tracer_provider().force_flush()  # type: ignore[attr-defined]
    began, cpu, memory = time.time(), time.process_time(), _resident()
    while account.failures < failures:
        _run(known, account, failures, chance)
        time.sleep(pause)
    worked, worked_cpu = time.time(), time.process_time()
    print(json.dumps({"waiting": _waiting(), "memory_bytes": _resident() - memory}), flush=True)
    for provider in (trace.get_tracer_provider(), current_meter_provider()):
        provider.force_flush()  # type: ignore[attr-defined]
    print(
        json.dumps(
            {
                **vars(account),
                "classes": len(account.classes),
                "began": began,
                "worked_s": worked - began,
                "worked_cpu_s": worked_cpu - cpu,
                "cpu_s": time.process_time() - cpu,
                "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024,
            }
        ),
        flush=True,
    )


def _run(known: Sequence[Kind], account: Account, failures: int, chance: random.Random) -> None:
    account.runs += 1
    account.spans += 1
    failing = set(chance.sample(range(CALLS), FAILING))
    with errcompact.run(agent=AGENT) as run:
        try:
            for number in range(CALLS):
                kind = chance.choices(known, weights())[0]
                if number not in failing:
                    _succeed(run, kind)
                elif account.failures < failures:
                    _fail(run, kind, account)
                account.spans += 1
                run.check()
        except errcompact.RunHalted:
            account.escalations += 1
        account.classes.update(found.key for found in run.report().classes)


def _succeed(run: errcompact.Run, kind: Kind) -> None:
    with run.tool(kind.tool, arguments={"limit": random.randrange(1_000)}) as call:
        call.result = "found"


def _fail(run: errcompact.Run, kind: Kind, account: Account) -> None:
    account.failures += 1
    with run.tool(kind.tool, arguments={"limit": random.randrange(1_000)}) as call:
        context = trace.get_current_span().get_span_context()
        call.fail(kind.fail(), exit_code=1)
    raw = call.failure.raw.text if call.failure else ""
    account.raw_bytes += len(raw.encode())
    if account.failures % SAMPLE_EVERY == 1:
        account.samples.append({"trace": f"{context.trace_id:032x}", "text": raw})


def _waiting() -> dict[str, Any] | None:
    """Return how many spans wait to be exported, and how many bytes they hold by the library's own estimate."""
    active = getattr(trace.get_tracer_provider(), "_active_span_processor", None)
    for processor in getattr(active, "_span_processors", ()):
        if isinstance(processor, ResendingSpanProcessor):
            outbox = processor.queue
            return {"spans": len(outbox), "bytes": outbox.bytes}
    return None


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
