"""What hosts write around an output goes, and nothing of the output does."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_errcompact_hosts.decorations import (
    DECORATIONS,
    is_refused_by_hook,
    undecorate,
    without_remarks,
)
from tests.clock import costs_little

EXAMPLES: dict[str, tuple[str, ...]] = {
    "claude-code": (
        "Exit code 3\noutput",
        "output\n[errcompact: whole output, 743 bytes: /home/ann/output-20261122-100000-1.log]",
        (
            "output\nCommand did not complete within its 1s timeout and was moved to the background (ID: b98tify2h). "
            "Output is being written to: /tmp/claude-0/tasks/b98tify2h.output. You will be notified when it completes."
        ),
        (
            "output\n\nThis tool's input schema was not in your prompt when you called it. The input schema is: {}\n"
            "If your input does not match this schema, correct it and call the tool again."
        ),
    ),
    "codex": (
        (
            "Chunk ID: 5b1d0e\nWall time: 0.0520 seconds\nProcess exited with code 1\nOriginal token count: 9\n"
            "Output:\noutput"
        ),
        "Warning: truncated output (original token count: 33003)\nTotal output lines: 4000\n\noutput",
        "Wall time: 0.0019 seconds\nOutput:\noutput",
    ),
    "copilot": (
        "output\n<shellId: 2 completed with exit code 1>",
        "output\n<command with shellId: s1 is still running after 30 seconds. You will be automatically notified.>",
        (
            "Output too large to read at once (126.2 KB). Saved to: /tmp/1-copilot-tool-output-2-3.txt\n"
            "Consider using tools like grep (for searching), head/tail (for viewing start/end).\n\n"
            "Preview (first 500 chars):\noutput"
        ),
        "MCP server 'shop': output",
    ),
    "cursor": ("Exit code: 1\noutput",),
    "gemini": (
        "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /tmp/1.txt\noutput",
        "<untrusted_context>\noutput\n</untrusted_context>",
        "<untrusted_context>\noutput\n</untrusted_context>",
        "output\nExit Code: 1\nProcess Group PGID: 21744",
        "output\nCommand moved to background (PID: 13085). Output hidden. Press Ctrl+B to view.",
        "Output: output",
    ),
    "opencode": (
        "...output truncated...\n\nFull output saved to: /home/ann/.local/share/opencode/tool-output/tool_21\n\noutput",
    ),
}
"""For each decoration, in its order, an output with it."""

ROWS = [
    (host, decoration, text)
    for host, decorations in DECORATIONS.items()
    for decoration, text in zip(decorations, EXAMPLES[host], strict=True)
]


@pytest.mark.parametrize(("host", "decoration", "text"), ROWS)
def test_each_decoration_is_taken_off(host: str, decoration: re.Pattern[str], text: str) -> None:
    """Its own example, which it recognises, becomes the output alone."""
    assert decoration.search(text)
    assert undecorate(host, text).text == "output"


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        ("claude-code", "Exit code 137", ("", 137, "")),
        ("claude-code", "Exit code 2\n\nusage: x", ("\nusage: x", 2, "")),
        ("claude-code", "The program said: Exit code 2\n", ("The program said: Exit code 2\n", None, "")),
        (
            "claude-code",
            "Exit code 1\nno\n[errcompact: first and last 16 MiB of the output, 60,000,000 bytes: /home/ann/1.log]",
            ("no", 1, "/home/ann/1.log"),
        ),
        ("codex", "Exit code: 1\nWall time: 0.1 seconds\nTotal output lines: 9\nOutput:\nno\n", ("no\n", 1, "")),
        ("codex", "Output:\nno\n", ("Output:\nno\n", None, "")),
        ("copilot", "no\n<exited with exit code 127>", ("no", 127, "")),
        ("copilot", "3 orders\n<shellId: 5 completed with exit code 0>", ("3 orders", 0, "")),
        ("copilot", "see <shellId: 5 completed with exit code 1> above", None),
        ("gemini", "Output: (empty)\nExit Code: 1\nProcess Group PGID: 7", ("", 1, "")),
        ("gemini", "Output: Error: gone\nSignal: SIGKILL\nProcess Group PGID: 7", ("Error: gone", None, "")),
        ("gemini", "Output: a\nExit Code: 3\nb\nProcess Group PGID: 7", ("a\nExit Code: 3\nb", None, "")),
        ("cursor", "Command failed with exit code 2\nno", ("no", 2, "")),
        (
            "opencode",
            "...output truncated...\n\nFull output saved to: /home/ann/tool_1\n\nlast line\n",
            ("last line\n", None, "/home/ann/tool_1"),
        ),
    ],
)
def test_the_exit_status_is_read(host: str, text: str, expected: tuple[str, int | None, str] | None) -> None:
    """With the path of the whole output, and not from the middle of what a program prints."""
    assert tuple(undecorate(host, text))[:3] == (expected or (text, None, ""))


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        (
            "claude-code",
            "Command running in background with ID: brh8bqriv. Output is being written to: /tmp/brh8bqriv.output.",
            ("", None, "", "brh8bqriv"),
        ),
        ("copilot", "<command started in background with shellId: s1>", ("", None, "", "s1")),
        ("copilot", "no\n<shellId: s1 completed with exit code 6>", ("no", 6, "", "s1")),
        ("gemini", "Output: up\nBackground PIDs: 3903\nProcess Group PGID: 3901", ("up", None, "", "3903")),
        (
            "gemini",
            "<untrusted_context>\nCommand moved to background (PID: 7).\n</untrusted_context>",
            ("", None, "", "7"),
        ),
        ("claude-code", "The Command runs in the background\n", ("The Command runs in the background\n", None, "", "")),
    ],
)
def test_a_command_in_the_background_is_recognised(host: str, text: str, expected: tuple[str, int | None, str]) -> None:
    """By the name that the host gives it; where it has ended its exit status stands beside it."""
    assert tuple(undecorate(host, text)) == expected


@given(host=st.sampled_from(sorted(DECORATIONS)), text=st.text(max_size=200))
@example(host="gemini", text="\n" * 100)
@example(host="codex", text="Wall time: 1\n" * 50)
def test_other_text_is_left_alone(host: str, text: str) -> None:
    """What has no decoration is the same afterwards, and to undecorate twice changes nothing more."""
    once = undecorate(host, text).text
    assert once in text
    assert undecorate(host, once).text in once
    plain = f"> {text} <"
    assert undecorate(host, plain).text == plain


@pytest.mark.parametrize(
    "text",
    [
        "PreToolUse:Bash hook error: NOT EXECUTED: this exact call has failed 2 times",
        "PreToolUse:mcp__stock__reserve hook error: not on Fridays",
        "NOT EXECUTED: this run is stopped: the shop is closed",
        "Error: NOT EXECUTED: this exact call has failed 2 times",
        "Command blocked by PreToolUse hook: no",
        "Tool execution blocked: no",
    ],
)
def test_a_refused_call_is_recognised(text: str) -> None:
    """By how the host begins the result of a call that a hook has refused."""
    assert is_refused_by_hook(text)


@pytest.mark.parametrize("text", ["Exit code 1\nPreToolUse", "the hook said NOT EXECUTED: no", "permission denied", ""])
def test_a_failure_is_no_refusal(text: str) -> None:
    """Programs may print such words too, later on."""
    assert not is_refused_by_hook(text)


def test_remarks_are_no_part_of_a_command() -> None:
    """The model says the reason of the same command in other words each time; of other tools a description is input."""
    assert without_remarks({"command": "make", "description": "Build it again"}) == {"command": "make"}
    assert without_remarks({"title": "a", "description": "b"}) == {"title": "a", "description": "b"}


PIECES = [
    "\n",
    " ",
    "<",
    "Exit Code: 1\n",
    "Wall time: 1\n",
    "Output:",
    "<untrusted_context>\n",
    "Error: ",
    "agentId: x ",
]
PIECES += [example for *_, example in ROWS]


@pytest.mark.cost
@pytest.mark.parametrize("host", sorted(DECORATIONS))
def test_no_output_takes_more_than_linear_time(host: str) -> None:
    """A program may print half a megabyte of anything; a service that is busy with it would let all hosts wait."""
    texts = [piece * (500_000 // len(piece)) for piece in PIECES]
    texts += [
        f"Output: {text}{tail}" for text in texts for tail in ("\nExit Code: 1", "<shellId: 1", "</untrusted_context>")
    ]
    assert costs_little(lambda: [(undecorate(host, text), is_refused_by_hook(text)) for text in texts])
