"""What counts as a failure: what is declared, and what is stated."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.detector.closing import OF_SHELL, find_failure
from otel_errcompact.detector.error_values import read_error_value
from otel_errcompact.detector.roles import Call
from otel_errcompact.detector.statuses import asks, finds_nothing
from otel_errcompact.extract.cleaning.envelope import open_envelope
from otel_errcompact.extract.format import Listing, Text
from otel_errcompact.extract.prefilter import Prefilter
from otel_errcompact.extract.table import listings, load
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterator

Outcome = Literal["failure", "success", "ignored"]
Certainty = Literal["declared", "stated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultVerdict:
    """What a tool's result is."""

    outcome: Outcome
    """A failure, a success, or something that is neither and is left alone."""

    stated: str = ""
    """By what the result states a failure that nothing declares: a format, or a kind of error value."""

    reason: str = ""
    """Why, in a few words."""

    @property
    def certainty(self) -> Certainty:
        """Whether a failure was declared, or only stated."""
        return "stated" if self.stated else "declared"


_SUCCESS: Final = ResultVerdict(outcome="success")
_HEAD: Final = 1_000
_OPENING: Final = 200
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

_EXIT_CODE: Final = lazy_pattern(
    r"[\[(<]?(?:(?:Process |Command )?[Ee]xit(?:ed)?(?: with)?(?: code)?:? |exitcode: )(-?[0-9]{1,10})\b"
)
_EXIT_STATUS: Final = lazy_pattern(
    r"[\[(<]{0,2}(?:(?:Error|error|ERROR): )?(?:[Tt]he |\U0001f534 |\u274c )?(?:(?:[Pp]rocess|[Cc]ommand"
    r"|[Ss]cript|[Tt]ask|[Pp]rogram|[Ss]hell)(?: '[^'\n]{1,200}')? )?"
    r"(?:(?:finished|completed|exited|failed|terminated|returned|ended"
    r"|execution finished) )?(?:with )?(?:a )?(?:non-zero )?"
    r"(?:[Ee]xit(?:ed)?[ _-]?(?:[Cc]ode|[Ss]tatus)|EXIT(?:[ _]?(?:CODE|STATUS))?|[Rr]eturn[ _-]?[Cc]ode"
    r"|[Uu]nix exit code|exit)[:= >]{1,3}(-?[0-9]{1,10})(?=[\])>,. \n]|</|\Z)"
)
_LINES_OF_HOST: Final = 8
_OPENS_REMARK: Final = ("[", "(", "<", "\U0001f534", "\u274c")
_OF_STATUSES: Final = ("xit", "XIT", "eturn")
_ANNOUNCED: Final = lazy_pattern(
    r"(?:echo|printf|print|Write-Output|Write-Host)\s+(?:-\S+\s+)?[\"']?(?P<label>[^\"'$;&|\n]{0,60}?)\$(?:\{?\?\}?|LASTEXITCODE|\{?PIPESTATUS\[0\]\}?|(?:rc|RC|status|STATUS|ret|code|ec|EC|exit_code|EXIT_CODE|EXIT)\b)"
)
_MAX_ANNOUNCED: Final = 4
_STATUS: Final = lazy_pattern(r"\s?([1-9][0-9]{0,2})\W{0,4}")
_UNKNOWN_TOOL: Final = "UnknownTool"
"""What a harness says of a tool that it does not have, and never of a command line."""

_STILL_RUNNING: Final = -1
_NO_MATCH: Final = lazy_pattern(
    r"(?:<tool_use_error>|Error: )?No (?:files|matches|results|match|matching \w{1,20})(?: were)?(?: found)?\b"
    r"[^\n]{0,200}\s*\Z"
)
_SAYS_NOTHING: Final = lazy_pattern(
    r"(?:\s|\(no output\)|\(eval\):[0-9]+: no matches found:[^\n]*|(?:\[?(?:[Ee]xit|Process exited|Command exited)"
    r"|Chunk ID:|Wall time:|Original token count:|Output:)[^\n]*+)*+\Z"
)
_INTERRUPTING: Final = lazy_pattern(r"(?i)\\u0003|\x03|\bC-c\b|\^C|\bctrl[-+ ]c\b|\bSIGINT\b|kill -(?:2|INT)\b")
_BY_INTERRUPT: Final = 130


def classify_result(
    text: str, *, tool: str = "", arguments: str = "", flagged: bool | None = None, exit_code: int | None = None
) -> ResultVerdict:
    """
    Tell whether a tool's result is a failure.

    A flag, an exit status and a tool's own refusal declare it. Where nothing declares an outcome, or a command line
    hides the status of a program, the program's own closing words state it; and so does the whole answer of a function
    that is one error value. The arguments are JSON, or the command line itself.
    """
    head = text[:_HEAD].lstrip()
    call = Call(tool, arguments)
    says_nothing = _SAYS_NOTHING.match(head) is not None
    code = exit_code
    if code is None and flagged is not False and (says_nothing or call.may_run):
        code = _exit_code_in(text)
        code = code if code is None or says_nothing or call.is_command else None
    if reason := _reason_to_ignore(text, head, arguments, code):
        return ResultVerdict(outcome="ignored", reason=reason)
    answers = code and finds_nothing(tool, arguments, code, says_nothing=says_nothing)
    if answers or (flagged and _has_no_match(head, call)):
        return ResultVerdict(outcome="ignored", reason="a question that was answered")
    if flagged or code:
        return ResultVerdict(outcome="failure", reason=f"exit code {code}" if code else "flagged by the tool")
    return _classify_unflagged(text, head, call, says_success=flagged is False or code == 0)


def _classify_unflagged(text: str, head: str, call: Call, *, says_success: bool) -> ResultVerdict:
    if not says_success and _is_refusal(text, call):
        return ResultVerdict(outcome="failure", reason="the tool's own refusal")
    stated = _find_statement(text, head, call, says_success=says_success)
    return ResultVerdict(outcome="failure", stated=stated, reason=f"stated by {stated}") if stated else _SUCCESS


def _find_statement(text: str, head: str, call: Call, *, says_success: bool) -> str:
    if call.is_command:
        return _find_closing(text, call, says_success=says_success)
    if call.kind == "running" and not says_success and (closing := find_failure(text, (), any_program=True)):
        return closing
    # What a function reads may be an error of others, unless it is about what was asked for.
    is_content = (call.kind == "reading" or call.fetches) and not call.names_argument(head)
    return "" if is_content else read_error_value(text)


def _find_closing(text: str, call: Call, *, says_success: bool) -> str:
    runs = [run for run in call.list_runs(hidden=says_success) if not asks((*run.program.split(), *run.words))]
    programs = tuple(run.program for run in runs)
    if says_success and not programs:
        return ""  # every program shows its status
    if programs and "$" in call.arguments and not call.filters and _announces_failure(text, call.command_line):
        return OF_SHELL
    return find_failure(text, programs, call.arguments, any_program=not (programs or call.command_line))


def _is_refusal(text: str, call: Call) -> bool:
    # The words of a harness, or of its tool, that refuse a call: it has no other channel.
    harness = _openings_of_harness().candidates(text[:_OPENING])
    if not harness:
        return False
    found = load(harness[0]).read(Text(body=(text[:_HEAD] if call.is_command else text).strip()))
    return found is not None and not (call.is_command and found.type == _UNKNOWN_TOOL)


@cache
def _openings_of_harness() -> Prefilter[Listing]:
    harness = [listing for listing in listings() if listing.name == "harness"]
    return Prefilter(harness, [listing.openings for listing in harness])


def _reason_to_ignore(text: str, head: str, arguments: str, code: int | None) -> str:
    if found := _IGNORED.match(head):
        return _REASONS_TO_IGNORE[found.lastgroup or ""]
    if code == _STILL_RUNNING or (_RUNS_ON in head and _IN_FIRST_LINES.match(head)):
        return "still running"
    return "interrupted" if code == _BY_INTERRUPT or _is_interrupted(text[-_TAIL:], arguments) else ""


def _is_interrupted(tail: str, arguments: str) -> bool:
    # Tell whether the agent itself has sent the interrupt that a result ends with.
    may_be = "nterrupt" in tail or "^C" in tail or "SIGINT" in tail
    return may_be and _INTERRUPTING.search(arguments) is not None


def _has_no_match(head: str, call: Call) -> bool:
    return call.kind == "searching" and _NO_MATCH.match(head) is not None


def _exit_code_in(text: str) -> int | None:
    # Hosts without a channel beside the text write the status before or behind it; in between a program may speak.
    if has_any(text if len(text) <= _HEAD else f"{text[:_HEAD]}\n{text[-_TAIL:]}", _OF_STATUSES):
        for line in _lines_of_host(text):
            found = _EXIT_CODE.match(line) or _EXIT_STATUS.match(line)
            if found is not None:
                return int(found[1])
    if text[:1] != "{" or ("exit" not in text and "eturn" not in text):
        return None
    opened = open_envelope(text)
    return opened.exit_code if opened is not None else None


def _lines_of_host(text: str) -> Iterator[str]:
    head, tail = text[:_HEAD].lstrip().split("\n"), text[-_TAIL:].rstrip().split("\n")
    headed = next((number for number, line in enumerate(head[:_LINES_OF_HOST]) if line.startswith("Output:")), 0)
    yield from head[: headed + 1]
    yield tail[-1]
    yield from (line for line in tail[-_LINES_OF_HOST:-1] if line[:1] in _OPENS_REMARK)


def _announces_failure(text: str, line: str) -> bool:
    # Tell whether a command line itself prints the one status that it hides: `make; echo "exit: $?"`.
    announced = list(islice(_ANNOUNCED.finditer(line), 2))
    if len(announced) != 1:
        return False  # who asks for several compares them
    label = announced[0]["label"].replace("\\n", "\n").replace("\\", "")
    lines = text.rstrip().split("\n")
    behind = (line[len(label) :] for line in lines[-_MAX_ANNOUNCED:] if line.startswith(label))
    status = next(filter(None, map(_STATUS.fullmatch, behind)), None)
    if status is None:
        return False
    before = line[: announced[0].start()]
    return not finds_nothing("bash", before, int(status[1]), says_nothing=len(lines) == 1)
