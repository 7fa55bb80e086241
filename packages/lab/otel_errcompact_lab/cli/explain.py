"""`errcompact explain`: what was made of a raw error, and why."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.text import Text

from otel_errcompact.config import Options
from otel_errcompact.digest.untrusted import plain_lines
from otel_errcompact_lab.cli.column_fit import console_of
from otel_errcompact_lab.cli.output import Problems, count_noun, printable, write_json
from otel_errcompact_lab.explanation import explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact_lab.cli.inputs import Input
    from otel_errcompact_lab.explanation import Explanation

    Rows = Iterator[tuple[str, str]]

PIPE_WIDTH: Final = 100
"""Columns where there is no terminal to ask."""

_TITLE: Final = 10
_LABEL: Final = 26
_SILENT: Final = "nothing declares or states a failure; what follows is what would be made of one"


def print_explanations(source: Input, arguments: str, *, as_json: bool) -> int:
    """Print what was made of each raw error; return the exit status."""
    problems = Problems()
    options = Options.from_environ()
    for raw in source.raw_errors(problems):
        found = explain(raw.text, tool=raw.tool, arguments=arguments, exit_code=raw.exit_code, options=options)
        if as_json:
            write_json(asdict(found), indent=2)
        else:
            _print_explanation(found)
    return problems.exit_code


def _print_explanation(found: Explanation) -> None:
    console = console_of(PIPE_WIDTH)
    sections = {
        "Failure": _list_judgement(found),
        "Came off": (
            (step.name, f"{step.before:,} -> {step.after:,} characters{step.example and f', first: {step.example}'}")
            for step in found.steps
        ),
        "Secrets": (
            (f"{each.count} x {each.kind}", f"by redaction/{', '.join(each.rules)}" if each.rules else "in escapes")
            for each in found.secrets
        ),
        "Read by": _list_formats(found),
        "Facts": _list_facts(found),
        "Not read": _list_cuts(found),
        "Template": iter(
            (("masked", found.template), *((m.rule, f"{m.text} -> {m.placeholder}") for m in found.masks))
        ),
        "Key": iter((("the hash of these", found.key), *(found.material | {"template": "as above"}).items())),
        "Hint": ((f"for '{words}'", found.hint) for words in filter(None, (found.hint_words,))),
    }
    for title, rows in sections.items():
        for number, (label, value) in enumerate(rows):
            name = f"{'' if number else title:<{_TITLE}}"
            console.print(Text.assemble((name, "bold"), *_fit_row(label, value, console.width)), soft_wrap=True)
    reads = "reads" if found.outcome == "failure" else "would read, were it a failure"
    console.print(Text(f"\nThe agent {reads}", "bold"))
    console.print(Text(plain_lines(found.digest)), soft_wrap=True)


def _fit_row(label: str, value: str, width: int) -> tuple[tuple[str, str], str]:
    # Without a table, which fills lines with blanks; a long label has a line of its own.
    room = max(width - _TITLE - _LABEL, _LABEL)
    first, *rest = textwrap.wrap(printable(value) or "none", room, break_on_hyphens=False)
    indent = "\n" + " " * (_TITLE + _LABEL)
    label = printable(label)
    return (f"{label:<{_LABEL}}" if len(label) < _LABEL else f"{label}{indent}", "dim"), indent.join((first, *rest))


def _list_judgement(found: Explanation) -> Rows:
    certainty = "declared: " if found.certainty == "declared" else ""
    yield found.outcome, f"{certainty}{found.reason}" if found.reason else _SILENT
    yield from (("its closing words", line) for line in filter(None, (found.closing,)))
    yield "kind", f"{found.kind}, for '{found.kind_words}'" if found.kind_words else found.kind


def _list_formats(found: Explanation) -> Rows:
    for (inside, took), group in groupby(found.asked, lambda asked: (asked.inside, asked.took and asked.lines)):
        named = (f"{each.format} ({', '.join(map(repr, each.markers)) or 'any text'})" for each in group)
        done = f"took {count_noun(took, 'line')}" if took else "returned nothing"
        yield f"in {inside}: {done}" if inside else done, ", ".join(named)
    if found.unasked:
        yield "not asked any more", f"{', '.join(found.unasked)}: they stand behind, with a marker in the text"


def _list_facts(found: Explanation) -> Rows:
    for fact in found.facts:
        yield fact.name, fact.value
        if fact.value:
            numbers = f"line{'s' * (len(fact.lines) > 1)} {', '.join(map(str, fact.lines))}"
            source = f"first returned by {fact.source}" if fact.source else "by which step is not known"
            yield "", f"{numbers if fact.lines else 'in no line in these words'}; {source}"


def _list_cuts(found: Explanation) -> Rows:
    if not found.cuts:
        yield "nothing", "each line stands in what the agent reads"
    for cut in found.cuts:
        yield cut.kind, f"{count_noun(cut.lines, 'line')}, first: {cut.example}"
