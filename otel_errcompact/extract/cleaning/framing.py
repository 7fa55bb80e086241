"""Strip headings, labels and exit status that harnesses put around an output."""

from __future__ import annotations

from typing import Final, NamedTuple

from otel_errcompact.extract.cleaning.envelope import Opened
from otel_errcompact.runtime.lazy import lazy_pattern

MAX_LINE: Final = 300
"""Characters of a line that a harness wrote."""

_MAX_SENTENCE: Final = 80

_UNIT: Final = r"[0-9.,]{1,12} ?(?:ms|s|secs?|seconds?|m|mins?|minutes?)\b"
_EXIT: Final = lazy_pattern(
    r"(?i)\W{0,4}(?:error: )?(?:(?:the|this) )?(?:(?:shell|bash) )?"
    r"(?:(?:process|command|script|program|execution|task|step|tool|job) )?"
    r"(?:(?:has|was) )?(?:(?:finished|completed|exited|failed|terminated|returned|ended) )?"
    r"(?:with )?(?:an? )?(?:non-?zero )?"
    r"(?:exit[ _-]?(?:code|status)|code|status code|return[ _-]?code)(?: is|:|=)? {0,2}(?P<code>-?[0-9]{1,9})"
    rf"(?: \(execution failed\)|,? (?:in|after) {_UNIT})?\W{{0,4}}$"
)
_OF_HOST: Final = lazy_pattern(r"[\w.-]{1,100} \| (?:FAILED|UNREACHABLE!?) \| rc=(?P<code>-?[0-9]{1,9}) >>$")
_LABELLED: Final = lazy_pattern(
    r"(?i)[\[(<*#-]{0,3} ?(?P<label>[a-z][a-z_ -]{1,40}?)\*{0,2}:\*{0,2}(?: {1,4}(?P<value>.*?))?[\])]?$"
)
_ABOUT: Final = frozenset({
    "chunk id", "wall time", "original token count", "total output lines", "current working directory",
    "working directory", "python interpreter", "process group pgid", "background pids", "open file",
    "current directory", "session id", "process id", "execution time", "elapsed time", "time elapsed", "shell id",
    "output truncated", "workdir", "jupyter current working directory",
})  # fmt: skip
"""What harnesses say of a command."""

_ABOUT_BESIDE: Final = frozenset({
    "command", "directory", "signal", "cwd", "duration", "elapsed", "pid", "tool", "shell", "timed out", "timeout",
    "time", "interrupted",
})  # fmt: skip
"""What they say beside the former, and what errors may begin with as well."""

_STREAMS: Final = frozenset({
    "output", "stdout", "stderr", "observation", "code output", "execution logs", "result", "results", "tool output",
    "standard output", "standard error", "tool result", "last output from code snippet", "terminal output",
})  # fmt: skip
_NOTHING: Final = frozenset({"", "none", "empty", "n/a", "null", "no output", "root"})
_WORDS: Final = frozenset((
    "a", "an", "and", "the", "this", "that", "following", "with", "of", "in", "is", "was", "were", "for", "from", "by",
    "command", "commands", "process", "program", "script", "task", "step", "tool", "call", "shell", "bash", "terminal",
    "execution", "executed", "executing", "run", "running", "ran", "returned", "error", "errors", "failed", "failure",
    "finished", "completed", "exited", "terminated", "ended", "non", "zero", "nonzero", "code", "exit", "status",
    "output", "outputs", "result", "results", "observation", "stdout", "stderr", "standard", "log", "logs", "full",
    "see", "above", "below", "details", "more", "got", "i", "it", "here", "last", "previous", "message", "begin",
    "start", "end", "agent", "occurred", "while", "snippet",
))  # fmt: skip
"""Words of a line that frames an output and says nothing of it."""

_OF_FRAMES: Final = frozenset({
    "output", "outputs", "stdout", "stderr", "observation", "result", "results", "following", "exit", "above", "below",
    "logs", "details", "executed", "this",
})  # fmt: skip
"""Words of which such a line has one at least: `Command failed` may be all that is known."""

_WORD: Final = lazy_pattern(r"[a-z0-9]+")
_SENTENCE: Final = lazy_pattern(
    r"\[[a-z_]{1,40} for '.{0,200}'\] Result:$|bash-?[0-9.]{0,6}[$#]$|\([0-9]{1,9} more lines (?:above|below)\)"
    r"|\*{0,2}\w{0,30}Observation ?\((?:source|exit code)=|\[Output truncated"
    rf"|(?i:took|finished in|completed in|duration:?|elapsed:?|wall time:?|real|user|sys)\s{{1,4}}{_UNIT}\.?$"
    r"|(?:Please )?[Ff]ix (?:your mistakes|the errors?(?: and try again)?)\.?$"
    r"|Now let's retry: take care not to repeat previous errors!"
)
_OF_FAILURE: Final = frozenset({"failed", "failure", "error", "errors", "exited", "terminated", "returned"})

_FIRST_WORD: Final = lazy_pattern(r"[^A-Za-z0-9\n]{0,6}([A-Za-z]*)")
_FIRST_WORDS: Final = frozenset({
    *_WORDS, *(label.partition(" ")[0] for label in (*_ABOUT, *_ABOUT_BESIDE, *_STREAMS)), "exitcode", "returncode",
    "has", "took", "real", "user", "sys", "please", "fix", "now", "",
})  # fmt: skip
_ENDS: Final = (">>", "Result:", ")**")
_OF_ADVICE: Final = "Error: "
_ADVICE: Final = "\n Please fix your mistakes."
"""How LangGraph hands on the representation of an exception."""

_STREAM_LABEL: Final = lazy_pattern(
    r"(?i)(?P<name>stdout|stderr|output|observation|result|standard error|execution logs): +"
)
_OF_COMMANDS: Final = frozenset({"stdout", "stderr", "standard error"})
_INNER_LABEL: Final = lazy_pattern(r"(?m)^(?:STDERR|Stderr|stderr): ?\n?|^-{2,5} ?(?i:stderr) ?-{2,5}\n?")


class _Frame(NamedTuple):
    """What one line of a harness says."""

    status: int = 0
    """The exit status, 0 where it says none."""

    is_sure: bool = True
    """Whether the line says nothing of a failure whatever stands beside it."""


def strip_framing(text: str) -> Opened | None:
    """
    Return the output inside the frame of a harness, with the exit status.

    The lines of a frame are known by their words alone: a heading such as `The command failed with the following
    output:` holds none that says what failed. A text that is all frame stays, unless it told the status.
    """
    if text.startswith(_OF_ADVICE) and text.endswith(_ADVICE):
        return Opened(text[len(_OF_ADVICE) : text.rfind("\n")])
    if not may_be_framed(text):
        return None
    start, first = _find_start(text)
    end, last = _find_end(text, start)
    status = last or first
    if (start == 0 and end == len(text)) or (start >= end and not status):
        return None
    body = text[start : max(start, end)]
    if start and "std" in text[:start].lower():
        body = _INNER_LABEL.sub("", body)
    return Opened(body, status or None)


def may_be_framed(text: str) -> bool:
    """Tell for little whether the first or last line may be one of a harness."""
    first, last = _FIRST_WORD.match(text), _FIRST_WORD.match(text, text.rfind("\n") + 1)
    if (first and first[1].lower() in _FIRST_WORDS) or (last and last[1].lower() in _FIRST_WORDS):
        return True
    return text[: text.find("\n") + 1].rstrip().endswith(_ENDS)


def _find_start(text: str) -> tuple[int, int]:
    start = at = status = 0
    sure = False
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        frame = read_frame(text[at:stop])
        if frame is None:
            return max(start, _end_of_stream_label(text, at, sure=sure)), status
        sure = sure or frame.is_sure
        status = frame.status or status
        at = stop + 1
        if sure:
            start = at
    return start, status


def _end_of_stream_label(text: str, at: int, *, sure: bool) -> int:
    found = _STREAM_LABEL.match(text, at)
    return found.end() if found and (sure or (at == 0 and found["name"].lower() in _OF_COMMANDS)) else 0


def _find_end(text: str, start: int) -> tuple[int, int]:
    end = at = len(text)
    status = 0
    sure = False
    while start < at:
        begin = max(start, text.rfind("\n", start, at) + 1)
        line = text[begin:at]
        frame = read_frame(line) or (_Frame() if _is_sentence_of_failure(line) else None)
        if frame is None:
            break
        sure = sure or frame.is_sure
        status = frame.status or status
        at = begin - 1
        if sure:
            end = at
    return end, status


def read_frame(line: str) -> _Frame | None:
    """Read a line of a harness; nothing if a program may have printed it."""
    if len(line) > MAX_LINE:
        return None
    line = line.strip()
    if not line:
        return _Frame(is_sure=False)
    first = _FIRST_WORD.match(line)
    if first and first[1].lower() not in _FIRST_WORDS and not line.endswith(_ENDS):
        return None
    found = _EXIT.match(line) or _OF_HOST.match(line)
    if found is not None or _SENTENCE.match(line):
        return _Frame(int(found["code"]) if found is not None else 0)
    label = _LABELLED.match(line) if ":" in line else None
    if label is not None:
        return _read_label(label["label"].lower().replace("_", " "), (label["value"] or "").lower().strip("()"))
    return _read_words(line.lower())


def _read_label(label: str, value: str) -> _Frame | None:
    if label in _ABOUT:
        return _Frame()
    if label in _STREAMS:
        return _Frame() if value in _NOTHING else None
    if label in _ABOUT_BESIDE:
        return _Frame(is_sure=False)
    if label == "error":
        return _Frame(is_sure=False) if value in _NOTHING - {""} else None
    return None if value else _read_words(label)


def _is_sentence_of_failure(line: str) -> bool:
    # Tell whether a line states a failure without its cause: `ERROR task failed`.
    first = _FIRST_WORD.match(line)
    is_likely = len(line) < _MAX_SENTENCE and first is not None and first[1].lower() in _FIRST_WORDS
    words = _WORD.findall(line.lower()) if is_likely else ()
    return len(words) > 1 and _WORDS.issuperset(words) and not _OF_FAILURE.isdisjoint(words) and line[0] != " "


def _read_words(line: str) -> _Frame | None:
    words = _WORD.findall(line)
    return _Frame() if _WORDS.issuperset(words) and not _OF_FRAMES.isdisjoint(words) else None
