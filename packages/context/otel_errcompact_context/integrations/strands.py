"""Strands Agents: a conversation manager."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary

from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.coroutines import loop_is_running
from otel_errcompact_context.guard.converse import ConverseList
from otel_errcompact_context.guard.guard import Course, OverflowGuard, guard_of
from otel_errcompact_context.providers.overflow import overflow_in_error

with required("strands-agents", "1.51.0", extra="strands"):
    from strands.agent.conversation_manager import ConversationManager
    from strands.hooks import HookRegistry, events
    from strands.types.exceptions import ContextWindowOverflowException

if TYPE_CHECKING:
    from strands import Agent
    from strands.types.content import Message

    from otel_errcompact.boundary.registry import RunRegistry
    from otel_errcompact_context.window.window import ContextWindow


@dataclass(slots=True)
class _Talk:
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    course: Course | None = None
    """The call of the model that is under way, and its refusals."""

    is_refused: bool = False
    """Whether the next attempt belongs to the same call."""


class WindowManager(ConversationManager):
    """
    Keeps an agent's messages within the model's window.

        agent = Agent(model, conversation_manager=WindowManager())

    Before each call of the model the agent's own list is compacted in place, and again after the model has refused it
    as too long. What compacting does not help ends the invocation with a `ContextOverflowError`.

    Args:
        window: Compacts, by the environment's options if None. A guard also remembers what refusals teach.
        runs: Those of the agents' `CompactionHooks`: after a cut their digests say all again.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None = None, *, runs: RunRegistry | None = None) -> None:
        super().__init__()
        self.guard: Final[OverflowGuard] = guard_of(window)
        self._runs = runs
        self._talks: WeakKeyDictionary[Agent, _Talk] = WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **more: Any) -> None:
        """Register what is called before and after each call of the model."""
        super().register_hooks(registry, **more)
        registry.add_callback(events.BeforeModelCallEvent, self._before)
        registry.add_callback(events.AfterModelCallEvent, self._after)

    def session(self, agent: Agent) -> str:
        """Return the name under which an agent's conversation is compacted."""
        return self._talk(agent).session

    def apply_management(self, agent: Agent, **_: Any) -> None:
        """
        Compact an agent's messages where they must be.

        At the end of an invocation Strands calls it on the event loop, which a summariser would block. It does nothing
        there: the next call of the model compacts.
        """
        if not loop_is_running():
            converse, course = self._read(agent)
            self._use(agent, converse, course, course.compact())

    def reduce_context(self, agent: Agent, e: Exception | None = None, **_: Any) -> None:
        """
        Compact an agent's messages to the target.

        On an event loop the next call of the model does, since a summariser would block it.

        Args:
            agent: Whose messages.
            e: The refusal; without one compaction is asked for.

        Raises:
            ContextOverflowError: The model has refused them, and compacting does not help.
        """
        talk = self._talk(agent)
        if e is None:
            self.guard.window.request_compaction(talk.session)
            self.apply_management(agent)
            return
        if talk.course is None:
            talk.course = self._read(agent)[1]
            talk.course.compact()
        if not talk.course.refused(overflow_in_error(e, self.guard.forms), e):
            raise e
        talk.is_refused = loop_is_running()
        if not talk.is_refused:
            converse = self._read(agent, talk.course)[0]
            self._use(agent, converse, talk.course, talk.course.compact())
            talk.course = None

    async def _before(self, event: events.BeforeModelCallEvent) -> None:
        talk = self._talk(event.agent)
        converse, talk.course = self._read(event.agent, talk.course if talk.is_refused else None)
        talk.is_refused = False
        self._use(event.agent, converse, talk.course, await talk.course.acompact())

    def _after(self, event: events.AfterModelCallEvent) -> None:
        talk, error = self._talk(event.agent), event.exception
        course = talk.course
        if course is None or isinstance(error, ContextWindowOverflowException):
            return  # Strands itself asks to reduce
        if error is not None and course.refused(overflow_in_error(error, self.guard.forms), error):
            talk.is_refused = event.retry = True  # an overflow that only this library knows
            return
        talk.course = None
        if event.stop_response is not None:
            course.calibrate(event.stop_response.message.get("metadata"))
            course.sent(event.stop_response)

    def _talk(self, agent: Agent) -> _Talk:
        return self._talks.setdefault(agent, _Talk())

    def _read(self, agent: Agent, course: Course | None = None) -> tuple[ConverseList, Course]:
        # With the course of a call that is repeated, or of a new one.
        converse = ConverseList(agent.messages)
        if course is None:
            beside = self.guard.window.count_beside([agent.system_prompt, agent.tool_registry.get_all_tool_specs()])
            course = Course(self.guard, converse.messages, self._talk(agent).session, beside, "anthropic")
        course.messages = converse.messages
        return converse, course

    def _use(self, agent: Agent, converse: ConverseList, course: Course, messages: list[object]) -> None:
        agent.messages[:] = cast("list[Message]", converse.restore(messages))
        state = agent.state.get("errcompact") if self._runs is not None and course.forgets else None
        if self._runs is not None and state:
            self._runs.of(state["run"], agent=agent.name).forget_shown()
