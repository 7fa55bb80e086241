"""What the state of a run amounts to: whether it may go on, its account, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.engine.observations import GOES_ON, Standing, Verdict
from otel_errcompact.engine.report import Result, RunReport, class_report

if TYPE_CHECKING:
    from otel_errcompact.engine.state import RunState
    from otel_errcompact.escalator.escalation import Escalation


def unhandled_in(state: RunState) -> Escalation | None:
    """Return the newest escalation if it was not handled and its class is still open."""
    newest = state.answered[-1] if state.answered else None
    if newest is None or newest.action != "unhandled":
        return None
    found = state.history.get(newest.escalation.key)
    return newest.escalation if found is not None and found.unlifted and not found.resolved else None


def let_go_on(state: RunState, message: str) -> None:
    """Give a run fresh counters, and keep what a human has said for its digests."""
    state.breach = state.answer = None
    state.guidance = message
    state.history.refresh()


def verdict_of(state: RunState) -> Verdict:
    """Return whether a run may go on."""
    if state.breach is None:
        return GOES_ON
    if state.answer is None:
        return Verdict(standing="pending", escalation=state.breach)
    standing: Standing = "carry_on" if state.answer.action == "continue" else state.answer.action
    return Verdict(standing=standing, escalation=state.breach, reason=state.answer.message)


def report_of(state: RunState) -> RunReport:
    """Return the account of a run as it stands."""
    classes = tuple(sorted(map(class_report, state.history), key=lambda found: found.first_seen_ns))
    return RunReport(
        run_id=state.run_id,
        agent=state.agent,
        result=_result(state),
        occurrences=state.history.total,
        handled=state.handled,
        after_escalation=state.after_escalation,
        raw_tokens=state.raw_tokens,
        digest_tokens=state.digest_tokens,
        classes=classes,
        forgotten_classes=state.history.evicted,
        escalations=tuple(state.answered),
    )


def _result(state: RunState) -> Result:
    if state.failed:
        return "failed"
    if state.answer is not None and state.answer.action in {"halt", "pause"}:
        return "halted"
    if state.history.evicted_unresolved or any(not found.resolved for found in state.history):
        return "unresolved"
    return "recovered" if state.history.total else "clean"
