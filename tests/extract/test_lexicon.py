"""What words say: examples that were written by one who had not seen the words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from docs.literals_of_patterns import find_literals
from otel_errcompact.detector import kinds
from otel_errcompact.extract.lexicon import FAULTS_OF_CODE, Sense, Words, clues_of, forms_of, join_words
from otel_errcompact.extract.statements import is_telling

EXAMPLES = [line.split("\t") for line in Path(__file__).with_name("lexicon.txt").read_text("utf-8").splitlines()]


def says(sense: Sense, text: str) -> bool:
    words = Words(sense, at=r"\A(?:error: )?" if sense is Sense.REJECTED else "")
    name = kinds.words_of(text)
    if sense is Sense.FAILED:
        return is_telling(text)
    if sense is Sense.NAMED:
        return FAULTS_OF_CODE.isdisjoint(name) and bool(words.find(" ".join(name)))
    if sense is Sense.CUT:
        before = Words(Sense.BEFORE).find(text.lower()) and not Words(Sense.BEGUN).find(text.lower())
        return bool(words.find(text.lower())) and not before
    return bool(words.find(" ".join(name) if sense is Sense.REFUSED else text.lower()))


@pytest.mark.parametrize(
    ("sense", "found", "left"),
    [
        (Sense.FAILED, 11, 5),  # other rules read what begins a trace, and counts of none
        (Sense.TRANSIENT, 14, 9),
        (Sense.NAMED, 13, 9),
        (Sense.CUT, 11, 10),
        (Sense.YET, 5, 6),  # most of what is not found is transient
        (Sense.QUOTA, 11, 10),
        (Sense.HOST, 9, 9),
        (Sense.ABSENT, 10, 10),
        (Sense.REJECTED, 6, 10),  # of tools, what they say themselves is missing
        (Sense.REFUSED, 10, 10),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_examples_of_another(sense: Sense, found: int, left: int) -> None:
    """Of 14 texts that say it, and of 10 that are like them and do not."""
    counts = Counter((sign, says(sense, text)) for name, sign, text in EXAMPLES if name == sense.name.lower())
    assert (counts["+", True], counts["-", False]) == (found, left)


def test_words_stand_in_names_too() -> None:
    """In a cause a type is one word, and in the name of a type they stand anywhere."""
    assert Words(Sense.NAMED).find("server busy exception") == "server busy"
    assert Words(Sense.CUT).find("max retries: readtimeout(3)") == "readtimeout"
    assert Words(Sense.BEFORE).find("max retries: connectionrefusederror(111)") == "connectionrefused"
    assert not Words(Sense.CUT).find("etimedout")


def test_what_does_not_run_is_no_reason_to_wait() -> None:
    """And neither is what another uses; what is being made is."""
    assert not Words(Sense.TRANSIENT).find("the daemon is not currently running")
    assert not Words(Sense.TRANSIENT).find("resource is in use by an instance")
    assert Words(Sense.TRANSIENT).find("table is being created: orders") == "is being created"


@pytest.mark.parametrize("sense", [sense for sense in Sense if sense is not Sense.FAILED])
def test_a_text_without_a_clue_need_not_be_searched(sense: Sense) -> None:
    """Each form holds a string that the index has, or a longer one."""
    for form in forms_of(sense):
        literals = find_literals(form)
        assert literals
        assert all(any(clue in literal for clue in clues_of(sense.name)) for literal in literals), form


def test_what_is_not_in_the_index_yet_is_searched_all_the_same() -> None:
    """No text is ruled out."""
    assert clues_of("of a new sense") == ("",)


def test_forms_with_one_first_letter_are_joined() -> None:
    """So that the engine passes over words that begin otherwise."""
    assert join_words(("time", "try", "a?b", "(?:c|d)")) == r"\b(?:t(?:ime|ry)|(?:a?b|(?:c|d)))"
    assert re.findall(join_words(("an?", "or"), r"\b"), "an or anor a") == ["an", "or", "a"]
