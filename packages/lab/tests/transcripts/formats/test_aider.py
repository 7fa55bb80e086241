"""What is read of aider's chat histories."""

from __future__ import annotations

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read
from otel_errcompact_lab.transcripts.formats import aider
from tests.clock import grows_linearly

T0 = 1_772_445_600_000_000_000
MS = 1_000_000


def read_chat(folder, *lines):
    """Write one chat and read it."""
    path = folder / ".aider.chat.history.md"
    path.write_text("\n".join(["", "# aider chat started at 2026-03-02 10:00:00", "", *lines, ""]))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def test_each_start_of_the_program_is_a_run(sample):
    """A run is named by its start."""
    assert [(run.run_id, run.agent, len(run.calls)) for run in sample(".aider.chat.history.md")] == [
        ("2026-03-02 10:00:00", "aider", 5),
        ("2026-03-02 11:00:00", "aider", 1),
    ]


def test_tests_that_failed_are_a_call(sample):
    """The command is the arguments, its output the result, without aider's marks; made-up times follow the start."""
    run = sample(".aider.chat.history.md")[0]
    assert run.calls[3] == RecordedCall(
        tool="test",
        arguments="pytest -q",
        result="FAILED cart_test.py::test_sum\n1 failed in 0.1s",
        flagged=True,
        start_ns=T0 + 6 * MS,
        end_ns=T0 + 7 * MS,
        line=48,
        context_tokens=119,
    )


def test_edits_and_lints_are_calls(sample):
    """A failure of which the model is told counts once, one of which only the user is told counts as well."""
    run = sample(".aider.chat.history.md")[0]
    assert [(call.tool, call.flagged, call.result.splitlines()[0]) for call in run.calls] == [
        ("edit", True, "# 1 SEARCH/REPLACE block failed to match!"),
        ("edit", False, "Applied edit to cart.py"),
        ("lint", True, "# Fix any errors below, if possible."),
        ("test", True, "FAILED cart_test.py::test_sum"),
        ("edit", False, "Applied edit to cart.py"),
    ]
    assert [call.arguments.splitlines()[0] for call in run.calls] == [
        "Here it is:",
        "Once more.",
        "flake8 cart.py",
        "pytest -q",
        "I see.",
    ]


def test_a_command_of_the_user_may_have_succeeded(sample):
    """Of a command that the user ran the record does not say how it ended."""
    (call,) = sample(".aider.chat.history.md")[1].calls
    assert (call.tool, call.arguments, call.result, call.flagged) == (
        "run",
        "ls none",
        "ls: cannot access 'none'",
        None,
    )


def test_a_failed_edit_of_which_only_the_user_is_told(tmp_path):
    """After the last attempt the model is told no more; of a text of many lines only the first is marked."""
    run = read_chat(
        tmp_path,
        "#### Mend it  ",
        "",
        "Done.",
        "",
        "> The LLM did not conform to the edit format.  ",
        "> # 1 SEARCH/REPLACE block failed to match!",
        "",
        "total = 1",
        "> Only 3 reflections allowed, stopping.  ",
        "#### Thanks  ",
    )
    assert [(call.tool, call.flagged, call.arguments) for call in run.calls] == [("edit", True, "Done.")]
    assert "total = 1" in run.calls[0].result


def test_a_failure_in_words_that_are_not_known_is_passed_on_once(tmp_path):
    """What the model is told is known by what the user was told before."""
    run = read_chat(
        tmp_path,
        "> The LLM did not conform to the edit format.  ",
        "> Unpaired ... in SEARCH/REPLACE block  ",
        "#### Unpaired ... in SEARCH/REPLACE block  ",
    )
    assert [(call.tool, call.result) for call in run.calls] == [("edit", "Unpaired ... in SEARCH/REPLACE block")]


def test_a_failure_is_noted_before_the_next(tmp_path):
    """Two failures of which only the user is told are two."""
    run = read_chat(
        tmp_path,
        "> # Fix any errors below, if possible.  ",
        "> E1  ",
        "",
        "#### go on",
        "> # Fix any errors below, if possible.  ",
        "> E2  ",
    )
    assert [call.result.splitlines()[1] for call in run.calls] == ["E1", "E2"]


def test_context_counts_what_the_model_saw(tmp_path):
    """User and model count; what only the user is told does not."""
    run = read_chat(tmp_path, "#### " + "x" * 8, "", "x" * 12, "", "> " + "x" * 400)
    assert run.context_tokens == 2 + 3


def test_a_start_that_is_no_time_is_a_name(tmp_path):
    """A broken time makes no difference but to the made-up times."""
    path = tmp_path / "history.md"
    path.write_text("# aider chat started at once\n> Applied edit to a.py\n")
    (run,) = read(path, on_problem=pytest.fail)
    assert (run.run_id, run.calls[0].start_ns) == ("once", 946_684_800_000_000_000)


def test_invalid_bytes_are_told_with_their_line(tmp_path):
    """A line that is not UTF-8 is a problem, and is read."""
    path = tmp_path / "history.md"
    path.write_bytes(b"# aider chat started at once\n> Applied edit to \xe9.py\n")
    problems = []
    (run,) = read(path, on_problem=problems.append)
    assert (run.calls[0].result, [str(problem).removeprefix(str(path)) for problem in problems]) == (
        "Applied edit to \ufffd.py",
        [":2: is not valid UTF-8 (byte 19); the invalid bytes read as U+FFFD"],
    )


def test_what_the_user_runs_is_a_call_with_what_was_printed(tmp_path):
    """`/run`, `!` and `/test`; what aider tells of an output itself is no output, and tests are kept if they failed."""
    run = read_chat(
        tmp_path,
        "#### /run pytest -q  ",
        "> FAILED cart_test.py::test_sum  ",
        "> 1 failed in 0.1s  ",
        "> Add 0.1k tokens of command output to the chat? (Y)es/(N)o [Yes]: y  ",
        "> Added 2 lines of output to the chat.  ",
        "",
        "#### !ls none  ",
        "> ls: cannot access 'none'  ",
        "",
        "#### /test make check  ",
        "> make: *** [check] Error 2  ",
        "",
        "#### /run true  ",
        "> Added 0 lines of output to the chat.  ",
    )
    assert [(call.tool, call.arguments, call.result, call.flagged) for call in run.calls] == [
        ("run", "pytest -q", "FAILED cart_test.py::test_sum\n1 failed in 0.1s", None),
        ("run", "ls none", "ls: cannot access 'none'", None),
        ("test", "make check", "make: *** [check] Error 2", True),
    ]


@pytest.mark.parametrize("command", ["cart.py", "/run flake8", "sum"])
def test_the_next_command_of_the_user_is_no_result(tmp_path, command):
    """Although its words stand in the failure before it."""
    run = read_chat(
        tmp_path,
        "> # Fix any errors below, if possible.  ",
        "> ## Running: flake8 cart.py  ",
        "> cart.py:1:1: F821 undefined name 'sum'  ",
        "",
        f"#### {command}  ",
        "",
        "Fine.",
    )
    assert [(call.tool, call.result.splitlines()[-1]) for call in run.calls] == [
        ("lint", "cart.py:1:1: F821 undefined name 'sum'")
    ]


@pytest.mark.parametrize("before", [["Notes of mine", ""], ["", "<<<<<<< HEAD", *["- a note"] * 3_000]])
def test_text_before_the_first_header_is_passed_over(tmp_path, before):
    """However long; without a word of a user it is no chat."""
    path = tmp_path / ".aider.chat.history.md"
    path.write_text("\n".join([*before, "# aider chat started at 2026-03-02 10:00:00", "", "#### hi", "", "Hello."]))
    (run,) = read(path, on_problem=pytest.fail)
    assert run.run_id == "2026-03-02 10:00:00"


def test_the_rest_of_a_chat_before_the_first_header_is_a_run(tmp_path):
    """A history that was cut at its beginning."""
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(
        "and so on\n\n#### !ls none\n> ls: cannot access 'none'\n\n"
        "# aider chat started at 2026-03-02 10:00:00\n\n#### hi\n"
    )
    first, second = read(path, on_problem=pytest.fail)
    assert [(run.run_id, len(run.calls)) for run in (first, second)] == [
        (".aider.chat.history", 1),
        ("2026-03-02 10:00:00", 0),
    ]


@pytest.mark.cost
@pytest.mark.parametrize(
    "blank",
    [pytest.param("\n", id="newlines"), pytest.param(" \n", id="lines of blanks"), pytest.param(" ", id="blanks")],
)
def test_blank_lines_of_a_command_take_no_longer_than_others(blank):
    """The time grows as the text does, where the output that was announced is missing."""

    def matching(count):
        text = f"I ran this command:\n{blank * count}x"
        return lambda: [aider._RAN.match(text) for _ in range(20)]

    assert grows_linearly(matching, small=200)


def test_what_a_command_printed_keeps_its_indentation(tmp_path):
    """Blank lines before and after are no part of it."""
    said = ("I ran this command:", "", "make test", "", "And got this output:", " ", "", "  boom", "make: *** Error 2")
    run = read_chat(tmp_path, "#### /test", "", *(f"#### {line}  " for line in said), "")

    assert [(call.arguments, call.result) for call in run.calls] == [("make test", "  boom\nmake: *** Error 2")]
