"""Runaway recursions: the cycle once, its count, and the call that began it."""

from __future__ import annotations

from otel_errcompact.errors import NOWHERE
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame, is_own_frame
from otel_errcompact.extract.stacks.places import Places
from otel_errcompact.extract.stacks.recursion import Recursion, recursion_of

PING, PONG = Frame("/app/a.py", 1, "ping"), Frame("/app/a.py", 2, "pong")
MAIN = Frame("/app/a.py", 9, "main", "ping(0)")
COPY = Frame("/usr/lib/python3.11/copy.py", 128, "deepcopy")


def once(*frames: Frame) -> list[tuple[Frame, int]]:
    return [(frame, 1) for frame in frames]


def find(*frames: Frame) -> Recursion | None:
    return recursion_of(once(*frames), is_own_frame)


def test_place_does_not_depend_on_the_depth():
    """Of functions that call one another in turn it is the first by name, at whichever the stack ends."""
    for stack in ([PING, PONG] * 50, [PING, PONG] * 50 + [PING], [PONG, PING] * 50 + [PONG]):
        found = find(MAIN, *stack)
        assert found is not None
        assert found.place == PING


def test_cycle_begins_where_it_was_entered():
    """The functions stand in the order of their calls, with the count of the first one and the call that began it."""
    assert find(MAIN, *[PONG, PING] * 50) == Recursion(PING, (PONG, PING), 50, MAIN)


def test_stack_without_its_outer_part():
    """Where the stack begins inside the cycle, neither count nor entry is known."""
    assert find(*[PONG, PING] * 5) == Recursion(PING, (PING, PONG))


def test_printed_count():
    """Python prints a frame that repeats once, and then a number."""
    walk, helper = Frame("a.py", 3, "walk"), Frame("a.py", 8, "helper")
    found = recursion_of([(MAIN, 1), (walk, 1), (walk, 996), (helper, 1)], is_own_frame)
    assert found == Recursion(walk, (walk,), 997, MAIN)


def test_recursion_inside_a_library():
    """The place is own code; the cycle is that of the library it calls."""
    assert find(MAIN, *[COPY] * 9) == Recursion(MAIN, (COPY,), 9)


def test_recursion_in_libraries_alone():
    """Without own code the library's function is the place."""
    assert find(*[COPY] * 9) == Recursion(COPY, (COPY,))


def test_no_recursion():
    """A stack that is full without a cycle, or is empty, shows none."""
    assert find(MAIN) == Recursion(MAIN)
    assert find() is None


def test_lines_of_a_recursion():
    """The cycle stands once, its places without the folder that the head names."""
    failure = Failure("RecursionError", "too deep", PING, PING, recursion=find(MAIN, *[PING, PONG] * 9))
    assert facts_of((failure,)).details == (
        "cycle: ping (a.py:1) -> pong (a.py:2) -> ping, 9 times",
        "entered from main (a.py:9)",
        "> ping(0)",
    )


def test_long_cycle_of_unknown_length():
    """Of a long cycle the first functions are named."""
    frames = [Frame("/app/a.py", number, f"f{number}") for number in range(1, 9)]
    failure = Failure("RangeError", "full", frames[0], frames[0], recursion=find(*frames * 2))
    (line,) = facts_of((failure,)).details
    assert line.startswith("cycle: f1 (a.py:1) -> f2 (a.py:2) -> ")
    assert line.endswith(" -> f6 (a.py:6) -> ... -> f1, and so on")


def test_entry_without_a_source_line():
    """The place of the entry stays where its line is not printed."""
    stack = [MAIN._replace(source=""), *[PING] * 9]
    failure = Failure("RecursionError", "too deep", PING, PING, recursion=find(*stack))
    assert facts_of((failure,)).details[1:] == ("entered from main (a.py:9)",)


def test_names_of_places():
    """A bare file name means the folder of the head; once another folder was named, all names are whole."""
    places = Places(PING.place())
    names = [places.name(frame) for frame in (PONG, COPY, Frame("/lib/b.py", 3, "g"), PONG, Frame("c.py", 4))]
    assert names == [
        "pong (a.py:2)", "deepcopy (copy.py:128)", "g (/lib/b.py:3)", "pong (/app/a.py:2)", "c.py:4"
    ]  # fmt: skip
    assert Places(NOWHERE).name(PONG) == "pong (/app/a.py:2)"


def test_what_was_handled_on_the_way_down_is_no_cause():
    """A cache that is missed at each level is no reason for an overflow."""
    missed = Failure("KeyError", "'area'", Frame("/app/shape.py", 4, "size"), Frame("/app/shape.py", 4, "size"))
    overflow = Failure("RecursionError", "maximum recursion depth exceeded", PING, PING, follows=True)
    found = facts_of([overflow, missed])
    assert (found.type, str(found.location)) == ("RecursionError", "ping (/app/a.py:1)")
    wrapped = facts_of([Failure("ShapeError", "no area", MAIN, MAIN), overflow, missed])
    assert (found.type, wrapped.wrappers) == ("RecursionError", ("ShapeError",))
    caused = facts_of([overflow._replace(follows=False), missed])
    assert caused.type == "KeyError"
