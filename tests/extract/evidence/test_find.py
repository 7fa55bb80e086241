"""The evidence: lines that a reader needs besides the facts, in the order of the text."""

from __future__ import annotations

from dataclasses import replace

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
    text = "profile: 'fast' 3\nexpected 'int', got 'str' at conf/a.yml:3"
    assert shown(text) == text.splitlines()
    found = weights(text)
    assert found["profile: 'fast' 3"] < found["expected 'int', got 'str' at conf/a.yml:3"]


def test_lines_near_the_cause_weigh_more() -> None:
    """What stands beside the cause, or indented below it, belongs to it."""
    text = (
        "queue: 'blue' 1\n\n\n\ncannot align sample a\n    reads: 'none' 2\n  deep\n  deeper\n  owner: 'red' 3\n"
        "queue: 'green' 4"
    )
    found = weights(text)
    assert found["reads: 'none' 2"] > found["owner: 'red' 3"] > found["queue: 'blue' 1"] == found["queue: 'green' 4"]


def test_rows_of_a_table_are_evidence() -> None:
    """They begin with a number and a bar as lines of code do, and have more than one bar."""
    text = "cannot align sample a\n  4 | ean | 401 | must have 8 digits\n  5 | return ean(401)"
    assert shown(text) == ["4 | ean | 401 | must have 8 digits"]


def test_alike_lines_are_counted() -> None:
    """Lines that differ in numbers alone cost three lines, and the rest is counted."""
    found = shown("\n".join(f"block {number} is damaged" for number in range(60, 100)))
    assert found == ["block 60 is damaged (and at least 37 alike)", "block 61 is damaged", "block 62 is damaged"]


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
    text = "\n".join([*(f"{word} = '{word}7'" for word in words), "expected 'red', got 'blue'"])
    found = find_evidence(text.splitlines(), CAUSE)
    assert len(found) == MAX_EVIDENCE
    assert found[-1].line == "expected 'red', got 'blue'"


def test_another_line_number_is_no_evidence() -> None:
    """What the facts say at another place, or with another share, is said; a value that is compared is not."""
    text = "Snakefile:13: cannot align sample a (E7) 40\ncannot align sample a, got 7\ncannot align sample = 9"
    assert shown(text) == ["cannot align sample a, got 7", "cannot align sample = 9"]


def test_the_source_below_a_frame_is_no_evidence() -> None:
    """It stands at the place that the frame names, and may hold the name of any error."""
    text = (
        'cannot align sample a\n  File "align.py", line 3, in align\n    raise BadReads(reads=3)\n           ^^^^\n'
        "    at run (align.js:3:1)\n        throw bad(reads)\nreads: 'none' 3"
    )
    assert shown(text) == ["reads: 'none' 3"]


def test_of_markup_the_text_counts() -> None:
    """Names of tags and attributes are not what a page says."""
    assert shown("<div class='x'><p>cannot align sample a</p></div>\n<p id='3'>disk sda1 is full</p>") == [
        "<p id='3'>disk sda1 is full</p>"
    ]


def test_beside_a_format_only_heavy_lines_are_evidence() -> None:
    """A format that knows its texts has left out what is noise in them."""
    known = replace(CAUSE, format="pytest")
    text = "profile: fast\nsetup.cfg:3: expected 'int', got 'str'"
    assert shown(text, known) == ["setup.cfg:3: expected 'int', got 'str'"]


def test_beside_the_facts_of_any_other_format_light_lines_are_left_out() -> None:
    """One that reads outputs of many programs may have missed what is needed."""
    known = replace(CAUSE, format="maven")
    text = "a heading\nprofile: fast\nreads is pinned to 'v2'"
    assert shown(text, known) == ["reads is pinned to 'v2'"]


def test_a_version_is_no_place() -> None:
    """A range of numbers is a value, even if all words around it are known."""
    assert shown("cannot align\n  sample a (~> 7.13)\n  sample a (>=8.0)\n  sample a 9") == [
        "sample a (~> 7.13)",
        "sample a (>=8.0)",
    ]


def test_each_side_of_a_conflict_is_evidence() -> None:
    """The same names and numbers stand in many lines, and each pair of them counts."""
    text = "cannot align\nauth ~> 8.0.1 and mail ~> 7.1\n  mail requires (~> 8.0.1)\nmail 7.1, auth 8.0.1"
    assert shown(text) == ["auth ~> 8.0.1 and mail ~> 7.1", "mail requires (~> 8.0.1)"]


def test_labels_of_one_answer_are_no_evidence() -> None:
    """Ids, times and headers differ in every answer; a label whose values stand below it says nothing."""
    text = (
        "x-request-id: req_01HZ\nDate: 2026-11-20T09:14:02Z\nContent-Type: text/html\n"
        '"span_id": "7f3e2c1a9b4d4e",\n"loc": [\n"reads": "none"\nNode.js v20.20.2'
    )
    assert shown(text) == ['"reads": "none"']


def test_a_tag_ends_in_its_line() -> None:
    """A sign that opens a tag in one line and one that closes it in another are no tag."""
    assert shown("limit <a is 3\nb> floor is 4") == ["limit <a is 3", "b> floor is 4"]


def test_no_line_at_all() -> None:
    """Without a line there is no evidence."""
    assert shown("") == shown("\n \n") == []


def test_a_listing_of_a_file_is_no_evidence() -> None:
    """Lines with one number after the other can be read again at their place."""
    listing = "\n".join(f"{number}|price{number} = rate('vat', {number})" for number in range(41, 46))
    assert shown(f"rejected by the hook 'lint'\n{listing}\nreason: disk sda1 is full") == [
        "rejected by the hook 'lint'",
        "reason: disk sda1 is full",
    ]


def test_a_numbered_list_of_failures_is_evidence() -> None:
    """Numbers before statements of what failed count failures, and no lines of a file."""
    failures = [f"{number}: cannot open '{name}.csv'" for number, name in enumerate(("north", "east", "south", "west"))]
    assert shown("\n".join(failures)) == failures


def test_style_sheets_are_no_evidence() -> None:
    """A page in a comparison brings its style sheet along."""
    text = "reason: disk sda1 is full\n.cart7 { margin: 3px 1rem; color: #a0a0a0; padding: 4px; }"
    assert shown(text) == ["reason: disk sda1 is full"]


def test_the_cause_with_advice_is_no_evidence() -> None:
    """What follows the cause in its line and only asks for another attempt says nothing."""
    text = "cannot align sample a. Please read the message carefully and try again.\nreason: disk sda1 is full"
    assert shown(text) == ["reason: disk sda1 is full"]


def test_quoted_words_of_the_agent_are_no_evidence() -> None:
    """A harness has said what is wrong before it quotes what it was sent."""
    facts = Facts(type="StringNotFound", cause="no match", details=("> def total(cart):",), format="harness")
    assert shown("no match\ndef total(cart):\n    rate = find('vat')", facts) == []


def test_a_line_of_a_page_is_told_without_its_tags() -> None:
    """Markup costs more than the words inside."""
    page = "<div class='box'><p>upstream 'pay-7' is drained</p></div>"
    assert shown(f"{page}\nreason: disk sda1 is full")[0] == "upstream 'pay-7' is drained"


def test_a_word_that_was_cut_is_nothing_new() -> None:
    """A summary repeats the beginning of the cause."""
    text = "E7 - cannot align sampl...\nreason: disk sda1 is full"
    assert shown(text) == ["reason: disk sda1 is full"]


def test_the_source_of_a_warning_is_no_evidence() -> None:
    """The line below the place of a warning stands at that place."""
    text = "a/run7.py:3: FutureWarning: 'H' is deprecated\n  index = read(freq='H', rate=3)\nreason: disk sda1 is full"
    assert shown(text) == ["reason: disk sda1 is full"]


def test_what_pytest_writes_around_a_failure_is_no_evidence() -> None:
    """The versions of its plugins, the cause behind its mark, and the sentence between two tracebacks."""
    facts = Facts(type="KeyError", location=Location(), cause="no limit", format="pytest")
    lines = [
        "plugins: xdist-3.8.0, cov-7.1.0",
        "E   KeyError: no limit",
        "The above exception was the direct cause of the following exception:",
    ]
    assert find_evidence(lines, facts) == ()
