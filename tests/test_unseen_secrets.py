"""Texts that measure redaction, by an author who does not know its rules."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from benchmarks.secrets import __main__ as program
from benchmarks.secrets.kinds import KINDS
from benchmarks.secrets.measure import is_readable, measure, pairs
from benchmarks.secrets.unseen import halves
from benchmarks.secrets.unseen.honest import TEMPLATES, write

UNSEEN = halves.contexts("a") + halves.contexts("b")


def test_each_unseen_context_has_a_name_of_its_own_and_one_place_for_a_secret() -> None:
    """No unseen context has the name of another, each has one place, and a name where it says so."""
    assert max(Counter(context.name for context in UNSEEN).values()) == 1
    assert [context.name for context in UNSEEN if context.text.count("%V%") != 1] == []
    named = {context.name for context in UNSEEN if "%N%" in context.text}
    assert named == {context.name for context in UNSEEN if context.naming not in ("none", "text")}


def test_before_redaction_each_unseen_text_holds_its_secret_and_what_a_reader_needs() -> None:
    """What redaction is blamed for is in the text before it."""
    measured: set[str] = set()
    for pair in pairs(KINDS[::7], UNSEEN, 1):
        # A word of a few letters may be a part of a context's own words.
        if pair.refusal is not None or len(pair.value.text) < 8:
            continue
        raw = pair.context.fill(pair.kind, pair.value.text)
        seen = f"{raw}\0{pair.context.read(raw)}"
        assert any(is_readable(part, seen, "") for part in pair.value.parts), pair
        assert [part for part in pair.context.keeps if part not in seen] == [], pair
        measured.add(pair.context.name)
    assert len(measured) >= 250


def test_honest_lines_are_many_and_filled_in() -> None:
    """There are 700 templates of at most twelve lines, 6,000 lines, and no field is left in one."""
    texts = [write(template, Random(f"{template}/{number}")) for template in TEMPLATES for number in range(8)]
    assert len(TEMPLATES) >= 700
    assert max(text.count("\n") for text in texts) < 12
    assert [text for text in texts if re.search("[«»⏎]", text)] == []
    assert len({line for text in texts for line in text.split("\n")}) >= 6_000


def test_of_the_unseen_half_b_only_totals_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who tunes rules learns of half b how much is wrong, and of half a also where."""
    monkeypatch.setattr(program, "KINDS", KINDS[::40])
    printed = []
    for half in halves.HALVES:
        monkeypatch.setattr("sys.argv", ["secrets", "--unseen", half])
        assert program.main() == 0
        printed.append(capsys.readouterr().out)
    assert ["| context |" in each for each in printed] == [True, False]
    assert [context.name for context in UNSEEN if f"| {context.name} |" in printed[1]] == []
    assert all("honest lines change." in each for each in printed)


@pytest.mark.parametrize(
    ("half", "readable", "damaged", "hidden"),
    [pytest.param("a", 58, 0, 14, id="a"), pytest.param("b", 117, 34, 217, id="b")],
)
def test_of_unseen_texts_no_more_is_readable_or_hidden_than_was(
    half: str, readable: int, damaged: int, hidden: int
) -> None:
    """Of each tenth kind of secret, and of all honest lines; a ceiling only sinks."""
    cells = [measure(pair) for pair in pairs(KINDS[::10], halves.contexts(half), 1) if pair.refusal is None]
    assert sum(cell.leaked for cell in cells) <= readable
    assert sum(bool(cell.lost) for cell in cells) <= damaged
    assert len(halves.honesty(half, 1).changed) <= hidden
