"""Servers that fork: each process counts for itself, keeps what fails in it, and none waits for a lock of another's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from packages.hosts.tests.programs import played

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork"),
    pytest.mark.usefixtures("untraced"),
]


def test_a_prefork_server_with_threads(tmp_path: Path) -> None:
    """The master fails in threads, in the middle of which workers are forked."""
    found = played(
        tmp_path,
        """
        # The slower the workers, the more fails in the master: nothing may be rotated away.
        kept_whole = TrajectoryOptions(max_bytes=10**9)
        installed = errcompact.install(options=Options(thresholds=NEVER, trajectory=kept_whole))
        stop, done = threading.Event(), [0] * 3
        def serve(name, requests):
            for number in range(requests):
                with errcompact.run(f"{name}-{number}") as run:
                    with run.tool("t"): raise ValueError(f"{name} {number}.")
                    run.digest()
                assert run.report().occurrences == 1
        def in_master(number):
            while not stop.is_set():
                serve(f"master-{number}-{done[number]}", 1); done[number] += 1
        threads = [threading.Thread(target=in_master, args=(number,)) for number in range(3)]
        [thread.start() for thread in threads]
        def worker(name):
            child = os.fork()
            if child: return child
            signal.alarm(60)
            serve(name, 20)
            os._exit(0)
        workers = [worker(f"worker-{number}") for number in range(15)]
        ended = [os.waitpid(child, 0)[1] for child in workers]
        stop.set(); [thread.join() for thread in threads]
        told = json.dumps(kept())
        print(json.dumps({
            "failed": [status for status in ended if status],
            "lost": [n for n in range(15) for m in range(20) if f"worker-{n} {m}." not in told],
            "raw errors": len(kept()) - sum(done) - 15 * 20,
        }))
        """,
    )
    assert found == {"failed": [], "lost": [], "raw errors": 0}


def test_a_run_that_was_open_when_its_process_forked(tmp_path: Path) -> None:
    """The child goes on in it with counts of its own: its parent's are not the child's."""
    found = played(
        tmp_path,
        """
        errcompact.install(options=Options(thresholds=NEVER))
        with errcompact.run("r") as run:
            run.fail("in the parent", tool="t")
            child = os.fork()
            if not child:
                run.fail("in the child", tool="t")
                os._exit(run.report().occurrences)
            counted = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            run.fail("in the parent again", tool="t")
            print(json.dumps({"child": counted, "parent": run.report().occurrences, "kept": len(kept())}))
        """,
    )
    assert found == {"child": 1, "parent": 2, "kept": 3}
