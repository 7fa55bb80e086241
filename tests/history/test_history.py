from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.operation import operation_of
from otel_errcompact.errors import Operation
from otel_errcompact.history.history import History
from tests.builders import classified, facts, raw


def keys(history: History) -> list[str]:
    return [found.key for found in history]


def test_the_first_occurrence_makes_a_class() -> None:
    """A class starts with count 1, streak 1 and the time it was first seen."""
    history = History(max_classes=10)
    made = history.record(raw(time_ns=5), classified(), hint="start the server").error_class
    assert (made.count, made.streak, made.first_seen_ns, made.last_seen_ns) == (1, 1, 5, 5)
    assert (made.short, made.tool, made.hint, made.resolved) == ("3f2a", "db.query", "start the server", False)


def test_a_repeat_counts_on_its_class() -> None:
    """The same key again raises count and streak and keeps the first time."""
    history = History(max_classes=10)
    history.record(raw(time_ns=5), classified())
    made = history.record(raw(time_ns=9), classified(found=facts("refused again"))).error_class
    assert (made.count, made.streak, made.first_seen_ns, made.last_seen_ns) == (2, 2, 5, 9)
    assert made.facts.cause == "refused again"
    assert (history.total, history.spent, history.row.count, len(history)) == (2, 2, 2, 1)


def test_success_of_the_operation_resolves_its_classes() -> None:
    """When the operation that failed succeeds, its streak ends and the class is resolved; the count stays."""
    history = History(max_classes=10)
    made = history.record(raw(), classified()).error_class
    assert history.succeed(Operation("db.query")) == (made,)
    assert (made.count, made.streak, made.resolved, history.row.count) == (1, 0, True, 0)


def test_success_of_another_operation_resolves_nothing() -> None:
    """An agent that lists files between two failing edits is still looping."""
    history = History(max_classes=10)
    made = history.record(raw(tool="edit"), classified()).error_class
    assert history.succeed(Operation("list")) == ()
    assert (made.streak, made.resolved, history.row.count) == (1, False, 0)


def test_a_resolved_class_that_fails_again_is_live_again() -> None:
    """A failure after the success starts a new streak."""
    history = History(max_classes=10)
    history.record(raw(), classified())
    history.succeed(Operation("db.query"))
    made = history.record(raw(), classified()).error_class
    assert (made.count, made.streak, made.resolved) == (2, 1, False)


def test_a_class_shared_by_two_operations_is_resolved_when_both_succeed() -> None:
    """Each operation has a streak of its own; the class shows the longest."""
    history = History(max_classes=10)
    history.record(raw(tool="read"), classified())
    history.record(raw(tool="read"), classified())
    made = history.record(raw(tool="write"), classified()).error_class
    assert made.streak == 2
    assert history.succeed(Operation("read")) == ()
    assert (made.streak, made.resolved) == (1, False)
    assert history.succeed(Operation("write")) == (made,)


def test_the_operation_may_be_finer_than_the_tool() -> None:
    """A shell's `ls` does not resolve its failing `pytest`."""
    history = History(max_classes=10)
    made = history.record(raw(tool="bash", operation=Operation("bash pytest")), classified()).error_class
    assert history.succeed(Operation("bash ls")) == ()
    assert history.succeed(Operation("bash pytest")) == (made,)


def test_a_failure_outside_any_boundary_is_not_in_the_row() -> None:
    """Only what the agent sees counts as consecutive; everything counts in the total."""
    history = History(max_classes=10)
    history.record(raw(boundary=False), classified())
    assert (history.total, history.row.count) == (1, 0)


def test_classes_are_bounded_and_the_least_recently_seen_goes_first() -> None:
    """Beyond the limit the class that was seen longest ago is forgotten, and counted as evicted."""
    history = History(max_classes=2)
    for key in ("aaaa0", "bbbb0", "aaaa0", "cccc0"):
        history.record(raw(), classified(key))
    assert keys(history) == ["aaaa0", "cccc0"]
    assert history.evicted == 1


def test_resolved_classes_are_forgotten_before_live_ones() -> None:
    """A class that was dealt with matters less than an older one that was not."""
    history = History(max_classes=2)
    history.record(raw(tool="a"), classified("aaaa0"))
    history.record(raw(tool="b"), classified("bbbb0"))
    history.succeed(Operation("b"))
    history.record(raw(tool="c"), classified("cccc0"))
    assert keys(history) == ["aaaa0", "cccc0"]


def test_an_escalated_class_is_forgotten_last() -> None:
    """The class that led to an escalation stays as long as another can go."""
    history = History(max_classes=2)
    history.record(raw(), classified("aaaa0")).error_class.escalated = True
    history.record(raw(), classified("bbbb0"))
    history.record(raw(), classified("cccc0"))
    assert keys(history) == ["aaaa0", "cccc0"]


def test_when_all_classes_are_escalated_the_oldest_goes() -> None:
    """The bound holds even then."""
    history = History(max_classes=1)
    history.record(raw(), classified("aaaa0")).error_class.escalated = True
    history.record(raw(), classified("bbbb0"))
    assert keys(history) == ["bbbb0"]


def test_short_names_are_unique_in_a_run() -> None:
    """Two keys that begin alike get names of different length, and each is found by its own."""
    history = History(max_classes=10)
    first = history.record(raw(), classified("3f2a1111")).error_class
    second = history.record(raw(), classified("3f2a2222")).error_class
    third = history.record(raw(), classified("3f2a2333")).error_class
    assert [first.short, second.short, third.short] == ["3f2a", "3f2a2", "3f2a23"]


def test_a_key_that_is_a_prefix_of_taken_names_keeps_its_whole_length() -> None:
    """Where no shorter prefix is free the whole key is the name."""
    history = History(max_classes=10)
    history.record(raw(), classified("3f2a"))
    assert history.record(raw(), classified("3f2ab")).error_class.short == "3f2ab"


def test_a_class_is_found_by_prefix_the_newest_first() -> None:
    """With or without `#`; where several match, the most recently seen is meant; nothing is found by nothing."""
    history = History(max_classes=10)
    history.record(raw(), classified("3f2a1111"))
    newest = history.record(raw(), classified("3f2a2222")).error_class
    assert history.find("#3f2a") is newest
    assert history.find("3f2a2") is newest
    assert history.find("ffff") is None
    assert history.find("#") is None


def test_failures_of_a_class_in_one_turn_count_once() -> None:
    """Three calls that began before the first of their failures was recorded are one attempt, and three occurrences."""
    history = History(max_classes=10)
    for tick in (4, 5, 6):
        made = history.record(raw(began=tick - 3), classified(), tick=tick).error_class
    assert (made.count, made.streak, history.row.count, history.total) == (3, 1, 1, 3)
    history.record(raw(began=5), classified(), tick=7)
    assert made.streak == 2


def test_the_successes_of_a_turn_come_first() -> None:
    """A success that began before a failure was recorded ends only what had failed before."""
    history = History(max_classes=10)
    made = history.record(raw(began=1), classified(), tick=2).error_class
    history.record(raw(began=3), classified(), tick=5)
    assert history.succeed(Operation("db.query"), began=4) == ()
    assert (made.streak, history.row.count) == (1, 1)
    assert history.succeed(Operation("db.query"), began=6) == (made,)


def test_a_wider_success_resolves_narrower_failures_and_not_the_reverse() -> None:
    """What `pytest` covers is settled by it; `pytest a` proves nothing of `pytest b`."""
    history = History(max_classes=10)
    narrow = operation_of("bash", {"command": "pytest tests/a.py"})
    made = history.record(raw(tool="bash", operation=narrow), classified()).error_class
    assert history.succeed(operation_of("bash", {"command": "pytest tests/b.py"})) == ()
    assert history.succeed(operation_of("bash", {"command": "pytest"})) == (made,)


def test_a_resolution_is_taken_back_when_the_same_call_fails_as_before() -> None:
    """What another call resolved was not: count and streak go on as if it had not succeeded."""
    history = History(max_classes=10)
    history.record(raw(), classified(), call="c1")
    made = history.record(raw(), classified(), call="c1").error_class
    assert history.succeed(Operation("db.query"), call="c2") == (made,)
    recorded = history.record(raw(), classified(), call="c1")
    assert (recorded.taken_back, made.streak, made.count, made.resolved) == (True, 3, 3, False)


def test_a_call_that_succeeded_itself_and_fails_again_is_a_new_failure() -> None:
    """Its own success is believed."""
    history = History(max_classes=10)
    history.record(raw(), classified(), call="c1")
    history.succeed(Operation("db.query"), call="c1")
    recorded = history.record(raw(), classified(), call="c1")
    assert (recorded.taken_back, recorded.error_class.streak) == (False, 1)


def test_another_call_that_fails_alike_takes_nothing_back() -> None:
    """Only the call that had failed before shows that nothing was resolved."""
    history = History(max_classes=10)
    history.record(raw(), classified(), call="c1")
    history.succeed(Operation("db.query"), call="c2")
    recorded = history.record(raw(), classified(), call="c3")
    assert (recorded.taken_back, recorded.error_class.streak) == (False, 1)
    assert history.record(raw(), classified(), call="c1").error_class.streak == 3


def test_the_operations_of_a_class_are_bounded() -> None:
    """Sixty-four have streaks; a class that fails in more is never called resolved, since nothing tells."""
    history = History(max_classes=10)
    for number in range(65):
        made = history.record(raw(tool=f"t{number}"), classified()).error_class
    assert (len(made.streaks), made.count) == (64, 65)
    for number in range(65):
        assert history.succeed(Operation(f"t{number}")) == ()
    assert not made.resolved


def test_fresh_counters_keep_what_happened() -> None:
    """After a human let the run go on, streaks, row and budget start anew; totals stay, and nothing is resolved."""
    history = History(max_classes=10)
    for _ in range(3):
        made = history.record(raw(), classified(), call="c1").error_class
    history.refresh()
    assert (made.streak, made.count, made.resolved) == (0, 3, False)
    assert (history.total, history.spent, history.row.count, bool(history.repeats)) == (3, 0, 0, False)
    history.record(raw(), classified())
    assert (made.streak, history.spent) == (1, 1)
    assert history.succeed(Operation("db.query")) == (made,)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["fail", "fail", "succeed", "refresh"]),
            st.sampled_from(["t1", "t2"]),
            st.sampled_from(["aaaa0", "bbbb0"]),
            st.sampled_from(["", "c1", "c2"]),
            st.integers(0, 8),
        )
    )
)
def test_the_streak_of_a_class_is_the_longest_of_its_operations(steps: list[tuple[str, str, str, str, int]]) -> None:
    """Whatever changes a streak, the number that metrics read is that of the longest live one."""
    history = History(max_classes=10)
    for step, tool, key, call, began in steps:
        if step == "fail":
            history.record(raw(tool=tool, began=began), classified(key), call=call)
        elif step == "succeed":
            history.succeed(Operation(tool, wide=began == 1), call=call, began=began)
        else:
            history.refresh()
        for found in history:
            assert found.streak == max(streak.count for streak in found.streaks.values())


events = st.lists(
    st.tuples(st.sampled_from(["fail", "succeed"]), st.sampled_from(["t1", "t2"]), st.sampled_from(["aaaa0", "bbbb0"]))
)


@given(events)
def test_every_occurrence_is_counted_exactly_once(steps: list[tuple[str, str, str]]) -> None:
    """The counts of the classes add up to the failures, and no streak is longer than its count."""
    history = History(max_classes=10)
    for step, tool, key in steps:
        if step == "fail":
            history.record(raw(tool=tool), classified(key))
        else:
            history.succeed(Operation(tool))
    failures = sum(step == "fail" for step, _, _ in steps)
    assert history.total == failures == sum(found.count for found in history)
    assert all(found.streak <= found.count for found in history)
    assert all(found.resolved == (not found.streak) for found in history)
