"""Failures without a flag, and the confidence that they are failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_errcompact.lab.analysis.recommendation import Confidence

_PRINTED: Final = frozenset({"a traceback", "an exception", "an error at the end", "an error in a file"})
"""A program may print these on purpose: a script that reproduces an error, a log."""


def confidence_in(sign: str) -> Confidence:
    """
    Return the confidence in a failure that only this sign shows.

    It is `high` for the tool's own words and for the closing lines of test runners, builds and linters, whose exit
    status a pipe has swallowed; `medium` for an error that a program printed, since it may have been asked to.
    """
    return "medium" if sign in _PRINTED else "high"
