"""
Take secrets out of texts before they leave the process.

As in `masking`, all rules are one regular expression and run in one pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.rules import CLUES, IS, RULES
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

    from otel_errcompact.redaction.rules import RedactionRule


def redact(text: str) -> str:
    """Return `text` with `[REDACTED:<kind>]` in place of each secret."""
    if _TRIGGER.search(text) or any(map(text.__contains__, _MARKS)):
        return _PATTERN.sub(_replace, text)
    return text


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


def _join_trigger() -> str:
    # Most texts hold no secret. The pattern begins with characters that prose seldom has, so that the engine passes
    # over the rest of it at the speed of a search for a character.
    issued = "|".join(f"(?<={prefix})" for rule in RULES for prefix in rule.issued if not prefix[-1].isalpha())
    names = sorted({"key" if name.endswith("key") else name for rule in RULES for name in rule.assigned_to})
    direct = "|".join(f"(?<=(?i:{name}).)" for name in names)
    apart = "|".join(f"(?<=(?i:{name})['\" ].)|(?<=(?i:{name})['\"] .)" for name in names)
    return (
        rf"[-_.:=?&](?:(?<=[-_.])(?=[\w*-]{{6}})(?:{issued})"
        rf"|(?<=[:=])(?:(?<=[a-zA-Z].)(?:{direct})|(?<=['\" ].)(?:{apart}))"
        rf"|{'|'.join(CLUES)})"
    )


_PATTERN: Final = lazy_pattern(_join_rules)
_TRIGGER: Final = lazy_pattern(_join_trigger)
"""Matches in every text that a rule matches in, apart from those with a mark."""

_MARKS: Final = (
    *(prefix for rule in RULES for prefix in rule.issued if prefix[-1].isalpha()),
    "earer ",
    "asic ",
)
"""One of these stands in every text whose secret begins with letters only."""
