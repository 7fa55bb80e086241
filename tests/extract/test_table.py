"""The table of extractors."""

from __future__ import annotations

import dataclasses

import pytest

from otel_errcompact import extract as package
from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract import EXTRACTORS, Extractor, extract
from otel_errcompact.extract.prefilter import Sieve


def test_names_are_distinct():
    """Every family has a name of its own."""
    names = [extractor.name for extractor in EXTRACTORS]
    assert len(set(names)) == len(names)


def test_last_extractor_takes_any_text():
    """The last resort has no markers."""
    assert EXTRACTORS[-1].name == "prose"
    assert EXTRACTORS[-1].markers == ()


def test_rows_are_frozen():
    """A row cannot be changed, only replaced."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXTRACTORS[0].name = "x"


def test_one_row_adds_a_family(monkeypatch):
    """A new family needs a function and a row; its markers say cheaply whether it may apply."""
    asked = []

    def extract_cow(text):
        asked.append(text.body)
        return Facts(type="moo", cause=text.lines[0], format="cow") if text.body.startswith("cow") else None

    row = Extractor(name="cow", extract=extract_cow, markers=("cow", "moo"))
    monkeypatch.setattr(package, "_SIEVES", (Sieve([row, *EXTRACTORS]),))
    assert extract(RawError(text="cow: no milk")).type == "moo"
    assert extract(RawError(text="a moo was not heard")).format == "prose"
    assert extract(RawError(text="KeyError: 'x'")).format == "plain"
    assert asked == ["cow: no milk", "a moo was not heard"]


def test_table_without_last_resort(monkeypatch):
    """Whatever the table holds, there are facts."""
    monkeypatch.setattr(package, "_SIEVES", ())
    assert extract(RawError(text="boom")).cause == "boom"


def test_a_cause_that_is_cut_off():
    """Whatever a format finds, its facts have a cause."""
    facts = extract(RawError(text="=== RUN   TestItems\n--- FAIL: TestItems (0.00s)\n    items_test.go:13:\nFAIL"))
    assert (facts.format, str(facts.location), facts.cause) == ("gotest", "items_test.go:13", "no message")


def test_a_type_that_is_garbled(monkeypatch):
    """A type is one line of bounded length, whatever a format has taken for one."""
    row = Extractor(name="cow", extract=lambda _: Facts(type="moo\n" * 99, cause="no milk", format="cow"))
    monkeypatch.setattr(package, "_SIEVES", (Sieve([row]),))
    found = extract(RawError(text="x")).type
    assert found.startswith("moo moo moo")
    assert len(found) <= 200
