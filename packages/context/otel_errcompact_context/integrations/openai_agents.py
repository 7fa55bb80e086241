"""OpenAI Agents SDK: a filter and a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.integrations.requirement import required
from otel_errcompact_context.guard.guard import OverflowGuard, guard_of
from otel_errcompact_context.guard.histories import HistoryGuard

with required("openai-agents", "0.24.0", extra="openai_agents"):
    from agents.memory import SessionABC
    from agents.run import CallModelData, ModelInputData

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.memory import Session

    from otel_errcompact_context.window.window import ContextWindow


class WindowFilter:
    """
    Keeps what each model call is given within the model's window.

        await Runner.run(agent, "...", run_config=RunConfig(call_model_input_filter=WindowFilter()))

    The run keeps its whole history: only what is sent is compacted, the same beginning the same way at each call. The
    SDK calls the model itself, so that a refusal as too long cannot be recovered from here. The schemas of tools are
    not handed to a filter: leave room for them with `reserve_tokens`.

    Args:
        window: Compacts; made of the environment's options if None. A guard is used as it is.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None = None) -> None:
        self._histories = HistoryGuard(window, "openai-responses")
        self.guard: Final[OverflowGuard] = self._histories.guard

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return what the model is given."""
        given = data.model_data
        items = await self._histories.acompact(given.input, beside=given.instructions)
        return ModelInputData(input=items, instructions=given.instructions)


class WindowSession(SessionABC):
    """
    A session whose stored history is kept within the model's window.

        session = WindowSession(SQLiteSession("thread-7"))

    When items have been added that no longer fit, the stored list is replaced by the compacted one; what was cut lies
    in the window's archive.

    Args:
        session: Where the items are stored.
        window: As for `WindowFilter`.
    """

    def __init__(self, session: Session, window: ContextWindow | OverflowGuard | None = None) -> None:
        self.session_id = session.session_id
        self.session_settings = session.session_settings
        self._session = session
        self._guard = guard_of(window)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the stored items, or the newest of them."""
        return await self._session.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items, and compact what no longer fits."""
        await self._session.add_items(items)
        stored = await self._session.get_items()
        async with self._guard.lanes.visit(self.session_id):
            compaction = await self._guard.window.acompact(stored, session=self.session_id, format="openai-responses")
        if any(note.cuts for note in compaction.notes):
            await self._session.clear_session()
            await self._session.add_items(cast("list[TResponseInputItem]", compaction.messages))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the newest item."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Remove all items."""
        await self._session.clear_session()
