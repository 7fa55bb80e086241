"""What counts as a failure, and what only looks like one."""

from __future__ import annotations

import re
from typing import Final, Literal

from otel_errcompact.detector.hidden import begins_with_error, may_tell_of_failure, sign_of_failure
from otel_errcompact.detector.operation import last_command, runs_commands
from otel_errcompact.detector.refusals import is_of_harness
from otel_errcompact.detector.roles import Call, kind_by_name
from otel_errcompact.extract.cleaning.envelope import open_envelope
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass

Outcome = Literal["failure", "success", "ignored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultVerdict:
    """What a tool's result is."""

    outcome: Outcome
    """A failure, a success, or something that is neither and is left alone."""

    detected: bool = False
    """Whether the tool itself said nothing, and the text gave the failure away."""

    reason: str = ""
    """Why, in a few words."""


_SUCCESS: Final = ResultVerdict(outcome="success")
_HEAD: Final = 1_000
_TAIL: Final = 200
_IGNORED: Final = lazy_pattern(
    r"(?:<tool_use_error>|Error: |\[)?(?:"
    r"(?P<declined>The user doesn't want to|Request interrupted by user"
    r"|(?:The user|User|user) (?:has )?(?:declined|rejected|denied|cancelled|canceled|skipped"
    r"|aborted|interrupted|chose not to|chose to (?:skip|cancel|reject)|did not (?:allow|approve|want to))\b"
    r"|(?:The )?[Tt]ool (?:call|use|execution) was (?:rejected|denied|declined|not approved|skipped)"
    r"|This tool call is rejected\.\s*\Z"
    r"|[Tt]ool execution (?:denied|not approved)\.?\s*\Z|\[?Operation Cancelled\] Reason: User"
    r"|(?:[A-Z][\w ]{0,60} )?(?:rejected|denied|declined|aborted|cancelled|canceled|interrupted|skipped)"
    r" by (?:the )?user(?! approval settings)"
    r"|exec_command failed for `[^\n]{1,600}`: [^\n]{0,100}[Rr]ejected by user\b)"
    r"|(?P<sibling>Sibling tool call errored|Cancelled: parallel tool call)"
    r"|(?P<cancelled>[\w.]{0,80}CancelledError\b|(?:Cancelled|Canceled)\.?\s*(?:</|\Z)))"
)
_REASONS_TO_IGNORE: Final = {
    "declined": "declined by the user", "sibling": "a sibling call failed", "cancelled": "cancelled",
}  # fmt: skip
_RUNS_ON: Final = "Process running with session ID"
_IN_FIRST_LINES: Final = lazy_pattern(rf"(?:[^\n]*\n){{0,4}}?{_RUNS_ON}")
"""Results that are neither failures nor successes, by how they begin."""

_COMPARING_PROGRAMS: Final = frozenset({"diff", "cmp", "comm", "git diff"})
_ASKING_PROGRAMS: Final = _COMPARING_PROGRAMS | frozenset(
    {
        "rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack", "test", "[", "[[", "find", "fd", "which", "pgrep",
        "pidof", "type", "hash", "expr", "getent", "lsof", "git grep", "git show-ref", "git check-ignore",
        "let", "((", "systemctl is-active", "systemctl is-enabled", "systemctl is-failed",
    }
)  # fmt: skip
_ASKING_OPTIONS: Final = {
    "command": frozenset({"-v", "-V"}),
    "git config": frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "get"}),
    "git merge-base": frozenset({"--is-ancestor"}),
    "git rev-parse": frozenset({"--verify", "-q", "--quiet"}),
    "git symbolic-ref": frozenset({"-q", "--quiet"}),
    "git ls-files": frozenset({"--error-unmatch"}),
    "git ls-remote": frozenset({"--exit-code"}),
    "jq": frozenset({"-e", "--exit-status"}),
}
"""Commands that answer a question by their exit status, where they have one of these options."""

_LOCATING_PROGRAMS: Final = frozenset({"command", "which", "type", "hash", "whereis"})
_PLACE: Final = lazy_pattern(r"(?:alias )?(?:/|~/|[A-Za-z]:\\|\S{1,100} is |\S{1,100}=|\S{1,100} not found$)")

_EXIT_CODE: Final = lazy_pattern(
    r"(?:\A|\n)[\[(<]?(?:(?:Process |Command )?[Ee]xit(?:ed)?(?: with)?(?: code)?:? |exitcode: )(-?[0-9]{1,10})\b"
)
_EXIT_STATUS: Final = lazy_pattern(
    r"(?:\A|\n)[\[(<]{0,2}(?:(?:Error|error|ERROR): )?(?:[Tt]he |\U0001f534 |\u274c )?(?:(?:[Pp]rocess|[Cc]ommand"
    r"|[Ss]cript|[Tt]ask|[Pp]rogram|[Ss]hell)(?: '[^'\n]{1,200}')? )?"
    r"(?:(?:finished|completed|exited|failed|terminated|returned|ended"
    r"|execution finished) )?(?:with )?(?:a )?(?:non-zero )?"
    r"(?:[Ee]xit(?:ed)?[ _-]?(?:[Cc]ode|[Ss]tatus)|EXIT(?:[ _]?(?:CODE|STATUS))?|[Rr]eturn[ _-]?[Cc]ode"
    r"|[Uu]nix exit code|exit)[:= >]{1,3}(-?[0-9]{1,10})(?=[\])>,. \n]|</|\Z)"
)
_OF_STATUSES: Final = ("xit", "XIT", "eturn")
_ANNOUNCED: Final = lazy_pattern(
    r"(?:echo|printf|print|Write-Output|Write-Host)\s+(?:-\S+\s+)?[\"']?(?P<label>[^\"'$;&|\n]{0,60}?)\$(?:\{?\?\}?|LASTEXITCODE|\{?PIPESTATUS\[0\]\}?|(?:rc|RC|status|STATUS|ret|code|ec|EC|exit_code|EXIT_CODE|EXIT)\b)"
)
_MAX_ANNOUNCED: Final = 4
_STILL_RUNNING: Final = -1
_NOTHING_FOUND: Final = lazy_pattern(
    r"(?:<tool_use_error>|Error: )?No (?:files|matches|results|match|matching \w{1,20})(?: were)?(?: found)?\b"
    r"[^\n]{0,200}\s*\Z"
)
_SAYS_NOTHING: Final = lazy_pattern(
    r"(?:\s|\(no output\)|(?:\[?(?:[Ee]xit|Process exited|Command exited)"
    r"|Chunk ID:|Wall time:|Original token count:|Output:)[^\n]*+)*+\Z"
)


_INTERRUPTING: Final = lazy_pattern(r"(?i)\\u0003|\x03|\bC-c\b|\^C|\bctrl[-+ ]c\b|\bSIGINT\b|kill -(?:2|INT)\b")
_SILENCED: Final = lazy_pattern(r"(?:&> ?/dev/null|> ?/dev/null 2>&1|2>&1 > ?/dev/null)[\s\"'}]{0,9}\Z")
"""The end of a command that is run for its exit status alone."""

_ASKED_BEFORE: Final = lazy_pattern(r"(?:\[{1,2} |\b(?:test|which|command -v) )[^;\n]{0,300}? && ")
"""A question on which the rest of a command line depends."""

_BY_INTERRUPT: Final = 130


def classify_result(
    text: str, *, tool: str = "", arguments: str = "", flagged: bool | None = None, exit_code: int | None = None
) -> ResultVerdict:
    """
    Tell whether a tool's result is a failure.

    Args:
        text: The result.
        tool: The tool's name.
        arguments: The call's arguments: as JSON, or the command line itself.
        flagged: What the tool said: it failed, it did not, or nothing.
        exit_code: The exit status, where the source reports it apart from the text.
    """
    head = text[:_HEAD].lstrip()
    call = Call(tool, arguments)
    says_nothing = bool(_SAYS_NOTHING.match(head))
    code = exit_code
    if code is None and flagged is not False and (says_nothing or call.may_run):
        code = _exit_code_in(text, arguments)
        code = code if code is None or says_nothing or call.kind == "running" else None
    if reason := _reason_to_ignore(text, head, arguments, code):
        return ResultVerdict(outcome="ignored", reason=reason)
    if (code or flagged) and _found_nothing(head, call, code, says_nothing=says_nothing):
        return ResultVerdict(outcome="ignored", reason="a search that found nothing")
    if flagged or code:
        return ResultVerdict(outcome="failure", reason=f"exit code {code}" if code else "flagged by the tool")
    sign = sign_of_failure(text, call, says_success=flagged is False)
    return ResultVerdict(outcome="failure", detected=True, reason=sign) if sign else _SUCCESS


def _reason_to_ignore(text: str, head: str, arguments: str, code: int | None) -> str:
    if found := _IGNORED.match(head):
        return _REASONS_TO_IGNORE[found.lastgroup or ""]
    if code == _STILL_RUNNING or (_RUNS_ON in head and _IN_FIRST_LINES.match(head)):
        return "still running"
    return "interrupted" if code == _BY_INTERRUPT or _is_interrupted(text[-_TAIL:], arguments) else ""


def may_have_failed(text: str, *, tool: str = "", arguments: str = "") -> bool:
    """
    Return whether an unflagged result is worth judging, at half the cost.

    Where it says no, `classify_result` would not say that it is a failure.
    """
    if runs_commands(tool, arguments):
        return _may_be_answer(text) or _may_be_output_of_failure(text) or _ANNOUNCED.search(arguments) is not None
    kind = kind_by_name(tool[:100])
    if kind == "running":
        return _may_be_answer(text) or _may_be_output_of_failure(text) or is_of_harness(text[:_HEAD].lstrip())
    if _SAYS_NOTHING.match(text[:_HEAD].lstrip()):
        return True
    return bool(sign_of_failure(text, Call(tool, arguments)))


def _may_be_output_of_failure(text: str) -> bool:
    return may_tell_of_failure(text) or any(map(text.__contains__, _OF_STATUSES))


def _may_be_answer(text: str) -> bool:
    head = text[:_HEAD].lstrip()
    return head[:1] in ("{", "<", "(") or begins_with_error(head)


def _is_interrupted(tail: str, arguments: str) -> bool:
    # Tell whether the agent itself has sent the interrupt that a result ends with.
    may_be = "nterrupt" in tail or "^C" in tail or "SIGINT" in tail
    return may_be and _INTERRUPTING.search(arguments) is not None


_ANSWERS_NO: Final = lazy_pattern(
    r"\s{0,9}(?:0|false|no|inactive|disabled|failed|unknown|dead|activating|degraded|masked|static|not-found"
    r"|[^\n]{0,300}\b(?:not found|no \S{1,100} in \([^\n]*|not installed|did not match any[^\n]*"
    r"|no package found matching[^\n]*))"
    r"\s{0,9}(?:Did you forget to '?git add'?\?)?\s{0,9}\Z"
)


def _found_nothing(head: str, call: Call, code: int | None, *, says_nothing: bool) -> bool:
    """
    Return whether a search found nothing, which looks like a failure.

    A comparison answers with status 1, and mostly with what differs.
    """
    if code == 1 and says_nothing and (_SILENCED.search(call.arguments) or _ASKED_BEFORE.search(call.arguments)):
        return True
    command = last_command(call.tool, call.arguments)
    if command:
        program = command[0].rpartition("/")[2]
        names = {program, " ".join((program, *command[1:2]))}
        if code == 1 and not names.isdisjoint(_COMPARING_PROGRAMS):
            return True
        asks = not names.isdisjoint(_ASKING_PROGRAMS) or any(
            not _ASKING_OPTIONS[name].isdisjoint(command) for name in names if name in _ASKING_OPTIONS
        )
        asks = asks or (command[:2] == ("git", "config") and sum(word[:1] != "-" for word in command[2:]) == 1)
        return asks and (says_nothing or _ANSWERS_NO.match(head) is not None or _finds_some(program, head))
    return call.kind == "searching" and _NOTHING_FOUND.match(head) is not None


def _finds_some(program: str, head: str) -> bool:
    # Tell whether some of several programs were found: `command -v bun && command -v deno`.
    return program in _LOCATING_PROGRAMS and all(map(_PLACE.match, head.rstrip().split("\n")))


def _exit_code_in(text: str, arguments: str) -> int | None:
    for part in (text[:_HEAD], text[-_TAIL:]):
        if any(map(part.__contains__, _OF_STATUSES)):
            found = _EXIT_CODE.search(part) or _EXIT_STATUS.search(part)
            if found is not None:
                return int(found[1])
    if "$" in arguments and text.strip():
        return _announced_exit_code(text, arguments)
    return _exit_code_of_envelope(text) if text[:1] == "{" else None


def _announced_exit_code(text: str, arguments: str) -> int | None:
    # Return the exit status that the command itself prints behind a label: `make; echo "exit: $?"`.
    for number, found in enumerate(_ANNOUNCED.finditer(arguments)):
        if number >= _MAX_ANNOUNCED:
            break
        label = found["label"].replace("\\n", "\n").replace("\\", "")
        lines = text.rstrip().split("\n")[-_MAX_ANNOUNCED:]
        for line in lines:
            behind = line[len(label) :] if line.startswith(label) else ""
            if re.fullmatch(r"\s?[0-9]{1,3}\W{0,4}", behind) and int(re.sub(r"\D", "", behind)):
                return int(re.sub(r"\D", "", behind))
    return None


def _exit_code_of_envelope(text: str) -> int | None:
    if "exit" not in text and "eturn" not in text:
        return None
    opened = open_envelope(text)
    return opened.exit_code if opened is not None else None
