"""
How programs say at the end that they failed.

A format knows its programs and how they close: words alone decide nothing, and of a program without a format nothing is
known.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation.programs import rows_of
from otel_errcompact.extract.cleaning.characters import clean
from otel_errcompact.extract.passed import compile_closings
from otel_errcompact.extract.prefilter import Prefilter
from otel_errcompact.extract.table import listings
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.extract.passed import Closings

MAX_CLOSING: Final = 8_000
_LINES_OF_CLOSING: Final = 12
_LINES_OF_TALLY: Final = 60
"""Characters and lines at the end of an output in which a program closes; a runner with a tally may list more below."""

MAX_STACK: Final = 16_000
"""Characters at the end in which a stack that ends it begins."""

OF_SHELL: Final = "shell"
"""What a shell, or a program in its own name, says of a command that it could not run."""

_MAX_BEHIND: Final = 1
"""Lines that are no frames behind the last stack of a program that it ended: its message, a remark of the runtime."""

_OF_FRAMES: Final = frozenset(" \t#}")
_REMARKS: Final = ("note: run with `RUST_BACKTRACE", "Caused by: ")

_REASON: Final = (
    r"(?i:no such (?:file or directory|host|process|device)|permission denied|is a directory|not a directory"
    r"|directory not empty|file exists|no space left on device|read-only file ?system|device or resource busy"
    r"|resource temporarily unavailable|cannot allocate memory|input/output error|too many open files"
    r"|argument list too long|file ?name too long|operation not (?:permitted|supported)|invalid argument"
    r"|exec format error|address already in use|connection (?:refused|reset by peer|timed out)|broken pipe"
    r"|network is unreachable|no route to host|name or service not known|temporary failure in name resolution"
    r"|(?:command )?not found)"
)
"""Errors of systems as `strerror(3)` and resolvers write them."""

_MISUSE: Final = (
    r"(?i:(?:invalid|unrecognized|illegal|ambiguous) (?:option|argument|number|date)\b|unknown (?:option|predicate"
    r"|command|argument)\b|option requires an argument|missing operand|unmatched |syntax error|parse error"
    r"|regex parse error|(?:error: )?syntax error|-e expression #[0-9]{1,4}, char [0-9]{1,6}: |cmd\. line:[0-9]{1,4}: )"
)
"""How a program refuses its own arguments, as `getopt(3)` writes it and the readers of patterns and scripts do."""

_HELP: Final = lazy_pattern(r"(?:Try '[^\n]{1,200} --help'|[Uu]sage: |USAGE:|For more info|See |[Dd]id you mean)")
"""The line behind such a refusal."""

_MAX_HELP: Final = 12
"""Lines of help behind such a refusal: suggestions and the usage are indented, or lines of that form too."""

_MAX_REFUSED: Final = 3


def find_failure(text: str, programs: Sequence[str], arguments: str = "", *, any_program: bool = False) -> str:
    """
    Return the format whose program closes with a failure, or nothing.

    The end of `programs` is not known otherwise. With `any_program` they are not known either: then the last statement
    of any counts.
    """
    tail = clean(text[-MAX_STACK:]).rstrip()
    readers = [program for program in programs if prints_what_others_say(program)]
    if readers and tail.count("\n") < _MAX_REFUSED and _is_refusal(tail.split("\n"), readers, arguments):
        return OF_SHELL
    speaking = [program for program in programs if not prints_what_others_say(program)]
    if not tail or (programs and not speaking):
        return ""
    own = map(_owners_of, speaking)
    if any_program or any(map(runs_any, speaking)):
        return _last_of(tail, (*own, _of_any_program())) or _in_own_name(tail, speaking)
    # What another one says before or behind a program changes nothing.
    found = next(filter(None, (_last_of(tail, (owners,)) for owners in own)), "")
    return found or _in_own_name(tail, speaking)


def formats_of(program: str) -> frozenset[str]:
    """Return the names of the formats that a program prints."""
    return frozenset(owner.name for owner in _owners_of(program).formats)


def runs_any(program: str) -> bool:
    """Tell whether a program runs what files or hosts tell it."""
    return program.endswith(".sh") or any(row.runs_any for row in rows_of(program))


def prints_what_others_say(program: str) -> bool:
    """Tell whether a program prints what others have said."""
    return any(row.reads for row in rows_of(program))


def _last_of(tail: str, groups: Sequence[Prefilter[Closings]]) -> str:
    telling = [owner for owners in groups for owner in owners.candidates(tail)]
    if not telling:
        return ""
    failed, name = -1, ""
    closing, tallies = _start_of(tail, _LINES_OF_CLOSING), _start_of(tail, _LINES_OF_TALLY)
    for owner in telling:
        start = closing if owner.passed is None else tallies
        at = max(_last_match(owner.failed, tail, start), _last_stack(owner.stacks, tail))
        if at > failed:
            failed, name = at, owner.name
    if failed < 0:
        return ""
    passed = max(_last_match(owner.passed, tail, tallies) for owners in groups for owner in owners.formats)
    return name if failed > passed else ""


def _start_of(tail: str, lines: int) -> int:
    at, least = len(tail), max(0, len(tail) - MAX_CLOSING)
    for _ in range(lines):
        at = tail.rfind("\n", least, at)
        if at < 0:
            return tail.find("\n", least) + 1 if least else 0
    return at + 1


def _last_match(pattern: re.Pattern[str] | None, tail: str, start: int) -> int:
    if pattern is None:
        return -1
    return max((found.start() for found in pattern.finditer(tail, start)), default=-1)


def _last_stack(pattern: re.Pattern[str] | None, tail: str) -> int:
    # A stack with an answer behind it was caught.
    at = _last_match(pattern, tail, 0)
    if at < 0:
        return -1
    behind = tail[tail.find("\n", at) + 1 :].split("\n") if "\n" in tail[at:] else []
    unframed = sum(line[:1] not in _OF_FRAMES and not line.startswith(_REMARKS) for line in behind if line)
    return at if unframed <= _MAX_BEHIND else -1


@cache
def _of_any_program() -> Prefilter[Closings]:
    # Whatever runs them, runners and checkers end with a tally; of other programs a stack that ends all is known.
    owners = (compile_closings(listing) for listing in listings() if listing.programs)
    return _filter_by_clues(
        owner if owner.passed else owner._replace(failed=None) for owner in owners if owner.passed or owner.stacks
    )


@lru_cache(maxsize=256)
def _owners_of(program: str) -> Prefilter[Closings]:
    words = program.split(" ")
    names = {" ".join(words[:number]) for number in range(1, len(words) + 1)}
    return _filter_by_clues(compile_closings(each) for each in listings() if not names.isdisjoint(each.programs))


def _filter_by_clues(owners: Iterable[Closings]) -> Prefilter[Closings]:
    owners = tuple(owners)
    return Prefilter(owners, [owner.clues for owner in owners])


# --- shells, and programs in their own names -------------------------------------------------------------------------


def _in_own_name(tail: str, programs: Sequence[str]) -> str:
    tail = tail[-MAX_CLOSING:]
    last = tail[tail.rfind("\n") + 1 :]
    if _HELP.match(last):
        above = reversed([line for line in tail.split("\n") if line.strip()][-_MAX_HELP:-1])
        last = next((line for line in above if line[:1] != " " and not _HELP.match(line)), last)
    named = _own_name(frozenset(word for program in programs for word in program.split(" ") if word))
    return OF_SHELL if named.match(last) or _of_shell().match(last) else ""


@cache
def _of_shell() -> re.Pattern[str]:
    return re.compile("|".join(next(listing.closings for listing in listings() if listing.name == OF_SHELL)))


@lru_cache(maxsize=256)
def _own_name(names: frozenset[str]) -> re.Pattern[str]:
    own = "|".join(map(re.escape, sorted(names))) or r"(?!)"
    subject = (
        r"(?:error: )?(?:(?:[Cc]annot|[Cc]an't|[Cc]ould not|failed to) [a-z ]{1,40}?)?[\"'\u2018]?"
        r"(?P<subject>[^\n]{1,400}?)[\"'\u2019]?(?: for reading)?: "
    )
    return re.compile(rf"(?:/?\S{{0,100}}/)?(?:{own}): (?:{subject})?(?:{_REASON}\W{{0,3}}\Z|{_MISUSE})")


def _is_refusal(lines: Sequence[str], programs: Sequence[str], arguments: str) -> bool:
    # All that a program which prints what others say has to say of itself: of what it was asked for.
    named = _own_name(frozenset(word for program in programs for word in program.split(" ") if word))
    found = [named.match(line) for line in lines]
    if found[0] is not None and found[0]["subject"] is None:
        return True
    return all(match is not None and _names_subject(arguments, match["subject"]) for match in found)


def _names_subject(arguments: str, subject: str | None) -> bool:
    return subject is not None and re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", arguments) is not None
