"""A secret in any place of a failure reaches no place but those that keep raw errors on purpose."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.otel.metrics.instruments import Telemetry
from tests.scenarios.test_forged_words import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = {
    "token": ("Bearer", "f3Kq9ZtLmW2xYb8RvN4cQ7pS"),
    "address": ("postgres://app:", "hunter2Zq9xWv", "@db:5432/shop"),
    "assigned": ("password=", "hunter2Zq9xWv"),
    "key": ("key ghp_", "0123456789abcdefghijABCDEFGHIJ01"),
}


def told(ledger: Ledger, reader: InMemoryMetricReader, channel: str, said: str) -> Iterator[str]:
    """Yield all that is told of a run whose call fails until it is refused and the run is stopped."""
    with errcompact.run(ledger=ledger) as run:
        for _ in range(4):
            error, call = CHANNELS[channel](said)
            yield run.fail(error, **{"tool": "shell", **call})
        yield run.digest()
        yield str(run.report())
        yield repr(run.report().classes)
    data: Any = reader.get_metrics_data()
    for metric in (m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics):
        for point in metric.data.data_points:
            yield str(dict(point.attributes))


@pytest.mark.parametrize("channel", [channel for channel in CHANNELS if channel != "tool"])
@pytest.mark.parametrize("words", WORDS)
def test_a_secret_is_told_nowhere(channel: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in digests, refusals, notices, reports, labels of metrics or records of the log."""
    separator = " " if words == "token" else ""
    said = separator.join(WORDS[words])
    secret = WORDS[words][1]
    ledger = Ledger(Options(thresholds=Thresholds(same=3)))
    reader = InMemoryMetricReader()
    ledger.listeners.add(Telemetry(MeterProvider([reader], shutdown_on_exit=False), ledger))
    with caplog.at_level(logging.DEBUG):
        found = [text for text in told(ledger, reader, channel, said) if secret in text]
    assert found == []
    assert secret not in caplog.text
