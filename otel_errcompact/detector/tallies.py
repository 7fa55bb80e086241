"""Closing lines of test runners and checkers."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.detector.words import lower
from otel_errcompact.runtime.lazy import lazy_pattern

_BAD: Final = frozenset(
    {"failed", "fail", "fails", "failure", "failures", "failing", "error", "errors", "errored", "broken"}
)
_GOOD: Final = frozenset(
    {
        "passed", "pass", "passes", "passing", "ok", "success", "successes", "succeeded", "tests", "test", "total",
        "skipped", "skip", "skips", "pending", "ignored", "assertions", "assertion", "expects", "examples", "example",
        "specs", "spec", "runs", "run", "suites", "suite", "scenarios", "scenario", "steps", "features", "cases",
        "todo",
        "warnings", "warning", "cancelled", "canceled", "disabled", "inconclusive", "omissions", "notifications",
        "pendings", "deselected", "doctests", "properties", "excluded", "unexpected", "incomplete", "risky", "xfailed",
        "xpassed", "subtests", "checks", "flaky", "filtered", "measured", "files", "untested", "undefined", "infos",
        "informations", "models", "targets", "warn", "no-op", "interrupted", "aborted", "asserts", "executed",
        "retried",
        "hints", "info", "notices", "style",
    }
)  # fmt: skip
_MENDED: Final = frozenset({"fixed", "corrected", "resolved", "ignored"})

_NUMBER_FIRST: Final = lazy_pattern(
    r"\b([0-9]{1,7}) (?:(?:tests?|test (?:cases?|files?|suites?)|specs?|examples?|checks?) )?([a-zA-Z-]{2,14})"
)
_NAME_FIRST: Final = lazy_pattern(r"\b([A-Za-z]{2,14})(?: tests?)?\s{0,6}[:=]\s{0,12}([0-9]{1,7})\b(?![.:%/-]?[0-9])")
_CANDIDATE: Final = lazy_pattern(
    r"(?i)\b[1-9][0-9]{0,6} (?:[a-z]{1,8} )?(?:fail|error|broken)|\b(?:fail(?:ed|ures?|s)?|errors?"
    r"|broken)(?: tests?)?\s{0,6}[:=]\s{0,12}[1-9]"
)
_PASSED: Final = lazy_pattern(
    r"(?im)^\W{0,80}(?:[^\n]{0,60}\b[0-9]{1,7} (?:tests? )?(?:passed|passing|examples?|tests?)\b|ok\b|pass(?:ed)?\b"
    r"|all (?:tests|checks) passed)[^\n]{0,200}$"
)
_TELLING: Final = ("fail", "error", "broken")
_OF_TESTS: Final = lazy_pattern(
    r"(?i)\b(?:tests?|doctests?|specs?|examples?|scenarios?|suites?|assertions?|pass|pass(?:ed|es|ing)|steps)\b"
)
_MAX_LINE: Final = 300
_MAX_CANDIDATES: Final = 200
_MAX_AFTER: Final = 2_000


def tally_reason(text: str) -> str:
    """Return what the last counts show, in a few words, if failures."""
    if not has_failing_tally(text):
        return ""
    return "failed tests" if _OF_TESTS.search(text) else "counted errors"


def has_failing_tally(text: str) -> bool:
    """Tell whether the last counts of a text hold failures."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = lower(text)[1:]
    last = max((_end_of_last_tally(text, lowered, word) for word in _TELLING if word in lowered), default=-1)
    return last >= 0 and _PASSED.search(text[last : last + _MAX_AFTER]) is None


def _end_of_last_tally(text: str, lowered: str, word: str) -> int:
    # Lines are looked at from the last one: only the last counts tell how tests ended.
    at = lowered.rfind(word)
    for _ in range(_MAX_CANDIDATES):
        if at < 0:
            break
        start = lowered.rfind("\n", 0, at) + 1
        end = lowered.find("\n", at)
        end = end if end >= 0 else len(text)
        line = text[start:end]
        if len(line) <= _MAX_LINE and _CANDIDATE.search(line) and _is_failing(line):
            return end
        at = lowered.rfind(word, 0, start)
    return -1


def _is_failing(line: str) -> bool:
    counts = [(noun.lower(), int(number)) for number, noun in _NUMBER_FIRST.findall(line)]
    if len(counts) < 2:  # noqa: PLR2004 - one count is a number in prose
        counts = [(noun.lower(), int(number)) for noun, number in _NAME_FIRST.findall(line)]
    known = [(noun, number) for noun, number in counts if noun in _BAD or noun in _GOOD or noun in _MENDED]
    bad = sum(number for noun, number in known if noun in _BAD)
    mended = sum(number for noun, number in known if noun in _MENDED and noun != "ignored")
    if len({noun for noun, _ in known}) < 2 or len(known) < len(counts) or bad <= mended:  # noqa: PLR2004
        return False
    return len(re.findall(r"[A-Za-z]{2,}", line)) <= 2 * len(known) + 5


def ends_with_passed_tests(text: str) -> bool:
    """Tell whether a text ends with tests that all passed."""
    tail = text[-600:]
    return _PASSED.search(tail) is not None and not has_failing_tally(tail)
