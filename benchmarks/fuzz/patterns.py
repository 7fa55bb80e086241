"""
Every pattern of the package, and whether its time grows faster than a text that is made against it.

    python -m benchmarks.fuzz.patterns [PATTERN OF A PATH ...]

The texts are derived from the pattern itself: what its repeats repeat, and what stands before them, many times over,
followed by what fails the rest. Where one grows faster, what takes texts of others is given the same text, since most
patterns stand behind a bound on the length of a line. Exit code 1 where none does.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from contextlib import contextmanager
from functools import cache, partial
from math import inf
from pathlib import Path

# ruff: noqa: SLF001 - patterns are noted where the package makes them, and what they are made of is private to `re`
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from benchmarks.fuzz.growth import LIMIT_S, MOST_TIMES, Growth, find_growth
from tests.core import PACKAGES, ROOT, list_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType

SHORT: Final = 1_000
SUSPECT_S: Final = 0.005
"""What takes less for a text `MOST_TIMES` as long is linear: 0.15 us for each character."""

SHORT_OF_ENTRIES: Final = 8_000
ENTRY_SUSPECT_S: Final = 0.05
"""The same for what takes texts."""

ENDS: Final = ("\x00", "\n\x00")
LONG: Final = 500
"""A repeat that is bounded by less costs a constant factor and does not grow."""

MOST_SAMPLES: Final = 3
"""Of one part of a pattern."""

MATCHING: Final = frozenset({"find", "find_all", "find_blocks", "place_of"})
"""Functions of the grammar that only match the forms that they are given."""

SEARCHING: Final = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})


class Used(NamedTuple):
    """
    A pattern, where it is made, and how it is used.
    """

    where: str
    source: str
    flags: int
    searches: bool
    """Whether it may begin to match anywhere in a text."""


class Finding(NamedTuple):
    """
    A pattern whose time grows faster than its text.
    """

    where: str
    source: str
    method: str
    text: str
    """What is repeated, and the end."""

    growth: Growth | None
    """None where a text of a line has no end."""

    reached: str
    """What takes texts and is slow by it, or empty where a bound stands in front of the pattern."""


class _OutOfTimeError(Exception):
    """
    One text takes too long.
    """


def collect() -> list[Used]:
    """
    Return all patterns that importing every module of the package makes.

    It has to run before the package is imported: each pattern is noted where it is made.
    """
    from otel_errcompact.runtime import lazy

    between = {lazy.__file__, *(str(PACKAGES[""] / "extract" / name) for name in ("forms.py", "grammar.py"))}
    made: list[tuple[Any, str, int, str | Any, int]] = []
    plain = lazy._UsedPattern.__init__

    def note(self: Any, source: Any, flags: int) -> None:
        plain(self, source, flags)
        frame = sys._getframe(1)
        while frame.f_code.co_filename in between and _is_ours(frame.f_back):
            frame = cast("FrameType", frame.f_back)
        made.append((self, frame.f_code.co_filename, frame.f_lineno, source, flags))

    lazy._UsedPattern.__init__ = note  # type: ignore[method-assign]
    try:
        _import_all()
    finally:
        lazy._UsedPattern.__init__ = plain  # type: ignore[method-assign]
    from otel_errcompact.extract import forms

    of_rules = [(file, rule) for file, rules in _rules() for rule in rules._rules]
    made += [(rule.form, file, 1, forms.fill(rule.pattern), 0) for file, rule in of_rules]
    only_match = {id(rule.form) for _, rule in of_rules}
    methods = _methods()
    found: dict[tuple[str, int], Used] = {}
    names = {id(value): name for name, value in _module_values()}
    for pattern, file, line, source, flags in made:
        text = source if isinstance(source, str) else source()
        where, name = f"{Path(file).relative_to(ROOT)}:{line}", names.get(id(pattern), "")
        used = methods.get(f"{where.partition(':')[0]}:{name}" if name.startswith("_") else name, set())
        found.setdefault(
            (text, flags),
            Used(where, text, flags, searches=id(pattern) not in only_match and (not used or bool(used & SEARCHING))),
        )
    return sorted(found.values())


def _import_all() -> None:
    for package in PACKAGES.values():
        for module in pkgutil.walk_packages([str(package)], f"{package.name}."):
            if ".integrations." not in module.name and not module.name.endswith("__main__"):  # each needs its framework
                importlib.import_module(module.name)


def _is_ours(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename.startswith(tuple(map(str, PACKAGES.values())))


def _module_values() -> Iterator[tuple[str, object]]:
    for name, module in tuple(sys.modules.items()):
        if name.startswith("otel_errcompact"):
            yield from tuple(vars(module).items())


def _rules() -> Iterator[tuple[str, Any]]:
    """Return the tables of rules, each with the file it stands in."""
    from otel_errcompact.extract.grammar import Rules

    for name, module in tuple(sys.modules.items()):
        if name.startswith("otel_errcompact") and module.__file__ is not None:
            yield from ((module.__file__, value) for value in vars(module).values() if isinstance(value, Rules))


def _methods() -> dict[str, set[str]]:
    """Return which methods are called on which names, over the whole package."""
    used: dict[str, set[str]] = {}
    for _, path in list_modules():
        text = path.read_text(encoding="utf-8")
        if not re.search(r"lazy_pattern|\bform\(", text) and not re.search(
            r"\b_?[A-Z][A-Z0-9_]+\.(?:match|search|finditer|sub)\b", text
        ):
            continue
        tree = ast.parse(text)
        called = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        finding = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
        for node in finding:
            if node.func.id in MATCHING:
                called |= dict.fromkeys(map(id, node.args), "match")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.lstrip("_").isupper():
                # Handed on, anything may be done with it. A private name is its module's own.
                place = f"{path.relative_to(ROOT)}:{node.id}" if node.id.startswith("_") else node.id
                used.setdefault(place, set()).add(called.get(id(node), "search"))
    return used


def attacks(source: str, flags: int = 0) -> list[tuple[str, str, str]]:
    """Return prefixes, pumped parts and ends made against a pattern."""
    tree = parser.parse(source, flags)
    pumps: dict[tuple[str, str], None] = {}
    _walk(tree, "", pumps)
    return [(before, part, after) for before, part in pumps for after in ENDS]


def _walk(tree: Iterable[tuple[Any, Any]], before: str, pumps: dict[tuple[str, str], None]) -> None:  # noqa: C901, PLR0912 - one for each node
    """Gather what can be repeated, with what stands before it."""
    items = list(tree)
    for index, (kind, value) in enumerate(items):
        here = before + "".join(_samples([item], 1)[0] for item in items[:index])
        if here and _is_long(kind, value):
            # What begins a match, many times over: a search starts anew at each.
            pumps.setdefault(("", here), None)
            pumps.setdefault(("", here + "\n"), None)
        if kind in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
            body = value[2]
            if _is_long(kind, value):
                for sample in _samples(body, MOST_SAMPLES):
                    if sample:
                        pumps.setdefault((here, sample), None)
                        pumps.setdefault(("", sample), None)
                # What this repeat and what follows both take.
                for sample in _samples(items[index + 1 : index + 3], MOST_SAMPLES):
                    if sample:
                        pumps.setdefault((here, sample), None)
            _walk(body, here, pumps)
        elif kind is sre.SUBPATTERN:
            _walk(value[-1], here, pumps)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                _walk(branch, here, pumps)
        elif kind in {sre.ASSERT, sre.ASSERT_NOT}:
            _walk(value[1], here, pumps)
        elif kind is getattr(sre, "ATOMIC_GROUP", None):
            _walk(value, here, pumps)


def _is_long(kind: Any, value: Any) -> bool:
    """Whether a part of a pattern repeats something, directly, without a bound that counts."""
    if kind in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        return value[1] is sre.MAXREPEAT or value[1] >= LONG
    return False


def _samples(tree: Iterable[tuple[Any, Any]], most: int) -> list[str]:
    """Return texts that a part of a pattern matches, as far as that can be told."""
    texts = [""]
    for kind, value in tree:
        parts = _samples_of(kind, value, most)
        if len(texts) * len(parts) <= most:
            texts = [text + part for text in texts for part in parts]
        else:
            # Each choice once, not all of their combinations.
            count = max(len(texts), len(parts))
            texts = [texts[n % len(texts)] + parts[n % len(parts)] for n in range(min(count, most))]
    return texts


def _samples_of(kind: Any, value: Any, most: int) -> list[str]:  # noqa: PLR0911 - one for each node
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind is sre.NOT_LITERAL:
        return [char for char in "a 1\n" if ord(char) != value][:most]
    if kind is sre.ANY:
        return ["a", " "][:most]
    if kind is sre.IN:
        return _members(value, most)
    if kind is sre.BRANCH:
        found = [sample for branch in value[1] for sample in _samples(branch, 1)]
        return found[:most] or [""]
    if kind is sre.SUBPATTERN:
        return _samples(value[-1], most)
    if kind in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        least, upper, body = value
        times = max(least, 1 if upper else 0)
        return [sample * min(times, 50) for sample in _samples(body, most)]
    if kind is getattr(sre, "ATOMIC_GROUP", None):
        return _samples(value, most)
    return [""]  # places, look-around and references


_CANDIDATES: Final = [*"a 1A\n\t.:/\\'\"([{<-=_|^~,;#@$%>)]}0zZ9!?*+&`", "\xe9", "\u2500", "\x00"]


def _members(items: Sequence[tuple[Any, Any]], most: int) -> list[str]:
    pattern = re.compile(_class_source(items), re.DOTALL)
    found = [char for char in _CANDIDATES if pattern.match(char)]
    found += [chr(value) for kind, value in items if kind is sre.LITERAL and chr(value) not in found]
    found += [chr(value[0]) for kind, value in items if kind is sre.RANGE and chr(value[0]) not in found]
    return found[:most] or [""]


_CATEGORIES: Final = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _class_source(items: Sequence[tuple[Any, Any]]) -> str:
    parts = []
    for kind, value in items:
        if kind is sre.NEGATE:
            parts.append("^")
        elif kind is sre.LITERAL:
            parts.append(re.escape(chr(value)))
        elif kind is sre.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif kind is sre.CATEGORY:
            parts.append(_CATEGORIES[value])
    return f"[{''.join(parts)}]"


def _seconds(pattern: re.Pattern[str], method: str, text: str, *, limit_s: float = LIMIT_S) -> float:
    """Return the processor seconds of a pattern on a text, or infinity where it was stopped."""
    try:
        with _stopped_after(limit_s):
            started = time.thread_time()
            if method == "finditer":
                for _ in pattern.finditer(text):
                    pass
            else:
                pattern.match(text)
            return time.thread_time() - started
    except _OutOfTimeError:
        return inf


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Stop a pattern; whatever has a state of its own would be left with half of it."""

    def stop(*_: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _grown(attack: tuple[str, str, str], size: int) -> str:
    before, part, after = attack
    return before + part * (size // len(part)) + after


def check(used: Used) -> Finding | None:
    """Return the first text on which a pattern's time grows faster than the text, and what is slow by it."""
    compiled = re.compile(used.source, used.flags)
    method = "finditer" if used.searches else "match"
    for attack in attacks(used.source, used.flags):
        shown = repr((attack[0][:40], attack[1][:40], attack[2]))
        measure, text_of = partial(_seconds, compiled, method), partial(_grown, attack)
        # From small to large, so that what is exponential ends as soon as it shows.
        if any(measure(text_of(size)) == inf for size in (16, 32, 64, 250, SHORT)):
            return Finding(used.where, used.source, method, shown, None, "any text of a line")
        if measure(text_of(MOST_TIMES * SHORT), limit_s=SUSPECT_S) < SUSPECT_S:
            continue
        growth = find_growth(measure, text_of, SHORT)
        if growth is not None:
            return Finding(used.where, used.source, method, shown, growth, _reached(used.where, attack))
    return None


def _reached(where: str, attack: tuple[str, str, str]) -> str:
    """Return the name of what takes texts and takes too long by one with the attack in it."""
    room, name = (
        where.removeprefix("packages/").split("/")[where.startswith("otel_")],
        Path(where.partition(":")[0]).stem,
    )
    if room == "lab":  # sessions have no bound of their own
        return "recorded sessions"
    heads = ["", *(f"{marker}\n" for marker in _markers().get(name, ())[:2])]
    for entry, act in _entries(room).items():
        for head in heads:
            measure, text_of = partial(_taken, act), partial(_grown, (head + attack[0], *attack[1:]))
            lasts = measure(text_of(MOST_TIMES * SHORT_OF_ENTRIES)) >= ENTRY_SUSPECT_S
            if lasts and find_growth(measure, text_of, SHORT_OF_ENTRIES) is not None:
                return entry
    return ""


def _taken(act: Callable[[str], object], text: str) -> float:
    from benchmarks.quality.ours import forget

    forget()
    started = time.thread_time()
    act(text)
    return time.thread_time() - started


@cache
def _markers() -> dict[str, tuple[str, ...]]:
    from otel_errcompact.extract.table import listings

    return {listing.name: tuple(listing.markers) for listing in listings()}


@cache
def _entries(room: str) -> dict[str, Callable[[str], object]]:
    from otel_errcompact.compactor.classify import classify
    from otel_errcompact.detector.results import classify_result
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.errors import RawError
    from otel_errcompact.redaction.redact import redact
    from otel_errcompact_context import overflow_in_body

    if room == "context":
        return {"the body of a refusal": lambda text: overflow_in_body(text, 400)}
    if room == "redaction":
        return {"redaction": redact}
    return {
        "the class of a text": lambda text: classify(RawError(text=text)),
        "the verdict on a result": lambda text: classify_result(text, tool="bash", arguments="make"),
        "a digest": lambda text: Ledger().observe("run", RawError(text=text)),
    }


def main(parts: Sequence[str]) -> int:
    """Check all patterns, or those of some files, and print what grows; return the exit code."""
    started = time.process_time()
    patterns = [used for used in collect() if not parts or any(re.search(part, used.where) for part in parts)]
    reached = bounded = 0
    for finding in filter(None, map(check, patterns)):
        growth = finding.growth
        times = "no end" if growth is None else f"{growth.short_s * 1_000:.1f}, over {growth.long_s * 1_000:.0f} ms"
        reached += bool(finding.reached)
        bounded += not finding.reached
        how = f"REACHED by {finding.reached}" if finding.reached else "behind a bound"
        print(f"{how}: {finding.where} {finding.method} {finding.text}: {times}", flush=True)
        print(f"    {finding.source[:160]!r}")
    taken = time.process_time() - started
    print(
        f"{len(patterns)} patterns: {bounded} grow faster than their text behind a bound, "
        f"{reached} where texts of any length reach them; {taken:.0f} s of processor time"
    )
    return 1 if reached else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
