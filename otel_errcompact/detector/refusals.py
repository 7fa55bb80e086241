"""Refusals of tools, which are all that a result says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.detector.clauses import offers_choice
from otel_errcompact.detector.refusal_words import holds_word_of_refusal
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.detector.roles import Call

MAX_SHORT: Final = 600
"""Characters of a result that may be nothing but a refusal."""

_MAX_LINES: Final = 6
_MIN_VALUE: Final = 2
_MAX_VALUES: Final = 64

SAID_BY_TOOL: Final = lazy_pattern(
    r"(?:<tool_use_error>|<error>|exitcode: [1-9][0-9]* \(execution failed\)|ERROR:\s|Error: \S|\[(?:ERROR"
    r"|Error)\]:? \S|apply_patch verification failed"
    r"|exec_command failed|write_stdin failed|\[?Your proposed edit has introduced new syntax error"
    r"|\[No exact match found in "
    r"|EXECUTION TIMED OUT|COMMAND FAILED TO EXECUTE|No replacement was performed|MCP error -[0-9]{3,6}\b"
    r"|(?:Input|Output|Tool|Argument) validation error: |Error (?:executing|calling|running|invoking|in|while|when"
    r"|during|from|accessing|reading|opening|fetching|searching|processing)\b[^\n]{0,200}: \S"
    r"|Error \[?[A-Z0-9_-]{3,40}\]?: \S|(?:\u274c|\u2717|\u2716|\U0001f6d1) ?(?:Error|Failed|Cannot|Could not|Unable)\b"
    r"|(?:Tool|Function) (?:execution|call|'[^'\n]{1,80}'|\S{1,80}) (?:failed|error(?:ed)?|raised)\b"
    r"|[0-9]{1,5} validation errors? for \w|\([0-9]{3,5}, ['\"][^\n]{1,500}['\"]\)\Z"
    r"|\([a-z_]\w{1,40}(?:\.\w{1,40}){1,4}\) \S)"
)
"""How a result begins in which a tool or a harness reports an error."""

TYPED: Final = lazy_pattern(
    r"(?:(?:[a-z_]\w{0,60}\.){0,6}[A-Z]\w{0,80}(?:Error|Exception|Timeout)(?:\([^\n]{0,400}\))?: ?\S"
    r"|(?:[a-z_]\w{0,60}\.){1,6}[A-Z]\w{2,80}: \S"
    r"|Traceback \(most recent call last\):)"
)
"""How a result begins that is an exception."""

_UNABLE: Final = (
    r"(?:[\w.]{1,40}: )?(?:(?:[Ff]ailed|[Uu]nable|[Rr]efused|Refusing|[Nn]ot allowed|[Nn]ot permitted) to [a-z]"
    r"|(?:[Cc]ould not|[Cc]ouldn't|[Cc]annot|[Cc]an't) "
    r"(?!(?:find|detect|reproduce|see|identify) (?:any|an? |no ))[a-z]|[Pp]ermission denied|[Aa]ccess denied"
    r"|(?:Access|Permission|Authorization|Authentication|Request|Operation|Connection|Navigation|Login|Deployment"
    r"|Upload|Download)"
    r" (?:to [^\n]{1,60} )?(?:was |has |is )?(?:denied|failed|refused|forbidden|blocked|timed out|not permitted"
    r"|not allowed|expired|lost|reset)\b"
    r"|(?:HTTP(?:/[0-9.]{1,3})?(?: Error| status)?:? ?|Error |Status(?: code)?:? "
    r"|\()[45][0-9]{2}:? (?:[A-Z][A-Za-z-]+)(?: [A-Z][a-z]+){0,3}(?=\W|\Z)"
    r"|[45][0-9]{2} (?:Client|Server) Error|HTTP (?:Error )?[45][0-9]{2}\b"
    r"|Request failed with status (?:code )?[45][0-9]{2}"
    r"|net::ERR_|E(?:NOENT|ACCES|ISDIR|NOTDIR|PERM|CONNREFUSED|CONNRESET|TIMEDOUT|EXIST|AI_AGAIN|NOTFOUND|ADDRINUSE)\b)"
)
UNABLE: Final = lazy_pattern(_UNABLE)
"""How a program begins that says, and nothing else, that it was not able to do its work."""

_OF_SERVICE: Final = (
    r"(?:Rate limit(?:ed| (?:was )?(?:exceeded|reached|hit))|Too many requests|(?:[A-Z]\w{1,20} )?[Qq]uota exceeded"
    r"|Service (?:is )?(?:temporarily )?unavailable|Unauthori[sz]ed|Forbidden|Not authori[sz]ed|Not authenticated"
    r"|Insufficient [a-z]|Not enough [a-z]|Authentication (?:is )?(?:required|failed))\b"
)
_OF_SEARCH: Final = lazy_pattern(
    rf"{_UNABLE}|{_OF_SERVICE}|(?:Invalid|Malformed|Unsupported|Missing|Unknown) (?:regular expression|regex|pattern"
    rf"|glob|query|url|URL|path|filter|argument|parameter|input|value|request|credentials|token|API key|api key|id|date"
    rf"|cursor|offset|range|format|option|field)s?\b"
    r"|(?:regex|query|search|fetch|syntax) (?:parse )?(?:error|failed)\b|[45][0-9]{2} (?:Bad|Unauthorized|Forbidden"
    r"|Not Found|Method|Gone|Too|Internal|Service|Gateway)"
    r"|(?:Tool|Function) \S{1,80} (?:not found|is not|does not exist)"
)
_STATEMENT: Final = lazy_pattern(
    rf"(?:{_UNABLE}|(?:Invalid|Unknown|Unrecognized|Unsupported|Missing|Malformed|Unexpected|Illegal"
    rf"|Bad) [\w'\"`-]{{2,40}}(?:[ :.,(]|\Z)"
    r"|(?:No such|There is no) [\w -]{2,40}?(?: (?:with|named|called|has|exists|found|for|id)\b|:|\Z)"
    r"|(?:Command|Execution|Query|Edit|Patch|Validation|Compilation|Build|Transaction|Installation)"
    r" (?:was |has |is )?(?:denied|failed|refused|rejected|forbidden|blocked|timed out|aborted|closed|error)\b"
    r"|[45][0-9]{2} (?:Bad|Unauthorized|Forbidden|Not|Method|Conflict|Gone|Too|Internal|Service|Gateway"
    r"|Unprocessable|Request)\b"
    rf"|API (?:error|request failed)|Server (?:error|returned)|{_OF_SERVICE}"
    r"|[\w'\" -]{1,60}? (?:is not a valid|is already (?:booked|taken|in use|registered)"
    r"|do(?:es)? not have (?:permission|access|enough))\b"
    r"|[Tt]ime(?:d ?out|out)\b|TIMEOUT|Timeout |Invalid regular expression"
    r"|(?:The |Your |This )?[\w' -]{1,40}? (?:could not be|cannot be|can't be|couldn't be|has failed|failed:"
    r"|was rejected|is not allowed|was denied|was aborted|is forbidden) "
    r"|(?:[Tt]ool|[Ff]unction|[Cc]ommand|[Mm]ethod|[Aa]ction) ['\"`]?[\w.:/-]{1,100}['\"`]? (?:is |was "
    r"|does )?(?:not |un)(?:found|exist|known|registered|available|recognized|supported|allowed))"
)
"""How a refusal in words begins."""

_NOT_THERE: Final = (
    r"(?:(?:was |is |were |are |could |can )?(?:not|n't) (?:be )?(?:found|exist|running|open|opened|readable|read"
    r"|accessible|available|recognized|registered|allowed|permitted|a (?:valid |regular )?(?:file|directory|path)"
    r"|within|inside|been read|loaded|connected|active|supported|locked|initiali[sz]ed)"
    r"|(?:does|do|did) ?(?:not|n't) (?:exist|match|appear|contain)|is (?:a directory|a binary file|binary|too large"
    r"|outside|unreadable|closed|invalid|ambiguous|missing|denied|ignored|blocked|required)"
    r"|(?:has|have) (?:been closed|expired|already (?:exited|ended|been closed|finished)|exited|ended|timed out"
    r"|terminated|no |(?:been )?(?:modified|changed|updated|edited) (?:since|externally|outside|on disk|by))"
    r"|already exists|no such file|permission denied|access denied|no longer (?:exists|running"
    r"|available|active)"
    r"|(?:is|are) (?:outside|beyond|out of)|exceeds)"
)
_REFUSAL: Final = lazy_pattern(rf"(?i)[^\n]{{0,300}}?\b{_NOT_THERE}\b")
_ABOUT_FILES: Final = lazy_pattern(
    r"(?i)[^\n]{0,60}\b(?:file|directory|folder|path|repository|branch|url|no such|ENOENT|EISDIR|EACCES|permission"
    r"|access)\b"
)
_BARE: Final = lazy_pattern(
    r"(?i)(?:the )?(?:[a-z][\w-]{1,20} ){0,3}(?:['\"`]?[\w.:/#-]{1,100}['\"`]? )?"
    rf"{_NOT_THERE}(?: [^\n]{{0,160}})?\.?\Z"
)
_NO_SESSION: Final = lazy_pattern(
    r"(?i)(?:(?:error|failed)[: ]+)?(?:(?:no|unknown|invalid|unrecognized|nonexistent)(?: such| active| running"
    r"| open| background| existing)?"
    r" (?:\w{1,20} )?(?:session|process|terminal|shell|job|task|pane|window|page|tab|browser|kernel|connection|cell"
    r"|pid)\b"
    r"|(?:the )?(?:\w{1,20} )?(?:session|process|terminal|shell|job|task|pane|window|page|tab|browser|kernel"
    r"|connection)\b[^\n]{0,120}?"
    r"\b(?:not found|(?:does|did) ?(?:not|n't) exist|(?:is|was) not (?:running|found|open|active|alive|connected)"
    r"|has been closed|is closed|(?:has )?expired|(?:has )?already (?:exited|ended|terminated|closed|finished)"
    r"|no longer|has exited|died|crashed|is dead)"
    r"|(?:can't|cannot|could not) find (?:\w{1,20} )?(?:session|pane|window|client|process)\b|Target (?:page|closed)"
    r"|write_stdin failed)"
)
TIMED_OUT: Final = lazy_pattern(
    r"(?i)(?:[a-z]\w{1,20}\.\w{1,30}: )?[<\[(]{0,2}(?:(?:system|error|tool_use_error"
    r"|timeout)[>:\])]{1,2} {0,2})?(?:the |your "
    r"|this )?(?:(?:previous |last |bash |shell |tool |python |code |test |script )?"
    r"(?:command|process|tool|execution|script|operation|request|call|run|task|job|cell|code|program|evaluation"
    r"|build|tests?)\b[^\n]{0,160}?"
    r"(?:timed[ -]out|was (?:killed|cancelled|canceled|terminated|stopped|aborted|interrupted)[^\n]{0,60}(?:after"
    r"|because|timeout|time limit)|exceeded (?:the |its |a )?[^\n]{0,40}(?:time ?out|time limit|deadline)"
    r"|(?:took|ran|running) (?:too long|longer than|for more than)|has no (?:new )?output (?:after"
    r"|for) [0-9][^\n]{0,40}(?:[Kk]illed|[Tt]erminated|[Ss]topped)|(?:did not|didn't|not) (?:complete|finish|return"
    r"|respond)[^\n]{0,20} (?:within|in|after) [0-9]|killed after [0-9])"
    r"|timeout (?:of )?[0-9][0-9.]{0,8} ?(?:ms|s|sec|seconds|minutes)? (?:was )?exceeded|timed[ -]?out (?:after"
    r"|waiting|while|running|executing|in)\b|time ?out (?:after|of|exceeded|expired|reached"
    r"|waiting|while|error|:)|(?:\w{1,20} )?time limit exceeded"
    r"|waiting for [^\n]{1,100} timed out|(?:killed|terminated|aborted|stopped) (?:after|due to|because of) (?:[0-9]"
    r"|a? ?time)|context deadline exceeded)"
)
"""How a harness or a program reports that time was up."""

_NAME_OF_ARGUMENT: Final = lazy_pattern(r'"(\w{3,40})"\s?:')
_SOUGHT: Final = lazy_pattern(
    r"(?i)no (?:files?|matches|results?|match|matching|occurrences?|entries|items|records|documents|rows|data"
    r"|references|symbols|errors?|issues?|problems?|changes|tests?|output|warnings|updates?|new|more|open|pull|need"
    r"|action)\b"
)
_ERRNO: Final = lazy_pattern(
    r"E[A-Z]{3,12}: [^\n]{3,200}, (?:open|read|l?stat|scandir|access|mkdir|unlink|rmdir|write|realpath)\b"
)
_SEARCH_FAILED: Final = lazy_pattern(r"[\w-]{2,20} failed: \S|regex parse error:")
_OF_TOOL: Final = lazy_pattern(
    r"This (?:tool|file|command|function|operation|model|action) (?:cannot|can't|does not|doesn't|is not|requires)\b"
    r"|No [a-z]{2,20} (?:was )?found (?:with|for|by) (?:the )?(?:key|id|ID|number|selector|name|path|handle|url|uuid)\b"
    r"|Found [0-9]{1,5} (?:matches|occurrences)\b[^\n]{0,80}, but |Multiple (?:matches|occurrences)\b"
)
"""How a tool says that a call is not one that it can serve."""

_USAGE: Final = lazy_pattern(r"(?i)usage:? [`'\"]?(\w[\w.-]{0,60})")
_OF_REFUSALS: Final = (
    "not ", "n't ", "is ", "has ", "have ", "already ", "no such", "denied", "no longer", "are ", "exceeds"
)  # fmt: skip
_HIT: Final = lazy_pattern(r"[^\s:]{1,300}:[0-9]{1,7}[:-]")
"""A line that a search has found, in which any words may stand."""

_HEALTHY: Final = lazy_pattern(r"(?i)(?:found|successfully|created|updated|wrote|written|done|ok\b|no )")


def refuses(text: str, call: Call) -> bool:
    """Tell whether a whole result is a refusal of its tool."""
    text = text.strip()
    if text[:1] == "{":
        return False
    if text.startswith("<tool_use_error>") or (call.kind != "reading" and SAID_BY_TOOL.match(text)):
        return True
    may_be_typed = call.kind in ("running", "other") or (call.kind == "searching" and "\n" not in text)
    if may_be_typed and TYPED.match(text):
        return True
    if len(text) > MAX_SHORT or text.count("\n") >= _MAX_LINES or not holds_word_of_refusal(text):
        return False
    return is_of_harness(text) or _shows_usage(text, call) or _refuses_in_words(text, call) or _offers(text)


def _offers(text: str) -> bool:
    # What is read may begin with the same words, in the first of many lines.
    if "\n" not in text and _OF_TOOL.match(text):
        return True
    return not _SOUGHT.match(text) and not _HIT.match(text) and offers_choice(text)


def _refuses_in_words(text: str, call: Call) -> bool:
    if text[:1] == "[" or _SOUGHT.match(text) or _HIT.match(text):
        return False
    if call.kind == "other":
        return _STATEMENT.match(text) is not None or _is_bare_refusal(text) or refuses_argument(text, call)
    if call.kind == "searching":
        if _SEARCH_FAILED.match(text):
            return True
        return _refuses_file(text, call) or ("\n" not in text and _OF_SEARCH.match(text) is not None)
    if _ERRNO.match(text):
        return True
    return refuses_argument(text, call) or (_STATEMENT.match(text) is not None and names_argument(text, call))


def is_of_harness(text: str) -> bool:
    """Tell whether a harness reports a time-out or a missing session."""
    return TIMED_OUT.match(text) is not None or _NO_SESSION.match(text) is not None


def names_argument(text: str, call: Call) -> bool:
    """Tell whether the first line names an argument or its value."""
    first = text.split("\n", 1)[0]
    return any(value in first for value in (*_values(call.arguments), *_NAME_OF_ARGUMENT.findall(call.arguments)))


def _is_bare_refusal(text: str) -> bool:
    first = text.split("\n", 1)[0]
    return len(first) < 200 and _BARE.match(first) is not None  # noqa: PLR2004 - one short line


def _refuses_file(text: str, call: Call) -> bool:
    return _ABOUT_FILES.match(text) is not None and refuses_argument(text, call)


def may_be_refusal(first: str) -> bool:
    """Tell, without a call, whether a first line may be a refusal."""
    return UNABLE.match(first) is not None or _is_refusal(first)


def _is_refusal(first: str) -> bool:
    if not any(map(first.lower().__contains__, _OF_REFUSALS)):
        return False
    return _REFUSAL.match(first) is not None and not _HEALTHY.match(first)


def refuses_argument(text: str, call: Call) -> bool:
    """Tell whether the first line refuses what an argument names."""
    first = text.split("\n", 1)[0]
    if first in call.arguments or not _is_refusal(first):
        return False
    return any(value in first for value in _values(call.arguments)) or _BARE.match(text) is not None


def _shows_usage(text: str, call: Call) -> bool:
    # Tell whether a tool that is no shell answers with how it is called.
    found = _USAGE.match(text)
    return found is not None and not call.programs and bool(call.tool) and found[1].lower() == call.tool.lower()


def _values(arguments: str) -> Iterator[str]:
    # Yield the short texts among a call's arguments, paths also by their last part.
    try:
        parsed = json.loads(arguments) if arguments[:1] == "{" else arguments.split()
    except (ValueError, RecursionError):
        return
    values = (
        list(cast("dict[str, object]", parsed).values()) if isinstance(parsed, dict) else cast("list[object]", parsed)
    )
    for value in values[:_MAX_VALUES]:
        text = str(value).strip("\"'") if isinstance(value, (str, int)) else ""
        if _MIN_VALUE <= len(text) <= MAX_SHORT:
            yield text
            name = text.rstrip("/").rpartition("/")[2]
            if len(name) > _MIN_VALUE:
                yield name
