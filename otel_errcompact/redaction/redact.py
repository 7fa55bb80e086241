"""
Take secrets out of texts before they leave the process.

As in `masking`, all rules are one regular expression and run in one pass.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.rules import CLUES, IS, RULES
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.redaction.rules import RedactionRule


def redact(text: str) -> str:
    """Return `text` with `[REDACTED:<kind>]` in place of each secret."""
    return _PATTERN.sub(_replace, text) if _may_hold_secret(text) else text


def redact_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return lines, each redacted; the same object where no line changes."""
    # Mostly there are no secrets, and one look at all lines costs less than one at each.
    joined = "\n".join(lines)
    return lines if redact(joined) == joined else [redact(line) for line in lines]


def _may_hold_secret(text: str) -> bool:
    for sign, trigger in _TRIGGERS:
        if sign in text and trigger.search(text):
            return True
    return has_any(text, _MARKS)


def _replace(match: re.Match[str]) -> str:
    name = match.lastgroup or ""
    head = match[0][: match.end(_HEAD + name) - match.start()]
    return f"{head}[REDACTED:{_KINDS[name]}]"


_HEAD: Final = "head_"
_KINDS: Final = {rule.name: rule.kind for rule in RULES}


def _alternative(rule: RedactionRule) -> str:
    names = "|".join(f"(?<=(?i:{name}))" for name in rule.assigned_to)
    assigned = f"(?:{names}){IS}" if names else ""
    issued = f"(?:{'|'.join(rule.issued)})" if rule.issued else ""
    return f"{assigned}{rule.head}(?P<{_HEAD}{rule.name}>){issued}(?:{rule.pattern})(?P<{rule.name}>)"


def _join_rules() -> str:
    # Rules for assignments share one name; its look-ahead with a back reference stands for an atomic group.
    name = r"[A-Za-z](?<![\w.-].)(?=(?P<rest_of_name>[\w.-]*))(?P=rest_of_name)"
    assigned = "|".join(_alternative(rule) for rule in RULES if rule.assigned_to)
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
        names = sorted({"key" if name.endswith("key") else name for rule in RULES for name in rule.assigned_to})
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
