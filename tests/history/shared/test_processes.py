"""Exact counts of one run on which many processes and threads work, also where they are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.history.stores.address import open_backend
from tests.builders import raw
from tests.history.shared.test_laws import OPTIONS

pytestmark = [pytest.mark.programs, pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")]

ROOT = Path(__file__).parents[3]


def start(address: str, *options: str) -> subprocess.Popen[str]:
    command = (sys.executable, "-m", "tests.history.shared.processes", address, *options)
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def read_report(address: str) -> Any:
    backend = open_backend(address)
    assert backend is not None
    ledger = Ledger(OPTIONS, backend=backend)
    report = ledger.report("r").model_copy(update={"digest_tokens": 0, "agent": ""})
    backend.close()
    return report


def replay(events: list[dict[str, Any]]) -> Ledger:
    """The same events in the memory of one process, in the order of their ticks."""
    ledger = Ledger(OPTIONS)
    ledger.open("r")
    for event in sorted(events, key=lambda event: event["tick"]):
        call = {"arguments": event["arguments"], "began": event["began"]}
        if event["what"] == "failed":
            error = raw(event["text"], tool=event["tool"], **call)
            record = replace(ledger._rules.counter.prepare("r", error, whole=False), tick=event["tick"])
            observation = ledger.observe("r", error, record=record)
            assert (observation.outcome, observation.count, observation.streak) == (
                event["outcome"],
                event["count"],
                event["streak"],
            ), event
        elif event["what"] == "succeeded":
            ledger.succeed("r", event["tool"], **call)
        else:
            assert ledger.refuse(Refused(run_id="r", tool=event["tool"], tick=event["tick"], **call)), event
    return ledger


def test_eight_processes_of_eight_threads_count_exactly(address: str) -> None:
    """
    Counts, streaks, turns and refusals are those of one process that does the same in the order of the ticks.

    Each escalation is raised in one process and answered once.
    """
    program = start(address, "--processes", "8", "--threads", "8", "--steps", "8")
    events = [json.loads(line) for line in program.communicate(timeout=500)[0].splitlines()]
    assert [event["statuses"] for event in events if event["what"] == "ended"] == [[0] * 8]
    assert [event["counted"] for event in events if event["what"] == "failures"] == [{}] * 8
    made = [event for event in events if event["what"] in {"failed", "succeeded", "refused"}]
    ticks = [event["tick"] for event in made]
    assert len(set(ticks)) == len(ticks)
    model = replay(made)
    expected = model.report("r").model_copy(update={"digest_tokens": 0, "agent": ""})
    found = read_report(address)
    assert found.model_copy(update={"classes": (), "escalations": ()}) == expected.model_copy(
        update={"classes": (), "escalations": ()}
    )
    assert [(each.key, each.count, each.streak, each.status) for each in found.classes] == [
        (each.key, each.count, each.streak, each.status) for each in expected.classes
    ]
    raised = sorted(
        (event["tick"], event["threshold"], event["count"]) for event in events if event["what"] == "escalated"
    )
    stands = [(each.escalation.tick, each.escalation.threshold, each.escalation.count) for each in found.escalations]
    assert raised == sorted(stands)
    assert [step[1:] for step in stands] == [
        (each.escalation.threshold, each.escalation.count) for each in expected.escalations
    ]
    assert sum(event["what"] == "answered" for event in events) == len(stands)


@pytest.mark.parametrize("seed", range(3))
def test_a_process_that_is_killed_loses_its_own_operation_at_most(address: str, seed: int) -> None:
    """What was acknowledged is counted, and of each killed process at most one more for each of its threads."""
    program = start(address, "--processes", "4", "--threads", "1", "--steps", "150", "--seed", str(seed))
    assert program.stdout is not None
    draw, done, victims, killed = random.Random(seed), 0, [], 0
    for line in program.stdout:
        event = json.loads(line)
        if event["what"] == "started":
            victims = event["children"][:3]
        elif event["what"] in {"failed", "refused", "succeeded"}:
            done += event["what"] == "failed"
            if victims and draw.random() < 0.05:
                os.kill(victims.pop(), signal.SIGKILL)
                killed += 1
    program.stdout.close()
    assert program.wait(timeout=300) == 0
    assert killed >= 1
    assert done <= read_report(address).occurrences <= done + killed


def test_the_runs_of_a_killed_process_can_go_on_at_once(address: str) -> None:
    """A run that a killed process had open, or was changing, is changed by another within seconds."""
    program = start(address, "--processes", "2", "--threads", "4", "--steps", "100000")
    assert program.stdout is not None
    children = []
    for number, line in enumerate(program.stdout):
        event = json.loads(line)
        children = event.get("children", children)
        if children and number > 100:
            break
    reader = threading.Thread(target=program.stdout.read)
    reader.start()
    for child in children:
        os.kill(child, signal.SIGKILL)
    program.wait(timeout=60)
    reader.join()
    program.stdout.close()
    before = read_report(address).occurrences
    backend = open_backend(address)
    assert backend is not None
    ledger = Ledger(OPTIONS, backend=backend)
    ledger.observe("r", raw("KeyError: 'new'"))
    assert (read_report(address).occurrences, dict(ledger.guard.failures)) == (before + 1, {})
    backend.close()
