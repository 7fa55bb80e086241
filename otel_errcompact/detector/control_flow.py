"""Exceptions that steer the program instead of reporting a failure."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.exceptions import ControlFlow
from otel_errcompact.runtime.foreign import attribute_of, bases_of, mark_of, qualname_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTROL_FLOW: Final = frozenset(
    {
        # Python
        "CancelledError", "StopIteration", "StopAsyncIteration",
        # langgraph
        "GraphBubbleUp", "GraphInterrupt", "NodeInterrupt", "ParentCommand",
        # pydantic-ai
        "ModelRetry", "ToolRetryError", "CallDeferred", "ApprovalRequired", "SkipModelRequest", "SkipToolExecution",
        "SkipToolValidation",
        # agent-framework
        "MiddlewareTermination", "MiddlewareFailure", "UserInputRequiredException",
        # our own middleware for fastmcp, which has counted what it raises this for
        "CompactedToolError",
        # agno
        "RetryAgentRun", "StopAgentRun",
        # crewai, llama-index, strands
        "HookAborted", "WaitingForEvent", "InterruptException",
    }
)  # fmt: skip
"""Names of exceptions, of any class in the inheritance, that ask for something instead of reporting a failure."""

_UNFIT_REPLY: Final = "_langgraph_invalid_resume"
"""LangGraph's mark on an exception of whatever class: a human's reply does not fit, and is to be given again."""

_MAX_CHILDREN: Final = 1_000


def is_control_flow(exception: BaseException, extra: frozenset[str] = frozenset()) -> bool:
    """
    Tell whether `exception` steers the program instead of reporting a failure.

    Interrupts, requests for approval, retries that the model asked for, cancellation and `extra` classes do; an
    exception group does where all its exceptions do.
    """
    children = _list_children(exception)
    if not children:
        if mark_of(exception, _UNFIT_REPLY) is not None:
            return True
        return _is_steering(exception, extra)
    open_, looked_at = list(children), 1
    while open_ and looked_at < _MAX_CHILDREN:
        looked_at += 1
        current = open_.pop()
        children = _list_children(current)
        if not children and not _is_steering(current, extra):
            return False
        open_.extend(children)
    return True


def _list_children(exception: BaseException) -> Sequence[BaseException]:
    if not qualname_of(type(exception)).endswith("ExceptionGroup"):
        return ()
    children = attribute_of(exception, "exceptions", ())
    return cast("tuple[BaseException, ...]", children) if isinstance(children, tuple) else ()


def _is_steering(exception: BaseException, extra: frozenset[str]) -> bool:
    kind = type(exception)
    try:
        return _steers_control_flow(kind, extra)  # type: ignore[arg-type] # mypy does not see that a class has a hash
    except Exception:  # noqa: BLE001 - unless its metaclass refuses
        return _steers_control_flow.__wrapped__(kind, extra)


@lru_cache(maxsize=256)
def _steers_control_flow(kind: type[BaseException], extra: frozenset[str]) -> bool:
    if not issubclass(kind, Exception) or issubclass(kind, ControlFlow):
        return True
    names = {qualname_of(base).rpartition(".")[2] for base in bases_of(kind)}
    return not names.isdisjoint(CONTROL_FLOW) or not names.isdisjoint(extra)
