"""
Parts and messages with what they cost: rough figures, chosen rather too high than too low.

A text costs what the caller's counter says. Images and files are never decoded: providers count an image by its
size (Anthropic at most about 1,600 tokens, Gemini 258 a tile, OpenAI up to about 1,500), a PDF by its pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact_context.messages import Message, Part, new_message, new_part
from otel_errcompact_context.providers.native import fields_of, items_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Role
    from otel_errcompact_context.providers.native import Fields

FRAME_TOKENS: Final = 4
"""The role of a message, and what separates it from the next one."""

BLOCK_TOKENS: Final = 10
"""The tool's name, the id and the wrapping of a call or a result, beside its text."""

IMAGE_TOKENS: Final = 1_600
"""An image, whatever its size; also the least that a file costs."""

FILE_CHARACTERS: Final = 50
"""How many characters of a file's Base64 cost a token: a page of a PDF is 50 to 100 kB and about 1,500 tokens."""

_PAIRED: Final = frozenset({"call", "result"})
_IMAGES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_NOT_READ: Final = frozenset(
    {"type", "id", "call_id", "tool_use_id", "signature", "thoughtSignature", "thought_signature"}
)
"""What the model does not read: marks for the provider."""


def make_message(role: Role, parts: Iterable[Part], native: object) -> Message:
    """Return a message of its parts, with what it costs."""
    total, made = FRAME_TOKENS, tuple(parts)
    for part in made:
        total += part[2]
        if part[0] in _PAIRED:
            total += BLOCK_TOKENS
    return new_message((role, made, total, native, False))


def text_part(text: str, native: object, count_tokens: TokenCounter) -> Part:
    """Return a text as a part."""
    return new_part(("text", text, count_tokens(text), "", "", None, native, False))


def other_part(native: object, count_tokens: TokenCounter, tool: str = "", call_id: str = "") -> Part:
    """Return what the layers leave alone as a part."""
    return new_part(("other", "", block_tokens(native, count_tokens), tool, call_id, None, native, False))


def count_texts(texts: list[str], tokens: int, count_tokens: TokenCounter) -> tuple[str, int]:
    """Join the texts of a result, and count it with all else."""
    text = texts[0] if len(texts) == 1 else "\n".join(texts)
    return text, tokens + count_tokens(text)


def block_tokens(block: object, count_tokens: TokenCounter) -> int:
    """
    Estimate what a block costs that is not understood, or not text: all texts in it, and a flat sum for binary data.
    """
    total = 0
    todo: list[object] = [block]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            total += count_tokens(value)
        elif isinstance(value, (list, tuple)):
            todo.extend(items_of(cast("object", value)))
        elif isinstance(value, (bytes, bytearray)):
            total += _file_tokens(len(value) * 4 // 3)
        elif value is not None and not isinstance(value, (int, float)):
            fields = fields_of(value)
            binary = _binary_tokens(fields)
            if binary is None:
                todo.extend(value for key, value in fields.items() if key not in _NOT_READ)
            else:
                total += binary
    return total


def _binary_tokens(fields: Fields) -> int | None:
    if text_in(fields, "type") in _IMAGES:
        return IMAGE_TOKENS
    media = text_in(fields, "media_type") or text_in(fields, "mimeType") or text_in(fields, "mime_type")
    data = fields.get("data") or fields.get("file_data")
    is_file = bool(media) or "file_data" in fields or "format" in fields
    if not is_file or media.startswith("text/"):
        return None
    if media.startswith("image/") or not isinstance(data, (str, bytes)):
        return IMAGE_TOKENS
    return _file_tokens(len(data) if isinstance(data, str) else len(data) * 4 // 3)


def _file_tokens(characters: int) -> int:
    return max(IMAGE_TOKENS, characters // FILE_CHARACTERS)
