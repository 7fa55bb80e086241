"""What counts as a failure, and what only looks like one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from otel_errcompact.detector.operation import last_command, programs_of, runs_commands
from otel_errcompact.exceptions import ControlFlow
from otel_errcompact.extract.format import Sign
from otel_errcompact.extract.table import listings
from otel_errcompact.runtime.foreign import attribute_of, bases_of, qualname_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome = Literal["failure", "success", "ignored"]

MAX_LOOKED_AT: Final = 32_768
"""Characters at each end of a result that are searched for the signs of a hidden failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultVerdict:
    """What a tool's result is."""

    outcome: Outcome
    """A failure, a success, or something that is neither and is left alone."""

    detected: bool = False
    """Whether the tool itself said nothing, and the text gave the failure away."""

    reason: str = ""
    """Why, in a few words."""


# Exceptions that steer the program.

CONTROL_FLOW: Final = frozenset(
    {
        # Python
        "CancelledError", "StopIteration", "StopAsyncIteration",
        # langgraph
        "GraphBubbleUp", "GraphInterrupt", "NodeInterrupt", "ParentCommand",
        # pydantic-ai
        "ModelRetry", "ToolRetryError", "CallDeferred", "ApprovalRequired", "SkipModelRequest", "SkipToolExecution",
        "SkipToolValidation",
        # agent-framework
        "MiddlewareTermination", "MiddlewareFailure", "UserInputRequiredException",
        # our own middleware for fastmcp, which has counted what it raises this for
        "CompactedToolError",
        # agno
        "RetryAgentRun", "StopAgentRun",
        # crewai, llama-index, strands
        "HookAborted", "WaitingForEvent", "InterruptException",
    }
)  # fmt: skip
"""Names of exceptions, of any class in the inheritance, that ask for something instead of reporting a failure."""

_UNFIT_REPLY: Final = "_langgraph_invalid_resume"
"""LangGraph's mark on an exception of whatever class: a human's reply does not fit, and is to be given again."""

_MAX_CHILDREN: Final = 1_000
_MISSING: Final = object()


def is_control_flow(exception: BaseException, extra: frozenset[str] = frozenset()) -> bool:
    """
    Tell whether `exception` steers the program instead of reporting a failure.

    Interrupts, requests for approval, retries that the model asked for and cancellation do; an exception group does
    where all its exceptions do.

    Args:
        exception: What was raised.
        extra: Further names of such classes.
    """
    children = _children(exception)
    if not children:
        if attribute_of(exception, _UNFIT_REPLY, _MISSING) is not _MISSING:
            return True
        return _is_steering(exception, extra)
    open_, looked_at = list(children), 1
    while open_ and looked_at < _MAX_CHILDREN:
        looked_at += 1
        current = open_.pop()
        children = _children(current)
        if not children and not _is_steering(current, extra):
            return False
        open_.extend(children)
    return True


def _children(exception: BaseException) -> Sequence[BaseException]:
    """Return the exceptions of a group, also where the interpreter has no groups and a backport made it."""
    if not qualname_of(type(exception)).endswith("ExceptionGroup"):
        return ()
    children = attribute_of(exception, "exceptions", ())
    return cast("tuple[BaseException, ...]", children) if isinstance(children, tuple) else ()


def _is_steering(exception: BaseException, extra: frozenset[str]) -> bool:
    kind = type(exception)
    try:
        return _steers(kind, extra)  # type: ignore[arg-type] # mypy does not see that a class has a hash
    except Exception:  # noqa: BLE001 - unless its metaclass refuses
        return _steers.__wrapped__(kind, extra)


@lru_cache(maxsize=256)
def _steers(kind: type[BaseException], extra: frozenset[str]) -> bool:
    if not issubclass(kind, Exception) or issubclass(kind, ControlFlow):
        return True
    names = {qualname_of(base).rpartition(".")[2] for base in bases_of(kind)}
    return not names.isdisjoint(CONTROL_FLOW) or not names.isdisjoint(extra)


# Results.

_HEAD: Final = 1_000
_TAIL: Final = 200
_IGNORED: Final = (
    (
        "declined by the user",
        re.compile(
            r"(?:<tool_use_error>|Error: |\[)?(?:The user doesn't want to|Request interrupted by user"
            r"|(?:The user|User|user) (?:has )?(?:declined|rejected|denied|cancelled|canceled|skipped"
            r"|aborted|interrupted|chose not to|chose to (?:skip|cancel|reject)|did not (?:allow|approve|want to))\b"
            r"|(?:The )?[Tt]ool (?:call|use|execution) was (?:rejected|denied|declined|not approved|skipped)"
            r"|This tool call is rejected\.\s*\Z"
            r"|[Tt]ool execution (?:denied|not approved)\.?\s*\Z|\[?Operation Cancelled\] Reason: User"
            r"|(?:[A-Z][\w ]{0,60} )?(?:rejected|denied|declined|aborted|cancelled|canceled|interrupted|skipped)"
            r" by (?:the )?user(?! approval settings)"
            r"|exec_command failed for `[^\n]{1,600}`: [^\n]{0,100}[Rr]ejected by user\b)"
        ),
    ),
    (
        "a sibling call failed",
        re.compile(r"(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call)"),
    ),
    (
        "cancelled",
        re.compile(r"(?:<tool_use_error>)?(?:[\w.]{0,80}CancelledError\b|(?:Cancelled|Canceled)\.?\s*(?:</|\Z))"),
    ),
    ("still running", re.compile(r"(?:[^\n]*\n){0,4}?Process running with session ID")),
)
"""Results that are neither failures nor successes, by how they begin."""

_EXIT_CODE: Final = re.compile(
    r"(?:\A|\n)\[?(?:(?:Process |Command )?[Ee]xit(?:ed)?(?: with)?(?: code)?:? |exitcode: )(-?[0-9]{1,10})\b"
)
_STILL_RUNNING: Final = -1
_NOTHING_FOUND: Final = re.compile(
    r"(?:<tool_use_error>|Error: )?No (?:files|matches|results|match|matching \w{1,20})(?: were)?(?: found)?\b"
    r"[^\n]{0,200}\s*\Z"
)
_SAYS_NOTHING: Final = re.compile(
    r"(?:\s|\(no output\)|(?:\[?(?:[Ee]xit|Process exited|Command exited)"
    r"|Chunk ID:|Wall time:|Original token count:|Output:)[^\n]*)*\Z"
)


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
    for reason, pattern in _IGNORED:
        if pattern.match(head):
            return ResultVerdict(outcome="ignored", reason=reason)
    programs = tuple(programs_of(tool, arguments))
    kind = _kind_of(tool, programs)
    says_nothing = bool(_SAYS_NOTHING.match(head))
    code = exit_code
    if code is None and flagged is not False and (kind == "running" or says_nothing):
        code = _exit_code_in(text)
    if code == _STILL_RUNNING:
        return ResultVerdict(outcome="ignored", reason="still running")
    question = last_command(tool, arguments) if code or flagged else ()
    if (code or flagged) and _found_nothing(head, kind, question, code, says_nothing=says_nothing):
        return ResultVerdict(outcome="ignored", reason="a search that found nothing")
    if flagged or code:
        return ResultVerdict(outcome="failure", reason=f"exit code {code}" if code else "flagged by the tool")
    sign = _sign_of_failure(text, kind, programs)
    return ResultVerdict(outcome="failure", detected=True, reason=sign) if sign else ResultVerdict(outcome="success")


def may_have_failed(text: str, *, tool: str = "", arguments: str = "") -> bool:
    """
    Tell, for about half of what `classify_result` costs, whether a result that was not flagged is worth judging.

    Where it says no, `classify_result` would not say that it is a failure.
    """
    if runs_commands(tool, arguments):
        return _may_be_output_of_failure(text)
    kind = _kind_by_name(tool[:100])
    if kind == "running":
        return _may_be_output_of_failure(text)
    head = text[:_HEAD].lstrip()
    if _SAYS_NOTHING.match(head):
        return True
    if kind == "reading":
        return False
    if _SAID_BY_TOOL.match(head):
        return True
    return kind == "other" and head.startswith("{")


_WORDS: Final = (
    "error", "fail", "exit", "exception", "killed", "abort", "segmentation fault", "denied", "cannot", "can't",
    "unable to", "could not", "not found", "no such file", "a directory", "fatal", "timed out", "\ne: ", "(eval):",
    ":in ", "no exact match", "no replacement", '"success"', '"ok"',
)  # fmt: skip
"""What the output of a failed program holds at least one of, in small letters, where no sign of a format shows it."""


def _may_be_output_of_failure(text: str) -> bool:
    if len(text) > 2 * MAX_LOOKED_AT:
        return True
    return any(map(f"\n{text.lower()}".__contains__, _signs_of_formats().words))


def _found_nothing(head: str, kind: _Kind, command: tuple[str, ...], code: int | None, *, says_nothing: bool) -> bool:
    """
    Tell whether a question was answered with no, which its program or tool reports as it would a failure.

    A comparison answers with status 1, and mostly with what differs.
    """
    if command:
        program = command[0].rpartition("/")[2]
        names = {program, " ".join((program, *command[1:2]))}
        if code == 1 and not names.isdisjoint(_COMPARING_PROGRAMS):
            return True
        asks = not names.isdisjoint(_ASKING_PROGRAMS) or any(
            not _ASKING_OPTIONS[name].isdisjoint(command) for name in names if name in _ASKING_OPTIONS
        )
        return says_nothing and asks
    return kind == "searching" and _NOTHING_FOUND.match(head) is not None


def _exit_code_in(text: str) -> int | None:
    found = _EXIT_CODE.search(text[:_HEAD]) or _EXIT_CODE.search(text[-_TAIL:])
    return int(found[1]) if found else None


# Reading, searching, running.

_Kind = Literal["reading", "searching", "running", "other"]
_WORD_OF_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_READING_WORDS: Final = frozenset({"read", "view", "cat", "open"})
_SEARCHING_WORDS: Final = frozenset(
    {"grep", "glob", "search", "find", "ls", "list", "fetch", "browse", "lookup", "get"}
)
_RUNNING_WORDS: Final = frozenset(
    {"bash", "shell", "sh", "exec", "execute", "executor", "run", "terminal", "command", "python", "ipython", "jupyter"}
    | {"code", "test", "tests", "build", "lint", "compile", "script", "console", "sandbox", "repl"}
)
_READING_PROGRAMS: Final = frozenset(
    {
        "cat", "bat", "less", "more", "head", "tail", "sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "ack", "ls",
        "tree", "find", "fd", "diff", "cmp", "wc", "sort", "uniq", "cut", "jq", "yq", "stat", "file", "strings",
        "xxd", "hexdump", "nl", "tac", "type", "man", "history", "journalctl", "view", "open", "submit", "git diff",
        "git log", "git show", "git blame", "git grep", "gh pr", "gh issue", "gh run", "kubectl logs", "kubectl get",
        "kubectl describe", "docker logs",
    }
)  # fmt: skip
_COMPARING_PROGRAMS: Final = frozenset({"diff", "cmp", "comm", "git diff"})
_ASKING_PROGRAMS: Final = _COMPARING_PROGRAMS | frozenset(
    {
        "rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack", "test", "[", "[[", "find", "fd", "which", "pgrep",
        "pidof", "type", "hash", "expr", "getent", "lsof", "git grep", "git show-ref", "git check-ignore",
        "systemctl is-active", "systemctl is-enabled", "systemctl is-failed",
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
_TESTING_PROGRAM: Final = re.compile(
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|karma|cypress|playwright|rspec|phpunit|ctest|tsc|eslint|ruff|mypy"
    r"|pyright|flake8|pylint|cmake|ninja|bazel|gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|gradlew?|mvnw?|sbt|msbuild"
    r"|xcodebuild|make|gmake|mix|swift|dotnet|rake|cargo|go (?:test|build|vet|run|install)|npm|pnpm|yarn|bun|python -m"
    r"|pre-commit|golangci-lint|rubocop|webpack|vite|esbuild|rollup|just|task)(?!\S)"
)


def _kind_of(tool: str, programs: tuple[str, ...]) -> _Kind:
    """Tell what a call gives back: the content of files, what a search found, or what a program says of itself."""
    if programs:
        reads = programs[0] in _READING_PROGRAMS and not any(map(_TESTING_PROGRAM.match, programs))
        return "reading" if reads else "running"
    return _kind_by_name(tool[:100])


@lru_cache(maxsize=1_024)
def _kind_by_name(tool: str) -> _Kind:
    words = {word.lower() for word in _WORD_OF_NAME.findall(tool)}
    if words & _READING_WORDS:
        return "reading"
    if words & _SEARCHING_WORDS:
        return "searching"
    return "running" if words & _RUNNING_WORDS or not tool else "other"


# Hidden failures.

_SAID_BY_TOOL: Final = re.compile(
    r"(?:<tool_use_error>|exitcode: [1-9][0-9]* \(execution failed\)|ERROR:\s|Error: \S|apply_patch verification failed"
    r"|exec_command failed|\[?Your proposed edit has introduced new syntax error|\[No exact match found in "
    r"|EXECUTION TIMED OUT|No replacement was performed)"
)
_SHELL_ERROR: Final = re.compile(
    r"(?:(?:/\S{1,60}/)?(?:ba|z|da|k)?sh: [^\n]{1,300}: (?:command not found|not found|No such file or directory"
    r"|Permission denied|Is a directory|cannot execute|can't cd to )"
    r"|(?:zsh: )?command not found: \S|\(eval\):[0-9]+: "
    r"|[a-z][\w.-]{0,30}: (?:cannot|can't|unable to|could not) \S"
    r"|[a-z][\w.-]{0,30}: [^\n:]{1,300}: (?:No such file or directory|Permission denied|(?:Is|Not) a directory)\s*\Z"
    r"|fatal: |error: pathspec |E: |python[0-9.]*: can't open file )"
)
_LAST_WORDS: Final = re.compile(r"(?:[A-Za-z_][\w.]{0,100}(?:Error|Exception)|Error): \S|Killed\Z")
_FIRST_LINES: Final = 3
_SIGNS: Final = (
    Sign("a crash", r"(?:Segmentation fault|Bus error)(?: \(core dumped\))?$", ("segmentation fault", "error")),
    Sign("a crash", r"Aborted \(core dumped\)$", ("abort",)),
    Sign(
        "an error in a file",
        # Compilers, Ruby and shells begin alike, and what they share is looked for once.
        r" {0,4}[^\s:]{1,300}:(?:[0-9]{1,7}(?::[0-9]{1,7})?(?:: (?:fatal )?error| - error(?: TS[0-9]{3,5})?): "
        r"|[0-9]{1,7}:in [`'][^\n]{1,300}: [^\n]{1,2000} \([A-Z][\w:]{1,100}\)$"
        r"| line [0-9]{1,7}: +[0-9]{1,9} (?:Killed|Segmentation fault|Aborted|Bus error)\b)",
        ("error", ":in ", "killed", "segmentation fault", "abort"),
    ),
)
"""How a failure shows in the output of programs of several formats."""


class _Signs(NamedTuple):
    """How a failure shows in the output of any program."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    reasons: tuple[str, ...]
    """The reason of each group of the pattern."""


@cache
def _signs_of_formats() -> _Signs:
    """Join the signs of all formats, which happens at the first result that may be a failure."""
    signs = (*(sign for listing in listings() for sign in listing.signs), *_SIGNS)
    return _Signs(
        words=tuple(dict.fromkeys((*_WORDS, *(word for sign in signs for word in sign.words)))),
        pattern=re.compile("\n(?:" + "|".join(f"{sign.pattern}()" for sign in signs) + ")", re.MULTILINE),
        reasons=tuple(sign.reason for sign in signs),
    )


def _sign_of_failure(text: str, kind: _Kind, programs: tuple[str, ...]) -> str:
    """Return what gives a result away as a failure that its tool did not report; empty if nothing does."""
    if kind == "reading":
        return "a shell error" if programs and _complains_only(text, programs) else ""
    if _SAID_BY_TOOL.match(text[:_HEAD].lstrip()):
        return "the tool's own words"
    if kind == "searching":
        return ""
    if _says_it_failed(text):
        return "an error in the answer"
    return _sign_in_output(text) if kind == "running" else ""


def _complains_only(text: str, programs: tuple[str, ...]) -> bool:
    """Tell whether a program that reads or searches has said nothing but why it could not."""
    lines = text[: _HEAD + 1].strip().split("\n")
    if len(text) > _HEAD or len(lines) > _FIRST_LINES:
        return False
    complaints = [_COMPLAINT.match(line) for line in lines]
    return all(found is not None and found["program"] in programs for found in complaints)


_COMPLAINT: Final = re.compile(
    r"(?P<program>[a-z][\w.-]{0,30}): [^\n]{1,400}: "
    r"(?:No such file or directory|Permission denied|(?:Is|Not) a directory)\Z"
)


# Answers.

MAX_ANSWER: Final = 65_536
"""Characters of a JSON answer that is looked into."""

_FLAG: Final = re.compile(
    r"\"(?:isError|is_error)\"\s?:\s?true|\"(?:success|ok)\"\s?:\s?false|\"status\"\s?:\s?\"(?:error|failed|failure)\""
    r"|\"errors?\"\s?:\s?[\[{\"]"
)
_REASONS: Final = (
    "error",
    "errors",
    "message",
    "reason",
    "detail",
    "details",
    "error_message",
    "msg",
    "stderr",
    "content",
)
_FAILED: Final = frozenset({"error", "failed", "failure"})
_OF_ERRORS: Final = frozenset(_REASONS) | frozenset({
    "code", "status", "status_code", "statusCode", "type", "title", "errorCode", "error_code", "request_id",
    "requestId", "timestamp", "path", "instance", "success", "ok", "error_description", "data", "extensions", "jsonrpc",
    "id", "traceId",
})  # fmt: skip
"""Fields of answers that report an error and nothing else."""


def _says_it_failed(text: str) -> bool:
    """
    Tell whether a result is one JSON object that reports an error at its top, behind a flag or in a protocol's form.
    """
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}" or len(text) > MAX_ANSWER or not _FLAG.search(text):
        return False
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return _reports_error(answer)


def _reports_error(answer: dict[str, Any]) -> bool:
    if answer.get("isError") is True or answer.get("is_error") is True:
        return True
    refused = answer.get("success") is False or answer.get("ok") is False or answer.get("status") in _FAILED
    if refused:
        return any(answer.get(name) for name in _REASONS)
    errors, error = answer.get("errors"), answer.get("error")
    if "jsonrpc" in answer:
        return isinstance(error, dict)
    if not _OF_ERRORS.issuperset(answer):
        return False
    entries = cast("list[object]", errors) if isinstance(errors, list) else []
    in_graphql = any(isinstance(entry, dict) and "message" in entry for entry in entries)
    return in_graphql or (_gives_reason(error) and not answer.get("data"))


def _gives_reason(error: object) -> bool:
    """Tell whether a field says what went wrong; that of a schema only says of what type it is."""
    if isinstance(error, dict):
        fields = cast("dict[str, object]", error)
        return any(fields.get(name) for name in (*_REASONS, "code"))
    return isinstance(error, str) and bool(error)


def _sign_in_output(text: str) -> str:
    text = text.strip()
    if any(map(_SHELL_ERROR.match, text[:_HEAD].split("\n")[:_FIRST_LINES])):
        return "a shell error"
    if len(text) > 2 * MAX_LOOKED_AT:
        text = f"{text[:MAX_LOOKED_AT]}\n{text[-MAX_LOOKED_AT:]}"
    signs = _signs_of_formats()
    found = signs.pattern.search(f"\n{text}")
    if found and found.lastindex:
        return signs.reasons[found.lastindex - 1]
    last_line = text[-_HEAD:].rpartition("\n")[2]
    return "an error at the end" if _LAST_WORDS.match(last_line) else ""
