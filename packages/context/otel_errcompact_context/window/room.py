"""How many tokens of a window are left for a list."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from pydantic import BaseModel

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.providers.models import window_of_model
from otel_errcompact_context.providers.native import plain

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact.digest.tokens import TokenCounter

RESERVE_TOKENS: Final = 20_000
"""What stays free for the answer in a large window."""

RESERVE_SHARE: Final = 4
"""One part in so many of a window stays free for the answer in a small one."""

LEAST_RESERVE: Final = 4_096
"""What many clients ask for as an answer by default; half of what is computed in a small window."""

_logger: Final = logging.getLogger(__name__)


def window_by_options(options: ContextOptions) -> int:
    """Return the window that the options say."""
    if "window_tokens" in options.model_fields_set:
        return options.window_tokens
    return window_of_model(options.model) or options.window_tokens


def check_reserve(reserve: int, window: int) -> None:
    """
    Check a reserve; warn once of one below what answers need.

    Raises:
        ConfigurationError: It leaves nothing of the window.
    """
    if reserve >= window:
        raise ConfigurationError(
            f"reserve_tokens ({reserve}) leaves nothing of window_tokens ({window}): make the reserve smaller than the "
            "model's window"
        )
    if reserve < min(LEAST_RESERVE, window // RESERVE_SHARE // 2):
        _warn_once(reserve, window)


@cache
def _warn_once(reserve: int, window: int) -> None:
    _logger.warning(
        "reserve_tokens (%d) is less than many answers need in a window of %d tokens: they may be cut off, or the "
        "request refused; set it to what you ask for at most (max_tokens), or leave it out for %d",
        reserve,
        window,
        min(RESERVE_TOKENS, window // RESERVE_SHARE),
    )


def reserve_of(options: ContextOptions, window: int) -> int:
    """
    Return the tokens that stay free for the answer.

    A window that a provider has named may be smaller than the options say. A reserve that is set shrinks with it, to
    the same share or to a quarter, so that a part of every window is left for the list.
    """
    if options.reserve_tokens is None:
        return min(RESERVE_TOKENS, window // RESERVE_SHARE)
    share = options.reserve_tokens * window // window_by_options(options)
    return min(options.reserve_tokens, max(window // RESERVE_SHARE, share))


def count_beside(beside: object, count_tokens: TokenCounter) -> int:
    """
    Count the tokens of what is sent beside a list.

    Raises:
        ConfigurationError: Something in it is neither text nor JSON, such as a function.
    """
    if beside is None:
        return 0
    if isinstance(beside, str):
        return count_tokens(beside)
    if isinstance(beside, list | tuple):
        return sum(count_beside(item, count_tokens) for item in cast("list[object]", beside))
    if not isinstance(beside, Mapping | BaseModel):
        raise ConfigurationError(
            f"beside holds a {type(beside).__name__}, whose tokens cannot be counted: pass the system prompt as text "
            "and the schemas of tools as they are sent, or their sum as beside_tokens"
        )
    return count_tokens(json.dumps(plain(cast("object", beside)), ensure_ascii=False))
