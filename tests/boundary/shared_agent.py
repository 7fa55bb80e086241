"""
An agent of several processes that share a run: `python -m tests.boundary.shared_agent HOW`, with OTEL_ERRCOMPACT_STORE.

It prints a line of JSON for each question that a handler is asked, and for what becomes of each worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from otel_errcompact import Continue, Halt, Run, RunHalted, install, run
from otel_errcompact.escalator.escalation import Escalation

WORKERS = 4


def say(what: str, **values: object) -> None:
    os.write(1, (json.dumps({"what": what, "process": os.getpid(), **values}) + "\n").encode())


def ask(escalation: Escalation) -> Halt | Continue:
    say("asked", threshold=escalation.threshold, count=escalation.count)
    if HOW == "killed" and not FLAG.exists():
        FLAG.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.3)
    return Continue("use b.csv") if HOW == "continue" else Halt("a human said no")


async def ask_later(escalation: Escalation) -> Halt | Continue:
    await asyncio.sleep(0)
    return ask(escalation)


def fail(session: Run) -> str:
    session.begin_turn()
    with session.tool("read", arguments={"path": "a.csv"}, reraise=False) as call:
        if not call.refused:
            raise FileNotFoundError(2, "No such file or directory", "a.csv")
    return call.text


def work(number: int) -> None:
    install()
    # A worker without a handler leaves the question to its parent.
    handler = None if HOW == "parent" else ask
    try:
        with run(agent="shop", run_id="job", on_escalation=handler) as session:
            for _ in range(6 if HOW != "continue" else 4 if number == 0 else 0):
                fail(session)
            while HOW == "continue" and not session.report().escalations:
                session.check()
                time.sleep(0.01)
            text = session.digest()
    except RunHalted as halted:
        say("halted", reason=halted.reason)
    else:
        say("done", text=text)


async def work_asynchronously() -> None:
    install()
    try:
        async with run(agent="shop", run_id="job", on_escalation=ask_later) as session:
            for _ in range(6):
                session.begin_turn()
                async with session.tool("read", arguments={"path": "a.csv"}):
                    raise FileNotFoundError(2, "No such file or directory", "a.csv")
    except RunHalted as halted:
        say("halted", reason=halted.reason)


def start(number: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        asyncio.run(work_asynchronously()) if HOW == "asynchronous" else work(number)
    finally:
        os._exit(0)


def main() -> None:
    install()
    import redis  # noqa: F401 - workers that import it at once would be busy with that

    with run(agent="shop", run_id="warm") as warm:  # the same of all that a failure needs
        fail(warm)
    with run(agent="shop", run_id="job", on_escalation=ask) as session:
        children = [start(number) for number in range(WORKERS)]
        waiting = set(children)
        while waiting:
            child, _ = os.waitpid(-1, os.WNOHANG)
            waiting.discard(child)
            if HOW == "parent":
                try:
                    session.check()
                except RunHalted:
                    say("parent halted")
            time.sleep(0.01)
        verdict = session.verdict
    say("ended", standing=verdict.standing, occurrences=session.report().occurrences, result=session.report().result)


HOW = sys.argv[1] if len(sys.argv) > 1 else ""
FLAG = Path(sys.argv[2] if len(sys.argv) > 2 else "flag")

if __name__ == "__main__":
    main()
