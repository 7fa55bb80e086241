"""The kind of a failure: transient, rejected before execution, or neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.statuses import is_not_yet
from otel_errcompact.extract.table import names_of, patterns_of, rejections
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError

MAX_CAUSE: Final = 1_000
"""Characters of a cause that are read."""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """The certain traits of a failure."""

    transient: bool = False
    """Whether its own words say that waiting helps."""

    rejected: bool = False
    """Whether the call was rejected before anything was executed."""

    unknown: bool = False
    """Whether a transient failure leaves open if the call took effect."""


EXECUTED: Final = FailureKind()
TRANSIENT: Final = FailureKind(transient=True)
UNKNOWN: Final = FailureKind(transient=True, unknown=True)
REJECTED: Final = FailureKind(rejected=True)


def kind_of(raw: RawError, facts: Facts) -> FailureKind:
    """
    Return the kind of a failure by its type, codes and cause.

    Evidence, such as the output of a program, has no part in it.
    """
    return find_kind(raw, facts)[0]


def find_kind(raw: RawError, facts: Facts) -> tuple[FailureKind, str]:
    """Return the same kind, and the words that say so."""
    cause = facts.cause[:MAX_CAUSE]
    words = words_of(facts.type)
    if said := _find_rejected(raw, facts, cause, words):
        return REJECTED, said
    said = _find_transient(raw, facts, cause, words)
    return (TRANSIENT, said) if said else (EXECUTED, "")


def words_of(kind: str) -> tuple[str, ...]:
    """Return the words of a type's name in small letters."""
    # `requests.exceptions.ReadTimeout` is `read timeout`.
    name = kind[:_MAX_NAME].strip()
    name = name[max(name.rfind("."), name.rfind(":")) + 1 :]
    return tuple([word.lower() for word in _WORD.findall(name)])


_MAX_NAME: Final = 200
_WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUOTED: Final = lazy_pattern(r"'[^'\n]{0,300}'|\"[^\"\n]{0,300}\"|`[^`\n]{0,300}`")


# Transient.

_FAULTS_OF_CODE: Final = frozenset(
    {
        "assertion", "argument", "arithmetic", "attribute", "cast", "conversion", "format", "import", "indentation",
        "index", "json", "key", "lookup", "module", "name", "parse", "pointer", "reference", "schema", "syntax", "type",
        "unicode", "validation", "value",
    }
)  # fmt: skip
"""Words of types that say that the code or its input is wrong, whatever the message mentions."""

_TRANSIENT_NAMES: Final = lazy_pattern(
    r"(?:\A| )(?:(?:time ?out|timed out|deadline exceeded|e(?:sock)?et?timedout|etimedout|esockettimedout)(?: |\Z)"
    r"|(?:rate limit|ratelimit|throttl|too many requests|slow down|overloaded|over capacity|server busy)"
    r"|(?:service |server |temporarily |\A)unavailable(?: |\Z)|resource exhausted"
    r"|(?:connection|connect) (?:refused|reset|aborted|closed|timeout|failed)|econnrefused|econnreset|econnaborted"
    r"|connect(?:ion)? error\Z|connect exception\Z|endpoint connection error|remote (?:disconnected|protocol error)"
    r"|server disconnected|server unreachable|eai again|eagain|ewouldblock|blocking ?io|ebusy|etxtbsy"
    r"|bad gateway|gateway timeout|internal server error|deadlock|serialization (?:failure|error)"
    r"|(?:lock|locked) (?:exists|held|timeout|not available|wait)|lock not available|sigkill|sigterm|oom killed)"
)
"""Types of transient failures, as words in small letters."""

_STATUS: Final = lazy_pattern(
    r"(?:\A|[\s(])(?:HTTP(?:/[0-9](?:\.[0-9])?)?(?: Error| status| code)*|[Ss]tatus(?:[ _]?[Cc]ode)?|Error code)"
    r"[ :=]{0,3}([1-5][0-9]{2})(?![0-9])"
    r"|\A([45][0-9]{2})(?: (?:Client|Server) Error\b|,? [A-Za-z]|\Z)"
    r"|\b(?:Client|Server) error '([45][0-9]{2}) "
    r"|\bstatus code ([45][0-9]{2})(?![0-9])|\brequested URL returned error: ([45][0-9]{2})(?![0-9])"
)
_WORDS_OF_STATUS: Final = ("HTTP", "tatus", "rror code", "rror '", "returned error: ")
"""Strings of which each text with a status has one, unless it begins with it."""

_WAITING_HELPS: Final = frozenset({"408", "409", "423", "425", "429"})
_NEVER: Final = frozenset({"501", "505", "506", "510"})

_WITHOUT_QUOTA: Final = (
    "insufficient_quota", "credit balance is too low", "exceeded your current quota", "billing hard limit",
)  # fmt: skip
"""Refusals that waiting does not end, unless the server says when."""

_ASKED_TO_WAIT: Final = lazy_pattern(
    r"(?i)\b(?:(?:try|retry)(?:ing)?(?: again)? (?:in|after)|wait(?: for)?"
    r"|retry[-_ ]?after(?P<of_name>[-_ ]?(?:ms|seconds))?[\"']?\s{0,3}[:=])\s{0,3}[\"']?(?:about |at least )?"
    r"(?P<time>[0-9]{1,6}(?:\.[0-9]{1,6})?(?:h[0-9]{1,2}m|m[0-9]{1,2}(?:\.[0-9]{1,6})?(?=s))?)"
    r" ?(?P<unit>ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h)?\b"
)
_LATER: Final = lazy_pattern(r"(?i)\b(?:try|retry)(?:ing)?(?: again)? (?:in (?:a|an|some|several)\b|later\b|shortly\b)")

CLOSED_EARLY: Final = (
    r"closed the connection\b|connection (?:is |was )?(?:already )?(?:closed|broken|terminated|lost)\b|empty reply\b"
    r"|peer closed\b|premature(?:ly)? (?:close|end)|incomplete ?(?:read|chunked read)\b|broken pipe\b"
    r"|unexpected[ _]eof(?! while (?:parsing|scanning|looking))|\beof occurred\b|(?<![a-z])eof\Z"
)
"""How it is said, in small letters, that the other side left in the middle."""

_YET: Final = lazy_pattern(
    r"(?i)\b(?:not|cannot|can't|isn't|hasn't|haven't|aren't|no) (?!(?:implemented|supported|released|defined|allowed|"
    r"available in)\b)[^.;\n]{0,60}?(?<!implemented )(?<!supported )\byet\b(?! (?:implemented|supported))"
)
"""That something has not happened yet; what is not built yet does not come by waiting."""

_PHRASES_OF_WAITING: Final = (
    CLOSED_EARLY, r"not (?:yet )?(?:finished|done)\b", r"\A(?:still )?(?:waiting|pending)\b",
    r"(?:is |are |still |,|:) ?(?:waiting|pending) (?:for|on|review|approval)\b",
    r"awaiting (?:approval|review|confirmation|response)\b", r"resource is locked\b",
    r"timed[ -]out\b", r"time-?out (?:exceeded|expired|reached|error|while|waiting|after|awaiting|occurred|of \d)",
    r"timeout (?:of )?[0-9]{1,9} ?(?:ms|s|seconds)? (?:was )?exceeded", r"i/o timeout\b",
    (
        r"(?:read|connect(?:ion)?|request|response|lock wait|lock|gateway|handshake|idle|statement|query|operation"
        r"|command|execution|tool) time-?out\b(?! (?:must|should|is|argument|parameter|value|option|setting))"
    ),
    r"deadline (?:has )?(?:been )?exceeded\b", r"took too long\b", r"deadline_exceeded\b",
    r"connection (?:was |has been |is )?(?:forcibly )?(?:refused|reset|aborted|closed by (?:the )?(?:remote|peer))",
    r"connection closed\b", r"server disconnected\b", r"remote end closed connection\b", r"socket hang up\b",
    r"econn(?:refused|reset|aborted)\b", r"etimedout\b", r"esockettimedout\b", r"eai_again\b", r"eagain\b", r"ebusy\b",
    r"temporary failure (?:in name resolution|resolving)\b", r"temporar(?:y|ily) (?:unavailable|overloaded|failure)",
    r"resource temporarily unavailable\b", r"resource busy\b", r"text file busy\b",
    r"(?:database|table|file|state|index)[^\n]{0,60} is locked\b", r"could not get lock\b",
    r"acquir(?:e|ing) (?:the )?(?:\w{1,20} )?lock\b", r"lock is held\b", r"held by (?:process|pid)\b",
    r"waiting for (?:the )?(?:\w{1,20} )?lock\b",
    r"another (?:\w{1,20} )?process (?:is|seems to be) (?:running|holding)\b",
    r"deadlock (?:detected|found)\b", r"could not serialize access\b", r"restarting transaction\b",
    r"too many (?:requests|connections|concurrent)\b",
    r"rate[ -]?limit(?:s|ed)?(?: (?:is |was |has been )?(?:reached|exceeded|hit)|:|\Z|[.,])", r"rate exceeded\b",
    r"throttled\b", r"request rate\b", r"resource_exhausted\b",
    r"(?:service|server)(?: is)?(?: currently| temporarily)? unavailable\b", r"currently unable to handle\b",
    r"overloaded\b", r"over capacity\b", r"server is (?:too )?busy\b", r"bad gateway\b", r"upstream connect error\b",
    r"(?:try|retry) again (?:later|in (?:a|an|[0-9]))", r"(?:try|retry) (?:later|after [0-9]|in [0-9])",
    r"not (?:yet )?ready\b(?! to)",
    r"still (?:pending|running|starting|initiali[sz]ing|processing|building|provisioning|loading)\b",
    r"(?:warming|starting|booting|spinning) up\b", r"is (?:starting|initiali[sz]ing|provisioning|pending)\b",
    (
        r"(?:build|deploy|deployment|rollout|restart|operation|job|task|backup|restore|provisioning|update|upgrade)"
        r"(?: is)?(?: already| still| currently)? in progress\b"
    ),
    r"signal: killed\b", r"oomkilled\b", r"statuscode\.(?:unavailable|deadline_exceeded)",
)  # fmt: skip
"""
Phrases of transient causes, in small letters; never single words, since `timeout` alone may be the name of a parameter.
"""

_TRANSIENT_WORDS: Final = lazy_pattern(
    rf"\b(?:{'|'.join(_PHRASES_OF_WAITING)})|\[errno (?:11|16|26|104|110|111|103)\]"
    r"|\[winerror (?:10053|10054|10060|10061)\]|\.lock: file exists|\A(?:killed|overloaded|timeout)\b"
)

_WORDS_OF_WAITING: Final = (
    "timed", "timeout", "time-out", "deadline", "took too", "connection", "disconnected", "hang up", "econn",
    "ebusy", "errno ", "winerror ", "temporar", "lock", "busy", "held by", "another", "serialize",
    "restarting", "too many", "rate limit", "rate-limit", "ratelimit", "rate exceeded", "request rate", "throttled",
    "exhausted", "unavailable", "unable to handle", "overload", "over capacity", "gateway", "upstream", "again",
    "try later", "try after", "try in", "killed", "ready", "still ", "ing up", "is starting", "is initiali",
    "is provisioning", "is pending", "in progress", "not finished", "not done", "not yet", "waiting", "pending",
    "awaiting", "eof", "empty reply", "peer closed", "premature", "incomplete", "broken pipe",
)  # fmt: skip
"""Strings in small letters of which each such phrase holds one: to look for them costs little."""

_NO_SUCH_HOST: Final = lazy_pattern(
    r"name or service not known|nodename nor servname|getaddrinfo (?:failed|ENOTFOUND)|no such host|certificate",
    re.IGNORECASE,
)
_ENDED_FROM_OUTSIDE: Final = frozenset({124, 137, 143, -9, -15})
"""Exit statuses of commands that `timeout`, the kernel or a user ended."""

_ENDED: Final = lazy_pattern(r"exit code (?:124|137|143|-9|-15)\Z")
_MAX_ANSWER: Final = 8_192


def _find_transient(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> str:
    if is_ended_from_outside(raw, facts) or is_not_yet(raw.tool, raw.arguments, raw.exit_code):
        return facts.type if raw.exit_code is None else f"exit code {raw.exit_code}"
    name = " ".join(words)
    if facts.format in names_of("judges_code"):
        return _words_in(_TRANSIENT_NAMES.search(name)) if _FAULTS_OF_CODE.isdisjoint(words) else ""
    says_when = _find_time(raw, facts, cause)
    if says_when or has_any(cause, _WITHOUT_QUOTA) or "insufficient quota" in name:
        return says_when
    status = status_of(facts.type, cause)
    if status:
        helps = status in _WAITING_HELPS or (status[0] == "5" and status not in _NEVER)
        return f"status {status}" if helps else ""
    if words[-2:] == ("exception", "group"):
        return facts.key_cause if all(map(_is_transient_member, facts.key_cause.split(" + "))) else ""
    return _find_named_transient(cause, words, name)


def _words_in(found: re.Match[str] | None) -> str:
    return found[0].strip() if found is not None else ""


def _is_transient_member(signature: str) -> bool:
    # As `signature_of` writes it: `TimeoutError in load (a.py): read timed out`.
    kind, _, said = signature.partition(" in ")
    words = words_of(kind)
    return bool(_find_named_transient(said.partition("): ")[2], words, " ".join(words)))


def is_ended_from_outside(raw: RawError, facts: Facts) -> bool:
    """Tell whether a command was ended from outside."""
    ended = raw.exit_code in _ENDED_FROM_OUTSIDE
    return ended or (facts.type.startswith("exit code ") and _ENDED.match(facts.type) is not None)


def _find_time(raw: RawError, facts: Facts, cause: str) -> str:
    lower = cause.lower()
    later = _LATER.search(cause) if "try" in lower else None
    yet = _YET.search(cause) if "yet" in lower else None
    return _words_in(later or yet or search_wait(raw, facts))


def search_wait(raw: RawError, facts: Facts) -> re.Match[str] | None:
    """Return where the other side says how long to wait."""
    cause = facts.cause[:MAX_CAUSE]
    found = _ASKED_TO_WAIT.search(cause) if has_any(cause.lower(), ("try", "wait")) else None
    if found is None and facts.format in names_of("is_of_service"):
        return _ASKED_TO_WAIT.search(raw.text[:_MAX_ANSWER])
    return found


def _find_named_transient(cause: str, words: tuple[str, ...], name: str) -> str:
    if not _FAULTS_OF_CODE.isdisjoint(words):
        return ""
    said = _words_in(_TRANSIENT_NAMES.search(name)) or _find_transient_words(cause)
    return "" if said and _NO_SUCH_HOST.search(cause) is not None else said


def _find_transient_words(cause: str) -> str:
    if not has_any(cause.lower(), _WORDS_OF_WAITING):
        return ""
    return _words_in(_TRANSIENT_WORDS.search(statement_of(cause)))


def statement_of(cause: str) -> str:
    """
    Return what a cause says, without what it quotes.

    It is in small letters, since a pattern that ignores case is several times as slow.
    """
    return _QUOTED.sub(_keep_path, cause).lower()


def _keep_path(quoted: re.Match[str]) -> str:
    # Quoted words other than a path are a value, and no statement.
    return quoted[0][1:-1] if " " not in quoted[0] else ""


def status_of(kind: str, cause: str) -> str:
    """Return the HTTP status that is stated, or nothing."""
    found = _search_status(kind) or _search_status(cause)
    return next((status for status in found.groups() if status), "") if found else ""


def _search_status(said: str) -> re.Match[str] | None:
    return _STATUS.search(said) if said[:1] in "45" or has_any(said, _WORDS_OF_STATUS) else None


_NAMES_NOTHING: Final = lazy_pattern(
    r"(?i)\b(?:no such|not found|does ?n[o']t exist|unknown|undefined|unrecognized|not recognized|not a valid|invalid"
    r"|syntax error|parse error|malformed|did you mean|no matching|no match|404)\b"
)
_OF_NAMES: Final = frozenset({"found", "such", "undefined", "unknown", "syntax", "parse"})


def names_nothing(facts: Facts) -> bool:
    """
    Tell whether a call failed for what it named.

    Or for how it was written: either way nothing is left undone.
    """
    words = _OF_NAMES.intersection(words_of(facts.type))
    return bool(words) or _NAMES_NOTHING.search(facts.cause[:MAX_CAUSE]) is not None


# Rejected.

_REJECTED_TYPES: Final = frozenset(
    {"CommandNotFound", "InvalidArguments", "MissingScript", "UnknownTool", "UsageError"}
)
"""Types of calls that shells, programs and loops reject, whichever format read them."""

_REJECTED_NAMES: Final = lazy_pattern(
    r"(?:\A| )(?:(?:no such|unknown|unavailable|unregistered) (?:tool|function)"
    r"|invalid (?:tool|function) (?:input|arguments?|call|params?|parameters?|schema)"
    r"|tool (?:not found|not registered|input parsing|input validation|argument|arguments) ?(?:error|exception)?"
    r"|tool not found)"
)
"""Types of calls that agent frameworks reject, as words in small letters."""

_REJECTED_WORDS: Final = lazy_pattern(
    r"(?:Error: )?(?:(?:Unknown|Unsupported|Unrecognized|Invalid) (?:tool|function)(?: name)?\b"
    r"|(?:No such|No) (?:tool|function) (?:available|named|found|with name|registered|called)\b"
    r"|(?:Tool|Function) ['\"`]?[\w.:/-]{1,100}['\"`]? (?:is |was )?(?:not found|does not exist|not registered|unknown"
    r"|not available|not a valid tool|not listed)"
    r"|[\w.:/-]{1,100} is not a valid tool\b"
    r"|Received tool input did not match expected schema\b"
    r"|(?:Invalid|Malformed|Missing required|Unexpected) (?:input|arguments?|parameters?|params)"
    r"(?: \S{1,100})? (?:for|to|of|in) (?:the )?(?:tool|function)\b"
    r"|Input validation error: |Tool arguments? (?:are|is) (?:invalid|missing)"
    r"|Failed to parse (?:tool call |function )?arguments|Missing required (?:argument|parameter)s?\b"
    r"|Your proposed edit has introduced new syntax error|No exact match found\b"
    r"|(?:old_string|old_str|oldString|oldText|search string|String to replace) (?:was )?not found\b"
    r"|File has not been read yet\b"
    r"|No rule to make target '[^']{1,200}'(?!, needed)"
    r"|(?:Task|Recipe|Target|Script|Command|Rule|Session) ['\"`][^'\"`]{1,100}['\"`] (?:is )?(?:not found"
    r"|does not exist|not recognized|unknown|is not defined)\b"
    r"|no task [\w:'\"`-]{1,100} found\b|Missing script: |Don't know how to build task\b)"
)
"""Beginnings of causes of rejected calls."""

_REJECTED_BY_TOOLS: Final = lazy_pattern(lambda: rf"(?:Error: )?(?:{patterns_of('rejects')})")

_GENERIC: Final = frozenset(
    {(), ("error",), ("tool", "error"), ("tool", "exception"), ("exception",), ("make",), ("not", "found", "error")}
)
"""Words of types without a meaning, so that the cause's words count."""

_CALLED_WRONG: Final = lazy_pattern(
    r"(?P<function>[\w.<>]{1,200})\(\) (?:missing [0-9]{1,3} required |got an unexpected keyword argument"
    r"|got multiple values for |takes [\w ]{1,40} positional arguments? but )"
)
_INVALID_MODEL: Final = lazy_pattern(
    r"(?:[\w.:/-]{1,100}: )?[0-9]{1,6} validation errors? for (?P<model>[\w\[\].-]{1,200})"
)
_SUFFIX_OF_INPUT: Final = lazy_pattern(r"(?:arguments|args|input|inputs|schema|params|parameters|toolinput|toolargs)\Z")
_NO_LETTERS: Final = lazy_pattern(r"[^a-z0-9]")


def _find_rejected(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> str:
    kind, form = facts.type, facts.format
    if form in names_of("judges_code"):
        return kind if kind == "UsageError" else ""
    if " validation error" in cause and (found := _INVALID_MODEL.match(cause)) is not None:
        return found[0] if _is_input_of(raw.tool, found["model"]) else ""
    if (form, kind) in rejections() or kind in _REJECTED_TYPES:
        return kind
    said = _find_rejection(words) or (_find_wrong_call(raw.tool, cause) if "() " in cause else "")
    if said:
        return said
    is_generic = words in _GENERIC or words[:2] == ("exit", "code")
    return _words_in(_REJECTED_WORDS.match(cause) or _REJECTED_BY_TOOLS.match(cause)) if is_generic else ""


def _find_rejection(words: tuple[str, ...]) -> str:
    name = " ".join(words)
    return _words_in(_REJECTED_NAMES.search(name)) if "tool" in name or "function" in name else ""


def _find_wrong_call(tool: str, cause: str) -> str:
    found = _CALLED_WRONG.match(cause)
    is_its = found and tool and _normalise(found["function"].rpartition(".")[2]) == _normalise(_bare_name(tool))
    return _words_in(found) if is_its else ""


def _is_input_of(tool: str, model: str) -> bool:
    # Frameworks give the model of a tool's input its name. Any other model may be one that the tool's code validates in
    # the middle of its work.
    name = _bare_name(tool)
    if model.startswith("call["):
        return True
    if not name:
        return False
    plain = _normalise(model)
    return model == name or (_SUFFIX_OF_INPUT.sub("", plain) == _normalise(name) != plain)


def _bare_name(tool: str) -> str:
    # `mcp__shop__find_order` is `find_order`.
    return re.split(r"__|[.:/]", tool)[-1]


def _normalise(name: str) -> str:
    return _NO_LETTERS.sub("", name.lower())
