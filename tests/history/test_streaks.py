from __future__ import annotations

from otel_errcompact.history.streaks import MAX_ATTEMPTS, MAX_ENDED, Attempts, Streak


def failing(*moments: tuple[int, int], call: str = "") -> Attempts:
    """A row of failures, each with when it was asked for and when it was recorded."""
    row = Attempts()
    for began, tick in moments:
        row.fail(began, tick, call)
    return row


def streak(*ticks: int, call: str = "c") -> Streak:
    """A streak of failures one after another."""
    made = Streak()
    for tick in ticks:
        made.fail(tick, tick, call)
    return made


def test_a_failure_counts_if_its_call_began_after_the_last_counted_one_was_shown() -> None:
    """Calls that the agent asked for before it could read the failure are one attempt."""
    row = Attempts()
    assert [row.fail(*moment) for moment in ((1, 4), (2, 5), (3, 6), (5, 7), (6, 8))] == [
        True,
        False,
        False,
        True,
        False,
    ]
    assert row.count == 2


def test_a_row_is_bounded_and_keeps_its_count() -> None:
    """Older failures are kept as a number, also when the row is split."""
    row = failing(*((tick, tick) for tick in range(1, MAX_ATTEMPTS + 51)))
    assert row.count == MAX_ATTEMPTS + 50
    later = row.split(MAX_ATTEMPTS + 49)
    assert later is not None
    assert (row.count, later.count) == (MAX_ATTEMPTS + 49, 1)


def test_a_split_takes_what_was_recorded_later_and_counts_both_again() -> None:
    """What had not counted beside an earlier failure counts where that one is gone."""
    row = failing((1, 2), (1, 3), (1, 4))
    assert row.count == 1
    later = row.split(2)
    assert later is not None
    assert (row.count, later.count) == (1, 1)
    assert row.split(4) is None


def test_an_escalation_stays_with_the_failure_that_raised_it() -> None:
    """The later row has escalated if its own failure raised it, and may escalate again if an earlier one did."""
    row = failing((1, 1), (2, 2))
    row.mark_escalated(halted=True)
    assert (row.escalated, row.halted) == (True, True)
    row.fail(3, 3)
    whole = row.split(1)
    assert whole is not None
    assert (whole.escalated, whole.halted) == (True, True)
    later = whole.split(2)
    assert later is not None
    assert (later.escalated, later.halted) == (False, False)


def test_an_escalation_is_noted_once() -> None:
    """The first failure that raised it is the one that counts; an empty row has none."""
    row = failing((1, 1))
    row.mark_escalated(halted=False)
    row.fail(2, 2)
    row.mark_escalated(halted=False)
    later = row.split(1)
    assert later is not None
    assert (row.escalated, row.halted, later.escalated) == (True, False, False)
    empty = Attempts()
    empty.mark_escalated(halted=False)
    assert not empty.escalated


def test_rows_are_put_together() -> None:
    """They are counted as one row, with what either has escalated."""
    row, later = failing((1, 1), (2, 2)), failing((2, 3), (4, 4))
    later.mark_escalated(halted=True)
    row.append(later)
    assert (row.count, row.escalated, row.halted) == (3, True, True)
    assert failing((1, 2)).includes("c") is False


def test_a_call_is_known_by_its_fingerprint() -> None:
    """One without a fingerprint is no call that failed before; a call that has succeeded is forgotten."""
    row = failing((1, 1), call="c")
    row.fail(2, 2, "d")
    assert (row.includes("c"), row.includes("e"), row.includes("")) == (True, False, False)
    row.forget_call("d", 1)
    row.forget_call("c", 1)
    row.forget_call("e", 2)
    assert (row.includes("c"), row.includes("d"), row.count) == (False, True, 2)


def test_a_success_ends_the_row() -> None:
    """Nothing of it is left; a second success ends nothing."""
    made = streak(1, 2)
    assert made.count == 2
    assert made.succeed(3, "d")
    assert (made.count, made.live) == (0, None)
    assert not made.succeed(4, "d")


def test_a_success_that_began_before_a_failure_was_shown_leaves_that() -> None:
    """Within a turn successes come first."""
    made = streak(1, 2)
    made.fail(5, 5, "e")
    assert not made.succeed(3, "d")
    assert made.count == 1


def test_a_success_of_something_else_before_the_same_call_fails_as_before_has_ended_nothing() -> None:
    """Whichever of the two the run hears of first."""
    made = streak(1, 2, 5)
    assert not made.succeed(3, "d")
    assert made.count == 3


def test_the_call_s_own_success_is_believed_whenever_it_is_heard_of() -> None:
    """It ended what had failed before it began, and its later failure is a new one."""
    made = streak(1, 2, 5)
    assert not made.succeed(3, "c")
    assert made.count == 1


def test_a_success_that_began_before_all_failures_ends_nothing() -> None:
    """There is no row that could be restored later."""
    made = streak(4, 5)
    assert not made.succeed(3, "d")
    assert made.count == 2
    assert made.succeed(6, "c")
    assert not made.fail(7, 7, "c")
    assert made.count == 1


def test_the_same_call_failing_as_before_takes_back_what_another_has_resolved() -> None:
    """The row is as if it had never ended, with what failed meanwhile."""
    made = streak(1, 2)
    made.succeed(3, "d")
    assert not made.fail(4, 4, "e")
    assert made.fail(5, 5, "c")
    assert made.count == 4


def test_an_older_resolution_is_taken_back_with_all_that_came_later() -> None:
    """Rows that ended after it are part of it again."""
    made = streak(1)
    made.succeed(2, "d")
    made.fail(3, 3, "e")
    made.succeed(4, "d")
    assert made.count == 0
    assert made.fail(5, 5, "c")
    assert made.count == 3


def test_a_call_that_has_succeeded_itself_fails_anew() -> None:
    """Its own success is believed."""
    made = streak(1, 2)
    made.succeed(3, "c")
    assert not made.fail(4, 4, "c")
    assert made.count == 1


def test_a_call_that_succeeds_itself_is_forgotten_in_every_row() -> None:
    """In ended rows and in the live one; the success of another call leaves it known."""
    made = streak(1)
    made.succeed(2, "d")
    made.fail(3, 3, "e")
    made.succeed(4, "c")
    made.succeed(4, "e")
    assert not made.fail(5, 5, "c")
    assert not made.fail(6, 6, "e")
    assert made.count == 2


def test_a_slow_success_of_the_call_itself_ends_for_good_what_failed_before_it_began() -> None:
    """Of what another success has ended, only what failed after the slow one began is restored."""
    made = streak(1)
    made.fail(3, 3, "c")
    assert made.succeed(4, "d")
    assert not made.succeed(2, "c")
    assert made.fail(5, 5, "c")
    assert made.count == 2


def test_ended_rows_are_bounded() -> None:
    """Only the newest may be restored."""
    made = Streak()
    for tick in range(1, MAX_ENDED + 2):
        made.fail(tick * 2, tick * 2, f"c{tick}")
        made.succeed(tick * 2 + 1, "d")
    assert not made.fail(100, 100, "c1")
    assert made.fail(101, 101, "c2")


def test_fresh_counters_leave_open_what_was_open() -> None:
    """The count is zero, the row is live, and nothing older is restored."""
    made = streak(1)
    made.succeed(2, "d")
    made.fail(3, 3, "e")
    made.refresh()
    assert (made.count, made.live is None) == (0, False)
    assert not made.fail(4, 4, "c")
    assert made.count == 1


def test_fresh_counters_keep_open_what_failed_after_a_success_began() -> None:
    """A success ends only what had failed before it, though none of it is counted any more."""
    made = streak(1, 2)
    made.refresh()
    assert not made.succeed(1, "d")
    assert (made.count, made.live is None) == (0, False)
    assert made.succeed(3, "d")


def test_fresh_counters_open_nothing_that_was_resolved() -> None:
    """A streak without a live row has none afterwards."""
    made = streak(1)
    made.succeed(2, "d")
    made.refresh()
    assert made.live is None


def test_when_the_last_counted_failure_is_forgotten_the_next_one_counts() -> None:
    """Of a turn with more failures than are kept nothing is left that a later call could have begun before."""
    row = failing((1, 2), *((1, tick) for tick in range(3, MAX_ATTEMPTS + 3)))
    assert row.count == 1
    assert row.fail(1, MAX_ATTEMPTS + 3)
    assert not row.fail(1, MAX_ATTEMPTS + 4)
    assert row.count == 2
