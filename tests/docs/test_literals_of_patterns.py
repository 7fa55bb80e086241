"""Plain strings that stand in every text which a pattern matches."""

from __future__ import annotations

import pytest

from docs.literals_of_patterns import find_literals

pytestmark = pytest.mark.meta


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param(r"fatal: \S", ("fatal: ",), id="the beginning"),
        pytest.param(r"[0-9]{1,9} failed, [0-9]+ ok", (" failed, ",), id="the longest of several"),
        pytest.param(r"(?:FAIL|ERROR): \w", ("FAIL", "ERROR"), id="one of each branch where they are longer"),
        pytest.param(r"(?:ab|[0-9]) broken", (" broken",), id="a branch without any is passed over"),
        pytest.param(r"!{3,} x", (" x",), id="a repeat of any number ends a string"),
        pytest.param(r"(?:not )?ok", ("ok",), id="what may be missing is no clue"),
        pytest.param(r"ok(?! bad)", ("ok",), id="nor what must not follow"),
        pytest.param(r"(?i:error): no", (": no",), id="nor what may be in capitals"),
        pytest.param(r"[ab]\s\d", (), id="nothing but classes"),
        pytest.param(r"(?i)error", (), id="any case throughout"),
    ],
)
def test_literals(pattern: str, expected: tuple[str, ...]) -> None:
    """Each string that every match holds, and nothing more."""
    assert find_literals(pattern) == expected
