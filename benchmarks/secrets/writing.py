"""How programs write a value, and how a reader gets it back."""

from __future__ import annotations

import base64
import json
import re
import shlex
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote, unquote_plus
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import unescape as unescape_markup

from benchmarks.secrets.forms import encode

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = 80
ZERO_WIDTH = "\u200b"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


# What writes a value.


def plain(value: str) -> str:
    """Return `value` as it is."""
    return value


def in_shell(value: str) -> str:
    """Return `value` quoted for a shell, where it needs to be."""
    return shlex.quote(value)


def in_single_quotes(value: str) -> str:
    """Return `value` for quotes of SQL, YAML and PowerShell, that are doubled."""
    return value.replace("'", "''")


def in_double_quotes(value: str) -> str:
    """Return `value` for a string in double quotes with backslashes."""
    return json.dumps(value, ensure_ascii=False)[1:-1]


def in_backslashed_quotes(value: str) -> str:
    """Return `value` for a string in single quotes with backslashes."""
    return value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


def in_nested_json(value: str) -> str:
    """Return `value` for a string of JSON inside a string of JSON."""
    return json.dumps(json.dumps(value)[1:-1])[1:-1]


def in_csv(value: str) -> str:
    """Return `value` as a field of CSV."""
    return '"' + value.replace('"', '""') + '"' if any(mark in value for mark in ',"\n') else value


def in_url(value: str) -> str:
    """Return `value` for a part of a URL."""
    return quote(value, safe="")


def in_form(value: str) -> str:
    """Return `value` for the body of a form."""
    return quote_plus(value)


def in_url_in_url(value: str) -> str:
    """Return `value` for a URL that is itself a parameter."""
    return quote(quote(value, safe=""), safe="")


def in_markup(value: str) -> str:
    """Return `value` for the text of an element."""
    return escape_markup(value)


def in_attribute(value: str) -> str:
    """Return `value` for an attribute in double quotes."""
    return escape_markup(value, {'"': "&quot;"})


def in_block(value: str) -> str:
    """Return `value` with its lines indented, as in a block of YAML."""
    return value.replace("\n", "\n    ")


def in_base64(before: str = "") -> Callable[[str], str]:
    """Return what writes base64 of a value after `before`."""
    return lambda value: encode((before + value).encode())


def with_zero_width(value: str) -> str:
    """Return `value` with a break opportunity after every six characters, as pages and chats insert it."""
    return ZERO_WIDTH.join(value[at : at + 6] for at in range(0, len(value), 6))


def full_width(value: str) -> str:
    """Return `value` in the full-width letters of an East Asian input method."""
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in value)


def half_coloured(value: str) -> str:
    """Return `value` with its second half in another colour, as a search highlights it."""
    half = len(value) // 3
    return f"{value[:half]}\x1b[01;31m\x1b[K{value[half:]}\x1b[m\x1b[K"


# What changes a whole text.


def wrapped(text: str) -> str:
    """Return `text` as a terminal of 80 columns wraps it."""
    return "\n".join(
        line[at : at + COLUMNS] for line in text.split("\n") for at in range(0, max(1, len(line)), COLUMNS)
    )


# What reads a text.


def unescaped(text: str) -> str:
    """Return `text` without one and without two levels of backslashes."""
    return _in_levels(text, lambda each: re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", _unescape, each, flags=re.DOTALL))


def undoubled(text: str) -> str:
    """Return `text` without doubled quotes."""
    return text.replace("''", "'").replace('""', '"')


def unshelled(text: str) -> str:
    """Return `text` without what a shell needs around a quote."""
    return text.replace("'\"'\"'", "'")


def unquoted(text: str) -> str:
    """Return `text` without one and without two levels of percent signs."""
    return _in_levels(text, unquote)


def unformed(text: str) -> str:
    """Return `text` of a form."""
    return unquote_plus(text)


def unmarked(text: str) -> str:
    """Return `text` without entities."""
    return unescape_markup(text, {"&quot;": '"'})


def unwrapped(text: str) -> str:
    """Return `text` without ends of lines."""
    return text.replace("\n", "")


def uncoloured(text: str) -> str:
    """Return `text` without colours."""
    return re.sub(r"(?:\x1b|\^\[)\[[0-9;]*[mK]", "", text)


def visible(text: str) -> str:
    """Return `text` without characters of no width."""
    return text.replace(ZERO_WIDTH, "")


def narrow(text: str) -> str:
    """Return `text` with compatible letters as the common ones."""
    return unicodedata.normalize("NFKC", text)


def unbased(text: str) -> str:
    """Return what each run of base64 in `text` holds, wherever it was cut."""
    found = [text]
    for run in re.findall(r"[A-Za-z0-9+/]{8,}", text):
        for skip in range(4):
            rest = run[skip:]
            whole, left = len(rest) // 4 * 4, len(rest) % 4
            # One character alone is no byte; two or three are, with padding.
            padded = rest + "=" * (4 - left) if left > 1 else rest[:whole]
            found.append(base64.b64decode(padded).decode("utf-8", "ignore"))
    return "\n".join(found)


def unbased_unwrapped(text: str) -> str:
    """Return what each run of base64 in wrapped `text` holds."""
    return unbased(unwrapped(text))


def _in_levels(text: str, read: Callable[[str], str]) -> str:
    once = read(text)
    return f"{once}\n{read(once)}"


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return ESCAPES.get(match[2], match[2])
