"""One session of the agent: its workspace, tools, run and results."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal

import otel_errcompact as errcompact
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_lab.cli.demo import tools as installed_tools
from otel_errcompact_lab.cli.demo.agent import TASK, Prompt, agent
from otel_errcompact_lab.cli.demo.project import write_project
from otel_errcompact_lab.cli.demo.server import servers

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from opentelemetry.trace import TracerProvider

    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.escalator.actions import Action, Handler
    from otel_errcompact.escalator.escalation import AnsweredEscalation
    from otel_errcompact_lab.cli.demo.agent import ToolCall
    from otel_errcompact_lab.cli.demo.tools import Answer

    Tools = Mapping[str, Callable[..., Answer]]

AGENT: Final = "sales-report"

MAX_STEPS: Final = 40
"""Where the harness itself ends the session; the run's gate ends it long before."""

Outcome = Literal["ok", "failed", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the agent, with its text and the raw text."""

    number: int
    call: ToolCall
    outcome: Outcome
    read: str
    """What the agent read."""

    digest: str
    """The digest of the failure, without the operator's words behind it; empty if there was none."""

    raw: str
    """The whole result of the tool; the agent's text where the call was refused."""

    sent: int
    """Tokens of what frameworks would have sent: `str(e)` of an exception, otherwise the raw text."""

    key: str
    """The error class of the failure; empty if there was none."""

    recent_errors: str
    """The block of recent errors in the agent's next prompt."""

    answered: AnsweredEscalation | None
    """The escalation after this step, with the operator's answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What came of a session."""

    steps: tuple[Step, ...]
    report: RunReport
    halted: str
    """Why the gate let the agent do no further step; empty if the agent had done its work."""


def play(show: Callable[[Step], None], tracer_provider: TracerProvider) -> Session:
    """Let the agent work in a temporary folder until its end."""
    with servers() as addresses, _open_workspace(addresses.upload) as tools:
        run = errcompact.run(agent=AGENT, on_escalation=_answer_with(addresses.mirror), tracer_provider=tracer_provider)
        return _run_session(run, tools, show)


@contextmanager
def _open_workspace(upload: str) -> Generator[Tools]:
    with TemporaryDirectory(prefix="shop-") as folder:
        root = Path(folder).resolve()
        write_project(root, upload)
        yield _load_tools(root)


def _load_tools(root: Path) -> Tools:
    spec = spec_from_file_location("demo_tools", copy(installed_tools.__file__, root))
    if spec is None or spec.loader is None:  # pragma: no cover - a Python file always has both
        raise ImportError(f"the tools in {root} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    tools: Tools = module.tools(root)
    return tools


def _answer_with(mirror: str) -> Handler:
    answers: Iterator[Action] = iter(
        (
            errcompact.Continue(f"uploads have moved, take the mirror: {mirror}"),
            errcompact.Halt("the mirror is broken too, I publish the report by hand"),
        )
    )
    return lambda _: next(answers)


def _run_session(run: errcompact.Run, tools: Tools, show: Callable[[Step], None]) -> Session:
    steps: list[Step] = []
    halted = ""
    with run:
        try:
            for step in _list_steps(run, tools):
                steps.append(step)
                show(step)
        except errcompact.RunHalted as stop:
            halted = stop.reason
    return Session(steps=tuple(steps), report=run.report(), halted=halted)


def _list_steps(run: errcompact.Run, tools: Tools) -> Iterator[Step]:
    worker = agent()
    call = next(worker)
    for number in range(1, MAX_STEPS + 1):
        step = _take_step(run, tools, number, call)
        yield step
        try:
            call = worker.send(Prompt(result=step.read, recent_errors=step.recent_errors))
        except StopIteration:
            return


def _take_step(run: errcompact.Run, tools: Tools, number: int, call: ToolCall) -> Step:
    settled = len(run.report().escalations)
    with run.tool(call.tool, arguments=call.arguments, call_id=f"call-{number}") as opened:
        if not opened.refused:
            answer = tools[call.tool](**call.arguments)
            opened.result = answer.text
            if answer.failed:
                opened.fail(answer.text, exit_code=answer.exit_code)
    failure = opened.failure
    return Step(
        number=number,
        call=call,
        outcome="failed" if failure else "refused" if opened.refused else "ok",
        read=opened.text,
        digest=failure.text if failure else "",
        raw=failure.raw.text if failure else opened.text,
        sent=failure.sent_tokens if failure else estimate_tokens(opened.text),
        key=failure.found.key if failure else "",
        recent_errors=run.digest(),
        answered=next(iter(run.report().escalations[settled:]), None),
    )


def model_calls(steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    """Yield tokens of the prompt and the answer before each step, estimated."""
    conversation, block = estimate_tokens(TASK), ""
    for step in steps:
        call = json.dumps({"tool": step.call.tool, **step.call.arguments})
        answer = estimate_tokens(step.call.thought) + estimate_tokens(call)
        yield conversation + estimate_tokens(block), answer
        block = step.recent_errors
        conversation += answer + estimate_tokens(step.read)
