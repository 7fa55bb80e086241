"""The laws of a ledger hold, whichever store its runs are in: the memory of one process is the model."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.config import Options
from otel_errcompact.engine.events import Refused, Resumed
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Continue, Halt, Pause
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact.history.stores.memory import MemoryLimits
from tests.builders import raw

if TYPE_CHECKING:
    from tests.servers import RedisServer

TEXTS = (
    "ConnectionError: certificate has expired",
    "KeyError: 'sku'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'prices.csv'",
    "ValueError: 7 is no price\n  details: the table has none\n  line 3 of 9",
    (
        'Traceback (most recent call last):\n  File "/srv/shop/prices.py", line 7, in load\n    return table[sku]\n'
        "KeyError: 'tea'\n\nThe above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/srv/shop/orders.py", line 9, in order\n    load(sku)\n'
        "shop.errors.OrderError: no price for tea\n  tried: prices.csv\n  tried: prices.db\n"
    ),
)
CALLS = ('{"path": "a.csv"}', '{"path": "b.csv"}', "")
TOOLS = ("read", "query")

STEPS = st.one_of(
    st.tuples(st.just("fail"), st.sampled_from(TEXTS), st.sampled_from(TOOLS), st.sampled_from(CALLS)),
    st.tuples(st.just("fail"), st.sampled_from(TEXTS[:1]), st.just("read"), st.just(CALLS[0])),
    st.tuples(st.just("succeed"), st.sampled_from(TOOLS), st.sampled_from(CALLS)),
    st.tuples(st.just("refuse"), st.sampled_from(TOOLS), st.sampled_from(CALLS)),
    st.tuples(st.just("turn")),
    st.tuples(st.just("handled"), st.sampled_from(TEXTS)),
    st.tuples(st.just("answer"), st.sampled_from((Halt("no"), Continue("use b.csv"), Pause("later")))),
    st.tuples(st.just("resume"), st.sampled_from(("", "try again"))),
)
OPTIONS = Options(
    thresholds=Thresholds(same=3, rejected=4, loop=3, consecutive=5, total=12, halts=frozenset({"total"})),
    memory=MemoryLimits(classes_per_run=3),
)


class Driver:
    """Takes steps in a run, and says what each of them has returned."""

    def __init__(self, ledgers: list[Ledger]) -> None:
        self.ledgers = ledgers
        self.began = 0
        for ledger in ledgers:
            ledger.open("r", agent="shop", asks=True)

    def take(self, step: tuple[Any, ...], by: int, now: int) -> object:
        ledger = self.ledgers[by % len(self.ledgers)]
        name, *rest = step
        if name == "fail":
            text, tool, arguments = rest
            found = ledger.observe("r", raw(text, tool=tool, arguments=arguments, time_ns=now, began=self.began))
            escalated = found.escalation.threshold if found.escalation is not None else ""
            return found.outcome, found.count, found.streak, found.counts, found.taken_back, escalated
        if name == "succeed":
            tool, arguments = rest
            resolved = ledger.succeed("r", tool, arguments=arguments, began=self.began)
            return sorted(found.key for found in resolved)
        if name == "refuse":
            tool, arguments = rest
            return ledger.refuse(Refused(run_id="r", tool=tool, arguments=arguments, time_ns=now, began=self.began))
        if name == "turn":
            self.began = ledger.next_tick()
        elif name == "handled":
            ledger.handled("r", raw(*rest, time_ns=now))
        elif name == "answer":
            ledger.answer("r", *rest)
        else:
            ledger.apply(Resumed(run_id="r", message=rest[0]))
        return None

    def look(self) -> list[object]:
        """What every process sees of the run."""
        return [
            (
                ledger.report("r").model_copy(update={"digest_tokens": 0}).model_dump(),
                ledger.verdict("r").standing,
                ledger.digest("r"),
                ledger.may_refuse("r"),
                ledger.is_quiet("r"),
            )
            for ledger in self.ledgers
        ]


def check(address: str, steps: list[tuple[int, tuple[Any, ...]]], processes: int) -> None:
    backends = [open_backend(address) for _ in range(processes)]
    shared = [Ledger(OPTIONS, backend=backend) for backend in backends]
    model, real = Driver([Ledger(OPTIONS)]), Driver(shared)
    for now, (by, step) in enumerate(steps, start=1):
        assert real.take(step, by, now) == model.take(step, 0, now), (now, step)
        assert real.look() == model.look() * processes, (now, step)
    endings = [ledger.end("r").result for ledger in shared]
    assert endings[-1] == model.ledgers[0].end("r").result
    for backend in filter(None, backends):
        backend.close()


SCRIPTS = st.lists(st.tuples(st.integers(0, 2), STEPS), max_size=25)


@given(steps=SCRIPTS, processes=st.integers(1, 3))
def test_runs_in_a_file_are_what_they_are_in_memory(steps: list[Any], processes: int) -> None:
    """Whatever happens, and whichever process it happens in: counts, streaks, refusals, steps, digests."""
    folder = Path(mkdtemp(prefix="errcompact-laws-"))
    try:
        check(f"sqlite:///{folder}/runs.db", steps, processes)
    finally:
        shutil.rmtree(folder)


@given(steps=SCRIPTS, processes=st.integers(1, 3))
def test_runs_in_a_server_are_what_they_are_in_memory(
    redis_server: RedisServer, steps: list[Any], processes: int
) -> None:
    """The same for Redis."""
    check(redis_server.new_address(), steps, processes)
