"""Signs of failures that no tool reports."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.bodies import body_reports_error
from otel_errcompact.detector.clauses import NO_MEASURE, answers_with_status, says_why
from otel_errcompact.detector.complaints import (
    OF_PARSER,
    complains_of_argument,
    complains_only,
    is_complaint,
    is_complaint_of_any,
    may_be_complaint,
)
from otel_errcompact.detector.refusals import (
    MAX_SHORT,
    SAID_BY_TOOL,
    TIMED_OUT,
    TYPED,
    UNABLE,
    is_of_harness,
    may_be_refusal,
    names_argument,
    refuses,
    refuses_argument,
)
from otel_errcompact.detector.tallies import ends_with_passed_tests, tally_reason
from otel_errcompact.detector.words import Words, lower
from otel_errcompact.extract.cleaning.framing import may_be_framed, read_frame
from otel_errcompact.extract.format import Sign
from otel_errcompact.extract.table import listings
from otel_errcompact.extract.text import read_source
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.detector.roles import Call

MAX_LOOKED_AT: Final = 32_768
"""Characters at each end of a result that are searched for the signs of a hidden failure."""

_HEAD: Final = 1_000
_END: Final = 300
_FIRST_LINES: Final = 3
_LAST_LINES: Final = 2
_MAX_LAST: Final = 500
_MAX_CLOSING: Final = 12
_MAX_LINES_OF_COMPLAINT: Final = 30

_WORDS: Final = (
    "error", "fail", "no such", "not found", "cannot", "denied", "exit status", "exited", "can't", "could not",
    "unable to", "invalid",
    "exception", "unknown", "timed out", "timeout", "fatal", "usage:", "is a directory", "not a directory",
    "unrecognized",
    "unbound", "unexpected e", "unexpected t", "unexpected n", "missing ", "refused", "killed", "terminated",
    "abort", "illegal", "not recognized", "broken",
    "does not exist", "doesn't exist", "not exist", "(eval):", ":in ", "segmentation fault", "time limit", "too long",
    "sh: ", "cancel", "no output", "took more", "not known", "unterminated", "can not",
    "no match", "not permitted", "expired", "no manual", "required", "no entry", "requires an", "bad option",
    "bad substitution", "zsh:", "unmatched", "unbalanced",
    "ambiguous", "unsupported", "not allowed", "unreachable", "no route", "syntax of", "are not ", "is not ",
    "bad math",
    "too many", "expected", "auth login", "must ", "accepts ", "no checks",
)  # fmt: skip
"""What the output of a failed program holds at least one of, in small letters, where no sign of a format shows it."""

_WORDS_OF_SHORT: Final = (
    "was not ", "were not ", "not valid", "not a valid", "not installed", "not supported", "not enabled",
    "not available", "not loaded", "not defined", "not match", "not running", "not be ", "not ready", "not iterable",
    "did not", "no module", "no space", "no matching", "no stash", "there is no", "in use", "forbidden", "unauthorized",
    "bad gateway", "unavailable", "enotfound", "eaddrinuse", "etimedout", "enoent", "econnrefused", "econnreset",
    "eacces", "by zero", "by 0", "out of range", "out of memory", "out of bounds", "undefined", "exceeded", "rejected",
    "oops", "insufficient", "already exists", "already in", "please ", "changed significantly", "page not", "gone",
    "constraint", "duplicate key", "dial tcp", "max retries", "doesn't", "didn't", "couldn't", "wrong number",
    "upstream", "expecting ", "is locked", "busy", "giving up", "unacceptable", "at least", "not met", "outdated",
    "went wrong", "checksum", "mismatch", "is already ", "do not have", "does not have", "not have permission",
)  # fmt: skip
"""What a short output of a failed program may hold instead: in a long one such words stand often."""

_EVERYWHERE: Final = ("error", "fail", "exception", "fatal", "could not", "cannot", "no such", "** (")
"""What is looked for in a whole output; all else at its ends: lines of a format follow each other, to its summary."""

_HARMLESS_LAST: Final = lazy_pattern(
    r"(?i)[^\n]{0,200}\b(?:0 (?:errors?|failures?|failed)|no errors?|without errors?)\b"
)
_ENDS_WELL: Final = lazy_pattern(r"Successfully [a-z]{3,20}\b|Setting up \S{1,100} \(|Processing triggers for \S")
"""Last lines of package managers whose earlier complaints did not stop them."""

_LAST_WORDS: Final = lazy_pattern(
    r"(?:(?:[A-Za-z_][\w.]{0,100}(?:Error|Exception)|Error|ERROR|error|fatal|FATAL|Fatal error|fatal error|panic"
    r"|Aborted|Exception)(?:\[[^\]\n]{1,60}\]|\([^)\n]{1,60}\))?: \S"
    r"|(?:[a-z_]\w{0,60}\.){1,8}[A-Z]\w{0,80}(?:(?:Error|Exception|Timeout|Exit|Interrupt)$|: \S)"
    r"|[^\n]{1,300} at \S{1,200} line [0-9]{1,7}\.$|\S[^\n:]{0,200}: (?:No such file or directory|Permission denied"
    r"|(?:file|directory) not found|Invalid argument|Invalid data found when processing input|Connection refused"
    r"|command not found)$"
    r"|(?:Segmentation fault|Bus error|Aborted|Killed|Terminated|Illegal instruction"
    r"|Floating point exception)(?: \(core dumped\))?(?:: [0-9]{1,2})?$"
    r"|exit status [1-9]|(?:[Pp]rocess|[Cc]ommand) [^\n]{0,60}(?:by|with|on) signal\b|(?:\u2717|\u274c|\u2716"
    r"|\u00d7) \S|\[?(?:ERROR|FATAL)\]?:? \S|\[(?:error|fatal)\]:? \S|Aborting\.?$|Command failed\b"
    r"|[\w/.@:-]{1,100} (?:exited|failed|finished|terminated) with (?:exit )?(?:code|status) [1-9]"
    r"|\w[^\n]{0,120} returned with error code [1-9]|(?:AssertionError"
    r"|KeyboardInterrupt|RecursionError|MemoryError|NotImplementedError|StopIteration|TimeoutError|SystemError)$"
    r"|(?:[A-Z][\w-]{1,20}(?: [\w./:-]{1,40}){0,4}) (?:failed|FAILED)(?: with (?:exit (?:code"
    r"|status) )?[1-9][^\n]{0,60}| \([^)\n]{1,60}\))?[.!]?$)"
)
"""Last lines in which a program ends with an error."""

_SIGNS: Final = (
    Sign("a crash", r"(?:Segmentation fault|Bus error)(?: \(core dumped\))?$", ("segmentation fault", "error")),
    Sign("a crash", r"Aborted \(core dumped\)$", ("abort",)),
    Sign(
        "an error in a file",
        # Compilers, Ruby and shells begin alike, and what they share is looked for once.
        r" {0,4}[^\s:]{1,300}:(?:[0-9]{1,7}(?::[0-9]{1,7})?(?:: (?:fatal )?error(?:\[[^\]\n]{1,60}\])?"
        r"| - error(?: TS[0-9]{3,5})?): "
        r"|[0-9]{1,7}:in [`'][^\n]{1,300}: [^\n]{1,2000} \([A-Z][\w:]{1,100}\)$"
        r"| line [0-9]{1,7}: +[0-9]{1,9} (?:Killed|Segmentation fault|Aborted|Bus error)\b)",
        ("error", ":in ", "killed", "segmentation fault", "abort"),
    ),
    Sign("an error in a file", r" {1,8}[0-9]{1,7}:[0-9]{1,7} {1,12}error {1,12}\S", ("error",)),
    Sign("an error in a file", r"error\[[\w:-]{1,60}\]: [^\n]{1,500}\n {0,8}--> [^\n]{1,300}:[0-9]", ("error",)),
    Sign("an error in a file", r"[^\S\n]{0,300}\^-{0,300}\^? SC[1-3][0-9]{3}\b", ("sc1", "sc2", "sc3")),
    Sign(
        "counted errors",
        r"[^\w\n]{0,12}(?:[A-Za-z:]{2,12} ){0,2}[1-9][0-9]{0,6} (?:(?:[a-z]{2,20} )?(?:[Ee]rror|[Ff]ailure)\(s\)"
        r"|(?:out )?of [0-9]{1,7} (?:[a-z]{2,20} )?(?:have |has )?(?:failed|FAILED)\b)"
        r"|[^\w\n]{0,8}Failed [1-9][0-9]{0,6} (?:tests?|checks?|specs?|suites?)\b",
        ("error", "fail"),
    ),
    Sign("an exception", r"node:internal/\S{1,100}:[0-9]{1,6}\n", ("node:internal",)),
    Sign("a failed build", r"\* What went wrong:$", ("went wrong",)),
    Sign(
        "an error in a file",
        r"\timports \S{1,300}: (?:import cycle|use of internal package \S{1,300}) not allowed",
        ("imports",),
    ),
    Sign(
        "a shell error",
        r"[^\n]{0,300}\bexec: \"[^\"\n]{1,200}\": executable file not found in [$%]PATH",
        ("executable file",),
    ),
)
"""How a failure shows in the output of programs of several formats."""

_IN_WORDS: Final = lazy_pattern(rf"(?:{NO_MEASURE}[A-Z][a-z]{{2,14}} ){{1,2}}[Ee]rror: [^\s0-9\[({{]")
"""How an output begins that is an error with its type in words: `Usage Error: Couldn't find a script`."""

_MAX_CANDIDATES: Final = 600
_PRINTED: Final = frozenset({"a traceback", "an exception", "an error in a file"})
"""What passing tests may print of an error that they provoke."""

_WORK_FAILED: Final = lazy_pattern(r"[A-Z][a-z]{2,20}(?: [a-z]{2,20}){0,3} failed: \S")

_OPENS_ANSWER: Final = frozenset("{<(")
_LABELS: Final = ("std", "Std", "STD", "Command", "Output", "Ran", "$ ")
_LABELLED: Final = lazy_pattern(
    r"(?m)^[\[<]?(?:std(?:out|err)|STD(?:OUT|ERR)|Std(?:out|err)|Command|Output|Ran|\\$ )\b"
)
_LABEL: Final = lazy_pattern(
    r"(?:[\[<]?(?:[Ss]td(?:out|err)|STD(?:OUT|ERR)|Output|Error|stream)[\]>]?(?: \((?:out|err)\))?:)(?:\s|$)"
)
_HEADER: Final = lazy_pattern(
    r"(?:[\[<]?(?:[Ss]td(?:out|err)|STD(?:OUT|ERR)|[Oo]utput|OUTPUT|Error|Signal|Background PIDs"
    r"|Process Group PGID)[\]>]?:?\s*(?:\((?:empty|none|no output)\))?"
    r"|(?:Command|Directory|Working directory|Cwd|CWD|Shell|Exit Code|Exit code|Duration|Time|Signal|Background PIDs"
    r"|Process Group PGID|PID|Status|Ran): [^\n]*|-{3,}|={3,}|\$ [^\n]*)$"
)
"""Lines in which a harness names the parts of a result."""

_PROVIDES: Final = lazy_pattern(r"\|\||\buntil\b|\bwhile\b|\bretry\b|set \+e")
"""Commands that provide for a failure, and are judged by how they end."""

_QUERIES: Final = lazy_pattern(r"(?i)\bselect\b[^\n]{1,300}?\bfrom\b|\bredis-cli [^\n]{0,60}\b(?:h?m?get|lrange)\b")
"""Questions to databases, in whose rows any words may stand."""

_PREFIXED: Final = lazy_pattern(
    r"\s|[\[({<>|*#]|\S{1,60}:\s|\S{0,60}[0-9]{1,4}[-:/.][0-9]{2}"
    r"|[^\n]{0,60}(?:[|\t\]]|\b[0-9]{1,2}:[0-9]{2}:[0-9]{2})"
)
"""How each line of an output may begin that has a time or a name of a stream in front."""

_OPENING: Final = frozenset("[({<\"'`bB")
_CLOSING: Final = frozenset("])}>\"'`")

_LIVE_PAGE: Final = lazy_pattern(r"HTTP/[0-9](?:\.[0-9])? [45][0-9]{2}\b")


class _Signs:
    """
    Hold how a failure shows in the output of any program.

    Args:
        signs: The signs of all formats.
    """

    def __init__(self, signs: Sequence[Sign]) -> None:
        self._of_word: Final[dict[str, list[Sign]]] = {}
        self._patterns: Final[dict[str, tuple[re.Pattern[str], tuple[str, ...]]]] = {}
        for sign in signs:
            for word in sign.words:
                filed = self._of_word.setdefault(_part_of(word), [])
                if sign not in filed:
                    filed.append(sign)
        words = dict.fromkeys(map(_part_of, (*_WORDS, *self._of_word)))
        at_ends = [word for word in words if word not in _EVERYWHERE]
        self.words: Final = Words(_EVERYWHERE, at_ends)
        self.of_short: Final = frozenset(_WORDS_OF_SHORT).difference(words)
        self.words_of_short: Final = Words(_EVERYWHERE, dict.fromkeys((*at_ends, *_WORDS_OF_SHORT)))

    def match(self, body: str, start: int, word: str) -> str:
        """Return the reason of a sign if the line shows its word."""
        if word not in self._of_word:
            return ""
        pattern, reasons = self._patterns.get(word) or self._compile(word)
        found = pattern.match(body, start)
        return reasons[(found.lastindex or 1) - 1] if found is not None else ""

    def _compile(self, word: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
        signs = self._of_word[word]
        pattern = re.compile("|".join(f"{sign.pattern}()" for sign in signs), re.MULTILINE)
        self._patterns[word] = compiled = pattern, tuple(sign.reason for sign in signs)
        return compiled


def _part_of(word: str) -> str:
    return next((part for part in _EVERYWHERE if part in word), word)


_TOLD_BY: Final = frozenset(map(_part_of, _WORDS))


@cache
def signs_of_formats() -> _Signs:
    """Join the signs of all formats, at the first result."""
    return _Signs((*(sign for listing in listings() for sign in listing.signs), *_SIGNS))


def may_tell_of_failure(text: str) -> bool:
    """Tell whether the output of a program holds a telling word."""
    return len(text) > 2 * MAX_LOOKED_AT or bool(_telling_words(text))


def _telling_words(text: str) -> tuple[str, ...]:
    if len(text) > 2 * MAX_LOOKED_AT:
        text = _shorten(text)
    signs = signs_of_formats()
    return (signs.words_of_short if len(text) <= MAX_SHORT else signs.words).find(text, lower(text))


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * MAX_LOOKED_AT else f"{text[:MAX_LOOKED_AT]}\n{text[-MAX_LOOKED_AT:]}"


def _ends_of(text: str) -> str:
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def sign_of_failure(text: str, call: Call, *, says_success: bool = False) -> str:
    """Return what gives a hidden failure away; empty for a success."""
    head = text[:_HEAD].lstrip()
    if call.is_command:
        return _sign_of_command(text, call, says_success=says_success)
    if refuses(head if len(text) > _HEAD else text, call):
        return "the tool's own words"
    if call.kind == "reading" or (call.fetches and text[:1] == "{"):
        is_answer = text[:1] == "{" and ('"isError"' in text or names_argument(text, call))
        return "an error in the answer" if is_answer and body_reports_error(text) else ""
    if body_reports_error(text):
        return "an error in the answer"
    if call.kind != "running":
        return ""
    return _sign_in_output(text, _telling_words(text), call, says_success=says_success)


def _sign_of_command(text: str, call: Call, *, says_success: bool) -> str:
    # Command lines are read where the output may be one of a failure: that costs as much as looking at it.
    head = text[:_HEAD].lstrip()
    words = _telling_words(text)
    speaks = begins_with_error(head)
    if not speaks and head[:1] not in _OPENS_ANSWER and not (words and _may_complain(text, words)):
        return ""
    if call.kind == "reading":
        return "a shell error" if _complains(text, call) else ""
    if speaks:
        ends_well = _ENDS_WELL.match(text.rstrip().rpartition("\n")[2]) or ends_with_passed_tests(text)
        return "" if ends_well else "the tool's own words"
    if body_reports_error(text):
        return "an error in the answer"
    return _sign_in_output(text, words, call, says_success=says_success)


def begins_with_error(head: str) -> bool:
    """Tell whether an output begins with an error and no stack."""
    if SAID_BY_TOOL.match(head) or head.startswith("error: "):
        return True
    return not head.startswith("Traceback") and (TYPED.match(head) is not None or _IN_WORDS.match(head) is not None)


def _may_complain(text: str, words: Sequence[str]) -> bool:
    # Without a word of a complaint only a sign of a format may show a failure: no command line has to be read for that.
    if len(text) <= MAX_SHORT:
        return not signs_of_formats().of_short.issuperset(words) or _may_be_told(text.strip())
    if len(text) > 2 * MAX_LOOKED_AT or not _TOLD_BY.isdisjoint(words):
        return True
    return bool(_search_signs(_unwrap(text), words))


def _may_be_told(body: str) -> bool:
    lines = (body.partition("\n")[0], body.rpartition("\n")[2])
    return any(map(may_be_complaint, lines)) or _is_told(body) or may_be_refusal(lines[0])


def _is_told(body: str) -> bool:
    return says_why(body) or (body.count("\n") < _FIRST_LINES and answers_with_status(body))


def _complains(text: str, call: Call) -> bool:
    ends = _ends_of(text)
    if not _telling_words(ends):
        return False
    if len(text) <= 2 * _HEAD and text.count("\n") <= _MAX_LINES_OF_COMPLAINT:
        body = _unwrap(text)
        if complains_only(body, call) or is_of_harness(body) or OF_PARSER.match(body):
            return True
        lines = body.split("\n")
    else:
        lines = [text[:_HEAD].lstrip().split("\n", 1)[0], text[-_HEAD:].rstrip().rpartition("\n")[2]]
    return complains_of_argument(lines, call)


def _is_bare(text: str) -> bool:
    # Tell for little whether nothing wraps an output: to unwrap one costs as much as all else.
    if "\x1b" in text or "\r" in text or (text[:1] in _OPENING and text.rstrip()[-1:] in _CLOSING):
        return False
    first, last = text[: text.find("\n") + 1] or text, text[text.rfind("\n") + 1 :]
    if _PREFIXED.match(first) and _PREFIXED.match(last):
        return False
    return not may_be_framed(text) or (read_frame(first.rstrip("\n")) is None and read_frame(last) is None)


def _unwrap(text: str) -> str:
    text = text.replace("\r\n", "\n").strip("\n")
    body = text.rstrip() if _is_bare(text) else read_source(text, "", "", None).body
    if not any(map(body[:_HEAD].__contains__, _LABELS)) or not _LABELLED.search(body, 0, _HEAD):
        return body
    lines = (_LABEL.sub("", line) for line in body.split("\n") if not _HEADER.match(line))
    return "\n".join(lines).strip("\n")


def _sign_in_output(text: str, words: tuple[str, ...], call: Call, *, says_success: bool) -> str:
    if not words:
        return ""
    text = _shorten(text)
    body = _unwrap(text)
    if body not in text:
        words = _telling_words(body)
    lines = body.split("\n")
    if _LIVE_PAGE.match(body):
        return "a failed request"
    if TIMED_OUT.match(lines[0][:_MAX_LAST]) or TIMED_OUT.match(lines[-1][:_MAX_LAST]):
        return "the tool's own words"
    if sign := _search_signs("\n".join(lines[-_MAX_CLOSING:]) if _PROVIDES.search(call.arguments) else body, words):
        return sign
    return "" if _ENDS_WELL.match(lines[-1]) else _complaint_in(body, lines, call, says_success=says_success)


def _complaint_in(body: str, lines: Sequence[str], call: Call, *, says_success: bool) -> str:
    if OF_PARSER.match(body) or _complains_at_ends(lines, call) or complains_only(body, call):
        return "a shell error"
    sign = _sign_at_end(lines)
    return sign if sign or says_success else _sign_in_few_lines(body, call)


def _sign_in_few_lines(body: str, call: Call) -> str:
    number = body.count("\n")
    if len(body) > MAX_SHORT or number >= _MAX_CLOSING:
        return ""
    failed = number < _FIRST_LINES and (UNABLE.match(body) or _WORK_FAILED.match(body) or refuses_argument(body, call))
    failed = failed or (
        not _QUERIES.search(call.arguments) and _is_told(body) and not _HARMLESS_LAST.match(body.rpartition("\n")[2])
    )
    return "the tool's own words" if failed else ""


def _complains_at_ends(lines: Sequence[str], call: Call) -> bool:
    # Tell whether the first or last lines complain; in the middle of a line of commands another may have stood in.
    if any(is_complaint(line, call) or is_complaint_of_any(line) for line in lines[-_LAST_LINES:]):
        return True
    if not any(
        (is_complaint(line, call) or is_complaint_of_any(line)) and not call.is_quiet(line)
        for line in lines[:_FIRST_LINES]
    ):
        return False
    return not _PROVIDES.search(call.arguments) and not ends_with_passed_tests("\n".join(lines[-_MAX_CLOSING:]))


def _search_signs(body: str, words: Sequence[str]) -> str:
    signs = signs_of_formats()
    for start, word in _find_candidates(body, words):
        reason = signs.match(body, start, word)
        if reason and (reason not in _PRINTED or not ends_with_passed_tests(body)):
            return reason
    return tally_reason(body)


def _find_candidates(body: str, words: Sequence[str]) -> list[tuple[int, str]]:
    # Return where the lines begin that hold a word, with that word.
    lowered = lower(body)
    lines: list[tuple[int, str]] = []
    for word in words:
        text = lowered if word.isascii() else f"\n{body}"
        at = text.find(word)
        while at >= 0 and len(lines) < _MAX_CANDIDATES:
            lines.append((text.rfind("\n", 0, at + 1), word))
            end = text.find("\n", at + len(word))
            at = text.find(word, end) if end >= 0 else -1
    return sorted(lines)


def _sign_at_end(lines: Sequence[str]) -> str:
    last = lines[-1][:_MAX_LAST]
    if _HARMLESS_LAST.match(last):
        return ""
    return "an error at the end" if _LAST_WORDS.match(last) else ""
