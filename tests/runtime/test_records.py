"""Our dataclasses are those of the standard library, made faster."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field, fields
from typing import ClassVar, Generic, TypeVar

import pytest

from otel_errcompact.runtime.records import dataclass, replace

T = TypeVar("T")


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


def heirs(decorator):
    """A class, one that inherits from it, and one that finds a value by itself."""

    @decorator(slots=True, kw_only=True)
    class Event:
        kind: ClassVar[str] = "event"
        run: str
        agent: str = ""

    @decorator(slots=True, kw_only=True)
    class Failed(Event):
        kind: ClassVar[str] = "failed"
        agent: str = "main"
        tools: list[str] = field(default_factory=lambda: ["a"])

    @decorator(slots=True)
    class Counted:
        first: int
        second: int = 2
        both: int = field(init=False)

        def __post_init__(self) -> None:
            self.both = self.first + self.second

    return Event, Failed, Counted


def large(decorator):
    """A class with so many fields that ours is filled while it is open."""

    @decorator(frozen=True, slots=True, kw_only=True)
    class Large:
        a: str
        b: int = 2
        c: tuple[str, ...] = ()
        d: str = field(default="d", repr=False)
        e: str = field(default="e", compare=False)
        f: bool = False
        g: None = None
        h: str = ""

        @property
        def both(self) -> str:
            return self.a + self.h

    return Large


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


def test_large_ones_are_as_small_ones() -> None:
    """They take the same values, are as equal and as frozen, and are copied by both `replace`."""
    ours, theirs = large(dataclass), large(dataclasses.dataclass)
    assert repr(ours(a="x", c=("y",))) == repr(theirs(a="x", c=("y",)))
    for change in (replace, dataclasses.replace):
        changed = change(ours(a="x", g=None), h="z", e="other")
        assert type(changed) is ours
        assert (changed.both, changed.b, changed.d, changed.e) == ("xz", 2, "d", "other")
        assert changed == ours(a="x", h="z")
        with pytest.raises(dataclasses.FrozenInstanceError):
            changed.a = "b"
        with pytest.raises(dataclasses.FrozenInstanceError):
            del changed.a
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'a'"):
        ours(b=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        ours(a="x", z=3)
    with pytest.raises(AttributeError, match="z"):
        replace(ours(a="x"), z=3)


def test_each_large_one_has_its_own_list() -> None:
    """A factory of defaults is called for each object."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Large:
        a: list[int] = field(default_factory=list)
        b: int = 0
        c: int = 0
        d: int = 0
        e: int = 0
        f: int = 0
        g: int = 0
        h: int = 0

    one = Large()
    one.a.append(1)
    assert (one.a, Large().a, replace(one, b=1).a) == ([1], [], [1])


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


def test_a_class_inherits_and_finds_values_by_itself() -> None:
    """Values of the base come first, and a default is the heir's own."""
    texts = []
    for event, failed, counted in (heirs(dataclass), heirs(dataclasses.dataclass)):
        made = failed(run="r", tools=["b"])
        texts.append((repr(event(run="r")), repr(failed(run="r")), repr(made), repr(counted(1)), repr(counted(1, 3))))
        assert (made.kind, event.kind, hasattr(made, "__dict__")) == ("failed", "event", False)
        assert [each.name for each in fields(failed)] == ["run", "agent", "tools"]
        assert counted.__match_args__ == ("first", "second")
    assert texts[0] == texts[1]


def test_a_class_may_be_generic() -> None:
    """Its parameters are no fields."""

    @dataclass(slots=True)
    class Held(Generic[T]):
        held: T

    assert Held[int](1) == Held(1)
    assert [each.name for each in fields(Held)] == ["held"]


def test_a_class_without_slots_keeps_what_it_is_given() -> None:
    """As `lazy` does."""
    name = OURS[2]("a")
    name.__dict__["more"] = 1
    assert (name.more, name) == (1, OURS[2]("a"))


def test_a_class_is_made_at_its_first_use() -> None:
    """Whichever of its attributes is read first; what it takes can be asked for before there is an object."""
    for read in (
        lambda cls: list(inspect.signature(cls.__init__).parameters)[1:],
        lambda cls: [each.name for each in fields(cls)],
        lambda cls: [*cls.__match_args__],
        lambda cls: [cls.__eq__ and cls.__hash__ and "text"],
    ):
        made = classes(dataclass)[2]
        assert type(vars(made)["__init__"]).__name__ == "_Later"
        assert read(made) == ["text"]
        assert type(vars(made)["__init__"]).__name__ == "function"
        assert made("a") == made(text="a")
