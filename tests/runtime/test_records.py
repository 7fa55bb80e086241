"""Our dataclasses are those of the standard library, made faster."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field, fields, replace

import pytest

from otel_errcompact.runtime.records import dataclass


def classes(decorator):
    """The same classes by another decorator."""

    @decorator(frozen=True, slots=True, kw_only=True)
    class Place:
        file: str
        line: int = 0
        note: str = field(default="", compare=False)
        secret: str = field(default="", repr=False)

    @decorator(slots=True, kw_only=True)
    class Count:
        of: list[object] = field(default_factory=list)

    @decorator(frozen=True)
    class Name:
        text: str

    @decorator(frozen=True, slots=True, eq=False)
    class Token:
        text: str

    return Place, Count, Name, Token


OURS = classes(dataclass)
THEIRS = classes(dataclasses.dataclass)


@dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickle finds by its name."""

    text: str = "a"


def test_values_decide_whether_two_are_equal() -> None:
    """Those that are left out of comparison do not count, and another class is never equal."""
    for place, count, name, token in (OURS, THEIRS):
        assert place(file="a", note="x") == place(file="a", note="y")
        assert place(file="a") != place(file="a", line=1)
        assert hash(place(file="a", note="x")) == hash(place(file="a", note="y"))
        assert count(of=[1]) == count(of=[1])
        assert name("a") == name("a")
        assert name("a") != "a"
        assert token("a") != token("a")
        assert {name("a"): 1}[name("a")] == 1
    assert OURS[0](file="a") != THEIRS[0](file="a")


def test_what_can_change_has_no_hash() -> None:
    """As with the standard decorator."""
    for _, count, _, _ in (OURS, THEIRS):
        with pytest.raises(TypeError, match="unhashable"):
            hash(count())


def test_both_read_the_same() -> None:
    """Also where an object holds itself."""
    texts = []
    for place, count, _, _ in (OURS, THEIRS):
        holder = count(of=[place(file="a", line=3, secret="s")])
        holder.of.append(holder)
        texts.append(repr(holder))
    assert texts[0] == texts[1]
    assert "secret" not in texts[0]


def test_frozen_ones_cannot_change() -> None:
    """Nor lose a value; a copy with changes is made by `replace`."""
    place = OURS[0](file="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.file = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del place.file
    assert replace(place, line=2) == OURS[0](file="a", line=2)
    assert [one.name for one in fields(place)] == ["file", "line", "note", "secret"]


def test_they_can_be_copied_and_pickled() -> None:
    """Although they are frozen and have slots."""
    assert pickle.loads(pickle.dumps(Kept("b"))) == copy.deepcopy(Kept("b")) == Kept("b")


def test_a_method_of_the_class_itself_stays() -> None:
    """A representation that is written is not replaced."""

    @dataclass()
    class Short:
        text: str

        def __repr__(self) -> str:
            return "short"

    assert repr(Short("long")) == "short"
