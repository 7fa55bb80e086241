"""Headers of a server on the net, out of the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from otel_errcompact.hosts.mcp_proxy.configs.addresses import HEADER

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_headers(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """
    Return the headers that variables hold, `ERRCOMPACT_HEADER_NAME=VALUE`.

    Args:
        environ: The environment; that of the process if None.
    """
    environ = os.environ if environ is None else environ
    return {name.removeprefix(HEADER): value for name, value in environ.items() if name.startswith(HEADER)}
