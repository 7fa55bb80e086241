"""Show a failure to an agent that edits code, or only calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.roles import edits_code
from otel_errcompact.errors import Location
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.errors import Facts

_PYTHON: Final = "python"
"""The format of exceptions."""

_OF_CODE: Final = lazy_pattern(
    r"> |raised in |called from |cycle: |\w{0,40}status\w{0,40}: [1-5][0-9]{2}$"
    r"|(?i:(?:\(?background on|for (?:more|further)|more info|see\b|visit|docs?\b|documentation|learn more|read more)"
    r"[^\n]{0,60}https?://\S+$)"
)
"""Details that say nothing to a reader who has not the code: source, frames, statuses and documentation."""

_PLACE: Final = lazy_pattern(r"(?<= \()(?:[^\s()]*[\\/])?([^\s()\\/:]+\.\w{1,8}):[0-9]+(?=\))")
"""File and line behind the name of a function."""


def show_to(facts: Facts, options: DigestOptions, *, tool: str, arguments: str = "", is_exception: bool) -> Facts:
    """
    Return the facts as their reader needs them.

    Args:
        facts: The facts.
        options: Who reads, if that is set; else an exception of an application's own tool is shown without places.
        tool: The tool that failed.
        arguments: The call's arguments.
        is_exception: Whether it has raised.
    """
    if options.audience == "developer":
        return facts
    if options.audience is None and (not is_exception or edits_code(tool, arguments)):
        return facts
    place = facts.location
    details = tuple(_PLACE.sub(r"\1", line) for line in facts.details if _OF_CODE.match(line) is None)
    return replace(facts, location=Location(function=place.function, file=place.file_name), details=details)


def show_class_to(facts: Facts, options: DigestOptions, tool: str) -> Facts:
    """Return the facts of a class, whose calls are not known."""
    return show_to(facts, options, tool=tool, is_exception=facts.format == _PYTHON)
