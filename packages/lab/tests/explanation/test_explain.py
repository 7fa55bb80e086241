"""`explain` says why a raw error has its facts, its key and its digest, and nothing that is not so."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from hashlib import blake2b

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.compactor.hints import hint_for
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.extract.recognition import ATTEMPTS
from otel_errcompact_lab.explanation import explain
from otel_errcompact_lab.explanation.model import Asked, Cut, Fact, Mask, Secret, Step
from tests.extract.corpus import CASES, Case, observe
from tests.redaction.test_written import CORES, WRITTEN

TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/app.py", line 3, in load
    raise KeyError("id")
KeyError: 'user 4711'
"""
SAMPLE = CASES[::9]
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_it_says_what_the_library_does(case: Case) -> None:
    """Facts, template, key, hint and digest are those of the pipeline, over a sample of all formats."""
    found, classified = explain(case.text, tool="bash"), classify(RawError(text=case.text, tool="bash"))
    facts = classified.facts
    assert [(fact.name, fact.value) for fact in found.facts] == [
        ("type", facts.type), ("location", str(facts.location)), ("cause", facts.cause),
        *(("details", line) for line in facts.details), *(("tally", line) for line in (facts.tally,) if line),
    ]  # fmt: skip
    assert (found.format, found.template, found.key) == (facts.format, classified.template, classified.key)
    material = "\x1f".join(found.material.values())
    assert blake2b(material.encode(), digest_size=8).hexdigest() == found.key
    assert found.digest == Ledger(Options()).observe("run", RawError(text=case.text, tool="bash")).text
    assert found.hint == hint_for(facts, may_retry=found.kind != "transient, perhaps executed")


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_what_it_names_is_there(case: Case) -> None:
    """Masks stand in the cause, cuts hold lines, and a format that is named as source took a text."""
    found = explain(case.text, tool="bash")
    classified = classify(RawError(text=case.text, tool="bash")).facts
    took = {f"format {asked.format}" for asked in found.asked if asked.took}
    assert {fact.source.partition(" inside ")[0] for fact in found.facts if fact.source.startswith("format")} <= took
    assert all(mask.text in classified.keyed_cause for mask in found.masks if mask.rule not in {"tail", "labelled_id"})
    assert all(cut.lines > 0 and cut.example for cut in found.cuts)
    assert classified.format in {asked.format for asked in found.asked if asked.took} or not found.asked


def test_each_layer_that_came_off_is_named() -> None:
    """In the order in which it came off, with the first line that it changed."""
    found = explain("web-1  | \x1b[31mValueError: bad\x1b[0m port 8x\nweb-1  | at start\n")
    assert found.steps == (
        Step("colours", 60, 51, "web-1 | ValueError: bad port 8x"),
        Step("blanks around", 51, 50, ""),
        Step("prefixes of lines", 50, 32, "web-1 | ValueError: bad port 8x"),
    )
    assert [step.name for step in explain('{"stderr": "boom", "exit_code": 3}').steps] == ["envelope"]


def test_the_formats_that_were_asked_stand_in_their_order() -> None:
    """With their markers in the text, and what they made of it; those behind the one that took it were not asked."""
    found = explain(TRACEBACK)
    assert found.asked == (
        Asked("harness", "", (), 4, took=False),
        Asked("python", "", ('File "', "Traceback (most recent call last):"), 4, took=True),
    )
    assert "infra" in found.unasked


def test_a_fact_has_its_lines_and_its_source() -> None:
    """The lines of the cleaned text that hold its words; the arguments where these named the file."""
    assert explain(TRACEBACK).facts == (
        Fact("type", "KeyError", (3, 4), "format python"),
        Fact("location", "load (/srv/app.py:3)", (2,), "format python"),
        Fact("cause", "'user 4711'", (4,), "format python"),
    )
    found = explain("Error: file not found", tool="read", arguments='{"path": "src/a.py"}')
    assert found.facts[1] == Fact("location", "src/a.py", (), "arguments of the call")


def test_output_inside_output_is_read_by_another_format() -> None:
    """It is named with the format that was reading around it."""
    found = explain("./gen: No such file or directory\nmake: *** [Makefile:2: all] Error 127\n", tool="bash")
    took = [(asked.format, asked.inside) for asked in found.asked if asked.took]
    assert took == [("shell", "make"), ("make", "")]
    assert found.facts[2] == Fact("cause", "./gen: No such file or directory", (1,), "format shell inside make")


@pytest.mark.parametrize(
    ("text", "given", "outcome", "certainty", "reason", "closing"),
    [
        ("boom", {"exit_code": 2}, "failure", "declared", "exit code 2", ""),
        ("boom", {"flagged": True}, "failure", "declared", "flagged by the tool", ""),
        ("boom", {}, "success", "none", "", ""),
        ("Request interrupted by user", {}, "ignored", "none", "declined by the user", ""),
        ("x\nFAILED (failures=1)", {"arguments": "python -m unittest | tail"}, "failure", "stated",
         "stated by unittest", "FAILED (failures=1)"),
    ],
)  # fmt: skip
def test_it_says_by_whom_a_failure_is_known(
    text: str, given: dict[str, object], outcome: str, certainty: str, reason: str, closing: str
) -> None:
    """Declared by a status or a flag, or stated by the closing words of a program."""
    found = explain(text, tool="bash", **given)
    assert (found.outcome, found.certainty, found.reason, found.closing) == (outcome, certainty, reason, closing)


@pytest.mark.parametrize(
    ("text", "given", "kind", "words"),
    [
        ("HTTP 429 Too Many Requests", {}, "transient", "status 429"),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", {}, "transient", "econnrefused"),
        ("Error: database is locked, try again in 5 s", {}, "transient", "try again in 5 s"),
        ("", {"exit_code": 124}, "transient, perhaps executed", "exit code 124"),
        ("Unknown tool: serach_web", {}, "rejected", "UnknownTool"),
        ("KeyError: 'a'", {}, "executed", ""),
    ],
)
def test_it_says_by_which_words_waiting_helps(text: str, given: dict[str, int], kind: str, words: str) -> None:
    """Or by which nothing was executed."""
    found = explain(text, tool="bash", **given)
    assert (found.kind, found.kind_words) == (kind, words)


def test_each_mask_has_its_rule() -> None:
    """With the text that it masked, ids behind labels and at the end included."""
    found = explain("ValueError: user 4711 of 10.0.0.5:38991 has request_id=8f3a9b1c2d77aa01 (tid: 99887766)")
    assert found.template == "user <num> of <ip>:<port> has request_id=<id>"
    assert found.masks == (
        Mask("labelled_id", "id=8f3a9b1c2d77aa01", "id=<id>"),
        Mask("labelled_id", "id: 99887766", "id: <id>"),
        Mask("number", "4711", "<num>"),
        Mask("ip", "10.0.0.5:38991", "<ip>:<port>"),
        Mask("tail", " (tid: <id>)", ""),
    )


def test_a_secret_is_named_and_never_shown() -> None:
    """Its kind, how often, and the finder that knows it; the raw lines of steps are redacted too."""
    found = explain(f"web-1  | ValueError: bad token {TOKEN}\nweb-1  | at {TOKEN}\n", tool="bash")
    assert found.secrets == (Secret("github_token", 2, ("issued",)),)
    assert TOKEN not in repr(astuple(found))


def test_what_stands_before_an_all_passed_tally_is_not_read() -> None:
    """It came off, and lines are counted behind it."""
    text = "a.py warned\n===== 3 passed in 0.10s =====\nmkdir: cannot create directory 'x': File exists"
    found = explain(text, tool="bash")
    assert found.steps == (Step("what stands before an all-passed tally", 89, 77, "a.py warned"),)
    assert found.facts[2].lines == (2,)


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_what_redaction_hides_stands_in_no_explanation(text: str) -> None:
    """But for what the agent itself reads; no step shows what an envelope has kept from redaction."""
    for raw in (text, f"web-1  | {text}\nweb-1  | boom", json.dumps({"stderr": text, "exit_code": 1})):
        found = explain(raw, tool="bash")
        shown = repr(replace(found, digest=""))
        assert [core for core in CORES if core in shown and core not in found.digest] == []
    assert [core for core in CORES if core in repr(found.steps)] == []


def test_lines_that_the_agent_does_not_read_have_a_kind() -> None:
    """Frames, progress and the like; of a short text nothing is cut."""
    frames = "".join(f'  File "/usr/lib/python3.12/a{n}.py", line {n}, in f{n}\n    call{n}()\n' for n in range(60))
    long = TRACEBACK.replace("  File", f"{frames}  File", 1)
    cuts = explain(long, tool="bash", exit_code=1).cuts
    assert Cut("frames of a stack", 62, "Traceback (most recent call last):") in cuts
    assert explain(TRACEBACK).cuts == ()


def test_a_hint_has_the_words_that_it_is_for() -> None:
    """The sign that matched in type and cause."""
    found = explain("bash: line 1: jqq: command not found", tool="bash", exit_code=127)
    assert (found.hint, found.hint_words) == ("the program is not installed or not on PATH", "command not found")


def test_nothing_is_noted_where_no_one_asks() -> None:
    """Formats note what they return in the context of an explanation alone."""
    explain(TRACEBACK)
    assert ATTEMPTS.get() is None
    assert observe(TRACEBACK).found.key == explain(TRACEBACK, tool="bash").key
