"""Find the answer of a server behind the progress of a script."""

from __future__ import annotations

import json
from typing import Final

from otel_errcompact.extract.statements import is_telling
from otel_errcompact.runtime.lazy import lazy_pattern

MAX_CHATTER: Final = 2_000
"""Characters before an answer that are taken for progress."""

MAX_ANSWER: Final = 65_536
"""Characters of a JSON answer that are parsed to see whether the text ends with it."""

_BEGINS: Final = lazy_pattern(
    r"\n(?:(?P<json>\{|\[\{)|(?P<page><!doctype html|<!DOCTYPE html|<html)|(?P<head>HTTP/[0-9]))"
)
_HEAD: Final = "\nHTTP/"

_decoder: Final = json.JSONDecoder()


def answer_of(body: str) -> str:
    """
    Return the answer at the end of a text without the progress before it.

    A text that tells of a failure in other words than the answer's is left alone.
    """
    if body.startswith("HTTP/"):
        return body[body.rfind(_HEAD) + 1 :]
    found = _BEGINS.search(body, 0, MAX_CHATTER) if body[-1:] in ("}", "]", ">") or _HEAD in body else None
    if found is None or body[:1] in ("{", "[", "<") or any(map(is_telling, body[: found.start()].split("\n"))):
        return body
    start = found.start() + 1
    if found["json"] and not _is_all_of(body, start):
        return body
    return body[max(start, body.rfind(_HEAD) + 1) :] if found["head"] else body[start:]


def _is_all_of(body: str, start: int) -> bool:
    if len(body) - start > MAX_ANSWER:
        return False
    try:
        return _decoder.raw_decode(body, start)[1] == len(body)
    except (ValueError, RecursionError):
        return False
