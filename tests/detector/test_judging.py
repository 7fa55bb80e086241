"""The laws of judging: of any text, in a moment; a declaration decides, then a closing statement, and never words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.results import classify_result
from tests.clock import costs_little

CORPUS_FOLDER = Path(__file__).parents[2] / "corpus"
CORPUS = sorted(CORPUS_FOLDER.rglob("*.txt"))


@given(st.text(), st.text(), st.text(), st.none() | st.booleans(), st.none() | st.integers())
def test_any_result_is_judged(text: str, tool: str, arguments: str, flagged: bool | None, exit_code: int | None):
    """Judging raises for nothing, only a failure can be stated, and a success needs no reason."""
    verdict = classify_result(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)
    assert verdict.outcome in {"failure", "success", "ignored"}
    assert verdict.outcome == "failure" or not verdict.stated
    assert verdict.outcome != "success" or not verdict.reason


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "\r\n", "a\n", "a:1:", "a: ", "= ", "1 ", "FAILED ", "Exit", "<", "(no output)"]
)
def test_hostile_result_costs_little(unit: str):
    """A megabyte of anything is judged in a fraction of a second."""
    text = unit * (1_000_000 // len(unit))
    assert costs_little(lambda: classify_result(text, tool="bash", arguments="make"))
    assert costs_little(lambda: classify_result(text, exit_code=1, tool="bash", arguments="grep x"))


@pytest.mark.cost
@pytest.mark.parametrize("label", ["[Exit", "Wall time:", "Output:", "Chunk ID:"])
def test_a_line_of_labels_takes_no_longer_than_others(label: str):
    """Each label may have stood for the rest of the line, which was tried in all combinations: 20 took minutes."""
    text = f"{label} a " * 60 + "\nnothing else"
    assert costs_little(lambda: classify_result(text, tool="bash", arguments="make"))


def test_recorded_tool_errors(shared_data: Path):
    """In a recorded run all failures are found, and they are as many as a reader counted."""
    runs = json.loads((shared_data / "transcripts/openai_chat_taubench/gpt-4o-airline.json").read_text())
    said = [message for run in runs for message in run["traj"] if message["role"] == "tool"]
    failures = [each for each in said if classify_result(each["content"], tool=each["name"]).outcome == "failure"]
    assert len(said) == 1164
    assert len(failures) == 73


# --- declared, stated, or nothing -------------------------------------------------------------------------------------

TEXTS = {str(path.relative_to(CORPUS_FOLDER)): path.read_text("utf-8", "replace") for path in CORPUS}
TALLIES = {
    "pytest -q": "=============== 12 passed in 0.31s ===============",
    "python -m unittest": "Ran 12 tests in 0.310s\n\nOK",
    "npx jest": "Tests:       12 passed, 12 total",
    "npx vitest run": " Test Files  3 passed (3)\n      Tests  12 passed (12)",
    "npx mocha": "  12 passing (31ms)",
    "bun test": " 12 pass\n 0 fail\nRan 12 tests across 3 files.",
    "go test ./...": "ok  \texample.com/shop\t0.312s",
    "cargo test": "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured",
    "mvn test": "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    "gradle test": "BUILD SUCCESSFUL in 4s",
    "mix test": "12 tests, 0 failures",
    "rspec": "12 examples, 0 failures",
    "phpunit": "OK (12 tests, 30 assertions)",
    "dotnet test": "Passed!  - Failed:     0, Passed:    12, Skipped:     0",
    "flutter test": "00:04 +12: All tests passed!",
    "ctest": "100% tests passed, 0 tests failed out of 12",
}
"""What runners say in the end where all tests passed."""


@pytest.mark.parametrize("command", TALLIES)
def test_a_tally_decides_over_all_that_stands_before_it(command: str) -> None:
    """Whatever a passing test has logged, of any tool; only what another program says behind it can change that."""
    arguments = json.dumps({"command": f"{command} 2>&1 | tail -200"})
    failed = [
        name
        for name, text in TEXTS.items()
        if classify_result(f"{text}\n{TALLIES[command]}\n", tool="Bash", arguments=arguments).outcome != "success"
    ]
    assert failed == []


@pytest.mark.parametrize("command", ["make", "./run.sh", "python sync.py", "cargo build && ./shop"])
def test_status_0_of_the_program_itself_is_a_success(command: str) -> None:
    """Whatever it has printed, and whether a status or a flag says so."""
    arguments = json.dumps({"command": command})
    for said in ({"exit_code": 0}, {"flagged": False}):
        outcomes = {classify_result(text, tool="Bash", arguments=arguments, **said).outcome for text in TEXTS.values()}
        assert outcomes == {"success"}


@pytest.mark.parametrize(
    "command", ["cat build.log", "tmux capture-pane -p", "docker logs web", "gh run view 7 --log", "git show", "tail x"]
)
def test_who_reads_what_others_have_said_states_nothing(command: str) -> None:
    """Content of any kind; but for what it says in its own name."""
    arguments = json.dumps({"command": f"{command} | tail -40"})
    own = f"{command.split(maxsplit=1)[0]}: "
    stated = [
        text[:80]
        for text in TEXTS.values()
        if classify_result(text, tool="Bash", arguments=arguments).stated and not text.startswith(own)
    ]
    assert stated == []


@pytest.mark.parametrize(
    ("command", "text", "stated"),
    [
        ("pytest | tail", "1 failed, 3 passed in 0.4s", "pytest"),
        ("pytest || true", "1 failed, 3 passed in 0.4s", "pytest"),
        ("pytest; echo done", "1 failed, 3 passed in 0.4s\ndone", "pytest"),
        ("set -o pipefail; pytest | tail", "1 failed, 3 passed in 0.4s", ""),
        ("pytest", "1 failed, 3 passed in 0.4s", ""),
        ("cd app && pytest -q", "1 failed, 3 passed in 0.4s", ""),
        ("make test | tail", "make: *** [test] Error 1", "make"),
        ("python x.py | tail", 'Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 1', "python"),
        ("python x.py | tail", 'Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 1\na\nb\nc', ""),
        ('make; echo "exit: $?"', "done\nexit: 2", "shell"),
        ('go test ./... | grep -v ^ok; echo "EXIT $?"', "EXIT 1", ""),
        ("go mod init x | tail -1; go get y | tail -5", "go: creating new go.mod: module x\ngo: added y v1.1.24", ""),
        ("npx eslint . | tail -1", "\u2716 \x1b[31m0 errors\x1b[0m, 5 warnings and 0 suggestions in 1 file.", ""),
        ("npx eslint . | tail -1", "\u2716 \x1b[31m2 problems (2 errors, 0 warnings)\x1b[0m", "eslint"),
        ("nosuch | cat", "bash: line 1: nosuch: command not found", "shell"),
    ],
)
def test_a_hidden_status_leaves_it_to_the_closing_words(command: str, text: str, stated: str) -> None:
    """Of the program that ran; where a status of 0 is its own, they count for nothing."""
    found = classify_result(text, tool="Bash", arguments=json.dumps({"command": command}), exit_code=0)
    assert found.stated == stated
