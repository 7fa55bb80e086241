"""`errcompact digest`: the raw errors of one run in, what the agent would read out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.lab.tests.cli.conftest import Errcompact

REFUSED = "ConnectionError: no such host found at 10.0.0.{}:5432 after a long time of waiting for it"


def test_the_input_is_one_run_in_order(errcompact: Errcompact) -> None:
    """What was seen before comes out with its count; the tokens of both forms stand beside it."""
    lines = "".join(json.dumps({"text": REFUSED.format(n)}) + "\n" for n in (1, 2))
    outcome = errcompact("digest", "--jsonl", "text", stdin=lines)
    first, second = (json.loads(line) for line in outcome.out.splitlines())
    assert outcome.code == 0
    assert list(first) == ["text", "key", "count", "raw_tokens", "digest_tokens"]
    assert (first["count"], second["count"]) == (1, 2)
    assert first["key"] == second["key"]
    assert first["raw_tokens"] == (len(REFUSED.format(1)) + 3) // 4
    assert first["digest_tokens"] == (len(first["text"]) + 3) // 4
    assert f"#{first['key'][:4]} again (x2, 2 in a row; escalates at 3" in second["text"]


def test_the_tool_stands_in_for_a_place(errcompact: Errcompact) -> None:
    """`--tool` names the tool of all raw errors."""
    text = "cc -c a.c -o a.o -O2 -Wall\n" * 70 + "make: *** No rule to make target 'b.o'.  Stop.\n"
    assert json.loads(errcompact("digest", "--tool", "make", stdin=text).out)["text"].startswith(
        "[make] at tool make: No rule to make target 'b.o'"
    )


def test_options_come_from_the_environment(errcompact: Errcompact, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an application."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_THRESHOLDS_SAME", "1")
    assert "ESCALATED" in json.loads(errcompact("digest", stdin="KeyError: 'id'").out)["text"]


def test_a_malformed_line_is_named_and_the_rest_is_processed(errcompact: Errcompact) -> None:
    """As for keys."""
    outcome = errcompact("digest", "--jsonl", "text", stdin='{"text": "KeyError: 1"}\n{\n{"text": "KeyError: 1"}\n')
    assert outcome.code == 1
    assert [json.loads(line)["count"] for line in outcome.out.splitlines()] == [1, 2]
    assert outcome.err.startswith("errcompact: standard input:2: is not valid JSON")
