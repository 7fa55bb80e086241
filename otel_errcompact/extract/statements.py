"""Forms in which a line states an error, whatever program printed it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.forms import Lines, form
from otel_errcompact.extract.lexicon import Sense, forms_of, join_words
from otel_errcompact.runtime.lazy import lazy_pattern

GENERIC_TYPES: Final = frozenset({"error", "fatal", "Error", "Exception", "ERROR", "_OTHER", ""})
"""Types that say no more than that something failed."""

_BULLET: Final = r"(?:[-*\u2022\u2718\u2716\u2717\u00d7>!\u2502\u274c] |%|##)?"
_TIMESTAMP: Final = form(
    r"[EF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\.{number} {1,9}{number} [\w./-]{1,100}:{number}\] |"
    r"\[?(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ])?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,]{number})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?(?: [-|])? +"
)
_STARTS_OF_TIME: Final = frozenset("[0123456789EF")
_TYPED: Final = lazy_pattern(
    rf"{_BULLET}(?:[A-Z]{{1,4}}[0-9]{{3,5}} )?(?:Uncaught (?:\(in promise\) )?|Unhandled exception: )?"
    r"(?P<type>[A-Za-z_][\w.$<>]{1,200})(?: \[\w{1,60}\])?(?:: (?P<message>.*)|:?$)"
)
_EXCEPTION_NAME: Final = form(
    r"(?:Error|Exception|Failure|Fault|Interrupt|Timeout|Exceeded|Refused|Denied|NotFound|Unavailable|Violation"
    r"|Iteration|ExceptionGroup|Aborted|Cancelled|Expired|Overflow|Disconnected|Closed)$"
)
_QUALIFIED_NAME: Final = form(r"\.[A-Z]\w*$")
_LOCATED: Final = form(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:\"'()|]{1,400})(?::{line}(?::{number})?:|\((?P<row>{number}),{number}\):) "
    r"(?:fatal error|error|Error|ERROR)(?:\[(?P<code>[\w-]{1,60})\]| (?P<number>[A-Z]{1,8}[0-9]{2,6}))?: "
    r"(?P<message>.*)"
)
_SEVERITY: Final = lazy_pattern(
    rf"{_BULLET}\[?(?P<severity>(?i:error|fatal|panic|critical|failure|fatal error))\]?"
    r"(?:\[(?P<code>\w{1,60})\]| (?P<number>[A-Z]{1,8}[0-9]{2,6}))? ?: {1,3}(?P<message>\S.*)"
)
_BY_PROGRAM: Final = lazy_pattern(
    r"(?P<program>[\w.@+/-]{1,80}): (?:\[(?P<framed>emerg|alert|crit|error|fatal)\] (?:[0-9#*]{1,20}: )?"
    r"|(?:[A-Z]\w{1,20} )?(?P<severity>(?i:error|fatal|critical|fatal error|panic)) ?: {1,3})(?P<message>\S.*)"
)
_FOREIGN: Final = lazy_pattern(
    r"[\[(]?(?:Fehler|Erreur|Error[ei]|Fout|Błąd|Fel|Feil|Fejl|Virhe|Hata|Chyba|Ошибка|Помилка|错误|錯誤|エラー|오류)[\])]?"
    r"(?: ?[:\uff1a] ?|(?<=[\])]) )(?P<message>\S.*)",
    re.IGNORECASE,
)
"""How programs in other languages begin a statement of an error."""

_CODE: Final = form(
    r"\[?(?P<code>[A-Z]{1,6}-[0-9]{3,6}|[A-Z]{1,6}[0-9]{3,6}|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+|0x[0-9A-Fa-f]{8})\]?(?=:?(?:\s|$))"
)
_MAX_TYPES: Final = 4
"""Types before one message that are looked through: `Error: Error: KeyError: 'id'`."""

_LEVEL: Final = lazy_pattern(
    rf"{_BULLET}(?:[\w.]{{1,80}} - )?\[?(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|ALERT|EMERG|CRIT|ERR!|error(?=\]))"
    r"(?!\w)\]?(?::[\w.]{1,80}:| -| {1,9}\([0-9]{1,9}\) :|:)? {0,8}(?P<message>\S.*)"
)
_HEADING: Final = form(r"(?i:(?:fatal )?errors?|failed|failure)\b[^:]{0,80}:$")
_TELLING: Final = lazy_pattern(lambda: join_words(forms_of(Sense.FAILED), r"\b"))
_TELLING_ABROAD: Final = lazy_pattern(
    r"échou|échec|introuvable|refus|ungültig|inválid|falló|no se (?:pudo|puede|encontr)|não|nieprawid|błąd"
    r"|ошибк|не удалось|не найден|невозможно|отказ|错误|錯誤|失败|失敗|无法|無法|找不到|不存在|未找到|拒绝|违反|无效"
    r"|エラー|できません|見つかりません|오류|실패|없습니다"
)


class Statement(NamedTuple):
    """What one line states: a type, a message, and where."""

    type: str
    message: str
    location: Location = NOWHERE


def indentation(line: str) -> int:
    """Return how many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


def is_exception_name(name: str) -> bool:
    """Tell whether `name` is how programming languages name exceptions: `KeyError`, `httpx.ReadTimeout`."""
    return _EXCEPTION_NAME.search(name) is not None or _QUALIFIED_NAME.search(name) is not None


def statement_of(line: str) -> Statement | None:
    """Return what a line states if it has one of the strict forms of an error, else nothing."""
    line = strip_timestamp(line)
    return _read_typed(line) or _read_located(line) or _read_severity(line)


def is_heading(line: str) -> bool:
    """Tell whether a line announces the error that the next one states: `error during build:`."""
    return line.endswith(":") and _HEADING.match(line) is not None


def last_statement(lines: Lines, *, known: str = "") -> str:
    """
    Return the last line that states an error, and its heading.

    Lines that say again what is stated already (`known`) do not count.
    """
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if known and known in line:
            continue
        if is_heading(line):
            return " ".join(lines[number : number + 2])
        if statement_of(line) is not None:
            return line
    return ""


def is_telling(line: str) -> bool:
    """Tell whether a line of prose has a word that failures are told with."""
    lowered = line.lower()
    return _TELLING.search(lowered) is not None or (not line.isascii() and _TELLING_ABROAD.search(lowered) is not None)


def is_log_record(line: str) -> bool:
    """Tell whether a line begins with the time a log record begins with."""
    return line[:1] in _STARTS_OF_TIME and _TIMESTAMP.match(line) is not None


def strip_timestamp(line: str) -> str:
    """Return a log record without its time."""
    found = _TIMESTAMP.match(line) if line[:1] in _STARTS_OF_TIME else None
    return line[found.end() :] if found else line


def _read_typed(line: str, depth: int = 0) -> Statement | None:
    found = _TYPED.match(line)
    if found is None or not is_exception_name(found["type"]):
        return None
    kind, message = found["type"], found["message"] or ""
    inner = _read_typed(message, depth + 1) if message and kind in GENERIC_TYPES and depth < _MAX_TYPES else None
    return inner or Statement(kind, message)


def _read_located(line: str) -> Statement | None:
    found = _LOCATED.match(line) if "rror" in line or "ERROR" in line else None
    if found is None:
        return None
    place = Location(file=found["file"], line=int(found["line"] or found["row"]))
    return Statement(found["code"] or found["number"] or "error", found["message"], place)


def _read_severity(line: str) -> Statement | None:
    found = _SEVERITY.match(line) if ": " in line else None
    if found is not None:
        kind = found["code"] or found["number"] or found["severity"].lower()
        inner = _read_typed(found["message"]) if kind == "error" else None
        return inner or Statement(kind, found["message"])
    found = _LEVEL.match(line)
    if found is not None:
        return Statement("error", found["message"])
    return _by_program(line) or (None if line.isascii() and line[:1] not in "FEfe" else _in_other_language(line))


def _by_program(line: str) -> Statement | None:
    found = _BY_PROGRAM.match(line) if ": " in line else None
    if found is None or is_exception_name(found["program"]):
        return None
    kind = (found["framed"] or found["severity"]).lower()
    return Statement(kind, f"{found['program']}: {found['message']}")


def _in_other_language(line: str) -> Statement | None:
    found = _FOREIGN.match(line)
    return Statement("error", found["message"]) if found else None


def code_of(message: str) -> str:
    """Return the code of an error with which a message begins: `ORA-00942`."""
    found = _CODE.match(message)
    return found["code"] if found is not None else ""
