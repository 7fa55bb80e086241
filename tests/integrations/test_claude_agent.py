"""Claude Agent SDK: the real command line that the package brings, and a model played on this machine."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    ToolAnnotations,
    ToolResultBlock,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)

import otel_errcompact as errcompact
from examples.fakes.messages_api import FakeMessagesApi, says, uses
from otel_errcompact.integrations.claude_agent import CompactionHooks
from tests.integrations import conversations
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, verify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from examples.fakes.messages_api import Blocks

    from .conftest import World

EXAMPLE = Path(__file__).parents[2] / "examples" / "with_claude_agent.py"
BOOM = "mcp__shop__boom"
SUB_AGENT = "You refund what you are told to."


class Agent:
    """
    A Claude agent in a folder of its own, whose model follows a script.

    Args:
        folder: Its home and working directory.
        compaction: What is tested.
        turns: What the model says, turn by turn; the last one again for ever.
        tools: Tools of this process.
    """

    def __init__(self, folder: Path, compaction: CompactionHooks, turns: Iterable[Blocks], *tools: Any, **options: Any):
        self.turns = list(turns)
        self.sub_turns: list[Blocks] = []
        self.api = FakeMessagesApi(self._model)
        self.results: list[ResultMessage] = []
        self.read: list[str] = []
        """What came back of tools: what the model reads, or would read if the turn were not at its end."""
        options.setdefault("hooks", compaction.hooks())
        self.options = ClaudeAgentOptions(
            mcp_servers={"shop": create_sdk_mcp_server("shop", tools=list(tools))},
            setting_sources=[],
            cwd=folder,
            model="claude-sonnet-4-5",
            allowed_tools=["mcp__shop", "Bash", "Edit", "Task"],
            env={
                "ANTHROPIC_BASE_URL": self.api.url, "ANTHROPIC_API_KEY": "x", "HOME": str(folder),
                "CLAUDE_CONFIG_DIR": str(folder), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
            **options,
        )  # fmt: skip

    def _model(self, request: dict[str, Any]) -> Blocks:
        turns = self.sub_turns if SUB_AGENT in json.dumps(request["system"]) else self.turns
        return turns.pop(0) if len(turns) > 1 else turns[0]

    async def ask(self, *prompts: str) -> None:
        """Ask the agent, in one session."""
        with self.api:
            async with ClaudeSDKClient(self.options) as client:
                for prompt in prompts:
                    await client.query(prompt)
                    async for message in client.receive_response():
                        if isinstance(message, ResultMessage):
                            self.results.append(message)
                        elif isinstance(message, UserMessage) and isinstance(message.content, list):
                            self.read += [
                                _without_notes(block.content)
                                for block in message.content
                                if isinstance(block, ToolResultBlock)
                            ]

    @property
    def session(self) -> str:
        return self.results[-1].session_id

    @property
    def prompt(self) -> str:
        """All that the model was sent last."""
        return json.dumps(self.api.requests[-1]["messages"])


def _without_notes(content: Any) -> str:
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    return text.partition("\n\nThis tool's input schema")[0]


class Tools:
    """
    Tools that note what they were called with.
    """

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def boom(self) -> Any:
        @tool("boom", "fails for odd numbers", {"x": int}, annotations=ToolAnnotations(readOnlyHint=True))
        async def boom(arguments: dict[str, Any]) -> dict[str, Any]:
            self.calls.append(arguments["x"])
            await asyncio.sleep(0.02)
            if arguments["x"] % 2:
                raise ValueError(f"bad x={arguments['x']}")
            return {"content": [{"type": "text", "text": "fine"}]}

        return boom


def failing(numbers: Iterable[int]) -> list[Blocks]:
    return [[uses(BOOM, f"call-{x}", x=x)] for x in numbers]


def key(world: World) -> str:
    """The one class, as digests show it."""
    (found,) = set(world.classes_on_spans())
    return f"#{found[:4]}"


@pytest.mark.duty("gate")
@pytest.mark.duty("render", says="own tools; appended for others")
@pytest.mark.duty("span")
async def test_a_tool_that_fails_for_ever_stops_at_the_threshold(world: World, tmp_path: Path) -> None:
    """It runs three times, each failure becomes one digest, and the turn ends before the model is asked again."""
    tools, compaction = Tools(), CompactionHooks(agent="shop")
    agent = Agent(tmp_path, compaction, failing(range(1, 99, 2)), *compaction.tools(tools.boom()))

    await agent.ask("go")

    assert tools.calls == [1, 3, 5]
    assert agent.read == [
        f"[ValueError] at boom (test_claude_agent.py): bad x=1 {key(world)}",
        f"[ValueError]: bad x=3 {key(world)} again (x2, 2 in a row; escalates at 3: try something else)",
        f"[ValueError]: bad x=5 {key(world)} again (x3, 3 in a row; ESCALATED at 3: the run is stopped)",
    ]
    assert "Traceback" not in agent.prompt
    assert "hook additional context" not in agent.prompt
    assert len(agent.api.requests) == 3
    assert (agent.results[0].subtype, agent.results[0].terminal_reason) == ("success", "hook_stopped")
    assert compaction.runs.report(agent.session).result == "halted"
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [text.splitlines()[-1] for text in world.raw_errors()] == [f"ValueError: bad x={x}" for x in (1, 3, 5)]
    assert len(world.classes_on_spans()) == 3
    assert {span.name for span in world.spans()} >= {"tools/call boom", f"execute_tool {BOOM}"}


async def test_a_tool_that_is_not_wrapped_is_counted_once_too(world: World, tmp_path: Path) -> None:
    """The hook tells of it, so the span that release 2 of `mcp` makes of the same call is not counted."""
    tools, compaction = Tools(), CompactionHooks()
    agent = Agent(tmp_path, compaction, failing(range(1, 99, 2)), tools.boom())

    await agent.ask("go")

    assert tools.calls == [1, 3, 5]
    assert agent.read == ["bad x=1", "bad x=3", "bad x=5"]
    added = re.findall(r"PostToolUseFailure:(\S+) hook additional context: (#\w{4})( again \(x2)?", agent.prompt)
    assert added == [(BOOM, key(world), ""), (BOOM, key(world), " again (x2")]
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1}
    assert world.raw_errors() == ["bad x=1", "bad x=3", "bad x=5"]


async def test_what_the_command_line_fails_with_itself_counts(world: World, tmp_path: Path) -> None:
    """A command's exit status, an edit that is refused, an unknown tool and wrong arguments: each is a failure."""
    tools, compaction = Tools(), CompactionHooks()
    turns = [
        [uses("Bash", "c1", command="echo no such table: orders; exit 3")],
        [uses("Edit", "c2", file_path="/nowhere/a.py", old_string="a", new_string="b"), uses("Nope", "c3")],
        [uses(BOOM, "c4", x="one")],
        [says("done")],
    ]
    agent = Agent(tmp_path, compaction, turns, *compaction.tools(tools.boom()))

    await agent.ask("go")

    assert tools.calls == []
    assert world.raw_errors() == [
        "Exit code 3\nno such table: orders",
        f"<tool_use_error>File does not exist. Note: your current working directory is {tmp_path}.</tool_use_error>",
        "<tool_use_error>Error: No such tool available: Nope</tool_use_error>",
        "Input validation error: 'one' is not of type 'integer'",
    ]
    assert world.errors() == {"new": 4}
    said = "".join(re.findall(r"hook additional context: ((?:#\w{4}\\n)+)", agent.prompt))
    assert len(re.findall(r"#\w{4}", said)) == 4
    assert world.runs() == {"unresolved": 1}
    assert compaction.runs.report(agent.session).occurrences == 4


@pytest.mark.duty("success")
async def test_a_success_resolves_and_one_beside_it_does_not(world: World, tmp_path: Path) -> None:
    """Calls side by side: a command that works leaves the row of the tool that fails; the tool's success ends it."""
    tools, compaction = Tools(), CompactionHooks()
    turns = [
        [uses(BOOM, "a1", x=1), uses("Bash", "a2", command="echo fine")],
        [uses(BOOM, "b1", x=3), uses("Bash", "b2", command="echo fine")],
        [uses(BOOM, "c1", x=2)],
        [uses(BOOM, "d1", x=5)],
        [says("done")],
    ]
    agent = Agent(tmp_path, compaction, turns, *compaction.tools(tools.boom()))

    await agent.ask("go")

    assert tools.calls == [1, 3, 2, 5]
    digests = [text for text in agent.read if "ValueError" in text]
    assert digests[1:] == [
        f"[ValueError]: bad x=3 {key(world)} again (x2, 2 in a row; escalates at 3: try something else)",
        f"[ValueError]: bad x=5 {key(world)} again (x3)",
    ]
    assert world.resolutions() == 1
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {}
    assert world.runs() == {"unresolved": 1}


@pytest.mark.duty("ask", says="before the next tool call")
async def test_a_human_is_asked_and_lets_the_run_go_on(world: World, tmp_path: Path) -> None:
    """While the run waits, the next call asks by the permission dialogue; allowed, it runs once and all is fresh."""
    tools, asked = Tools(), []

    async def can_use_tool(name: str, arguments: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append((name, arguments, context.decision_reason))
        return PermissionResultAllow()

    compaction = CompactionHooks(on_escalation=lambda escalation: errcompact.Pause("a human must look at this"))
    turns = [*failing((1, 3, 5, 7)), [uses(BOOM, "ok", x=2)], [says("done")]]
    agent = Agent(tmp_path, compaction, turns, *compaction.tools(tools.boom()), can_use_tool=can_use_tool)

    await agent.ask("go")

    assert asked == [(BOOM, {"x": 7}, "a human must look at this")]
    assert tools.calls == [1, 3, 5, 7, 2]
    assert agent.read[3:] == [f"[ValueError]: bad x=7 {key(world)} again (x4)", "fine"]
    assert agent.results[0].terminal_reason == "completed"
    assert world.errors() == {"new": 1, "repeat": 3}
    assert world.escalations() == {"pause": 1, "continue": 1}
    assert world.resolutions() == 1
    assert world.runs() == {"recovered": 1}


async def test_a_human_who_denies_is_asked_again(world: World, tmp_path: Path) -> None:
    """Denied, the call is not executed and no failure; the model reads why, and the run goes on waiting."""
    tools, asked = Tools(), []

    async def can_use_tool(name: str, arguments: dict[str, Any], context: Any) -> PermissionResultDeny:
        asked.append((name, arguments["x"]))
        return PermissionResultDeny(message="use order 43", interrupt=len(asked) == 2)

    compaction = CompactionHooks(on_escalation=lambda escalation: errcompact.Pause())
    agent = Agent(
        tmp_path, compaction, failing(range(1, 99, 2)), *compaction.tools(tools.boom()), can_use_tool=can_use_tool
    )

    await agent.ask("go")

    assert asked == [(BOOM, 7), (BOOM, 9)]
    assert tools.calls == [1, 3, 5]
    assert "use order 43" in agent.prompt
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1}
    report = compaction.runs.report(agent.session)
    assert (report.result, report.occurrences) == ("halted", 3)


async def test_an_asynchronous_handler_decides_and_the_next_prompt_starts_afresh(world: World, tmp_path: Path) -> None:
    """The handler is awaited once; a halted turn ends the run, and the session's next prompt is a new one."""
    tools, told = Tools(), []

    async def on_escalation(escalation: errcompact.Escalation) -> errcompact.Halt:
        await asyncio.sleep(0.01)
        told.append((escalation.count, escalation.agent))
        return errcompact.Halt("not today")

    compaction = CompactionHooks(agent="shop", on_escalation=on_escalation)
    agent = Agent(tmp_path, compaction, failing(range(1, 99, 2)), *compaction.tools(tools.boom()))

    await agent.ask("go", "once more")

    assert told == [(3, "shop"), (3, "shop")]
    assert tools.calls == [1, 3, 5, 7, 9, 11]
    assert world.errors() == {"new": 2, "repeat": 4}
    assert world.runs() == {"halted": 2}


async def test_a_handler_that_raises_halts_the_run_and_is_counted(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing goes on unseen, and the failure of the handler itself is visible."""
    monkeypatch.setattr(world.ledger.guard, "strict", False)
    tools = Tools()

    def on_escalation(escalation: errcompact.Escalation) -> errcompact.Halt:
        raise OSError("the pager is down")

    compaction = CompactionHooks(on_escalation=on_escalation)
    agent = Agent(tmp_path, compaction, failing(range(1, 99, 2)), *compaction.tools(tools.boom()))

    await agent.ask("go")

    assert tools.calls == [1, 3, 5]
    assert world.internal_failures() == {"escalation_handler": 1}
    assert world.runs() == {"halted": 1}


async def test_a_sub_agent_has_a_run_of_its_own(world: World, tmp_path: Path) -> None:
    """It halts; the agent around it reads that, goes on, and has not failed."""
    tools, compaction = Tools(), CompactionHooks(agent="shop")
    turns = [
        [uses("Task", "t1", description="refund", prompt="all", subagent_type="refunder", run_in_background=False)],
        [uses("Bash", "ok", command="echo fine")],
        [says("done")],
    ]
    refunder = AgentDefinition(description="refunds", prompt=SUB_AGENT, tools=[BOOM])
    agent = Agent(tmp_path, compaction, turns, *compaction.tools(tools.boom()), agents={"refunder": refunder})
    agent.sub_turns = failing(range(1, 99, 2))

    await agent.ask("go")

    assert tools.calls == [1, 3, 5]
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"halted": 1, "clean": 1}


async def test_identical_calls_that_have_failed_are_refused_and_hooks_of_ones_own_are_kept(
    world: World, tmp_path: Path
) -> None:
    """Identical calls of one turn count once; what has failed in two turns is not executed, and the model reads why."""
    tools, compaction, seen = Tools(), CompactionHooks(thresholds=errcompact.Thresholds()), []

    async def mine(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append((event["hook_event_name"], tool_use_id))
        return {}

    boom = tools.boom()
    boom.annotations = None  # then the command line calls it one at a time
    turns = [[uses(BOOM, f"call-{turn}-{place}", x=1) for place in range(2)] for turn in range(3)]
    turns.append([says("done")])
    hooks = compaction.hooks({"PreToolUse": [HookMatcher(hooks=[mine])], "PreCompact": [HookMatcher(hooks=[mine])]})
    agent = Agent(tmp_path, compaction, turns, boom, hooks=hooks)

    await agent.ask("go")

    assert list(hooks) == [
        "PreToolUse", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop",
        "PreCompact",
    ]  # fmt: skip
    assert seen == [("PreToolUse", f"call-{turn}-{place}") for turn in range(3) for place in range(2)]
    assert tools.calls == [1, 1, 1]
    refusal = "NOT EXECUTED: this exact call has failed 2 times"
    assert [text.partition("hook error: ")[2].partition(" and ")[0] for text in agent.read[3:]] == [refusal] * 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.runs() == {"unresolved": 1}


async def test_hooks_of_a_run_of_the_application_s_own_belong_to_it(world: World) -> None:
    """An interrupted call is no failure; a command whose output gives its failure away is one, and is told of."""
    compaction = CompactionHooks()
    hooks = compaction.hooks()
    event = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "pytest || true"}}

    async def fire(name: str, **told: Any) -> Any:
        return await hooks[name][0].hooks[0]({**event, "hook_event_name": name, **told}, None, {"signal": None})

    with errcompact.run("mine") as run:
        assert await fire("PreToolUse", tool_use_id="1") == {}
        assert await fire("PostToolUseFailure", tool_use_id="1", error="Interrupted", is_interrupt=True) == {}
        assert await fire("PreToolUse", tool_use_id="2") == {}
        assert await fire("PostToolUse", tool_use_id="2", tool_response={"stdout": "=== 3 failed in 0.1s ==="}) != {}
        assert await fire("Stop") == {}
        assert run.report().occurrences == 1
    assert world.runs() == {"unresolved": 1}


async def test_tools_answer_as_ever_where_nothing_has_announced_them_and_flagged_ones_are_failures(
    world: World,
) -> None:
    """Without hooks a wrapped tool is the tool; a result that is flagged is replaced by its digest."""

    @tool("find", "finds nothing", {})
    async def find(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "no such order: 41 in the table of orders"}], "is_error": True}

    compaction = CompactionHooks()
    (wrapped,) = compaction.tools(find)
    before = compaction.hooks()["PreToolUse"][0].hooks[0]

    assert await wrapped.handler({}) == await find.handler({})
    assert world.errors() == {}
    event: Any = {"session_id": "s", "tool_name": "mcp__shop__find", "tool_input": {}, "tool_use_id": "1"}
    await before(event, "1", {"signal": None})
    answer = await wrapped.handler({})
    assert answer["is_error"] is True
    assert "no such order: 41" in answer["content"][0]["text"]
    assert world.errors() == {"new": 1}


async def test_what_an_operator_says_in_between_is_read_by_the_model(world: World, tmp_path: Path) -> None:
    """Also where no call has failed since: as context after the batch."""
    compaction = CompactionHooks()

    @tool("works", "works", {})
    async def works(arguments: dict[str, Any]) -> dict[str, Any]:
        (run_id,) = compaction.runs._hosted
        compaction.runs.of(run_id).resume("it is open now")
        return {"content": [{"type": "text", "text": "fine"}]}

    agent = Agent(tmp_path, compaction, [[uses("mcp__shop__works", "a")], [says("done")]], *compaction.tools(works))
    await agent.ask("go")
    assert agent.read == ["fine"]
    assert "OPERATOR: it is open now" in agent.prompt


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
async def test_a_conversation_comes_to_what_is_written(
    world: World, tmp_path: Path, conversation: Conversation
) -> None:
    """The same decisions as in every framework, with the real command line."""
    tools, compaction = conversations.Tools(conversation.turns), CompactionHooks(**conversation.settings)

    def made(name: str) -> Any:
        @tool(name, "does as it is told", {"path": str, "text": str})
        async def function(arguments: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": getattr(tools, name)(**arguments)}]}

        return function

    turns = [
        [uses(f"mcp__shop__{ask.tool}", f"call-{at}-{place}", **ask.arguments) for place, ask in enumerate(turn)]
        for at, turn in enumerate(conversation.turns)
    ]
    wrapped = compaction.tools(made("check"), made("edit"))
    agent = Agent(tmp_path, compaction, [*turns, [says("done")]], *wrapped)
    await agent.ask("go")
    read = "\n".join(agent.read)
    verify(conversation, Seen(compaction.runs.report(agent.session), tools.executed, read))


def test_the_example_runs(tmp_path: Path) -> None:
    """What it prints is what the page shows."""
    done = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    read = [line for line in lines if line.startswith("the model reads: ")]
    assert ["NOT EXECUTED: " in line for line in read] == [False] * 2 + [True] * 4
    assert any(line.startswith("# Run ") and line.endswith(": halted") for line in lines)
