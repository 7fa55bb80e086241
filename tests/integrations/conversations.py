"""
Conversations as data, and what each must come to: the same in every framework, written out by hand.

A framework's test plays `turns` with its own scripted model and the two tools of `Tools`, and gives what it has seen to
`verify`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import otel_errcompact as errcompact
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.report import RunReport
from otel_errcompact.escalator.actions import Action
from tests.successes import SAMPLE, answer_with

if TYPE_CHECKING:
    from otel_errcompact.escalator.thresholds import Mode

OK: Final = "ok"
MOST_TURNS: Final = 5
"""Of a conversation in which nothing fails: frameworks have limits of their own."""


class InvalidToolInput(Exception):
    """
    What a tool raises that has looked at its arguments and done nothing.
    """


WRONG = "expected 4, got 1"
REFUSED_INPUT = "String to replace not found in file."
UNAVAILABLE = "503 Service Unavailable"
FAILURES: Final[dict[str, type[Exception]]] = {
    WRONG: ValueError,
    REFUSED_INPUT: InvalidToolInput,
    UNAVAILABLE: ConnectionError,
}
GUIDANCE: Final = "the numbers are in b.py"


async def let_others_begin() -> None:
    """
    Give way until all calls of a turn have begun, on however slow a machine.

    They need three passes of the event loop.
    """
    for _ in range(100):
        await asyncio.sleep(0)


class Ask(NamedTuple):
    """
    A call that the model asks for, and what comes of it if it is executed.
    """

    tool: str
    path: str
    text: str = ""
    outcome: str = OK
    answer: str = OK
    """What it returns where its outcome is OK."""

    @property
    def arguments(self) -> dict[str, str]:
        return {"path": self.path, "text": self.text}


class Tools:
    """
    The two tools, which do what the conversation says, and what was executed.

    Args:
        turns: What the model asks for.
    """

    def __init__(self, turns: tuple[tuple[Ask, ...], ...]) -> None:
        self._left = [ask for turn in turns for ask in turn]
        self.executed: list[tuple[str, str, str]] = []

    def check(self, path: str, text: str = "") -> str:
        """Run the checks of a file."""
        return self._run("check", path, text)

    def edit(self, path: str, text: str = "") -> str:
        """Edit a file."""
        return self._run("edit", path, text)

    def _run(self, tool: str, path: str, text: str) -> str:
        ask = next(ask for ask in self._left if ask[:3] == (tool, path, text))
        self._left.remove(ask)
        self.executed.append((tool, path, text))
        if ask.outcome != OK:
            raise FAILURES[ask.outcome](ask.outcome)
        return ask.answer


class Class(NamedTuple):
    """
    What the report says of one class.
    """

    type: str
    status: str
    count: int
    streak: int


class Step(NamedTuple):
    """
    What the report says of one escalation.
    """

    threshold: str
    count: int
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """
    What a conversation comes to.
    """

    result: str
    executed: int
    """Calls that were executed; all of them, unless some are refused or the run ends."""

    classes: tuple[Class, ...]
    escalations: tuple[Step, ...] = ()
    refused: int = 0
    """Calls of which the model reads, or would read if the run went on, that they were not executed."""

    raw: bool = False
    """Whether the model reads what it would read without the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """
    What a model asks for, turn by turn, and what it comes to.
    """

    name: str
    turns: tuple[tuple[Ask, ...], ...]
    ending: Ending
    served: Ending | None = None
    """What it comes to at a server, which knows of no turns and has no run to stop; as elsewhere if None."""

    answer: Action | None = None
    """What the escalation handler answers; without one there is none."""

    mode: Mode = "enforce"

    @property
    def settings(self) -> dict[str, Any]:
        """What the run, or its integration, is made with: the thresholds as they are by default."""
        answer = self.answer
        handler: Callable[[errcompact.Escalation], Action] | None = None
        if answer is not None:
            handler = lambda _: answer  # noqa: E731 - mypy knows its type from the line above
        return {"thresholds": errcompact.Thresholds(), "mode": self.mode, "on_escalation": handler}


def _alone(*asks: Ask) -> tuple[tuple[Ask, ...], ...]:
    return tuple((ask,) for ask in asks)


def _successes() -> Iterator[Conversation]:
    # A success whose answer holds an error is read as it is.
    answers = [answer_with(text) for text in SAMPLE.values()]
    for first in range(0, len(answers), MOST_TURNS):
        turns = _alone(
            *(Ask("check", "a.py", str(at), answer=said) for at, said in enumerate(answers[first:][:MOST_TURNS]))
        )
        ending = Ending(result="clean", executed=len(turns), classes=(), raw=True)
        yield Conversation(name=f"answers that hold errors, from {first}", turns=turns, ending=ending)


FAILS = Ask("check", "a.py", outcome=WRONG)
LOOP = _alone(*[FAILS] * 7)
THREE = _alone(*[FAILS._replace(text=text) for text in "123"])
CHECKS = ("check", "ValueError")

CONVERSATIONS: Final = (
    Conversation(
        name="a cycle of edits and checks that gets there",
        turns=_alone(
            FAILS, Ask("edit", "a.py", "1"), FAILS, Ask("edit", "a.py", "2"), FAILS, Ask("edit", "a.py", "3"),
            Ask("check", "a.py"),
        ),
        ending=Ending(
            result="recovered", executed=7, classes=(Class("ValueError", "RECOVERED", 3, 0),),
            escalations=(Step("same", 3, "unhandled"),),
        ),
    ),
    Conversation(
        name="one executed failure three times",
        turns=THREE,
        ending=Ending(
            result="unresolved", executed=3, classes=(Class("ValueError", "ESCALATED", 3, 3),),
            escalations=(Step("same", 3, "unhandled"),),
        ),
    ),
    Conversation(
        name="rejected input five times",
        turns=_alone(*(Ask("edit", "a.py", text, REFUSED_INPUT) for text in "12345")),
        ending=Ending(
            result="unresolved", executed=5, classes=(Class("InvalidToolInput", "ESCALATED", 5, 5),),
            escalations=(Step("rejected", 5, "unhandled"),),
        ),
    ),
    Conversation(
        name="an identical loop to its refusal and its halt",
        turns=LOOP,
        ending=Ending(
            result="halted", executed=2, refused=4, classes=(Class("ValueError", "ESCALATED", 2, 2),),
            escalations=(Step("loop", 4, "unhandled"), Step("loop", 6, "halt")),
        ),
        served=Ending(
            result="unresolved", executed=2, refused=5, classes=(Class("ValueError", "ESCALATED", 2, 2),),
            escalations=(Step("loop", 4, "unhandled"), Step("loop", 6, "unhandled")),
        ),
    ),
    Conversation(
        name="an identical loop to a handler that halts it",
        turns=LOOP,
        answer=errcompact.Halt("not today"),
        ending=Ending(
            result="halted", executed=2, refused=2, classes=(Class("ValueError", "ESCALATED", 2, 2),),
            escalations=(Step("loop", 4, "halt"),),
        ),
        served=Ending(
            result="halted", executed=2, refused=5, classes=(Class("ValueError", "ESCALATED", 2, 2),),
            escalations=(Step("loop", 4, "halt"),),
        ),
    ),
    Conversation(
        name="three calls of one turn that fail alike",
        turns=(tuple(ask for turn in THREE for ask in turn),),
        ending=Ending(result="unresolved", executed=3, classes=(Class("ValueError", "ACTIVE", 3, 1),)),
    ),
    Conversation(
        name="a service that is away three times and then there",
        turns=_alone(*[Ask("check", "a.py", outcome=UNAVAILABLE)] * 3, Ask("check", "a.py")),
        ending=Ending(
            result="recovered", executed=4, classes=(Class("ConnectionError", "RECOVERED", 3, 0),),
        ),
    ),
    Conversation(
        name="a resolution that is taken back",
        turns=_alone(FAILS, Ask("check", "a.py", "other"), FAILS),
        ending=Ending(result="unresolved", executed=3, classes=(Class("ValueError", "ACTIVE", 2, 2),)),
    ),
    Conversation(
        name="an operator who lets it go on with a message",
        turns=(*THREE, *_alone(FAILS._replace(text="4"))),
        answer=errcompact.Continue(GUIDANCE),
        ending=Ending(
            result="unresolved", executed=4, classes=(Class("ValueError", "ESCALATED", 4, 1),),
            escalations=(Step("same", 3, "continue"),),
        ),
    ),
    Conversation(
        name="an identical loop that is observed",
        turns=LOOP,
        mode="observe",
        answer=errcompact.Halt(),
        ending=Ending(
            result="unresolved", executed=7, raw=True, classes=(Class("ValueError", "ESCALATED", 7, 7),),
            escalations=(
                Step("same", 3, "unhandled"), Step("loop", 4, "unhandled"), Step("loop", 6, "unhandled"),
                Step("consecutive", 7, "unhandled"),
            ),
        ),
    ),
    Conversation(
        name="an identical loop in the mode advise",
        turns=LOOP,
        mode="advise",
        answer=errcompact.Halt(),
        ending=Ending(
            result="unresolved", executed=2, refused=5, classes=(Class("ValueError", "ESCALATED", 2, 2),),
            escalations=(Step("loop", 4, "unhandled"), Step("loop", 6, "unhandled")),
        ),
    ),
    *_successes(),
)  # fmt: skip


class Seen(NamedTuple):
    """
    What a framework's test has seen of a conversation.
    """

    report: RunReport
    executed: list[tuple[str, str, str]]
    read: str
    """All that the model has read, and the texts of the last calls as they stand in the history."""


def played(conversation: Conversation, ledger: Ledger | None = None) -> Seen:
    """Play a conversation with the generic boundary, in a loop of one's own."""
    tools, read = Tools(conversation.turns), []
    with errcompact.run("generic", ledger=ledger, **conversation.settings) as run:
        for turn in conversation.turns:
            if run.gate() is not None:
                break
            run.begin_turn()
            for ask in turn:
                with run.tool(ask.tool, arguments=ask.arguments, gated=False) as call:
                    if not call.refused:
                        call.result = getattr(tools, ask.tool)(**ask.arguments)
                read.append(call.text)
    return Seen(run.report(), tools.executed, "\n".join(read))


def verify(conversation: Conversation, seen: Seen, *, served: bool = False) -> None:
    """Compare what was seen with what is written here, and the classes with those of the generic boundary."""
    ending = conversation.served if served and conversation.served is not None else conversation.ending
    report = seen.report
    classes = ((one.type.rpartition(".")[2], one.status, one.count, one.streak) for one in report.classes)
    assert tuple(Class(*one) for one in classes) == ending.classes
    steps = tuple(Step(one.escalation.threshold, one.escalation.count, one.action) for one in report.escalations)
    assert steps == ending.escalations
    assert report.result == ending.result
    wanted = [ask[:3] for turn in conversation.turns for ask in turn]
    assert sorted(seen.executed) == sorted(wanted[: ending.executed])  # calls of one turn in any order
    assert seen.read.count("NOT EXECUTED: ") == ending.refused
    assert any(f"#{one.key[:4]}" in seen.read for one in report.classes) is not ending.raw
    answers = {ask.answer for turn in conversation.turns for ask in turn if ask.answer != OK}
    # Some read what was sent, which is JSON.
    assert [said for said in answers if said not in seen.read and json.dumps(said)[1:-1] not in seen.read] == []
    if conversation.answer == errcompact.Continue(GUIDANCE):
        assert GUIDANCE in seen.read
    generic = played(conversation, Ledger()).report
    assert [one.key for one in report.classes] == [one.key for one in generic.classes]
