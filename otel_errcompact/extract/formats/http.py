"""Answers of servers: JSON and HTML error bodies, with or without the head of the response or a status line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.bodies import Embedded, find_body
from otel_errcompact.extract.chain import facts_of
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.formats.python import HEADER, chain_of
from otel_errcompact.extract.forms import GENERIC_TYPES, is_exception_name, statement_of
from otel_errcompact.extract.html import page_start, read_page
from otel_errcompact.extract.message import read_message

if TYPE_CHECKING:
    from otel_errcompact.extract.text import Text

FORMAT: Final = "http"

_HEAD: Final = re.compile(r"HTTP/[0-9](?:\.[0-9])? (?P<status>[1-5][0-9]{2})(?: (?P<reason>[^\n]{0,99}))?(?=\n|\Z)")
_STATUS: Final = re.compile(
    r"(?i)(?:\bHTTP(?:/[0-9.]{1,3})?(?: error| status(?: code)?)?:? ?|\bstatus(?: code)?\W{1,3})"
    r"(?P<told>[45][0-9]{2})\b"
    r"|(?:\b(?:code|error|returned|responded with|response)(?: code)?\W{1,3}|^)"
    r"(?P<status>[45][0-9]{2})\b(?! (?-i:[a-z0-9]))"
)
_TITLE_STATUS: Final = re.compile(r"\b[45][0-9]{2}\b")
_MAX_PREFIX: Final = 400


def extract(text: Text) -> Facts | None:
    """
    Return the facts of an answer, unless an exception tells of it: then its type says more.
    """
    head = _HEAD.match(text.body)
    if head is not None:
        content = _content(text.body[head.end() :])
        status = head["status"]
        return (
            _facts_of_page(content, status)
            or _facts_of_body(content, status, prefix=f"HTTP {status}")
            or _facts_of_head(head, content)
        )
    first = text.body.partition("\n")[0]
    if _tells_of_exception(text, first):
        return None
    status = _status_in(first[:_MAX_PREFIX])
    return (
        _facts_of_page(text.body, status)
        or _facts_of_body(text.body, status, reported=text.type)
        or _facts_of_line(text.body, status)
    )


def _content(answer: str) -> str:
    """
    Return what follows the headers of an answer.
    """
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
    """
    Read an error page: its title and its most telling sentence.
    """
    start = page_start(content)
    if start < 0:
        return None
    title, sentences = read_page(content[start:])
    found = _TITLE_STATUS.search(title)
    status = status or (found[0] if found else "")
    said = (status if status not in title else "", title, *sentences[:1])
    return Facts(
        type=f"HTTP {status}" if status else "error page",
        cause=clip(": ".join(filter(None, said))) or "empty page",
        details=details(sentences[1:]),
        format=FORMAT,
    )


def _facts_of_body(content: str, status: str, *, prefix: str = "", reported: str = "") -> Facts | None:
    """
    Read a body that the content consists of, or that its first line ends with.
    """
    found = find_body(content) if "{" in content else None
    if found is None or not _is_all_there_is(found):
        return None
    body = found.body
    chain = chain_of(body.message) if HEADER in body.message else ()
    if chain:
        return facts_of(chain)
    status = status or body.status
    prefix = prefix or found.before.strip().rstrip("-:").rstrip() or (f"HTTP {status}" if status else "")
    reading = read_message(body.message or body.code)
    key = body.key or reading.key
    return Facts(
        type=body.code or (f"HTTP {status}" if status else reported or "error"),
        cause=clip(f"{prefix}: {reading.cause}" if prefix else reading.cause),
        details=details((*reading.details, *body.details)),
        format=FORMAT,
        key_cause=f"{prefix}: {key}" if prefix and key else key,
    )


def _is_all_there_is(found: Embedded) -> bool:
    """
    Tell whether a body is what a text comes down to, and not something that was printed on the way.
    """
    return "\n" not in found.before.strip() and ("\n" not in found.before or not found.after.strip())


def _facts_of_head(head: re.Match[str], content: str) -> Facts:
    """
    Read an answer whose content is neither JSON nor a page.
    """
    line = f"HTTP {head['status']} {head['reason'] or ''}".rstrip()
    reading = read_message(content)
    return Facts(
        type=f"HTTP {head['status']}",
        cause=clip(f"{line}: {reading.cause}" if content else line),
        details=details(reading.details),
        format=FORMAT,
    )


def _facts_of_line(content: str, status: str) -> Facts | None:
    """
    Read a text of one line that tells of a status.
    """
    if not status or "\n" in content:
        return None
    return Facts(type=f"HTTP {status}", cause=clip(content), format=FORMAT)
