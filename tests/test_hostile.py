"""Laws that hold for any text at all, drawn from pieces of what real tools say, and the time that grown texts take."""

from __future__ import annotations

import random
import re
from itertools import pairwise
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
    from collections.abc import Iterable, Sequence

    from benchmarks.quality.hostile import Hostile

SEEDS = seeds()
LINES = sorted({line for text in SEEDS.values() for line in text.splitlines()}) or [""]
SIZES = (15_000, 30_000, 60_000)
"""Sizes within what is looked at of a text; each is twice the one before."""

MAX_RATIO = 3.0
"""What is linear takes twice as long for twice the text, what is quadratic four times."""

WORTH_COMPARING_MS = 8.0
"""Below, what is measured is the machine."""

GUARD_MS = 2_000.0
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


def _is_quadratic(texts: Sequence[str]) -> bool:
    """
    Tell whether doubling a text twice takes far more than twice as long each time.
    """
    taken = cost(texts[-1])
    if taken < WORTH_COMPARING_MS or taken < MAX_RATIO * cost(texts[-2]):
        return False
    times = [cost(text, rounds=5) for text in texts]
    return all(after > MAX_RATIO * before for before, after in pairwise(times))


def _quadratic(makers: Iterable[Sequence[Hostile]]) -> list[str]:
    return [sizes[0].name for sizes in makers if _is_quadratic([made.text for made in sizes])]


@pytest.mark.cost
@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", some_of_each(3))
def test_time_grows_with_an_output_and_no_faster(name):
    """Twice the lines, or one twice as long, take about twice the time."""
    assert _quadratic(zip(*(grown(name, SEEDS[name], size) for size in SIZES), strict=True)) == []


@pytest.mark.cost
@pytest.mark.usefixtures("untraced")
def test_time_grows_with_runs_of_one_thing_and_no_faster():
    """Neither characters that patterns repeat over nor markers without what belongs to them take longer than others."""
    assert _quadratic(zip(*(runs(size) for size in SIZES), strict=True)) == []


@pytest.mark.cost
@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", some_of_each(1))
def test_a_megabyte_takes_no_time_to_speak_of(name):
    """Far below the guard; `make bench-quality` says how far."""
    for made in grown(name, SEEDS[name], 1_000_000):
        assert cost(made.text) < GUARD_MS, made.name
