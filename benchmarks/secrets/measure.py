"""Which secrets are readable in the redacted text, and what of the text is lost with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.secrets.kind import is_held_out
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.secrets.context import Context
    from benchmarks.secrets.kind import Kind, Value

MARK = r"\[REDACTED:[^\]]*\]"
LEAST_PIECE = 4
"""Characters below which a piece of a secret tells nothing."""


@dataclass(frozen=True)
class Cell:
    """
    One kind of secret in one context.

    Attributes:
        kind: The kind.
        context: The context.
        raw: The text with the secret.
        redacted: What redaction made of it.
        leaked: Whether half of the secret or more is readable in one piece.
        lost: What a reader needs of the text, and does not find.
    """

    kind: Kind
    context: Context
    raw: str
    redacted: str
    leaked: bool
    lost: tuple[str, ...]

    @property
    def half(self) -> str:
        """`tuned`, `held-out`, or `mixed` where only kind or context is held out."""
        held = is_held_out(self.kind.name), is_held_out(self.context.name)
        return "held-out" if all(held) else "mixed" if any(held) else "tuned"


@dataclass(frozen=True)
class Pair:
    """
    A kind of secret in a context, with a value of its own: no unlucky value stands for a kind.
    """

    kind: Kind
    context: Context
    value: Value

    @property
    def refusal(self) -> str | None:
        """Why the pair makes no sense, or `None`."""
        return self.context.refusal(self.kind, self.value.text)


def pairs(kinds: Iterable[Kind], contexts: Sequence[Context], seed: int) -> Iterator[Pair]:
    """Yield each kind in each context."""
    for kind in kinds:
        for context in contexts:
            yield Pair(kind, context, kind.value(f"{context.name}/{seed}"))


def measure(pair: Pair) -> Cell:
    """Return what redaction makes of a value in its context."""
    kind, context, value = pair.kind, pair.context, pair.value
    raw = context.fill(kind, value.text)
    redacted = redact(raw)
    # A mark has its kind's name, which may be a part of a password.
    seen = re.sub(MARK, "\0", redacted)
    seen = f"{seen}\0{context.read(seen)}"
    blank = context.fill(kind, "")
    blank = f"{blank}\0{context.read(blank)}"
    leaked = any(is_readable(part, seen, blank) for part in value.parts)
    return Cell(kind, context, raw, redacted, leaked, tuple(part for part in context.keeps if part not in seen))


def is_readable(secret: str, text: str, blank: str) -> bool:
    """Return whether half of `secret` stands in `text` in one piece, and does not stand in `blank`."""
    length = max(LEAST_PIECE, (len(secret) + 1) // 2)
    pieces = (secret[at : at + length] for at in range(max(1, len(secret) - length + 1)))
    return any(piece in text and piece not in blank for piece in pieces)
