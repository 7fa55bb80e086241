"""
Define the exceptions that every part may raise.

Every exception has `ErrcompactError` as base and a standard one as parent.
"""

from __future__ import annotations


class ErrcompactError(Exception):
    """
    Base of all exceptions of this library.
    """


class ConfigurationError(ErrcompactError, ValueError):
    """
    An argument or option has a value that is not allowed.
    """


class ControlFlow(ErrcompactError):  # noqa: N818 - it reports a decision, not a mistake
    """
    Base of exceptions that report a decision.

    They are no failures and pass through the guard.
    """


class MissingExtraError(ErrcompactError, ImportError):
    """
    Raised if a requested feature lacks its optional dependency.

    Args:
        feature: What was asked for.
        extra: The extra of this distribution that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'otel-errcompact[{extra}]'")
        self.extra = extra


class UnsupportedVersionError(ErrcompactError, ImportError):
    """
    Raised if a package lacks what an integration needs.

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
