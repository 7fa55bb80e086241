"""The kind of a failure: transient, rejected before execution, or neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.statuses import is_not_yet
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


EXECUTED: Final = FailureKind()
TRANSIENT: Final = FailureKind(transient=True)
REJECTED: Final = FailureKind(rejected=True)


def kind_of(raw: RawError, facts: Facts) -> FailureKind:
    """
    Return the kind of a failure by its type, codes and cause.

    Evidence, such as the output of a program, has no part in it.
    """
    cause = facts.cause[:MAX_CAUSE]
    words = words_of(facts.type)
    if _is_rejected(raw, facts, cause, words):
        return REJECTED
    return TRANSIENT if _is_transient(raw, facts, cause, words) else EXECUTED


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

_JUDGING_FORMATS: Final = frozenset(
    {
        "pytest", "unittest", "phpunit", "jest", "mocha", "gotest", "cargotest", "junit", "exunit", "rspec", "rustc",
        "eslint", "ruff", "compilers", "dialyzer",
    }
)  # fmt: skip
"""Formats of programs that judge code: their words are about that code, and the same code fails again."""

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

_WAITING_HELPS: Final = frozenset({"408", "425", "429"})
_NEVER: Final = frozenset({"501", "505", "506", "510"})

_WITHOUT_QUOTA: Final = (
    "insufficient_quota", "credit balance is too low", "exceeded your current quota", "billing hard limit",
)  # fmt: skip
"""Refusals that waiting does not end, unless the server says when."""

_RETRY_IN: Final = lazy_pattern(r"(?i)\b(?:try|retry)(?:ing)?(?: again)? (?:in|after) (?:about )?[0-9]")

_PHRASES_OF_WAITING: Final = (
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
    "is provisioning", "is pending", "in progress",
)  # fmt: skip
"""Strings in small letters of which each such phrase holds one: to look for them costs little."""

_NO_SUCH_HOST: Final = lazy_pattern(
    r"name or service not known|nodename nor servname|getaddrinfo (?:failed|ENOTFOUND)|no such host|certificate",
    re.IGNORECASE,
)
_RETRY_AFTER: Final = lazy_pattern(
    r"(?i)\bretry[-_ ]?after(?:[-_ ]?(?:ms|seconds))?[\"']?\s{0,3}[:=]\s{0,3}[\"']?[0-9]"
)
_SERVICE_FORMATS: Final = frozenset({"http", "llm", "rpc", "infra"})
_ENDED_FROM_OUTSIDE: Final = frozenset({124, 137, 143, -9, -15})
"""Exit statuses of commands that `timeout`, the kernel or a user ended."""

_ENDED: Final = lazy_pattern(r"exit code (?:124|137|143|-9|-15)\Z")
_MAX_ANSWER: Final = 8_192


def _is_transient(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> bool:
    if is_ended_from_outside(raw, facts) or is_not_yet(raw.tool, raw.arguments, raw.exit_code):
        return True
    name = " ".join(words)
    if facts.format in _JUDGING_FORMATS:
        return _TRANSIENT_NAMES.search(name) is not None and _FAULTS_OF_CODE.isdisjoint(words)
    says_when = _says_when(raw, facts, cause)
    if says_when or has_any(cause, _WITHOUT_QUOTA) or "insufficient quota" in name:
        return says_when
    status = status_of(facts.type, cause)
    if status:
        return status in _WAITING_HELPS or (status[0] == "5" and status not in _NEVER)
    return _is_named_transient(cause, words, name)


def is_ended_from_outside(raw: RawError, facts: Facts) -> bool:
    """Tell whether a command was ended from outside."""
    ended = raw.exit_code in _ENDED_FROM_OUTSIDE
    return ended or (facts.type.startswith("exit code ") and _ENDED.match(facts.type) is not None)


def _says_when(raw: RawError, facts: Facts, cause: str) -> bool:
    if "try" in cause.lower() and _RETRY_IN.search(cause):
        return True
    return facts.format in _SERVICE_FORMATS and _RETRY_AFTER.search(raw.text[:_MAX_ANSWER]) is not None


def _is_named_transient(cause: str, words: tuple[str, ...], name: str) -> bool:
    if not _FAULTS_OF_CODE.isdisjoint(words) or words[-2:] == ("exception", "group"):
        return False
    if not (_TRANSIENT_NAMES.search(name) or _holds_transient_words(cause)):
        return False
    return _NO_SUCH_HOST.search(cause) is None


def _holds_transient_words(cause: str) -> bool:
    if not has_any(cause.lower(), _WORDS_OF_WAITING):
        return False
    return _TRANSIENT_WORDS.search(statement_of(cause)) is not None


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


# Rejected.

_REJECTED_OF_FORMAT: Final = {
    "harness": frozenset(
        {
            "AmbiguousString", "EditRejected", "FileModified", "FileNotRead", "FileTooLarge", "InvalidArguments",
            "InvalidCode", "NoChange", "NoEditHistory", "NoFileOpen", "PermissionDenied", "StringNotFound",
            "UnknownAgent", "UnknownSkill", "UnknownTask", "UnknownTool", "ValidationError",
        }
    ),
    # JSON-RPC: -32602, -32601, -32600, -32700
    "rpc": frozenset({"InvalidParams", "MethodNotFound", "InvalidRequest", "ParseError", "ValidationError"}),
    "validation": frozenset({"ValidationError"}),
}  # fmt: skip
"""Types of rejected calls by format: of the agent's harness, and of the protocol of tools."""

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
    r"|git: '[^']{1,100}' is not a git command\b|No rule to make target '[^']{1,200}'(?!, needed)"
    r"|(?:Task|Recipe|Target|Script|Command|Rule|Session) ['\"`][^'\"`]{1,100}['\"`] (?:is )?(?:not found"
    r"|does not exist|not recognized|unknown|is not defined)\b"
    r"|Justfile does not contain recipe\b|no task [\w:'\"`-]{1,100} found\b|Missing script: "
    r"|Don't know how to build task\b|(?:mise ERROR )?no tasks? named\b)"
)
"""Beginnings of causes of rejected calls."""

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


def _is_rejected(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> bool:
    kind, form = facts.type, facts.format
    if form in _JUDGING_FORMATS:
        return kind == "UsageError"
    if " validation error" in cause and (found := _INVALID_MODEL.match(cause)) is not None:
        return _is_input_of(raw.tool, found["model"])
    if kind in _REJECTED_OF_FORMAT.get(form, ()) or kind in _REJECTED_TYPES:
        return True
    if _names_rejection(words) or ("() " in cause and _is_called_wrong(raw.tool, cause)):
        return True
    return (words in _GENERIC or words[:2] == ("exit", "code")) and _REJECTED_WORDS.match(cause) is not None


def _names_rejection(words: tuple[str, ...]) -> bool:
    name = " ".join(words)
    return ("tool" in name or "function" in name) and _REJECTED_NAMES.search(name) is not None


def _is_called_wrong(tool: str, cause: str) -> bool:
    found = _CALLED_WRONG.match(cause)
    return bool(found and tool and _normalise(found["function"].rpartition(".")[2]) == _normalise(_bare_name(tool)))


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
