"""One actionable line where the cause does not say what to do."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.progress import ASSERTION
from otel_errcompact.extract.format import Format, Hint
from otel_errcompact.extract.lexicon import Sense, Words, clues_of
from otel_errcompact.extract.table import listings
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts


def hint_for(facts: Facts, *, may_retry: bool = True) -> str:
    """Return advice in one line; none on retrying unless `may_retry`."""
    return find_hint(facts, may_retry=may_retry)[0]


def find_hint(facts: Facts, *, may_retry: bool = True) -> tuple[str, str]:
    """Return the same advice, and the words that it is for."""
    text = f"{facts.type}: {_cause_of_program(facts)[:_MAX_CAUSE]}"
    if not has_any(text, _list_clues()):
        return "", ""
    pattern, numbers = _join_signs()
    found = {numbers[(sign.lastindex or 0) - 1]: sign[0] for sign in pattern.finditer(text)}
    # The words of a server outweigh a general rule, which may contradict them.
    for number in sorted(found):
        line = hints()[number].advice
        if not _ON_RETRYING.search(line) or (may_retry and not _speaks_of_retrying(facts)):
            return line, found[number]
    return "", ""


def _cause_of_program(facts: Facts) -> str:
    # Assertions and reports of tests quote other failures, to which no hint of theirs applies.
    if ASSERTION.search(facts.type):
        return ""
    is_of_test = facts.type in _OWN_WORDS and facts.format in _list_runners()
    return facts.cause.partition(": ")[0] if is_of_test else facts.cause


@cache
def _list_runners() -> frozenset[str]:
    return frozenset(listing.name for listing in listings() if listing.passes)


def _speaks_of_retrying(facts: Facts) -> bool:
    said = "\n".join((facts.cause[:_MAX_CAUSE], *facts.details)).lower()
    return bool(_RETRYING.find(said))


@cache
def hints() -> tuple[Hint, ...]:
    """Return all hints, the first that applies in front."""
    of_formats = [hint for listing in listings() for hint in listing.hints]
    strong = (hint for hint in of_formats if not hint.is_weak)
    return (*strong, *HINTS, *(hint for hint in of_formats if hint.is_weak))


def _build_exit_signs(status: str) -> tuple[str, ...]:
    """Return patterns for the common forms of an exit status."""
    return (rf"[Ee]xit[^0-9-]{{0,24}}{status}(?![0-9])", rf"code[^0-9-]{{0,3}}{status}(?![0-9])")


_MAX_CAUSE: Final = 1_000
_OWN_WORDS: Final = frozenset({"Error", "error", "Exception", "panic"})
_RETRYING: Final = Words(Sense.RETRYING)
_ON_RETRYING: Final = lazy_pattern(r"\bretry|\bwait\b")

HINTS: Final[tuple[Hint, ...]] = (
    Hint(
        "the program is not installed or not on PATH",
        (*_build_exit_signs("127"), "command not found"),
        ("CalledProcessError", "Command 'jqq' returned non-zero exit status 127."),
    ),
    Hint(
        "the file exists but cannot be executed: check its mode and its first line",
        _build_exit_signs("126"),
        ("exit code 126", "./run.sh: Permission denied"),
    ),
    Hint(
        "killed from outside, most likely for want of memory",
        (*_build_exit_signs("137"), *_build_exit_signs("-9"), "SIGKILL"),
        ("exit code 137", "Killed"),
    ),
    Hint(
        "crashed in native code: look for the extension or the input that does it",
        (*_build_exit_signs("139"), *_build_exit_signs("-11"), "SIGSEGV", "Segmentation fault"),
        ("exit code 139", "Segmentation fault (core dumped)"),
    ),
    Hint(
        "`timeout` stopped the command: give it more time or a smaller task",
        _build_exit_signs("124"),
        ("exit code 124", "make test"),
    ),
    Hint(
        "nothing accepts connections there: start the service, or correct host and port",
        ("Errno 111", "ECONNREFUSED", "ConnectionRefused", "[Cc]onnection refused"),
        ("ConnectionRefusedError", "[Errno 111] Connect call failed ('127.0.0.1', 5432)"),
    ),
    Hint(
        "the host name does not resolve: check its spelling, and whether there is a network",
        ("Errno -[235]", "ENOTFOUND", "EAI_AGAIN", "gaierror", "NameResolutionError", "[Cc]ould not resolve host"),
        ("Error", "getaddrinfo ENOTFOUND db.example.invalid"),
    ),
    Hint(
        "another process holds the port: stop it, or choose another port",
        ("Errno 98", "EADDRINUSE", "Address already in use", "address already in use"),
        ("OSError", "[Errno 98] Address already in use"),
    ),
    Hint(
        "the disk is full: free space before anything else",
        ("Errno 28", "ENOSPC", "[Nn]o space left"),
        ("OSError", "[Errno 28] No space left on device: '/data/x'"),
    ),
    Hint(
        "files or sockets are opened and never closed",
        ("Errno 24", "EMFILE", "[Tt]oo many open files"),
        ("OSError", "[Errno 24] Too many open files"),
    ),
    Hint(
        "the certificate is not trusted or has expired: correct the host, the clock or the trust store",
        ("CERTIFICATE_VERIFY_FAILED", "certificate verify failed"),
        ("SSLError", "certificate verify failed: self-signed certificate"),
    ),
    Hint(
        "install what brings the module into this environment, or correct its name or the import path",
        ("ModuleNotFoundError", "Cannot find module", "Cannot find package"),
        ("ModuleNotFoundError", "No module named 'pandas'"),
    ),
    Hint(
        "the data is not in that encoding: name the right one, or read bytes",
        ("UnicodeDecodeError", "UnicodeEncodeError"),
        ("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ),
    Hint(
        "the text is empty or no JSON at all: look at what was received",
        (
            r"JSONDecodeError: Expecting value[^\n]{0,40}char 0\)",
            "Unexpected end of JSON input",
            r"JSON at position 0\b",
            r"Unexpected token[^\n]{0,80} is not valid JSON",
        ),
        ("json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
    ),
    Hint(
        "the user that runs this has no right to it: choose another place, or ask who has",
        (r"Errno 13\b", "EACCES"),
        ("PermissionError", "[Errno 13] Permission denied: '/etc/app.conf'"),
    ),
    Hint(
        "no answer came in time: ask for less at once, or allow more time",
        (r"Errno 110\b", "ETIMEDOUT", "ReadTimeout", "ConnectTimeout", "TimeoutError: timed out"),
        ("httpx.ReadTimeout", "timed out"),
    ),
    Hint(
        "use a smaller batch or model, or free the memory that other processes hold",
        ("CUDA out of memory", "CUDA error: out of memory"),
        ("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"),
    ),
)
"""Hints that belong to no format, the narrower ones first."""


@cache
def _list_clues() -> tuple[str, ...]:
    # Of the signs of another package no string is known that each of its texts holds.
    return ("",) if any(isinstance(listing, Format) and listing.hints for listing in listings()) else clues_of("hints")


@cache
def _join_signs() -> tuple[re.Pattern[str], tuple[int, ...]]:
    """
    Return one pattern for all hints, and the hint of each group.

    At most words no sign begins, and to find that out for each character once is several times as fast as for each
    sign: so the signs are joined by the character they begin with.
    """
    by_first: dict[str, list[tuple[int, str]]] = {}
    for number, hint in enumerate(hints()):
        for sign in hint.signs:
            firsts, _, rest = sign[1:].partition("]") if sign[0] == "[" else (sign[0], "", sign[1:])
            for first in firsts:
                by_first.setdefault(first, []).append((number, rest))
    alternatives = (f"{first}(?:{'|'.join(f'{rest}()' for _, rest in signs)})" for first, signs in by_first.items())
    pattern = re.compile(f"(?<![A-Za-z0-9])(?:{'|'.join(alternatives)})")
    return pattern, tuple(number for signs in by_first.values() for number, _ in signs)
