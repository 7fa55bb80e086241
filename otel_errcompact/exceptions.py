"""What this library raises. Every exception has `ErrcompactError` as base and a standard one as parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.notes import Compaction
    from otel_errcompact.context.overflow import Overflow
    from otel_errcompact.escalation import Escalation


class ErrcompactError(Exception):
    """
    Base of all exceptions of this library.
    """


class ConfigurationError(ErrcompactError, ValueError):
    """
    An argument or option has a value that is not allowed.
    """


class MissingExtraError(ErrcompactError, ImportError):
    """
    A feature was asked for by name whose optional dependency is not installed.

    Args:
        feature: What was asked for.
        extra: The extra of this distribution that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'otel-errcompact[{extra}]'")
        self.extra = extra


class UnsupportedVersionError(ErrcompactError, ImportError):
    """
    A package is installed in a version that lacks what an integration hooks into.

    Args:
        package: The distribution.
        installed: Its version.
        at_least: The first version that will do.
        extra: The extra of this distribution that asks for it.
    """

    def __init__(self, package: str, installed: str, at_least: str, extra: str) -> None:
        super().__init__(
            f"{package} {installed} lacks what otel_errcompact.integrations.{extra} hooks into, which came with "
            f"{at_least}: pip install --upgrade 'otel-errcompact[{extra}]'"
        )
        self.package = package
        self.installed = installed
        self.at_least = at_least


class TranscriptError(ErrcompactError, ValueError):
    """
    A recorded run cannot be read.

    Args:
        path: The file.
        line: The line, counted from 1; 0 where the file as a whole is meant.
        problem: What is wrong, and what to do.
    """

    def __init__(self, path: str, line: int, problem: str) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem


class ConversationError(ErrcompactError, ValueError):
    """
    A message list cannot be read.

    Args:
        problem: What is wrong, and what to do.
        message: Which message, counted from 0; None where the list as a whole is meant.
    """

    def __init__(self, problem: str, message: int | None = None) -> None:
        super().__init__(problem if message is None else f"message {message}: {problem}")
        self.problem = problem
        self.message = message


class RunHalted(ErrcompactError, RuntimeError):  # noqa: N818 - it reports a decision, not a mistake
    """
    The run was stopped: an escalation was answered with `Halt`, or by nobody.

    Args:
        escalation: The breach that led to the stop.
        reason: Why, in one line.
    """

    _STANDING: ClassVar = "halted"

    def __init__(self, escalation: Escalation, reason: str) -> None:
        told = str(escalation)
        account = told if reason == told else f"{reason} ({told})"
        super().__init__(f"run {escalation.run_id!r} {self._STANDING}: {account}")
        self.escalation = escalation
        self.reason = reason


class RunPaused(RunHalted):
    """
    The run waits for a human: an escalation was answered with `Pause`. `run.resume()` lets it go on.
    """

    _STANDING: ClassVar = "paused"


class LaneError(ErrcompactError, RuntimeError):
    """
    Waiting for the compaction of a conversation would never end, or block an event loop.
    """


class ContextOverflowError(ErrcompactError, RuntimeError):
    """
    A provider has refused a context as too long, and compacting it did not help; its own error is the `__cause__`.

    Args:
        session: Whose conversation it is.
        overflow: What the provider said.
        problem: Why no further attempt was made.
        compactions: What was tried, in order.
        reply: What came without an exception: a reply that was cut off at the end of the window; else None.
    """

    def __init__(
        self, session: str, overflow: Overflow, problem: str, compactions: Sequence[Compaction], reply: object = None
    ) -> None:
        whose = f" of session {session!r}" if session else ""
        super().__init__(f"the context{whose} is too long: {problem}; {overflow.provider} said: {overflow.message}")
        self.session = session
        self.overflow = overflow
        self.problem = problem
        self.compactions = tuple(compactions)
        self.reply = reply

    @property
    def tokens_before(self) -> int:
        """What the list was estimated to cost as it came; 0 if nothing was compacted."""
        return self.compactions[0].tokens_before if self.compactions else 0

    @property
    def tokens_after(self) -> int:
        """What it was estimated to cost in the end."""
        return self.compactions[-1].tokens_after if self.compactions else 0

    @property
    def room_tokens(self) -> int:
        """What it might have cost."""
        return self.compactions[-1].room_tokens if self.compactions else 0

    @property
    def tried(self) -> tuple[str, ...]:
        """The layers that have cut something, in order."""
        return tuple(note.layer for compaction in self.compactions for note in compaction.notes if note.cuts)
