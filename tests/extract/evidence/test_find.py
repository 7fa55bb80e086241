"""The evidence: lines that a reader needs besides the facts, in the order of the text."""

from __future__ import annotations

from otel_errcompact.errors import Facts, Location
from otel_errcompact.extract.evidence.find import MAX_EVIDENCE, find_evidence

CAUSE = Facts(type="E7", cause="cannot align sample a", location=Location(file="Snakefile", line=12))


def shown(text: str, facts: Facts = CAUSE) -> list[str]:
    """Return the lines of the evidence."""
    return [found.line for found in find_evidence(text.splitlines(), facts)]


def weights(text: str, facts: Facts = CAUSE) -> dict[str, int]:
    """Return the weight of each line of the evidence."""
    return {found.line: found.weight for found in find_evidence(text.splitlines(), facts)}


def test_what_the_facts_hold_is_left_out() -> None:
    """A line is said already if the facts hold all its words of substance, whatever stands between them."""
    text = "[E7] Cannot align sample 'a'!\n  at line 12 of the file Snakefile\nmissing reads/a_1.fastq"
    assert shown(text) == ["missing reads/a_1.fastq"]


def test_lines_around_a_failure_have_no_weight() -> None:
    """Frames, progress, rules, success, information and closing words never become evidence."""
    text = (
        "=====\n[1/2] Loading\nINFO: pool of 3\n✓ checked 12 files\nreason: disk sda1 is full\n\n\n"
        "   at x.y (z.js:3:1)\nSee the log for details\nexited with status 3"
    )
    assert shown(text) == ["reason: disk sda1 is full"]


def test_evidence_keeps_the_order_of_the_text() -> None:
    """The heavier line may come later."""
    text = "profile: fast\nexpected 'int', got 'str' at conf/a.yml:3"
    assert shown(text) == text.splitlines()
    found = weights(text)
    assert found["profile: fast"] < found["expected 'int', got 'str' at conf/a.yml:3"]


def test_lines_near_the_cause_weigh_more() -> None:
    """What stands beside the cause, or indented below it, belongs to it."""
    text = "queue: blue\n\n\n\ncannot align sample a\n    reads: none\n  deep\n  deeper\n  owner: red\nqueue: green"
    found = weights(text)
    assert found["reads: none"] > found["owner: red"] > found["queue: blue"] == found["queue: green"]


def test_alike_lines_are_counted() -> None:
    """Lines that differ in numbers alone cost three lines, and the rest is counted."""
    found = shown("\n".join(f"block {number} is damaged" for number in range(60, 100)))
    assert found == ["block 60 is damaged (and 37 alike)", "block 61 is damaged", "block 62 is damaged"]


def test_names_in_alike_lines_are_kept() -> None:
    """Items of a list differ in what they name."""
    names = ("email", "age", "city", "street", "phone")
    assert shown("\n".join(f"{name}: Field required" for name in names)) == [
        f"{name}: Field required" for name in names
    ]


def test_a_long_line_is_read_in_parts() -> None:
    """One line of many sentences yields those that say something new."""
    text = f"{'cannot align sample a. ' * 30}The disk 'sda1' has 0 bytes left. {'cannot align sample a. ' * 30}"
    (line,) = shown(text)
    assert "The disk 'sda1' has 0 bytes left." in line


def test_evidence_is_bounded() -> None:
    """The heaviest lines stay, whatever the length of the text."""
    words = [f"{chr(97 + a)}{chr(97 + b)}x" for a in range(26) for b in range(26)]
    text = "\n".join([*words, "expected 'red', got 'blue'"])
    found = find_evidence(text.splitlines(), CAUSE)
    assert len(found) == MAX_EVIDENCE
    assert found[-1].line == "expected 'red', got 'blue'"


def test_a_command_near_the_cause_is_evidence() -> None:
    """Which command failed is needed to repeat it, and a frame beside a cause is a place."""
    text = "$ align --fast\ncannot align sample a\n   at run (tools/align.js:7:3)\n   at main (tools/main.js:9:1)"
    assert shown(text) == ["$ align --fast", "at run (tools/align.js:7:3)", "at main (tools/main.js:9:1)"]


def test_a_trailer_is_evidence_where_it_names_a_place() -> None:
    """The line of a makefile is the place of the failing command."""
    assert shown("make: *** [Makefile:3: all] Error 2\nBuild failed") == ["make: *** [Makefile:3: all] Error 2"]
