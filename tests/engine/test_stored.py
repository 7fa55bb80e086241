from __future__ import annotations

from dataclasses import fields

import pytest

from otel_errcompact.engine.state import RunState
from otel_errcompact.engine.stored import RunCodec
from otel_errcompact.errors import REJECTED, Evidence, Facts, Location, Operation
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.history.history import History
from tests.builders import classified, raw


def fresh() -> RunState:
    return RunState(run_id="r", agent="", thresholds=Thresholds(), history=History(max_classes=100))


FACTS = Facts(
    type="shop.Error",
    cause="7 is no \N{EURO SIGN} price\ud800",
    location=Location(function="load", file="/srv/prices.py", line=7, column=2),
    details=("one", "two"),
    evidence=(Evidence("a line", 3), Evidence("another", 1)),
    format="pytest",
    wrappers=("OuterError",),
    names=("test_pay", "test_tax"),
    key_cause="<num> is no price",
    key_location=Location(file="prices.py"),
    key_is_whole=True,
    members=3,
    tally="3 tests",
)


@pytest.mark.parametrize("facts", [FACTS, Facts(type="KeyError", cause="'sku'")])
def test_a_class_is_read_as_it_was_written(facts: Facts) -> None:
    """Every field of it, and of its facts; text may hold anything."""
    state, read, codec = fresh(), fresh(), RunCodec()
    operation = Operation("pytest", ("tests/a.py",), wide=True)
    failure = raw("text", tool="bash", operation=operation, time_ns=5)
    for tick in (10, 20):
        state.history.record(failure, classified(found=facts), kind=REJECTED, agent="a", call="c", hint="h", tick=tick)
    bodies = {name: body for name, body in codec.dump(state, {}).items() if body is not None}
    assert codec.load(read, bodies, {}, whole=True)
    (written,), (found,) = state.history, read.history
    for field in fields(written):
        if field.name not in {"revision", "streaks"}:
            assert getattr(found, field.name) == getattr(written, field.name), field.name
    assert found.streaks.keys() == written.streaks.keys()
    assert found.streaks[operation].dump() == written.streaks[operation].dump()
    assert read.history.dump() == state.history.dump()


def test_nothing_is_written_twice() -> None:
    """What has not changed since it was written or read."""
    state, read, codec = fresh(), fresh(), RunCodec()
    marks: dict[str, object] = {}
    state.history.record(raw(), classified())
    bodies = {name: body for name, body in codec.dump(state, marks).items() if body is not None}
    assert codec.dump(state, marks) == {}
    marks = {}
    codec.load(read, bodies, marks, whole=True)
    assert codec.dump(read, marks) == {}
    read.history.record(raw(), read_again := classified())
    assert sorted(codec.dump(read, marks)) == [
        f"class:{read_again.key}",
        "counts",
        f"facts:{read_again.key}",
    ]
