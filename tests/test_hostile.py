"""Laws that hold for any text at all, drawn from pieces of what real tools say, and the time that grown texts take."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.quality.hostile import cost, grown, markers, runs, seeds, some_of_each
from benchmarks.quality.ours import forget
from otel_errcompact.compactor.classify import classify
from otel_errcompact.digest.untrusted import quoted_lines
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.extract.cleaning.characters import clean
from otel_errcompact.extract.clipping import MAX_CAUSE, MAX_DETAIL
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.quality.hostile import Hostile

SEEDS = seeds()
LINES = sorted({line for text in SEEDS.values() for line in text.splitlines()}) or [""]
TIMES = 16
"""How much longer the longer of two texts is."""

WITHIN = 60_000
"""About as much as is looked at of a text."""

MAX_RATIO = TIMES**1.5
"""What is linear takes 16 times as long, what is quadratic 256 times: the bound is a factor of four from either."""

WORTH_COMPARING_MS = 8.0
"""Below, what is measured is the machine."""

MAX_DETAIL_LINES = 41
MAX_DETAIL_LINE = 2 * MAX_DETAIL
"""Many failures in one text have more and longer lines than one failure."""

colours = st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b[1;33m", "\x1b[38;5;9m", "\x1b[K"])
words = st.sampled_from([*markers(), "Error: ", "error[E0382]: ", "FAILED ", "  at ", "Caused by: ", "--> ", "E   "])
odd = st.text(max_size=12)


@st.composite
def half_lines(draw):
    """A line of the corpus, whole, cut at either end, doubled or with a marker in it."""
    line = draw(st.sampled_from(LINES))
    cut = draw(st.integers(0, len(line)))
    return draw(
        st.sampled_from([line, line[:cut], line[cut:], line * 2, line[:cut] + draw(words) + line[cut:], draw(words)])
    )


@st.composite
def blocks(draw):
    """Some consecutive lines of one output, maybe shuffled or repeated."""
    lines = SEEDS[draw(st.sampled_from(sorted(SEEDS)))].splitlines() or [""]
    start = draw(st.integers(0, len(lines)))
    block = lines[start : start + draw(st.integers(1, 40))]
    if draw(st.booleans()):
        random.Random(draw(st.integers(0, 99))).shuffle(block)
    return "\n".join(block * draw(st.integers(1, 3)))


pieces = st.one_of(half_lines(), blocks(), words, odd) if SEEDS else st.one_of(half_lines(), words, odd)
texts = st.lists(pieces, max_size=12).flatmap(
    lambda parts: st.sampled_from(["\n", "\n\n", " ", ""]).map(lambda joint: joint.join(parts))
)


def classified(text: str):
    return classify(RawError(text=text))


@given(text=texts)
@example(text="")
@example(text="\ufeff\x00\x1b[")
def test_facts_are_bounded_and_never_empty(text):
    """Whatever the text, it has a class: a type, one line of cause, and details within bounds."""
    found = classified(text)
    facts = found.facts

    assert found.key
    assert facts.type.strip()
    assert facts.cause.strip()
    assert facts.members >= 1
    assert len(facts.type) <= MAX_DETAIL
    assert len(facts.cause) <= MAX_CAUSE
    assert len(facts.details) <= MAX_DETAIL_LINES
    assert all(line.strip() and len(line) <= MAX_DETAIL_LINE for line in facts.details)
    assert [line for line in (facts.type, facts.cause, *facts.details) if "\n" in line or "\r" in line] == []


@given(text=texts)
def test_classes_are_the_same_each_time(text):
    """Nothing depends on what was seen before."""
    first = classified(text)
    forget()

    assert classified(text) == first


@given(text=texts)
@example(text="error: no such file\nhint: look elsewhere")
def test_a_first_digest_is_never_longer_than_its_text_and_the_mark(text):
    """An agent reads no more of an error than without us, but for the marks of its class, of secrets and of forgery."""
    digest = Ledger().observe("run", RawError(text=text, tool="bash")).text

    assert digest
    # What stands for a secret may be longer than it, and a line that begins like one of ours is quoted.
    whole = max(len(text), len(quoted_lines(redact(text))))
    assert not clean(text).strip() or len(digest) <= whole + len(" #0123")


@given(text=texts, colour=colours, places=st.lists(st.integers(0, 10_000), max_size=5))
def test_colours_change_no_class(text, colour, places):
    """What a terminal is told is not part of an error."""
    text = text.replace("\x1b", "")
    coloured = text
    for place in places:
        at = place % (len(coloured) + 1)
        if "\x1b" not in coloured[max(at - 12, 0) : at + 1]:
            coloured = coloured[:at] + colour + coloured[at:]

    assert classified(coloured).key == classified(text).key


@given(text=texts)
def test_carriage_returns_change_no_class(text):
    """Windows ends its lines with two characters."""
    text = re.sub(r"[\r\x1b]", "", text)

    assert classified(text.replace("\n", "\r\n")).key == classified(text).key


@given(text=texts, width=st.integers(1, 9))
def test_indentation_of_the_whole_changes_no_class(text, width):
    """A harness may quote an output."""
    text = re.sub(r"[\r\x1b]", "", text)
    indented = "\n".join(" " * width + line if line.strip() else line for line in text.split("\n"))

    assert classified(indented).key == classified(text).key


def _is_quadratic(short: str, long: str) -> bool:
    """
    Tell whether a longer text takes far more than as many times as long.
    """
    taken = cost(long)
    if taken < WORTH_COMPARING_MS or taken < MAX_RATIO * cost(short):
        return False
    return cost(long, rounds=5) > MAX_RATIO * cost(short, rounds=5)


def _quadratic(grow: Callable[[int], Iterable[Hostile]], size: int) -> list[str]:
    pairs = zip(grow(size // TIMES), grow(size), strict=True)
    return [long.name for short, long in pairs if _is_quadratic(short.text, long.text)]


@pytest.mark.cost
@pytest.mark.parametrize("name", some_of_each(3))
def test_time_grows_with_an_output_and_no_faster(name):
    """Sixteen times the lines, or one as many times as long, take about as many times as long."""
    assert _quadratic(lambda size: grown(name, SEEDS[name], size), WITHIN) == []


@pytest.mark.cost
def test_time_grows_with_runs_of_one_thing_and_no_faster():
    """Neither characters that patterns repeat over nor markers without what belongs to them take longer than others."""
    assert _quadratic(runs, WITHIN) == []


@pytest.mark.cost
@pytest.mark.parametrize("name", some_of_each(1))
def test_a_megabyte_takes_no_longer_than_its_length(name):
    """Most of it is not looked at; `make bench-quality` says how long it takes."""
    assert _quadratic(lambda size: grown(name, SEEDS[name], size), 1_000_000) == []
