"""
Messages become templates: values are masked, names and codes are kept.

`rules` holds the table of rules, `pattern` finds where one of them matches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup import paths
from otel_errcompact.dedup.ids import MIN_RANDOM, find_labelled, is_random, mask_labelled, mask_long
from otel_errcompact.dedup.names import has_digit, mask_blob, mask_name
from otel_errcompact.dedup.pattern import START, find_forms
from otel_errcompact.dedup.rules import RULES, SERVICE_PORTS
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.dedup.rules import Parts


def mask(text: str) -> str:
    """Return the template of `text`, with placeholders for what varies between occurrences."""
    text = START + mask_labelled(text)
    parts: list[str] = []
    end = len(START)
    for match in find_forms(text):
        parts += (text[end : match.start()], _mask_match(match))
        end = match.end()
    return "".join((*parts, text[end:]))


def find_masks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield rule, text and placeholder of what the template masks."""
    yield from (("labelled_id", found, masked) for found, masked in find_labelled(text))
    for match in find_forms(START + mask_labelled(text)):
        if match.lastgroup in _REPLACEMENTS and (masked := _mask_match(match)) != match[0]:
            yield match.lastgroup or "", match[0], masked


def values(text: str) -> list[str]:
    """
    Return the numbers, sizes and literals of `text` that its template masks.

    Ids, times, ports, temporary names and line numbers are left out: they vary without a meaning.
    """
    found: dict[str, None] = {}
    text = START + mask_labelled(text)
    for match in find_forms(text):
        start = match.start()
        if text[start - 1 : start] == ":" or match.lastgroup not in _REPLACEMENTS:
            continue
        token = _mask_match(match)
        if _VALUE.search(token):
            label = _REPLACEMENTS[match.lastgroup][1]
            found[text[match.end(label) if label else start : match.end()]] = None
    return list(found)


def _mask_match(match: re.Match[str]) -> str:
    # A match of no rule is masked already.
    replacement, label = _REPLACEMENTS.get(match.lastgroup, (None, None))
    if replacement is None:
        return match[0]
    if label is None:
        return replacement if isinstance(replacement, str) else replacement(match[0])
    end_of_label = match.end(label) - match.start()
    head, value = match[0][:end_of_label], match[0][end_of_label:]
    return head + (replacement if isinstance(replacement, str) else replacement(value))


def _mask_word(text: str) -> str:
    return mask_name(mask_long(text) if len(text) >= MIN_RANDOM else text)


def _mask_data(text: str) -> str:
    return "<id>" if is_random(text) else mask_blob(text)


_SLASHES: Final = lazy_pattern(r"[\\/]+")
_SEGMENT: Final = lazy_pattern(r"[^\\/]+")

_UUID: Final = lazy_pattern(r"(?<!\w)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)")
_SHORT_ID: Final = lazy_pattern(r"(?<=[-_])(?=[a-f]{0,3}[0-9])[0-9a-f]{4,}(?![\w.])")
_POSITION: Final = lazy_pattern(r"(?::[0-9]{1,20}){1,9}\Z")
_IP_ADDRESS: Final = lazy_pattern(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")
_FINAL_NUMBER: Final = lazy_pattern(r"(?<![0-9])[0-9]+\Z")
_FAULT_CODE: Final = lazy_pattern(r"0x(?:8007|8000|[Cc]000)[0-9A-Fa-f]{4}\Z")


def _mask_path(path: str) -> str:
    # Below temporary and home directories the path as it is spelt from the project's root; elsewhere all of it.
    path, question_mark, _ = path.partition("?")
    query = "?<query>" if question_mark else ""
    relative = paths.below_root(_SLASHES.sub("/", path))
    if relative is None:
        return _SEGMENT.sub(lambda segment: _mask_segment(segment[0]), path) + query
    return (mask(relative) if has_digit(relative) else relative) + query


def _mask_segment(segment: str) -> str:
    if len(segment) >= MIN_RANDOM:
        segment = mask_long(segment)
    if not has_digit(segment):
        return segment
    if segment.isdecimal():
        return "<id>"
    # In a path already a suffix of four hexadecimal digits is an instance's.
    return mask(_SHORT_ID.sub("<id>", _UUID.sub("<id>", segment))).replace("<num>", "<id>")


def _mask_url(url: str) -> str:
    base, question_mark, _ = url.partition("?")
    scheme, _, rest = base.partition("://")
    if scheme == "file":
        return _mask_path(rest)
    host, slash, path = rest.partition("/")
    located = _POSITION.search(path)
    names = path[: located.start()] if located else path
    position = ":<num>" * located[0].count(":") if located else ""
    segments = _SEGMENT.sub(lambda segment: _mask_segment(segment[0]), names)
    return f"{scheme}://{_mask_host(host)}{slash}{segments}{position}{'?<query>' if question_mark else ''}"


def _mask_host(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon:
        return _IP_ADDRESS.sub("<ip>", host)
    return f"{_IP_ADDRESS.sub('<ip>', name)}:{_mask_port(port)}"


def _drop_here(_: str) -> str:
    return ""


def _mask_ip(text: str) -> str:
    # As in `ip:port` and `('ip', port)`.
    return _mask_port(_IP_ADDRESS.sub("<ip>", text))


def _mask_ip6(text: str) -> str:
    return "<ip>" if has_digit(text) else text


def _mask_port(text: str) -> str:
    return _FINAL_NUMBER.sub(lambda port: port[0] if port[0] in SERVICE_PORTS else "<port>", text)


def _mask_hexadecimal(text: str) -> str:
    # Status and result codes of Windows stay; a short number is a byte, a long one an object's address.
    if _FAULT_CODE.match(text):
        return text
    return "<addr>" if len(text) >= len("0x123456") else "<hex>"


_COMMAND: Final = lazy_pattern(
    r"\[?(?:['\"]?(?:/\w+)*/?(?:ba|z|da)?sh['\"]?,? ['\"]?-l?c['\"]?,? )?['\"]?"
    r"(?:[^\s'\",\]/]*/)*([\w.+-]+)(?:['\"]?,? ['\"]?([a-z][a-z-]*)(?=[\s'\",\]]))?"
)


def _mask_command(text: str) -> str:
    command = _COMMAND.match(text, len("Command '"))
    words = filter(None, command.groups()) if command else ("<value>",)
    return f"Command '{' '.join(words)}'"


def _mask_row(text: str) -> str:
    return f"{text.partition(')=')[0]})=(<value>)"


def _mask_dimensions(text: str) -> str:
    return re.sub(r"[0-9]+", "<num>", text)


_VALUE: Final = lazy_pattern(r"<(?:num|size|value)>")
_BY_PARTS: Final[dict[Parts | None, Callable[[str], str]]] = {
    "command": _mask_command,
    "data": _mask_data,
    "dimensions": _mask_dimensions,
    "here": _drop_here,
    "hexadecimal": _mask_hexadecimal,
    "ip": _mask_ip,
    "ip6": _mask_ip6,
    "name": _mask_word,
    "path": _mask_path,
    "port": _mask_port,
    "row": _mask_row,
    "url": _mask_url,
}
_REPLACEMENTS: Final[dict[str | None, tuple[str | Callable[[str], str] | None, str | None]]] = {
    rule.name: (rule.placeholder or _BY_PARTS.get(rule.by_parts), f"label_{rule.name}" if rule.labels else None)
    for rule in RULES
}
"""By rule: the placeholder or the function that masks, None to keep the text; the group that ends the label."""
