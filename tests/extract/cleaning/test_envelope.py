"""Envelopes that tool protocols and frameworks put around a tool's output."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.cleaning.envelope import MAX_ENVELOPE, Opened, open_envelope
from tests.clock import costs_little

TRACEBACK = 'Traceback (most recent call last):\n  File "/src/a.py", line 3, in f\n    x["id"]\nKeyError: \'id\''


@pytest.mark.parametrize(
    ("envelope", "opened"),
    [
        pytest.param({"content": [{"type": "text", "text": "no"}], "isError": True}, Opened("no"), id="MCP"),
        pytest.param(
            {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}]},
            Opened("a\nb"),
            id="several blocks",
        ),
        pytest.param([{"type": "text", "text": "no"}], Opened("no"), id="list of blocks"),
        pytest.param({"stdout": "a", "stderr": "b\n", "exit_code": 2}, Opened("b\n\na", 2), id="streams"),
        pytest.param({"output": "boom", "metadata": {"exit_code": 1}}, Opened("boom", 1), id="status in metadata"),
        pytest.param({"success": False, "error": "a\nb"}, Opened("a\nb"), id="several lines behind a flag"),
    ],
)
def test_opened(envelope: object, opened: Opened):
    """Blocks and streams are taken out, errors first, with the exit status where it is told."""
    assert open_envelope(f"\n{json.dumps(envelope, indent=2)}\n") == opened


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"success": false, "error": "no such flight"}', id="one line behind a flag"),
        pytest.param('{"error": "a\\nb", "rows": 3}', id="other fields"),
        pytest.param('[{"type": "text", "text": "a"}, 3]', id="list of anything"),
        pytest.param('[{"text": "a"}]', id="list of objects"),
        pytest.param('[{"type": "image", "text": 3}]', id="blocks without text"),
        pytest.param('{"content": [], "isError": true, "error": ""}', id="empty"),
        pytest.param('{"output": 3}', id="number"),
        pytest.param('["text"]', id="strings"),
        pytest.param('{"text": broken}', id="no JSON"),
        pytest.param('{"text": 1} and more', id="text behind"),
        pytest.param('{"rows": []}', id="other object"),
        pytest.param("[" * 100_000 + '"text"' + "]", id="nested without end"),
        pytest.param('{"output": "' + "a" * MAX_ENVELOPE + '"}', id="too large"),
    ],
)
def test_not_opened(text: str):
    """Whatever else a tool gives back is its output."""
    assert open_envelope(text) is None


def test_scalar_in_brackets():
    """A value that is neither list nor object is no envelope."""
    assert open_envelope('[]["text"]') is None


def test_output_is_read_as_if_it_had_come_without_the_envelope():
    """A failure has the same class with and without an envelope."""
    wrapped = json.dumps({"isError": True, "content": [{"type": "text", "text": TRACEBACK}]})
    assert classify(RawError(text=wrapped)) == classify(RawError(text=TRACEBACK))
    streams = json.dumps({"stdout": "", "stderr": "bash: line 3: terrafrom: command not found\n", "exitCode": 127})
    found = classify(RawError(text=streams)).facts
    assert (found.type, found.details) == ("CommandNotFound", ("exit code 127",))


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["[", '{"text":', '[{"type":"text"},'])
def test_hostile_text_costs_little(unit: str):
    """A megabyte of anything is looked at in a moment."""
    assert costs_little(lambda: open_envelope(unit * (1_000_000 // len(unit)) + "]"))
