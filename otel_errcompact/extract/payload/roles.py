"""Roles of an error's fields, by their names in any spelling."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.statements import is_exception_name
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SEPARATORS: Final = str.maketrans("", "", "_-. $@#")

MESSAGES: Final = (
    "message", "msg", "detail", "errordescription", "errormessage", "errormsg", "defaultmessage", "description",
    "title", "reason", "details", "faultstring", "string", "text", "summary", "explanation", "issue", "longmessage",
    "usermessage", "statusmessage", "developermessage", "cause", "problem", "warning", "longrepr", "errorstring",
    "errors", "errmsg", "diagnostics", "userpresentablemessage", "hint", "error", "err",
)  # fmt: skip
"""Names of fields that tell an error, the most telling first."""

CODES: Final = (
    "code", "errorcode", "type", "errortype", "status", "reason", "error", "name", "faultcode", "errcode",
    "exceptiontype", "ruleid", "keyword", "rule", "validator", "tag", "issue",
)  # fmt: skip
"""Names of fields that hold the name of an error, the most telling first."""

WEAK_CODES: Final = frozenset({"type", "status", "name", "reason", "tag", "rule", "issue"})
"""Names that other data has too, so that they are the code of an error only beside its message."""

PATHS: Final = (
    "path", "loc", "field", "instancepath", "datapath", "pointer", "param", "parameter", "property", "propertypath",
    "location", "attribute", "argument", "argumentname", "fieldname", "jsonpath", "nodeid", "address", "subject",
    "element", "name", "key", "resource", "filename", "filepath", "file",
)  # fmt: skip
"""Names of fields that say which part of an input an error is about, the most telling first."""

_GOT: Final = (
    "received", "got", "input", "rejectedvalue", "actual", "invalidvalue", "inputvalue", "actualvalue", "value",
    "given", "provided",
)  # fmt: skip
_EXPECTED: Final = (
    "expected", "allowed", "allowedvalues", "options", "validvalues", "values", "enum", "pattern", "minimum", "maximum",
    "min", "max", "choices", "accepted", "want", "expectedvalue", "expectedtype", "limit",
)  # fmt: skip
STATUSES: Final = ("status", "statuscode", "httpstatus", "httpstatuscode", "httpcode", "code", "errorcode")

_OWN_NAMES: Final = {"@type": "attype"}
"""Names that mean something else than the same letters do."""

_STATUS: Final = lazy_pattern(r"[3-5][0-9]{2}")
_UPPER_CASE: Final = lazy_pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_CODE: Final = lazy_pattern(r"-?[\w.:#/-]{1,120}")
_RETRY: Final = lazy_pattern(
    r"retr(?:y|i)|ratelimit(?:reset|remaining|limit)?|reset(?:at|time|in|s|after|on)?\Z|backoff|attempt|idempot|transient"
    r"|cooldown|wait(?:for|seconds|ms)?\Z|charged|resetrequests|resettokens|temporary"
)
_NOISE: Final = lazy_pattern(
    r"(?:request|trace|span|correlation|activity|event|host|session|client|log|ray|incident|debug|error|parent|operation|connection|message)"
    r"(?:id|uuid|guid)\Z"
    r"|(?:doc|help|support|moreinfo|learnmore|info|faq|reference|contact)\w{0,20}(?:url|link|uri|s)?\Z"
    r"|instance\Z|(?:times?|ts|date|timestamp|datetime|createdat|generatedat|occurredat|servertime)\Z|timestamp|links?\Z|href\Z"
    r"|attype\Z|jsonrpc\Z|apiversion\Z|schemaversion\Z|version\Z|v\Z|pid\Z|hostname\Z|host\Z|xrequest\w*|cfray\Z|logref\Z|url\Z"
    r"|level\Z|lvl\Z|levelname\Z|success\Z|ok\Z|iserror\Z|logger\w*|thread\w*|schemapath\Z|schema\Z|id\Z|uuid\Z"
    r"|requestuuid\Z|traceparent\Z|fingerprint\Z|ctx\Z|stack\w*\Z|\w{0,5}trace(?:back)?\Z|xmlns\w*|environment\Z|env\Z|service\w*|app\Z"
)
_NO_CODES: Final = frozenset((
    "error", "errors", "failed", "fail", "failure", "exception", "text", "ok", "success", "null", "none", "about:blank",
    "undefined", "true", "false", "status", "field", "unknown", "diagnostic",
))  # fmt: skip
_ERROR_WORDS: Final = lazy_pattern(
    r"err|fault|fail|exception|violation|issue|problem|invalid|cause|diagnostic|warning|reason|rejected|conflict"
)
_WRAPPING: Final = frozenset({"detail", "details", "messages", "message", "fields", "validation", "nonfielderrors"})
LISTING: Final = frozenset({
    "errors", "error", "messages", "message", "detail", "details", "violations", "issues", "warnings", "problems",
})  # fmt: skip
"""Names under which errors are listed, and which are no field of an input."""

_ROOTS: Final = lazy_pattern(r"(?:root)?cause|causedby|inner|previous")
_ECHOES: Final = frozenset({
    "request", "headers", "config", "requestbody", "query", "kwargs", "arguments", "environment", "stack", "stacktrace",
    "trace", "backtrace", "traceback", "data", "links", "schema", "tags",
})  # fmt: skip
"""Names below which nothing of an error stands but what states one itself."""


@lru_cache(maxsize=1_024)
def plain_name(name: str) -> str:
    """Return a name in small letters, without separators."""
    return _OWN_NAMES.get(name) or name[:80].rpartition(":")[2].lower().translate(_SEPARATORS) or name


def is_noise(name: str) -> bool:
    """Tell whether a field holds an id, a time or a link."""
    return _NOISE.match(name) is not None and not is_retry(name)


def is_retry(name: str) -> bool:
    """Tell whether a field is about repeating the request."""
    return _RETRY.search(name) is not None


def holds_errors(name: str) -> bool:
    """Tell whether a field is meant to hold errors."""
    return name in _WRAPPING or _ERROR_WORDS.search(name) is not None


def is_root(name: str) -> bool:
    """Tell whether a field holds the cause of the error around it."""
    return _ROOTS.match(name) is not None


def is_echo(name: str) -> bool:
    """Tell whether a field repeats a request, or holds any data."""
    return name in _ECHOES


def is_code(value: str) -> bool:
    """Tell whether a text is a name that an error may have."""
    return _CODE.fullmatch(value) is not None and not _STATUS.fullmatch(value) and value.lower() not in _NO_CODES


def _is_name_of_error(value: str) -> bool:
    return is_exception_name(value) or _UPPER_CASE.fullmatch(value) is not None


def is_status(value: object) -> bool:
    """Tell whether a value is a status of HTTP."""
    return isinstance(value, int | str) and not isinstance(value, bool) and _STATUS.fullmatch(str(value)) is not None


def message_of(fields: Mapping[str, object]) -> tuple[str, str]:
    """Return the most telling text of an error, and its field."""
    spare = ("", "")
    for name in MESSAGES:
        value = fields.get(name)
        if not isinstance(value, str) or not value.strip():
            continue
        if " " in value or name in ("message", "msg", "detail", "errormessage", "description", "errordescription"):
            return value.strip(), name
        spare = spare if spare[0] or name in CODES else (value.strip(), name)
    return spare


def code_of(fields: Mapping[str, object], *, beside: str = "") -> tuple[str, str]:
    """Return the name or number of an error, and its field."""
    number = ("", "")
    for name in CODES:
        value = fields.get(name)
        if isinstance(value, bool) or value == beside:
            continue
        if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
            number = number if number[0] or is_status(value) else (str(value), name)
        elif isinstance(value, str) and is_code(value) and (name != "name" or _is_name_of_error(value)):
            return value.rpartition("#")[2].rpartition("/")[2] if value.count("/") else value.rpartition("#")[2], name
    return number


def status_of(fields: Mapping[str, object]) -> str:
    """Return the HTTP status that an error carries, or nothing."""
    return next((str(fields[name]) for name in STATUSES if is_status(fields.get(name))), "")


def first_of(fields: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the name of the first field that holds anything."""
    return next((name for name in names if fields.get(name) not in (None, "", [], {})), "")


def got_of(fields: Mapping[str, object]) -> str:
    """Return the field with the received value, or nothing."""
    return first_of(fields, _GOT)


def expected_of(fields: Mapping[str, object]) -> str:
    """Return the field with the expected value, or nothing."""
    return first_of(fields, _EXPECTED)
