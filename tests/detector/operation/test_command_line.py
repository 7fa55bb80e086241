"""The programs that a command line runs."""

from __future__ import annotations

import pytest

from otel_errcompact.detector.operation import invocations_of, last_command, operation_of
from tests.clock import costs_little


def programs_of(tool, arguments):
    """Return the programs that a call runs."""
    return [run.program for run in invocations_of(tool, arguments)]


def test_programs_of_a_pipeline():
    """All programs of a command line are named in their order."""
    assert programs_of("bash", "git log | grep x; sudo pytest | tail") == ["git log", "grep", "pytest", "tail"]


def test_nesting_of_shells_is_bounded():
    """
    Shells in shells are followed a few levels deep, then the shell is the program.
    """
    assert programs_of("bash", {"command": ["bash", "-c", """bash -c 'bash -c "bash -c ls"'"""]}) == ["bash -c"]


def test_of_very_many_words_the_first_are_read():
    """What stands behind the command is found all the same; a word of several lines is no target."""
    assert programs_of("bash", f"pytest {'a ' * 100}| tail") == ["pytest", "tail"]
    assert operation_of("bash", {"command": ["cat", "a\nb"]}) == operation_of("bash", {"command": ["cat"]})


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    ["a", "$(", "a$(b", "'", '"', "\\", "<<a\n", "<< ", "|", "sudo ", "bash -c '", "\n#", "((", "x=", "-", "if "],
)
def test_hostile_command_costs_little(unit: str):
    """
    Only the beginning of a command line is looked at.
    """
    command = unit * 100_000

    assert costs_little(lambda: programs_of("bash", command))
    assert costs_little(lambda: operation_of("bash", {"command": [unit] * 100_000}))


def test_the_last_command_of_an_argument_vector():
    """
    A call without a shell runs one command; what is no word of it is left out.
    """
    assert last_command("exec", {"command": ["env", "A=1", "grep", "-q", 5, "x"]}) == ("grep", "-q", "x")
