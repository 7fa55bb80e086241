"""Facts of outputs that a hook, a script or a task runner has glued together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.cleaning.parts import split_parts
from otel_errcompact.extract.clipping import MAX_DETAIL, clip, details
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.index import INDEX
from otel_errcompact.extract.members import facts_of_members, to_member
from otel_errcompact.extract.passed import strip_passed
from otel_errcompact.extract.recognition import OF_ANY_TEXT, recognise
from otel_errcompact.extract.statements import statement_of
from otel_errcompact.extract.text import read_text
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.cleaning.parts import Part
    from otel_errcompact.extract.format import Text

_MAX_WARNINGS: Final = 3
_WARNING: Final = "warning"
_HOOK_FAILED: Final = "HookFailed"
_HOOKS: Final = next(row.name for row in INDEX if "hook" in row.markers)
"""The format that reads what a single hook has printed."""

_MODIFIED: Final = "files were modified by this hook"
_NO_TYPE: Final = "error"


def facts_of_parts(text: Text) -> Facts | None:
    """
    Return the joined facts of all programs that failed, nothing if a text is one output.

    The first failure is the cause, since those who run several programs stop at it, or mean all of them alike. What
    programs only warned of stands behind all failures.
    """
    parts = split_parts(text.body)
    failed = [(part, facts) for part in parts if (facts := _read_failure(part, text.roots)) is not None]
    if not failed or (len(failed) == 1 and failed[0][0].has_failed):
        return None  # formats read the output of one hook
    warned = [(part, facts) for part, facts in failed if _only_warns(part)]
    if 0 < len(warned) < len(failed):
        failed = [each for each in failed if each not in warned]
        warnings = tuple(_write_warning(part, facts) for part, facts in warned[:_MAX_WARNINGS])
        facts = _join_failures(failed)
        return replace(facts, details=(*facts.details, *warnings))
    return _join_failures(failed)


def _join_failures(failed: Sequence[tuple[Part, Facts]]) -> Facts:
    if len(failed) == 1:
        part, facts = failed[0]
        return replace(facts, details=(*facts.details, *([f"in {part.name}"] if part.name else [])))
    members = [to_member(facts, part.name) for part, facts in failed]
    facts = facts_of_members(members, unit="program", first_is_root=True) or failed[0][1]
    if failed[0][0].has_failed:
        # Which hooks have to pass stands first: lines further down may be cut.
        names = clip(", ".join(part.name for part, _ in failed), MAX_DETAIL)
        facts = replace(facts, tally=f"{len(failed)} hooks: {names}")
    return replace(facts, format=failed[0][1].format)


def _only_warns(part: Part) -> bool:
    # A line that warns may say what failed; a program that failed says so in another line too.
    kinds = [(kind_of(line), _WARNING in line.lower()) for line in part.lines]
    return any(warns for _, warns in kinds) and not any(
        kind in (Kind.TELLING, Kind.TRAILER) and not warns for kind, warns in kinds
    )


def _write_warning(part: Part, facts: Facts) -> str:
    at = f" at {facts.location}" if facts.location else f" in {part.name}" if part.name else ""
    return clip(f"only a warning{at}: {facts.cause}", MAX_DETAIL)


def _read_failure(part: Part, roots: tuple[str, ...]) -> Facts | None:
    if part.has_failed is None:
        return _read_output(part, roots)
    if not part.has_failed:
        return None
    facts = _read_output(part, roots)
    if facts is None:
        return _read_hook(part)
    return replace(facts, type=_HOOK_FAILED, format=_HOOKS) if facts.type == _NO_TYPE else facts


def _read_hook(part: Part) -> Facts:
    # Who ran it says that it failed, so that what it printed is why.
    said = [line.strip().removeprefix("- ") for line in part.lines if line.strip()] or ["failed"]
    is_note = len(said) > 1 and said[0] == _MODIFIED  # what it changed tells more
    cause, others = (said[1], [said[0], *said[2:]]) if is_note else (said[0], said[1:])
    return Facts(type=_HOOK_FAILED, cause=clip(cause), details=details(others), format=_HOOKS)


def _read_output(part: Part, roots: tuple[str, ...]) -> Facts | None:
    text = read_text(strip_passed("\n".join(part.lines)), roots=roots)
    facts = recognise(text) if text.body else None
    if facts is None or facts.format not in OF_ANY_TEXT:
        return facts
    if facts.cause.startswith("{"):
        return None  # an answer, in which no format has read an error
    tells = kind_of(facts.cause) is Kind.TELLING or statement_of(facts.cause) is not None or facts.format == "plain"
    return facts if tells else None
