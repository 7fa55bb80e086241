"""Is it the context that was too long? Read from exceptions, error bodies and replies, without importing any SDK."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, cast

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.notes import Overflow
from otel_errcompact_context.providers.native import read_json
from otel_errcompact_context.providers.refusal_rules import (
    ANSWER_ALONE,
    SAYS,
    SENT,
    blank_unsaid,
    is_upload,
    read_by_rules,
    says_too_long,
)
from otel_errcompact_context.providers.refusals import (
    CODES,
    OTHER_LIMITS,
    OTHER_STATUS,
    REFUSALS,
    TOO_LARGE_FOR_RATE,
)

MESSAGE_CHARS: Final = 500
TEXT_CHARS: Final = 16_384
"""How much of an error is read; what it means stands at its beginning."""

_DEPTH: Final = 8
_ITEMS: Final = 64
_TOO_LARGE: Final = 413

UNNAMED: Final = "unknown"
"""The provider of a refusal that does not say whose it is."""

_SAYS_TOO_LARGE: Final = lazy_pattern(
    r"(?:\bstatus(?: code)?|\bhttp(?:/[0-9.]+)?|\berror(?: code)?)\W{0,3}413\b"
    r"|\b413 (?:status code )?(?:\(no body\)|(?:payload|content|request entity) too large)",
    re.IGNORECASE,
)

_EVENT_OF_ERROR: Final = lazy_pattern(r"\s*event: *(?:error|response\.failed)\b")
_MAY_FAIL: Final = lazy_pattern(r"\"error\"|\.failed\"")
_FAILED: Final = ("error", "fail", "failed")
_FAILED_EVENTS: Final = frozenset({"error", "response.failed"})

_QUOTED: Final = lazy_pattern(r"[{\[]\s*[\\\"']|\\[\"']")
_ESCAPE: Final = lazy_pattern(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|[nrt]|([\"'/]))")

STOP_REASONS: Final = (
    ("choices", 0, "finish_reason"),
    ("finish_reason",),
    ("stop_reason",),
    ("stopReason",),
    ("done_reason",),
    ("candidates", 0, "finish_reason"),
    ("candidates", 0, "finishReason"),
    ("incomplete_details", "reason"),
    ("response_metadata", "finish_reason"),
    ("response_metadata", "stop_reason"),
)
"""Where a reply says why it ends."""

_ERRORS: Final = (("error",), ("choices", 0, "error"), ("response", "error"))


def overflow_in_error(error: BaseException, forms: Sequence[re.Pattern[str]] = ()) -> Overflow | None:
    """
    Tell whether an exception, or one that it was raised from, says that the context was too long.

    Limits of tokens per minute, of the length of the answer and of money are not meant, nor any other bad request.

    Args:
        error: What the call to the model raised: an SDK's exception, a framework's, a plain HTTP client's.
        forms: Patterns of further refusals, with groups `limit` and `sent`.
    """
    return _choose_told(
        [overflow for one in islice(_walk_causes(error), _ITEMS) if (overflow := _read_error(one, forms)) is not None]
    )


def overflow_in_body(body: object, status: int | None = None, forms: Sequence[re.Pattern[str]] = ()) -> Overflow | None:
    """
    Tell whether the body of an error says that the context was too long.

    Args:
        body: JSON as text or read into dictionaries and lists.
        status: The HTTP status, if known.
        forms: Patterns of further refusals, with groups `limit` and `sent`.
    """
    return _read_text(_join_texts(_find_words(body)), status, forms)


def overflow_in_reply(reply: object, forms: Sequence[re.Pattern[str]] = ()) -> Overflow | None:
    """
    Tell whether a reply that came without an exception says so: by its reason for stopping, or by an error inside.

    Args:
        reply: The SDK's object or a dictionary; of a plain HTTP client its response.
        forms: Patterns of further refusals, with groups `limit` and `sent`.
    """
    for path in STOP_REASONS:
        reason = find_at(reply, path)
        if isinstance(reason, str) and _is_code(reason):
            return _note(reason)
    for path in _ERRORS:
        error = find_at(reply, path)
        if error and (overflow := overflow_in_body(_to_plain(error), None, forms)) is not None:
            return overflow
    status = find_at(reply, ("status_code",))
    if isinstance(status, int) and status >= 400:  # noqa: PLR2004 - where HTTP's errors begin
        return overflow_in_body(find_at(reply, ("text",)), status, forms)
    return None


def overflow_in_event(event: object, forms: Sequence[re.Pattern[str]] = ()) -> Overflow | None:
    """
    Tell whether an item of a stream is an error that says so.

    Args:
        event: What the stream has yielded: an SDK's object, a dictionary, or a text of server-sent events.
        forms: Patterns of further refusals, with groups `limit` and `sent`.
    """
    if isinstance(event, bytes | str):
        text = event.decode(errors="replace") if isinstance(event, bytes) else event
        if _EVENT_OF_ERROR.match(text):
            return overflow_in_body(text, None, forms)
        # Read as JSON where it may hold an error: what only quotes one, such as a call's arguments, lies deeper.
        event = read_json(text.strip().removeprefix("data:")) if _MAY_FAIL.search(text) else None
    if find_at(event, ("type",)) in _FAILED_EVENTS:
        return overflow_in_body(_to_plain(event), None, forms) or overflow_in_reply(event, forms)
    return overflow_in_reply(event, forms)


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        # Ours has been through this already.
        if id(one) in seen or isinstance(one, ErrcompactError):
            continue
        seen.add(id(one))
        yield one
        children = find_at(one, ("exceptions",))
        if isinstance(children, tuple):  # a group, as task groups raise it
            grouped = cast("tuple[object, ...]", children)
            waiting += [child for child in grouped if isinstance(child, BaseException)]
        if one.__cause__ is not None:
            waiting.append(one.__cause__)


def _read_error(error: BaseException, forms: Sequence[re.Pattern[str]]) -> Overflow | None:
    text, status = _join_texts(_find_texts(error)), _find_status(error)
    # What LiteLLM, LangChain, Strands and others name so means nothing else, whatever it says.
    names = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ != "builtins"]
    is_named = any(map(says_too_long, names)) or _find_code(error)
    if not is_named or status in OTHER_STATUS:
        found = _read_text(text, status, forms)
    else:
        found = _match_forms(text, forms) or _match_text(text) or _note(_text_of(error))
    # An SDK's error holds the body itself; that of an HTTP client has a response, and may be anybody's.
    if found is not None and found.provider == UNNAMED and find_at(error, ("body",)) is not None:
        return replace(found, provider=type(error).__module__.partition(".")[0])
    return found


def _read_text(text: str, status: int | None, forms: Sequence[re.Pattern[str]]) -> Overflow | None:
    own = _match_forms(text, (*forms, TOO_LARGE_FOR_RATE))
    if own is not None:
        return own
    if status in OTHER_STATUS or OTHER_LIMITS.search(text):
        return None
    found = _match_text(text)
    is_large = status == _TOO_LARGE or _SAYS_TOO_LARGE.search(text) is not None
    if not is_large or (found is not None and found.limit_tokens is not None):
        return found
    if is_upload(text):
        return None
    return found or replace(_note(text), provider="http")


def _match_text(text: str) -> Overflow | None:
    text = blank_unsaid(text)
    ruling = read_by_rules(text)
    if ruling is None:
        return _match_forms(text, REFUSALS)
    if ruling is ANSWER_ALONE:
        return None
    return _note(text[ruling.start :], ruling.limit_tokens, ruling.sent_tokens)


def _match_forms(text: str, forms: Sequence[re.Pattern[str]]) -> Overflow | None:
    matches = [match for form in forms if (match := form.search(text)) is not None]
    return _choose_told(
        [_note(text[match.start() :], _read_group(match, "limit"), _read_group(match, "sent")) for match in matches]
    )


def _read_group(match: re.Match[str], name: str) -> int | None:
    digits = match.groupdict().get(name)
    return None if digits is None else int(digits.replace(",", "").replace("_", ""))


def _note(text: str, limit: int | None = None, sent: int | None = None) -> Overflow:
    return Overflow(provider=UNNAMED, limit_tokens=limit, sent_tokens=sent, message=_shorten_line(text))


def _choose_told(found: Sequence[Overflow]) -> Overflow | None:
    # Return the first that tells a limit, or else the first.
    return next((overflow for overflow in found if overflow.limit_tokens is not None), found[0] if found else None)


def _join_texts(texts: Iterator[str]) -> str:
    return "\n".join(_flatten_text(text) for text in islice(texts, _ITEMS))[: 4 * TEXT_CHARS]


def _flatten_text(text: str) -> str:
    # What was wrapped over lines is joined, and what was escaped in a text within a text is read.
    if "\\" in text and _QUOTED.search(text):
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2] or " ", text)
    return " ".join(text.split())


def _find_texts(error: BaseException) -> Iterator[str]:
    yield from _find_words(_text_of(error))
    for name in ("message", "code", "type", "status", "body", "details", "error"):
        yield from _find_words(find_at(error, (name,)))
    # An HTTP client's response has a text, botocore's is a dictionary.
    yield from _find_words(find_at(error, ("response", "text")))
    yield from _find_words(find_at(error, ("response", "Error")))


def _find_words(body: object, depth: int = _DEPTH, name: str = "", has_said: bool = False) -> Iterator[str]:
    if depth and isinstance(body, Mapping):
        items = [(str(key), value) for key, value in islice(cast("Mapping[object, object]", body).items(), _ITEMS)]
        # Beside a field that says what happened, not only that it failed, others hold what was sent.
        has_said = has_said or any(
            isinstance(value, str) and value not in _FAILED and SAYS.search(key) for key, value in items
        )
        for key, value in items:
            if not (has_said and SENT.search(key)):
                yield from _find_words(value, depth - 1, key, has_said)
    elif depth and isinstance(body, list | tuple):
        for value in islice(cast("Sequence[object]", body), _ITEMS):
            yield from _find_words(value, depth - 1, name, has_said)
    elif name and isinstance(body, int):
        yield f"{name}: {body}"
    elif isinstance(body, str | bytes) and not (has_said and not SAYS.search(name)):
        text = body[:TEXT_CHARS] if isinstance(body, str) else body[:TEXT_CHARS].decode(errors="replace")
        inner = read_json(text) if depth and text.lstrip()[:1] in ("{", "[") else None
        if inner is None:
            yield f"{name}: {text}" if name else text
        else:
            yield from _find_words(inner, depth - 1, name, has_said)


def _find_status(error: BaseException) -> int | None:
    paths = (
        ("status_code",),
        ("http_status",),
        ("code",),
        ("status",),
        ("response", "status_code"),
        ("response", "ResponseMetadata", "HTTPStatusCode"),
    )
    return next((found for path in paths if isinstance(found := find_at(error, path), int)), None)


def _find_code(error: BaseException) -> bool:
    return any(
        isinstance(code := find_at(error, path), str) and _is_code(code)
        for path in (("code",), ("type",), ("body", "code"), ("body", "error", "code"), ("body", "error", "type"))
    )


def _is_code(text: str) -> bool:
    return text in CODES or (text.isidentifier() and says_too_long(text))


def find_at(thing: object, path: tuple[str | int, ...]) -> object:
    """Return what lies at a path in somebody else's object."""
    for step in path:
        if isinstance(step, int):
            thing = cast("list[object]", thing)[step] if isinstance(thing, list) and thing else None
        elif isinstance(thing, Mapping):
            thing = cast("Mapping[str, object]", thing).get(step)
        else:
            try:
                thing = getattr(thing, step, None)
            except Exception:  # noqa: BLE001 - a property of somebody else's class; a streamed response has no text yet
                return None
    return thing


def _to_plain(error: object) -> object:
    return getattr(error, "__dict__", error)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a broken `__str__` must not hide the error that it belongs to
        return type(error).__name__


def _shorten_line(text: str) -> str:
    return " ".join(text[: 2 * MESSAGE_CHARS].split())[:MESSAGE_CHARS]
