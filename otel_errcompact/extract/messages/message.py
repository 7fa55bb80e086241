"""From the message of an exception, or of a line that states an error, to its cause."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.extract.clipping import MAX_CAUSE, clip
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.forms import Lines, form
from otel_errcompact.extract.messages.calls import read_call
from otel_errcompact.extract.messages.grpc import read_status
from otel_errcompact.extract.messages.html import page_start, read_page
from otel_errcompact.extract.payload.embedded import find_body
from otel_errcompact.extract.payload.error import VALIDATION
from otel_errcompact.extract.payload.validation import read_validation
from otel_errcompact.extract.reading import NO_MESSAGE, Reading
from otel_errcompact.extract.statements import GENERIC_TYPES, is_log_record, last_statement

MAX_LINES: Final = 200
"""Lines of one message that are looked at from either end."""

_MAX_REASON: Final = 8
"""Lines behind the first one among which its reason is looked for."""

_QUOTES: Final = '"""'
_QUOTE_MARKS: Final = ('"', "'")
_RECURSION: Final = "maximum recursion depth exceeded"
_COMMAND: Final = form(
    r"Command (?:'(?P<quoted>.{1,2000})'|(?P<listed>\[.{1,2000}\])) "
    r"(?P<outcome>returned non-zero exit status -?[0-9]+|died with .{1,80}|timed out after .{1,40})\.?",
    re.DOTALL,
)
_ARGUMENT: Final = form(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "cmd", "powershell", "pwsh"})
_PLAIN_WORD: Final = form(r"[A-Za-z][A-Za-z_:-]*$")
_QUERY: Final = form(
    r"\n\[SQL: (?P<sql>[^\x00]{0,20000}?)(?:\](?=\n|$)|$)(?:\n\[parameters: (?P<parameters>[^\n]{1,2000})\])?"
)
_ABOUT: Final = form(r"(?i)(?:\w{1,20} )?(?:context|type|kind|locator|selector): {1,4}\S")
"""What a failure is about, in a line with its label."""

_SUGGESTION: Final = form(r"\. ((?:Did you (?:mean|forget)|Or did you).{1,300}\?)$")


def read_message(message: str) -> Reading:
    """Return what a message comes down to; its cause is never empty."""
    message = message.strip()
    stated = read_call(message) or read_validation(message)
    if stated is not None:
        return stated
    if "\n" not in message and "{" not in message and "</" not in message and len(message) <= MAX_CAUSE:
        return _read_plain(message)
    return (
        _read_query(message)
        or _read_status(message)
        or _read_page(message)
        or _read_body(message)
        or _read_lines(message.split("\n"))
    )


def command_key(command: str | Lines) -> str:
    """
    Return what counts of a command line: the program, its sub-command and the names of its options, but no values.
    """
    words = command.split() if isinstance(command, str) else list(command)
    if words and _base_name(words[0]) in _SHELLS and len(words) > 1:
        words = " ".join(word for word in words[1:] if word[:1] not in "-/").strip("'\"").split() or words
    if not words:
        return ""
    kept = [_base_name(words[0])]
    if len(words) > 1 and _PLAIN_WORD.match(words[1]):
        kept.append(words[1])
    kept.extend(word.partition("=")[0] for word in words[1:] if word[:1] == "-")
    return " ".join(kept)


def _read_plain(message: str) -> Reading:
    # Read a single line without anything inside it.
    if message.startswith("Command "):
        return _read_command(message)
    if message.startswith(_RECURSION):
        # What follows says in which built-in the limit was met, which is chance.
        return Reading(message, _RECURSION if len(message) > len(_RECURSION) else "")
    if message.endswith("?"):
        return _strip_suggestion(message)
    return Reading(message or NO_MESSAGE)


def _strip_suggestion(message: str) -> Reading:
    found = _SUGGESTION.search(message)
    return Reading(message[: found.start()], "", (found[1],)) if found else Reading(message)


def _read_command(message: str) -> Reading:
    # Read the message of a `CalledProcessError` or `TimeoutExpired`.
    found = _COMMAND.match(message)
    if found is None:
        return Reading(clip(message))
    quoted = found["listed"] or found["quoted"]
    arguments = [first or second for first, second in _ARGUMENT.findall(quoted)] if quoted[0] == "[" else quoted
    outcome = "timed out" if found["outcome"][0] == "t" else found["outcome"].rstrip(".")
    return Reading(clip(message), f"Command {command_key(arguments)!r} {outcome}")


def _read_query(message: str) -> Reading | None:
    # Read a message to which SQLAlchemy has added the statement, its parameters and a link.
    found = _QUERY.search(message)
    if found is None:
        return None
    before = [line for line in message[: found.start()].split("\n") if line.strip(" ^~")]
    reading = _read_lines(before)
    parameters = f"parameters: {found['parameters']}" if found["parameters"] else ""
    sql = f"> {' '.join(found['sql'].split())}"
    return Reading(reading.cause, reading.key, tuple(filter(None, (*reading.details, sql, parameters))))


def _read_status(message: str) -> Reading | None:
    status = read_status(message)
    return Reading(str(status)) if status is not None else None


def _read_page(message: str) -> Reading | None:
    # Read a message that holds an HTML page.
    start = page_start(message) if "</" in message else -1
    if start < 0:
        return None
    title, sentences = read_page(message[start:])
    said = ": ".join(filter(None, (_trim_prefix(message[:start]), title, *sentences[:1])))
    return Reading(clip(said) or NO_MESSAGE, "", sentences[1:])


def _read_body(message: str) -> Reading | None:
    # Read a message that holds the body of an HTTP response.
    found = find_body(message) if "{" in message else None
    if found is None:
        return None
    before, after = found.before.strip(), found.after.strip()
    if before[-1:] in _QUOTE_MARKS and after[:1] == before[-1:]:
        before, after = before[:-1], after[1:]
    before = _trim_prefix(before)
    named = found.body.message and found.body.code and found.body.code in before
    shown = _join_lines(before, found.body.message if named else found.body.summary(), after)
    key = _join_lines(before, found.body.key, after) if found.body.key else ""
    reading = _read_lines(shown.split("\n"))
    lines = (*reading.details, *found.body.details)
    if found.body.is_validation:
        return Reading(reading.cause, found.body.whole_key, lines, VALIDATION)
    return Reading(reading.cause, key or reading.key, lines)


def _trim_prefix(text: str) -> str:
    # Return what stands before a body, without the punctuation that leads to it.
    return text.strip().rstrip("-:").rstrip()


def _join_lines(before: str, middle: str, after: str) -> str:
    text = f"{before}: {middle}" if before else middle
    return f"{text} {after}" if len(after) > 1 else text


def _read_lines(lines: Lines) -> Reading:
    # Read several lines: the first one is the cause; a later one that states an error by itself counts for the key.
    kept = _telling_part(lines)
    if not kept:
        return Reading(NO_MESSAGE)
    first, rest = kept[0], kept[1:]
    if first.endswith(":") and rest:
        said = _find_announced(rest)
        first = said if first[:-1] in GENERIC_TYPES else f"{first} {said}"
        rest = [line for line in rest if line != said]
    # Where a long line is cut depends on the length of its values, so that the key takes all of it.
    shown = clip(first)
    plain = _read_command(first) if first.startswith("Command ") else Reading(shown, first if shown != first else "")
    last = last_statement(rest, known=first)
    reasons = [last] if last else [line for line in rest[:_MAX_REASON] if first not in line and _is_reason(line)]
    if reasons:
        key = " | ".join((plain.key or plain.cause, *map(clip, reasons)))
        return Reading(plain.cause, key, (reasons[0], *rest))
    return Reading(plain.cause, plain.key, tuple(rest))


def _find_announced(lines: Lines) -> str:
    # Between a heading and what it announces may stand the source, with a mark below it.
    at = next((number for number, line in enumerate(lines[:_MAX_REASON], 1) if not line.strip("-.~^ ")), 0)
    behind = lines[at:] if at and kind_of(lines[0]) is not Kind.TELLING else ()
    return next((line for line in behind if not line.isdecimal()), lines[0])


def _is_reason(line: str) -> bool:
    return kind_of(line) is Kind.TELLING or _ABOUT.match(line) is not None


def _telling_part(lines: Lines) -> list[str]:
    # Return the lines that say something, up to the first log record that some other code wrote behind the message.
    looked_at = lines if len(lines) <= 2 * MAX_LINES else (*lines[:MAX_LINES], *lines[-MAX_LINES:])
    kept: list[str] = []
    for line in looked_at:
        if kept and is_log_record(line):
            break
        stripped = line.strip()
        if stripped and stripped != _QUOTES:
            kept.append(stripped)
    return kept


def _base_name(program: str) -> str:
    return program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
