"""The rules of masking as one regular expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.rules import JOINERS, RULES
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.dedup.rules import MaskRule

_TOKENS: Final = "addr|data|duration|email|hex|ip|num|port|query|size|time"
_TOKENS_IN_NAMES: Final = "hash|id|index|tmp"
_DIGITS: Final = ("[0-9]", "[1-5]", "[1-9]", "[12]", "[45]", "0x")
"""How patterns of rules begin that need a digit: words do without half of all alternatives."""

_SIGNS: Final = ("/", "~", r"\.", "[+-]", "['")

_SEPARATOR: Final = r"['\"]?[ :=#(\[,]{1,3}['\"]?"


def _join_labels(rule: MaskRule) -> str:
    labels = "|".join(f"(?<={label})" for label in rule.labels)
    return rf"(?:{labels}){_SEPARATOR}(?P<label_{rule.name}>)(?:{rule.pattern})(?P<{rule.name}>)"


def _join_forms(rules: list[MaskRule]) -> str:
    # The empty group that names a rule stands behind its pattern: the engine skips an alternative by its first
    # character only where that is a character or a class, and groups in front would cost seven times as much.
    return "|".join(f"{rule.pattern}(?P<{rule.name}>)" for rule in rules)


def _join() -> str:
    first = RULES.index(next(rule for rule in RULES if rule.labels))
    by_label = "|".join(_join_labels(rule) for rule in RULES if rule.labels)
    by_form = [rule for rule in RULES[first:] if not rule.labels and not rule.near_digit]
    by_word = [rule for rule in RULES if rule.near_digit]
    # Most words of a message are plain. So rules for words, by label or by name, share one test that a digit or `@` is
    # near; its look-ahead with a back reference stands for an atomic group.
    gate = r"(?=(?=(?P<plain>[A-Za-z_./~+%#-]{0,64}['\" :=#(\[,]{0,4}))(?P=plain)-?[0-9@])"
    word = r"(?=(?P<word>[A-Za-z_]*))(?P=word)"
    labelled = rf"{word}(?={_SEPARATOR}-?[v0-9])(?:{by_label})"
    first_rules = list(RULES[:first])
    by_digit, by_letter, others = _sort_by_start(by_form)
    # Masked text stays, with the text kept beside it, so that a template is its own template.
    masked = (
        rf"<(?:(?:(?:{_TOKENS_IN_NAMES})>(?:{JOINERS}\w+)*|path>(?:/[\w.@+~%#-]*)?|(?:{_TOKENS})>)[^\w\s<]?|value>)"
    )
    word_forms = f"[A-Za-z_]{gate}(?:{labelled}|{_join_forms(by_word)})|{_join_forms(by_letter)}"
    return (
        rf"(?<!\w)(?:{_join_forms(first_rules)}|(?=[A-Za-z_-])(?:{word_forms})|(?=[0-9])(?:{_join_forms(by_digit)})"
        rf"|{_join_forms(others)})|{masked}"
    )


def _sort_by_start(rules: list[MaskRule]) -> tuple[list[MaskRule], list[MaskRule], list[MaskRule]]:
    # At each word only the alternatives that can begin there are tried; of those the order stays.
    by_digit = [rule for rule in rules if rule.pattern.startswith(_DIGITS)]
    others = [rule for rule in rules if rule.pattern.startswith(_SIGNS)]
    by_letter = [rule for rule in rules if rule not in by_digit and rule not in others]
    return by_digit, by_letter, others


PATTERN: Final = lazy_pattern(_join)
"""Matches the texts of all rules; the last group is the rule's name."""
