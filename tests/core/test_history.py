from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.history import History, ShownLines
from otel_errcompact.operation import Operation
from tests.core.builders import classified, facts, raw


def keys(history: History) -> list[str]:
    return [found.key for found in history]


def test_the_first_occurrence_makes_a_class() -> None:
    """A class starts with count 1, streak 1 and the time it was first seen."""
    history = History(max_classes=10)
    made = history.record(raw(time_ns=5), classified(), hint="start the server")
    assert (made.count, made.streak, made.first_seen_ns, made.last_seen_ns) == (1, 1, 5, 5)
    assert (made.short, made.tool, made.hint, made.resolved) == ("3f2a", "db.query", "start the server", False)


def test_a_repeat_counts_on_its_class() -> None:
    """The same key again raises count and streak and keeps the first time."""
    history = History(max_classes=10)
    history.record(raw(time_ns=5), classified())
    made = history.record(raw(time_ns=9), classified(found=facts("refused again")))
    assert (made.count, made.streak, made.first_seen_ns, made.last_seen_ns) == (2, 2, 5, 9)
    assert made.facts.cause == "refused again"
    assert (history.total, history.spent, history.consecutive, len(history)) == (2, 2, 2, 1)


def test_success_of_the_operation_resolves_its_classes() -> None:
    """When the operation that failed succeeds, its streak ends and the class is resolved; the count stays."""
    history = History(max_classes=10)
    made = history.record(raw(), classified())
    assert history.succeed(Operation("db.query")) == (made,)
    assert (made.count, made.streak, made.resolved, history.consecutive) == (1, 0, True, 0)


def test_success_of_another_operation_resolves_nothing() -> None:
    """An agent that lists files between two failing edits is still looping."""
    history = History(max_classes=10)
    made = history.record(raw(tool="edit"), classified())
    assert history.succeed(Operation("list")) == ()
    assert (made.streak, made.resolved, history.consecutive) == (1, False, 0)


def test_a_resolved_class_that_fails_again_is_live_again() -> None:
    """A failure after the success starts a new streak."""
    history = History(max_classes=10)
    history.record(raw(), classified())
    history.succeed(Operation("db.query"))
    made = history.record(raw(), classified())
    assert (made.count, made.streak, made.resolved) == (2, 1, False)


def test_a_class_shared_by_two_operations_is_resolved_when_both_succeed() -> None:
    """Each operation has a streak of its own; the class shows the longest."""
    history = History(max_classes=10)
    history.record(raw(tool="read"), classified())
    history.record(raw(tool="read"), classified())
    made = history.record(raw(tool="write"), classified())
    assert made.streak == 2
    assert history.succeed(Operation("read")) == ()
    assert (made.streak, made.resolved) == (1, False)
    assert history.succeed(Operation("write")) == (made,)


def test_the_operation_may_be_finer_than_the_tool() -> None:
    """A shell's `ls` does not resolve its failing `pytest`."""
    history = History(max_classes=10)
    made = history.record(raw(tool="bash", operation=Operation("bash pytest")), classified())
    assert history.succeed(Operation("bash ls")) == ()
    assert history.succeed(Operation("bash pytest")) == (made,)


def test_a_failure_outside_any_boundary_is_not_in_the_row() -> None:
    """Only what the agent sees counts as consecutive; everything counts in the total."""
    history = History(max_classes=10)
    history.record(raw(boundary=False), classified())
    assert (history.total, history.consecutive) == (1, 0)


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
    history.record(raw(), classified("aaaa0")).escalated = True
    history.record(raw(), classified("bbbb0"))
    history.record(raw(), classified("cccc0"))
    assert keys(history) == ["aaaa0", "cccc0"]


def test_when_all_classes_are_escalated_the_oldest_goes() -> None:
    """The bound holds even then."""
    history = History(max_classes=1)
    history.record(raw(), classified("aaaa0")).escalated = True
    history.record(raw(), classified("bbbb0"))
    assert keys(history) == ["bbbb0"]


def test_short_names_are_unique_in_a_run() -> None:
    """Two keys that begin alike get names of different length, and each is found by its own."""
    history = History(max_classes=10)
    first = history.record(raw(), classified("3f2a1111"))
    second = history.record(raw(), classified("3f2a2222"))
    third = history.record(raw(), classified("3f2a2333"))
    assert [first.short, second.short, third.short] == ["3f2a", "3f2a2", "3f2a23"]


def test_a_key_that_is_a_prefix_of_taken_names_keeps_its_whole_length() -> None:
    """Where no shorter prefix is free the whole key is the name."""
    history = History(max_classes=10)
    history.record(raw(), classified("3f2a"))
    assert history.record(raw(), classified("3f2ab")).short == "3f2ab"


def test_a_class_is_found_by_prefix_the_newest_first() -> None:
    """With or without `#`; where several match, the most recently seen is meant; nothing is found by nothing."""
    history = History(max_classes=10)
    history.record(raw(), classified("3f2a1111"))
    newest = history.record(raw(), classified("3f2a2222"))
    assert history.find("#3f2a") is newest
    assert history.find("3f2a2") is newest
    assert history.find("ffff") is None
    assert history.find("#") is None


def test_lines_are_new_until_they_are_shown() -> None:
    """A run remembers lines word by word, whichever class they belonged to."""
    history = History(max_classes=10)
    assert history.shown.fresh(["a 1", "b"]) == ("a 1", "b")
    history.shown.remember(["a 1"])
    assert history.shown.fresh(["a 1", "a 2"]) == ("a 2",)
    assert history.shown.known(["a 1", "a 2"]) == ("a 1",)


def test_lines_of_a_class_are_known_by_their_template() -> None:
    """In a repeat, a line with another id or number is no other line."""
    made = History(max_classes=10).record(raw(), classified())
    made.shown.remember(["job 17 failed"])
    assert made.shown.fresh(["job 18 failed", "task 18 failed"]) == ("task 18 failed",)


def test_the_memory_of_lines_is_bounded() -> None:
    """The oldest lines are forgotten first, and are new again."""
    shown = ShownLines(3)
    shown.remember("abcd")
    assert shown.fresh("abcd") == ("a",)


def test_what_was_shown_can_be_forgotten() -> None:
    """Lines of the run and of its classes are new again; what was counted stays."""
    history = History(max_classes=9)
    made = history.record(raw("boom"), classified("a" * 16))
    history.shown.remember(["b"])
    made.shown.remember(["job 17 failed"])
    history.forget_shown()
    assert history.shown.fresh(["b"]) == ("b",)
    assert made.shown.fresh(["job 17 failed"]) == ("job 17 failed",)
    assert (made.forgotten, made.count, history.total) == (True, 1, 1)


def test_identical_calls_are_counted_until_one_succeeds() -> None:
    """A call is known by its fingerprint, together with the class it failed with last."""
    history = History(max_classes=10)
    history.record(raw(), classified("aaaa0"), call="c1")
    made = history.record(raw(), classified("bbbb0"), call="c1")
    assert history.failures_of("c1") == 2
    assert history.class_of("c1") is made
    history.succeed(Operation("db.query"), call="c1")
    assert history.failures_of("c1") == 0
    assert history.class_of("c1") is None


def test_the_memory_of_calls_is_bounded() -> None:
    """Sixty-four failed calls are remembered."""
    history = History(max_classes=10)
    for number in range(65):
        history.record(raw(), classified(), call=f"c{number}")
    assert (history.failures_of("c0"), history.failures_of("c1")) == (0, 1)


def test_the_operations_of_a_class_are_bounded() -> None:
    """A class remembers the streaks of sixteen operations; later ones count in its total only."""
    history = History(max_classes=10)
    for number in range(17):
        made = history.record(raw(tool=f"t{number}"), classified())
    assert (len(made.streaks), made.count) == (16, 17)


def test_a_refused_call_is_no_occurrence_but_no_success_either() -> None:
    """A refusal lengthens the row of failing calls and nothing else."""
    history = History(max_classes=10)
    history.record(raw(), classified())
    history.refuse()
    assert (history.total, history.spent, history.consecutive) == (1, 1, 2)


def test_fresh_counters_keep_what_happened() -> None:
    """After a human let the run go on, streaks, row and budget start anew; totals stay, and nothing is resolved."""
    history = History(max_classes=10)
    for _ in range(3):
        made = history.record(raw(), classified(), call="c1")
    history.refresh()
    assert (made.streak, made.count, made.resolved) == (0, 3, False)
    assert (history.total, history.spent, history.consecutive, history.failures_of("c1")) == (3, 0, 0, 0)
    history.record(raw(), classified())
    assert (made.streak, history.spent) == (1, 1)
    assert history.succeed(Operation("db.query")) == (made,)


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
    assert all(found.resolved == (not found.streaks) for found in history)
