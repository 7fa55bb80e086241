"""All rules of masking as one regular expression: slow, and plainly what they say together."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from otel_errcompact.dedup.rules import JOINERS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.dedup.rules import MaskRule

SEPARATOR = r"['\"]?[ :=#(\[,]{1,3}['\"]?"
NEAR = r"(?=(?=(?P<plain>[A-Za-z_./~+%#-]{0,64}['\" :=#(\[,]{0,4}))(?P=plain)-?[0-9@])"
WORD = r"(?=(?P<word>[A-Za-z_]*))(?P=word)"
MASKED = (
    rf"<(?:(?:(?:hash|id|index|tmp)>(?:{JOINERS}\w+)*|path>(?:/[\w.@+~%#-]*)?"
    r"|(?:addr|data|duration|email|hex|ip|num|port|query|size|time)>)[^\w\s<]?|value>)"
)

NEAR_DIGIT = frozenset(
    {
        *("email", "times", "log_stamp", "dag_run", "test_worker", "gateway_object", "compiled_name"),
        *("sample_value", "name"),
    }
)
"""Rules for words with a digit or `@` in or near them, whose pattern is what follows a first letter."""


def _write(rules: Iterable[MaskRule]) -> str:
    return "|".join(map(_write_rule, rules))


def _write_rule(rule: MaskRule) -> str:
    named = f"(?P<{rule.name}>)"
    if not rule.labels:
        return rule.pattern + named
    labels = "|".join(f"(?<={label})" for label in rule.labels)
    return rf"(?:{labels}){SEPARATOR}(?P<label_{rule.name}>)(?:{rule.pattern}){named}"


def _join() -> str:
    first = [*takewhile(lambda rule: not rule.labels, RULES)]
    labelled = [rule for rule in RULES if rule.labels]
    near = [rule for rule in RULES if rule.name in NEAR_DIGIT]
    others = [rule for rule in RULES[len(first) :] if not rule.labels and rule.name not in NEAR_DIGIT]
    by_label = rf"{WORD}(?={SEPARATOR}-?[v0-9])(?:{_write(labelled)})"
    return rf"(?<!\w)(?:{_write(first)}|[A-Za-z_]{NEAR}(?:{by_label}|{_write(near)})|{_write(others)})|{MASKED}"


ALL_RULES = re.compile(_join())
"""The last group of a match is the rule's name."""
