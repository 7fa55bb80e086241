"""Claude Agent SDK: the real command line, whose context no hook is handed; a model played on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool

from examples.fakes.messages_api import FakeMessagesApi, says, uses
from otel_errcompact.digest.tokens import default_counter, estimate_mixed_tokens
from otel_errcompact.integrations.claude_agent import CompactionHooks
from otel_errcompact_context import ContextOptions, ContextWindow, MemoryArchive
from otel_errcompact_context.integrations.claude_agent import WindowHooks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from examples.fakes.messages_api import Blocks

OPTIONS = ContextOptions(result_budget_tokens=300, preview_tokens=60)
LONG = "".join(f"line {number} of a long log\n" for number in range(200))
"""About 1,000 tokens."""


def window_of(**more: Any) -> ContextWindow:
    return ContextWindow(OPTIONS, archive=MemoryArchive(), count_tokens=estimate_mixed_tokens, observers=(), **more)


@tool("logs", "The logs.", {"lines": int})
async def logs(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "".join(LONG.splitlines(keepends=True)[: arguments["lines"]])}]}


async def ask(folder: Path, hooks: Any, turns: Iterable[Blocks], *prompts: str) -> list[str]:
    """Ask an agent in one session, and return what the model was sent, request by request."""
    left = list(turns)
    api = FakeMessagesApi(lambda _: left.pop(0) if len(left) > 1 else left[0])
    options = ClaudeAgentOptions(
        mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[logs])},
        setting_sources=[],
        cwd=folder,
        model="claude-sonnet-4-5",
        allowed_tools=["mcp__shop", "Bash", "Read"],
        hooks=hooks,
        env={
            "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "HOME": str(folder),
            "CLAUDE_CONFIG_DIR": str(folder), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )  # fmt: skip
    with api:
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass
    return [json.dumps(request["messages"]) for request in api.requests]


@pytest.mark.duty("window", says="results only: the command line keeps the context")
@pytest.mark.parametrize(
    ("call", "is_cut"),
    [
        (uses("mcp__shop__logs", "c1", lines=200), True),
        (uses("mcp__shop__logs", "c1", lines=3), False),
        (uses("Bash", "c1", command="cat log.txt", description="show"), True),
        (uses("Read", "c1", file_path="log.txt"), True),
    ],
    ids=["own tool", "short", "Bash", "Read"],
)
async def test_of_a_large_result_the_model_reads_a_preview(tmp_path: Path, call: Any, is_cut: bool) -> None:
    """And where the whole of it lies, which is all there."""
    (tmp_path / "log.txt").write_text(LONG)
    if call["name"] == "Read":
        call["input"]["file_path"] = str(tmp_path / "log.txt")
    window = window_of()

    read = (await ask(tmp_path, WindowHooks(window).hooks(), [[call], [says("done")]], "Look."))[-1]

    assert "line 100 of" not in read
    assert ("[errcompact results: " in read) is is_cut
    assert "line 0 of a long log" in read
    if is_cut:
        place = read.partition("; whole: ")[2].partition("]")[0]
        assert window.archive.read(place).splitlines() == LONG.splitlines()


class Runs:
    """
    Notes whose digests are to say all again.
    """

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    def of(self, session: str) -> Runs:
        self.asked = session
        return self

    def forget_shown(self) -> None:
        self.forgotten.append(self.asked)


async def test_what_the_command_line_compacts_is_kept_whole(tmp_path: Path) -> None:
    """Its transcript goes to the archive first, and the model is told where it lies; digests say all again."""
    window, runs, compaction = window_of(), Runs(), CompactionHooks()
    hooks = WindowHooks(window, runs=runs).hooks(compaction.hooks())  # type: ignore[arg-type]
    turns = [[says("the first answer")], [says("<summary>all was said</summary>")], [says("done")]]

    requests = await ask(tmp_path, hooks, turns, "The first question.", "/compact", "On.")

    assert len(runs.forgotten) == 1
    assert "[errcompact summary: " in requests[-1]
    place = requests[-1].partition("; whole: ")[2].partition("]")[0]
    assert "The first question." in window.archive.read(place)
    assert "the first answer" in window.archive.read(place)


async def test_what_cannot_be_kept_is_not_cut(tmp_path: Path) -> None:
    """A full disk changes nothing for the model; our own fault is counted, and not raised."""

    class Full(MemoryArchive):
        def keep(self, text: str) -> str:
            raise OSError("no space left on device")

    window = ContextWindow(OPTIONS, archive=Full(), count_tokens=estimate_mixed_tokens, observers=())
    turns = [[uses("mcp__shop__logs", "c1", lines=200)], [says("done")]]
    requests = await ask(tmp_path, WindowHooks(window).hooks(), turns, "Look.")
    assert "line 100 of" in requests[1]
    assert "[errcompact" not in "".join(requests)

    hooks: Any = WindowHooks(window).hooks()
    gone = {"session_id": "s", "transcript_path": str(tmp_path / "gone.jsonl"), "source": "compact"}
    assert await hooks["PreCompact"][0].hooks[0](gone, None, {}) == {}
    assert await hooks["SessionStart"][0].hooks[0](gone, None, {}) == {}


async def test_outputs_of_any_shape_keep_it() -> None:
    """Of several texts the largest are cut until the rest is within the budget; pictures and short texts stay."""
    hooks = WindowHooks(window_of())
    (cut,) = hooks.hooks()["PostToolUse"]
    picture = {"media_type": "image/png", "data": "A" * 9_000}

    async def after(tool_name: str, response: Any) -> Any:
        told: Any = await cut.hooks[0]({"tool_name": tool_name, "tool_response": response}, None, {"signal": None})  # type: ignore[arg-type,misc,typeddict-item]
        return told.get("hookSpecificOutput", {}).get("updatedToolOutput")

    small = "line\n" * 20
    made = await after("Bash", {"stdout": LONG, "stderr": small, "parts": [picture, 3], "interrupted": False})
    assert made["stdout"].startswith("[errcompact results: ")
    assert (made["stderr"], made["parts"], made["interrupted"]) == (small, [picture, 3], False)
    assert (await after("Task", LONG)).startswith("[errcompact results: ")
    assert await after("Edit", {"originalFile": LONG}) is None
    # What was cut before stays as it is, and a preview that would be longer is none.
    assert await after("Bash", {"stdout": made["stdout"] + "\n" + small * 40}) is None
    assert await after("Bash", [f"{number}" for number in range(400)]) is None


def test_without_a_window_texts_are_counted_as_claude_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or as the environment's model does: these are three letters of Thai."""
    assert WindowHooks().window.count_tokens("ไทย") == 5
    monkeypatch.setenv("OTEL_ERRCOMPACT_CONTEXT_MODEL", "gpt-4")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    default_counter.cache_clear()
    assert WindowHooks().window.count_tokens("ไทย") == 3
    default_counter.cache_clear()
