"""What this library raises. Every exception has `ErrcompactError` as base and a standard one as parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

    def __init__(self, escalation: Escalation, reason: str) -> None:
        told = str(escalation)
        super().__init__(f"run {escalation.run_id!r} halted: {told if reason == told else f'{reason} ({told})'}")
        self.escalation = escalation
        self.reason = reason


class RunPaused(RunHalted):
    """
    The run waits for a human: an escalation was answered with `Pause`. `run.resume()` lets it go on.
    """
