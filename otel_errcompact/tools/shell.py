"""What shells and the programs they start say when a command fails."""

from __future__ import annotations

from itertools import islice
from typing import Final

from otel_errcompact.extract.evidence.choice import choose_line
from otel_errcompact.extract.grammar import NOWHERE, Command, Facts, Format, Text, clip, details, find, form, place_of
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.shell_statements import USAGE_ERROR, exit_line, shell_statement

_FAILED_COMMAND: Final = form(
    r"(?i)(?:command|process|script)\b.{0,400}?\b(?:exit(?:ed)?|returned|failed|completed)\b.{0,40}?"
    r"(?:exit |status |code |with )(?:code |status )?(?P<code>-?{number})(?!\w|\.\w)"
)

_ENDED_BY: Final = {129: "SIGHUP", 130: "SIGINT", 131: "SIGQUIT", 132: "SIGILL", 133: "SIGTRAP", 134: "SIGABRT"} | {
    135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL", 139: "SIGSEGV", 141: "SIGPIPE", 143: "SIGTERM",
}  # fmt: skip
"""Exit statuses that shells give commands that a signal ended."""

_OF_ARGPARSE: Final = form(r"(?P<program>[\w. /+-]{1,100}): error: {message}")
_USAGE_LINE: Final = form(r"(?i)\n(?P<usage>usage:\s{1,9}\S[^\n]{0,500})")
_SUGGESTION: Final = form(
    r"(?i)\n\s{0,8}(?P<line>\(?(?:did you mean|tip: |perhaps you meant|\[?possible values|maybe you meant)[^\n]{1,200}"
    r"(?:\n\t[^\n]{1,100})?)"
)
_MAX_OTHERS: Final = 6


def read(text: Text) -> Facts | None:
    """Return the facts of a chosen line of a shell or a system program."""
    powershell = _read_powershell(text.body) if "\n" in text.body else None
    if powershell is not None:
        return powershell
    lines = text.lines
    number = choose_line(text.body)
    statement = shell_statement(lines[number].strip()) if number is not None else None
    if number is not None and statement is not None:
        others = (other for other in (*lines[number + 1 :], *lines[:number]) if shell_statement(other))
        usage = _find_usage(text.body) if statement.type == USAGE_ERROR else ()
        return Facts(
            type=statement.type,
            cause=clip(statement.message),
            location=statement.location,
            details=details((*usage, exit_line(text), *islice(others, _MAX_OTHERS))),
        )
    return _read_argparse(text) or _ended_silently(text) or _failed_command(text, lines[0])


def _read_argparse(text: Text) -> Facts | None:
    # Read `prog: error: ...` behind a line that begins with `usage:`; the words before may be anything.
    usage = _find_usage(text.body)
    if not usage or ": error: " not in text.body:
        return None
    found = find(_OF_ARGPARSE, reversed(text.lines))
    if found is None:
        return None
    cause = clip(f"{found['program']}: {found['message']}")
    return Facts(type=USAGE_ERROR, cause=cause, details=details((*usage, exit_line(text))))


def _find_usage(body: str) -> tuple[str, ...]:
    body = f"\n{body}"
    suggestion, usage = _SUGGESTION.search(body), _USAGE_LINE.search(body)
    return tuple(" ".join(found[1].split()) for found in (suggestion, usage) if found is not None)


def _ended_silently(text: Text) -> Facts | None:
    # Read an exit status without a word that tells which signal ended the command.
    signal = _ENDED_BY.get(text.exit_code or 0)
    if signal is None or text.body:
        return None
    return Facts(type=signal, cause=f"ended by {signal} without output (exit code {text.exit_code})")


_POWERSHELL: Final = form(r"\n\s{0,8}\+ FullyQualifiedErrorId : (?P<id>[\w.-]{1,200})")
_IN_POWERSHELL: Final = form(
    r"\n[^\n:+]{0,40}?(?:(?P<file>(?:[A-Za-z]:|[./\\])[^\n:]{1,400})|[^\n:]{1,40}): ?{line}"
    r"[^\n]{1,20}[0-9](?=\n\s{0,8}\+ )"  # `At C:\deploy.ps1:3 char:5` in any language
)
_IN_NEWER_POWERSHELL: Final = form(
    r"(?P<what>[\w.-]{1,100}): (?P<file>(?:[A-Za-z]:)?[^\n:]{1,400}):{line}(?::{number})?\nLine \|\n"
)


def _read_powershell(body: str) -> Facts | None:
    # Read PowerShell's records of errors, in the older and in the newer view.
    found = _POWERSHELL.search(body) if "FullyQualifiedErrorId" in body else None
    if found is not None:
        place = _IN_POWERSHELL.search(body)
        first = body[: place.start() if place else found.start()].partition("\n+ ")[0]
        where = place_of(place) if place and place["file"] else NOWHERE
        return Facts(type=found["id"], cause=clip(" ".join(first.split())), location=where)
    newer = _IN_NEWER_POWERSHELL.match(body) if "\nLine |\n" in body else None
    if newer is None:
        return None
    said = [line.partition("|")[2].strip() for line in body[newer.end() :].split("\n") if line.lstrip().startswith("|")]
    message = " ".join(line for line in said if line.strip("~ "))
    where = place_of(newer)
    return Facts(type=newer["what"], cause=clip(message) or newer["what"], location=where)


def _failed_command(text: Text, first: str) -> Facts | None:
    # Read a text that says no more than which command failed, and with what status.
    if "\n" in text.body:
        return None
    found = _FAILED_COMMAND.match(first)
    if found is None:
        return None
    reading = read_message(first)
    return Facts(type=f"exit code {found['code']}", cause=reading.cause, key_cause=reading.key)


FORMAT: Final = Format(
    name="shell",
    commands=(
        Command("bash, sh, zsh, dash", prints="", interprets=True, speaks="bash sh zsh dash fish ksh", runs_any=True),
    ),
    read=read,
    markers=(),
    closings=(
        (
            r"-?(?:/\S{1,60}/)?(?:ba|z|da|a|k|mk|fi|tc|c)?sh(?::[0-9]{1,7})?: (?!warning: |no job control"
            r"|cannot set terminal|initialize_job)\S"
        ),
        (
            r"(?:\S{0,200}/)?[\w.@+-]{1,100}: (?:line )?[0-9]{1,7}: (?!warning: )(?:[^\n]{1,300}: )?"
            r"(?:command not found"
            r"|not found|Permission denied|cannot execute|unbound variable|bad substitution|parameter not set"
            r"|No such file or directory|Is a directory|(?:[Ss]yntax error|unexpected EOF|too many arguments"
            r"|(?:integer|unary|binary|conditional)[\w ]{0,12} expected)[^\n]{0,200})"
        ),
        (
            r"(?:cd|pushd): (?:no such file or directory|not a directory|permission denied|string not in pwd"
            r"|[^\n]{1,300}:"
            r" (?:No such file|Not a directory|Permission denied)|The directory '[^'\n]{1,300}' does not exist)"
        ),
        (
            r"(?:sudo|doas|env|/usr/bin/env|xargs|timeout|nohup|nice|exec|su): (?:(?:failed to run command|cannot run"
            r"|unable to execute|exec) [^\n]{1,300}: |[^\n]{1,300}: )?(?:[Cc]ommand not found|No such file or directory"
            r"|Permission denied|a (?:terminal|password) is required|user \S{1,80} does not exist)"
        ),
        r" {4}\+ (?:CategoryInfo|FullyQualifiedErrorId) {1,9}: ",
        (
            r"(?:\S[^\n]{0,200}: )?The term '[^'\n]{1,200}' is not recognized"
            r"|'[^'\n]{1,200}' is not recognized as an internal|\S{1,80}: Command not found\.$"
            r"|Command '[^'\n]{1,100}' not found|The syntax of the command is incorrect"
            r"|The system cannot find the (?:path|file|drive) specified"
        ),
        (
            r"(?:/\S{1,100}/)?(?:python|pypy)[0-9.]{0,5}(?:\.exe)?: (?:can't open file|No module named"
            r"|Error while finding)"
        ),
        (
            r"[\w.+-]{1,60}: error: (?:unrecognized arguments|the following arguments|argument |invalid choice"
            r"|ambiguous option|one of the arguments|expected )"
        ),
        (
            r"(?:error: |Error: )?(?:[Uu]nknown (?:flag|option|argument|command|shorthand flag)"
            r"|[Uu]nrecognized (?:option|argument|flag|subcommand)"
            r"|[Nn]o such (?:option|command)|flag provided but not defined|unexpected argument"
            r"|the following required arguments were not provided|invalid value '[^'\n]{1,200}' for"
            r"|a value is required for|Found argument '[^'\n]{1,200}' which wasn't"
            r"|the argument '[^'\n]{1,200}' cannot be used with)[: ]"
        ),
        (
            r"(?:\S{1,200}: line [0-9]{1,7}: +[0-9]{1,9} )?(?:Segmentation fault|Bus error|Aborted|Illegal instruction"
            r"|Floating point exception) \(core dumped\)"
        ),
        r"(?:Killed|Segmentation fault)$",
    ),
)
