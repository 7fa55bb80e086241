"""Ruby's backtraces in old and new order, syntax errors, and what Bundler, Rake and Rails say."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Text,
    find_all,
    form,
    place_of,
)
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, Failure
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.extract.stacks.ruby import PLACE, frame_of, is_own, matched_frame
from otel_errcompact.extract.statements import is_exception_name
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.extract.stacks.frames import Frame

_HEADER: Final = form(rf"{PLACE}:in [`'](?P<function>[^'\n]{{1,300}})': (?P<message>.*)$")
_TYPED: Final = form(r"(?P<message>.*?) ?\((?P<type>[A-Z]\w{0,100}(?:::[A-Z]\w{0,100}){0,10})\)$")
_LOGGED: Final = form(r"(?P<type>[A-Z]\w{0,100}(?:::[A-Z]\w{0,100}){0,10})(?: \((?P<rails>.*)\):?|: (?P<message>.*))$")
_UNHANDLED: Final = "unhandled exception"
_SYNTAX: Final = form(
    r"(?:ruby: )?(?P<file>[^\s:][^:\n]{0,400}):{line}: (?P<message>syntax errors?[, ].*?)(?: \(SyntaxError\))?$"
)
_PRISM: Final = form(r">\s{0,8}{line} \| (?P<source>.*)$")
_PRISM_SAYS: Final = form(r"\s{0,8}\|\s{1,400}\^[\^~ ]{0,200} (?P<message>[a-z'`].*)$")
_BUNDLER: Final = form(
    r"(?:(?P<type>Bundler::\w{1,60}|Gem::[\w:]{1,80}): )?(?P<message>(?:Could not find (?:gem |compatible versions"
    r"|[\w.-]{1,100}-[0-9])|Bundler could not find compatible versions|Your Ruby version is "
    r"|You have already activated |There was an error (?:parsing|while (?:trying to )?load)"
    r"|An error occurred while installing |Failed to build gem native).*)$"
)
_INSTALLERS: Final = ("Bundler::", "Gem::")

_MAX_MESSAGE: Final = 30
"""Lines of one message."""

_MAX_CHAINS: Final = 50
"""Chains of one text that are looked at."""

_CAUSE: Final = "Caused by:"
_ANNOUNCED: Final = ("rake aborted!", "rails aborted!", "bin/rails aborted!", _CAUSE)
_MAX_SQL: Final = 200
"""Lines of a message that repeats a statement of SQL."""

_MAX_LOOSE: Final = 12
"""Lines before a bare backtrace among which type and message are looked for."""


def read(text: Text) -> Facts | None:
    """Return the facts of the last chain of exceptions in `text`, or of the statement that stands in its place."""
    lines = text.lines
    chains = _read_chains(lines)
    if chains:
        return facts_of_stacks(chains)
    return _read_syntax_error(lines) or _read_bundler(lines)


# --- backtraces ------------------------------------------------------------------------------------------------------


def _read_chains(lines: Lines) -> list[tuple[Failure, ...]]:
    # Return all chains, each outermost first: Ruby prints an exception, then its cause, then the cause's cause.
    chains: list[list[Failure]] = []
    number, last_end = 0, 0
    while number < len(lines) and len(chains) < _MAX_CHAINS:
        failure, end = _read_exception(lines, number)
        if failure is not None:
            is_cause = number == last_end or _CAUSE in lines[last_end:number]
            if chains and is_cause and len(chains[-1]) < MAX_CHAIN:
                chains[-1].append(failure)
            else:
                chains.append([failure])
            last_end = end
        number = end
    return [tuple(chain) for chain in chains]


def _read_exception(lines: Lines, number: int) -> tuple[Failure | None, int]:
    # Read the exception that begins at a line, if any, and tell where to go on.
    line = lines[number]
    if ":in " not in line:
        return None, number + 1
    found = _HEADER.match(line)
    if found is not None:
        return _read_printed(found, lines, number)
    frames, end = _read_callers(lines, number)
    if not frames:
        return None, number + 1
    return _read_reversed(lines, number, frames, end) or (_find_bare_exception(lines, number, frames), end)


def _read_printed(found: Found, lines: Lines, number: int) -> tuple[Failure | None, int]:
    # Read `file:line:in 'method': message (Type)`, further lines of the message, and the callers.
    said = [found["message"]]
    end = number + 1
    while end < len(lines) and end - number < _MAX_MESSAGE and not lines[end].lstrip().startswith("from "):
        if _HEADER.match(lines[end]):
            break
        said.append(lines[end])
        end += 1
    frames, stop = _read_callers(lines, end)
    typed = _TYPED.match(said[0])
    if typed is None and said[0] != _UNHANDLED and not frames:
        return None, number + 1
    stop = stop if frames else number + 1
    said = said if frames else said[:1]
    kind = typed["type"] if typed is not None else "RuntimeError"
    message = _clean_message([typed["message"] if typed is not None else said[0], *said[1:]])
    return _build_failure(kind, message, [matched_frame(found), *frames]), stop


def _read_callers(lines: Lines, start: int) -> tuple[list[Frame], int]:
    frames: list[Frame] = []
    end = start
    while end < len(lines):
        line = lines[end].strip()
        frame = frame_of(line) if _HEADER.match(line) is None else None
        if frame is None and not line.startswith("... "):
            break
        if frame is not None:
            frames.append(frame)
        end += 1
    return frames, end


def _read_reversed(lines: Lines, number: int, frames: Sequence[Frame], end: int) -> tuple[Failure | None, int] | None:
    if not re.match(r"\s*[0-9]{1,5}: from ", lines[number]):
        return None
    found = _HEADER.match(lines[end]) if end < len(lines) else None
    if found is None:
        return None
    typed = _TYPED.match(found["message"])
    kind, message = (typed["type"], typed["message"]) if typed is not None else ("RuntimeError", found["message"])
    return _build_failure(kind, message, [matched_frame(found), *reversed(frames)]), end + 1


def _find_bare_exception(lines: Lines, number: int, frames: Sequence[Frame]) -> Failure | None:
    above = takewhile(lambda at: frame_of(lines[at]) is None, range(number - 1, max(-1, number - _MAX_SQL), -1))
    announced = next((at for at in above if lines[at] in _ANNOUNCED), None)
    heads = range(number - 1, max(-1, number - _MAX_LOOSE), -1) if announced is None else range(announced + 1, number)
    for at in heads:
        found = _LOGGED.match(lines[at].strip())
        if found is not None and (
            announced is not None or found["rails"] is not None or is_exception_name(found["type"])
        ):
            said = [found["rails"] or found["message"] or "", *lines[at + 1 : number]]
            return _build_failure(found["type"], _clean_message(said), frames)
    return None


def _clean_message(said: Iterable[str]) -> str:
    # Return a message without the source line that Ruby shows with it, which stands at the place itself.
    kept = [line.strip() for line in said]
    carets = {number for number, line in enumerate(kept) if line and not line.strip("^~ ")}
    return "\n".join(
        line for number, line in enumerate(kept) if line and number not in carets and number + 1 not in carets
    )


def _build_failure(kind: str, message: str, frames: Sequence[Frame]) -> Failure:
    own = [frame for frame in frames if is_own(frame.file)]
    if kind == "SystemStackError":
        # Ruby prints the frames at either end.
        calls = [(frame, 1) for frame in reversed(frames)]
        recursion = recursion_of(calls, lambda frame: is_own(frame.file), is_cut=True)
        place = recursion.place if recursion is not None else None
        return Failure(kind, message, place, place, recursion=recursion)
    place = _find_enclosing_frame(own)
    if place is None and kind.startswith(_INSTALLERS):
        return Failure(kind, message)
    gem = next((frame for frame in frames if "/gems/" in frame.file), None)
    if gem is None or kind.startswith(_INSTALLERS) or (own and frames.index(own[0]) < frames.index(gem)):
        return Failure(kind, message, place, place or next(iter(frames), None))
    return Failure(kind, message, place, gem._replace(file=gem.file.rpartition("/gems/")[2]))


def _find_enclosing_frame(own: Sequence[Frame]) -> Frame | None:
    if not own:
        return None
    first = own[0]
    same = [frame for frame in own if (frame.file, frame.line) == (first.file, first.line)]
    return same[-1] if same[-1].function else first


# --- statements ------------------------------------------------------------------------------------------------------


def _read_syntax_error(lines: Lines) -> Facts | None:
    for number, line in enumerate(lines):
        found = _SYNTAX.match(line) if ": syntax error" in line else None
        if found is None:
            continue
        facts = Facts(
            type="SyntaxError",
            cause=clip(found["message"].removeprefix("syntax error, ")),
            location=place_of(found),
            details=details(f"> {other.strip()}" for other in lines[number + 1 : number + 2] if other.startswith("  ")),
        )
        return _pointed_at(facts, lines[number + 1 :])
    return None


def _pointed_at(facts: Facts, lines: Lines) -> Facts:
    sources = find_all(_PRISM, lines)
    said = [found["message"] for line in lines if (found := _PRISM_SAYS.match(line)) is not None]
    if not said or not sources:
        return facts
    return replace(
        facts,
        cause=clip(said[0]),
        location=Location(file=facts.location.file, line=int(sources[0]["line"])),
        details=details((f"> {sources[0]['source']}", *said[1:])),
    )


def _read_bundler(lines: Lines) -> Facts | None:
    # Read the statements of Bundler and RubyGems.
    for number, line in enumerate(lines):
        found = _BUNDLER.match(line.removeprefix("[!] "))
        if found is not None:
            more = [other for other in lines[number + 1 : number + 6] if other.strip(" #-")]
            return Facts(type=found["type"] or "BundlerError", cause=clip(found["message"]), details=details(more))
    return None


FORMAT: Final = Format(
    name="ruby",
    read=read,
    markers=(":in `", ":in '", ": syntax error", "Could not find gem ", "Bundler"),
    commands=(
        Command("ruby", prints="ruby rspec", interprets=True, speaks="ruby"),
        Command("rails, bin/rails", prints="ruby rspec", subcommands="*"),
        Command("rails db", subcommands="*"),
        Command("rake", prints="ruby rspec", subcommands="*", runs_any=True),
        Command("bundle, gem", subcommands="*"),
        Command("bundle exec", wraps=True),
        Command("rubocop", prints="ruby compilers"),
    ),
    closings=(
        r"[^\s:]{1,300}:[0-9]{1,7}:in [`'][^\n]{1,300}: [^\n]{1,2000} \([A-Z][\w:]{1,100}\)$",
        r"ERROR: {2}(?:Could not find|While executing|Error installing|Failed to)",
        r"(?:Could not find gem|Could not find \S{1,80} in |Bundler could not find) ?",
        r"(?:rake|(?:bin/)?rails) aborted!$|Tasks: TOP => \S",
        r"[0-9]+ files? inspected, [1-9][0-9]* offenses? detected",
    ),
)
