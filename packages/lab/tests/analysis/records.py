"""Recorded runs with few words: every text counts in the context, as in those that readers make."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts import RecordedRun

REFUSED = "ConnectionError: no such host found"
"""Nine tokens."""

MISSING = "FileNotFoundError: no such file"
"""Eight tokens."""

DECLINED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
ROWS = "3 rows"
"""Two tokens."""

TASK = "How many orders were there yesterday?..."
"""Ten tokens."""


class Step(NamedTuple):
    """
    One tool call of a run.
    """

    result: str
    flagged: bool | None = None
    tool: str = "db.query"
    arguments: str = "{}"
    exit_code: int | None = None


def failing(result: str = REFUSED, tool: str = "db.query") -> Step:
    return Step(result, flagged=True, tool=tool)


def healthy(tool: str = "db.query") -> Step:
    return Step(ROWS, flagged=False, tool=tool)


def run(
    *turns: Step | tuple[Step, ...],
    run_id: str = "run-1",
    agent: str = "shop",
    succeeded: bool | None = None,
    answer: str = "",
) -> RecordedRun:
    """Make a run of turns: one call, or several at once; each call says one token, `{}`, beside its result."""
    builder = RunBuilder()
    builder.say(TASK)
    for turn in turns:
        steps = (turn,) if isinstance(turn, Step) else turn
        for number, step in enumerate(steps):
            builder.request(str(number), tool=step.tool, arguments=step.arguments)
        for number, step in enumerate(steps):
            builder.answer(str(number), result=step.result, flagged=step.flagged, exit_code=step.exit_code)
    builder.say(answer)
    return builder.build(run_id, agent, "runs/shop.jsonl", succeeded=succeeded)
