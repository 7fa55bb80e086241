"""What the log says, and how much of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from otel_errcompact_hosts.ports.logs import BoundedHandler

if TYPE_CHECKING:
    import pytest


def test_lines_of_a_minute_are_bounded_and_the_rest_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """The next minute begins with how many were left out, if any."""
    now = [0.0]
    handler = BoundedHandler(2, lambda: now[0])

    def say(*lines: str) -> None:
        for line in lines:
            handler.handle(logging.LogRecord("x", logging.INFO, "", 0, line, None, None))

    say("a", "b", "c", "d")
    now[0] = 60.0
    say("e")
    now[0] = 120.0
    say("f", "g" * 20_000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["a", "b", "2 lines left out", "e", "f", "g" * 16_384]
