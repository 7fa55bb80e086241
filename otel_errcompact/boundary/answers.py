"""Results of tools, some of which are failures without a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.detector.results import classify_result
from otel_errcompact.runtime.foreign import attribute_of

if TYPE_CHECKING:
    from otel_errcompact.detector.results import ResultVerdict

_PLAIN: Final = frozenset({type(None), str, dict, list, int, float, bool, bytes, tuple})
_NO_TEXT: Final = "the result is flagged as an error and holds no text"
_TELLING_KEYS: Final = frozenset({"error", "errors", "isError", "is_error", "ok", "status", "success"})


def classify_answer(
    result: object,
    *,
    tool: str,
    arguments: str,
    exit_code: int | None = None,
    flagged: bool = False,
    says_success: bool = False,
) -> tuple[ResultVerdict, str] | None:
    """
    Judge what a tool returned.

    Args:
        result: What it returned; texts, JSON objects and results of the Model Context Protocol are looked at.
        tool: The tool's name.
        arguments: The call's arguments as JSON.
        exit_code: The exit status of a command, where it is known.
        flagged: Whether the result itself is flagged as an error; see `is_flagged`.
        says_success: Whether the framework says that the call succeeded.

    Returns:
        What it is, and its text; nothing where there is nothing to judge by.
    """
    text = _text_of(result, flagged=flagged)
    if not text and not exit_code:
        return None
    says = True if flagged else False if says_success else None
    judged = classify_result(text, tool=tool, arguments=arguments, flagged=says, exit_code=exit_code)
    return judged, text or f"exit code {exit_code}"


def text_of(answer: object) -> str:
    """Return the text of content blocks or command output, else nothing."""
    if isinstance(answer, Mapping):
        printed = cast("Mapping[str, object]", answer)
        return "\n".join(str(printed[stream]) for stream in ("stdout", "stderr") if printed.get(stream))
    blocks = cast("list[object]", answer) if isinstance(answer, list) else ()
    texts = (cast("Mapping[str, object]", block).get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def is_flagged(result: object) -> bool:
    """Return whether a result of MCP is flagged as an error."""
    # Release 2 of its Python package has renamed the attribute.
    if type(result) in _PLAIN:
        return False
    return attribute_of(result, "isError") is True or attribute_of(result, "is_error") is True


def _text_of(result: object, *, flagged: bool) -> str:
    if isinstance(result, str):
        return result
    if flagged:
        return _text_of_blocks(result)
    if isinstance(result, Mapping):
        answer = cast("Mapping[object, object]", result)
        if not _TELLING_KEYS.isdisjoint(answer):
            return json.dumps(dict(answer), default=str, skipkeys=True, ensure_ascii=False)
    return ""


def _text_of_blocks(result: object) -> str:
    blocks = attribute_of(result, "content")
    if not isinstance(blocks, list):
        return ""
    texts = (attribute_of(block, "text") for block in cast("list[object]", blocks))
    return "\n".join(text for text in texts if isinstance(text, str)) or _NO_TEXT
