"""Google's Agent Development Kit: a plugin for its runners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel

from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact_context.guard.guard import Course, OverflowGuard, guard_of
from otel_errcompact_context.memory.beginnings import Beginnings, Resumed
from otel_errcompact_context.providers.overflow import overflow_in_error

with required("google-adk", "2.10.0", extra="google_adk"):
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types

if TYPE_CHECKING:
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse

    from otel_errcompact.boundary.registry import RunRegistry
    from otel_errcompact_context.window.window import ContextWindow

MAX_CALLS: Final = 1_000
"""How many calls of models may be under way at once."""


class _Call(NamedTuple):
    course: Course
    resumed: Resumed


class WindowPlugin(BasePlugin):
    """
    Keeps what agents send within their models' windows: `App(..., plugins=[WindowPlugin()])`.

    Each request is compacted, the session's events stay as they are. Where a model refuses it as too long, it is
    compacted harder and sent again to the agent's model; an attempt that is not streamed. Put it behind other plugins.

    Args:
        window: Compacts, by the environment's options if None. A guard also remembers what refusals teach.
        name: The plugin's name.
        runs: Those of the `CompactionPlugin` beside it: after a cut its digests say all again.
    """

    def __init__(
        self,
        window: ContextWindow | OverflowGuard | None = None,
        *,
        name: str = "errcompact_window",
        runs: RunRegistry | None = None,
    ) -> None:
        super().__init__(name=name)
        self.guard: Final[OverflowGuard] = guard_of(window)
        self._runs = runs
        self._beginnings = Beginnings()
        self._agents: BoundedTable[str, BaseAgent] = BoundedTable(MAX_CALLS)
        self._calls: BoundedTable[str, _Call] = BoundedTable(MAX_CALLS)

    def session(self, context: CallbackContext) -> str:
        """Return the name under which an agent's messages are compacted."""
        session = context.session
        return f"{session.app_name}/{session.user_id}/{session.id}/{context.agent_name}"

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        """Remember who is asked again if its model refuses."""
        self._agents.put(_key(callback_context), agent)

    async def after_agent_callback(
        self,
        *,
        agent: BaseAgent,  # noqa: ARG002 - as ADK calls it
        callback_context: CallbackContext,
    ) -> None:
        """Forget the agent."""
        self._agents.pop(_key(callback_context))
        self._calls.pop(_key(callback_context))

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Compact a request."""
        session, config = self.session(callback_context), llm_request.config
        resumed = self._beginnings.resume(llm_request.contents, session)
        said: Any = config.system_instruction
        tools = [tool for tool in config.tools or () if isinstance(tool, BaseModel)]
        beside = self.guard.window.count_beside([said, tools])
        call = _Call(Course(self.guard, resumed.messages, session, beside, "gemini"), resumed)
        self._calls.put(_key(callback_context), call)
        await self._compact(call, callback_context, llm_request)

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Compact a request that was refused harder, and send it again."""
        call = self._calls.get(_key(callback_context))
        model = getattr(self._agents.get(_key(callback_context)), "canonical_model", None)
        raised = error
        while call and model and call.course.refused(overflow_in_error(raised, self.guard.forms), raised):
            await self._compact(call, callback_context, llm_request)
            try:
                responses = [response async for response in model.generate_content_async(llm_request)]
            except Exception as again:  # noqa: BLE001 - raised below unless it is an overflow once more
                raised = again
            else:
                return responses[-1] if responses else None
        if raised is not error:
            raise raised
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Note that a request went through, and calibrate by its usage."""
        call = None if llm_response.partial else self._calls.pop(_key(callback_context))
        if call is not None:
            call.course.calibrate(llm_response)
            call.course.sent(llm_response)

    async def _compact(self, call: _Call, context: CallbackContext, request: LlmRequest) -> None:
        messages = await call.course.acompact()
        self._beginnings.keep(call.resumed, messages)
        request.contents = [
            message if isinstance(message, types.Content) else types.Content.model_validate(message)
            for message in messages
        ]
        if self._runs is not None and call.course.forgets:
            self._runs.of(context.invocation_id, agent=context.agent_name).forget_shown()


def _key(context: CallbackContext) -> str:
    return f"{context.invocation_id}/{context.agent_name}"
