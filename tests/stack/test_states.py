"""The states of classes as data, and the arithmetic behind one of them; `e2e/test_states.py` asks for them."""

from __future__ import annotations

import math

from dashboards.classes import FACTOR, MARGIN, STATES


def test_each_state_has_a_name_and_a_meaning_of_its_own() -> None:
    """Two states with one name would be shown as one, and the last one takes what no other does."""
    assert len({state.name for state in STATES}) == len({state.meaning for state in STATES}) == len(STATES) == 8
    assert STATES[-1].name == "steady"


def test_growth_is_seldom_chance() -> None:
    """A class that fails at random and at one rate is called growing in fewer than one of 700 ranges, at any rate."""
    rates = [0.5 * 1.1**step for step in range(60)]
    worst = max(chance_of_growth(rate) for rate in rates)
    assert 0.0005 < worst < 1 / 700


def chance_of_growth(rate: float) -> float:
    """Return the chance that a range has `FACTOR` times the failures of the one before, and `MARGIN` more."""
    probabilities = [math.exp(n * math.log(rate) - rate - math.lgamma(n + 1)) for n in range(int(rate * 3) + 60)]
    return sum(
        before * sum(probabilities[FACTOR * count + MARGIN :])
        for count, before in enumerate(probabilities)
        if FACTOR * count + MARGIN < len(probabilities)
    )
