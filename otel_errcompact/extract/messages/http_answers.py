"""Answers of servers: error bodies, error pages, status lines, and the words of clients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.forms import Found, form
from otel_errcompact.extract.messages.html import page_start, read_page
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.payload.documents import read_form, read_outline, read_xml
from otel_errcompact.extract.payload.embedded import Embedded, find_body
from otel_errcompact.extract.payload.error import VALIDATION, Body
from otel_errcompact.extract.payload.literals import parse
from otel_errcompact.extract.payload.logs import read_log
from otel_errcompact.extract.payload.roles import CODES, MESSAGES, STATUSES, holds_errors, is_retry, plain_name
from otel_errcompact.extract.payload.values import fields_of, is_list, is_object
from otel_errcompact.extract.payload.walk import read_body
from otel_errcompact.extract.reading import Reading
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.shell_statements import REASONS
from otel_errcompact.extract.statements import GENERIC_TYPES, is_exception_name, statement_of
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.extract.format import Text

_HEAD: Final = form(r"HTTP/[0-9](?:\.[0-9])? (?P<status>[1-5][0-9]{2})(?: (?P<reason>[^\n]{0,99}))?(?=\n|\Z)")
_STATUS: Final = form(
    r"(?i)(?:\bHTTP(?:/[0-9.]{1,3})?(?: error| status(?: code)?)?:? ?|\bstatus(?: code)?\W{1,3})"
    r"(?P<stated>[45][0-9]{2})\b|(?:\b(?:code|error|returned|responded with|response)(?: code)?\W{1,3}|^)"
    r"(?P<status>[45][0-9]{2})\b(?! (?-i:[a-z0-9]))"
)

_STARTS_OF_STATUS: Final = ("4", "5")
"""One of them stands in each line that names a status of a failure."""

_TITLE_STATUS: Final = form(r"\b[45][0-9]{2}\b")
_TOLD_BY_CLIENT: Final = "\nError code: "
_ANSWER_IN_TRACE: Final = "\n< HTTP/"
_OF_TRACE: Final = ("* ", "> ", ">", "{ ", "} ")
_REQUEST: Final = form(r"(?:\A|\n)> (?P<method>[A-Z]{3,7}) (?P<path>/\S{0,500}) HTTP/")
_MAX_HEADERS: Final = 60
_MAX_PREFIX: Final = 400
_MAX_SENTENCES: Final = 3


def read(text: Text) -> Facts | None:
    """Return the facts of an answer, unless an exception tells of it: then its type says more."""
    body = _last_answer(strip_warnings(text.body))
    head = _HEAD.match(body)
    if head is not None:
        content = _find_content(body[head.end() :])
        status = head["status"]
        more = (*_find_request(text.body), *_retry_of(body[head.end() :]))
        facts = (
            _facts_of_xml(content, status)
            or _facts_of_page(content, status)
            or _facts_of_body(content, status, prefix=f"HTTP {status}")
            or _facts_of_head(head, content)
        )
        return replace(facts, details=details((*more, *facts.details))) if more else facts
    first = body.partition("\n")[0]
    if _tells_of_exception(text, first):
        return None
    said = _read_client(body)
    if said is not None:
        return said
    status = _status_in(first[:_MAX_PREFIX])
    return (
        _facts_of_xml(body, status)
        or _facts_of_page(body, status)
        or _facts_of_log(body)
        or _facts_of_body(body, status, reported=text.type)
        or _facts_of_document(body, status)
        or _facts_of_line(body, status)
    )


def strip_warnings(body: str) -> str:
    """Take off what an interpreter printed before the line in which a client of an API tells of an answer."""
    start = body.rfind(_TOLD_BY_CLIENT)
    return body[start + 1 :] if start >= 0 else body


def _last_answer(body: str) -> str:
    start = body.rfind(_ANSWER_IN_TRACE)
    if start < 0:
        return body
    lines = [line for line in body[start + 1 :].split("\n") if line[:2] not in _OF_TRACE]
    head = [line[2:].rstrip() for line in lines if line[:1] == "<" and line[1:2] in ("", " ")]
    content = [line for line in lines if not (line[:1] == "<" and line[1:2] in ("", " "))]
    return "\n".join((*filter(None, head), "", *content)).rstrip()


def _find_request(text: str) -> tuple[str, ...]:
    found = _REQUEST.search(text)
    return (f"{found['method']} {found['path']}",) if found else ()


def _retry_of(answer: str) -> tuple[str, ...]:
    headers = answer.partition("\n\n")[0].split("\n", _MAX_HEADERS)[:_MAX_HEADERS]
    named = (line.partition(":") for line in headers)
    said = (f"{name.strip()}: {value.strip()}" for name, _, value in named if value and is_retry(plain_name(name)))
    return tuple(dict.fromkeys(said))


def _find_content(answer: str) -> str:
    headers, _, content = answer.partition("\n\n")
    return content.strip() or (headers.strip() if headers.strip()[:1] in ("{", "[", "<") else "")


def _tells_of_exception(text: Text, first: str) -> bool:
    statement = statement_of(first)
    stated = statement.type if statement is not None else text.type
    return stated not in GENERIC_TYPES and is_exception_name(stated)


def _status_in(line: str) -> str:
    found = _STATUS.search(line) if has_any(line, _STARTS_OF_STATUS) else None
    return found["stated"] or found["status"] if found else ""


def _facts_of_page(content: str, status: str) -> Facts | None:
    start = page_start(content)
    if start < 0:
        return None
    title, sentences = read_page(content[start:])
    found = _TITLE_STATUS.search(title)
    status = status or (found[0] if found else "")
    title = _strip_status(title, status)
    return Facts(
        type=f"HTTP {status}" if status else "error page",
        cause=clip(": ".join(filter(None, (title, *sentences[:1])))) or "empty page",
        details=details(sentences[1:], _MAX_SENTENCES),
        key_cause=": ".join(filter(None, (title, *sentences[:_MAX_SENTENCES]))),
    )


def _strip_status(title: str, status: str) -> str:
    if not status:
        return title
    return re.sub(rf"(?:HTTP (?:Status |Error )?|Error )?{status}(?:\s?[-:\u2013|])?\s?", "", title, count=1).strip()


def _facts_of_body(content: str, status: str, *, prefix: str = "", reported: str = "") -> Facts | None:
    found = find_body(content) if "{" in content else None
    if found is None or not _is_all_there_is(found, content):
        return None
    status = status or found.body.status
    prefix = prefix or found.before.strip().rstrip("-:. ") or (f"HTTP {status}" if status else "")
    return _facts_of(found.body, status, prefix, reported=reported)


def _facts_of(body: Body, status: str, prefix: str, *, reported: str = "", location: Location = NOWHERE) -> Facts:
    reading = Reading(clip(body.message)) if body.violations else read_message(body.message or body.code)
    stated = VALIDATION if body.is_validation else reading.type
    key = body.key or reading.key
    if body.is_validation:
        key = body.whole_key
    elif prefix and key and not stated:
        key = f"{prefix}: {key}"
    kind = body.code or (f"HTTP {status}" if status else reported or "error")
    return Facts(
        type=stated or kind,
        cause=clip(f"{prefix}: {reading.cause}" if prefix else reading.cause),
        location=location,
        details=details((*reading.details, *body.details)),
        key_cause=key,
        key_is_whole=bool(stated),
    )


def _is_all_there_is(found: Embedded, content: str) -> bool:
    if "\n" in found.before.strip() or ("\n" in found.before and found.after.strip()):
        return False
    value = parse(content, max(content.find("{"), 0)).value
    # Rows of data have texts and names too: an object that only lists objects says of none that it failed.
    return not is_object(value) or any(
        said and (holds_errors(name) or name in _STATING or is_object(said) or _lists_words(said))
        for name, (_, said) in fields_of(value).items()
    )


def _lists_words(said: object) -> bool:
    return is_list(said) and all(not is_object(item) or fields_of(item).keys() <= _STATING for item in said)


_STATING: Final = frozenset({*MESSAGES, *CODES, *STATUSES} - {"name"})


def _facts_of_head(head: Found, content: str) -> Facts:
    line = f"HTTP {head['status']} {head['reason'] or ''}".rstrip()
    reading = read_message(content)
    return Facts(
        type=f"HTTP {head['status']}",
        cause=clip(f"{line}: {reading.cause}" if content else line),
        details=details(reading.details),
    )


def _facts_of_line(content: str, status: str) -> Facts | None:
    line, _, more = content.partition("\n")
    if not status or (more and not more.startswith(_ADVICE)):
        return None
    return Facts(type=f"HTTP {status}", cause=clip(line))


# --- logs and documents ----------------------------------------------------------------------------------------------

_ERROR_IN_XML: Final = form(r"<[\w:]{0,40}(?:[Ee]rror|[Ff]ault|[Ee]xception|failure|testcase|problem)[\w:]{0,40}[\s>]")


def _facts_of_log(content: str) -> Facts | None:
    if (
        (content[:1] != "{" or not any(f'"{sign}' in content for sign in _LOGGED))
        and "level=" not in content
        and "lvl=" not in content
    ):
        return None
    record = read_log(content)
    if record is None:
        return None
    stack = facts_of_output(record.stack.split("\n")) if record.stack else None
    facts = _facts_of(record.body, "", "", location=record.location)
    if stack is None or not stack.location:
        return facts
    kind = stack.type if facts.type in GENERIC_TYPES else facts.type
    return replace(facts, type=kind, location=stack.location)


_LOGGED: Final = ("level", "severity", "lvl", "@l", "log.level")


def _facts_of_xml(content: str, status: str) -> Facts | None:
    if content[:1] != "<" or _ERROR_IN_XML.search(content, 0, _MAX_XML) is None or page_start(content) >= 0:
        return None
    value = read_xml(content)
    body = read_body(value) if value is not None else None
    if body is None:
        return None
    return _facts_of(body, status or body.status, f"HTTP {status or body.status}" if status or body.status else "")


_MAX_XML: Final = 65_536


def _facts_of_document(content: str, status: str) -> Facts | None:
    value = read_form(content) if "&" in content else read_outline(content) if _OUTLINE.match(content) else None
    body = read_body(value) if value is not None and _is_stated(value) else None
    return _facts_of(body, status or body.status, "") if body is not None else None


def _is_stated(fields: Mapping[str, object]) -> bool:
    plain = {plain_name(str(name)) for name in fields}
    return bool(plain & _STATED) and (
        len(plain & _NAMED) > 1 or any(isinstance(value, dict | list) for value in fields.values())
    )


_OUTLINE: Final = lazy_pattern(r"(?:---\n)?(?:#[^\n]{0,200}\n)?[\w@.-]{1,60}:(?: [^\n]{0,2000})?\n")
_STATED: Final = frozenset({"error", "errors", "message", "detail", "errordescription", "fault", "exception"})
_NAMED: Final = _STATED | {"code", "status", "type", "reason", "title", "statuscode", "errorcode"}


# --- clients ---------------------------------------------------------------------------------------------------------

_CURL: Final = form(r"\ncurl: \((?P<code>[0-9]{1,3})\) (?P<message>[^\n]{1,1000})")

_CURL_ERRORS: Final = {
    "1": "UnsupportedProtocol",
    "3": "InvalidURL",
    "5": "ProxyNotResolved",
    "6": "HostNotResolved",
    "7": "ConnectionFailed",
    "18": "PartialTransfer",
    "23": "WriteError",
    "26": "ReadError",
    "28": "Timeout",
    "35": "TLSError",
    "47": "TooManyRedirects",
    "51": "CertificateError",
    "52": "EmptyReply",
    "55": "SendError",
    "56": "ReceiveError",
    "60": "CertificateError",
    "92": "HTTP2Error",
}
"""What curl's exit codes mean, as its manual lists them."""

_WGET: Final = form(
    r"\n(?:[0-9-]{10} [0-9:]{8} ERROR (?P<status>[45][0-9]{2}): (?P<reason>[^\n]{1,300})|wget: "
    r"(?P<message>[^\n]{1,500})|(?:Connecting to|Resolving) [^\n]{1,300}?\.\.\. failed: (?P<failed>[^\n]{1,300}))"
)

_OF_LIBRARY: Final = form(
    r"\n(?:([45][0-9]{2}) (?:Client|Server) Error: |(?:Client|Server) error '([45][0-9]{2}) )[^\n]{1,1000}"
)
"""What requests and httpx say, also behind other lines."""

_WGET_URL: Final = form(r"--[0-9-]{10} [0-9:]{8}--  (?P<url>\S{1,2000})")
_AWS: Final = form(
    r"[\n ]An error occurred \((?P<code>[\w.]{1,100})\) when calling the (?P<operation>\w{1,100}) operation"
    r"(?: \([^)\n]{1,100}\))?: ?(?P<message>[^\n]{0,2000})"
)
_ADVICE: Final = ("For more information check: ", "Try ", "https://", "http://")


def _read_client(body: str) -> Facts | None:
    if "curl: (" in body:
        return _read_curl(f"\n{body}")
    if body.startswith("--") or "wget: " in body or " ERROR " in body or "... failed: " in body:
        return _read_wget(f"\n{body}")
    if "Error: " in body or " error '" in body:
        library = _OF_LIBRARY.search(f"\n{body}")
        if library is not None:
            return Facts(type=f"HTTP {library[1] or library[2]}", cause=clip(library[0]))
    found = _AWS.search(f"\n{body}") if "An error occurred (" in body else None
    if found is None:
        return None
    cause = f"{found['operation']}: {strip_advice(found['message'])}"
    return Facts(type=found["code"], cause=clip(cause))


def _read_curl(body: str) -> Facts | None:
    found = _CURL.search(body)
    if found is None:
        return None
    status = _status_in(found["message"]) if found["code"] == "22" else ""
    kind = f"HTTP {status}" if status else _CURL_ERRORS.get(found["code"], f"curl {found['code']}")
    answer = body.partition("\n{")[2]
    said = _facts_of_body("{" + answer, status, prefix=f"HTTP {status}") if status and answer else None
    return said or Facts(type=kind, cause=clip(found[0].strip()))


def _read_wget(body: str) -> Facts | None:
    found = _WGET.search(body)
    if found is None:
        return None
    url = _WGET_URL.search(body)
    said = found["reason"] or found["message"] or found["failed"]
    kind = f"HTTP {found['status']}" if found["status"] else REASONS.get(said.rstrip("."), "wget")
    return Facts(
        type=kind,
        cause=clip(": ".join(filter(None, (kind if found["status"] else "wget", said.rstrip("."))))),
        details=details((url["url"],) if url else ()),
    )
