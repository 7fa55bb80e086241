"""Inputs: what real tools, sessions and message lists say, changed in ways that break readers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parents[2]
MAX_BYTES: Final = 6_000
"""Of an input: long ones are tried where growth is measured."""

ODD: Final = (
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m", b"\x1b]8;;", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\x0b"),
    *(b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xe2\x80\x8b", b"\xf0\x9f\x98\x80", b"\\u0000", b"\\ud800"),
    *(b"'", b'"', b"`", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"|", b"=", b":", b",", b"%s", b"{}"),
    *(b"null", b"true", b"NaN", b"Infinity", b"1e999", b"-0", b"9" * 400, b"0x", b"[REDACTED:token]", b"[x]", b"```"),
)
STRANGE: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "\x00", "\ud800", "x" * 300, [], {}, [[]]),
    *(
        {"type": "text"},
        {"": None},
        [None],
        [{"role": None}],
        "error",
        {"error": {"message": 1}},
        "2024-13-45T99:99:99Z",
    ),
)


@cache
def seeds() -> tuple[bytes, ...]:
    """Return the texts of the corpus, cut to the size of an input."""
    return tuple(path.read_bytes()[:MAX_BYTES] for path in sorted((ROOT / "corpus").glob("*/*.txt")))


@cache
def records() -> tuple[tuple[str, bytes], ...]:
    """Return small recorded sessions with the suffixes of their files."""
    folder = ROOT / "packages" / "lab" / "tests" / "transcripts" / "samples"
    found = [(path.suffix, path.read_bytes()[: 5 * MAX_BYTES]) for path in sorted(folder.iterdir()) if path.is_file()]
    aider = b"# aider chat started at 2024-08-05 19:33:02\n\n#### fix it\n\n> Applied edit to a.py  \n\n"
    aider += b"#### I ran this command:\n\n#### pytest\n\n#### And got this output:\n\n#### E   boom\n"
    return (*found, (".md", aider))


@cache
def lists() -> tuple[Any, ...]:
    """Return message lists of every provider."""
    from packages.context.tests.conversations import FORMATS, long_conversation

    return tuple(long_conversation(format_, messages=12) for format_ in FORMATS)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with some changes."""
    for _ in range(chance.choice((0, 1, 1, 2, 3, 6, 12))):
        data = _change(data, chance)
    return data[: 4 * MAX_BYTES]


def _change(data: bytes, chance: random.Random) -> bytes:  # noqa: PLR0911 - one for each change
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 1, 4, 20, 200)))
    match chance.randrange(10):
        case 0:
            return data[:at] + data[end:]
        case 1:
            return data[:at] + chance.choice(ODD) + data[at:]
        case 2:
            return data[:at] + chance.choice(ODD) * chance.choice((1, 3, 50)) + data[end:]
        case 3:
            return data[:at] + data[at:end] * chance.choice((2, 5, 40)) + data[end:]
        case 4:
            return data[:at] + bytes((chance.randrange(256),)) + data[at + 1 :]
        case 5:
            other = chance.choice(seeds())
            begin = chance.randrange(len(other) + 1)
            return data[:at] + other[begin : begin + chance.choice((10, 80, 800))] + data[at:]
        case 6:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            return b"\n".join(lines)
        case 7:
            lines = data.split(b"\n")
            number = chance.randrange(len(lines))
            return b"\n".join([*lines[:number], *[lines[number]] * chance.choice((0, 2, 20)), *lines[number + 1 :]])
        case 8:
            return data[:at]
        case _:
            return data.replace(b"\n", chance.choice((b"\r\n", b"\\n", b" ", b"\n> ", b"\n    ")))


def mutate_value(value: Any, chance: random.Random) -> Any:
    """Return a value of JSON with some of its parts changed, as deep as it is."""
    paths = list(_paths(value))
    for _ in range(chance.choice((1, 1, 2, 5))):
        value = _replace(value, chance.choice(paths), chance)
    return value


def _paths(value: Any, before: tuple[Any, ...] = ()) -> Any:
    yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*before, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value[:40]):
            yield from _paths(inner, (*before, number))


def _replace(value: Any, path: Sequence[Any], chance: random.Random) -> Any:
    if not path:
        return _other(value, chance)
    step, *rest = path
    if isinstance(value, dict) and step in value:
        if not rest and chance.random() < 0.2:
            return {key: inner for key, inner in value.items() if key != step}
        return {**value, step: _replace(value[step], rest, chance)}
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        if not rest and chance.random() < 0.3:
            return [*value[:step], *([value[step]] * chance.choice((0, 2))), *value[step + 1 :]]
        return [*value[:step], _replace(value[step], rest, chance), *value[step + 1 :]]
    return value


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and chance.random() < 0.6:
        return mutate(value.encode("utf-8", "surrogatepass"), chance).decode("utf-8", "replace")
    if chance.random() < 0.1:
        return json.loads(json.dumps([value, value], default=str))
    if chance.random() < 0.1:
        for _ in range(chance.choice((3, 30, 200))):
            value = {"error": value} if chance.random() < 0.5 else [value]
        return value
    return chance.choice(STRANGE)
