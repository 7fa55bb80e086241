"""Calls that no tool could take: of a tool that does not exist, or with arguments that are no JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.payload.error import INVALID_ARGUMENTS, UNKNOWN_TOOL, VALIDATION
from otel_errcompact.extract.payload.violation import Violation, key_of
from otel_errcompact.extract.reading import Reading
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re

TYPES: Final = frozenset({UNKNOWN_TOOL, INVALID_ARGUMENTS})
"""Types of calls that no tool could take; no code of anyone's has failed there."""

_MAX_BARE: Final = 300
"""Characters of a text that may be nothing but the words of a parser."""

_MAX_HEAD: Final = 400
_MAX_TEXT: Final = 20_000
_MAX_LINES: Final = 12
_LEADS: Final = frozenset({"ERROR:", "Error:", "error:"})
_FIRST_WORDS: Final = frozenset({
    "1", "action", "an", "argument", "arguments", "bad", "cannot", "could", "error", "failed", "function", "invalid",
    "malformed", "model", "no", "nonexistent", "registered", "requested", "the", "there", "tool", "unable", "unknown",
    "unrecognised", "unrecognized", "unsupported",
})  # fmt: skip
"""First words of what is stated of calls, in small letters."""

_NO_VALID_TOOL: Final = " is not a valid tool"
_SIGNS: Final = ("ool", "unction", "rgument", "JSON", "unsupported c", "Action '")

# --- unknown tools ---
_NAME: Final = r"['\"`]?(?P<{0}>[\w.:/@-]{{1,100}})['\"`]?"
_END: Final = r"(?=[.!]?\s{0,4}\Z|[.,;:!?]?\s|\))"
_ABSENT: Final = (
    r"(?:not found|does not exist|doesn't exist|do(?:es)?n't exist|not available|unavailable|not registered|not listed"
    r"|unknown|not a (?:known|valid) (?:tool|function))"
)
_UNKNOWN: Final = lazy_pattern(
    r"(?:Error: |error: |ERROR: )?(?:"
    rf"(?:[Uu]nknown|[Uu]nsupported|[Uu]nrecogni[sz]ed|[Nn]o such|[Nn]onexistent) tool(?: name| call| available)?:? "
    rf"{_NAME.format('a')}{_END}"
    rf"|[Uu]nsupported (?:custom tool )?call: {_NAME.format('b')}{_END}"
    rf"|[Ii]nvalid tool name:? {_NAME.format('c')}{_END}"
    rf"|(?:The |the |Requested )?[Tt]ool (?:with (?:the )?name |named |call )?{_NAME.format('d')} "
    rf"(?:is |was )?{_ABSENT}{_END}(?! (?:in|on) (?:the )?(?:PATH|path|system|module|\"|'))"
    rf"|(?:Requested )?[Ff]unction {_NAME.format('e')} (?:is |was )?(?:not found|not available)\.?\s{{0,4}}\Z"
    rf"|(?:Unknown|No such) function:? {_NAME.format('f')}\.?\s{{0,4}}\Z"
    rf"|{_NAME.format('g')} is not a valid tool,? (?:try|use|choose)\b"
    rf"|Action {_NAME.format('h')} don't exist, these are the only available Actions"
    rf"|Model tried to call unavailable tool {_NAME.format('i')}{_END}"
    rf"|(?:[Tt]here is )?[Nn]o tool (?:named |called |with (?:the )?name |found (?:with|for) (?:the )?(?:name )?)?"
    rf"{_NAME.format('j')}(?:[.;,]|\s{{0,4}}\Z| (?:is |was )?(?:found|available|exists|registered))"
    r")"
)
_OF_PROGRAMS: Final = lazy_pattern(r"(?i)\binstall|\bPATH\b|\bon your system\b|executable")
"""What tells that the tool is a program that is not installed."""

_KEY_ERROR: Final = lazy_pattern(
    r"(?:Error: )?(?:KeyError(?:: ?|\())?['\"](?P<tool>[\w.:/@-]{1,100})['\"],?\)?\s{0,4}\Z"
)

# --- arguments ---
_PARSER: Final = lazy_pattern(
    r"(?P<cut>Unterminated string|EOF while parsing|[Uu]nexpected end of (?:JSON|data|input)|[Uu]nexpected EOF)"
    r"|(?P<delimiter>Expecting ['\"][,:]['\"] delimiter|[Ee]xpected [`'\"][,:][`'\"](?: or [`'\"][}\]][`'\"])?"
    r"|after (?:property value|array element|property name) in JSON)"
    r"|(?P<name>Expecting property name|[Kk]ey must be a string|Expected (?:double-quoted )?property name"
    r"|[Tt]railing comma)"
    r"|(?P<rest>Extra data: line|trailing characters at line|non-whitespace character after JSON)"
    r"|(?P<escape>Invalid \\+(?:u[X]{4} )?(?:\\u)?escape|invalid (?:unicode )?escape|Bad (?:escaped|Unicode|unicode))"
    r"|(?P<control>[Ii]nvalid control character|control character \(?(?:\\u|found)|Bad control character)"
    r"|(?P<value>Expecting value: line|expected value at line|expected ident at line|[Uu]nexpected token"
    r"|invalid number at line|Unexpected (?:non-whitespace|string|number) )"
    r"|(?P<object>(?:expected|not|require) an? (?:valid )?(?:JSON )?(?:object|dict)|not a dict\b)"
)
_ABOUT_ARGUMENTS: Final = lazy_pattern(
    r"(?:Error: |error: |ERROR: )?(?:"
    r"(?:An )?[Ee]rror (?:occurred )?(?:while |when )?(?:parsing|decoding|loading) (?:the )?(?:tool|function)"
    r"(?: call)?(?:'s)? (?:arguments|parameters|input)"
    r"|(?:[Ff]ailed|[Uu]nable|[Cc]ould not|[Cc]annot) (?:to )?(?:parse|decode|interpret) (?:the )?(?:tool|function)"
    r"(?: call| use)?(?: parameter| input)? (?:arguments|parameters|input|JSON)"
    r"|(?:[Bb]ad|[Ii]nvalid|[Mm]alformed) JSON (?:arguments?|input for tool|in (?:the )?(?:tool |function )?arguments)"
    r"|(?:[Ff]unction|[Tt]ool) arguments (?:are|is) not (?:a )?valid JSON"
    r"|Registered functions? (?:arguments )?require"
    r"|(?P<vague>Argument parsing failed\b)"
    r"|Arguments for the following function calls were not a valid JSON"
    r"|(?:[Tt]he )?[Tt]ool ['\"`]?[\w.:/-]{1,100}['\"`]? (?:was )?called with (?:invalid|malformed) JSON"
    r"|(?P<weak>[Ii]nvalid(?: tool| function)? (?:arguments|input|parameters)"
    r"(?: (?:for|to|of) (?:the )?(?:(?:tool|function) )?['\"`]?[\w.:/-]{1,100}['\"`]?)?:)"
    r"|(?P<listed>1 validation error(?: for [^\n]{1,200}|:)?(?=\s))"
    r")"
)
_FIELD: Final = lazy_pattern(r"missing field `(?P<missing>[\w.-]{1,100})`|unknown field `(?P<extra>[\w.-]{1,100})`")
_OTHER: Final = lazy_pattern(r":?\s{0,4}(?:invalid (?:type|value|length)|unknown variant|duplicate field)")
"""What serde misses in arguments that are JSON."""

_INVALID_JSON: Final = lazy_pattern(r"Invalid JSON: (?P<said>[^\"\[\n]{1,200})")
_OF_FUNCTION: Final = lazy_pattern(r"Function (?P<tool>[\w.:/-]{1,100}) arguments:\n")
_NO_JSON: Final = lazy_pattern(r"\bare not valid JSON\. (?:Received (?:JSONDecodeError )?)?(?P<said>[^\n]{0,300})")
_OF_A_CALL: Final = ("1 validation error:\n", " for call[", "nvalid arguments for", "nvalid input for")
"""What tells that a validation error is about the arguments of a call."""

_BARE: Final = ("(char ", " JSON", "at line 1 column ")
"""What the words of a parser hold at least one of."""

_AUTOGEN: Final = "The argument must be in JSON format"


def read_call(message: str) -> Reading | None:
    """
    Return the reading of a message about a call that no tool could take.

    Who reports it makes no difference to the key: the name of the tool, or what the parser of the arguments missed.
    """
    head = message[:_MAX_HEAD]
    if not _may_be_about_call(head):
        return None
    return _read_unknown(message, head) or _read_arguments(message)


def cause_of_call(text: str, tool: str, arguments: str) -> str:
    """
    Return what was wrong with a call that alone shows it.

    A loop that hands on `str(error)` answers with the bare words of the parser, or with the key that it looked up: no
    more than `_MAX_BARE` characters.
    """
    if not tool or len(text) > _MAX_BARE:
        return ""
    if text.rstrip()[-1:] in "'\"),":
        found = _KEY_ERROR.match(text)
        if found is not None and found["tool"] == tool:
            return f"unknown tool '{tool}'"
    is_of_parser = arguments and any(sign in text for sign in _BARE) and _PARSER.search(text)
    return f"bad JSON arguments: {text}" if is_of_parser and not _is_json(arguments) else ""


def _may_be_about_call(head: str) -> bool:
    # Most messages are told apart by their first word, which costs less than a pattern.
    first, _, rest = head.partition(" ")
    if first in _LEADS:
        first = rest.partition(" ")[0]
    if first.lower() in _FIRST_WORDS:
        return has_any(head, _SIGNS)
    return _NO_VALID_TOOL in head or _AUTOGEN in head


def _read_unknown(message: str, head: str) -> Reading | None:
    found = _UNKNOWN.match(head)
    if found is None or _OF_PROGRAMS.search(head):
        return None
    name = next(group for group in found.groups() if group)
    first, *rest = _split_lines(message)
    return Reading(clip(first), f"{UNKNOWN_TOOL}: {name.rstrip('.:')}", tuple(rest), UNKNOWN_TOOL)


def _read_arguments(message: str) -> Reading | None:
    about = _ABOUT_ARGUMENTS.match(message)
    if about is None:
        return _read_of_function(message) or _read_autogen(message)
    if about["listed"]:
        return _read_listed(message)
    first, *rest = _split_lines(message)
    field = _FIELD.search(message, about.start(), about.end() + _MAX_BARE)
    if field is not None:
        broken = Violation(field["missing"] or field["extra"], field[0], "missing" if field["missing"] else "extra")
        return Reading(clip(first), f"{VALIDATION}: {key_of((broken,))}", tuple(rest), VALIDATION)
    if "validation error" in message:
        return _read_listed(message)
    said = _PARSER.search(message, about.start(), _MAX_TEXT)
    if said is None and (about["weak"] or about["vague"] or _OTHER.match(message, about.end())):
        # The arguments may be JSON, and still not those of the tool.
        key = f"{INVALID_ARGUMENTS}: {clip(first)}"
        return None if about["weak"] else Reading(clip(first), key, tuple(rest), INVALID_ARGUMENTS)
    cause = first if said is None or said[0] in first else f"{first} {_line_of(message, said)}"
    return _build_reading(cause, said, tuple(rest))


def _read_listed(message: str) -> Reading | None:
    found = _INVALID_JSON.search(message, 0, _MAX_TEXT) if "json_invalid" in message else None
    if found is None or not any(sign in message for sign in _OF_A_CALL):
        return None
    return _build_reading(f"bad JSON arguments: {found['said'].strip()}", _PARSER.search(found["said"]), ())


def _read_of_function(message: str) -> Reading | None:
    of_function = _OF_FUNCTION.match(message)
    found = _NO_JSON.search(message, 0, _MAX_TEXT) if of_function is not None else None
    if of_function is None or found is None:
        return None
    cause = f"{of_function['tool']}: bad JSON arguments: {found['said']}"
    return _build_reading(cause, _PARSER.search(found["said"]), ())


def _read_autogen(message: str) -> Reading | None:
    if _AUTOGEN not in message[:_MAX_HEAD]:
        return None
    first, *rest = _split_lines(message)
    return _build_reading(first, _PARSER.search(first), tuple(rest))


def _build_reading(cause: str, said: re.Match[str] | None, rest: tuple[str, ...]) -> Reading:
    kind = f": {said.lastgroup}" if said is not None else ""
    return Reading(clip(cause), f"{INVALID_ARGUMENTS}: no JSON{kind}", rest, INVALID_ARGUMENTS)


def _line_of(message: str, said: re.Match[str]) -> str:
    end = message.find("\n", said.end())
    return message[message.rfind("\n", 0, said.start()) + 1 : end if end >= 0 else len(message)].strip()


def _split_lines(message: str) -> list[str]:
    return [line for line in map(str.strip, message[:_MAX_TEXT].split("\n", _MAX_LINES)[:_MAX_LINES]) if line]


def _is_json(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True
