"""Exception groups: a line for each distinct failure, its like folded, and no message cut in the middle."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.folding import differ_in_names, fold
from otel_errcompact.extract.stacks.frames import Frame

FETCH, LOAD, MAIN = Frame("/app/a.py", 3, "fetch"), Frame("/app/a.py", 7, "load"), Frame("/app/a.py", 20, "main")


def refused(host: str) -> Failure:
    return Failure("ConnectionError", f"connection to {host} was refused", FETCH, FETCH)


def group(*children: Failure, message: str = "sync failed") -> Failure:
    return Failure("ExceptionGroup", f"{message} (9 sub-exceptions)", MAIN, children=tuple((one,) for one in children))


def test_members_are_folded():
    """One line for each distinct failure; of its like only what they differ in."""
    found = facts_of((group(refused("r1"), refused("r3"), Failure("KeyError", "'user'", LOAD, LOAD), refused("r4")),))
    assert found.cause == (
        "sync failed: 3 x ConnectionError: connection to r1 was refused; and 1 other (KeyError)"
    )  # fmt: skip
    assert found.details == ("ConnectionError at fetch (a.py:3); same for r3, r4", "KeyError at load (a.py:7): 'user'")


def test_every_distinct_failure_has_its_line():
    """Where the head has no room for all, the lines below have."""
    children = [Failure(f"Error{number}", f"cause {'x' * number} of its own", LOAD, LOAD) for number in range(1, 9)]
    found = facts_of((group(*children),))
    assert found.cause == (
        "sync failed: Error1: cause x of its own; and 7 others (Error2, Error3, Error4, Error5, ...)"
    )  # fmt: skip
    assert len(found.details) == len(children)


def test_causes_that_differ_in_a_word_are_not_folded():
    """The same sentence with another cause in it is another failure."""
    one = Failure("ConnectionError", "connection to db was refused", FETCH, FETCH)
    found = facts_of((group(one, one._replace(message="connection to db was reset")),))
    assert found.details[1] == "ConnectionError at fetch (a.py:3): connection to db was reset"
    assert found.cause.endswith("; and 1 other")


def test_group_inside_a_group():
    """The failures of inner groups stand beside the others, with the name of their group."""
    inner = group(Failure("KeyError", "'user'", LOAD, LOAD), message="shard 7")
    found = facts_of((group(refused("r1"), inner),))
    assert found.details[1] == "KeyError at load (a.py:7): 'user' (in \"shard 7\")"
    wrapped = Failure("ExceptionGroup", "all", MAIN, children=((refused("r1"),), (Failure("JobError"), inner)))
    assert facts_of((wrapped,)).details[1].endswith('(in "JobError: shard 7")')


def test_name_of_a_task_group_is_left_out():
    """What the runtime says of every group is not repeated."""
    inner = group(Failure("KeyError", "'user'", LOAD, LOAD), message="unhandled errors in a TaskGroup")
    assert facts_of((group(refused("r1"), inner),)).details[1] == "KeyError at load (a.py:7): 'user'"


def test_one_failure_many_times():
    """A group of one failure is that failure; what its members differ in stays."""
    found = facts_of((group(refused("10.0.0.1"), refused("10.0.0.2")),))
    assert (found.type, found.cause) == ("ConnectionError", "connection to 10.0.0.1 was refused")
    assert found.details == (
        "2 times in one ExceptionGroup: same for 10.0.0.2",
        "raised as ExceptionGroup at main (a.py:20): sync failed",
    )


def test_group_without_places_and_message():
    """A type alone is no line: the head names it."""
    found = facts_of((Failure("ExceptionGroup", "", children=((Failure("A", "x" * 30),), (Failure("B", "b"),))),))
    assert found.cause == f"A: {'x' * 30}; and 1 other (B)"
    assert found.details == ("B: b",)


@pytest.mark.parametrize(
    ("causes", "words"),
    [
        pytest.param(["boom"], "", id="one"),
        pytest.param(["boom"] * 3, "x 3", id="equal"),
        pytest.param(["no r1", "no r2", "no r3"], "same for r2, r3", id="values"),
        pytest.param(["no r1", "no r2", "no r2"], "x 3; same for r2", id="values, some twice"),
        pytest.param(["no r1 at a:1", "no r2 at b:1"], "same for r2/b:1", id="two values"),
        pytest.param(["no r1", "no r2 either"], "x 2", id="other words"),
        pytest.param(["no r1", f"no {'r' * 99}"], "x 2", id="a very long value"),
        pytest.param(
            [f"no r{number}" for number in range(20)],
            "same for r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, and 7 more",
            id="very many",
        ),
    ],
)
def test_folding(causes, words):
    """The values of all members, in few words."""
    assert fold(causes) == words


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("mirror eu-west is down", "mirror us-east is down", True),
        ("mirror a answered 503", "mirror a answered 403", False),
        ("no such host", "no such user", False),
        ("too short", "too-long short", False),
        ("a b-1 c", "a b-1 c d", False),
        ("x-1 y-1 z-1 w", "x-2 y-2 z-2 w", False),
    ],
)
def test_differ_in_names(one, other, alike):
    """Names and paths may differ, words and codes may not."""
    assert differ_in_names(one, other) is alike
