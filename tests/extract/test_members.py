from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.dedup.key import dedup_key, template_of
from otel_errcompact.errors import Location
from otel_errcompact.extract.members import MAX_CAUSES, Member, facts_of_members

CONFTEST = Location(function="<module>", file="tests/conftest.py", line=3)


def key(members, **options):
    facts = facts_of_members(members, unit="test", **options)
    return dedup_key(facts, template_of(facts))


def imports(*names):
    return [
        Member("ModuleNotFoundError", "No module named 'shop'", Location(file=f"tests/test_{name}.py", line=1), name)
        for name in names
    ]


def test_members_are_named_once_and_up_to_a_bound():
    """What has no name is counted alone; of many the first ones are named."""
    members = [*imports("a", "a"), Member("E", "x"), *imports(*map(str, range(60)))]
    names = facts_of_members(members, unit="test").names
    assert names[:3] == ("a", "0", "1")
    assert len(names) == len({*names}) == 48
    assert facts_of_members([Member("E", "x")], unit="error").names == ()


def test_one_member_is_one_failure():
    """Where a tool reports one failure there is nothing to count."""
    facts = facts_of_members(imports("cart"), unit="test")
    assert (facts.type, facts.cause, str(facts.location)) == (
        "ModuleNotFoundError",
        "No module named 'shop'",
        "tests/test_cart.py:1",
    )
    assert (facts.members, facts.tally) == (1, "")


def test_forty_tests_with_one_cause_are_one_line():
    """The same words in any place are one cause; the members are counted and the first of them named."""
    facts = facts_of_members(imports(*map(str, range(40))), unit="test")
    assert (facts.cause, str(facts.location)) == ("No module named 'shop'", "")
    assert (facts.members, facts.tally) == (40, "40 tests")
    names = [f"{name} (test_{name}.py:1)" for name in range(40)]
    assert " ".join(facts.details) == f"in {', '.join(names)}"


def test_all_names_stand_before_causes_without_room():
    """Of many tests that failed for as many causes each is named with its place, before the causes are told."""
    words = ("x" * 90, "y" * 90)
    members = [
        Member("E", f"{chr(97 + at) * 9} {words[at % 2]}", Location(file=f"t{at // 13}.go", line=at), f"Test{at}")
        for at in range(1, 26)
    ]
    facts = facts_of_members(members, unit="test")
    named = " ".join(line for line in facts.details if "(" in line)
    assert all(f"Test{at} (" in named for at in range(2, 26))
    assert facts.details[1].startswith("also in Test2 (t0.go:2), Test3 (3), ")


def test_a_place_that_all_members_share_stays():
    """Tests that fail in one line of application code have that line as their location."""
    place = Location(function="load", file="shop/config.py", line=9)
    members = [Member("KeyError", "'port'", place, name) for name in ("a", "b")]
    assert facts_of_members(members, unit="test").location == place


def test_the_file_that_all_members_share_stays():
    """Three findings of one kind in one file are in that file."""
    members = [Member("F401", "'os' imported but unused", Location(file="a.py", line=line)) for line in (1, 5)]
    facts = facts_of_members(members, unit="error")
    assert str(facts.location) == "a.py:1"
    assert facts.details == ("in a.py:1, 5",)


def test_expectations_of_two_places_are_two_causes():
    """That two tests are unequal in the same words does not make them one failure."""
    members = [
        Member("AssertionError", "assert False", Location(function=name, file="t.py"), name, assertion=True)
        for name in ("test_a", "test_b")
    ]
    facts = facts_of_members(members, unit="test")
    assert facts.tally == "1 of 2 tests"
    assert facts.details == ("AssertionError at test_b (t.py): assert False",)


def test_six_errors_are_six_facts():
    """Every distinct cause has its line, and what belongs to it right below."""
    members = [
        Member("TS2322", f"Type {name!r} is not assignable", Location(file="a.ts", line=line), details=(f"in {name}",))
        for line, name in enumerate(("A", "B", "C"), start=1)
    ]
    facts = facts_of_members(members, unit="error", first_is_root=True)
    assert (facts.type, facts.cause, facts.tally) == ("TS2322", "Type 'A' is not assignable", "1 of 3 errors")
    assert facts.details == (
        "in A",
        "TS2322 at a.ts:2: Type 'B' is not assignable",
        "in B",
        "TS2322 at a.ts:3: Type 'C' is not assignable",
        "in C",
    )


def test_the_cause_of_most_members_comes_first():
    """Of several causes the one that explains most failures leads; where a compiler reports, the first one does."""
    members = [Member("E1", "rare"), *[Member("E2", "frequent", name=name) for name in ("x", "y")]]
    assert facts_of_members(members, unit="test").cause == "frequent"
    assert facts_of_members(members, unit="error", first_is_root=True).cause == "rare"


def test_other_causes_are_counted_where_they_recur():
    """A line says how many members share its cause, and names them."""
    members = [Member("E1", "a"), Member("E2", "b", name="x"), Member("E2", "b", name="y")]
    facts = facts_of_members(members, unit="error", first_is_root=True)
    assert facts.details == ("E2: b (2x: x, y)",)


def test_names_that_find_no_room_in_the_line_follow_it():
    """A cause that many tests with long names share is one line, and their names are the lines after it."""
    names = [f"test_{letter}_of_a_cart_with_many_things" for letter in "abcdefg"]
    members = [Member("OSError", "No space left on device"), *(Member("KeyError", "'price'", name=it) for it in names)]
    facts = facts_of_members(members, unit="test", first_is_root=True)
    assert facts.details == (
        "KeyError: 'price' (7x)",
        f"in {', '.join(names[:5])},",
        f"{names[5]}, {names[6]}",
    )


def test_what_the_tool_counts_counts():
    """A cut output shows fewer failures than its summary names; of the rest the cause is unknown."""
    facts = facts_of_members(imports("cart", "user"), unit="test", total=12)
    assert (facts.members, facts.tally) == (12, "2 of 12 tests")
    assert facts.details[-1] == "... 10 more by the tool's count"


def test_a_member_may_stand_for_all():
    """A set-up that failed invalidates tests that are only counted."""
    facts = facts_of_members(imports("cart"), unit="test", total=3, are_alike=True)
    assert (facts.members, facts.tally, facts.details) == (3, "3 tests", ())


def test_causes_beyond_the_bound_are_counted():
    """Every cut is visible."""
    members = [Member("E1", f"cause {name}") for name in string.ascii_letters]
    facts = facts_of_members(members, unit="error", first_is_root=True)
    assert len(facts.details) == MAX_CAUSES + 1
    assert facts.details[-1] == "... 5 more causes"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([*imports("a", "b")], [*imports("c", "d", "e")], id="other members of one cause"),
        pytest.param(
            [Member("E1", "x"), Member("E2", "y")], [Member("E2", "y"), Member("E1", "x")], id="another order"
        ),
        pytest.param(
            [Member("E1", "took 3 s"), Member("E2", "y")],
            [Member("E1", "took 9 s"), Member("E2", "y")],
            id="volatile parts",
        ),
    ],
)
def test_what_is_the_same_failure(one, other):
    """Neither counts nor the order of the output nor noise make another class."""
    assert key(one) == key(other)


def test_the_class_of_a_suite_is_its_leading_cause():
    """Which tests fail beside it changes from run to run, and with how much of the output is shown."""
    leading = [Member("E1", "x", name=name) for name in "ab"]
    assert key(leading) == key(leading[:1]) == key([*leading, Member("E2", "y")])
    assert key(leading) != key([Member("E2", "y", name=name) for name in "abc"] + leading)


def test_another_error_of_a_compiler_is_another_class():
    """What a compiler finds is a set: the agent has mended one, or broken one."""
    members = [Member("E1", "x"), Member("E2", "y")]
    assert key(members, first_is_root=True) != key([*members, Member("E3", "z")], first_is_root=True)
    assert key(members, first_is_root=True) != key(members[:1])


MEMBERS = st.builds(
    Member,
    st.sampled_from(["E1", "E2"]),
    st.sampled_from(["a", "b", "took 3 s", "took 4 s"]),
    st.builds(Location, function=st.sampled_from(["", "f"]), file=st.sampled_from(["", "x.c", "y.c"])),
    st.sampled_from(["", "n1", "n2"]),
    assertion=st.booleans(),
)


@given(st.lists(MEMBERS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_members_makes_no_other_key(members, random):
    """The key follows the set of causes where every failure keeps its own place."""
    members = [member._replace(assertion=True) for member in members]
    shuffled = [*members]
    random.shuffle(shuffled)
    assert key(members) == key(shuffled)
    assert key(members, first_is_root=True) == key(shuffled, first_is_root=True)


def test_members_without_name_and_place():
    """Of members that have neither a name nor a place only the number is told."""
    facts = facts_of_members([Member("Error", "boom"), Member("Error", "boom")], unit="error")
    assert (facts.tally, facts.details) == ("2 errors", ())


def test_expectations_that_share_a_cause_keep_their_words():
    """What the second test expects is told, and a long list of others is counted."""
    tests = [
        Member("AssertionError", f"page holds {name!r}", name=f"test_{name}", key="page", assertion=True)
        for name in "abcdefg"
    ]
    found = facts_of_members(tests, unit="test")
    assert found.tally == "7 tests"
    assert "test_b: page holds 'b'" in found.details
    assert "... 2 more expectations" in found.details
    numbers = [tests[0]._replace(cause=f"got {number}", key="") for number in (10, 20)]
    assert not any("got 20" in line for line in facts_of_members(numbers, unit="test").details)
    nameless = [member._replace(name="") for member in tests[:2]]
    assert "page holds 'b'" in facts_of_members(nameless, unit="test").details
