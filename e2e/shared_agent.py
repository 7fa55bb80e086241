"""
A parent and four workers that work on one run, as processes of their own: `python -m e2e.shared_agent RUN`.

Each worker fails until the run is halted. What a handler is asked is printed, and how many failures the run has.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from otel_errcompact import Escalation, Halt

WORKERS: Final = 4


def say(line: str) -> None:
    """Print a line at once: where nothing is buffered, `print` writes its end apart, and another process between."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ask(escalation: Escalation) -> Halt:
    """Say that there was a question, and answer it."""
    say(f"asked {escalation.threshold}")
    return errcompact.Halt("the price list is gone")


def work(run_id: str, number: str) -> None:
    """Fail until the run is halted."""
    errcompact.install()
    try:
        with errcompact.run(agent="shop", run_id=run_id, on_escalation=ask) as run:
            while True:
                run.begin_turn()
                with run.tool("read_prices", arguments={"worker": number}):
                    raise FileNotFoundError("prices.csv")
    except errcompact.RunHalted:
        say("halted")


def lead(run_id: str) -> None:
    """Start the workers, and wait for them."""
    errcompact.install()
    with errcompact.run(agent="shop", run_id=run_id, on_escalation=ask) as run:
        own = (sys.executable, "-m", "e2e.shared_agent", run_id)
        workers = [subprocess.Popen((*own, str(number))) for number in range(WORKERS)]
        for worker in workers:
            worker.wait()
        say(f"failures {run.report().occurrences}")


if __name__ == "__main__":
    work(*sys.argv[1:3]) if sys.argv[2:] else lead(sys.argv[1])
