"""Read and write words of shells and JSON, with nothing imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_WORDS_OF_SCRIPT: Final = 3
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
_NAMED: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED_IN_QUOTES: Final = frozenset('$`"\\\n')
_NO_INPUT: Final = ("\\< /dev/null", "< /dev/null", "</dev/null")
_ENDS_WORD: Final = frozenset(" \t\n;&|<>()")


def join_words(words: Sequence[str]) -> str:
    """Return a command line that a shell splits into these words."""
    return " ".join(
        word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\\''") + "'" for word in words
    )


def find_script(words: Sequence[str]) -> str:
    """
    Return the script of `sh -c SCRIPT`; empty for other commands.

    It says more than its quoted form.
    """
    if len(words) < _WORDS_OF_SCRIPT or words[0].rpartition("/")[2] not in _SHELLS:
        return ""
    option = words[1]
    return words[2] if option[:1] == "-" and option[-1:] == "c" and option[1:].isalpha() else ""


def read_word(line: str, start: int) -> str:
    """Return one word of a shell's line without its quotes."""
    parts: list[str] = []
    position, length = start, len(line)
    while position < length and line[position] not in _ENDS_WORD:
        char = line[position]
        if char == "'":
            end = line.find("'", position + 1)
            end = end if end >= 0 else length
            parts.append(line[position + 1 : end])
            position = end + 1
        elif char == '"':
            text, position = _read_quoted(line, position + 1)
            parts.append(text)
        elif char == "\\":
            parts.append(line[position + 1 : position + 2])
            position += 2
        else:
            parts.append(char)
            position += 1
    return "".join(parts)


def strip_line(line: str) -> str:
    """Return a command without the redirection that its host adds to it."""
    line = line.rstrip()
    for ending in _NO_INPUT:
        line = line.removesuffix(ending)
    return line.strip()


def write_json(values: Mapping[str, str | bool]) -> str:
    """
    Return a JSON object of texts and truth values.

    `json` would cost more than a short command.
    """
    return "{" + ", ".join(f"{_write_text(name)}: {_write_value(value)}" for name, value in values.items()) + "}"


def _read_quoted(line: str, position: int) -> tuple[str, int]:
    parts: list[str] = []
    while position < len(line) and line[position] != '"':
        if line[position] == "\\" and line[position + 1 : position + 2] in _ESCAPED_IN_QUOTES:
            position += 1
        parts.append(line[position : position + 1])
        position += 1
    return "".join(parts), position + 1


def _write_value(value: str | bool) -> str:
    return _write_text(value) if isinstance(value, str) else str(value).lower()


def _write_text(text: str) -> str:
    # Bytes of arguments that are no text come as lone surrogates, which JSON cannot hold.
    return '"' + "".join(map(_write_char, text.encode(errors="replace").decode())) + '"'


def _write_char(char: str) -> str:
    return _NAMED.get(char) or (char if char >= " " else f"\\u{ord(char):04x}")
