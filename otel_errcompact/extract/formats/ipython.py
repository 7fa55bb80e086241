"""Tracebacks as IPython and Jupyter print them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.format import Format
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame, is_own

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


_HEADER: Final = re.compile(r"^(?P<type>[A-Za-z_][\w.]{0,200}) {2,}Traceback \(most recent call last\)$", re.MULTILINE)
_FRAME: Final = re.compile(
    r"^(?:File (?P<file>[^\n]{1,400}?):(?P<line>[0-9]{1,9})"
    r"|(?P<cell>Cell In ?\[[0-9]{1,6}\]), line (?P<cell_line>[0-9]{1,9}))"
    r"(?:, in (?P<function>[\w<>.]{1,200}))?[^\n]*$",
    re.MULTILINE,
)
_CURRENT: Final = re.compile(r"^-+> ?[0-9]{1,9} ?(?P<source>[^\n]*)$", re.MULTILINE)


def read(text: Text) -> Facts | None:
    """Return the facts of the last traceback of a notebook in `text`."""
    headers = list(_HEADER.finditer(text.body))
    if not headers:
        return None
    kind = headers[-1]["type"]
    stack, _, message = text.body[headers[-1].end() :].rpartition(f"\n{kind.rpartition('.')[2]}: ")
    frames = _frames(stack or message)
    own = next((frame for frame in reversed(frames) if is_own(frame.file, frame.function)), None)
    innermost = frames[-1] if frames else None
    facts = facts_of((Failure(kind, message if stack else text.message, own, innermost),))
    return replace(facts)


def _frames(stack: str) -> list[Frame]:
    found = list(_FRAME.finditer(stack))
    ends = (*(frame.start() for frame in found), len(stack))
    return [_frame(frame, _CURRENT.search(stack, frame.end(), end)) for frame, end in zip(found, ends[1:], strict=True)]


def _frame(found: re.Match[str], current: re.Match[str] | None) -> Frame:
    line = int(found["line"] or found["cell_line"])
    source = current["source"].strip() if current is not None else ""
    return Frame(found["file"] or "<cell>", line, found["function"] or "<module>", source)


FORMAT: Final = Format(
    name="ipython",
    read=read,
    markers=("Traceback (most recent call last)",),
    signs=(),
)
