"""What a linter says beside a place: severity, rule and message."""

from __future__ import annotations

from typing import Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

_ERRORS: Final = frozenset(
    {"error", "err", "fatal", "fatal error", "critical", "high", "failure", "fail", "failed", "severe", "e", "f"}
)
_WARNINGS: Final = frozenset(
    {"warning", "warn", "medium", "low", "convention", "refactor", "style", "suggestion", "performance", "w", "c", "r"}
)
_REMARKS: Final = frozenset(
    {"info", "note", "hint", "help", "information", "debug", "trace", "notice", "remark", "log", "i"}
)
_WORD: Final = (
    r"(?i:fatal error|error|err|fatal|critical|high|failure|failed|fail|severe|warning|warn|medium|low|convention"
    r"|refactor|style|suggestion|performance|info|note|hint|help|information|debug|trace|notice|remark|log)"
)
_NUMBERED: Final = r"[A-Z]{1,12}(?:[_-][A-Z0-9]{1,12}){0,4}[_-]?[0-9]{1,6}[a-z]?(?:[/:][\w./-]{1,60})?"
"""`E501`, `CKV_AWS_20`, `MD012/no-multiple-blanks`, `B602:shell`."""

_RULE: Final = (
    r"(?:[@A-Za-z][\w-]{1,40}(?:/[\w-]{1,60}){1,3}|[a-z]{2,20}(?:[-_][a-z0-9]{1,30}){1,8}|[A-Z][a-z]+[A-Z]\w{1,60})"
    r"(?:\[[\w/-]{1,40}\]){0,2}"
)
"""`Style/Tab`, `no-undef`, `fqcn[action-core]`, `MagicNumber`; in a sentence these may be words."""

_CODE: Final = rf"(?:{_NUMBERED}|{_RULE})"
_MARKS: Final = lazy_pattern(r"[\s:|>*~^\u00b7\u2022\u2500-\u259f\u2012-\u2015-]+|%(?=[A-Z])")
_SIGN: Final = lazy_pattern(r"[\u2716\u00d7\u2717\u2718\u2a2f\u274c\u26a0\u2139\u25b2\u25b3!]\ufe0f?\s+")
_REMARK_SIGNS: Final = "\u2139"
_WARNING_SIGNS: Final = "\u26a0\u25b2\u25b3!"
_LABEL: Final = lazy_pattern(r"(?:Issue|Problem|Rule|Check|Violation|Finding|Message|Description): ?")
_SEVERITY: Final = lazy_pattern(
    rf"(?P<word>{_WORD})(?:(?=\[|\()|-(?=[A-Z])|:+\s*|\s+-\s+|\s{{2,}}|\s+(?={_NUMBERED}\b)|$)"
)
_ENCLOSED: Final = lazy_pattern(r"(?:\[(?P<square>[^\[\]\s][^\[\]]{0,80})\]|\((?P<round>[^()\s]{1,80})\)):?(?=\s|$|:)")
_CODED: Final = lazy_pattern(
    rf"(?P<number>{_NUMBERED})(?::(?=\s)|\s+|$)|(?P<rule>{_RULE}|[a-z]\w{{1,40}}(?:\[[\w/-]{{1,40}}\]){{1,2}})(?::(?=\s)|\s{{2,}}|$)"
)
_LETTER: Final = lazy_pattern(r"(?P<word>[EFWCRI]):\s+")
_NAMED: Final = lazy_pattern(r"[\w@/-]{2,40}\((?P<code>[\w@/.-]{2,80})\):\s+")
_BEHIND: Final = lazy_pattern(
    r"(?:\s+\[(?P<square>[^\[\]]{2,80})\]|\s+\((?P<round>[\w@/.:-]{2,80})\)|\s{2,}(?P<apart>[\w@/.-]{3,80}))[.:]?$"
)
_WHOLE_CODE: Final = lazy_pattern(rf"{_CODE}$")
_SIMPLE_CODE: Final = lazy_pattern(r"[\w@][\w@/.:-]{1,80}$")
_OPTIONAL: Final = lazy_pattern(r"\[[*x ]\]\s+")
_MAX_TOKENS: Final = 6


class Wording(NamedTuple):
    """What is said beside a place."""

    severity: str = ""
    """`error`, `warning` or `remark`; empty where nothing is said of it."""

    code: str = ""
    message: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether only a tool that judges code says it in this form."""
        return bool(self.code) or self.severity in ("error", "warning")


def read_wording(said: str, *, is_row: bool = False) -> Wording:
    """
    Return what is said before or behind a place.

    In a row of a table (`is_row`) a severity needs no mark behind it.
    """
    severity = code = ""
    rest = said.rstrip()
    for _ in range(_MAX_TOKENS):
        rest, found = _strip_marks(rest)
        severity = severity or found
        token = _read_token(rest, is_row=is_row, has_code=bool(code))
        if token is None:
            break
        severity, code, rest = severity or token[0], code or token[1], token[2]
    severity, code, rest = _read_end(severity, code, rest)
    return Wording(severity, code.removesuffix("[/]"), " ".join(rest.split()))


def _strip_marks(text: str) -> tuple[str, str]:
    severity = ""
    while text:
        found = _SIGN.match(text)
        if found is not None:
            mark = text[0]
            severity = "remark" if mark in _REMARK_SIGNS else "warning" if mark in _WARNING_SIGNS else "error"
        else:
            found = _MARKS.match(text) or _OPTIONAL.match(text) or _LABEL.match(text)
        if found is None:
            break
        text = text[found.end() :]
    return text, severity


def _read_token(text: str, *, is_row: bool, has_code: bool) -> tuple[str, str, str] | None:
    found = _SEVERITY.match(text) or _LETTER.match(text)
    if found is not None:
        return _severity_of(found["word"]), "", text[found.end() :]
    if is_row:
        word, _, left = text.partition(" ")
        if left and severity_of(word) and word.lower() == word:
            return severity_of(word), "", left
    found = _ENCLOSED.match(text)
    if found is not None:
        severity, code = _split_severity(found["square"] or found["round"])
        return (severity, code, text[found.end() :]) if severity or code else None
    return None if has_code else _read_code(text)


def _read_code(text: str) -> tuple[str, str, str] | None:
    found = _CODED.match(text)
    if found is not None:
        return "", found["number"] or found["rule"], text[found.end() :]
    found = _NAMED.match(text)
    return ("", found["code"], text[found.end() :]) if found is not None else None


def severity_of(word: str) -> str:
    """Return the severity that a word stands for."""
    return _severity_of(word) if len(word) > 1 else ""


def _severity_of(word: str) -> str:
    word = word.lower()
    if word in _ERRORS:
        return "error"
    return "warning" if word in _WARNINGS else "remark" if word in _REMARKS else ""


def _split_severity(enclosed: str) -> tuple[str, str]:
    first, _, rest = enclosed.partition("/")
    severity = severity_of(first.strip())
    if severity:
        return severity, rest if not rest.isdigit() else ""
    return "", enclosed if _WHOLE_CODE.match(enclosed) else ""


def _read_end(severity: str, code: str, text: str) -> tuple[str, str, str]:
    for _ in range(2):
        found = _BEHIND.search(text[-120:])
        if found is None:
            break
        token = found["square"] or found["round"] or found["apart"]
        said, named = _split_severity(token)
        is_code = bool(named) or (bool(severity or said) and _SIMPLE_CODE.match(token) is not None)
        if not said and not is_code:
            break
        if code and named and not said:  # the long name of a rule whose code is known: `E501 ... [line-too-long]`
            named = ""
        severity, code = severity or said, code or named or ("" if said else token)
        text = text[: len(text) - len(found[0])]
    return severity, code, text
