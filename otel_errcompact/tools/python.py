"""Python tracebacks as text: chains, groups, syntax errors, and what is left of a traceback that was cut."""

from __future__ import annotations

from json import JSONDecoder
from typing import Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Text, details
from otel_errcompact.extract.shell_statements import shell_statement
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.extract.stacks.python import GROUP, HEADER, chains_of, crash_of
from otel_errcompact.runtime.records import replace

_JSON: Final = JSONDecoder()

_OF_NOTEBOOK: Final = "  Traceback (most recent call last)\n"
"""How a notebook ends the first line of a traceback."""

_IGNORED: Final = "Exception ignored "
_MAX_BEFORE: Final = 2_000
_MAX_LINES_BEFORE: Final = 5


def read(text: Text) -> Facts | None:
    """Return the facts of the last traceback in `text`; earlier ones that are no part of its chain become details."""
    if _OF_NOTEBOOK in text.body and text.body.rfind(_OF_NOTEBOOK) > text.body.rfind(HEADER):
        return None  # the message of the last exception is what a notebook printed, with links of its own
    body = _strip_ignored(_strip_prefix(text.body))
    found = chains_of(body, text.type, text.message, text.roots)
    if not found:
        crash = crash_of(body)
        return facts_of((crash,)) if crash is not None else None
    facts = facts_of_stacks(found)
    before = _find_words_before(body)
    return replace(facts, details=details((*facts.details, *before))) if before else facts


def _find_words_before(body: str) -> list[str]:
    start = body.find(HEADER)
    if start <= 0:
        return []
    lines = body[max(0, start - _MAX_BEFORE) : start].splitlines()
    return [line for line in lines[-_MAX_LINES_BEFORE:] if shell_statement(line)]


def _strip_prefix(body: str) -> str:
    start = body.find(HEADER)
    if start < 0:
        return body
    if body.startswith("\\n", start + len(HEADER)):
        body = _unquote_traceback(body)
        start = body.find(HEADER)
    line = body.rfind("\n", 0, start) + 1
    prefix = body[line:start].removesuffix(GROUP)
    if not prefix.strip(" |+"):
        return body
    return body[:line] + body[line + len(prefix) :].replace(f"\n{prefix}", "\n")


def _unquote_traceback(body: str) -> str:
    # Return the last traceback that stands in a string of JSON, else the text with the escapes of a literal resolved.
    quote = body.rfind('"', 0, body.rfind(HEADER)) if body[:1] in ("{", "[") else -1
    try:
        return str(_JSON.raw_decode(body, quote)[0]) if quote >= 0 else _resolve_escapes(body)
    except ValueError:
        return _resolve_escapes(body)


def _resolve_escapes(body: str) -> str:
    return body.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")


def _strip_ignored(body: str) -> str:
    # Take off exceptions that Python reports and goes on from, unless there is no other one.
    while _IGNORED in body:
        header = body.rfind(f"\n{HEADER}")
        ignored = body.rfind(f"\n{_IGNORED}", 0, max(header, 0))
        if ignored < 0 or HEADER in body[ignored:header] or HEADER not in body[:ignored]:
            break
        body = body[:ignored]
    return body


# --- groups ----------------------------------------------------------------------------------------------------------

FORMAT: Final = Format(
    name="python",
    reads_all=True,
    read=read,
    markers=('File "', HEADER),
    commands=(
        Command("python", prints="python unittest", interprets=True, module_option="-m", speaks="python python3"),
        Command("manage.py", prints="", subcommands="*"),
        Command("django-admin", subcommands="test migrate makemigrations check startapp startproject"),
        Command("django-admin test", prints="unittest"),
        Command("flask", subcommands="*"),
        Command("alembic", prints="python database", subcommands="*"),
        Command("spark-submit", prints="python jvm"),
        Command("ipython, uvicorn, gunicorn, celery"),
    ),
    closings=(r"SystemCheckError: ",),
    stacks=(
        r"(?:[a-z_]\w{0,60}\.){0,6}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Timeout)(?:: [^\n]+)?\Z",
        r"(?:py4j\.protocol\.)?Py4JJavaError: An error occurred while calling [^\n]{1,300}\n: \S",
        r"Traceback \(most recent call last\):\s*$",
        r"  [+|] Exception Group Traceback \(most recent call last\):\s*$",
    ),
)
