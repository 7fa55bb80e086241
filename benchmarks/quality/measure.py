"""What is measured of every way to tell errors apart and of every way to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.quality.scores import Pairwise, adjusted_rand_index, grouping_accuracy, pairwise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.quality.data import Data, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """
    How well one way to make keys does.
    """

    name: str
    groups: int
    pairwise: Pairwise
    ari: float
    ga: float
    merged: int
    """Pairs that must share a key, and do."""

    to_merge: int
    apart: int
    """Pairs that must not, and do not."""

    to_part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """
    How little one way to show errors takes, and what it keeps.
    """

    name: str
    once: int
    """Characters that are shown of the first variants."""

    four: int
    """Characters that are shown of all variants, in turn."""

    raw_once: int
    raw_four: int
    items: int
    """Kinds of which every string that must survive is in what has been shown."""

    strings: int
    """Such strings altogether."""

    items_at_once: int
    """The same after the first variant alone."""

    strings_at_once: int


def grouping(name: str, data: Data, key_of: Callable[[str], str] | Mapping[str, str]) -> Grouping:
    """Score the keys of all labelled errors and pairs."""
    key = key_of if callable(key_of) else key_of.__getitem__
    labels = [error.label for error in data.errors]
    keys = [key(error.text) for error in data.errors]
    right = [(pair.same, (key(pair.a) == key(pair.b)) == pair.same) for pair in data.pairs]
    return Grouping(
        name=name,
        groups=len(set(keys)),
        pairwise=pairwise(labels, keys),
        ari=adjusted_rand_index(labels, keys),
        ga=grouping_accuracy(labels, keys),
        merged=sum(same and held for same, held in right),
        to_merge=sum(same for same, _ in right),
        apart=sum(not same and held for same, held in right),
        to_part=sum(not same for same, _ in right),
    )


def showing(name: str, kinds: Sequence[Kind], shown: Mapping[str, Sequence[str]]) -> Showing:
    """Score what was shown of each kind's variants, in turn."""
    first = {kind.name: shown[kind.name][0] for kind in kinds}
    whole = {kind.name: "\n".join(shown[kind.name]) for kind in kinds}
    kept, kept_at_once = _kept(kinds, whole), _kept(kinds, first)
    return Showing(
        name=name,
        once=sum(map(len, first.values())),
        four=sum(len(text) for kind in kinds for text in shown[kind.name]),
        raw_once=sum(len(kind.variants[0]) for kind in kinds),
        raw_four=sum(len(text) for kind in kinds for text in kind.variants),
        items=sum(all(strings) for strings in kept),
        strings=sum(map(sum, kept)),
        items_at_once=sum(all(strings) for strings in kept_at_once),
        strings_at_once=sum(map(sum, kept_at_once)),
    )


def _kept(kinds: Sequence[Kind], seen: Mapping[str, str]) -> list[list[bool]]:
    return [[string in seen[kind.name] for string in kind.must_survive] for kind in kinds]
