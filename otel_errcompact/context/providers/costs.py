"""
What stands in a message beside its texts costs: rough figures, chosen rather too high than too low.

A text costs what the caller's counter says. Images and files are never decoded: providers count an image by its
size (Anthropic at most about 1,600 tokens, Gemini 258 a tile, OpenAI up to about 1,500), a PDF by its pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.context.providers.native import fields_of, items_of, text_in

if TYPE_CHECKING:
    from otel_errcompact.context.providers.native import Fields
    from otel_errcompact.digest.tokens import TokenCounter

FRAME_TOKENS: Final = 4
"""The role of a message, and what separates it from the next one."""

BLOCK_TOKENS: Final = 10
"""The tool's name, the id and the wrapping of a call or a result, beside its text."""

IMAGE_TOKENS: Final = 1_600
"""An image, whatever its size; also the least that a file costs."""

FILE_CHARACTERS: Final = 50
"""How many characters of a file's Base64 cost a token: a page of a PDF is 50 to 100 kB and about 1,500 tokens."""

_IMAGES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_NOT_READ: Final = frozenset(
    {"type", "id", "call_id", "tool_use_id", "signature", "thoughtSignature", "thought_signature"}
)
"""What the model does not read: marks for the provider."""


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
    """Return what an image or a file costs; None for anything else."""
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
