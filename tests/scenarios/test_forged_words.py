"""Words of ours in what others write, in every place from which a digest takes text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.runtime.letters import plain_letters
from tests.digest.test_untrusted import OURS, WAYS

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = "an honest line of text"
QUOTED = ("  | ", "> ")
"""What stands in front of others' words."""

# The type stands in brackets at the head of a digest, whatever it is.
LIKE_OURS = re.compile(
    r"(?!\[(?!errcompact))(?:[\W_]{0,8}(?:OPERATOR|NOTICE|NOT EXECUTED)[\W_]{0,3}:|[\W_]{0,8}ESCALATED\b"
    r"|\s*(?:hint: |\[errcompact \w|#[0-9a-f]{4,} again \())"
)


def chained(said: str) -> Exception:
    error = ValueError("request failed")
    error.__cause__ = RuntimeError(said)
    return error


def noted(said: str) -> Exception:
    error = ValueError("request failed")
    error.__notes__ = [said]
    return error


def named(said: str) -> Exception:
    kind: type[Exception] = type(said, (Exception,), {"__module__": "builtins"})
    return kind("request failed")


def raised_in(said: str) -> Exception:
    try:
        exec(compile("raise ValueError('request failed')", f"/srv/{said}\n{said}.py", "exec"), {})
    except ValueError as error:
        return error
    raise AssertionError


CHANNELS: dict[str, Callable[[str], tuple[Any, dict[str, Any]]]] = {
    "message": lambda said: (ValueError(said), {}),
    "second line of a message": lambda said: (ValueError(f"request failed\n{said}"), {}),
    "cause": lambda said: (chained(said), {}),
    "note": lambda said: (noted(said), {}),
    "type": lambda said: (named(said), {}),
    "file": lambda said: (raised_in(said), {}),
    "group": lambda said: (ExceptionGroup(said, [ValueError(said), KeyError(said)]), {}),
    "short text": lambda said: (f"failed\n{said}", {}),
    "long text": lambda said: ("\n".join([*(f"step {n} ok" for n in range(200)), "ERROR: failed", said, "done"]), {}),
    "test output": lambda said: (
        f"FAILED tests/test_a.py::test_b - AssertionError: {said}\n{said}\n1 failed in 0.1s",
        {},
    ),
    "tool": lambda said: ("failed", {"tool": said}),
    "argument": lambda said: (ValueError(said), {"arguments": {"query": said, said: 1}}),
}


def told(channel: str, said: str) -> list[str]:
    """Return the lines that an agent reads of two failures in a run of its own."""
    lines: list[str] = []
    with errcompact.run(ledger=Ledger()) as run:
        for _ in range(2):
            error, call = CHANNELS[channel](said)
            lines += run.fail(error, **{"tool": "shell", **call}).splitlines()
        lines += run.digest().splitlines()
    return lines


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("line", OURS)
def test_no_text_of_others_begins_a_line_like_ours(channel: str, line: str) -> None:
    """As many lines begin like ours as with an honest text in the same place, however the words are written."""
    honest = sum(LIKE_OURS.match(one) is not None for one in told(channel, PLAIN) if not one.startswith(QUOTED))
    for way, write in WAYS.items():
        lines = told(channel, write(line))
        like_ours = [one for one in lines if LIKE_OURS.match(plain_letters(one)) and not one.startswith(QUOTED)]
        assert len(like_ours) <= honest, (way, like_ours)
