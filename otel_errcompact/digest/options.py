"""How long digests may be."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class DigestOptions(BaseModel):
    """How long digests may be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inline_tokens: int = Field(default=400, ge=40)
    """The most tokens that replace one failed call's result."""

    block_tokens: int = Field(default=600, ge=60)
    """The most tokens of the block of recent errors."""

    line_characters: int = Field(default=400, ge=80)
    """The most characters of one line."""

    verbatim_tools: frozenset[str] = frozenset()
    """Tools whose errors stay whole in the context: exact text matters there. They are still counted."""
