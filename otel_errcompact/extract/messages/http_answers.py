"""Answers of servers: error bodies, error pages, status lines, and the words of clients."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.messages.error_bodies import (
    Embedded,
    find_body,
    is_object,
    read_body,
    strip_advice,
    values_in,
)
from otel_errcompact.extract.messages.html import page_start, read_page
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.shell_statements import REASONS
from otel_errcompact.extract.statements import GENERIC_TYPES, is_exception_name, statement_of

if TYPE_CHECKING:
    from otel_errcompact.extract.text import Text

_HEAD: Final = re.compile(r"HTTP/[0-9](?:\.[0-9])? (?P<status>[1-5][0-9]{2})(?: (?P<reason>[^\n]{0,99}))?(?=\n|\Z)")

_STATUS: Final = re.compile(
    r"(?i)(?:\bHTTP(?:/[0-9.]{1,3})?(?: error| status(?: code)?)?:? ?|\bstatus(?: code)?\W{1,3})"
    r"(?P<told>[45][0-9]{2})\b"
    r"|(?:\b(?:code|error|returned|responded with|response)(?: code)?\W{1,3}|^)"
    r"(?P<status>[45][0-9]{2})\b(?! (?-i:[a-z0-9]))"
)

_TITLE_STATUS: Final = re.compile(r"\b[45][0-9]{2}\b")

_TOLD_BY_CLIENT: Final = "\nError code: "

_ANSWER_IN_TRACE: Final = "\n< HTTP/"

_OF_TRACE: Final = ("* ", "> ", ">", "{ ", "} ")

_MAX_PREFIX: Final = 400

_MAX_SENTENCES: Final = 3


def read(text: Text) -> Facts | None:
    """Return the facts of an answer, unless an exception tells of it: then its type says more."""
    body = _last_answer(strip_warnings(text.body))
    head = _HEAD.match(body)
    if head is not None:
        content = _content(body[head.end() :])
        status = head["status"]
        return (
            _facts_of_xml(content, status)
            or _facts_of_page(content, status)
            or _facts_of_body(content, status, prefix=f"HTTP {status}")
            or _facts_of_head(head, content)
        )
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
        or _facts_of_line(body, status)
    )


def strip_warnings(body: str) -> str:
    """Take off what an interpreter printed before the line in which a client of an API tells of an answer."""
    start = body.rfind(_TOLD_BY_CLIENT)
    return body[start + 1 :] if start >= 0 else body


def _last_answer(body: str) -> str:
    """Return the last answer of what `curl -v` prints of a connection, with its head, or the text as it is."""
    start = body.rfind(_ANSWER_IN_TRACE)
    if start < 0:
        return body
    lines = [line for line in body[start + 1 :].split("\n") if line[:2] not in _OF_TRACE]
    head = [line[2:].rstrip() for line in lines if line[:1] == "<" and line[1:2] in ("", " ")]
    content = [line for line in lines if not (line[:1] == "<" and line[1:2] in ("", " "))]
    return "\n".join((*filter(None, head), "", *content)).rstrip()


def _content(answer: str) -> str:
    """Return what follows the headers of an answer."""
    headers, _, content = answer.partition("\n\n")
    return content.strip() or (headers.strip() if headers.strip()[:1] in ("{", "[", "<") else "")


def _tells_of_exception(text: Text, first: str) -> bool:
    statement = statement_of(first)
    stated = statement.type if statement is not None else text.type
    return stated not in GENERIC_TYPES and is_exception_name(stated)


def _status_in(line: str) -> str:
    found = _STATUS.search(line)
    return found["told"] or found["status"] if found else ""


def _facts_of_page(content: str, status: str) -> Facts | None:
    """Read an error page: its title and its most telling sentence."""
    start = page_start(content)
    if start < 0:
        return None
    title, sentences = read_page(content[start:])
    found = _TITLE_STATUS.search(title)
    status = status or (found[0] if found else "")
    said = (_strip_status(title, status), *sentences[:1])
    return Facts(
        type=f"HTTP {status}" if status else "error page",
        cause=clip(": ".join(filter(None, said))) or "empty page",
        details=details(sentences[1:], _MAX_SENTENCES),
    )


def _strip_status(title: str, status: str) -> str:
    """Take the status off a title, since the type says it: `502 Bad Gateway`, `shop.example | 502: Bad gateway`."""
    if not status:
        return title
    return re.sub(rf"(?:HTTP (?:Status |Error )?|Error )?{status}(?:\s?[-:\u2013|])?\s?", "", title, count=1).strip()


def _facts_of_body(content: str, status: str, *, prefix: str = "", reported: str = "") -> Facts | None:
    """Read a body that the content consists of, or that its first line ends with."""
    found = find_body(content) if "{" in content else None
    if found is None or not _is_all_there_is(found):
        return None
    body = found.body
    status = status or body.status
    prefix = prefix or found.before.strip().rstrip("-:. ") or (f"HTTP {status}" if status else "")
    reading = read_message(body.message or body.code)
    key = body.key or reading.key
    return Facts(
        type=body.code or (f"HTTP {status}" if status else reported or "error"),
        cause=clip(f"{prefix}: {reading.cause}" if prefix else reading.cause),
        details=details((*reading.details, *body.details)),
        key_cause=f"{prefix}: {key}" if prefix and key else key,
    )


def _is_all_there_is(found: Embedded) -> bool:
    """Tell whether a body is what a text comes down to, and not something that was printed on the way."""
    return "\n" not in found.before.strip() and ("\n" not in found.before or not found.after.strip())


def _facts_of_head(head: re.Match[str], content: str) -> Facts:
    """Read an answer whose content is neither JSON nor a page."""
    line = f"HTTP {head['status']} {head['reason'] or ''}".rstrip()
    reading = read_message(content)
    return Facts(
        type=f"HTTP {head['status']}",
        cause=clip(f"{line}: {reading.cause}" if content else line),
        details=details(reading.details),
    )


def _facts_of_line(content: str, status: str) -> Facts | None:
    """Read a text of one line that tells of a status."""
    line, _, more = content.partition("\n")
    if not status or (more and not more.startswith(_ADVICE)):
        return None
    return Facts(type=f"HTTP {status}", cause=clip(line))


# --- logs ------------------------------------------------------------------------------------------------------------

_MAX_RECORDS: Final = 300

_LEVELS: Final = ("level", "severity", "lvl", "levelname", "log.level")

_LEVELS_OF_ERRORS: Final = frozenset({"error", "err", "fatal", "critical", "panic", "alert", "emergency", "50", "60"})

_MESSAGES_OF_RECORDS: Final = ("msg", "message", "event")

_REASONS_OF_RECORDS: Final = ("error", "err", "exception")


def _facts_of_log(content: str) -> Facts | None:
    """Read a log with an object in each line: the first record of an error."""
    if content[:1] != "{" or "\n{" not in content:
        return None
    for line in islice(content.split("\n"), _MAX_RECORDS):
        record = _record(line)
        level = next((str(record[name]).lower() for name in _LEVELS if name in record), "")
        if level not in _LEVELS_OF_ERRORS:
            continue
        said = next((str(record[name]) for name in _MESSAGES_OF_RECORDS if record.get(name)), "")
        found = next((record[name] for name in _REASONS_OF_RECORDS if record.get(name)), "")
        body = read_body(found)
        why = body.summary() if body is not None else str(found) if isinstance(found, str) else ""
        reading = read_message(": ".join(filter(None, (said, why))))
        return Facts(
            type="error",
            cause=clip(reading.cause),
            details=details(reading.details),
            key_cause=reading.key,
        )
    return None


def _record(line: str) -> dict[str, Any]:
    value = next((value for value, start, _ in values_in(line) if start == 0), None) if line[:1] == "{" else None
    return value if is_object(value) else {}


# --- XML -------------------------------------------------------------------------------------------------------------

_XML: Final = re.compile(r"<\?xml |<(?:\w{1,20}:)?(?:Error|ErrorResponse|Envelope|Fault)[\s>]")

_ELEMENT: Final = re.compile(r"<(?:\w{1,20}:)?(?P<name>[A-Za-z]\w{0,60})(?: [^<>]{0,300})?>(?P<text>[^<>]{1,4000})</")

_MAX_ELEMENTS: Final = 60

_CODES_IN_XML: Final = ("Code", "code", "faultcode", "Value")

_MESSAGES_IN_XML: Final = ("Message", "message", "faultstring", "Text", "detail", "title")

_EVIDENCE_IN_XML: Final = ("Key", "BucketName", "Resource", "Condition", "ArgumentName", "QueryParameterName")


def _facts_of_xml(content: str, status: str) -> Facts | None:
    """Read an error document as S3, the query APIs of AWS, Azure's storage and SOAP services send it."""
    if _XML.match(content) is None:
        return None
    fields: dict[str, str] = {}
    for element in islice(_ELEMENT.finditer(content), _MAX_ELEMENTS):
        fields.setdefault(element["name"], " ".join(unescape(element["text"]).split()))
    code = next(filter(None, map(fields.get, _CODES_IN_XML)), "")
    message = next(filter(None, map(fields.get, _MESSAGES_IN_XML)), "")
    if not code and not message:
        return None
    cause = strip_advice(message) or code
    return Facts(
        type=code or (f"HTTP {status}" if status else "error"),
        cause=clip(f"HTTP {status}: {cause}" if status else cause),
        details=details(f"{name}: {fields[name]}" for name in _EVIDENCE_IN_XML if fields.get(name)),
    )


# --- clients ---------------------------------------------------------------------------------------------------------

_CURL: Final = re.compile(r"\ncurl: \((?P<code>[0-9]{1,3})\) (?P<message>[^\n]{1,1000})")

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

_WGET: Final = re.compile(
    r"\n(?:[0-9-]{10} [0-9:]{8} ERROR (?P<status>[45][0-9]{2}): (?P<reason>[^\n]{1,300})"
    r"|wget: (?P<message>[^\n]{1,500})"
    r"|(?:Connecting to|Resolving) [^\n]{1,300}?\.\.\. failed: (?P<failed>[^\n]{1,300}))"
)

_OF_LIBRARY: Final = re.compile(
    r"\n(?:([45][0-9]{2}) (?:Client|Server) Error: |(?:Client|Server) error '([45][0-9]{2}) )[^\n]{1,1000}"
)
"""What requests and httpx say, also behind other lines."""

_WGET_URL: Final = re.compile(r"--[0-9-]{10} [0-9:]{8}--  (?P<url>\S{1,2000})")

_AWS: Final = re.compile(
    r"[\n ]An error occurred \((?P<code>[\w.]{1,100})\) when calling the (?P<operation>\w{1,100}) operation"
    r"(?: \([^)\n]{1,100}\))?: ?(?P<message>[^\n]{0,2000})"
)

_ADVICE: Final = ("For more information check: ", "https://", "http://")


def _read_client(body: str) -> Facts | None:
    """Return what a command-line client of servers says of an answer, or of getting none."""
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
    return Facts(type=kind, cause=clip(found[0].strip()))


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
