"""
Take secrets out of texts before they leave the process.

The finders know secrets by the name in front, by the issuer's form, by the place, by the head of a column, and keys of
several lines. They read the text as it is, and again without escapes and without invisible characters. One more finder
are the rules of `rules.py`, one regular expression as in `masking`.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.assigned import find_assigned
from otel_errcompact.redaction.blocks import find_blocks
from otel_errcompact.redaction.columns import find_in_columns
from otel_errcompact.redaction.found import Found, replace_found
from otel_errcompact.redaction.issued import find_issued
from otel_errcompact.redaction.names import STEMS
from otel_errcompact.redaction.places import find_placed
from otel_errcompact.redaction.rules import CLUES, IS, RULES
from otel_errcompact.redaction.values import is_secret
from otel_errcompact.redaction.views import MAX_DEPTH, view_without_escapes, view_without_unseen
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.redaction.rules import RedactionRule
    from otel_errcompact.redaction.views import View


def redact(text: str) -> str:
    """Return `text` with `[REDACTED:<kind>]` in place of each secret."""
    return _redact_short(text) if len(text) <= MAX_REMEMBERED_CHARACTERS else _redact(text)


def _redact(text: str) -> str:
    found = _find(text)
    return replace_found(text, found) if found else text


MAX_REMEMBERED: Final = 256
"""Texts that are remembered: a failure's text is redacted for its facts, for the agent and for the page."""

MAX_REMEMBERED_CHARACTERS: Final = 2_048
"""Characters of a text that is remembered."""

_redact_short: Final = lru_cache(maxsize=MAX_REMEMBERED)(_redact)


def redact_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return lines, each redacted; the same object where no line changes."""
    # Mostly there are no secrets, and one look at all lines costs less than one at each.
    joined = "\n".join(lines)
    return lines if redact(joined) == joined else [redact(line) for line in lines]


def _find(text: str) -> list[Found]:
    found = [*_find_in(text)]
    view = view_without_unseen(text)
    if view is not None:
        found += _find_in_view(view)
    for _ in range(MAX_DEPTH):
        view = view_without_escapes(text if view is None else view.text, view)
        if view is None:
            break
        found += _find_in_view(view)
    found = [one for one in found if not _holds_mark(text, one)]
    return [*found, *_find_again(text, found)] if found else found


def _find_in_view(view: View) -> list[Found]:
    return [Found(view.locate(start), view.locate(end), kind) for start, end, kind in _find_in(view.text)]


def _holds_mark(text: str, found: Found) -> bool:
    """Return whether a secret has been replaced already, or stands in what replaced it."""
    opened = text.rfind(_MARK, max(0, found.start - MAX_MARK), found.end)
    return opened >= 0 and text.find("]", opened) >= found.start


def _find_again(text: str, found: list[Found]) -> Iterator[Found]:
    # What is a secret where its name stands is one everywhere else: "login with hunter2 failed".
    kinds = {text[start:end]: kind for start, end, kind in found[:MAX_REPEATED]}
    for secret, kind in kinds.items():
        if len(secret) < MIN_REPEATED or secret.isalpha():
            continue
        at = text.find(secret)
        while at >= 0:
            yield Found(at, at + len(secret), kind)
            at = text.find(secret, at + len(secret))


def _find_in(text: str) -> Iterator[Found]:
    lower = text.lower()
    if len(lower) != len(text):  # "İ" has two letters in lower case
        lower = text.translate(_LOWER)
    if _may_hold_secret(text):
        yield from _find_by_rules(text)
    yield from find_issued(text)
    yield from find_blocks(text)
    yield from find_placed(text, lower)
    if has_any(lower, STEMS):
        yield from find_assigned(text, lower)
        yield from find_in_columns(text, lower)


MIN_REPEATED: Final = 6
"""Characters of a secret that is replaced wherever it stands; shorter ones are parts of other words."""

MAX_REPEATED: Final = 32
"""Secrets of one text that are looked for everywhere in it."""

MAX_MARK: Final = 32
"""Characters of the longest `[REDACTED:<kind>]`."""

_MARK: Final = "[REDACTED:"
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _may_hold_secret(text: str) -> bool:
    for sign, trigger in _TRIGGERS:
        if sign in text and trigger.search(text):
            return True
    return has_any(text, _MARKS)


def _find_by_rules(text: str) -> Iterator[Found]:
    for match in _PATTERN.finditer(text):
        name = match.lastgroup or ""
        start, end = match.end(_HEAD + name), match.end()
        if name not in _JUDGED or is_secret(text[start:end], _KINDS[name], quoted=True):
            yield Found(start, end, _KINDS[name])


_JUDGED: Final = frozenset({"authorization", "bearer", "password_in_url"})
"""Rules that match what may be a placeholder or code as well."""

BY_NAME: Final = frozenset({"password", "quoted_password", "secret", "quoted_secret"})
"""Rules that `assigned.py` applies, for more names and ways of writing; what they are written for is the collector."""

_HEAD: Final = "head_"
_KINDS: Final = {rule.name: rule.kind for rule in RULES}


_OTHER_RULES: Final = tuple([rule for rule in RULES if rule.name not in BY_NAME])


def _alternative(rule: RedactionRule) -> str:
    names = "|".join(f"(?<=(?i:{name}))" for name in rule.assigned_to)
    assigned = f"(?:{names}){IS}" if names else ""
    issued = f"(?:{'|'.join(rule.issued)})" if rule.issued else ""
    return f"{assigned}{rule.head}(?P<{_HEAD}{rule.name}>){issued}(?:{rule.pattern})(?P<{rule.name}>)"


def _join_rules() -> str:
    # Rules for assignments share one name; its look-ahead with a back reference stands for an atomic group.
    name = r"[A-Za-z](?<![\w.-].)(?=(?P<rest_of_name>[\w.-]*))(?P=rest_of_name)"
    assigned = "|".join(_alternative(rule) for rule in _OTHER_RULES if rule.assigned_to)
    at_word = "|".join(_alternative(rule) for rule in RULES if not rule.assigned_to and not rule.inside_words)
    anywhere = "|".join(_alternative(rule) for rule in RULES if rule.inside_words)
    return rf"(?<![A-Za-z0-9])(?:{at_word}|{name}(?={IS})(?:{assigned}))|{anywhere}"


def _join_trigger(sign: str) -> str:
    # Most texts hold no secret. A pattern that begins with one character is searched for at the speed of C.
    issued = [prefix for rule in RULES for prefix in rule.issued if prefix[-1] == sign]
    forms = [*CLUES.get(sign, ())]
    if issued:
        forms.append(rf"(?=[\w*-]{{6}})(?:{'|'.join(f'(?<={prefix})' for prefix in issued)})")
    if sign in _ASSIGNING:
        names = sorted({"key" if name.endswith("key") else name for rule in _OTHER_RULES for name in rule.assigned_to})
        direct = "|".join(f"(?<=(?i:{name}).)" for name in names)
        apart = "|".join(f"(?<=(?i:{name})['\" ].)|(?<=(?i:{name})['\"] .)" for name in names)
        forms.append(rf"(?<=[a-zA-Z].)(?:{direct})|(?<=['\" ].)(?:{apart})")
    return rf"{re.escape(sign)}(?:{'|'.join(forms)})"


_ASSIGNING: Final = ":="
_PATTERN: Final = lazy_pattern(_join_rules)
_TRIGGERS: Final = tuple((sign, lazy_pattern(partial(_join_trigger, sign))) for sign in "-_.:=?&")
"""By their first character; one matches in every text that a rule matches in, apart from those with a mark."""

_MARKS: Final = (
    *(prefix for rule in RULES for prefix in rule.issued if prefix[-1].isalpha()),
    "earer ",
    "asic ",
)
"""One of these stands in every text whose secret begins with letters only."""
