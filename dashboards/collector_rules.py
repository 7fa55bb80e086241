"""
The collector's rules for tokens, from the table that the library has of them.

RE2 has no look-around, so a digit anywhere in a token is written as alternatives by where the first one stands.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.issued import APART, ISSUED, MARKED, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.redaction.issued import Issued

COLLECTOR_FILE: Final = Path(__file__).parent.parent / "collector-config" / "otelcol.yaml"
TOKENS: Final = tuple([one for one in ISSUED if one.kind == "api_key"])
"""Other kinds have rules of their own, written by hand, in the file itself."""

LOOK: Final = 20
"""Characters of a token's body that tell a text worth the rules."""

LONG: Final = 40
"""Characters of a body that no word of people has, with or without a digit."""

SIGNS: Final = "_-"
"""Ends of beginnings that have a guard of their own; few texts have a long word behind one."""

LONG_WORD: Final = r"[\w+/=.-]{10}"

MARKS: Final = (
    *(r"pat[A-Za-z0-9]{14}\.", r"Q~[\w~.-]{31}", r"\.atlasv1\.", "_mmk", "SK[0-9a-fA-F]{32}", "-us[0-9]"),
    *("JQQJ99", "AzFu", r"(?:ACDb|\+ASt|\+AMC|\+ACR)[A-Za-z0-9+/]{5,6}="),
    *("ZXlK[A-Za-z0-9+/]{40}", r"\.[\w-]{6}\.[\w-]{27}"),
)
"""What each of these forms holds, from a character on that is found at the speed of memory."""

_PART: Final = re.compile(r"(?P<indent> *)# begin: (?P<name>\w+), from issued\.py\n.*?# end\n", re.DOTALL)


def collector_files() -> dict[Path, str]:
    """Return the collector's file with its generated parts as they must be."""
    text = COLLECTOR_FILE.read_text(encoding="utf-8")
    return {COLLECTOR_FILE: _PART.sub(lambda part: _write(part["name"], part["indent"]), text)}


def _write(name: str, indent: str) -> str:
    lines = {"flag": _flag, "rules": _rules}[name]()
    body = "".join([f"{indent}{line}\n" for line in lines])
    return f"{indent}# begin: {name}, from issued.py\n{body}{indent}# end\n"


def _flag() -> Iterator[str]:
    # Each pattern stands behind its literal beginning, and those of one sign behind a long word after it.
    by_sign: dict[str, list[tuple[str, str]]] = {}
    for one in TOKENS:
        for begin in one.begins:
            look = re.escape(begin) + f"{one.body}{{{min(LOOK, one.least)}}}"
            by_sign.setdefault(begin[-1] if begin[-1] in SIGNS else "", []).append((begin, look))
    yield "- &issued >-"
    yield '  set(cache["issued"], true) where cache["texts"] == nil'
    for sign, looks in by_sign.items():
        tests = [f'(Index(cache["texts"], "{begin}") >= 0 and {_matches(look)})' for begin, look in looks]
        if not sign:
            yield from (f"  or {test}" for test in tests)
        else:
            yield f"  or ({_matches(sign + LONG_WORD)} and ({tests[0]}"
            yield from (f"  or {test}" for test in tests[1:-1])
            yield f"  or {tests[-1]}))"
    yield from (f"  or {_matches(mark)}" for mark in MARKS)


def _matches(pattern: str) -> str:
    return f'IsMatch(cache["texts"], "{_escape(pattern)}")'


def _rules() -> Iterator[str]:
    forms = "|".join(f"(?:{'|'.join(map(re.escape, one.begins))})(?:{with_digit(one)})" for one in TOKENS)
    # What stands apart there does so here by what is in front of every pattern.
    shapes = "|".join([*SHAPES, *(form.removeprefix(APART) for _, form, _ in MARKED if form.startswith(APART))])
    for pattern in (f"(?:{forms})", rf"(?:{shapes})\b"):
        yield "- >-"
        yield '  replace_all_patterns(attributes, "value",'
        yield f'  "(^|[^A-Za-z0-9]){_escape(pattern)}",'
        yield '  "$$1[REDACTED:api_key]") where cache["issued"] == true'


def with_digit(one: Issued) -> str:
    """Return the pattern of a token's body with a digit in it, which no word of people has."""
    if one.least > LONG:
        return f"{one.body}{{{one.least},}}"
    letters = one.body.replace("0-9", "").replace(r"\w", "A-Za-z_")
    rest = one.least - 1
    steps = (0, rest // 4, rest // 2, rest)
    forms = [f"[0-9]{one.body}{{{rest},}}"]
    forms += [f"{letters}{{{low + 1},{high}}}[0-9]{one.body}{{{rest - high},}}" for low, high in pairwise(steps)]
    return "|".join([*forms, f"{letters}{{{one.least},}}[0-9]{one.body}*"])


def _escape(pattern: str) -> str:
    return pattern.replace("\\", "\\\\").replace('"', '\\"')
