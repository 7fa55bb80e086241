"""What differs between two runs of a failure does not reach its class, and different failures have different ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.extract.corpus import CASES, RECORDS, Case, key, wrong_keys

if TYPE_CHECKING:
    from collections.abc import Callable


class Noise(NamedTuple):
    """A way in which two runs of one failure differ."""

    name: str
    form: str
    other: str | Callable[[re.Match[str]], str]
    least: int = 0
    """Lines that a text must have for the noise to be told from the text."""


def _longer(found: re.Match[str]) -> str:
    said = found[0]
    return f"{float(said) * 1.7 + 0.013:.{len(said.partition('.')[2])}f}" if "." in said else str(int(said) + 3)


def _later(found: re.Match[str]) -> str:
    return f"{found[1]}{int(found[2]) + 7}"


def _moved(found: re.Match[str]) -> str:
    return "0x" + "".join(f"{(int(digit, 16) + 5) % 16:x}" for digit in found[1])


NOISE: Final = (
    Noise("folder", r"/home/dev/src/(?=[\w.-])", "/tmp/build-7f3a/"),
    Noise("home", r"/home/dev/", "/home/runner/"),
    Noise("duration", r"(?<![\w.:])(?:[0-9]+\.)?[0-9]+(?= ?(?:s|ms|seconds|secs?|sec|msec|\u00b5s)\b)", _longer),
    Noise(
        "line of a place",
        r"(\.(?:py|jsx?|[cm]js|tsx?|rs|go|rb|php|java|kt|cs|vb|exs?|erl|c|cc|cpp|h):)([0-9]+)",
        _later,
    ),
    Noise("line in words", r"(\bline )([0-9]+)", _later),
    Noise("address", r"0x([0-9a-f]{6,16})\b", _moved),
    Noise("process", r"(?i)(\bpid[ =:]+|Process-|\bprocess )([0-9]{2,7})\b", _later),
    Noise("port", r"((?<!\.)\b[a-z0-9.\]-]+:)([1-6][0-9]{4})\b(?!:)", _later),
    Noise("time of day", r"\b[0-9]{2}:[0-9]{2}:[0-9]{2}\b", "23:41:07"),
    Noise("date", r"\b20[0-9]{2}([-/])[0-9]{2}[-/][0-9]{2}\b", r"2031\g<1>03\g<1>09"),
    Noise("seed", r"(?i)(\bseed(?:[ =:]+|: ))([0-9]+)", _later),
    Noise("line endings", r"\n", "\r\n"),
    Noise("indentation", r"(?m)^", "    "),
    Noise("time before each line", r"(?m)^", "2026-11-22T02:10:27.1234567Z "),
    Noise("service before each line", r"(?m)^", "web-1  | ", 3),
    Noise("task before each line", r"(?m)^", "@acme/web:test: ", 3),
)
"""The noise that every format must stand."""

CHANGED: Final[dict[tuple[str, str], str]] = {
    (
        "line in words",
        "pip/invalid_project_table",
    ): "a program given by `-c` has one line; a frame in another is no stub",
    **{
        ("time before each line", f"harness/mcp_{name}"): "an answer of a server is JSON, and no lines of a log"
        for name in ("invalid_arguments", "tool_raised", "unknown_tool")
    },
}
"""Records whose failure a noise truly changes, and why."""

SAME: Final = (
    {"cargotest/several", "cargotest/tail"},
    {"compilers/tsc_plain", "compilers/tsc_pretty"},
    {"docker/no_daemon", "docker/no_daemon_to_build", "docker/no_daemon_to_run"},
    {"git/merge_conflict", "git/rebase_conflict"},
    {"gotest/json", "gotest/single"},
    {"gotest/one_cause", "gotest/packages", "gotest/tail"},
    {"harness/langgraph_invalid_arguments", "harness/mcp_invalid_arguments"},
    {"harness/langgraph_unknown_tool", "harness/mcp_unknown_tool"},
    {"jest/several_causes", "jest/truncated"},
    {"jest/vitest_several_causes", "jest/vitest_truncated"},
    {"junit/console", "junit/surefire"},
    {"junit/junit4_runner", "junit/surefire_junit4"},
    {"jvm/chain", "jvm/cut_tail"},
    {"mocha/node_spec", "mocha/node_tap"},
    {"npm/missing_script", "npm/pnpm_missing_script", "npm/yarn_missing_script"},
    {"npm/pnpm_script_failed", "npm/workspace", "npm/yarn_script_failed"},
    {"phpunit/phpunit", "phpunit/phpunit_testdox"},
    {"pip/setup_script_raises", "pip/uv_build_fails"},
    {"pytest/coverage", "pytest/parallel", "pytest/several_causes", "pytest/short_tracebacks"},
    {"pytest/first_failure", "pytest/head"},
    {"pytest/one_line_each", "pytest/summary_only", "pytest/tail"},
    {"pytest/shared_exception", "pytest/shared_exception_short"},
    {"ruby/reversed", "ruby/type_error"},
    {"ruff/concise", "ruff/full", "ruff/grouped"},
    {"unittest/errors_and_failures", "unittest/verbose"},
)
"""Records of one failure, which a tool was made to print in several ways."""


FORMATS: Final = sorted({case.format for case in RECORDS})
RUNS: Final = [case for case in CASES if case.same or case.other]


@pytest.mark.parametrize("form", FORMATS)
def test_noise_does_not_reach_the_key(form: str) -> None:
    """A record with other folders, times, lines and ids has the key that it had."""
    changed = {
        (noise.name, case.id)
        for case in RECORDS
        if case.format == form
        for noise in NOISE
        if len(case.text.splitlines()) >= noise.least
        and (noisy := re.sub(noise.form, noise.other, case.text)) != case.text
        and key(noisy) != key(case.text)
    }
    assert changed - CHANGED.keys() == set()


@pytest.mark.parametrize("noise", NOISE, ids=[noise.name for noise in NOISE])
def test_noise_is_found_in_records(noise: Noise) -> None:
    """A form that matches nothing would prove nothing."""
    assert any(re.sub(noise.form, noise.other, case.text) != case.text for case in RECORDS)


@pytest.mark.parametrize("form", FORMATS)
def test_different_failures_have_different_keys(form: str) -> None:
    """Records of one format share a key only if they are one failure."""
    records: dict[str, set[str]] = {}
    for case in RECORDS:
        if case.format == form:
            records.setdefault(key(case.text), set()).add(case.id)
    shared = [sorted(same) for same in records.values() if len(same) > 1]
    assert sorted(shared) == [sorted(same) for same in SAME if min(same).startswith(f"{form}/")]


@pytest.mark.parametrize("case", RUNS, ids=[case.id for case in RUNS])
def test_another_run_has_the_same_key_and_another_fault_another(case: Case) -> None:
    """Folders, lines, ids and times make no other class; another name, status, code, table or program does."""
    assert wrong_keys(case) == []
