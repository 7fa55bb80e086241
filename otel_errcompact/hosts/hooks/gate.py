"""Whether a call may be made and a run may continue, in every host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.hosts.calls import Answer, HostCall, HostRuns

_RESUME: Final = lazy_pattern(r"(?is)\s*/?errcompact[ :-]{1,3}resume\b[ :,.]{0,3}(?P<message>.{0,4000})")
_BY_ANY_PROMPT: Final = "the user's next prompt lets it continue"
_BY_WORDS: Final = "a prompt that begins with 'errcompact resume' lets it continue"
_TASK: Final = "<task-notification>"
"""How a prompt begins that the host itself has written."""


def refuse(call: HostCall, runs: HostRuns) -> str:
    """Return why a call must not be executed; empty if it may."""
    stop = stop_of(call.run_id, runs)
    if stop:
        return f"NOT EXECUTED: {stop}. Make no further calls; report to the user what you were doing and this reason."
    return runs.refuse(call)


def stop_of(run_id: str, runs: HostRuns) -> str:
    """
    Return why a run is stopped; empty if it may continue.

    A sub-agent is stopped with the session that it works for.

    Args:
        run_id: The session, or `session/agent`.
        runs: The runs of all hosts.
    """
    session = run_id.partition("/")[0]
    for each in dict.fromkeys((session, run_id)):
        verdict = runs.verdict(each)
        if verdict.stopped:
            reason = verdict.reason or str(verdict.escalation or "an escalation waits for its answer")
            how = _BY_WORDS if verdict.standing == "halt" else _BY_ANY_PROMPT
            return f"this run is stopped: {reason.rstrip('. ')} ({how})"
    return ""


def take_prompt(run_id: str, prompt: str, runs: HostRuns) -> None:
    """
    Let a run continue that waited for a human, who has written a prompt.

    A run that was halted waits for the words `errcompact resume`: programs that resume sessions send prompts too.

    Args:
        run_id: The session.
        prompt: What the human has written.
        runs: The runs of all hosts.
    """
    if prompt.lstrip().startswith(_TASK):
        return
    found = _RESUME.match(prompt)
    standing = runs.verdict(run_id).standing
    if found is not None and standing != "carry_on":
        runs.resume(run_id, found["message"].strip())
    elif standing in {"pause", "pending"}:
        runs.resume(run_id)


def join(*texts: str) -> str:
    """Return texts under one another, without empty ones."""
    return "\n".join(filter(None, texts))


def said_by(answer: Answer) -> str:
    """Return what the agent is to read for a call; empty for most."""
    return join(answer.text if answer.outcome == "failure" else "", answer.guidance)


def news_in(text: str, shown: str) -> str:
    """
    Return what a text adds to what the agent reads anyway.

    Args:
        text: The digest, the notice, the answer of a human.
        shown: The raw result, which the host shows whatever we say.
    """
    shown = shown.strip()
    if text.strip() in shown:
        return ""
    return text.removeprefix(shown).strip() if shown else text
