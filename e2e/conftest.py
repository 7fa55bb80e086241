"""The running stack, filled with the telemetry of a demo, a replay and agents: one for the whole session."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from playwright.sync_api import sync_playwright

from e2e.browser import CURE, browser, flags
from e2e.build import BuildError, folder, go_is_missing
from e2e.driving import Agent, Done, run_errcompact
from e2e.programs import QUICK
from e2e.recipes import RECIPES
from e2e.stack import Stack, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser

SECRET: Final = "sk-ant-api03-Zt8Qw2Lm5Xr9Kd4Vb7Np1Hs6Jf3Gy0Tc"
"""Looks like a key of a model's provider, and is none."""

BESIDE_THE_SECRET: Final = "quartermaster-9f2"
"""Stands in the same message: where this arrived and the secret did not, it was taken out and not lost."""

RAW: Final = (
    "no route to warehouse 'Zürich Süd' for order 4711\n"
    "  tried:\t10.0.0.7:8443 → timeout\r\n"
    "  tried:\t10.0.0.8:8443 → «connection reset» \N{COLLISION SYMBOL}\n"
    f"  body: {'0123456789abcdef' * 512}"
)
"""A raw error with everything that is easily lost on the way: line ends, tabs, other scripts, 8 KiB in one line."""

TRANSCRIPT: Final = {
    "refused": ("Error: no access for app",) * 4,
    "recovered": ("Error: no such table: orders", "3 rows"),
    "clean": ("3 rows",),
}
"""Recorded runs and what their one tool answered, call by call."""

BURST: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """
    A command that has run against the stack.
    """

    service: str
    stdout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """
    What the agent did, step by step, and what it has counted itself.
    """

    service: str
    agent: Agent
    secret: Done
    raw: Done
    recovered: Done
    burst: Done
    escalated: Done
    unhandled: Done
    points: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """
    A first burst or a first escalation of a new service, for which the webhook was called.
    """

    alert: str
    labels: Mapping[str, str]
    seconds: float
    """From the failure that made it due to the webhook; infinite where it was not called."""


class Measured:
    """
    What `make e2e` prints at its end.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def __call__(self, what: str, value: float | str, unit: str = "s") -> None:
        """Remember one figure."""
        self.rows.append((what, value if isinstance(value, str) else f"{value:.1f} {unit}"))


def pytest_configure(config: pytest.Config) -> None:
    """Make the place for the figures, which the summary reads, and put what was built where other tests look for it."""
    config.stash[_FIGURES] = Measured()
    if not go_is_missing():
        folders = [str(folder(recipe)) for recipe in RECIPES]
        os.environ["PATH"] = os.pathsep.join([*folders, os.environ["PATH"]])


_FIGURES: Final = pytest.StashKey[Measured]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the figures of a worker to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_WORKER] = session.config.stash[_FIGURES].rows


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the figures of a worker."""
    rows = getattr(node, "workeroutput", {}).get(_WORKER, ())
    node.config.stash[_FIGURES].rows.extend((what, value) for what, value in rows)


_WORKER: Final = "errcompact_measured"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was measured."""
    rows = config.stash[_FIGURES].rows
    if rows:
        terminalreporter.section("measured")
        width = max(len(what) for what, _ in rows)
        for what, value in rows:
            terminalreporter.write_line(f"{what:<{width}}  {value}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Return Debian's Chromium, without a window; a process takes only one Playwright."""
    path = browser()
    if not path:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(CURE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=flags())
        yield started
        started.close()


@pytest.fixture(scope="session")
def measured(request: pytest.FixtureRequest) -> Measured:
    """Where figures are put that the summary prints."""
    return request.config.stash[_FIGURES]


@pytest.fixture(scope="session")
def bare_stack(tmp_path_factory: pytest.TempPathFactory, measured: Measured) -> Iterator[Stack]:
    """Every program of the stack, running and still empty."""
    missing = go_is_missing()
    if missing and not os.environ.get("CI"):
        pytest.skip(missing)
    try:
        running, took = start(tmp_path_factory.mktemp("stack"), **QUICK)
    except BuildError as error:
        pytest.fail(f"{error}; `make e2e` builds first")
    for service, seconds in took.items():
        measured(f"{service} ready after its start", seconds)
    yield running
    running.close()


@pytest.fixture(scope="session")
def stack(bare_stack: Stack, demo: Printed, replay: Printed, story: Story, pages: Sequence[Paged]) -> Stack:  # noqa: ARG001 - they fill it
    """The stack with the telemetry of a demo, a replay, an agent that fails in every way, and alerts that fired."""
    return bare_stack


@pytest.fixture(scope="session")
def filling(bare_stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Any]]:
    """Everything that fills the stack, at once: most of it is waiting."""
    directory = tmp_path_factory.mktemp("agents")
    teller = Agent(bare_stack, "e2e-agent", "grpc", directory)
    work: dict[str, Callable[[], object]] = {
        "demo": lambda: _demo(bare_stack, directory),
        "replay": lambda: _replay(bare_stack, directory),
        "story": lambda: _tell(teller),
        **{f"page {number}": _pager(bare_stack, directory, number) for number in range(3)},
    }
    with ThreadPoolExecutor(len(work)) as threads:
        begun = {name: threads.submit(what) for name, what in work.items()}
        yield {name: each.result() for name, each in begun.items()}
    teller.close()


@pytest.fixture
def agent(bare_stack: Stack, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Agent]:
    """An agent of a test's own."""
    own = Agent(bare_stack, f"e2e-{request.node.name.replace('_', '-')}", "grpc", tmp_path)
    own.do("succeed")
    yield own
    own.close()


@pytest.fixture(scope="session")
def demo(filling: Mapping[str, Any]) -> Printed:
    """`errcompact demo`, exporting over gRPC."""
    return filling["demo"]


@pytest.fixture(scope="session")
def replay(filling: Mapping[str, Any]) -> Printed:
    """`errcompact replay --json` of recorded runs, exporting over HTTP."""
    return filling["replay"]


@pytest.fixture(scope="session")
def story(filling: Mapping[str, Any]) -> Story:
    """What an agent did that fails in every way; it is still running."""
    return filling["story"]


@pytest.fixture(scope="session")
def pages(filling: Mapping[str, Any]) -> Sequence[Paged]:
    """First bursts and first escalations of new services, at different phases of the intervals in between."""
    return [paged for name, found in filling.items() if name.startswith("page ") for paged in found]


@pytest.fixture
def plain(bare_stack: Stack) -> str:
    """The service of a program that knows nothing of the library, and has recorded three exceptions."""
    service = "e2e-plain"
    tracers = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(f"{bare_stack.collector_http}/v1/traces")
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    attributes = {"gen_ai.tool.name": "fetch", "gen_ai.agent.name": "other"}
    for attempt in range(3):
        with (
            suppress(TimeoutError),
            tracers.get_tracer("anybody").start_as_current_span("fetch", attributes=attributes),
        ):
            raise TimeoutError(f"no answer to request {attempt}")
    tracers.shutdown()
    return service


def _demo(stack: Stack, directory: Path) -> Printed:
    done = run_errcompact(stack, "e2e-demo", "grpc", "demo", "--plain", directory=directory, namespace="reports")
    return Printed(service="e2e-demo", stdout=done.stdout)


def _replay(stack: Stack, directory: Path) -> Printed:
    transcript = directory / "transcript.jsonl"
    with transcript.open("w", encoding="utf-8") as file:
        for task, answers in TRANSCRIPT.items():
            file.write(json.dumps(_conversation(task, answers)) + "\n")
    done = run_errcompact(
        stack, "e2e-replay", "http/protobuf", "replay", "--json", str(transcript), directory=directory
    )
    return Printed(service="e2e-replay", stdout=done.stdout)


def _conversation(task: str, answers: Sequence[str]) -> object:
    messages: list[object] = [{"role": "user", "content": "How many rows?"}]
    for number, answer in enumerate(answers):
        function = {"name": "db.query", "arguments": json.dumps({"attempt": number})}
        messages.append(
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": answer})
    return {"task_id": task, "reward": 1.0, "traj": messages}


def _tell(agent: Agent) -> Story:
    secret = agent.do("burst", message=f"login of {BESIDE_THE_SECRET} failed: key {SECRET} was refused", tool="login")
    raw = agent.do("burst", message=RAW, tool="route")
    recovered = agent.do("burst", message="the index is being rebuilt", times=2, recovers=True)
    burst = agent.do("burst", message="connection to 10.0.0.1:5432 refused", times=BURST, tool="db.query")
    escalated = agent.do("escalate", message="quota of project exceeded", more=4)
    unhandled = agent.do("watch", message="the printer is on fire")
    agent.do("succeed", times=3, calls=3)
    agent.do("converse")
    return Story(
        service=agent.service,
        agent=agent,
        secret=secret,
        raw=raw,
        recovered=recovered,
        burst=burst,
        escalated=escalated,
        unhandled=unhandled,
        points=agent.points(),
    )


def _pager(stack: Stack, directory: Path, number: int) -> Callable[[], Sequence[Paged]]:
    def page() -> Sequence[Paged]:
        agent = Agent(stack, f"e2e-pager-{number}", "grpc" if number % 2 else "http/protobuf", directory)
        try:
            # It has been running for some time when the first thing fails, each for another while.
            agent.do("succeed")
            time.sleep(3.3 * number)
            burst = agent.do("burst", message="connection to 10.0.0.1:5432 refused", times=BURST, tool="db.query")
            escalated = agent.do("escalate", message="quota of project exceeded")
            key = burst.answer[-1]["key"]
            return [
                _paged(stack, "AgentErrorRecurring", burst.ended, service_name=agent.service, errcompact_class=key),
                _paged(stack, "AgentRunEscalated", escalated.ended, service_name=agent.service),
            ]
        finally:
            agent.close()

    return page


def _paged(stack: Stack, alert: str, failed_at: float, **labels: str) -> Paged:
    while time.time() < failed_at + 60:
        told = stack.webhook.firing(alert, **labels)
        if told:
            return Paged(alert=alert, labels=labels, seconds=told[0].at - failed_at)
        time.sleep(0.1)
    return Paged(alert=alert, labels=labels, seconds=float("inf"))
