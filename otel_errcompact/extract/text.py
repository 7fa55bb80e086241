"""The text of a raw error, cleaned once for all extractors: no colours, no harness noise, bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.answers import answer_of
from otel_errcompact.extract.cleaning.envelope import open_envelope
from otel_errcompact.extract.cleaning.prefixes import strip_prefixes
from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.statements import indentation
from otel_errcompact.runtime.lazy import lazy

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError

WINDOW: Final = 32_768
"""Characters that are looked at from either end of a very long text; the whole of it stays in the trajectory."""

MAX_LINES: Final = 1_000
"""Lines that are looked at from either end."""

MAX_LINE: Final = 4_000
"""Characters of one line that are looked at."""

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,99}(?:\x07|\x1b\\)?|[@-Z\\-_])?")
_CONTROL: Final = (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F)
_CONTROL_BYTES: Final = bytes(_CONTROL)
_CONTROL_CHARACTERS: Final = dict.fromkeys([*_CONTROL, *range(0x80, 0xA0), 0xFEFF])

_EXIT: Final = re.compile(
    r"(?i)\W{0,3}(?:error: )?(?:the )?(?:(?:process|command|script|program) )?"
    r"(?:(?:finished|completed|exited|failed|terminated) )?(?:with )?"
    r"(?:exit[ -]?(?:code|status)|code|return ?code)(?: is|:)? ?(?P<code>-?[0-9]{1,9})"
    r"(?: \(execution failed\))?\W{0,3}$"
)
_ENDS_OF_STATUS: Final = frozenset("0123456789].)")
_NOISE: Final = re.compile(
    r"(?:Chunk ID: |Wall time: |Original token count: |Total output lines: |Output:$|Code output:"
    r"|\[(?:Jupyter |Current working directory|Python [Ii]nterpreter|Output truncated)"
    r"|\([0-9]{1,9} more lines (?:above|below)\))"
)
_TAG: Final = re.compile(r"</?(?:tool_use_error|error|stderr|output)>")
_FIRST_OF_NOISE: Final = frozenset("CWOT[(")
_MAX_NOISE: Final = 300
"""Characters of a line that a harness wrote."""


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

    @lazy
    def lines(self) -> list[str]:
        """The lines of the body, very long ones cut; shared, so nobody changes the list."""
        lines = self.body.split("\n")
        if len(self.body) <= MAX_LINE:
            return lines
        return [clip(line, MAX_LINE) if len(line) > MAX_LINE else line for line in lines]


def read_text(raw: RawError) -> Text:
    """Clean the text of a raw error; what is known only of its message stands in for a missing text."""
    return read_source(raw.text, raw.type, raw.message, raw.exit_code)


def read_source(text: str, kind: str, message: str, exit_code: int | None) -> Text:
    """Do the same for the parts of a raw error that matter to an extractor: by them it is remembered."""
    source = text or message
    opened = open_envelope(source)
    body = strip_prefixes(_strip_blanks(clean(opened.text if opened is not None else source)))
    if "</" in body:
        body = _TAG.sub("", body).strip("\n")
    body, said_code = _strip_noise(body)
    body = answer_of(_dedent(body))
    if opened is None and body[:1] in ("{", "[") and len(body) != len(source):
        opened = open_envelope(body)  # what stood around it was noise
        body = _strip_blanks(clean(opened.text)) if opened is not None else body
    return Text(
        body=body,
        type=" ".join(kind[:MAX_DETAIL].split()).removeprefix("__main__."),
        message=message,
        exit_code=exit_code or (opened.exit_code if opened is not None else None) or said_code,
    )


def clean(text: str) -> str:
    """Return `text` bounded and without ANSI sequences, carriage returns and other control characters."""
    text = _bound(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():  # Bytes are translated five times as fast.
        return text.encode("ascii").translate(None, _CONTROL_BYTES).decode("ascii")
    return text.translate(_CONTROL_CHARACTERS)


def _bound(text: str) -> str:
    """Keep head and tail of a very long text, whole lines where there are any."""
    if len(text) <= 2 * WINDOW and text.count("\n") <= 2 * MAX_LINES:
        return text
    half = min(WINDOW, len(text) // 2)
    head = "\n".join(text[:half].split("\n", MAX_LINES)[:MAX_LINES])
    tail = "\n".join(text[-half:].rsplit("\n", MAX_LINES)[-MAX_LINES:])
    head = head[: head.rfind("\n")] if "\n" in head else head
    tail = tail[tail.find("\n") + 1 :]
    return f"{head}\n    ... {len(text) - len(head) - len(tail)} characters not looked at\n{tail}"


def _strip_blanks(text: str) -> str:
    """Take off blank lines at both ends, and trailing spaces."""
    if " \n" in text or ("\t" in text and "\t\n" in text):
        text = "\n".join(map(str.rstrip, text.split("\n")))
    return text.rstrip().lstrip("\n")


def _dedent(text: str) -> str:
    """Take off what indentation all lines have in common."""
    if text[:1] not in (" ", "\t"):
        return text
    lines = text.split("\n")
    common = min(indentation(line) for line in lines if line)
    return "\n".join(line[common:] for line in lines)


def _strip_noise(text: str) -> tuple[str, int | None]:
    """Take off what harnesses put before and behind a command's output; what they say of the exit status is kept."""
    exit_code = 0
    start, end = 0, len(text)
    while start < end:
        stop = text.find("\n", start)
        stop = end if stop < 0 else stop
        status = _status_of_noise(text[start:stop])
        if status is None:
            break
        exit_code = status or exit_code
        start = stop + 1
    while start < end:
        begin = max(start, text.rfind("\n", start, end) + 1)
        status = _status_of_noise(text[begin:end])
        if status is None:
            break
        exit_code = status or exit_code
        end = begin - 1
    return text[start : max(start, end)].rstrip(), exit_code or None


def _status_of_noise(line: str) -> int | None:
    """Return the exit status that a harness's line reports, 0 if it reports none, and nothing if it is no such line."""
    if len(line) > _MAX_NOISE:
        return None
    line = line.strip()
    if not line:
        return 0
    found = _EXIT.match(line) if line[-1] in _ENDS_OF_STATUS else None
    if found is not None:
        return int(found["code"])
    return 0 if line[0] in _FIRST_OF_NOISE and _NOISE.match(line) else None
