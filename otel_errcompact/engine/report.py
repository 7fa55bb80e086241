"""Give the account of one run as data, Markdown and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from otel_errcompact.digest import one_line
from otel_errcompact.escalator.escalation import AnsweredEscalation  # noqa: TC001 - pydantic reads the annotations
from otel_errcompact.runtime.models import FrozenModel

if TYPE_CHECKING:
    from otel_errcompact.history.history import ErrorClass

Status = Literal["RECOVERED", "ACTIVE", "ESCALATED", "UNKNOWN"]
"""How a class stands; `UNKNOWN` where a record holds raw errors alone."""

Result = Literal["clean", "recovered", "unresolved", "failed", "halted", "unknown"]
"""
How a run ended: without a failure, with all resolved or overcome, with one left, failed itself, or stopped.

No run reports `unknown` itself: it is the result of a run whose record holds raw errors alone.
"""


class ClassReport(FrozenModel, checks=False):
    """One error class of a run."""

    key: str
    status: Status
    tool: str
    type: str
    location: str
    cause: str
    tally: str = ""
    """The newest occurrence's members, where its text reported several failures: `40 tests`."""

    template: str
    hint: str
    count: int
    streak: int
    first_seen_ns: int
    last_seen_ns: int
    ended: str = ""
    """How it was resolved or overcome: `ran setup_redis, then the same call succeeded`."""


class RunReport(FrozenModel, checks=False):
    """The account of one run."""

    run_id: str
    agent: str
    result: Result
    occurrences: int
    handled: int
    """Failures inside a call that in the end succeeded."""

    repeats: int = 0
    """Identical calls that succeeded again, in a row, with the same result."""

    after_escalation: int
    """Failures after an escalation that no `Continue` had lifted."""

    raw_tokens: int
    sent_tokens: int
    """Of what frameworks send without this library: `str(e)` of a live exception, otherwise the text."""

    digest_tokens: int
    classes: tuple[ClassReport, ...]
    """In the order in which they were first seen."""

    forgotten_classes: int = 0
    """Classes that were dropped because the run had too many."""

    escalations: tuple[AnsweredEscalation, ...]

    @property
    def class_count(self) -> int:
        """How many classes are in the account."""
        return len(self.classes)

    @property
    def escalation_count(self) -> int:
        """How many escalations are in the account."""
        return len(self.escalations)

    @property
    def recovered_count(self) -> int:
        """How many classes are recovered."""
        return sum(found.status == "RECOVERED" for found in self.classes)

    def to_markdown(self) -> str:
        """Return the report as a Markdown document."""
        head = [
            f"# Run {_escape_text(self.run_id)}: {self.result}",
            "",
            self._write_summary(),
        ]
        if self.forgotten_classes:
            head.append(f"{self.forgotten_classes} more classes were forgotten to bound memory.")
        return "\n".join([*head, *self._class_table(), *self._list_ends(), *self._escalation_list()]) + "\n"

    def _write_summary(self) -> str:
        failures = _pluralise_noun(self.occurrences, "failure", "failures")
        failed = f"{failures} in {_pluralise_noun(len(self.classes), 'class', 'classes')}"
        if self.result == "unknown":
            return f"{failed}. Raw errors {self.raw_tokens} tokens."
        handled = f", {self.handled} handled (inside calls that succeeded in the end)" if self.handled else ""
        again = f", {self.repeats} repeated (identical calls with the same result)" if self.repeats else ""
        after = f", {self.after_escalation} after an escalation" if self.after_escalation else ""
        return (
            f"{failed}{handled}{again}{after}. "
            f"Raw errors {self.raw_tokens} tokens, as frameworks send them {self.sent_tokens}, "
            f"digests {self.digest_tokens}."
        )

    def _class_table(self) -> list[str]:
        if not self.classes:
            return []
        rows = [
            f"| {found.status} | {_escape_text(found.tool)} | {_escape_text(_describe_class(found))} | {found.count} | "
            f"{_escape_text(found.hint)} | `{found.key}` |"
            for found in self.classes
        ]
        return ["", "| status | tool | error | count | hint | class |", "|---|---|---|---|---|---|", *rows]

    def _list_ends(self) -> list[str]:
        rows = [f"- `{found.key}`: {_escape_text(found.ended)}" for found in self.classes if found.ended]
        return ["", "## How they ended", "", *rows] if rows else []

    def _escalation_list(self) -> list[str]:
        if not self.escalations:
            return []
        rows = [
            f"- {answered.action}: {_escape_text(answered.escalation.reached)}"
            + (f" ({_escape_text(answered.message)})" if answered.message else "")
            for answered in self.escalations
        ]
        return ["", "## Escalations", "", *rows]


def report_class(error_class: ErrorClass) -> ClassReport:
    """Return the account of one error class."""
    facts = error_class.facts
    return ClassReport(
        key=error_class.key,
        status="RECOVERED" if error_class.resolved else "ESCALATED" if error_class.escalated else "ACTIVE",
        tool=error_class.tool,
        type=facts.type,
        location=str(facts.location),
        cause=facts.cause,
        tally=facts.tally,
        template=error_class.template,
        hint=error_class.hint,
        count=error_class.count,
        streak=error_class.streak,
        first_seen_ns=error_class.first_seen_ns,
        last_seen_ns=error_class.last_seen_ns,
        ended=error_class.ended,
    )


def _pluralise_noun(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _describe_class(found: ClassReport) -> str:
    where = f" at {found.location}" if found.location else ""
    tally = f" ({found.tally})" if found.tally else ""
    return f"[{found.type}]{where}: {found.cause}{tally}"


def _escape_text(text: str) -> str:
    return one_line(text).replace("|", "\\|")
