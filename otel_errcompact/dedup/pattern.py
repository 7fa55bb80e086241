"""
The rules of masking, a regular expression for each group.

All rules in one expression take longer to compile than all else that a first failure needs, and are tried at each word
of a message. So few cheap expressions look for the places where rules may begin, and a group is compiled and tried only
at places that are like what it matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.rules import JOINERS, RULES
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from otel_errcompact.dedup.rules import MaskRule

START: Final = "\n"
"""What stands before a text that is searched, so that a character is before each word."""

_TOKENS: Final = "addr|data|duration|email|hex|ip|num|port|query|size|time"
_TOKENS_IN_NAMES: Final = "hash|id|index|tmp"
_MASKED: Final = (
    rf"<(?:(?:(?:{_TOKENS_IN_NAMES})>(?:{JOINERS}\w+)*|path>(?:/[\w.@+~%#-]*)?|(?:{_TOKENS})>)[^\w\s<]?|value>)"
)
"""Masked text stays, with the text kept beside it, so that a template is its own template."""

_SEPARATOR: Final = r"['\"]?[ :=#(\[,]{1,3}['\"]?"
_NEAR: Final = r"(?=(?=(?P<plain>[A-Za-z_./~+%#-]{0,64}['\" :=#(\[,]{0,4}))(?P=plain)-?[0-9@])"
"""A digit or `@` is near; the look-ahead with a back reference stands for an atomic group."""

_MONTH: Final = "[JFMASOND][aepuco][nbrylgptvc]"


@dataclass(frozen=True, eq=False)
class Start:
    """Where some groups of rules may begin."""

    pattern: re.Pattern[str]
    """Finds them: a place is the last character of a match."""

    signs: tuple[str, ...] = ()
    """Strings of which a text with such a place holds one; none for any text."""

    needs_value: bool = False
    """Whether a text with such a place holds a digit or `@`."""

    longest: int = 0
    """Characters that the longest word between blanks has at least, in a text with such a place."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rules that are tried at the same places."""

    rules: tuple[str, ...]
    """Their names, in the order in which they are tried; none for what is masked already."""

    start: Start
    forms: re.Pattern[str]
    """Matches the texts of the rules; the last group is the rule's name."""

    likely: re.Pattern[str] | None = None
    """Matches at each place where `forms` does, and costs less; None if nothing does."""


def find_forms(text: str) -> Iterator[re.Match[str]]:
    """
    Yield what the rules match, from left to right.

    Args:
        text: What is searched, behind `START`.
    """
    places: list[tuple[int, int]] = []
    has_value = _VALUE.search(text) is not None
    longest = max(map(len, text.split()), default=0)
    for start, orders in _STARTS:
        if (
            (has_value or not start.needs_value)
            and longest >= start.longest
            and (not start.signs or has_any(text, start.signs))
        ):
            for found in start.pattern.finditer(text):
                place = found.end() - 1
                for order in orders:
                    places.append((place, order))  # noqa: PERF401 - a list of one or two costs more
    places.sort()
    end = 0
    for place, order in places:
        if place >= end:
            group = GROUPS[order]
            if group.likely is None or group.likely.match(text, place):
                match = group.forms.match(text, place)
                if match is not None:
                    yield match
                    end = match.end()


def _make_group(*rules: str, start: Start, likely: str = "", before: str = "") -> Group:
    def join() -> str:
        return f"{before}(?:{'|'.join(_write_rule(_BY_NAME[rule]) for rule in rules)})"

    return Group(rules, start, lazy_pattern(join), lazy_pattern(likely) if likely else None)


def _write_rule(rule: MaskRule) -> str:
    # The empty group that names a rule stands behind its pattern: the engine skips an alternative by its first
    # character only where that is a character or a class, and groups in front would cost seven times as much.
    named = f"(?P<{rule.name}>)"
    if not rule.labels:
        return rule.pattern + named
    labels = "|".join(f"(?<={label})" for label in rule.labels)
    return rf"(?:{labels}){_SEPARATOR}(?P<label_{rule.name}>)(?:{rule.pattern}){named}"


_VALUE: Final = lazy_pattern("[0-9@]")
_BY_NAME: Final = {rule.name: rule for rule in RULES}

_ENDS_OF_LABELS: Final = "|".join(sorted({label[-2:] for rule in RULES for label in rule.labels}))

# The class in front lets the engine skip all that is no end of a word.
_WORD_NEAR_VALUE: Final = Start(lazy_pattern(rf"[^A-Za-z0-9_][A-Za-z_](?<!\w.){_NEAR}"), needs_value=True)
_LONG_WORD: Final = Start(lazy_pattern(r"[^A-Za-z0-9_][A-Za-z0-9_](?<!\w.)(?=[A-Za-z0-9_+/-]{15})"), longest=16)
_LONG_OPTION: Final = Start(lazy_pattern(r"-(?<![\w.@~%#+/-].)(?=[A-Za-z0-9_-]{15})"), signs=("-",), longest=16)
_DATE_IN_WORDS: Final = Start(
    lazy_pattern(
        r"[JFMASONDTW](?<!\w.)(?=[aepuco][nbrylgptvc][a-z]{0,6} {1,2}[0-9]"
        r"|(?:on|u[en]|ed|hu|ri|at)[a-z]{0,6},? {1,2}[JFMASOND0-9])"
    ),
    needs_value=True,
)
_LIMIT: Final = Start(
    lazy_pattern(r"[^A-Za-z0-9_][MmLlAanu](?<!\w.)(?=[aitop])"),
    signs=("Max", "max", "Min", "min", "imit", "t most", "t least", "o more than", "p to"),
    needs_value=True,
)
_PHRASE: Final = Start(
    lazy_pattern(r"[iCKFd](?<!\w.)(?=nput_value=|ommand |ey \(|ailing row |up key: )"),
    signs=("nput_value=", "Command ", "Key (", "Failing row", "dup key: "),
)
_LOCATOR: Final = Start(lazy_pattern(r"[^A-Za-z0-9_][A-Za-z](?<!\w.)(?=[a-z0-9+]{0,15}:[\\/])"), signs=(":/", ":\\"))
_DIGIT: Final = Start(lazy_pattern(r"[0-9](?<!\w.)"), needs_value=True)
_SIGNED: Final = Start(lazy_pattern(r"[+-](?<!\w.)(?=[0-9])"), signs=("-", "+"), needs_value=True)
_SLASH: Final = Start(lazy_pattern(r"[/.~](?<!\w.)"), signs=("/",))
_QUOTE: Final = Start(
    lazy_pattern(
        r"['\"](?<!\w.)(?:(?<=[0tgrcdnes]: .)|(?<=[ygat=] .)"
        r"|(?=(?:(?<=')[^'\n<]*'|(?<=\")[^\"\n<]*\") (?:[!=]=|is not |is too |does not )))"
    ),
    signs=("'", '"'),
)
GROUPS: Final = (
    _make_group(
        "uuid",
        start=Start(
            lazy_pattern(r"[^A-Za-z0-9_][0-9a-fA-F](?<!\w.)(?=[0-9a-fA-F]{7}-[0-9a-fA-F]{4}-)"),
            signs=("-",),
            longest=36,
        ),
    ),
    _make_group("ip6", start=Start(lazy_pattern(r"[0-9a-fA-F:](?<!\w.)(?=[0-9a-fA-F:])"), signs=("::",))),
    _make_group("data", start=_LONG_WORD, likely=r".[A-Za-z0-9+/]{63}"),
    _make_group(
        *("code", "error_number", "answer", "argument", "release", "port"),
        start=_WORD_NEAR_VALUE,
        likely=rf"[A-Za-z_]{{1,65}}(?=['\" :=#(\[,])(?<={_ENDS_OF_LABELS})",
        before=rf"[A-Za-z_]{_NEAR}(?=(?P<word>[A-Za-z_]*))(?P=word)(?={_SEPARATOR}-?[v0-9])",
    ),
    _make_group(
        *(
            "email",
            "times",
            "log_stamp",
            "dag_run",
            "test_worker",
            "gateway_object",
            "compiled_name",
            "sample_value",
            "name",
        ),
        start=_WORD_NEAR_VALUE,
        likely=r".[A-Za-z_./~+%#-]{0,64}-?[0-9@]",
        before=rf"[A-Za-z_]{_NEAR}",
    ),
    _make_group("maximum", "limit", start=_LIMIT),
    _make_group("month_first", "weekday", start=_DATE_IN_WORDS),
    _make_group("url", "windows_path", start=_LOCATOR),
    _make_group("reported_value", "command", "row", "failing_row", "duplicate_key", start=_PHRASE),
    _make_group("letters", start=_LONG_WORD, likely="[A-Za-z_][A-Za-z0-9_-]{15}"),
    _make_group("build_folder", start=Start(lazy_pattern(r"D(?=erivedData/)"), signs=("DerivedData/",))),
    _make_group("pet_name", start=Start(lazy_pattern(r"low run ['\"]?[a-z]"), signs=("low run ",))),
    _make_group("letters", start=_LONG_OPTION),
    _make_group(
        *("status", "leading_status", "enclosed_status", "database_code", "service"),
        start=_DIGIT,
        likely=r".(?:(?=[0-9]{2}[:,]? [A-Zpem])|(?<=[(:].)(?=[0-9])|(?<=[\": ] .)(?=[0-9]{2}))",
    ),
    _make_group(
        *("date", "clock", "day_first", "time_stamp"),
        start=_DIGIT,
        likely=(
            r".(?:[0-9]{3}[/-][0-9]|[0-9]?:[0-9]{2}(?::[0-9]{2}| ?[AaPp])|[0-9]{7}[0-9T_-]"
            rf"|[0-9]?(?:[snrt][tdh])?(?:/[0-9]{{1,2}}/|[ /-]{_MONTH}))"
        ),
    ),
    _make_group(
        *("ip", "version", "build_number", "required_version", "address", "braced_address"),
        start=_DIGIT,
        likely=r".(?:[0-9]{0,4}\.[0-9]{1,5}\.|x[0-9a-fA-F]|(?<=[=<>{].))",
    ),
    _make_group(
        *("duration", "joined_duration", "size", "dimensions"),
        start=_DIGIT,
        likely=r".[0-9_]*(?:[.,][0-9]| ?[KMGTPbdhkmnsuwxy\u00b5\u00d7])",
    ),
    _make_group("number", "digits_first", start=_DIGIT),
    _make_group("signed_number", start=_SIGNED),
    _make_group("quoted_path", "path", "here", "home_path", start=_SLASH),
    _make_group("literal", "rejected_literal", start=_QUOTE),
    Group((), Start(lazy_pattern("<"), signs=("<",)), lazy_pattern(_MASKED)),
)
"""In the order in which they are tried at a place."""

_STARTS: Final = tuple(
    (start, tuple(order for order, group in enumerate(GROUPS) if group.start is start))
    for start in dict.fromkeys(group.start for group in GROUPS)
)
