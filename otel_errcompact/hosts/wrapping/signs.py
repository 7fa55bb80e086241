"""Tell at once whether the output of a success may be that of a failure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from otel_errcompact.hosts.wrapping.output import Output

LOOKED_AT: Final = 64 * 1024
_SIGNS: Final = (
    b"Traceback (most recent call last)", b" FAILED", b"FAILED ", b" failed", b"FAIL\t", b"FAIL:", b"panic: ",
    b"error[E", b"error: ", b"Error: ", b"ERROR: ", b"Exception: ", b"fatal: ", b"BUILD FAIL", b"npm ERR!",
    b"npm error", b"command not found", b"No such file or directory", b"Segmentation fault",
)  # fmt: skip
"""Texts of which the failures that a pipe hides hold one; a success may hold one too, and is then looked at."""


def may_have_failed(output: Output) -> bool:
    """
    Return whether the output of a success is worth judging.

    Args:
        output: All that was printed.
    """
    head, tail, _ = output.read_ends(LOOKED_AT)
    return any(sign in head or sign in tail for sign in _SIGNS)
