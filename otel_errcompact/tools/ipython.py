"""Tracebacks as IPython and Jupyter print them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.characters import LEFT_OUT
from otel_errcompact.extract.grammar import Facts, Format, Found, Text, form
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, Failure
from otel_errcompact.extract.stacks.frames import Frame, is_own_frame
from otel_errcompact.extract.stacks.recursion import recursion_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEADER: Final = form(r"^(?P<type>[A-Za-z_][\w.]{0,200}) {2,}Traceback \(most recent call last\)$", re.MULTILINE)
_FRAME: Final = form(
    r"^(?:File (?P<file>[^\n]{1,400}?):{line}|(?P<cell>Cell In ?\[{number}\]), line "
    r"(?P<cell_line>{number}))(?:, in (?P<function>[\w<>.]{1,200}))?[^\n]*$",
    re.MULTILINE,
)
_CELL: Final = "<cell>"
_NUMBERED: Final = "Cell In"
_LINK: Final = form(
    r"\n(?:The above exception was the direct cause of|(?P<how>During) handling of the above exception,)"
)
_SKIPPED: Final = form(r"(?P<function>[\w<>.]{1,200}) at line {number} \((?P<count>{number}) times\)")
_CURRENT: Final = form(r"^-+> ?{number} ?(?P<source>[^\n]*)$", re.MULTILINE)


def read(text: Text) -> Facts | None:
    """Return the facts of the last chain of a notebook in `text`."""
    headers = list(_HEADER.finditer(text.body))
    chain: list[Failure] = []
    follows = is_linked = False
    ends = (*(found.start() for found in headers[1:]), len(text.body))
    for header, end in zip(headers, ends, strict=False):
        said = text.body[header.end() : end]
        link = _LINK.search(said)
        failure = _build_failure(header["type"], said[: link.start()] if link else said, text.message)
        chain = [*(chain if is_linked else []), failure._replace(follows=follows)][-MAX_CHAIN:]
        is_linked = link is not None
        follows = link is not None and link["how"] == "During"
    return facts_of(tuple(reversed(chain))) if chain else None


def _build_failure(kind: str, said: str, message: str) -> Failure:
    stack, _, rest = said.rpartition(f"\n{kind.rpartition('.')[2]}: ")
    calls = _read_calls(stack or rest)
    frames = [frame for frame, _ in calls]
    recursion = recursion_of(calls, is_own_frame, is_cut=LEFT_OUT in said) if kind == "RecursionError" else None
    own = next((frame for frame in reversed(frames) if is_own_frame(frame)), None)
    own = recursion.place if recursion is not None else own
    # The number of a cell rises with each run, so it does not count for the key.
    keyed = own._replace(file=_CELL) if own is not None and own.file.startswith(_NUMBERED) else own
    innermost = frames[-1] if frames else None
    return Failure(
        kind,
        rest if stack else message,
        keyed,
        keyed if innermost is own else innermost,
        recursion=recursion,
        shown=own if own is not keyed else None,
    )


def _read_calls(stack: str) -> list[tuple[Frame, int]]:
    found = list(_FRAME.finditer(stack))
    calls: list[tuple[Frame, int]] = []
    ends = (*(frame.start() for frame in found[1:]), len(stack))
    for one, end in zip(found, ends, strict=False):
        calls.append((_build_frame(one, _CURRENT.search(stack, one.end(), end)), 1))
        if "skipping similar frames" in stack[one.end() : end]:
            calls.extend(_read_skipped(stack[one.end() : end], calls))
    return calls


def _read_skipped(text: str, calls: Sequence[tuple[Frame, int]]) -> Iterator[tuple[Frame, int]]:
    known = {frame.function: frame for frame, _ in calls}
    for found in _SKIPPED.finditer(text):
        if found["function"] in known:
            yield known[found["function"]], int(found["count"])


def _build_frame(found: Found, current: Found | None) -> Frame:
    line = int(found["line"] or found["cell_line"])
    source = current["source"].strip() if current is not None else ""
    return Frame(found["file"] or found["cell"], line, found["function"] or "<module>", source)


FORMAT: Final = Format(name="ipython", reads_all=True, read=read, markers=("Traceback (most recent call last)",))
