"""The grammar that formats are declared in."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.grammar import (
    MAX_MEMBERS,
    Member,
    Rules,
    fill,
    find,
    find_all,
    find_blocks,
    form,
    place_of,
    read_total,
)

COWS = Rules(
    r"""
Missing{litres}  cow: (?P<message>no milk(?P<litres> [0-9]+ l)?)
    (?: in {file}:{line}| said (?P<name>{word}))?$
    > asked of {name}
{type}           cow: (?P<type>[a-z]{3}): {message}
""",
    begins=("cow: ",),
)


def test_placeholders_carry_their_bounds():
    """A name in braces stands for a shape; the braces of a repetition stay."""
    assert fill(r"{number}{2} {name}") == r"[0-9]{1,9}{2} \w{1,200}"
    assert form(r"at {file}:{line}: {message}").match("at a/b.c:7: no") is not None


def test_an_unknown_placeholder_is_a_fault():
    """A misspelt shape is known at the first text."""
    with pytest.raises(KeyError, match="nummer"):
        form(r"{nummer}").match("7")


def test_the_first_line_of_a_form():
    """A form that no line begins with is not tried."""
    lines = ["a 1", "b 2", "b 3"]
    found = find(form(r"b {line}"), lines)
    assert found is not None
    assert found["line"] == "2"
    assert find(form(r"(?P<broken"), lines, "c") is None
    assert [each[0] for each in find_all(form(r"\w {number}"), lines, "b")] == ["b 2", "b 3"]


@pytest.mark.parametrize(
    ("pattern", "text", "place"),
    [
        (r"{file}:{line}", "a.c:7", Location(file="a.c", line=7)),
        (r"{file}(?::{line})?", "a.c", Location(file="a.c")),
        (r"in (?P<function>{name}), line {line}", "in milk, line 7", Location(function="milk", line=7)),
        (r"line {line}", "line 7", NOWHERE),
        (r"{number}", "milk", NOWHERE),
    ],
)
def test_the_place_that_a_match_names(pattern, text, place):
    """A line alone is no place, and what was not found names none."""
    assert place_of(form(pattern).match(text)) == place


def test_the_count_of_a_tool():
    """The first form that is found counts, with all its groups."""
    totals = form(r"([0-9]+) cows, ([0-9]+) goats(?:, ([0-9]+) hens)?"), form(r"([0-9]+) goats")
    assert read_total("7 cows, 2 goats", *totals) == 9
    assert read_total("3 goats", *totals) == 3
    assert read_total("no animals", *totals) == 0


def test_a_rule_states_what_its_groups_found():
    """Type, place, name and details; a detail without its group is left out."""
    assert COWS.read("cow: no milk 3 l in barn.txt:7") == Member(
        "Missing 3 l", "no milk 3 l", Location(file="barn.txt", line=7)
    )
    assert COWS.read("cow: no milk said Bob") == Member("Missing", "no milk", name="Bob", details=("asked of Bob",))
    assert COWS.read("cow: ill: badly") == Member("ill", "badly")
    assert COWS.read("cow: asleep") is None
    assert COWS.read("a cow: no milk") is None


def test_rules_for_a_whole_text():
    """All lines, the first one as facts, and what a text would be."""
    lines = ["cow: ill: badly", "hen: ill: badly", "cow: no milk"]
    assert [member.type for member in COWS.read_all(lines)] == ["ill", "Missing"]
    assert COWS.find(lines) == Facts(type="ill", cause="badly")
    assert COWS.find(["hen"]) is None
    kinds = Rules("Milk  .*milk\nEggs  .*egg")
    assert (kinds.type_of("no eggs"), kinds.type_of("no hay")) == ("Eggs", "")


def test_a_rule_is_its_own_closing():
    """Without its groups a form says how a program closes."""
    assert Rules(r"Ill  cow (?P<name>{name}) is {message}").closings == (r"cow (?:\w{1,200}) is (?:\S.*)",)


def test_blocks_stand_below_their_headings():
    """Each ends at the next heading, and has no more lines than are asked for."""
    lines = ["hay", "# a", "1", "2", "# b", "3"]
    blocks = list(find_blocks(lines, form(r"# (?P<name>{name})"), most=1))
    assert [(block.head["name"], block.lines, block.start) for block in blocks] == [("a", ["1"], 1), ("b", ["3"], 4)]
    assert list(find_blocks(lines, form("nothing"))) == []
    assert len(list(find_blocks(["# a"] * (MAX_MEMBERS + 1), form("# a").match))) == MAX_MEMBERS
