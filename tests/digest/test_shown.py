from __future__ import annotations

from otel_errcompact.digest.shown import ALL_FORGOTTEN, NOTHING_SHOWN, ShownClass, ShownLines
from otel_errcompact.history.history import History
from tests.builders import classified, facts, raw


def test_lines_are_new_until_they_are_shown() -> None:
    """What was shown once is known, line by line."""
    shown = NOTHING_SHOWN
    assert shown.lines.unseen(["a 1", "b"]) == ("a 1", "b")
    shown = shown.add_lines(["a 1"])
    assert shown.lines.unseen(["a 1", "a 2"]) == ("a 2",)
    assert shown.lines.seen(["a 1", "a 2"]) == ("a 1",)


def test_what_varies_in_a_line_does_not_make_it_new_for_its_class() -> None:
    """Details of one class are compared by their template."""
    details = ShownClass().details.add(["job 17 failed"])
    assert details.unseen(["job 18 failed", "task 18 failed"]) == ("task 18 failed",)


def test_the_memory_of_lines_is_bounded() -> None:
    """The oldest lines are forgotten first, and are new again."""
    assert ShownLines(3).add("abcd").unseen("abcd") == ("a",)


def test_a_value_stays_as_it_is() -> None:
    """What is added makes another value, and nothing new makes none."""
    shown = NOTHING_SHOWN.add_lines("ab").add_facts("k", facts())
    assert (NOTHING_SHOWN.lines.unseen("ab"), NOTHING_SHOWN.of("k").facts) == (("a", "b"), None)
    assert (shown.lines.unseen("ab"), shown.of("k").facts) == ((), facts())
    assert shown.add_lines("ba") is shown


def test_what_the_context_has_lost_is_forgotten_of_all_classes_but_later_ones() -> None:
    """A class that fails for the first time afterwards has nothing to forget."""
    history = History(max_classes=9)
    history.record(raw(), classified("0001"))
    history.record(raw(), classified("0002"))
    shown = ALL_FORGOTTEN.begin_class("0002", history)
    assert (shown.of("0001").forgotten, shown.of("0002").forgotten) == (True, False)


def test_a_class_that_the_history_has_forgotten_is_forgotten() -> None:
    """Should it fail again, it is a new one, and the classes are bounded as those of the history."""
    history = History(max_classes=2)
    shown = NOTHING_SHOWN
    for key in ("0001", "0002", "0003", "0001", "0004", "0005"):
        history.record(raw(), classified(key))
        shown = shown.begin_class(key, history)
        assert shown.of(key).facts is None
        assert len(shown.classes) <= 4
        shown = shown.add_facts(key, facts())
