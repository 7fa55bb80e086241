"""The package an integration needs, and the error without it."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from otel_errcompact.exceptions import MissingExtraError, UnsupportedVersionError

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def required(package: str, at_least: str, *, extra: str) -> Generator[None, None, None]:
    """
    Raise an error that names what to install for failing imports.

    Args:
        package: The distribution that brings what is imported.
        at_least: The first version that has it all.
        extra: The extra of this distribution that asks for that version.

    Raises:
        MissingExtraError: The package is not installed.
        UnsupportedVersionError: It is, and lacks what is imported.
    """
    try:
        yield
    except (ImportError, AttributeError) as error:
        try:
            installed = version(package)
        except PackageNotFoundError:
            raise MissingExtraError(f"otel_errcompact.integrations.{extra}", extra) from error
        raise UnsupportedVersionError(package, installed, at_least, extra) from error
