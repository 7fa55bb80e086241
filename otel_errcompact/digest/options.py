"""How long digests may be, and for whom they are written."""

from __future__ import annotations

from typing import Literal

from otel_errcompact.runtime.models import FrozenModel, setting

Audience = Literal["developer", "user"]


class DigestOptions(FrozenModel):
    """How long digests may be, and for whom they are written."""

    inline_tokens: int = setting(default=600, ge=40)
    """The most tokens of the digest of a text that a format has read."""

    whole_tokens: int = setting(default=400, ge=0)
    """The most tokens of a raw error that stays whole, with the mark of its class behind it."""

    unread_tokens: int = setting(default=1_000, ge=100)
    """The most tokens of a raw error that no format has read; twice as many where the command chose what to show."""

    way_back: str = ""
    """
    How the agent gets a whole text again, with `{key}` for the name of its class: `errcompact raw '#{key}'`, or a tool.

    Where there is no way, a text that no format has read is never cut; another digest says how much it leaves out.
    """

    block_tokens: int = setting(default=600, ge=60)
    """The most tokens of the block of recent errors."""

    line_characters: int = setting(default=400, ge=80)
    """The most characters of one line."""

    verbatim_tools: frozenset[str] = frozenset()
    """Tools whose errors stay whole in the context: exact text matters there. They are still counted."""

    audience: Audience | None = None
    """
    Who reads: a `developer` gets paths and source lines, a `user` of the code function and file name.

    If None, the agent is a user where a tool of the application has raised that is no shell, file or code tool.
    """
