"""Strip the heads of log records: time, process, level and logger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.statements import is_exception_name
from otel_errcompact.extract.table import speakers
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

DATE: Final = r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,:][0-9]{1,9})?"

_ZONE: Final = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})(?!\w))?"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_MOMENT: Final = (
    rf"(?:{DATE}[T ,]{{1,2}}{CLOCK}{_ZONE}|{CLOCK}(?: ?[AP]M)?{_ZONE}"
    rf"|(?:[A-Z][a-z]{{2}} )?{_MONTH} [ 0-9]?[0-9] {CLOCK}(?: [0-9]{{4}})?"
    rf"|[0-9]{{2}}/{_MONTH}/[0-9]{{4}}[: ]{CLOCK}{_ZONE}|1[0-9]{{9}}(?:[0-9]{{3}})?(?:\.[0-9]{{1,9}})?(?=[\] ]))"
)
_TIME: Final = (
    rf"(?:\[ ?{_MOMENT}(?: #[0-9]{{1,8}})? ?\]|\({_MOMENT}\)|{_MOMENT}|\[ {{0,6}}[0-9]{{1,8}}\.[0-9]{{3,9}}\])"
)
_BETWEEN: Final = r"(?:[ \t]{0,8}(?:\||:|-- :|--?|---|\u2502|\u2014|\u00b7)[ \t]{1,8}|:?[ \t]{1,8})"
_PROCESS: Final = (
    r"(?:\[(?:pid|PID|tid|process|thread|worker)[ =:#-]{0,3}[0-9]{1,8}\]|\((?:pid|PID)[ =:]{0,2}[0-9]{1,8}\)"
    r"|(?:pid|PID)[ =:][0-9]{1,8}|\[[0-9]{4,8}(?::[0-9]{1,8})?\]|\([0-9]{4,8}\))"
)
"""The number of a process, where its shape shows that it is one."""

_NAME: Final = r"[A-Za-z_][\w.$/-]{0,80}(?:::?[\w<>.$]{1,60}){0,4}"
_LEVELS: Final = r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|ALERT|EMERG"
_MARK: Final = (
    rf"(?:\[(?!(?i:{_LEVELS}) {{0,4}}\])[\w][\w./:#@-]{{0,60}}\]|\([A-Z][\w-]{{0,40}}\)|[0-9]{{1,8}}|<[0-9.]{{3,30}}>)"
)
"""What may be the number of a process or the name of a thread beside a level."""

_LEVEL: Final = rf"(?:\[ ?(?:[\w]{{1,20}}:)?(?P<marked>(?i:{_LEVELS})) {{0,4}}\]|(?P<bare>{_LEVELS})(?![\w(.!]))"

_SEPARATOR: Final = lazy_pattern(rf"[ \t]{{0,8}}(?:[|:\u2502\u2014\u00b7]|-- :|-{{1,3}})?$|{_BETWEEN}")
_STAMP: Final = lazy_pattern(
    rf"(?P<time>(?:[A-Z], )?{_TIME}(?![^\s|:,\]-]))?(?:(?:(?<=\S){_BETWEEN})?{_PROCESS}(?!\S)){{0,2}}"
    r"(?: (?P<command>##\[(?:error|warning|debug)\]))?"
)
_TO_LEVEL: Final = lazy_pattern(
    rf"(?:{_MARK}{_BETWEEN}){{0,3}}(?:{_NAME}(?:[ \t]-|[ \t]?\|)[ \t]{{1,4}})?{_LEVEL}(?P<colon>:)?(?=\s|$|-|\|)"
)
_LEVEL_WITHOUT_STAMP: Final = lazy_pattern(
    rf"(?:\[{_MOMENT}: (?P<inside>{_LEVELS})/[\w-]{{1,60}}\]"
    rf"|[0-9]{{2,8}}[ \t]{{1,4}}{_LEVEL}(?P<colon>:)?)(?=\s|$|-|\|)"
)
_NUMBERS: Final = r"[0-9]{1,8}#[0-9]{1,8}:(?: \*[0-9]{1,12})?"
"""How nginx numbers a process, a thread and a connection."""

_OF_MESSAGE: Final = r"[0-9]{1,3} |\[[\w.-]{1,40}:[A-Za-z]"
"""A status of HTTP, the name of a plugin: `[vite:css] Unknown word`."""

_MARKS: Final = lazy_pattern(
    rf"{_BETWEEN}(?:--- )?(?:(?!{_OF_MESSAGE}){_MARK}|{_NUMBERS})(?:{_BETWEEN}{_MARK}){{0,2}}(?!\S)"
)
_LOGGER: Final = lazy_pattern(
    rf"{_BETWEEN}(?P<name>{_NAME})(?:\[[0-9]{{1,8}}\])?(?P<sign>:|(?=\t|$)|[ \t](?::|-|\||\u2014))(?!\S)"
)
_SIGNS: Final = " :|-\t"
_OF_SYSLOG: Final = lazy_pattern(r" (?:[\w.-]{1,64} )?[\w./-]{1,60}\[(?:[0-9]{1,8}|[a-z]{1,20}\.[0-9]{1,6})\]:(?!\S)")
_STARTS: Final = frozenset("[(0123456789p")
_SYSLOG: Final = "syslog"
_OF_GOOD_RUNS: Final = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
_MANY: Final = 3
"""Records from which on a level that all of them have is none of the program."""

_FILE: Final = lazy_pattern(
    r"(?<!\.go):[0-9]|\.(?:sh|bash|py|js|ts|c|h|cc|cpp|rs|rb|pl|php|java|ya?ml|json|toml|txt|cfg)$"
)
_CODE: Final = lazy_pattern(r"[0-9]{1,8} \(")
_NO_LOGGERS: Final = frozenset({"e", "error", "fatal", "warning", "note", "panic", "usage", "test", "fork", "exec"})
"""What stands before a message beside the names of programs, and is no logger."""


class _Head(NamedTuple):
    """The head of a log record: where each part ends, without separators."""

    line: str
    level: str
    stamped: int
    """Where time and process end, or 0."""

    levelled: int
    """Where the level ends."""

    end: int
    """Where the marks and the name of the logger behind the level end."""

    @property
    def logger(self) -> str:
        return self.line[self.levelled : self.end].strip(_SIGNS)

    @property
    def message(self) -> str:
        """What stands behind the level."""
        return self.line[self.levelled :].lstrip()

    @property
    def says(self) -> bool:
        """Whether the record has a message."""
        return bool(self.line[self.end :].strip(_SIGNS))


def strip_records(text: str) -> str:
    """
    Return `text` without what makes log records of its lines.

    Records of several levels keep them: they tell which one is the failure. Where only the first line is a record,
    the others belong to its message, unless it only informs: then a program wrote it before it failed.
    """
    if not (text[:1] in _STARTS or text[3:4] == " " or text[1:3] == ", "):
        return text
    first = _read_head(text[: text.find("\n")] if "\n" in text else text)
    if first is None:
        return text
    lines = text.split("\n")
    heads = [_read_head(line) if line else None for line in lines]
    said = [head for head in heads if head is not None]
    if len(said) == 1:
        if first.level in _OF_GOOD_RUNS and len(lines) > 1:
            return text
        end = _end_of(first, said)
        separator = _SEPARATOR.match(text, end)
        return text[separator.end() if separator else end :]
    if len(said) < sum(map(bool, lines)):
        return text
    ends = [_end_of(head, said) if head is not None else 0 for head in heads]
    return "\n".join(line[end:] for line, end in zip(lines, _skip_separators(lines, ends), strict=True))


def _skip_separators(lines: Sequence[str], ends: Sequence[int]) -> list[int]:
    signed = [_SEPARATOR.match(line, end) for line, end in zip(lines, ends, strict=True)]
    signs = {
        found[0].strip() for found, line, end in zip(signed, lines, ends, strict=True) if found and end < len(line)
    }
    is_shared = len(signs) == 1 and all(
        found for found, line, end in zip(signed, lines, ends, strict=True) if end < len(line)
    )
    starts = [
        found.end() if found and is_shared else end + len(line[end:]) - len(line[end:].lstrip(" \t"))
        for found, line, end in zip(signed, lines, ends, strict=True)
    ]
    return align(lines, starts)


def align(lines: Sequence[str], ends: Sequence[int]) -> list[int]:
    """Return where prefixes end if all have equally many blanks; more indent a message."""
    blanks = [end - len(line[:end].rstrip()) for line, end in zip(lines, ends, strict=True)]
    least = min((count for count, line, end in zip(blanks, lines, ends, strict=True) if end < len(line)), default=0)
    return [end - max(0, count - least) for count, end in zip(blanks, ends, strict=True)]


def _read_head(line: str) -> _Head | None:
    stamp = _STAMP.match(line)
    stamped = stamp.end() if stamp else 0
    separator = _SEPARATOR.match(line, stamped) if stamped else None
    start = separator.end() if separator else stamped
    level = (_TO_LEVEL if stamped else _LEVEL_WITHOUT_STAMP).match(line, start)
    if level is None:
        if not stamped:
            return None
        syslog = _OF_SYSLOG.match(line, stamped) if stamp and stamp["time"] else None
        end = syslog.end() if syslog else stamped
        return _Head(line, _SYSLOG if syslog else "", stamped, end, end)
    name = next(filter(None, level.groups()))
    if level["colon"]:
        return _Head(line, f"{name}:", stamped, level.end(), level.end())
    marks = _MARKS.match(line, level.end())
    end = marks.end() if marks else level.end()
    logger = _LOGGER.match(line, end)
    if logger is not None and _is_logger(logger["name"], logger["sign"]):
        end = logger.end()
    return _Head(line, name, stamped, level.end(), end)


def _is_logger(name: str, sign: str) -> bool:
    is_program = name.lower() in _NO_LOGGERS or name.lower() in speakers()
    return sign != ":" or not (is_program or is_exception_name(name) or _FILE.search(name))


def _is_statement(head: _Head) -> bool:
    # Programs state failures as `ERROR: ...`, `ERROR 2002 (...)` and `ERR ...`.
    has_code = head.level != _SYSLOG and _CODE.match(head.message) is not None
    return head.level.endswith(":") or head.level == "ERR" or has_code


def _end_of(head: _Head, heads: Sequence[_Head]) -> int:
    if any(other.level != head.level for other in heads):
        return head.stamped
    if len(heads) < _MANY and _is_statement(head):
        return head.stamped
    loggers = {other.logger for other in heads if other.says}
    if len(loggers) != 1:
        return head.levelled
    if loggers == {head.logger}:
        return head.end
    return len(head.line) if head.message.strip(_SIGNS) in loggers else head.levelled
