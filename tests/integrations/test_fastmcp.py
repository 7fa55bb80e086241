"""FastMCP servers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from fastmcp.tools.base import ToolResult
from mcp import MCPError
from opentelemetry import trace

import otel_errcompact as errcompact
from otel_errcompact.integrations.fastmcp import CompactionMiddleware
from tests.integrations.conftest import World
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, Tools, let_others_begin, verify

ROOT = Path(__file__).parents[2]


class Shop:
    """
    A server with a tool that fails and one that works.
    """

    def __init__(self, *, mask: bool = False, **settings: Any) -> None:
        self.calls: list[str] = []
        self.middleware = CompactionMiddleware(**settings)
        self.server: FastMCP[Any] = FastMCP("shop", middleware=[self.middleware], mask_error_details=mask)
        self.server.tool(self.boom)
        self.server.tool(self.fine)

    def boom(self, x: int) -> int:
        """Fail."""
        self.calls.append("boom")
        raise ValueError(f"bad x={x}")

    def fine(self) -> str:
        """Work."""
        self.calls.append("fine")
        return "all is well"

    def end(self) -> None:
        """End the runs: no client tells a server that it is done."""
        for run_id in list(self.middleware.runs._hosted):
            self.middleware.runs.end(run_id)


async def call(client: Client[Any], tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether the result is flagged as an error, and what the model reads."""
    # By the session, which makes no span: that of the client would tell of failures in its own words.
    result = await client.session.call_tool(tool, arguments)
    return bool(result.is_error), "\n".join(block.text for block in result.content if hasattr(block, "text"))


@pytest.mark.duty("render")
@pytest.mark.parametrize("mask", [False, True], ids=["plain", "masked"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_model_reads_digests(world: World, mask: bool, mode: str) -> None:
    """Exactly, and flagged as errors, also where FastMCP would keep the details to itself."""
    shop = Shop(mask=mask)
    async with Client(shop.server, mode=mode) as client:
        answers = [await call(client, "boom", x=1) for _ in range(3)]
    assert [flagged for flagged, _ in answers] == [True, True, True]
    assert answers[0][1].startswith("[ValueError] at boom (")
    assert ": bad x=1 #" in answers[0][1]
    assert [text.partition("#")[0] for _, text in answers[1:]] == ["[ValueError]: bad x=1 "] * 2
    assert not any("Traceback" in text or "Error calling tool" in text for _, text in answers)
    assert world.errors() == {"new": 1, "repeat": 2}


@pytest.mark.duty("gate", says="n/a: server side; refuses calls")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_keeps_failing_is_refused(world: World, mode: str) -> None:
    """What has failed twice with the same arguments is not executed again; all else is, and that after a success."""
    shop = Shop(thresholds=errcompact.Thresholds())
    async with Client(shop.server, mode=mode) as client:
        for _ in range(2):
            await call(client, "boom", x=1)
        # The client's own span says that this has failed, which is no failure.
        result = await client.call_tool("boom", {"x": 1}, raise_on_error=False)
        flagged, text = result.is_error, result.content[0].text
        assert shop.calls == ["boom"] * 2
        await call(client, "boom", x=2)
        assert await call(client, "fine") == (False, "all is well")
        await call(client, "boom", x=1)
    assert flagged
    assert text.startswith("NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since")
    assert shop.calls == ["boom", "boom", "boom", "fine", "boom"]
    shop.end()
    assert world.errors() == {"new": 1, "repeat": 2, "after_escalation": 1}
    assert world.escalations() == {"unhandled": 1}
    assert world.runs() == {"unresolved": 1}
    assert [text.splitlines()[-1] for text in world.raw_errors()] == [f"ValueError: bad x={x}" for x in (1, 1, 2, 1)]


async def test_the_library_disables_no_tool(world: World) -> None:
    """No threshold halts a server, also where halts are asked for: a loop is refused, and each other call executed."""
    shop = Shop(thresholds=errcompact.Thresholds(same=2, total=2, halts=frozenset({"same", "total"})))
    async with Client(shop.server) as client:
        for x in range(8):
            await call(client, "boom", x=x)
        for _ in range(8):
            await call(client, "boom", x=9)
        assert await call(client, "fine") == (False, "all is well")
    assert shop.calls == ["boom"] * 10 + ["fine"]
    assert set(world.escalations()) == {"unhandled"}


async def test_a_service_that_refuses_connections_and_is_back(world: World) -> None:
    """Waiting helps, so that the identical call is executed each time."""
    down = [True, True, True, True, False]
    shop = Shop(thresholds=errcompact.Thresholds())

    @shop.server.tool()
    def stock(item: str) -> str:
        if down.pop(0):
            raise ConnectionRefusedError("[Errno 111] Connection refused")
        return "3"

    async with Client(shop.server) as client:
        answers = [await call(client, "stock", item="tea") for _ in range(5)]
    assert [flagged for flagged, _ in answers] == [True] * 4 + [False]
    assert not any("NOT EXECUTED" in text for _, text in answers)
    assert answers[4] == (False, "3")
    assert world.resolutions() == 1


async def test_the_halt_of_a_handler_holds_until_the_run_is_resumed(world: World) -> None:
    """That was a decision: the tool that failed is refused, and no other."""
    shop = Shop(on_escalation=lambda _: errcompact.Halt("not today"), session=lambda _: "s")
    async with Client(shop.server) as client:
        for x in range(3):
            await call(client, "boom", x=x)
        refused = await call(client, "boom", x=4)
        assert await call(client, "fine") == (False, "all is well")
        shop.middleware.runs.of("s").resume("it is open")
        await call(client, "boom", x=5)
    assert refused == (
        True, 'NOT EXECUTED: one error class keeps recurring (3 of 3): "[ValueError] bad x=2"; not today',
    )  # fmt: skip
    assert shop.calls == ["boom"] * 3 + ["fine", "boom"]


async def test_what_the_handler_says_is_read_by_the_model(world: World) -> None:
    """With the digest of the call that it was asked about."""
    shop = Shop(on_escalation=lambda _: errcompact.Continue("we sell tea"))
    async with Client(shop.server) as client:
        answers = [await call(client, "boom", x=x) for x in range(4)]
    assert [text.endswith("\nOPERATOR: we sell tea") for _, text in answers] == [False, False, True, False]


@pytest.mark.parametrize("mode", ["observe", "advise"])
async def test_modes(world: World, mode: Any) -> None:
    """`observe` counts, and the model reads what it would read anyway; `advise` refuses loops, and asks nobody."""
    asked: list[errcompact.Escalation] = []
    plain = FastMCP("shop", mask_error_details=False)
    plain.tool()(Shop.boom.__get__(Shop()))
    settings = {"thresholds": errcompact.Thresholds(), "on_escalation": asked.append}
    shop = Shop(mode=mode, **settings)
    async with Client(plain) as client:
        without = await call(client, "boom", x=1)
    async with Client(shop.server) as client:
        answers = [await call(client, "boom", x=1) for _ in range(5)]
    if mode == "observe":
        assert answers == [without] * 5
        assert shop.calls == ["boom"] * 5
    else:
        assert all("#" in text for _, text in answers)
        assert shop.calls == ["boom"] * 2
    assert asked == []
    assert set(world.escalations()) == {"unhandled"}


async def test_an_identical_call_that_keeps_failing_is_refused(world: World) -> None:
    """Before anything is halted: here the handler goes on without a word."""
    shop = Shop(thresholds=errcompact.Thresholds(same=2, consecutive=99), on_escalation=lambda _: errcompact.Continue())
    async with Client(shop.server) as client:
        answers = await asyncio.gather(*(call(client, "boom", x=1) for _ in range(3)))
    assert len(shop.calls) <= 3
    assert [flagged for flagged, _ in answers] == [True, True, True]


@pytest.mark.duty("success")
async def test_a_success_resolves(world: World) -> None:
    """It ends the streak of the tool that failed, and of no other."""
    failing = [True, True, False, True]
    shop = Shop()

    @shop.server.tool
    def flaky() -> str:
        if failing.pop(0):
            raise ValueError("bad")
        return "ok"

    async with Client(shop.server) as client:
        await call(client, "flaky")
        await call(client, "fine")
        await call(client, "flaky")
        assert await call(client, "flaky") == (False, "ok")
        await call(client, "flaky")
    assert (world.errors(), world.resolutions(), world.escalations()) == ({"new": 1, "repeat": 2}, 1, {})


@pytest.mark.duty("ask", says="elicitation, in sessions")
async def test_a_pause_asks_the_human_at_the_client(world: World) -> None:
    """What the human says is what the agent reads; then its calls are executed again."""
    shop = Shop(on_escalation=lambda _: errcompact.Pause())
    asked: list[str] = []

    async def human(message: str, response_type: Any, params: Any, context: Any) -> Any:
        asked.append(message)
        return response_type(value="use x=2")

    async with Client(shop.server, mode="legacy", elicitation_handler=human) as client:
        for _ in range(3):
            await call(client, "boom", x=1)
        assert await call(client, "boom", x=1) == (True, "NOT EXECUTED: a human has answered: use x=2")
        assert len(shop.calls) == 3
        await call(client, "boom", x=2)
    assert asked == [
        "one error class keeps recurring (3 of 3): [ValueError] bad x=1\nWhat shall the agent do? Decline to stop it."
    ]
    assert (len(shop.calls), world.escalations()) == (4, {"pause": 1, "continue": 1})
    assert world.errors() == {"new": 1, "repeat": 3}


@pytest.mark.parametrize(
    ("answer", "escalations"),
    [pytest.param("decline", {"pause": 1, "halt": 1}, id="no"), pytest.param("cancel", {"pause": 1}, id="no answer")],
)
async def test_a_human_who_does_not_want_to(world: World, answer: Any, escalations: dict[str, int]) -> None:
    """The tool stays refused; who has not answered is asked again at the next call."""
    shop = Shop(on_escalation=lambda _: errcompact.Pause())
    asked: list[str] = []

    async def human(message: str, *_: Any) -> Any:
        asked.append(message)
        return ElicitResult(action=answer)

    async with Client(shop.server, mode="legacy", elicitation_handler=human) as client:
        for _ in range(5):
            await call(client, "boom", x=1)
    assert (len(shop.calls), len(asked)) == (3, 1 if answer == "decline" else 2)
    assert world.escalations() == escalations


async def test_a_client_that_cannot_be_asked(world: World) -> None:
    """The run waits for somebody to resume it."""
    shop = Shop(on_escalation=lambda _: errcompact.Pause(), session=lambda ctx: "s")
    async with Client(shop.server) as client:
        for _ in range(4):
            await call(client, "boom", x=1)
        assert len(shop.calls) == 3
        shop.middleware.runs.of("s").resume()
        await call(client, "boom", x=2)
    assert (len(shop.calls), world.escalations()) == (4, {"pause": 1, "continue": 1})


async def test_an_asynchronous_handler_lets_it_go_on(world: World) -> None:
    """`Continue` gives fresh counters."""

    async def go_on(escalation: errcompact.Escalation) -> errcompact.Continue:
        return errcompact.Continue()

    shop = Shop(on_escalation=go_on)
    async with Client(shop.server) as client:
        for x in range(4):
            await call(client, "boom", x=x)
    assert (len(shop.calls), world.escalations()) == (4, {"continue": 1})


async def test_a_handler_that_raises(world: World) -> None:
    """Calls go on as without a handler, and the handler's failure is counted."""

    def broken(escalation: errcompact.Escalation) -> errcompact.Halt:
        raise LookupError("no pager")

    shop = Shop(on_escalation=broken)
    async with Client(shop.server) as client:
        for _ in range(4):
            await call(client, "boom", x=1)
    assert (len(shop.calls), world.internal_failures()) == (4, {"escalation_handler": 1})
    assert world.escalations() == {"unhandled": 1}


@pytest.mark.duty("span")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_native_span_carries_the_class(world: World, mode: str) -> None:
    """FastMCP records the exception itself; it is counted once."""
    shop = Shop()
    async with Client(shop.server, mode=mode) as client:
        for _ in range(3):
            await call(client, "boom", x=1)
    spans = [span for span in world.spans() if "boom" in span.name and span.kind == trace.SpanKind.SERVER]
    assert len(spans) == 3
    assert len(world.classes_on_spans()) >= 3
    assert len(set(world.classes_on_spans())) == 1
    assert world.errors() == {"new": 1, "repeat": 2}


async def test_a_request_inside_a_tool_counts_once(world: World) -> None:
    """As the root cause of the tool's failure, or as handled."""
    tracer = trace.get_tracer("http")
    shop = Shop()

    @shop.server.tool
    def fetch(patient: bool) -> str:
        try:
            with tracer.start_as_current_span("GET"):
                raise ConnectionError("refused")
        except ConnectionError:
            if patient:
                return "from the cache"
            raise

    async with Client(shop.server) as client:
        assert await call(client, "fetch", patient=True) == (False, "from the cache")
        flagged, text = await call(client, "fetch", patient=False)
    assert (flagged, text.partition(" ")[0]) == (True, "[ConnectionError]")
    assert world.errors() == {"handled": 1, "new": 1}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        pytest.param("boom", {"x": "one"}, "x", id="bad arguments"),
        pytest.param("boo", {}, "Unknown tool: 'boo'", id="an unknown tool"),
        pytest.param("flagged", {}, "no such order", id="a result that is flagged"),
        pytest.param("told", {}, "no such order", id="an error meant for the model"),
    ],
)
async def test_what_else_is_a_failure(world: World, tool: str, arguments: dict[str, Any], words: str) -> None:
    """All that FastMCP answers with the error flag."""
    shop = Shop()

    @shop.server.tool
    def flagged() -> ToolResult:
        return ToolResult(content="no such order", is_error=True)

    @shop.server.tool
    def told() -> str:
        raise ToolError("no such order")

    async with Client(shop.server) as client:
        flag, text = await call(client, tool, **arguments)
    assert flag
    assert words in text
    assert (shop.calls, world.errors()) == ([], {"new": 1})


async def test_an_error_of_the_protocol_goes_to_the_client(world: World) -> None:
    """It is counted, and stays what it is."""
    shop = Shop()

    @shop.server.tool
    def picky() -> str:
        raise MCPError(code=-32021, message="a capability is missing")

    async with Client(shop.server) as client:
        with pytest.raises(MCPError, match="a capability is missing"):
            await client.call_tool("picky", {})
    assert world.errors() == {"new": 1, "handled": 1}  # as the client's own span has it, which lies around


async def test_control_flow_goes_its_way(world: World) -> None:
    """It is no failure, and FastMCP answers it."""

    class ModelRetry(ToolError):
        pass

    shop = Shop()

    @shop.server.tool
    def steer() -> str:
        raise ModelRetry("ask again")

    async with Client(shop.server) as client:
        assert await call(client, "steer") == (True, "ask again")
    assert world.errors() == {}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_mounted_server_with_a_middleware_of_its_own(world: World, mode: str) -> None:
    """The failure is the mounted server's, and is counted there alone."""
    inner, outer = Shop(thresholds=errcompact.Thresholds()), Shop()
    outer.server.mount(inner.server, namespace="inner")
    async with Client(outer.server, mode=mode) as client:
        answers = [await call(client, "inner_boom", x=1) for _ in range(4)]
    assert answers[0][1].startswith("[ValueError] at boom (")
    assert answers[2][1].startswith("NOT EXECUTED: ")
    # The mounted server's own span says what the outer one has passed on: that is no new failure.
    assert (len(inner.calls), world.errors()) == (2, {"new": 1, "repeat": 1, "handled": 2})


async def test_a_proxy_counts_what_the_other_server_answers(world: World) -> None:
    """The other server says what it likes; the digest stands here."""
    other: FastMCP[Any] = FastMCP("other")

    @other.tool
    def boom() -> str:
        raise ValueError("bad")

    proxy = create_proxy(other)
    proxy.add_middleware(CompactionMiddleware())
    async with Client(proxy) as client:
        answers = [await call(client, "boom") for _ in range(2)]
    assert [flagged for flagged, _ in answers] == [True, True]
    assert "Error calling tool 'boom': bad" in answers[0][1]
    assert "again (x2" in answers[1][1]
    # The other server runs in this program, too, and its span has failed: handled, since an answer came of it.
    assert world.errors() == {"new": 1, "repeat": 1, "handled": 2}


async def test_sessions_are_runs_of_their_own(world: World) -> None:
    """What one client has been refused, another may call."""
    shop = Shop(thresholds=errcompact.Thresholds())
    for _ in range(2):
        async with Client(shop.server, mode="legacy") as client:
            for _ in range(4):
                await call(client, "boom", x=1)
    assert len(shop.calls) == 4
    shop.end()
    assert world.runs() == {"unresolved": 2}


async def test_a_program_that_calls_its_own_server(world: World) -> None:
    """There is no client, and so no run; the failure is counted by its span."""
    shop = Shop()
    with pytest.raises(ToolError, match="Error calling tool 'boom': bad x=1"):
        await shop.server.call_tool("boom", {"x": 1})
    assert world.errors() == {"new": 1}


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
async def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework, but for a halt; calls of one turn are requests side by side."""
    tools, shop = Tools(conversation.turns), Shop(session=lambda _: "s", **conversation.settings)

    async def check(path: str, text: str = "") -> str:
        await let_others_begin()
        return tools.check(path, text)

    shop.server.tool()(check)
    shop.server.tool()(tools.edit)
    read = []
    async with Client(shop.server) as client:
        for turn in conversation.turns:
            read += await asyncio.gather(*(call(client, ask.tool, **ask.arguments) for ask in turn))
    told = "\n".join(text for _, text in read)
    verify(conversation, Seen(shop.middleware.runs.report("s"), tools.executed, told), served=True)


def test_the_example(tmp_path: Path) -> None:
    """It prints what the model reads, and how it ends."""
    example = ROOT / "examples" / "with_fastmcp.py"
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("model reads: [KeyError] at price (")
    assert lines[-2].startswith("model reads: NOT EXECUTED: this exact call has failed 2 times")


async def test_a_request_without_a_session_is_a_run_that_ends_with_it(world: World) -> None:
    """Nobody comes back to it, so that it must not be kept, and counts at once."""
    shop = Shop(session=lambda _: "")
    async with Client(shop.server) as client:
        await call(client, "boom", x=1)
        await call(client, "fine")
    assert world.runs() == {"unresolved": 1, "clean": 1}
