"""The output of a program that another one repeats."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Facts
from otel_errcompact.extract import recognition
from otel_errcompact.extract.recognition import facts_of_output
from tests.extract.reading import facts


def test_the_table_reads_it():
    """The output is read without its indentation, by the first format of the table that recognises it."""
    found = facts_of_output(["", "    cat: a: No such file or directory", "      (see log)", ""])
    assert isinstance(found, Facts)
    assert (found.format, found.type) == ("shell", "ENOENT")


def test_nothing_to_read():
    """An empty output, and one that only the last resort takes, have no facts unless any text counts."""
    assert facts_of_output(["", "  "]) is None
    assert facts_of_output(["all is well"]) is None
    found = facts_of_output(["all is well"], any_text=True)
    assert found is not None
    assert (found.format, found.cause) == ("prose", "all is well")


def step(command: str, *output: str) -> tuple[str, ...]:
    """Return the output of a failed step as docker repeats it."""
    end = f'#5 ERROR: process "/bin/sh -c {command}" did not complete successfully: exit code: 2'
    return (f" > [2/2] RUN {command}:", *output, "------", end)


def test_output_inside_output():
    """What a step of a build ran is read by its own format; the outer format names the facts."""
    found = facts(*step("migrate", "Parse error near line 2: no such table: order_lines"))
    assert (found.format, found.type, found.cause) == ("docker", "SQLiteError", "no such table: order_lines")


def test_no_format_reads_inside_its_own_output():
    """A build inside a build is words of the outer one."""
    found = facts(*step("docker build .", *step("cat a", "cat: a: No such file or directory")))
    assert (found.format, found.type) == ("docker", "ENOENT")


def test_depth_is_limited(monkeypatch):
    """Outputs that stand too deep in others are not looked into."""
    monkeypatch.setattr(recognition, "MAX_DEPTH", 0)
    found = facts(*step("cat a", "cat: a: No such file or directory"))
    assert (found.format, found.type) == ("docker", "exit code 2")


def test_cause_that_announces_lines():
    """What a cause with a colon announces stands with it, and alone it stays as it is."""
    heading = '[!] CocoaPods could not find compatible versions for pod "Utilities":'
    found = facts(heading, "  In snapshot (Podfile.lock):", "    Utilities (= 7.11)", "", "  other")
    assert found.cause.endswith('for pod "Utilities": In snapshot (Podfile.lock): Utilities (= 7.11)')
    assert found.key_cause.startswith(facts(heading).cause)


def test_progress_before_an_output_hides_no_braces():
    """What a brace opens belongs together, so that it is no progress."""
    found = facts("----", "{", "  orders: no such table", "}")
    assert (found.format, found.cause) == ("prose", "orders: no such table")


ROWS = '"rows": [{"name": "a", "reason": "create a at 17"}], "failed": 0'


@pytest.mark.parametrize("answer", [f"{{{ROWS}}}", "{\n  " + ROWS.replace(", ", ",\n  ") + "\n}"])
def test_what_was_answered_before_a_failure_is_not_its_cause(answer: str):
    """Rows of data have names and texts, as errors do; an object that says that it failed is read."""
    found = facts(f"$ ./plan\n{answer}\n\n$ ./push\nerror: push: no chunks\n")
    assert found.cause == "push: no chunks"
    assert facts(answer).format == "prose"
    assert facts(answer.replace("rows", "errors")).format == "http"
