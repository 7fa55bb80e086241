"""Messages as JSON lines, the way they are kept when they are taken out of a context whole."""

from __future__ import annotations

import errno
import json
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from pydantic_core import to_json

from otel_errcompact_context.providers import PROVIDERS, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.messages import FormatName, Message

_NATIVE_OF: Final = attrgetter("native")
_PARTS_OF: Final = attrgetter("parts")


def json_lines(messages: Sequence[Message], format: FormatName) -> str:  # noqa: A002 - the word for it
    """
    Return messages as the provider has them, a line of JSON each.

    Of a message that a layer has edited already, it is the caller's own that is returned: the whole.

    Raises:
        OSError: A message cannot be written as JSON, so that it must not be cut.
    """
    if _are_plain(messages):
        try:
            return b"\n".join(
                [to_json(native, inf_nan_mode="constants") for native in map(_NATIVE_OF, messages)]
            ).decode()
        except ValueError:
            """Lone surrogates, nesting deeper than most, or one that is not that plain."""
    write_message = PROVIDERS[format].write_message
    return "\n".join(
        [json_line(write_message(message) if message.native is None else message.native) for message in messages]
    )


def json_line(native: object) -> str:
    """
    Return a mapping, or a provider's own object, as one line of JSON.

    Raises:
        OSError: It cannot be written as JSON, so that it must not be cut.
    """
    try:
        return json.dumps(native, ensure_ascii=False, default=plain)
    except (ValueError, TypeError, RecursionError) as error:
        raise OSError(errno.EINVAL, f"what would be cut cannot be written as JSON: {error}") from error


def _are_plain(messages: Sequence[Message]) -> bool:
    blocks = map(_NATIVE_OF, chain.from_iterable(map(_PARTS_OF, messages)))
    return {*map(type, map(_NATIVE_OF, messages))} <= {dict} and {*map(type, blocks)} <= {dict, type(None)}
