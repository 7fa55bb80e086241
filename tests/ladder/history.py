"""Histories of runs: what may happen, and the player that lives one with the library and with the model at once."""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hypothesis import strategies as st

import otel_errcompact as errcompact
from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.config import Options
from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Continue, Halt, Pause
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.escalator.thresholds import Thresholds
from tests.ladder.model import Answer, Began, Ended, Job, Kind, Limits, Model, by_turn
from tests.ladder.words import list_unread, read_block, read_counts

# The alphabet: few calls, of which some are identical, some of one operation, and one covers two others.


@dataclass(frozen=True)
class Tool:
    """A call that a history may make."""

    job: Job
    name: str
    arguments: dict[str, object] | None


def _bash(command: str, operation: str, *covers: str) -> Tool:
    return Tool(Job(command, operation, frozenset(covers)), "bash", {"command": command})


def _edit(path: str, text: str) -> Tool:
    return Tool(Job(f"edit {path} {text}", f"edit {path}"), "edit", {"path": path, "new_string": text})


TOOLS: Final = (
    _bash("pytest", "pytest", "pytest tests/test_a.py", "pytest tests/test_b.py"),
    _bash("pytest tests/test_a.py", "pytest tests/test_a.py"),
    _bash("pytest -x tests/test_a.py", "pytest tests/test_a.py"),
    _bash("pytest tests/test_b.py", "pytest tests/test_b.py"),
    _edit("src/cart.py", "one"),
    _edit("src/cart.py", "two"),
    _edit("src/rates.py", "one"),
    Tool(Job("", "look"), "look", None),
)

PERMANENT: Final = Kind("permanent")
TRANSIENT: Final = Kind("transient", transient=True, unknown=True)
REJECTED: Final = Kind("rejected", rejected=True)
MISNAMED: Final = Kind("misnamed", misnamed=True)
KINDS: Final = (PERMANENT, TRANSIENT, REJECTED, MISNAMED)
NOT_FOUND: Final = "bash: foo: command not found"

Outcome = Literal[
    "permanent",
    "transient",
    "rejected",
    "misnamed",
    "success",
    "insisted",
    "honoured",
    "passed_on",
    "unread",
    "cancelled",
    "declined",
]
"""
How a block ends. `insisted` reads `call.refused` and executes the call all the same, `honoured` executes nothing if it
is set, `passed_on` makes the refusal its result, `unread` has never looked at it and leaves no result.
"""


# The steps of a history. Indices are taken modulo what there is, so that every list of steps is a history.


@dataclass(frozen=True)
class Begin:
    tool: int


@dataclass(frozen=True)
class End:
    call: int
    outcome: Outcome


@dataclass(frozen=True)
class Whole:
    """A call that begins and ends with nothing between."""

    tool: int
    outcome: Outcome


Word = Literal["turn", "resume", "rejoin", "helper", "restart"]
Step = Begin | End | Whole | Word

ENDS: Final[tuple[Outcome, ...]] = (
    *("permanent", "permanent", "permanent", "permanent", "transient", "rejected", "rejected", "misnamed", "misnamed"),
    *("success", "success", "insisted", "honoured", "honoured", "passed_on", "unread", "cancelled", "declined"),
)
ANSWERS: Final = st.sampled_from(["continue", "continue", "continue", "halt", "pause"])


@dataclass(frozen=True)
class History:
    """What happens in a run, and under which limits."""

    limits: Limits
    answers: tuple[Answer, ...]
    """What the handler says, in turn; it begins again when all is said."""

    tools: tuple[int, ...]
    """Which of the calls it makes."""

    steps: tuple[Step, ...]


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """Draw the defaults, or low limits that are soon reached."""
    if draw(st.booleans()):
        return Limits(handled=draw(st.booleans()))
    loop = draw(st.integers(2, 4))
    return Limits(
        same=draw(st.integers(2, 4)),
        rejected=draw(st.integers(2, 5)),
        loop=loop,
        loop_halt=loop + draw(st.integers(1, 3)),
        refuse=draw(st.integers(1, 3)),
        consecutive=draw(st.integers(2, 6)),
        total=draw(st.sampled_from([30, 9, 5, 3])),
        halts=draw(st.frozensets(st.sampled_from(["same", "rejected", "loop", "consecutive", "total"]), max_size=2)),
        handled=draw(st.booleans()),
        mode=draw(st.sampled_from(["enforce", "enforce", "enforce", "advise", "observe"])),
    )


AGENT: Final = "shop"
CHOSEN: Final = 4
"""Calls that one history makes at most, so that they meet."""

STEPS: Final[tuple[Step, ...]] = (
    *("turn",) * 12,
    *("resume", "resume", "resume", "rejoin", "helper", "restart"),
    *(Begin(tool) for tool in range(CHOSEN)),
    *(Begin(0),) * 3,
    *(End(call, outcome) for call in range(2) for outcome in ENDS),
    *(Whole(tool, outcome) for tool in range(CHOSEN) for outcome in ENDS),
    *(Whole(0, "permanent"), Whole(0, "rejected"), Whole(0, "honoured"), Whole(1, "permanent")) * 4,
)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a history of up to 40 steps."""
    length = draw(st.integers(0, 40))
    return History(
        draw(limits()),
        draw(st.lists(ANSWERS, min_size=1, max_size=3).map(tuple)),
        draw(st.lists(st.sampled_from(range(len(TOOLS))), min_size=1, max_size=CHOSEN, unique=True).map(tuple)),
        draw(st.lists(st.sampled_from(STEPS), min_size=length, max_size=length).map(tuple)),
    )


@dataclass
class OpenCall:
    """A call under way, in a context of its own as a task's or a thread's is."""

    call: errcompact.Call
    context: Context
    tick: int


@dataclass
class Player:
    """Lives a history with the library and with the model, and compares them after every step."""

    history: History
    run_id: str = "r"
    model: Model = field(init=False)
    ledger: Ledger = field(init=False)
    run: errcompact.Run = field(init=False)
    open_calls: list[OpenCall] = field(default_factory=list)
    keys: dict[str, Kind] = field(default_factory=dict)
    asked: int = 0

    def __post_init__(self) -> None:
        limits = self.history.limits
        self.ledger = Ledger(Options(mode=limits.mode))
        self.begin_run()

    @property
    def next_answer(self) -> Answer:
        return self.history.answers[self.asked % len(self.history.answers)]

    def ask(self, escalation: Escalation) -> Continue | Halt | Pause:
        answer = self.next_answer
        self.asked += 1
        return {"continue": Continue("try the other one"), "halt": Halt("enough"), "pause": Pause("Ann looks")}[answer]

    def play(self) -> None:
        for step in self.history.steps:
            self.step(step)
            self.compare()

    # What happens.

    def begin_run(self) -> None:
        self.model = Model(self.history.limits)
        self.keys.clear()
        self.join_run()

    def join_run(self, agent: str = AGENT) -> None:
        limits = self.history.limits
        self.run = errcompact.run(
            self.run_id,
            agent=agent,
            ledger=self.ledger,
            on_escalation=self.ask if limits.handled else None,
            thresholds=Thresholds(
                same=limits.same,
                rejected=limits.rejected,
                loop=limits.loop,
                loop_halt=limits.loop_halt,
                refuse=limits.refuse,
                consecutive=limits.consecutive,
                total=limits.total,
                halts=limits.halts,
            ),
        )
        self.run.port.open()
        self.model.open()

    def step(self, step: Step) -> None:
        if isinstance(step, Begin):
            self.begin(self.tool(step.tool))
        elif isinstance(step, End):
            if self.open_calls:
                self.end(self.open_calls.pop(step.call % len(self.open_calls)), step.outcome)
        elif isinstance(step, Whole):
            if (opened := self.begin(self.tool(step.tool))) is not None:
                self.open_calls.remove(opened)
                self.end(opened, step.outcome)
        elif step == "turn":
            self.run.begin_turn()
            self.model.turn()
        elif step == "resume":
            self.run.resume("go on")
            self.model.resume()
        elif step == "rejoin":
            self.join_run()
        elif step == "helper":
            self.join_run("helper")
        elif not self.open_calls:
            self.end_run()
            self.begin_run()

    def end_run(self) -> None:
        expected = self.model.result()
        self.run.port.close()
        assert self.run.report().result == expected

    def tool(self, index: int) -> Tool:
        return TOOLS[self.history.tools[index % len(self.history.tools)]]

    def begin(self, tool: Tool) -> OpenCall | None:
        """Begin a call, unless the run was stopped: then the call must not begin."""
        call = self.run.tool(tool.name, arguments=tool.arguments)
        context = copy_context()
        standing = self.model.standing()
        try:
            context.run(call.__enter__)
        except RunHalted as stop:
            stopped = "pause" if isinstance(stop, RunPaused) else "halt"
        else:
            stopped = "carry_on"
        assert stopped == standing
        if stopped != "carry_on":
            return None
        opened = OpenCall(call, context, self.model.begin(tool.job, self.run.agent))
        self.open_calls.append(opened)
        return opened

    def end(self, opened: OpenCall, outcome: Outcome) -> None:
        call, model = opened.call, self.model
        answer, asked = self.next_answer, self.asked
        refused = model.was_refused(opened.tick)
        error: BaseException | None = None
        if outcome == "success":
            call.result = "3 rows"
        elif outcome == "insisted":
            assert bool(call.refused) == refused
            call.result = "3 rows"
        elif outcome == "honoured":
            assert bool(call.refused) == refused
        elif outcome == "passed_on":
            call.result = call.refused or "3 rows"
            assert (call.result != "3 rows") == refused
        elif outcome == "declined":
            call.result = "The user doesn't want to proceed with this tool use."
        elif outcome == "cancelled":
            error = asyncio.CancelledError()
        elif outcome == "permanent":
            error = KeyError("total")
        elif outcome == "transient":
            error = TimeoutError("timed out")
        elif outcome == "misnamed":
            error = FileNotFoundError(2, "No such file or directory", "totals.csv")
        elif outcome == "rejected":
            call.fail(NOT_FOUND, exit_code=127)
        swallowed = opened.context.run(call.__exit__, type(error) if error else None, error, None)
        assert swallowed == (outcome in ("permanent", "transient", "misnamed"))
        honoured = refused and outcome in ("honoured", "passed_on")
        ended = self.ended(opened.tick, "refused" if honoured else outcome)
        reached = model.escalate(ended, answer) if ended.outcome in ("failure", "refused") else None
        expected_asked = (
            reached is not None and self.history.limits.handled and model.escalations()[-1][1] != "unhandled"
        )
        assert self.asked == asked + expected_asked
        self.compare_call(call, ended, honoured=honoured)
        if honoured:
            self.compare_refusal(call.text, opened.tick)

    def ended(self, tick: int, outcome: Outcome | Literal["refused"]) -> Ended:
        if outcome in ("cancelled", "declined"):
            return self.model.end(tick, "ignored")
        if outcome in ("permanent", "transient", "rejected", "misnamed"):
            return self.model.end(tick, "failure", next(kind for kind in KINDS if kind.name == outcome))
        return self.model.end(tick, "refused" if outcome == "refused" else "success")

    # What must be equal.

    def compare_call(self, call: errcompact.Call, ended: Ended, *, honoured: bool) -> None:
        assert (call.failure is not None) == (ended.outcome == "failure")
        assert call.failed == (honoured or ended.outcome == "failure")
        assert ("NOT EXECUTED" in call.text) == honoured, call.text
        if call.failure is None or ended.kind is None:
            return
        assert self.keys.setdefault(call.failure.found.key, ended.kind) == ended.kind
        assert (call.failure.kind.transient, call.failure.kind.rejected) == (ended.kind.transient, ended.kind.rejected)
        before = Model(self.model.limits, self.model.events[: ended.at + 1])
        expected, counts = before.counts(ended), call.failure.counts
        assert call.failure.count == before.count(ended.kind)
        assert call.failure.streak == expected.streak
        assert _fields(counts) == {name: getattr(expected, name) for name in _fields(counts)}
        if self.history.limits.mode != "observe":
            known = {"count": call.failure.count, "streak": expected.streak} | _fields(expected)
            self.compare_words(call.text, known, call.failure.escalation)

    def compare_words(self, text: str, known: dict[str, int], escalation: Escalation | None = None) -> None:
        """Each number that the agent reads is one that it would count itself."""
        limits, read = self.history.limits, read_counts(text)
        assert list_unread(text) == [], text
        limit = read.pop("limit", 0)
        if limit and escalation is None:  # one short of it
            assert limit in {getattr(limits, name) for name in ("same", "rejected", "loop", "consecutive", "total")}
            assert limit - 1 in {known[name] for name in ("same", "rejected", "loop", "consecutive", "total")}, text
        elif limit and escalation is not None:
            assert limit == escalation.limit, text
        assert read.pop("loop halt", limits.loop_halt) == limits.loop_halt, text
        assert read == {name: known[name] for name in read}, text

    def compare_refusal(self, text: str, tick: int) -> None:
        """A refusal names the executed failures of the call that began at `tick`, and which attempt it is."""
        before, call = Model(self.model.limits, self.model.events[:tick]), self.model.events[tick]
        assert isinstance(call, Began)
        identical = before.identical(call.job, call.agent)
        executed = by_turn(each for each in identical if each.kind)
        self.compare_words(text, {"executed": executed, "attempt": by_turn(identical) + 1})

    def compare(self) -> None:
        block = read_block(self.run.digest())
        shorts = {
            key[: len(short)]: kind for key, kind in self.keys.items() for short in block if key.startswith(short)
        }
        counted = {
            short: (self.model.count(kind), max(1, self.model.longest_streak(kind))) for short, kind in shorts.items()
        }
        assert block == counted
        reported, expected = self.reported(), self.expected()
        different = {name: (reported[name], expected[name]) for name in expected if reported[name] != expected[name]}
        assert different == {}, f"{different} (library, model)"

    def reported(self) -> dict[str, object]:
        """The run as the library reports it."""
        report, standing = self.run.report(), self.run.verdict.standing
        return {
            "classes": [
                (self.keys[found.key].name, found.count, found.streak, found.status) for found in report.classes
            ],
            "occurrences": report.occurrences,
            "escalations": [
                (answered.escalation.threshold, answered.escalation.count, answered.escalation.limit, answered.action)
                for answered in report.escalations
            ],
            "after escalation": report.after_escalation,
            "standing": standing if standing in ("halt", "pause") else "carry_on",
            "result": report.result,
            "refused": [
                tool.job
                for tool in TOOLS
                if self.ledger.refusal(
                    Refused(run_id=self.run_id, tool=tool.name, arguments=as_text(tool.arguments), agent=self.run.agent)
                )
            ],
        }

    def expected(self) -> dict[str, object]:
        """The run as the model reports it."""
        model = self.model
        return {
            "classes": [
                (kind.name, model.count(kind), model.longest_streak(kind), model.status(kind)) for kind in model.kinds()
            ],
            "occurrences": len(model.failures()),
            "escalations": [(step.threshold, step.count, step.limit, answer) for step, answer in model.escalations()],
            "after escalation": model.after_escalation(),
            "standing": model.standing(),
            "result": model.result(),
            "refused": [tool.job for tool in TOOLS if model.is_refused(tool.job, self.run.agent)],
        }


def _fields(counts: Any) -> dict[str, int]:
    return {name: getattr(counts, name) for name in ("same", "rejected", "loop", "consecutive", "total")}
