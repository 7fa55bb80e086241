"""The text of a raw error, unwrapped and cleaned once for all extractors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.unwrapping import unwrap
from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.lazy import lazy
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError

MAX_LINE: Final = 4_000
"""Characters of one line that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """What an extractor looks at. Without slots, since its lines are split once for all extractors."""

    body: str
    """The cleaned text; of a very long one the head, a line that says how much is left out, and the tail."""

    type: str = ""
    """What the source itself says of the type."""

    message: str = ""
    """What the source itself says of the message."""

    exit_code: int | None = None
    """The exit status, as the source reports it or as the text's first or last lines do; never 0."""

    roots: tuple[str, ...] = ()
    """The configured folders of the user's own code."""

    @lazy
    def lines(self) -> list[str]:
        """The lines of the body, very long ones cut; shared, so nobody changes the list."""
        lines = self.body.split("\n")
        if len(self.body) <= MAX_LINE:
            return lines
        return [clip(line, MAX_LINE) if len(line) > MAX_LINE else line for line in lines]


def read_text(raw: RawError, roots: tuple[str, ...] = ()) -> Text:
    """Clean the text of a raw error; what is known only of its message stands in for a missing text."""
    return read_source(raw.text, raw.type, raw.message, raw.exit_code, roots)


def read_source(text: str, kind: str, message: str, exit_code: int | None, roots: tuple[str, ...] = ()) -> Text:
    """Do the same for the parts of a raw error that matter to an extractor: by them it is remembered."""
    output = unwrap(text or message)
    return Text(
        # Here, before anything is cut into lines and facts: half a key shows no longer that it is one.
        body=redact(output.text),
        type=" ".join(kind[:MAX_DETAIL].split()).removeprefix("__main__."),
        message=redact(message),
        exit_code=exit_code or output.exit_code,
        roots=roots,
    )
