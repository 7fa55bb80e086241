"""The scores that the quality benchmark prints, on sets small enough to be counted by hand."""

from __future__ import annotations

import pytest

from benchmarks.quality.data import Data, Kind, Labelled, Pair, load
from benchmarks.quality.measure import grouping, showing
from benchmarks.quality.score import Group, near_siblings
from benchmarks.quality.scores import adjusted_rand_index, grouping_accuracy, pairwise

pytestmark = pytest.mark.meta


@pytest.mark.parametrize(
    ("labels", "keys", "expected"),
    [
        pytest.param("aabb", "xxyy", (1.0, 1.0, 1.0), id="equal partitions under other names"),
        pytest.param("aabb", "xxxx", (2 / 6, 1.0, 0.5), id="all merged: 2 of 6 pairs are right"),
        pytest.param("aabb", "wxyz", (1.0, 0.0, 0.0), id="all split: no pair claimed, none of 2 found"),
        pytest.param("aaab", "xxyy", (1 / 2, 1 / 3, 2 / 5), id="one of 2 claimed, one of 3 to find"),
        pytest.param("abc", "xyz", (1.0, 1.0, 1.0), id="nothing to pair"),
        pytest.param("", "", (1.0, 1.0, 1.0), id="nothing"),
    ],
)
def test_pairwise(labels, keys, expected):
    """Precision is over pairs with one key, recall over pairs of one fault."""
    assert pairwise(labels, keys) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "keys", "expected"),
    [
        pytest.param("aabb", "xxyy", 1.0, id="equal partitions"),
        pytest.param("aabb", "xxxx", 0.0, id="all merged"),
        pytest.param("aabb", "wxyz", 0.0, id="all split"),
        pytest.param("aaabbb", "xxyyzz", (2 - 6 * 3 / 15) / (4.5 - 6 * 3 / 15), id="2 of 15 pairs, 1.2 by chance"),
        pytest.param("aabb", "xyxy", -0.5, id="worse than chance"),
        pytest.param("abc", "xyz", 1.0, id="all alone"),
        pytest.param("a", "x", 1.0, id="one"),
    ],
)
def test_adjusted_rand_index(labels, keys, expected):
    """Pairs that agree, less those that would by chance."""
    assert adjusted_rand_index(labels, keys) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "keys", "expected"),
    [
        pytest.param("aabbc", "xxyyz", 1.0, id="equal partitions"),
        pytest.param("aabbc", "xxyzw", 3 / 5, id="one fault split: its errors count as wrong"),
        pytest.param("aabbc", "xxyyy", 2 / 5, id="two faults merged: theirs do too"),
        pytest.param("", "", 1.0, id="nothing"),
    ],
)
def test_grouping_accuracy(labels, keys, expected):
    """A group is right as a whole or not at all."""
    assert grouping_accuracy(labels, keys) == pytest.approx(expected)


def test_keys_of_another_length_are_refused():
    """A key too few is a mistake of the measurement, and no score."""
    with pytest.raises(ValueError, match="zip"):
        pairwise("aab", "xx")


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param([Group(["x", "x"], ["y", "z"])], [(1, 1), (1, 1), (2, 2)], id="twin merged, siblings apart"),
        pytest.param([Group(["x", "x"], ["x", "y"])], [(1, 3), (1, 1), (2, 4)], id="a sibling in a class of two"),
        pytest.param([Group(["x", "z"], ["y", "y"])], [(0, 0), (0, 1), (0, 1)], id="a twin split, siblings unjudged"),
        pytest.param([Group(["x", "y", "x"], ["y"])], [(1, 2), (1, 3), (2, 5)], id="a sibling with the split twin"),
        pytest.param(
            [Group(["x", "x"], ["z"]), Group(["x", "x"], ["x"])], [(2, 4), (2, 2), (4, 6)], id="groups are summed"
        ),
        pytest.param([], [(0, 0), (0, 0), (0, 0)], id="nothing"),
    ],
)
def test_near_siblings(groups, expected):
    """Pairs of one cause and one key, of those with one key, of those with one cause, and of both together."""
    found = near_siblings("with a parser", groups)

    assert [(each.right, each.all) for each in found] == expected
    assert [each.name.rpartition(" ")[2] for each in found] == ["precision", "recall", "F1"]


def test_grouping_scores_errors_and_pairs():
    """Of three pairs one is rightly merged, one rightly apart, and one wrongly apart."""
    data = Data(
        errors=(Labelled(text="a 1", label="a"), Labelled(text="a 2", label="a"), Labelled(text="b 1", label="b")),
        pairs=(
            Pair(case="digits", a="c 1", b="c 2", same=True),
            Pair(case="letters", a="c 1", b="d 1", same=False),
            Pair(case="words", a="e 1", b="f 1", same=True),
        ),
        kinds=(),
    )
    found = grouping("first letter", data, lambda text: text[0])

    assert (found.groups, found.pairwise, found.ari, found.ga) == (2, (1.0, 1.0, 1.0), 1.0, 1.0)
    assert (found.merged, found.to_merge, found.apart, found.to_part) == (1, 2, 1, 1)


def test_showing_counts_what_has_been_seen_so_far():
    """A string that a later variant shows has survived, but not after the first variant alone."""
    kinds = (Kind(name="k", variants=("cause here", "cause there"), must_survive=("cause", "there")),)
    found = showing("first words", kinds, {"k": ["cause", "there"]})

    assert (found.once, found.four, found.raw_once, found.raw_four) == (5, 10, 10, 21)
    assert (found.items, found.strings, found.items_at_once, found.strings_at_once) == (1, 2, 0, 1)


def test_missing_data_are_named(tmp_path):
    """Whoever lacks the data reads which file is missing and how to name another folder."""
    with pytest.raises(FileNotFoundError, match=r"grouping\.jsonl is missing; .* --data"):
        load(tmp_path)


def test_the_labelled_data_are_whole(shared_data):
    """Every kind comes four times, and every string that must survive is in each raw error's first variant."""
    data = load(shared_data)

    assert {len(kind.variants) for kind in data.kinds} == {4}
    assert all(string in kind.variants[0] for kind in data.kinds for string in kind.must_survive)
    assert len(data.errors) > len({error.label for error in data.errors}) > 1
    assert {pair.same for pair in data.pairs} == {True, False}
