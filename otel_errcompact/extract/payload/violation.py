"""Violations of rules by an input, the same for all libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_VIOLATIONS: Final = 100

GENERIC_CODES: Final = lazy_pattern(
    r"(?i)validation|zod|invalid_?(?:type|input|argument|request|param|field|format)s?|bad_?request|unprocessable"
    r"|schema|toolinput|\A-32602\Z|parse_error"
)
"""Codes that say no more than that some input breaks rules."""

_MIN_SAID: Final = 5
"""Characters of a value that show that a message names it; fewer may stand there by chance."""

_MAX_VALUE: Final = 60
_MAX_INLINE: Final = 200
_LONG_WINDED: Final = lazy_pattern(r", unable to parse string as an? \w{1,20}$|^Value error, ")
_HUMP: Final = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_INDEX: Final = lazy_pattern(r"(?<![^.])[0-9]+(?![^.])")
_BRACKETS: Final = lazy_pattern(r"\[['\"]?([^\]'\"]{1,80})['\"]?\]")
_PROPERTY: Final = lazy_pattern(
    r"(?:required property|the required component|[Mm]issing (?:properties|property|required argument|key)s?:?"
    r"|unexpected keyword argument|additional (?:property|properties)|[Uu]nrecognized key(?:\(s\)|s)?(?: in object)?:?)"
    r"(?: named)? ?['\"](?P<behind>[\w.$-]{1,80})['\"]"
    r"|['\"](?P<before>[\w.$-]{1,80})['\"] (?:is a required|was unexpected|is required)"
)
_TYPES: Final = (
    ("integer", r"\bint(?:eger)?\b|\bint_"), ("number", r"\b(?:number|float|double|decimal)\b|\bfloat_|\bdecimal_"),
    ("string", r"\bstr(?:ing)?\b|\bstring_(?:type|sub_type)"), ("boolean", r"\bbool(?:ean)?\b|\bbool_"),
    ("array", r"\b(?:array|list|tuple|set|sequence)\b|\blist_"),
    ("object", r"\b(?:object|dict(?:ionary)?|map(?:ping)?)\b|\b(?:dict|model)_"),
    ("null", r"\b(?:null|none)\b|\bnone_"),
    ("date", r"\bdate|\btime"), ("uuid", r"\buuid"), ("url", r"\bur[li]\b|\burl_"),
)  # fmt: skip
_RULES: Final = tuple(
    (name, lazy_pattern(pattern))
    for name, pattern in (
        ("type", r"\ba valid (?:\w{2,20} )?\w{2,20} is required"),
        ("required", (
            r"^(?:value_error\.)?missing|\bmissing_(?:field|argument|keyword)|\brequired\b(?! to)|received undefined"
            r"|is missing\b|got (?:undefined|nothing)|may not be (?:null|blank)|can't be blank|\bnotnull\b|notblank"
        )),
        ("unexpected", (
            r"^(?:value_error\.)?extra|extra_forbidden|additional ?prop|unrecognized[_ ]key|unexpected[_ ]keyword"
            r"|was unexpected|not permitted|unknown (?:field|key|argument|parameter|property)"
            r"|unevaluated ?prop|is not allowed\b"
        )),
        ("enum", (
            r"\benum\b|literal_error|invalid_enum|invalid_literal|not one of|one of\b|allowed values|not a valid choice"
            r"|invalid option|(?:should|must) be '[^']{1,60}'(?:,| or )"
        )),
        ("length", (
            r"too_(?:long|short)|m(?:in|ax)_?(?:length|items)\b|at (?:least|most) [0-9]{1,9} (?:char|item)"
            r"|too (?:long|short)"
        )),
        ("min", (
            r"greater_than|\bmin\b|\bgte?\b|\bge\b|too_small|minimum\b|at least|greater than|>= ?-?[0-9]"
            r"|less than the min"
        )),
        ("max", (
            r"less_than|\bmax\b|\blte?\b|\ble\b|too_big|maximum\b|at most|less than|<= ?-?[0-9]"
            r"|greater than the max"
        )),
        ("pattern", r"pattern|regex|does not match|invalid_format|invalid_string"),
        ("type", (
            r"_type$|_type\b|_parsing|type_error|invalid_type|not of type|not a valid|not a '|^type\b"
            r"|should be an? valid|must be an? |must be (?:string|number|integer|boolean|array|object|null)"
            r"|expected `?\w|_from_float"
        )),
    )
)  # fmt: skip

_BOUNDED: Final = frozenset({"min", "max", "length"})
"""Rules that another bound makes another rule."""

_NUMBER: Final = lazy_pattern(r"(?P<bound>-?[0-9][0-9._]{0,20})")
_BOUND: Final = lazy_pattern(
    r"(?i)(?:(?:least|most|more than|less than|greater than|fewer than|than|minimum|maximum|min|max|limit|up to"
    r"|exceeds?)(?: or equal to| value)?(?: of| is| be)?|[<>]=?)[ :]{0,2}(?P<bound>-?[0-9](?:[0-9._]{0,20}[0-9])?)"
)
_IS_NULL: Final = lazy_pattern(r"(?:received|got) null\b")


class Violation(NamedTuple):
    """One rule that some input breaks."""

    path: str = ""
    message: str = ""
    rule: str = ""
    """The rule as its reporter names it."""

    got: str = ""
    expected: str = ""

    def __str__(self) -> str:
        said = self._write_reason()
        return clip(f"{self.path}: {said}" if self.path else said, MAX_DETAIL)

    def _write_reason(self) -> str:
        got, expected = clip(self.got, _MAX_VALUE), clip(self.expected, _MAX_VALUE)
        message = _LONG_WINDED.sub("", " ".join(self.message.split())).rstrip(":")
        if not message:
            values = (f"got {got}" if got else "", f"expected {expected}" if expected else "")
            return ", ".join(filter(None, (self.rule if not expected else "", *values))) or "invalid"
        plain = _simplify_text(message)
        more = (
            f"got {got}" if got and (len(got) < _MIN_SAID or _simplify_text(got) not in plain) else "",
            f"expected {expected}" if expected and _simplify_text(expected) not in plain else "",
        )
        code = f" [{self.rule}]" if self.rule and not _is_plain_rule(self.rule) and self.rule not in message else ""
        said = ", ".join(filter(None, more))
        return f"{message}{code} ({said})" if said else f"{message}{code}"

    def key(self) -> str:
        """Return the field without list indexes and the rule, never a value."""
        text = f"{self.rule} {self.message}".lower()
        is_missing = self.got == "undefined" or "received undefined" in self.message
        rule = "required" if is_missing else _named_rule(self.rule) or _rule_in(text.strip())
        path = _path_of_key(self.path)
        if rule in ("required", "unexpected"):
            named = _PROPERTY.search(self.message)
            name = (named["behind"] or named["before"]) if named else ""
            if name and path.rpartition(".")[2] != name:
                path = f"{path}.{name}" if path else name
        elif rule == "type":
            said = f"{self.rule} {self.expected} {self.message}".lower()
            rule = next((name for name, pattern in _EXPECTED_TYPES if pattern.search(said)), "type")
        if rule not in ("required", "unexpected") and _IS_NULL.search(self.message):
            rule = f"{rule}, got null".removeprefix(", ")
        elif rule in _BOUNDED:
            # Behind this word a mask keeps the number.
            bound = _BOUND.search(self.message) or _NUMBER.fullmatch(self.expected)
            rule = f"{rule}, limit {bound['bound']}" if bound else rule
        if not rule:
            message = _LONG_WINDED.sub("", " ".join(self.message.split()))
            rule = f"{self.rule}: {message}" if self.rule and message else self.rule or message
        return f"{path} [{rule}]".lstrip()


def key_of(violations: Iterable[Violation]) -> str:
    """Return what makes two sets of violations the same."""
    return ", ".join(sorted({violation.key() for violation in violations}))


def describe(message: str, violations: Sequence[Violation]) -> tuple[str, tuple[str, ...]]:
    """
    Return violations as a cause in one line, and further lines.

    The message is what is stated of all of them.
    """
    lines = list(dict.fromkeys(str(violation) for violation in violations if not _is_said(violation, message)))
    if not message and len(violations) == 1:
        return str(violations[0]), ()
    head = message or f"{len(violations)} validation errors"
    if not lines:
        return head, ()
    joined = "; ".join(lines)
    if len(joined) <= _MAX_INLINE:
        return f"{head.rstrip('.:')}: {joined}", ()
    if len(head) + len(lines[0]) <= _MAX_INLINE:
        return f"{head.rstrip('.:')}: {lines[0]}", tuple(lines[1:])
    return head, tuple(lines)


def _is_said(violation: Violation, message: str) -> bool:
    said = violation.message.rstrip(".")
    return bool(said) and said in message and violation.path.rpartition(".")[2] in message and not violation.got


def _is_plain_rule(rule: str) -> bool:
    return bool(_named_rule(rule)) or GENERIC_CODES.search(rule) is not None or rule in ("value_error", "custom")


def _named_rule(rule: str) -> str:
    words = _HUMP.sub("_", rule).lower()
    return _rule_in(rule.lower()) or _rule_in(words) or _rule_in(words.replace("_", " "))


def _rule_in(text: str) -> str:
    return next((name for name, pattern in _RULES if pattern.search(text)), "") if text else ""


_EXPECTED_TYPES: Final = tuple((name, lazy_pattern(pattern)) for name, pattern in _TYPES)


def _path_of_key(path: str) -> str:
    path = _BRACKETS.sub(r".\1", path).removeprefix("$").removeprefix("#")
    if "/" in path and " " not in path:
        path = path.replace("/", ".")
    return _INDEX.sub("<num>", path.strip("."))


def _simplify_text(text: str) -> str:
    return text.strip("'\"`").lower()
