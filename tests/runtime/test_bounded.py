"""Tables and labels that cannot grow without bound."""

from __future__ import annotations

import pytest

from otel_errcompact.otel.metrics.labels import Labels
from otel_errcompact.runtime.bounded import BoundedTable


class TestBoundedTable:
    def test_oldest_goes_first(self):
        """Beyond the bound the oldest entry goes, and that is told."""
        evicted = []
        table = BoundedTable[str, int](2, lambda: evicted.append(True))
        for number, key in enumerate("abc"):
            table.put(key, number)
        assert table.entries == {"b": 1, "c": 2}
        assert evicted == [True]

    def test_known_key(self):
        """Setting a known key evicts nothing."""
        table = BoundedTable[str, int](1)
        table.put("a", 1)
        table.put("a", 2)
        assert table.get("a") == 2

    def test_update(self):
        """An entry can be changed in place; one that is not there yet is given as None."""
        table = BoundedTable[str, tuple[int, ...]](4)
        for number in (1, 2):
            table.update("a", lambda known, number=number: (*(known or ()), number))
        assert table.get("a") == (1, 2)

    def test_update_evicts(self):
        """A new entry that is made by a change evicts the oldest too."""
        evicted = []
        table = BoundedTable[str, int](1, lambda: evicted.append(True))
        for key in "ab":
            table.update(key, lambda known: (known or 0) + 1)
        assert table.entries == {"b": 1}
        assert evicted == [True]

    def test_pop(self):
        """An entry is taken out once."""
        table = BoundedTable[str, int](1)
        table.put("a", 1)
        assert (table.pop("a"), table.pop("a")) == (1, None)

    def test_clear(self):
        """Clearing keeps the mapping itself, which others may be looking at."""
        table = BoundedTable[str, int](1)
        entries = table.entries
        table.put("a", 1)
        table.clear()
        assert entries is table.entries
        assert entries == {}


class TestLabels:
    def test_first_ones_keep_their_name(self):
        """The first values keep their name, later ones are `other`, and how often is counted."""
        labels = Labels(2)
        assert [labels.label(value) for value in ("a", "b", "c", "a", "c")] == ["a", "b", "other", "a", "other"]
        assert labels.overflowed == 2

    def test_empty_value(self):
        """The empty value stays empty and takes no place."""
        labels = Labels(1)
        assert [labels.label(value) for value in ("", "a", "")] == ["", "a", ""]
        assert labels.overflowed == 0

    def test_own_name_for_others(self):
        """The label of the others can be the standard's own."""
        labels = Labels(1, other="_OTHER")
        assert [labels.label(value) for value in ("a", "b")] == ["a", "_OTHER"]

    def test_find(self):
        """Looking a label up learns nothing."""
        labels = Labels(1)
        assert labels.find("a") == "other"
        assert labels.label("b") == "b"
        assert labels.find("b") == "b"

    @pytest.mark.parametrize(
        ("value", "label"),
        [
            pytest.param("x" * 500, "x" * 120, id="long"),
            pytest.param("a\nb\x1b[31mc", "a bc", id="control characters"),
        ],
    )
    def test_harmless(self, value, label):
        """A label is one short line without control characters."""
        assert Labels(1).label(value) == label
