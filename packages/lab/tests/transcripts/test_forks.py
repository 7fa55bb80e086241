"""Sessions that share calls: each call counts once."""

from __future__ import annotations

from dataclasses import replace

from otel_errcompact_lab.transcripts import Forks, RecordedCall, RecordedRun, RecordedTrace

T0 = 1_772_445_600_000_000_000


def call(number, **fields):
    """Make a call with times of its own."""
    given = {
        "tool": "bash",
        "call_id": f"toolu_{number}",
        "arguments": "{}",
        "result": "error: x",
        "start_ns": T0 + number,
        "end_ns": T0 + number,
        "line": number,
        "context_tokens": 10 * number,
    }
    return RecordedCall(**{**given, **fields})


def run(*calls, name="a"):
    """Make a run of calls."""
    return RecordedRun(run_id=name, agent="x", source=name, calls=calls, context_tokens=100, result_tokens=50)


def test_the_calls_before_a_fork_count_in_the_first_session():
    """The other one begins where it goes its own way, tokens included."""
    forks = Forks()
    first = run(call(1), call(2), call(3))
    assert forks.own_part(first) is first
    own = forks.own_part(run(call(1), call(2), call(9), name="b"))
    assert [each.call_id for each in own.calls] == ["toolu_9"]
    assert (own.context_tokens, own.calls[0].context_tokens) == (80, 70)
    assert own.result_tokens < 50
    assert forks.shared == 2


def test_a_copy_of_a_session_is_none():
    """Nothing of its own is left."""
    forks = Forks()
    forks.own_part(run(call(1)))
    assert forks.own_part(run(call(1))) is None
    assert forks.shared == 1


def test_calls_without_id_or_times_are_never_shared():
    """Equal calls of two runs may well be two; so are those that differ in anything."""
    forks = Forks()
    for odd in (call(1, call_id=""), call(1, start_ns=946_684_800_000_000_000)):
        assert forks.own_part(run(odd)).calls == (odd,)
        assert forks.own_part(run(odd)).calls == (odd,)
    forks.own_part(run(call(1)))
    for fields in ({"result": "y"}, {"end_ns": T0 + 2}, {"arguments": "1"}):
        other = run(replace(call(1), **fields))
        assert forks.own_part(other) is other
    assert forks.shared == 0


def test_traces_stay():
    """Their spans have ids of their own."""
    trace = RecordedTrace(run_id="1", source="x", spans=())
    assert Forks().own_part(trace) is trace


def test_only_so_many_calls_are_remembered(monkeypatch):
    """Beyond that number they count as often as they stand there."""
    monkeypatch.setattr("otel_errcompact_lab.transcripts.forks.MAX_CALLS", 0)
    forks = Forks()
    forks.own_part(run(call(1)))
    assert forks.own_part(run(call(1))) is not None
