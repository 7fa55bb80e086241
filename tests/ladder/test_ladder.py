"""The engine and the slow model decide the same in random histories; `LADDER_HISTORIES=20000` plays as many."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings

import otel_errcompact as errcompact
from otel_errcompact.engine.ledger import Ledger
from tests.ladder.history import History, Player, histories

HISTORIES = int(os.environ.get("LADDER_HISTORIES") or 4 * settings().max_examples)


@pytest.mark.timeout(0)
@settings(max_examples=HISTORIES, suppress_health_check=list(HealthCheck))
@given(histories())
def test_the_engine_decides_as_the_model_does(history: History) -> None:
    """Counts, streaks, resolutions, refusals, escalations, answers and results are equal after every step."""
    Player(history).play()


@pytest.mark.timeout(0)
@settings(max_examples=max(20, HISTORIES // 20), suppress_health_check=list(HealthCheck))
@given(histories())
def test_threads_change_no_decision(history: History) -> None:
    """Each step is taken in another thread, so that calls begin in one and end in another."""
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two, ThreadPoolExecutor(1) as three:
        player, threads = Player(history), (one, two, three)
        for number, step in enumerate(history.steps):
            threads[number % len(threads)].submit(player.step, step).result()
            player.compare()


def test_failures_side_by_side_are_one_attempt() -> None:
    """Eight threads fail together, three times: three attempts of 24 failures, none lost."""
    threads = 8
    together = Barrier(threads)
    asked: list[int] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Continue:
        asked.append(escalation.count)
        return errcompact.Continue()

    with errcompact.run(ledger=Ledger(), on_escalation=handler) as run:

        def fail(number: int) -> None:
            with run.tool("query", arguments={"table": "orders", "limit": number}):
                together.wait(60)
                raise KeyError("total")

        with ThreadPoolExecutor(threads) as pool:
            for attempt in range(3):
                list(pool.map(fail, range(attempt * threads, (attempt + 1) * threads)))
    assert run.report().occurrences == 3 * threads
    assert asked == [3]
