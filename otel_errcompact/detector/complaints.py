"""Complaints of shells and programs in their own names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.clauses import OF_SYSTEM
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.detector.roles import Call

MAX_LINE: Final = 500
"""Characters of a line that is taken for a complaint."""

_MAX_LINES: Final = 12

_SHELL: Final = r"-?(?:/\S{1,60}/)?(?:ba|z|da|a|k|mk|fi|tc|c)?sh"
OF_SHELL: Final = lazy_pattern(
    rf"(?:{_SHELL}(?::[0-9]{{1,7}})?: (?:-c: )?(?:(?:line )?[0-9]{{1,7}}: )?"
    rf"(?!warning: |no job control|cannot set terminal"
    rf"|initialize_job)\S"
    rf"|[^\s:]{{1,200}}: (?:line )?[0-9]{{1,7}}: [^\n]{{1,300}}?: (?:command not found|not found"
    r"|No such file or directory|Permission denied|Is a directory|cannot execute|unbound variable|bad substitution"
    r"|too many arguments|(?:integer|unary|binary|conditional)[\w ]{0,12} expected|ambiguous redirect"
    r"|bad array subscript|not a valid identifier|numeric argument required|division by 0|readonly variable"
    r"|parameter (?:null or )?not set)"
    r"|[^\s:]{1,200}: (?:line [0-9]{1,7}|[0-9]{1,7}): (?:[Ss]yntax error|unexpected EOF)"
    r"|zsh:(?:[0-9]{1,7}:)? (?:command not found|no matches found|parse error|no such file or directory"
    r"|permission denied|bad pattern|unmatched|[^\n]{1,80}: command not found)"
    r"|fish: (?:Unknown command|Expected|Unknown|Unable|No matches|[^\n]{1,80}: command not found)"
    r"|\(eval\):[0-9]{1,7}: "
    r"|(?:\S{1,80}: )?[Cc]ommand not found: \S|Command '[^'\n]{1,100}' not found"
    r"|(?:cd|pushd)(?::[a-z]{2,5}:[0-9]{1,7})?: [^\n]{1,300}?(?:[Nn]o such file|[Nn]ot a directory|does not exist"
    r"|doesn't exist|too many arguments|string not in pwd)"
    r"|(?:cd|pushd): (?:no such file or directory|not a directory|permission denied): "
    r"|'?[^'\n]{1,200}'? is not recognized as (?:an internal or external command|(?:the|a) name of a cmdlet)"
    r"|(?:[^\n:]{1,80}: )?The term '[^'\n]{1,200}' is not recognized"
    r"|The system cannot find the (?:path|file|drive) specified|'[^'\n]{1,200}' is not recognized as"
    r"|[A-Z][a-z]{1,20}-[A-Z]\w{1,30} ?: (?:Cannot|Could not|A positional|A parameter|Access|The|No|Failed|Unable)[ \w]"
    r"|The syntax of the command is incorrect|[^\n]{1,80} was unexpected at this time|\S{1,80}: Command not found\."
    r"|Access is denied\.?$|No such file or directory\Z)"
)
"""What shells say of a command that they could not run, in the spellings of all of them."""

OF_PARSER: Final = lazy_pattern(
    r"Error: nu::(?:shell|parser)::|(?:ParserError|ParseException): ?$|At line:[0-9]{1,7} char:[0-9]{1,7}$"
    r"|error: [^\n]{1,300}\n\n?[Uu]sage:",
    re.MULTILINE,
)
"""How shells begin that show what they could not run, in lines of their own."""

_OF_WRAPPERS: Final = lazy_pattern(
    r"(?:/\S{1,60}/)?(?:sudo|doas|su|env|xargs|timeout|nohup|nice|ionice|time|exec|setsid|strace|chroot|watch"
    r"|stdbuf|unbuffer|gtimeout|parallel|runuser|nsenter|npx|uvx|pipx):"
    r" (?:(?:exec|Can't exec|can't exec|[0-9]{1,7}): )?(?:failed to (?:run|spawn|execute)|cannot run|can't execute"
    r"|could not|unable to|command not found|a (?:terminal|password) is required"
    r"|[^\n]{1,300}: (?:[Cc]ommand not found|[Nn]o such file or directory|[Nn]ot found|[Pp]ermission denied"
    r"|[Ee]xec format error|Unknown user|incorrect password))"
)

_WRONG: Final = lazy_pattern(
    r"(?i)\b(?:cannot|can't|can not|could not|couldn't|unable to|failed|failure|fatal|error|invalid|illegal"
    r"|unrecogni[sz]ed"
    r"|unknown|unexpected|ambiguous|missing|no such|no matching|no match|not found|denied|is a directory"
    r"|not a directory"
    r"|does ?n[o']t exist|refused|syntax|parse|unterminated|unmatched|unbalanced|bad|unsupported|too many"
    r"|not permitted|requires"
    rf"|{OF_SYSTEM}|expected|must|not allowed|not supported|not a|no input|timed out|is not|wasn't|undefined"
    rf"|broken pipe"
    r"|could only|no route"
    r"|usage|unreachable|not known|resolution|emerg|not in|not recogni[sz]ed"
    r"|unacceptable|unsafe|incompatible|insufficient)\b|' not installed\b"
)
_HARMLESS: Final = lazy_pattern(
    r"(?i)[^\n]{0,120}?(?:\bwarning|note|info|debug|notice|nothing to be done|ignoring input|\(ignored\)"
    r"|unable to resolve host|failed writing body|failure writing output|is up to date|Removing leading"
    r"|unable to initialize frontend|falling back|write error: broken pipe|Entering directory|Leaving directory)\b"
)
_OWN: Final = lazy_pattern(
    r"(?:/\S{1,100}/)?(?P<name>[A-Za-z][\w.+-]{0,40})(?:\.exe)?(?:\[[0-9]+\])?: {1,2}(?P<rest>\S[^\n]*)"
)
_SUBJECT: Final = lazy_pattern(
    r": (?:(?:cannot|can't|could not|failed to"
    r"|unable to) [\w ]{1,40}?)?[\"'`\u2018]?(?P<subject>[^\"'`\u2018\u2019:\n]{1,300}?)[\"'\u2019]?: "
    r"(?:[Cc]ommand not found|[Nn]ot found|[Nn]o such|[Pp]ermission denied|[Ii]s a |[Nn]ot a |can't cd|cannot)"
    r"|(?:no such file or directory|not a directory|command not found|no matches found|can't cd to"
    r"|Cannot find path|The (?:directory|path|file)):? '?(?P<last>[^'\n]{2,300}?)'?"
    r"(?: because [^\n]*| does not exist)?$"
)
_FOLLOWS: Final = lazy_pattern(
    rf"{_SHELL}: |"
    r"\s|Try [`'\u2018\"]|[Uu]sage: |hint: |Use '--'|'git <command>|See '|See [\w-]+ --help|For more (?:information"
    r"|help)|[0-9]+ director|"
    r"[0-9]+ total|total 0|    |\^|[Dd]id you mean|[0-9]+\+[0-9]+ records |\+ |At line:|\(|\Z|Available commands"
    r"|Run '|Hint: |options:|where:"
    r"|Perhaps you|Get-|To \w"
)
_FORMS: Final = {
    "git": r"fatal: |error: |usage: git|No stash entries|There is no (?:tracking|merge|rebase|such)|No (?:rebase"
    r"|merge|bisect) in",
    "kubectl": r"Error from server|error: |The connection to the server|Unable to connect",
    "docker": r"Error response from daemon|Error: No such |Cannot connect to the Docker daemon|permission denied"
    "|no such service|no configuration file",
    "docker-compose": r"Error response from daemon|Cannot connect|no such service|ERROR: |no configuration file",
    "podman": r"Error: ",
    "ssh": r"ssh: |\S{1,100}: Permission denied|Host key |Connection |kex_exchange|Permission denied",
    "gh": r"X (?:[A-Z]\w{2,20} ){1,3}[^\n]{0,200}?\b(?:not|failed|cannot|closed|denied)\b"
    r"|[a-z]{3,20} not found$|no checks|must |[a-z][\w ]{2,40} failed: |You are not logged|HTTP [45][0-9]{2}\b"
    r"|GraphQL: |gh: |failed to "
    r"|could not "
    "|Could not |invalid |unknown |no (?:pull requests|git remotes|default|open|commit)|none of the|error |accepts "
    "|To get started|Not Found|argument required|cannot |run [0-9]+|expected the|not found|unable to",
    "glab": r"(?:ERROR|Error|404|HTTP [45])",
    "yq": r"Error: |Usage: |yq: ",
    "journalctl": r"Failed to |No journal files",
    "systemctl": r"Failed to |Unit \S+ could not be found|System has not been booted",
    "man": r"No manual entry",
    "fd": r"\[fd error\]",
    "bat": r"\[bat error\]",
    "tree": r"[^\n]{1,300}  ?\[error opening dir\]",
    "file": r"[^\n]{1,300}: cannot open ",
    "jq": r"jq: |parse error: |[Uu]nknown arguments|error: ",
    "rg": r"regex parse error|error: |rg: ",
    "dmesg": r"dmesg: ",
    "less": r"[^\n]{1,300}: No such file or directory",
    "more": r"more: ",
    "nl": r"nl: ",
    "zcat": r"gzip: ",
}
"""How programs complain that do not begin with their name."""

_FORM_OF: Final = {name: lazy_pattern(form) for name, form in _FORMS.items()}
_EXPANDED: Final = lazy_pattern(r"[$`*?~]|<\(|\bxargs\b|\bfind\b|\bfor\b|\bgrep\b|\brg\b|-r")
_ALIASES: Final = {"awk": {"gawk", "mawk", "nawk", "original-awk"}, "zcat": {"gzip"}, "which": {"type"}}


_OF_COMPLAINTS: Final = (": ", "not ", "denied", "cannot find", "(eval):", "incorrect")
_OF_ANY: Final = lazy_pattern(
    r"[a-z][\w.-]{0,30}: {1,2}(?:cannot|can't|unable to|could not|failed to|fatal: |error: ) ?\S"
    rf"|[a-z][\w.-]{{0,30}}: [^\n:]{{1,300}}: {OF_SYSTEM}\s*\Z"
)


def is_complaint_of_any(line: str) -> bool:
    """Tell whether any program complains in its own name."""
    return ": " in line and len(line) <= MAX_LINE and _OF_ANY.match(line) is not None and not _HARMLESS.match(line)


def is_complaint(line: str, call: Call) -> bool:
    """Tell whether a shell or a program of the call complains."""
    if len(line) > MAX_LINE or not any(map(line.__contains__, _OF_COMPLAINTS)):
        return False
    return OF_SHELL.match(line) is not None or _OF_WRAPPERS.match(line) is not None or _is_own(line, call)


def may_be_complaint(line: str) -> bool:
    """Tell, without a call, whether a shell or some program may complain."""
    if len(line) > MAX_LINE or not any(map(line.__contains__, _OF_COMPLAINTS)):
        return False
    found = _OWN.match(line)
    return OF_SHELL.match(line) is not None or (found is not None and _WRONG.search(found["rest"]) is not None)


def _is_own(line: str, call: Call) -> bool:
    found = _OWN.match(line)
    if found is None or _HARMLESS.match(line):
        return False
    name = found["name"]
    known = (
        name in call.names
        or (not call.programs and name in call.arguments)
        or any(name in _ALIASES.get(each, ()) for each in call.names)
    )
    return known and _WRONG.search(found["rest"]) is not None


def complains_only(text: str, call: Call) -> bool:
    """Tell whether programs have said nothing but why they could not."""
    lines = [line for line in text.split("\n", _MAX_LINES + 1) if line.strip()]
    if not lines or len(lines) > _MAX_LINES or not (_complains(lines[0], call) or _is_by(lines[0], call)):
        return False
    complaining = [line for line in lines if _complains(line, call)]
    if not complaining or not _may_be_about(complaining[0], call):
        return False
    others = [line for line in lines if line not in complaining]
    return lines[-1] in complaining or all(map(_FOLLOWS.match, others))


def _is_by(line: str, call: Call) -> bool:
    found = _OWN.match(line)
    return found is not None and found["name"] in call.names


def _may_be_about(line: str, call: Call) -> bool:
    # Tell whether the subject of a complaint may be one of this call: what it names, or what a shell made of that.
    found = _SUBJECT.search(line)
    if call.kind != "reading" or found is None or "gh" in call.names or _EXPANDED.search(call.arguments):
        return True
    return _is_named(line, call)


def _complains(line: str, call: Call) -> bool:
    if is_complaint(line, call):
        return True
    return any(name in _FORM_OF and _FORM_OF[name].match(line) for name in call.names)


def complains_of_argument(lines: Sequence[str], call: Call) -> bool:
    """Tell whether the first or last line complains of an argument."""
    return any(is_complaint(line, call) and _is_named(line, call) for line in (lines[0], lines[-1]))


def _is_named(line: str, call: Call) -> bool:
    found = _SUBJECT.search(line)
    subject = (found["subject"] or found["last"] or "").strip() if found else ""
    subject = subject.rpartition(": ")[2].rpartition(" ")[2]
    # A shell has put its own folder in front: `~/shop` is `/home/dev/shop`.
    last = re.split(r"[/\\]", subject)[-1] if OF_SHELL.match(line) else ""
    names = (name for name in (subject, last) if len(name) > 1 or name == subject != "")
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", call.arguments) is not None for name in names)
