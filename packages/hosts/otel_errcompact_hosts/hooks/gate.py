"""Say whether a call may be made and a run continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact_hosts.calls import Answer, HostCall
    from otel_errcompact_hosts.runs import LedgerRuns

_RESUME: Final = lazy_pattern(r"(?is)\s*/?errcompact[ :-]{1,3}resume\b[ :,.]{0,3}(?P<message>.{0,4000})")
_BY_ANY_PROMPT: Final = "the user's next prompt lets it continue"
_BY_WORDS: Final = "a prompt that begins with 'errcompact resume' lets it continue"
_LET_RUN: Final = "If the user wants it to run all the same: begin the command with ERRCOMPACT=off"
_LONG: Final = 4_000
"""Characters of a result whose digest helps to read it, though it says nothing new."""

_REPEATED: Final = lazy_pattern(r"#[0-9a-f]{4,16} (?:again|with new details) \(")
_BESIDE_FACTS: Final = ("NOTICE: ", "  hint: ")
"""How lines of a digest begin that stand in no raw result."""

_NAME_OF_CLASS: Final = lazy_pattern(r"#[0-9a-f]{4,16}(?: \(exit code -?[0-9]{1,10}\))?")
"""All that is new of a short failure at its first occurrence: it says nothing."""

_TASK: Final = "<task-notification>"
"""How a prompt begins that the host itself has written."""


def refuse_call(call: HostCall, runs: LedgerRuns) -> str:
    """Return why a call must not be executed; empty if it may."""
    stop = stop_of(call.run_id, runs)
    if stop:
        return f"NOT EXECUTED: {stop}. Make no further calls; report to the user what you were doing and this reason."
    refusal = runs.refuse(call)
    # What stops the run, no variable lets run.
    is_open = refusal and call.line and not stop_of(call.run_id, runs)
    return join_texts(refusal, _LET_RUN) if is_open else refusal


def stop_of(run_id: str, runs: LedgerRuns) -> str:
    """
    Return why a run is stopped; empty if it may continue.

    A sub-agent is stopped with the session that it works for.
    """
    session = run_id.partition("/")[0]
    for each in dict.fromkeys((session, run_id)):
        verdict = runs.verdict(each)
        if verdict.stopped:
            reason = explain_stop(verdict.escalation, verdict.reason) or "an escalation waits for its answer"
            is_halted = verdict.standing == "halt"
            stands, how = ("is stopped", _BY_WORDS) if is_halted else ("waits for a human", _BY_ANY_PROMPT)
            return f"this run {stands}: {reason.rstrip('. ')} ({how})"
    return ""


def take_prompt(run_id: str, prompt: str, runs: LedgerRuns) -> None:
    """
    Let a run and its sub-agents continue that waited for it.

    A run that was halted waits for the words `errcompact resume`: programs that resume sessions send prompts too.
    """
    if prompt.lstrip().startswith(_TASK):
        return
    found = _RESUME.match(prompt)
    if found is None and runs.verdict(run_id).standing == "halt":
        return
    for each in runs.list_stopped(run_id):
        if found is not None or runs.verdict(each).standing != "halt":
            runs.resume(each, found["message"].strip() if found is not None else "")


def join_texts(*texts: str) -> str:
    """Return texts under one another, without empty ones."""
    return "\n".join(filter(None, texts))


def news_of(answer: Answer, shown: str) -> str:
    """Return what the agent is to read beside a result."""
    return join_texts(_news_in(answer.text, shown) if answer.outcome == "failure" else "", answer.beside)


def _news_in(text: str, shown: str) -> str:
    text, shown = text.strip(), shown.strip()
    if text in shown:
        return ""
    if shown and text.startswith(shown):
        news = text[len(shown) :].strip()
    elif len(shown) < _LONG and _REPEATED.search(text) is None:
        news = join_texts(*(line for line in text.split("\n") if line.startswith(_BESIDE_FACTS)))
    else:
        news = text
    return "" if _NAME_OF_CLASS.fullmatch(news) else news
