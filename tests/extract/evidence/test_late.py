"""Evidence is gathered when it is looked at."""

from __future__ import annotations

import weakref

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import Evidence, RawError
from otel_errcompact.extract.evidence.late import MAX_KEPT, LateEvidence

LINES = (Evidence("rule 'toll' has no rate", 5), Evidence("zone 4", 1))


def test_it_equals_the_tuple_of_what_is_gathered() -> None:
    """Whoever looks at it sees the lines, in their order."""
    late = LateEvidence(lambda: LINES)
    assert late == LINES
    assert late == LateEvidence(lambda: LINES)
    assert late != LINES[:1]
    assert (list(late), len(late), late[1], late[:1]) == ([*LINES], 2, LINES[1], LINES[:1])
    assert (hash(late), repr(late)) == (hash(LINES), repr(LINES))


def test_it_is_gathered_once_and_lets_go_of_the_text() -> None:
    """What it was gathered from is not kept beside it."""

    class Source:
        looks = 0

        def __call__(self) -> tuple[Evidence, ...]:
            Source.looks += 1
            return LINES

    source = Source()
    late, alive = LateEvidence(source), weakref.ref(source)
    del source
    assert (len(late), len(late), Source.looks) == (2, 2, 1)
    assert alive() is None


def test_a_key_gathers_no_evidence() -> None:
    """A text of which only the key is asked is not looked through, and a long one is not kept for later."""
    steps = "\n".join(f"Downloading package {letter * 7} from the mirror" for letter in "abcdefghijkl")
    said = "error: expected a rate at conf/app.yml:14, got 'x', retry attempts: 4"
    raised = "Traceback (most recent call last):\n  File \"/app/load.py\", line 3, in load\nKeyError: 'user_id'"
    late = classify(RawError(text=f"{said}\n{steps}\n{raised}")).facts.evidence
    assert isinstance(late, LateEvidence)
    at_once = classify(RawError(text=f"{said}\n{steps * (MAX_KEPT // len(steps) + 1)}\n{raised}")).facts.evidence
    assert isinstance(at_once, tuple)
    assert [line for line, _ in late] == [line for line, _ in at_once] == [said]
