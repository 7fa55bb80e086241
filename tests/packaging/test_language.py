"""Functions are verbs, summaries short, and private functions have none, as far as a program can check it."""

from __future__ import annotations

import pytest

from tests.packaging.budget import read_table
from tests.packaging.language import RULES, offenders

pytestmark = pytest.mark.meta


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, list[str]]]:
    return offenders()


@pytest.mark.parametrize("rule", RULES)
def test_no_room_gets_more_offenders(found: dict[str, dict[str, list[str]]], rule: str) -> None:
    """
    Functions are verbs, summaries have at most twelve words, names and types say what a private function does.

    Where that fails, rename the function, or shorten or delete the docstring: a new offender is never needed.
    """
    ceilings = read_table()[rule]
    beyond = {room: places for room, places in found[rule].items() if len(places) > ceilings.get(room, 0)}
    assert beyond == {}
