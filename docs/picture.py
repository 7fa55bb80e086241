"""
Draw the picture of the README from what the library makes of recorded outputs. `make docs` calls it, a test compares.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.events import Observation

FOLDER: Final = Path(__file__).parent / "pictures"
CORPUS: Final = Path(__file__).parents[1] / "corpus"
OUTPUTS: Final = {
    "pytest": CORPUS / "pytest" / "shared_exception.txt",
    "pytest --tb=short": CORPUS / "pytest" / "shared_exception_short.txt",
    "python -m unittest": CORPUS / "unittest" / "one_cause.txt",
}
"""Commands that fail for one cause, each with its recorded output."""

WIDTH: Final = 560
PADDING: Final = 14
GAP: Final = 14
LINE: Final = 17
HEAD: Final = 36
COLUMNS: Final = 68
"""Characters in a line that is as wide as a card, with the widest of the usual fonts."""

MAP_COLUMNS: Final = 5
MAP_LINE: Final = 1.6
MAP_CHARACTERS: Final = 88


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of a scheme; each text stands out from its card by 4.5 to 1 and more."""

    card: str
    border: str
    text: str
    quiet: str
    bar: str
    red: str
    blue: str
    green: str
    amber: str


LIGHT: Final = Palette(
    card="#f6f8fa", border="#d0d7de", text="#1f2328", quiet="#57606a", bar="#c3cad2",
    red="#cf222e", blue="#0969da", green="#1a7f37", amber="#8a5a00",
)  # fmt: skip
DARK: Final = Palette(
    card="#161b22", border="#30363d", text="#e6edf3", quiet="#9aa4af", bar="#4b535d",
    red="#ff7b72", blue="#58a6ff", green="#3fb950", amber="#e3b341",
)  # fmt: skip


@dataclass(slots=True)
class Canvas:
    """The elements of a picture, and how far down they reach."""

    palette: Palette
    elements: list[str] = field(default_factory=list[str])
    bottom: float = 0

    def add_card(self, title: str, note: str, colour: str, *, left: float, width: float, height: float) -> float:
        """Draw a card with its heading below what is there; return where its content begins."""
        top = self.bottom
        self.elements.append(
            f'<rect x="{left + 0.5}" y="{top + 0.5}" width="{width - 1}" height="{height - 1}" rx="8" '
            f'fill="{self.palette.card}" stroke="{self.palette.border}"/>'
            f'<circle cx="{left + PADDING + 4}" cy="{top + 20}" r="4.5" fill="{colour}"/>'
            f'<text class="title" x="{left + PADDING + 16}" y="{top + 25}" '
            f'fill="{self.palette.text}">{escape(title)}</text>'
            f'<text class="note" x="{left + width - PADDING}" y="{top + 25}" text-anchor="end" '
            f'fill="{self.palette.quiet}">{escape(note)}</text>'
        )
        return top + HEAD

    def add_line(self, text: str, *, left: float, baseline: float, mark: str, colour: str, quiet: bool = False) -> None:
        """Write a line of code; the mark of a class stands out."""
        fill = self.palette.quiet if quiet else self.palette.text
        stressed = f'<tspan fill="{colour}" font-weight="700">{mark}</tspan>'
        self.elements.append(
            f'<text class="code" x="{left}" y="{baseline}" fill="{fill}" xml:space="preserve">'
            f"{escape(text).replace(mark, stressed)}</text>"
        )

    def render(self, alternative: str) -> str:
        """Return the picture as SVG."""
        mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
        sans = "system-ui,-apple-system,'Segoe UI','Noto Sans','DejaVu Sans',Helvetica,Arial,sans-serif"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.bottom:g}" '
            f'viewBox="0 0 {WIDTH} {self.bottom:g}" role="img" aria-label={quoteattr(alternative)}>\n'
            f"<style>.code{{font:12.5px {mono}}}.title{{font:600 14px {sans}}}.note{{font:12.5px {sans}}}</style>\n"
            + "\n".join(self.elements)
            + "\n</svg>\n"
        )


def draw(palette: Palette) -> str:
    """Return the picture in the colours of a scheme."""
    observed = {command: Ledger(Options()).observe("docs", _raw(command)) for command in OUTPUTS}
    first = observed["pytest"]
    mark = f"#{first.found.key[:4]}"
    if {each.found.key for each in observed.values()} != {first.found.key}:
        raise ValueError("the outputs of the picture are of more than one class")
    canvas = Canvas(palette)
    _draw_raw(canvas, _raw("pytest").text)
    _draw_digest(canvas, first, _repeat(), mark)
    _draw_counter(canvas, observed, mark)
    return canvas.render(
        f"A raw error of {first.raw_tokens:,} tokens becomes a digest of {first.digest_tokens} for the agent, "
        f"a count of the class {mark} for the operator, and is kept whole"
    )


def _raw(command: str) -> RawError:
    return RawError(text=OUTPUTS[command].read_text(encoding="utf-8"), tool="bash")


def _repeat() -> Observation:
    ledger = Ledger(Options())
    ledger.observe("docs", _raw("pytest"))
    return ledger.observe("docs", _raw("pytest"))


def _draw_raw(canvas: Canvas, text: str) -> None:
    lines = text.splitlines()
    rows = -(-len(lines) // MAP_COLUMNS)
    note = f"{len(lines)} lines, {len(text) // 4:,} tokens"
    height = HEAD + rows * MAP_LINE + PADDING
    top = canvas.add_card("The raw error: pytest", note, canvas.palette.red, left=0, width=WIDTH, height=height)
    step = (WIDTH - 2 * PADDING + GAP) / MAP_COLUMNS
    scale = (step - GAP) / MAP_CHARACTERS
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        begin = len(line) - len(line.lstrip())
        left = PADDING + number // rows * step + begin * scale
        width = min(len(line) - begin, MAP_CHARACTERS - begin) * scale
        colour = canvas.palette.red if line.startswith(("E ", "FAILED")) else canvas.palette.bar
        canvas.elements.append(
            f'<rect x="{left:.1f}" y="{top + number % rows * MAP_LINE:.1f}" width="{width:.1f}" height="1.1" '
            f'fill="{colour}"/>'
        )
    canvas.bottom += height + GAP


def _draw_digest(canvas: Canvas, first: Observation, again: Observation, mark: str) -> None:
    shown, repeated = _wrap(first.text), _wrap(again.text)
    height = HEAD + (len(shown) + len(repeated)) * LINE + GAP + PADDING - 4
    note = f"{first.digest_tokens} tokens, then {again.digest_tokens}"
    colour = canvas.palette.blue
    top = canvas.add_card("The agent reads a digest", note, colour, left=0, width=WIDTH, height=height) + 12
    for number, (line, is_quiet) in enumerate(shown):
        canvas.add_line(line, left=PADDING, baseline=top + number * LINE, mark=mark, colour=colour, quiet=is_quiet)
    top += len(shown) * LINE
    canvas.elements.append(
        f'<path d="M{PADDING} {top - 5.5}H{WIDTH - PADDING}" stroke="{canvas.palette.border}" stroke-dasharray="3 3"/>'
    )
    top += GAP
    for number, (line, is_quiet) in enumerate(repeated):
        canvas.add_line(line, left=PADDING, baseline=top + number * LINE, mark=mark, colour=colour, quiet=is_quiet)
    canvas.bottom += height + GAP


def _wrap(text: str) -> list[tuple[str, bool]]:
    """Return the lines of a digest as wide as a card, and whether each is of its evidence."""
    return [
        (part, line.startswith(" "))
        for line in text.splitlines()
        for part in textwrap.wrap(line, COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
    ]


def _draw_counter(canvas: Canvas, observed: dict[str, Observation], mark: str) -> None:
    half = (WIDTH - GAP) / 2
    height = HEAD + 4 * LINE + PADDING - 4
    colours = canvas.palette
    top = canvas.add_card("The operator counts", "", colours.green, left=0, width=half, height=height)
    for number, command in enumerate(observed):
        canvas.add_line(
            f"{command:20} {mark}", left=PADDING, baseline=top + 12 + number * LINE, mark=mark, colour=colours.green
        )
    canvas.add_line(
        f"= 1 class, {len(observed)} failures",
        left=PADDING,
        baseline=top + 12 + 3 * LINE,
        mark=mark,
        colour="",
        quiet=True,
    )
    left = half + GAP
    top = canvas.add_card("The raw error is kept", "", colours.amber, left=left, width=half, height=height)
    size = len(_raw("pytest").text.encode())
    kept = (
        f"{mark}: {size:,} bytes of {size:,}",
        "on the span, and in",
        "the trajectory file",
        "for next week's debugging",
    )
    for number, line in enumerate(kept):
        canvas.add_line(
            line,
            left=left + PADDING,
            baseline=top + 12 + number * LINE,
            mark=mark,
            colour=colours.amber,
            quiet=number > 0,
        )
    canvas.bottom += height


PAGES: Final[dict[Path, Callable[[], str]]] = {
    FOLDER / "digest-light.svg": lambda: draw(LIGHT),
    FOLDER / "digest-dark.svg": lambda: draw(DARK),
}
"""Each picture and what draws it."""
