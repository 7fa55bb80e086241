"""
A program of several processes and threads that work on one run: `python -m tests.history.shared.processes ADDRESS ...`.

It prints a line of JSON for each thing that has happened, as the listeners of its ledgers have heard it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import threading
from typing import Any

from otel_errcompact.config import Options
from otel_errcompact.engine.events import Observation, Refused, Succeeded
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from otel_errcompact.history.stores.address import open_backend
from tests.builders import raw
from tests.history.shared.test_laws import OPTIONS, TEXTS

OUT = 1


def say(what: str, **values: Any) -> None:
    """Write one line at once: of several processes none lands inside another's."""
    os.write(OUT, (json.dumps({"what": what, "process": os.getpid(), **values}) + "\n").encode())


def tell_observation(observation: Observation) -> None:
    error = observation.raw
    say(
        "failed",
        tick=observation.tick,
        began=error.began,
        text=error.text,
        tool=error.tool,
        arguments=error.arguments,
        outcome=observation.outcome,
        count=observation.count,
        streak=observation.streak,
    )


def tell_call(what: str, event: Succeeded | Refused) -> None:
    say(what, tick=event.tick, began=event.began, tool=event.tool, arguments=event.arguments)


TOLD = Listener(
    {
        Observation: tell_observation,
        Succeeded: lambda event: tell_call("succeeded", event),
        Refused: lambda event: tell_call("refused", event),
        Escalation: lambda event: say("escalated", tick=event.tick, threshold=event.threshold, count=event.count),
        AnsweredEscalation: lambda event: say("answered", tick=event.tick, action=event.action),
    }
)
"""Prints what is counted."""


def work(ledger: Ledger, steps: int, seed: int) -> None:
    draw = random.Random(seed)
    for number in range(steps):
        tool, arguments = draw.choice(("read", "query")), draw.choice(('{"path": "a.csv"}', '{"path": "b.csv"}'))
        began = ledger.next_tick()
        if ledger.refuse(Refused(run_id="r", tool=tool, arguments=arguments, began=began)):
            continue
        if draw.random() < 0.1:
            ledger.succeed("r", tool, arguments=arguments, began=began)
        else:
            ledger.observe("r", raw(draw.choice(TEXTS), tool=tool, arguments=arguments, began=began))
        say("done", number=number)


def be_patient(address: str) -> str:
    """Return an address whose store is away after two minutes: sooner says no more than that the machine is busy."""
    return f"{address}&wait_seconds=120&socket_timeout=120" if "?" in address else f"{address}?wait_seconds=120"


def run_process(address: str, threads: int, steps: int, seed: int) -> None:
    ledger = Ledger(OPTIONS, backend=open_backend(be_patient(address)))
    ledger.open("r", agent="shop")
    ledger.listeners.add(TOLD)
    started = [threading.Thread(target=work, args=(ledger, steps, seed + number)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    say("failures", counted=dict(ledger.guard.failures))


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("address")
    reader.add_argument("--processes", type=int, default=8)
    reader.add_argument("--threads", type=int, default=8)
    reader.add_argument("--steps", type=int, default=10)
    reader.add_argument("--seed", type=int, default=1)
    asked = reader.parse_args()
    # All modules that it needs: eight processes that import them at once would be busy with that.
    import redis  # noqa: F401

    Ledger(Options()).observe("warm", raw(TEXTS[3]))
    children: list[int] = []
    for number in range(asked.processes):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run_process(asked.address, asked.threads, asked.steps, asked.seed + 100 * number)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        children.append(child)
    say("started", children=children)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    say("ended", statuses=statuses)


if __name__ == "__main__":
    main()
