"""A run of five processes, on SQLite and on Redis: it asks once, and the dashboards' numbers are those of the run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from e2e.backends import eventually
from e2e.counters import arrived
from e2e.driving import environ
from e2e.recipes import ROOT
from tests.servers import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.stack import Stack

HALTED: Final = ("errcompact_action", "halt")
RESULT: Final = ("errcompact_result", "halted")
RUNBOOK: Final = (ROOT / "dashboards" / "RUNBOOK.md").read_text(encoding="utf-8")
ANSWER: Final = re.findall(r"```shell\n(python .+?)```", RUNBOOK, re.DOTALL)[0]
WAITING: Final = """
import otel_errcompact as errcompact
errcompact.install()
with errcompact.run(run_id="order-7", on_escalation=lambda _: errcompact.Pause()) as run:
    for number in range(4):
        try:
            with run.tool("read_prices", arguments={"n": number}):
                raise FileNotFoundError("prices.csv")
        except (FileNotFoundError, errcompact.RunPaused):
            pass
    print("waits", flush=True)
    input()
    print(run.gate(), run.digest())
"""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(params=["sqlite", "redis"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty store."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/runs.db"
        return
    server = RedisServer()
    yield server.new_address()
    server.close()


def test_a_run_of_five_processes_asks_once(bare_stack: Stack, address: str) -> None:
    """Failures, escalations and runs add up over the processes to what the run has counted itself."""
    service = f"e2e-shared-{address.partition(':')[0]}"
    printed = subprocess.run(
        (sys.executable, "-m", "e2e.shared_agent", "order-7"),
        cwd=ROOT,
        env={**environ(bare_stack, service, "grpc"), "OTEL_ERRCOMPACT_STORE": address},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=200,
    ).stdout.splitlines()
    asked, counted, *halted = sorted(printed)
    assert (asked.split()[0], counted.split()[0], halted) == ("asked", "failures", ["halted"] * 4)
    failures = float(counted.split()[1])
    expected = {"errors": failures, "halts": 1, "escalations": 1, "runs halted": 1, "runs": 1}

    def add_up() -> dict[str, float]:
        found = dict.fromkeys(expected, 0.0)
        for (metric, labels), value in arrived(bare_stack.backends.prometheus, service).items():
            found["errors"] += value * (metric == "errcompact_errors_total")
            found["escalations"] += value * (metric == "errcompact_escalations_total")
            found["halts"] += value * (metric == "errcompact_escalations_total" and HALTED in labels)
            found["runs"] += value * (metric == "errcompact_runs_total")
            found["runs halted"] += value * (metric == "errcompact_runs_total" and RESULT in labels)
        return found

    try:
        eventually(lambda: add_up() == expected, seconds=60, what=f"the numbers of {service}")
    except AssertionError:
        assert add_up() == expected
        raise


@pytest.mark.parametrize(
    ("does", "reads"),
    [
        ("run.resume(sys.argv[2])", "None [RECENT ERRORS]"),
        ("run.answer(errcompact.Halt(sys.argv[2]))", "run 'order-7' halted"),
    ],
)
def test_the_command_of_the_runbook_answers_a_run_that_waits(tmp_path: Path, does: str, reads: str) -> None:
    """From a shell that knows the store and the run's id."""
    assert does in ANSWER
    environ = {**os.environ, "OTEL_ERRCOMPACT_STORE": f"sqlite:///{tmp_path}/runs.db", "XDG_STATE_HOME": str(tmp_path)}
    environ |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "run": "order-7"}
    waiting = subprocess.Popen(
        (sys.executable, "-c", WAITING), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "waits\n"
    command = ANSWER.replace("run.resume(sys.argv[2])", does)
    subprocess.run(("sh", "-c", command), env=environ, check=True, timeout=60)
    said, _ = waiting.communicate("\n", timeout=60)
    assert said.startswith(reads)
    assert "the price list moved to /srv" in said
