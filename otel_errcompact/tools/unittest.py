"""Output of unittest, doctest, and runners that print like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.expectations import DOCTEST, member_of, read_example, strip_sources
from otel_errcompact.extract.grammar import Facts, Format, Found, Lines, Location, Members, Text, form
from otel_errcompact.extract.members import Member, facts_of_members, to_member
from otel_errcompact.extract.reading import NO_MESSAGE
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.python import chain_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_IMPORTED: Final = "unittest.loader._FailedTest"

_HEADING: Final = form(
    r"(?:FAIL|ERROR): (?P<method>[^\s()]{1,300}) \((?P<owner>[\w.<>-]{1,500})\)(?P<subtest> [\[(].{1,500})?$"
)
_VERDICT: Final = form(r"FAILED \((?P<counts>(?:[a-z ]{1,30}={number}(?:, )?){1,5})\)$")
_FAILURES: Final = form(r"(?:failures|errors)=({number})")
_EXAMPLE: Final = form(r"{script}, in (?P<name>{word})$")
_STARS: Final = "*" * 70
_CAPTURED: Final = ("Stdout:", "Stderr:")


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests or examples."""
    lines = text.lines
    blocks = list(_split_blocks(lines))
    total = sum(map(int, _FAILURES.findall(_find_verdict(lines))))
    members = [_build_member(block) for block in blocks] or list(_read_examples(lines)) or _cut_off(text, total)
    if not members:
        return None
    only_modules = bool(blocks) and all(block.is_module for block in blocks)
    unit = "module" if only_modules else "test" if blocks else "example"
    total = total if blocks else 0
    return facts_of_members(strip_sources(members), unit=unit, total=total)


class _Block(NamedTuple):
    """What is printed for one test."""

    heading: Found
    lines: Lines

    @property
    def is_module(self) -> bool:
        """Whether this is a module that could not be imported."""
        return self.heading["owner"].startswith(_NOT_IMPORTED)

    @property
    def name(self) -> str:
        """The test as its class has it, or the module."""
        method, owner = self.heading["method"], self.heading["owner"]
        if self.is_module:
            return method
        owner = owner.removesuffix(f".{method}").rpartition(".")[2]
        return f"{owner}.{method}{self.heading['subtest'] or ''}"


def _split_blocks(lines: Lines) -> Iterator[_Block]:
    # Yield what stands below each heading, up to the next rule.
    number = 0
    while number < len(lines):
        heading = _HEADING.match(lines[number]) if lines[number][:1] in ("F", "E") else None
        number += 1
        if heading is None:
            continue
        start = next((at for at in range(number, min(number + 20, len(lines))) if _is_rule(lines[at])), number - 1) + 1
        number = next((at for at in range(start, len(lines)) if _is_rule(lines[at])), len(lines))
        said = lines[start:number]
        captured = next((at for at, line in enumerate(said) if line in _CAPTURED), len(said))
        yield _Block(heading, said[:captured])


def _is_rule(line: str) -> bool:
    return line.startswith(("=====", "-----")) and not line.strip("=-")


def _build_member(block: _Block) -> Member:
    # Return a failed test: by its expectation, or by the exception that was raised.
    chain = chain_of("\n".join(block.lines))
    if chain:
        return member_of(chain, block.name, block.heading["method"])
    said = next((line.strip() for line in block.lines if line.strip()), NO_MESSAGE)
    return Member("Failed", said, Location(function=block.heading["method"]), block.name)


def _read_examples(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        if line == "Failed example:" and number and (place := _EXAMPLE.match(lines[number - 1])):
            end = next((at for at in range(number, len(lines)) if lines[at].startswith(_STARS)), len(lines))
            said = lines[number + 1 : end]
            location = Location(function=place["name"], file=place["file"], line=int(place["line"]))
            yield Member(DOCTEST, read_example(said), location, assertion=True, key=said[0].strip() if said else "")


def _find_verdict(lines: Lines) -> str:
    for line in reversed(lines):
        found = _VERDICT.match(line) if line.startswith("FAILED (") else None
        if found is not None:
            return found["counts"]
    return ""


def _cut_off(text: Text, total: int) -> list[Member]:
    # Return what the end of an output says whose tests are cut off: the last traceback, or no more than the counts.
    if not total:
        return []
    chain = chain_of(text.body)
    if chain:
        return [to_member(facts_of(chain))]
    return [Member("Failed", f"{total} tests failed: {_find_verdict(text.lines)}", key="tests failed")]


FORMAT: Final = Format(
    name="unittest",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("FAIL: ", "ERROR: ", "FAILED (", "Failed example:"),
    closings=(
        r"(?:FAIL|ERROR): \w{1,100} \([\w.]{1,200}\)",
        r"\*{3}Test Failed\*{3} [1-9]",
        r"FAILED \((?:failures|errors|unexpected successes)=",
    ),
    passes=(r"OK(?: \([^)\n]*\))?$",),
)
