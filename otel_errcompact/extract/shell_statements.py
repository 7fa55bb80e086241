"""Lines with which shells and the programs they start state a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.grammar import Rules
from otel_errcompact.extract.statements import GENERIC_TYPES, Statement, is_exception_name
from otel_errcompact.extract.table import speakers
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.extract.format import Text

COMMAND_NOT_FOUND: Final = "CommandNotFound"
USAGE_ERROR: Final = "UsageError"

REASONS: Final = {
    "No such file or directory": "ENOENT",
    "Permission denied": "EACCES",
    "permission denied": "EACCES",
    "Operation not permitted": "EPERM",
    "Is a directory": "EISDIR",
    "Not a directory": "ENOTDIR",
    "Directory not empty": "ENOTEMPTY",
    "File exists": "EEXIST",
    "No space left on device": "ENOSPC",
    "Disk quota exceeded": "EDQUOT",
    "Read-only file system": "EROFS",
    "Text file busy": "ETXTBSY",
    "Exec format error": "ENOEXEC",
    "Argument list too long": "E2BIG",
    "Too many open files": "EMFILE",
    "Cannot allocate memory": "ENOMEM",
    "Input/output error": "EIO",
    "Broken pipe": "EPIPE",
    "Connection refused": "ECONNREFUSED",
    "Connection reset by peer": "ECONNRESET",
    "Connection timed out": "ETIMEDOUT",
    "Network is unreachable": "ENETUNREACH",
    "No route to host": "EHOSTUNREACH",
    "Address already in use": "EADDRINUSE",
    "Name or service not known": "EAI_NONAME",
    "Temporary failure in name resolution": "EAI_AGAIN",
    "Invalid argument": "EINVAL",
    "Too many levels of symbolic links": "ELOOP",
    "File name too long": "ENAMETOOLONG",
    "Invalid cross-device link": "EXDEV",
}
"""What programs print for an error number, and the number's POSIX name."""

_ENDINGS: Final = tuple(REASONS)
_SHELL: Final = r"(?:-?(?:/(?:usr/)?bin/)?(?:ba|z|da|k|c|tc|fi)?sh|\(eval\))"
_LINE: Final = r"(?::? line [0-9]{1,6}|:[0-9]{1,6}|: [0-9]{1,6})"
_COMMAND: Final = r"(?P<command>[^:\s][^:]{0,200})"
_NOT_FOUND: Final = (
    lazy_pattern(rf"(?:{_SHELL}{_LINE}{{0,2}}|[\w./-]{{1,200}}{_LINE}{{1,2}}): {_COMMAND}: (?:command )?not found$"),
    lazy_pattern(rf"[\w./-]{{1,200}}: {_COMMAND}: (?i:command) not found$"),
    lazy_pattern(rf"{_SHELL}{_LINE}{{0,2}}: command not found: (?P<command>\S.{{0,200}})$"),
    lazy_pattern(r"fish: Unknown command:? '?(?P<command>[^'\s]{1,200})"),
    lazy_pattern(r"'(?P<command>[^']{1,200})' is not recognized as an internal or external command"),
    lazy_pattern(r"(?:[\w.-]{1,100} ?: )?The term '(?P<command>[^']{1,200})' is not recognized as"),
)
_OF_SHELL: Final = lazy_pattern(rf"{_SHELL}(?:: -c)?{_LINE}{{0,2}}: (?P<message>\S.*)")
_BY_PROGRAM: Final = lazy_pattern(r"(?P<program>[\w./+-]{1,100}): {1,2}(?P<what>\S.*)")
_SCRIPT: Final = lazy_pattern(
    r"(?P<file>[\w-]{0,100}[./][\w./-]{1,200})(?:: line |: |:)(?P<line>[0-9]{1,6}): (?P<message>\S.*)"
)

_BY_LANGUAGE: Final = Rules(r"""
UnboundVariable  .{0,200}: (?:unbound variable|parameter (?:null or )?not set)$
SyntaxError      (?:.{0,200}: )?(?:[Ss]yntax error|parse error|unexpected EOF while looking for)\b
BadSubstitution  (?:.{0,200}: )?[Bb]ad substitution
NoMatch          no matches found:[ ]
NotExecutable    .{1,200}: (?:cannot execute\b|bad interpreter: )
ShellError       .{1,200}: (?:ambiguous redirect|integer expression expected|too many arguments|unary operator expected
    |binary operator expected|not a valid identifier|readonly variable|numeric argument required|bad array subscript
    |unexpected operator|not set)$|.{0,200}division by (?:0|zero)\b
""")
"""What shells say of a script itself."""

_TURNED_ROUND: Final = lazy_pattern(
    r"(?:zsh|\(eval\))(?::[0-9]{1,6})?: (?P<reason>no such file or directory|permission denied|is a directory"
    r"|not a directory|file exists): ?(?P<what>.*)"
)

_SIGNALS: Final = {
    "Hangup": "SIGHUP",
    "Quit": "SIGQUIT",
    "Illegal instruction": "SIGILL",
    "Trace/breakpoint trap": "SIGTRAP",
    "Aborted": "SIGABRT",
    "Bus error": "SIGBUS",
    "Floating point exception": "SIGFPE",
    "Killed": "SIGKILL",
    "Segmentation fault": "SIGSEGV",
    "Terminated": "SIGTERM",
}
"""What shells print of a command that a signal ended, and the signal."""

_ENDED: Final = lazy_pattern(
    r"(?:(?P<by>[^\s:]{1,200}): line (?P<line>[0-9]{1,6}): {1,8}[0-9]{1,10} )?"
    rf"(?P<signal>{'|'.join(_SIGNALS)})(?: {{0,30}}(?P<core>\(core dumped\)))?(?: {{1,30}}(?P<command>\S.{{0,400}}))?$"
)
_USAGE: Final = lazy_pattern(
    r"(?:(?P<program>[\w./+-]{1,100}): (?:error: )?|[Ee]rror: |ERROR: )?(?P<message>(?:"
    r"(?:unknown|unrecognized|unsupported) (?:short(?:hand)? )?(?:flag|option|arguments?|command|subcommand)s?\b"
    r"|(?:invalid|illegal|ambiguous|bad) option\b|option (?:requires an argument|'[^']{1,100}' )"
    r"|No such (?:option|command)\b|Missing (?:argument|option|parameter|command)\b|Invalid value for "
    r"|Got unexpected extra argument|(?:unexpected|the|Found) argument '|a value is required for '|invalid value '"
    r"|the following (?:required )?arguments (?:are|were) |required flag\(s\) "
    r"|accepts (?:at (?:most|least) |between )?[0-9]{1,4}\b.{0,40} arg\(s\), received|flag provided but not defined: "
    r"|flag needs an argument: |invalid argument \".{0,200} for \"-|missing (?:(?:destination )?file )?operand"
    r"|extra operand |ambiguous option: |expected (?:one|at least one|[0-9]{1,4}) arguments?$"
    r"|(?:error: )?missing required argument|too (?:many|few) arguments\b).*)"
)

_OF_SERVICES: Final = Rules(r"""
UnitNotFound     (?:Failed to \w{1,20} [\w@.:-]{1,100}: )?Unit [\w@.:-]{1,100} (?:could )?not (?:be )?f
UnitFailed       (?:Job for [\w@.:-]{1,100} failed\b|Failed to \w{1,20} [\w@:-]{1,100}
    \.(?:automount|device|mount|path|scope|service|slice|socket|swap|target|timer): )
NoSystemd        System has not been booted with systemd\b
HostKeyRejected  Host key verification failed\.
EACCES           [\w.@-]{1,200}: Permission denied \([\w,-]{1,200}\)\.?$
rsync            rsync error:[ ]
NotPermitted     \S{1,100} is not in the sudoers file
""")
_WITHOUT_COLON: Final = ("Host key ", "Job for ", "System has not ")
_OF_ANY_SERVICE: Final = lazy_pattern(lambda: "|".join(_OF_SERVICES.closings))


def shell_statement(line: str) -> Statement | None:
    """Return what a line states if a shell or a system program wrote it to report a failure."""
    if line in _SIGNALS or "(core dumped)" in line or ": line " in line:
        ended = _read_signal(line)
        if ended is not None:
            return ended
    if ": " not in line and "'" not in line and not line.startswith(_WITHOUT_COLON):
        return _used_wrongly(line)
    if "not found" in line or "not recognized" in line or "Unknown command" in line:
        for form in _NOT_FOUND:
            found = form.match(line)
            if found is not None:
                place = _place_in_script(line)
                return Statement(COMMAND_NOT_FOUND, f"{found['command']}: command not found", place)
    return _read_reason(line) or _read_shell(line) or _used_wrongly(line) or _read_program(line)


def exit_line(text: Text) -> str:
    """Return the exit status as a line, or nothing where it is not known."""
    return "" if text.exit_code is None else f"exit code {text.exit_code}"


def _read_reason(line: str) -> Statement | None:
    # Read `cat: notes.txt: No such file or directory`.
    line = line.rstrip(". ")
    found = _BY_PROGRAM.match(line) if line.endswith(_ENDINGS) else None
    if found is None or found["program"].lower() in GENERIC_TYPES or is_exception_name(found["program"]):
        return None
    reason = next(ending for ending in _ENDINGS if line.endswith(ending))
    own = _OF_SHELL.match(line) or _SCRIPT.match(line)
    return Statement(REASONS[reason], own["message"] if own else line, _place_in_script(line))


def _read_shell(line: str) -> Statement | None:
    # Read what a shell says of its script: `./deploy.sh: line 3: REGION: unbound variable`.
    turned = _TURNED_ROUND.match(line)
    if turned is not None:
        reason = turned["reason"].capitalize()
        return Statement(REASONS[reason], f"{turned['what']}: {reason}".lstrip(": "))
    own = _OF_SHELL.match(line)
    found = own or _SCRIPT.match(line)
    if found is None:
        return None
    kind = _BY_LANGUAGE.type_of(found["message"]) or ("ShellError" if own else "")
    return Statement(kind, found["message"], _place_in_script(line)) if kind else None


def _place_in_script(line: str) -> Location:
    found = _SCRIPT.match(line)
    if found is None or _OF_SHELL.match(line):
        return NOWHERE
    return Location(file=found["file"], line=int(found["line"]))


def _read_signal(line: str) -> Statement | None:
    found = _ENDED.match(line)
    if found is None or (found["command"] and not found["by"]):
        return None
    core = " (core dumped)" if found["core"] else ""
    command = f": {found['command']}" if found["command"] else ""
    script = found["by"] and not _OF_SHELL.match(f"{found['by']}: x")
    place = Location(file=found["by"], line=int(found["line"])) if script else NOWHERE
    return Statement(_SIGNALS[found["signal"]], f"{found['signal']}{core}{command}", place)


def _used_wrongly(line: str) -> Statement | None:
    # Read what parsers of command lines say: getopt, argparse, click, cobra, clap, commander.
    found = _USAGE.match(line)
    if found is None:
        return None
    named = found["program"] and found["program"] not in GENERIC_TYPES
    program = f"{found['program']}: " if named else ""
    return Statement(USAGE_ERROR, f"{program}{found['message']}")


def _read_program(line: str) -> Statement | None:
    found = _BY_PROGRAM.match(line)
    if found is not None and (name := found["program"].rpartition("/")[2]) in speakers(unread=True):
        return Statement(name, line)
    return Statement(_OF_SERVICES.type_of(line), line) if _OF_ANY_SERVICE.match(line) else None
