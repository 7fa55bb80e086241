"""
Settle: decide every failure by one table, whatever signal recorded it.

Each row has a test of its own name in `tests/otel/spans/test_settling.py`.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Final, Literal, NamedTuple

Subject = Literal["span", "boundary", "record", "mention", "pending"]
"""What is settled: the end of a plain span or of a boundary, a log record, or a pending failure; a mention is a failure
that a span has recorded and not ended with."""


class Outcome(Enum):
    """
    What becomes of a failure.
    """

    COUNT = "count"
    """An occurrence: the ledger counts it now."""

    DEFER = "defer"
    """Pending until the boundary around it ends."""

    LINK = "link"
    """One more record of a known occurrence."""

    FOLLOW = "follow"
    """A boundary of this library counts it; the spans around are to recognise it."""

    HANDLE = "handle"
    """The call around it has succeeded, or failed with something else: for the operator only."""

    SUCCEED = "succeed"
    """No failure: the ledger counts a success of the operation."""

    IGNORE = "ignore"
    """Neither a failure nor a success."""


class Situation(NamedTuple):
    """
    Holds what is known of a failure or boundary at settlement.
    """

    subject: Subject
    failed: bool = False
    """A failure ended the span."""

    erred: bool = False
    """The span's status is ERROR."""

    settled: bool = False
    """A boundary of this library counts the call."""

    known: bool = False
    """Another span, or a log record, has recorded the failure first."""

    counted: bool = False
    """The ledger has counted the failure."""

    told: bool = False
    """The last call of the tool inside, by a boundary of this library, has failed: the agent has its digest."""

    part: bool = False
    """The pending failure is that of the boundary, or the cause of it."""

    inside: bool = False
    """A boundary around it is open."""

    void: bool = False
    """The span proves to be no boundary, though its start promised one."""

    incidental: bool = False
    """A log record below ERROR that is no event of its own: an application mentions the exception and continues."""

    steered: bool = False
    """Control flow ends the span."""

    routine: bool = False
    """A model has answered, and none of its failures is open."""


class Row(NamedTuple):
    """
    One row of the table.
    """

    name: str
    subject: Subject
    when: dict[str, bool]
    """What of the situation must hold; the rest may be anything."""

    outcome: Outcome
    why: str

    def matches(self, situation: Situation) -> bool:
        """Return whether a situation is this row's."""
        return self.subject == situation.subject and all(
            getattr(situation, fact) is value for fact, value in self.when.items()
        )


TABLE: Final = (
    Row("healthy span", "span", {"failed": False}, Outcome.IGNORE, "nothing has failed"),
    Row("span of ours", "span", {"settled": True}, Outcome.FOLLOW, "our boundary counts it"),
    Row("span of a known failure", "span", {"known": True}, Outcome.LINK, "one failure is one occurrence"),
    Row("span inside a boundary", "span", {"inside": True}, Outcome.DEFER, "the boundary's end decides"),
    Row("span outside", "span", {}, Outcome.COUNT, "nothing around it can handle the failure"),
    Row("failed call of ours", "boundary", {"settled": True, "failed": True}, Outcome.FOLLOW, "our boundary counts it"),
    Row("call of ours", "boundary", {"settled": True}, Outcome.IGNORE, "our boundary counts it"),
    Row("boundary of a counted failure", "boundary", {"failed": True, "counted": True}, Outcome.LINK, "it counts once"),
    Row("boundary around a failed call of ours", "boundary", {"failed": True, "told": True}, Outcome.LINK, "it counts"),
    Row("boundary inside a boundary", "boundary", {"failed": True, "inside": True}, Outcome.DEFER, "the outer decides"),
    Row("failed boundary", "boundary", {"failed": True}, Outcome.COUNT, "the agent sees this failure"),
    Row("declined call", "boundary", {"erred": True}, Outcome.IGNORE, "a refusal or an interrupt is no failure"),
    Row("steered call", "boundary", {"steered": True}, Outcome.IGNORE, "control flow is no success"),
    Row("call with a digest as its result", "boundary", {"told": True}, Outcome.IGNORE, "the call inside has failed"),
    Row("answer of a model", "boundary", {"routine": True}, Outcome.IGNORE, "no step of the agent: no loop ends by it"),
    Row("call that succeeded", "boundary", {}, Outcome.SUCCEED, "it may resolve a class"),
    Row("record of a known failure", "record", {"known": True}, Outcome.LINK, "one failure is one occurrence"),
    Row("record inside a boundary", "record", {"inside": True}, Outcome.DEFER, "the boundary's end decides"),
    Row("incidental record", "record", {"incidental": True}, Outcome.IGNORE, "it counts if it leaves a span"),
    Row("record in a call of ours", "record", {"settled": True}, Outcome.IGNORE, "our boundary counts what leaves it"),
    Row("record outside", "record", {}, Outcome.COUNT, "it reports that an operation has failed"),
    Row("mention in a call of ours", "mention", {"settled": True}, Outcome.IGNORE, "our boundary has recorded it"),
    Row("mention inside a boundary", "mention", {"inside": True}, Outcome.DEFER, "the boundary may fail with it"),
    Row("mention outside", "mention", {}, Outcome.HANDLE, "the span got over it"),
    Row("pending inside two boundaries", "pending", {"void": True, "inside": True}, Outcome.DEFER, "the outer decides"),
    Row("pending incidental record", "pending", {"void": True, "incidental": True}, Outcome.HANDLE, "alone it is none"),
    Row("pending in a void boundary", "pending", {"void": True}, Outcome.COUNT, "nothing around it can handle it"),
    Row("pending part of the boundary's failure", "pending", {"part": True}, Outcome.LINK, "the boundary's counts"),
    Row("pending and left behind", "pending", {}, Outcome.HANDLE, "the boundary got over it"),
)
"""The first row that matches decides."""


def find_row(situation: Situation) -> Row:
    """Return the row that decides in a situation."""
    return next(row for row in TABLE if row.matches(situation))


@cache  # a healthy tool call is decided too, and there are few situations
def decide(situation: Situation) -> Outcome:
    """Return what becomes of a failure."""
    return find_row(situation).outcome
