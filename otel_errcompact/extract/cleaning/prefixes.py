"""Strip what runners put before every line: a service, a task, a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.cleaning.characters import is_cut
from otel_errcompact.extract.cleaning.parts import gather_tasks
from otel_errcompact.extract.cleaning.records import CLOCK, DATE, strip_records
from otel_errcompact.extract.table import patterns_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

MIN_LINES: Final = 2
"""Lines of a text below which a common beginning may be chance, unless its shape tells."""

_JOB_AND_STEP: Final = r"(?:[^\t\n]{1,200}\t[^\t\n]{1,200}\t)?"
_INSTANT: Final = rf"\[?{DATE}T{CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})\]?"
_TASKS: Final = (
    r"(?:lint|tests?|build|check|format|fmt|type-?check|types|tsc|dev|start|compile|bundle|deploy|ci|e2e|unit|docs"
    r"|install|prepare|release|vet|audit|clean|generate|codegen|integration)"
)
_TASK: Final = rf"(?:{_TASKS}[:/][\w./-]{{1,40}}|[\w./-]{{1,40}}[:#]{_TASKS})"
_PACKAGE: Final = r"[\w@.-]{1,60}/[\w@./-]{1,80}"
_LEVEL: Final = r"(?i:error|err|warn(?:ing)?|info|notice|debug|trace|fatal|critical|severe|alert)"
_ENDS: Final = r"(?: |(?=\n|$))"


class _Form(NamedTuple):
    """One thing that runners put before each line."""

    pattern: re.Pattern[str]
    lines: int = 1
    """How many lines must have it."""

    same: bool = False
    """Whether all lines must have the same one."""

    is_task: bool = False
    """Whether it names a task, so that lines of another one are the output of another program."""


def _make_form(pattern: str, lines: int = 1, *, same: bool = False, is_task: bool = False) -> _Form:
    return _Form(lazy_pattern(pattern + _ENDS), lines, same, is_task)


_STAMPED: Final = _Form(lazy_pattern(rf"{_JOB_AND_STEP}{_INSTANT}{_ENDS}(?:##\[(?:error|warning|debug)\])?"))
# Not the name of a secret in a table: without it, its value would pass.
_SERVICE: Final = r"(?![\w./:@-]{0,60}(?i:password|passwd|secret|token|api_key) )[@A-Za-z][\w./:@-]{0,60}"
_SERVICES: Final = (
    _make_form(rf"{_SERVICE}(?:[-_.][0-9]{{1,4}} +|  +)[|\u2502]"),
    _make_form(rf"{_SERVICE} +[|\u2502]", MIN_LINES, same=True),
    _make_form(rf"{_SERVICE} +[|\u2502]", MIN_LINES + 1),
)
_MARKS: Final = (
    _make_form(rf"\[(?:{_TASK}|{_TASKS}(?:-[a-z0-9]{{1,20}}){{0,4}}|pod/[\w./-]{{1,200}})\]", is_task=True),
    _make_form(rf"\[(?!{_LEVEL}\])[\w@./: #-]{{1,60}}\]", MIN_LINES, same=True),
)
_LABELS: Final = (
    _make_form(rf"(?:{_TASK}|{_PACKAGE} {_TASKS}):", is_task=True),
    _make_form(r"@[\w-]{1,60}/[\w./-]{1,60}(?::[a-z][\w-]{0,40}){0,2}:"),
    _make_form(r"[A-Za-z][\w./-]{0,80}:[a-z][\w-]{0,40}:", MIN_LINES, same=True),
    _make_form(rf"{_PACKAGE} [a-z][\w:-]{{0,40}}:", MIN_LINES, same=True),
    _Form(lazy_pattern(lambda: rf"(?!{patterns_of('margins')})[a-z][\w-]{{0,30}} ERR!{_ENDS}"), MIN_LINES, same=True),
    _Form(lazy_pattern(r"(?:ERROR|CRITICAL|WARNING):(?:root|__main__|\w{1,40}(?:\.\w{1,40}){1,8}):")),
    _Form(lazy_pattern(r"(?:ERROR|CRITICAL|WARNING):[\w.]{1,80}:"), MIN_LINES, same=True),
)
_NUMBERS: Final = (_make_form(r"[0-9]{3,8}:?", MIN_LINES, same=True),)
_STEPS: Final = (_make_form(r"#[0-9]{1,4} [0-9]{1,6}\.[0-9]{1,6}"),)
_QUOTES: Final = (_make_form(">", MIN_LINES, same=True),)

_WITHOUT: Final = lazy_pattern(r"$|\S{1,60} exited with code |    \.\.\. |Finished in [0-9]")
"""Lines that have no prefix among others that have one."""

_BY_FIRST: Final = {
    "[": (_STAMPED, *_MARKS),
    "#": _STEPS,
    ">": _QUOTES,
    **dict.fromkeys("0123456789", (_STAMPED, *_NUMBERS)),
}
_HEAD: Final = 200


def strip_prefixes(text: str) -> str:
    """
    Return `text` without the prefix that all its lines have.

    It is the head of a log record, a service (`web-1  | `), a task (`web:test: `, `[lint:go] `), the step of a build
    (`#12 0.345 `) or the mark of a quotation (`> `).
    """
    found = strip_records(text)
    if found != text:
        return found
    head = text[:_HEAD].partition("\n")[0]
    for form in _find_forms(head):
        if form.pattern.match(text):
            lines = _strip_prefix(form, text.split("\n"))
            if lines is not None:
                return "\n".join(lines).strip("\n")
    return text


def _find_forms(head: str) -> tuple[_Form, ...]:
    first = head[:1]
    if first in _BY_FIRST:
        return _BY_FIRST[first]
    forms: tuple[_Form, ...] = ()
    if "\t" in head:
        forms = (_STAMPED,)
    word, _, rest = head.partition(" ")
    if " |" in head or "\u2502" in head:
        forms = (*forms, *_SERVICES)
    if ":" in word[:-1] or first == "@" or "#" in word or ("/" in word and ":" in rest) or rest[:4] == "ERR!":
        forms = (*forms, *_LABELS)
    return forms


def _strip_prefix(form: _Form, lines: list[str]) -> list[str] | None:
    kept: list[str] = []
    prefixes: list[str] = []
    behind: list[str] = []
    for number, line in enumerate(lines):
        found = form.pattern.match(line)
        if found is None and is_cut(line):  # what follows may be of another program
            behind = [line, *(_strip_prefix(form, lines[number + 1 :]) or lines[number + 1 :])]
            break
        if found is None and not _WITHOUT.match(line):
            return None
        if found is not None:
            prefixes.append(found[0].rstrip())
        kept.append(line[found.end() :] if found is not None else line)
    several = len(set(prefixes)) > 1
    if len(prefixes) < form.lines or (form.same and several) or not any(kept):
        return None
    are_parts = several and form.is_task and len(prefixes) == len(kept)
    return [*(gather_tasks(prefixes, kept) if are_parts else kept), *behind]
