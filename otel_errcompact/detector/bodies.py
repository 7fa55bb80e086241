"""Bodies in JSON, XML or HTML that report an error, nothing else."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_ANSWER: Final = 65_536
"""Characters of a JSON answer that is looked into."""

_MAX_PAGE: Final = 16_384
_HEAD_OF_PAGE: Final = 1_000

_FLAGS: Final = tuple(
    (word, lazy_pattern(pattern))
    for word, pattern in (
        ("rror", r"\"(?:isError|is_error|error)\"\s?:\s?true|\"(?:errors?|Error|errorMessage)\"\s?:\s?[\[{\"]"),
        ("rror", r"\"(?:status|result|outcome)\"\s?:\s?\"error\""),
        ("fail", r"\"(?:status|result|outcome)\"\s?:\s?\"fail(?:ed|ure)?\""),
        ("false", r"\"(?:success|ok|succeeded)\"\s?:\s?false"),
        ("ault", r"\"(?:fault|Fault)\"\s?:\s?[\[{\"]"),
        ("xception", r"\"exception\"\s?:\s?[\[{\"]"),
        ("detail", r"\"detail\"\s?:\s?[\[{\"]"),
        ("documentation_url", r"\"documentation_url\"\s?:\s?\""),
        ('tatus"', r"tatus\"\s?:\s?(?:\"?[45][0-9]{2}\b|-?[1-9])"),
        ('ode"', r"ode\"\s?:\s?(?:\"?[45][0-9]{2}\b|-?[1-9])"),
    )
)
"""How an answer in JSON shows that it may report an error: a word of each form, which costs little to find, first."""

_REASONS: Final = (
    "error", "errors", "message", "reason", "detail", "details", "error_message", "msg", "stderr", "content",
    "title", "Message", "errorMessage", "error_description",
)  # fmt: skip
_FAILED: Final = frozenset({"error", "failed", "failure", "fail"})
_VERDICTS: Final = ("status", "result", "outcome")
_STATUSES: Final = ("status", "statusCode", "status_code", "code", "httpStatus", "http_status")
_EXITS: Final = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status")
_STREAMS: Final = frozenset({"stdout", "stderr", "output"})
_NAMES_OF_ERROR: Final = ("error", "Error", "fault", "Fault", "exception", "errorMessage")
_OF_ERRORS: Final = frozenset(_REASONS) | frozenset(_NAMES_OF_ERROR) | frozenset(_STATUSES) | frozenset({
    "type", "errorCode", "error_code", "request_id", "requestId", "RequestId", "requestID", "timestamp", "path",
    "instance", "success", "ok", "data", "extensions", "jsonrpc", "id", "traceId", "trace_id", "errorType",
    "stackTrace", "stack", "documentation_url", "hint", "suggestion", "help", "retryable", "retry_after", "isError",
    "is_error", "trace", "method", "url", "kind", "apiVersion", "metadata", "result", "outcome", "param", "field",
    "fields", "violations", "invalid_params", "correlationId", "correlation_id", "Code", "HostId", "__type",
})  # fmt: skip
"""Fields of answers that report an error and nothing else."""

_PAGE: Final = lazy_pattern(
    r"<(?:title|h1|H1)>\s{0,9}(?:Error |HTTP (?:Status )?|HTTP Error )?[45][0-9]{2}\b(?:\W{0,5}(?:Error|Not|Bad"
    r"|Forbidden|Internal|Service|Unauthori[sz]ed|Gateway|Method|Too|Gone|Request|Payload|Conflict|Server)\b|\s{0,9}<)"
    r"|\A(?:<\?xml[^>]{0,99}>\s{0,9})?<(?:Error|ErrorResponse|(?:\w{1,20}:)?Envelope)\b[^>]{0,300}>"
    r"(?:\s{0,9}<(?:\w{1,20}:)?Body>)?\s{0,9}<(?:Error|Code|Type|(?:\w{1,20}:)?Fault)>"
)
_ERROR_OF_SERVER: Final = lazy_pattern(
    r"(?i)(?:internal server error|bad gateway|service unavailable|gateway time-?out|forbidden|unauthori[sz]ed"
    r"|bad request"
    r"|too many requests|not found|method not allowed|[^\n]{0,200}\b(?:limit exceeded|not authori[sz]ed|access denied"
    r"|(?:is )?forbidden|missing authentication token|invalid (?:token|api key|signature)"
    r"|endpoint request timed out))\W?\Z"
)


def body_reports_error(text: str) -> bool:
    """Tell whether a result is one body that reports an error."""
    text = text.strip()
    first = text[:1]
    if first == "<":
        return len(text) <= _MAX_PAGE and _PAGE.search(text, 0, _HEAD_OF_PAGE) is not None
    if first != "{" or text[-1:] != "}" or len(text) > MAX_ANSWER:
        return False
    if not text.startswith(('{"message"', '{"Message"')) and not _is_flagged(text):
        return False
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return _reports_error(answer)


def _is_flagged(text: str) -> bool:
    return any(flag.search(text) for word, flag in _FLAGS if word in text)


def _reports_error(answer: dict[str, Any]) -> bool:
    if answer.get("isError") is True or answer.get("is_error") is True:
        return True
    if any(type(answer.get(name)) is int and answer[name] != 0 for name in _EXITS):
        return not _STREAMS.isdisjoint(answer)
    if answer.get("success") is False or answer.get("ok") is False or answer.get("succeeded") is False:
        return any(answer.get(name) for name in _REASONS)
    errors, error = answer.get("errors"), answer.get("error")
    if "jsonrpc" in answer:
        return isinstance(error, dict)
    return _OF_ERRORS.issuperset(answer) and _consists_of_error(answer, errors)


def _consists_of_error(answer: dict[str, Any], errors: object) -> bool:
    if any(answer.get(name) in _FAILED for name in _VERDICTS if isinstance(answer.get(name), str)):
        # A record that was asked for has an id: a job that failed is no call that failed.
        return "id" not in answer and any(answer.get(name) for name in _REASONS)
    entries = cast("list[object]", errors) if isinstance(errors, list) else []
    if any(isinstance(entry, dict) and "message" in entry for entry in entries):
        return True
    if answer.get("data"):
        return False
    if any(_gives_reason(answer.get(name)) for name in _NAMES_OF_ERROR):
        return True
    if answer.get("error") is True or any(map(_is_status_of_error, map(answer.get, _STATUSES))):
        return any(answer.get(name) for name in _REASONS)
    return _is_bare_reason(answer)


def _gives_reason(error: object) -> bool:
    # Tell whether a field says what went wrong; that of a schema only says of what type it is.
    if isinstance(error, dict):
        fields = cast("dict[str, object]", error)
        return any(fields.get(name) for name in (*_REASONS, "code", "Code"))
    return isinstance(error, str) and bool(error)


def _is_status_of_error(status: object) -> bool:
    if isinstance(status, str) and len(status) == len("404") and status.isdecimal():
        status = int(status)
    return type(status) is int and 400 <= status <= 599  # noqa: PLR2004 - the range of HTTP's errors


def _is_bare_reason(answer: dict[str, Any]) -> bool:
    """Return whether an answer holds only a reason: `{"detail": "Not found."}`."""
    detail = answer.get("detail")
    if len(answer) == 1 and isinstance(detail, list):
        return any(isinstance(entry, dict) and "msg" in entry for entry in cast("list[object]", detail))
    if "documentation_url" in answer and "message" in answer:
        return True
    reason = detail or answer.get("message") or answer.get("Message")
    return len(answer) == 1 and isinstance(reason, str) and _ERROR_OF_SERVER.match(reason) is not None
