"""Runs that count nothing: what is left of an integration is what its framework takes to call hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otel_errcompact.boundary import registry, runs
from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.port import Port
from otel_errcompact.boundary.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from otel_errcompact.boundary.scope import RunScope

_IDENTITY = "without a digest"


class IdleCall(Call):
    """
    Only keeps an exception from the agent, and has a text for it.
    """

    def __init__(self, scope: RunScope, *, tool: str, call_id: str, reraise: bool = False) -> None:
        self.tool, self.call_id, self.arguments, self.result = tool, call_id, "", None
        self.scope, self._reraise, self._told = scope, reraise, ""

    @property
    def refused(self) -> str:
        """Nothing is refused."""
        return ""

    @property
    def failed(self) -> bool:
        """Whether there was an exception, or an answer that is an error."""
        return bool(self._told)

    @property
    def text(self) -> str:
        """What the agent reads."""
        return self._told or str(self.result)

    def fail(self, text: str, **_: Any) -> None:
        """Take the text of an answer that is an error."""
        self._told = text

    def conclude(self, error: BaseException | str | None, result: object) -> None:
        """Take how a call ended that was executed elsewhere."""
        self._told, self.result = _IDENTITY if error is not None else "", result

    def __enter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, frames: object) -> bool:
        if error is not None:
            self._told = _IDENTITY
        return error is not None and not self._reraise

    async def __aexit__(self, kind: object, error: BaseException | None, frames: object) -> bool:
        return self.__exit__(kind, error, frames)


class IdlePort(Port):
    """
    Counts and refuses nothing.
    """

    def record_call(
        self, tool: str, *, call_id: str = "", error: BaseException | str | None = None, result: object = None, **_: Any
    ) -> Call:
        """Return a call that has a text for a failure."""
        call = IdleCall(self._scope, tool=tool, call_id=call_id)
        call.conclude(error, result)
        return call

    def refuse(self, *_: Any, **__: Any) -> str:
        """Refuse nothing."""
        return ""

    async def arefuse(self, *_: Any, **__: Any) -> str:
        """Refuse nothing."""
        return ""


class IdleRun(Run):
    """
    Lets everything pass.
    """

    def __init__(self, scope: RunScope) -> None:
        self._scope, self.port = scope, IdlePort(scope)

    def tool(
        self,
        name: str,
        *,
        arguments: object = None,  # noqa: ARG002 - the signature
        call_id: str = "",
        reraise: bool = False,
        gated: bool = True,  # noqa: ARG002 - as above
    ) -> Call:
        """Return a call that does nothing."""
        return IdleCall(self._scope, tool=name, call_id=call_id, reraise=reraise)

    def gate(self) -> None:
        """Stop nothing."""

    async def agate(self) -> None:
        """Stop nothing."""


def put_in(*, idle: bool) -> None:
    """Let new runs be idle, or real ones."""
    places: tuple[Any, ...] = (registry, runs)
    kind: Callable[..., Run] = IdleRun if idle else Run
    for place in places:
        place.Run = kind
