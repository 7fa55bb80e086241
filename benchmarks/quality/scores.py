"""How well keys follow labels: over pairs, over chance, and over whole groups."""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


class Pairwise(NamedTuple):
    """
    Over all pairs of errors: is a pair with one key of one fault, and has a pair of one fault one key?
    """

    precision: float
    recall: float
    f1: float


def pairwise(labels: Sequence[Hashable], keys: Sequence[Hashable]) -> Pairwise:
    """
    Return precision, recall and their harmonic mean; of no pairs at all everything is right.
    """
    both = _pairs(zip(labels, keys, strict=True))
    precision, recall = _share(both, _pairs(keys)), _share(both, _pairs(labels))
    total = precision + recall
    return Pairwise(precision, recall, 2 * precision * recall / total if total else 0.0)


def adjusted_rand_index(labels: Sequence[Hashable], keys: Sequence[Hashable]) -> float:
    """
    Return the agreement of two partitions beyond chance: 1 where they are equal, about 0 where they are unrelated.
    """
    both = _pairs(zip(labels, keys, strict=True))
    of_labels, of_keys, of_all = _pairs(labels), _pairs(keys), comb(len(labels), 2)
    by_chance = of_labels * of_keys / of_all if of_all else 0.0
    most = (of_labels + of_keys) / 2
    return 1.0 if most == by_chance else (both - by_chance) / (most - by_chance)


def grouping_accuracy(labels: Sequence[Hashable], keys: Sequence[Hashable]) -> float:
    """
    Return the share of errors whose group holds all errors of their fault and no others.
    """
    both, of_labels, of_keys = Counter(zip(labels, keys, strict=True)), Counter(labels), Counter(keys)
    right = sum(size for (label, key), size in both.items() if size == of_labels[label] == of_keys[key])
    return _share(right, len(labels))


def _pairs(values: Iterable[Hashable]) -> int:
    """
    Return how many pairs of equal values there are.
    """
    return sum(comb(size, 2) for size in Counter(values).values())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
