"""Clauses that say why something failed, whichever program prints them."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

OF_SYSTEM: Final = (
    r"(?i:no such (?:file or directory|process|device|host(?: is known)?)|permission denied|is a directory"
    r"|not a directory|directory not empty|file exists|no space left on device|disk quota exceeded"
    r"|read-only file ?system|device or resource busy|text file busy|resource temporarily unavailable"
    r"|cannot allocate memory|out of memory|input/output error|bad file descriptor|too many open files"
    r"|argument list too long|file ?name too long|operation not (?:permitted|supported)|invalid argument"
    r"|invalid cross-device link|exec format error|stale file handle|address already in use"
    r"|cannot assign requested address|connection (?:refused|reset by peer|timed out|aborted)|broken pipe"
    r"|network is (?:unreachable|down)|no route to host|host is (?:down|unreachable)"
    r"|name or service not known|temporary failure in name resolution|protocol not available"
    r"|nodename nor servname provided, or not known|name does not resolve"
    r"|function not implemented|value too large for defined data type)"
)
"""What a system answers a program that asked for something."""

_OF_RUNTIME: Final = (
    r"(?:No module named |cannot import name |name '[^'\n]{1,80}' is not defined|'[^'\n]{1,80}' object (?:has no"
    r"|is not)"
    r"|\S{1,80} is not (?:defined|a function|a constructor|iterable)\b|(?:integer |float )?[Dd]ivision by zero"
    r"|division by 0|(?:list |string |tuple |array )?index (?:is )?out of (?:range|bounds)|invalid literal for \w"
    r"|could not convert string|unhashable type|\S{1,80}\(\) (?:missing|takes|got an unexpected)"
    r"|unsupported operand type|maximum recursion depth|Maximum call stack size|Expecting (?:value|property name|',')"
    r"|Extra data: line|Unterminated string starting|Unexpected (?:token|identifier|end of (?:JSON|input)|EOF)"
    r"|Cannot (?:read|set) (?:property|properties)|Cannot find (?:module|package)|undefined (?:method|local variable"
    r"|function|index"
    r"|symbol)"
    r"|uninitialized constant|wrong number of arguments|nil pointer dereference|invalid memory address"
    r"|(?:unsupported|malformed|invalid) (?:protocol|character|byte|syntax|escape)|attempt to (?:index|call|compare)"
    r"|\[(?:Errno|WinError|SSL)[ :][^\]\n]{1,60}\] |dial (?:tcp|udp|unix)\b|lookup \S{1,200}: |HTTPS?ConnectionPool\("
    r"|(?:connect|getaddrinfo|listen|read|write|bind|spawn|open|stat|scandir|mkdir"
    r"|unlink)(?: \S{1,100})? E[A-Z]{4,13}\b"
    r"|E[A-Z]{3,13}: [a-z]|listen (?:tcp|udp|unix)\S{0,3} |Max retries exceeded|SSL: |CUDA (?:error|out of memory)"
    r"|(?:column|relation|table|database|role|type|schema) [\"'`][^\"'`\n]{1,80}[\"'`] (?:does not|already) exists?"
    r"|no such (?:table|column|function|module|index|collation sequence|savepoint)\b"
    r"|(?:UNIQUE|NOT NULL|FOREIGN KEY|CHECK|PRIMARY KEY) constraint|duplicate (?:key value|entry|column)"
    r"|(?:syntax|parse) error\b|password authentication failed)"
)
"""How messages of language runtimes and databases begin, which programs print without their types."""

NO_MEASURE: Final = (
    r"(?!(?:Mean|Median|Absolute|Squared|Standard|Relative|Percentage|Max|Min|Maximum|Average|Total|Training|Validation"
    r"|Test|Train|Rounding|Expected|Normal|Numerical|Approximation|Prediction|Reconstruction|Last|Known)\b)"
)
"""What no error of a program is, but how far a number is off."""

_TO_DO: Final = r"(?!(?:-|none|no|nil|null|ok|-?[0-9][0-9.]*)(?![\w-]))[^\s\[({]"
_LABELLED: Final = lazy_pattern(
    rf"(?:\W{{0,4}}(?:{NO_MEASURE}[A-Z][\w-]{{1,20}} ){{0,3}}(?:[Ee]rror|[Ff]ailure|FAILURE|Failed|FAILED|Aborted"
    rf"|Aborting"
    r"|Oops|Refused|Rejected|Denied|Fatal|FATAL|Panic)(?: (?:occurred|raised|caught|thrown|was|message))?:"
    rf" {_TO_DO}|\W{{0,4}}(?:An )?[Ee]xception (?:occurred|raised|caught|thrown|was): \S"
    rf"|(?:[A-Za-z\u2717\u274c\u2716][^\n:|\t<>{{}}=\[\]]{{0,60}}: ){{0,3}}{_OF_RUNTIME}"
    r"|(?:(?:An|The following|Some) )?[Ee]rrors? (?:was |were |has |have )?(?:occurred|encountered|happened)\b"
    r"|(?:There (?:is|are) no|No (?:such|stash|upstream|suitable|compatible|default)) [a-z]"
    rf"|\w[^\n|\t\]]{{0,300}}: {OF_SYSTEM}\W{{0,3}}(?: \([^)\n]{{1,60}}\))?$)"
)
_ERROR_DOING: Final = lazy_pattern(
    r"Error (?!(?:handling|reporting|logging|tracking|checking|testing|parsing is|string"
    r"|setting)\b)[a-z]{2,20}ing [^\n]"
)
_OF_SERVER: Final = lazy_pattern(
    r"(?i)(?:(?:HTTP )?(?:error )?(?:code:? )?[45][0-9]{2}:? ?[\w -]{0,60}|[45][0-9]{2} page not found"
    r"|(?:bad (?:request|gateway)|unauthori[sz]ed|forbidden|not found|method not allowed|too many requests|gone"
    r"|internal server error|service (?:temporarily )?unavailable|gateway time-?out|payload too large"
    r"|default backend - 404|no healthy upstream|RBAC: access denied|invalid (?:token|api key|credentials)"
    r"|upstream (?:connect error|request time-?out)[^\n]{0,300}))[.!]?\Z"
)
_SAYS_WHAT_TO_DO: Final = lazy_pattern(
    r"(?:\b(?:[Rr]un|[Uu]se|[Tt]ry|[Bb]y running|[Ee]xecute|[Ss]et|install) [`'\"][^`'\"\n]{2,80}[`'\"][^\n]{0,30}"
    r"(?:\bto (?:fix|install|create|generate|set|log ?in|resolve|regenerate|initiali[sz]e|configure|update"
    r"|authenticate)\b|\.$|$)"
    r"|(?:^|[.!:;] )Please (?:specify|run|provide|set|install|use|configure|check|log|make sure|ensure|add|create"
    r"|commit"
    r"|stash|upgrade|update|re-?run|enter|supply|select|choose|re-?authenticate|sign)\b)",
    re.MULTILINE,
)
_LACKS: Final = lazy_pattern(
    r"(?i)\b(?:no|not|never|missing|unable|invalid|un\w+ed|cannot|[a-z]+n't|without|required|must|changed"
    r"|outdated|out of date|expired|already|unknown|ambiguous)\b"
)
_ALTERNATIVES: Final = lazy_pattern(
    r"(?i)\b(?:not (?:found|a valid|valid|recognized|supported|available|defined)|(?:does|do|did) ?(?:not"
    r"|n't) exist|unknown"
    r"|invalid|no such|unsupported|unrecognized)\b[^\n]{0,200}(?:[.;:,(]\s?|\n)(?:(?:the )?(?:available|valid|known"
    r"|existing|possible"
    r"|supported|allowed|expected|defined)(?: [a-z_-]{2,20}){0,2}(?: are| is)?|(?:must be|choose|use|expected"
    r"|available)"
    r"(?: one of| from)|did you mean)[:? ]"
)
_OF_CHOICE: Final = ("available", "valid ", "known ", "supported", "allowed", "one of", "did you mean")
_TO_BE_DONE: Final = ("lease ", "un `", 'un "', "un '", "se `", 'se "', "se '", "ing `", 'ing "', "et `", "ry `")
_MAX_BREAKS: Final = 3
_ENDS: Final = 300


def says_why(text: str) -> bool:
    """Tell whether a short output says at an end why something failed."""
    lines = text.split("\n")
    if any(_LABELLED.match(line) for line in {lines[0], lines[-1]}):
        return True
    return _ERROR_DOING.match(text) is not None or offers_choice(text) or _asks_for_more(text)


def answers_with_status(text: str) -> bool:
    """Tell whether a server answers with the name of a status."""
    return len(text) <= _ENDS and _OF_SERVER.match(text.strip()) is not None


def offers_choice(text: str) -> bool:
    """Tell whether a refusal names what there is instead."""
    head = text[:_ENDS].lower()
    return any(map(head.__contains__, _OF_CHOICE)) and _ALTERNATIVES.search(head) is not None


def _asks_for_more(text: str) -> bool:
    # Tell whether a program names what is missing, and what the reader has to do about it.
    if text.count("\n") > _MAX_BREAKS or not any(map(text.__contains__, _TO_BE_DONE)):
        return False
    found = _SAYS_WHAT_TO_DO.search(text)
    return found is not None and _LACKS.search(text, 0, found.start()) is not None
