"""What a tool returned without raising: mostly a result, sometimes a failure that it did not report as one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.recognise import judge

if TYPE_CHECKING:
    from otel_errcompact.recognise import Judgement

_TELLING_KEYS: Final = frozenset({"error", "errors", "isError", "is_error", "ok", "status", "success"})


def judge_answer(result: object, *, tool: str, arguments: str) -> tuple[Judgement, str] | None:
    """
    Judge what a tool returned.

    Args:
        result: What it returned; texts and JSON objects are looked at.
        tool: The tool's name.
        arguments: The call's arguments as JSON.

    Returns:
        What it is, and its text; nothing where there is nothing to judge by.
    """
    text = _text_of(result)
    return (judge(text, tool=tool, arguments=arguments), text) if text else None


def _text_of(result: object) -> str:
    """
    Return the text of a result that may say of itself that it failed.
    """
    if isinstance(result, str):
        return result
    if isinstance(result, Mapping):
        answer = cast("Mapping[object, object]", result)
        if not _TELLING_KEYS.isdisjoint(answer):
            return json.dumps(dict(answer), default=str, skipkeys=True, ensure_ascii=False)
    return ""
