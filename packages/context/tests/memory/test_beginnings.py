"""A history that only grows is compacted from what it became before, and no two are taken for one another."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_context.memory import beginnings as beginnings_module
from otel_errcompact_context.memory.beginnings import Beginnings


def said(*texts: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in texts]


MARKER = {"role": "user", "content": "[errcompact snip: 2 messages, 90 tokens; whole: memory:00000001]"}


def test_a_history_that_has_grown_begins_with_what_it_became() -> None:
    """What was never cut is the object of this call, although the framework has made all anew."""
    beginnings = Beginnings()
    history = said("task", "a", "b", "c")
    beginnings.keep(beginnings.resume(history), [history[0], MARKER, history[3]])

    grown = copy.deepcopy([*history, *said("d")])
    resumed = beginnings.resume(grown)

    assert resumed.messages == [history[0], MARKER, history[3], *said("d")]
    assert [resumed.messages[place] is grown[other] for place, other in ((0, 0), (2, 3), (3, 4))] == [True] * 3
    # And so it goes on.
    beginnings.keep(resumed, [resumed.messages[0], MARKER, resumed.messages[3]])
    assert beginnings.resume([*grown, *said("e")]).messages == [grown[0], MARKER, grown[4], *said("e")]
    # The same once more, as after a call that failed.
    assert beginnings.resume(grown).messages == [grown[0], MARKER, grown[4]]


def test_what_was_not_cut_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what layers have made, and no more of it than the number of histories."""
    monkeypatch.setattr(beginnings_module, "HISTORIES", 1)
    beginnings = Beginnings()
    history = said("task", "a")
    beginnings.keep(beginnings.resume(history), history)
    beginnings.keep(beginnings.resume([]), [])
    assert beginnings.resume(history).messages == history
    other = said("other", "a", "b", "c", "d", "e", "f")
    beginnings.keep(beginnings.resume(history), [history[0], MARKER])
    assert beginnings.resume(history).messages == [history[0], MARKER]
    beginnings.keep(beginnings.resume(other), [other[0], MARKER, *other[2:]])
    assert beginnings.resume(history).messages == history
    assert beginnings.resume(other).messages == [other[0], MARKER, *other[2:]]


def test_a_history_that_was_edited_or_wound_back_begins_anew() -> None:
    """It is another one."""
    beginnings = Beginnings()
    history = said("task", "a", "b", "c")
    beginnings.keep(beginnings.resume(history), [history[0], MARKER, history[3]])
    edited = said("task", "A", "b", "c", "d")
    assert beginnings.resume(edited).messages == edited
    assert beginnings.resume(history[:3]).messages == history[:3]


def test_what_stood_there_for_one_call_alone_does_not_hide_what_the_rest_became() -> None:
    """As instructions that a framework adds before the newest message, or a call that it has taken back."""
    beginnings = Beginnings()
    history = said("task", "a", "b", "c")
    once = said("today is Monday")
    beginnings.keep(beginnings.resume([*history, *once]), [history[0], MARKER, history[3], *once])
    assert beginnings.resume([*history, *said("d")]).messages == [history[0], MARKER, history[3], *said("d")]
    # Further back nothing is known: what is there had been cut.
    assert beginnings.resume(history[:3]).messages == history[:3]


def test_two_sessions_never_share_what_one_became() -> None:
    """Even with the same words."""
    beginnings = Beginnings()
    history = said("task", "a", "b")
    beginnings.keep(beginnings.resume(history, "one"), [history[0], MARKER])
    assert beginnings.resume(history, "two").messages == history
    assert beginnings.resume(history, "one").messages == [history[0], MARKER]


@given(
    texts=st.lists(st.text("ab\ud800", max_size=2), min_size=1, max_size=12),
    cuts=st.lists(st.integers(1, 3), max_size=12),
)
def test_a_resumed_history_holds_all_that_came_since(texts: list[str], cuts: list[int]) -> None:
    """As a list that the framework itself had kept: whatever was cut, and however often."""
    beginnings = Beginnings()
    given_so_far: list[Any] = []
    kept_so_far: list[Any] = []
    for place, text in enumerate(texts):
        given_so_far = copy.deepcopy([*given_so_far, *said(text)])
        kept_so_far = [*kept_so_far, *said(text)]
        resumed = beginnings.resume(given_so_far)
        assert resumed.messages == kept_so_far
        cut = cuts[place] if place < len(cuts) else 0
        messages = [MARKER, *resumed.messages[cut:]] if 0 < cut < len(resumed.messages) else resumed.messages
        beginnings.keep(resumed, messages)
        kept_so_far = list(messages)
