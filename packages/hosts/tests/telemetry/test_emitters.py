"""What each program's telemetry says of its calls: counted exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact_hosts.runs import LedgerRuns
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request
from packages.hosts.tests.telemetry.messages import logs, record, span, spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ledger import Ledger
    from packages.hosts.tests.telemetry.conftest import Bench

CLAUDE = "com.anthropic.claude_code.events"
CLAUDE_TRACING = "com.anthropic.claude_code.tracing"

TRACEBACK = (
    'Traceback (most recent call last):\n  File "/home/ann/shop/stock.py", line 7, in <module>\n'
    "    reserve('A-1')\nKeyError: 'A-1'\n"
)


def claude(number: int, **changed: object) -> dict[str, object]:
    """The attributes of a failed shell command, with details switched on."""
    return {
        "event.name": "tool_result",
        "session.id": "session-1",
        "tool_name": "Bash",
        "tool_use_id": f"toolu_{number}",
        "success": "false",
        "duration_ms": "51",
        "error_type": "ShellError",
        "error": "Shell command failed",
        "tool_parameters": json.dumps({"bash_command": "python", "full_command": "python stock.py A-1"}),
        **changed,
    }


def test_a_failed_command_of_claude_code_is_a_class_of_unknown_text(bench: Bench) -> None:
    """The fixed words in place of the text are none: type of the error and head of the command make the class."""
    bench.send(
        logs(
            record(claude(1), body="claude_code.tool_result"),
            record(claude(2)),
            record(claude(3, tool_parameters=json.dumps({"full_command": "git push origin main"}))),
            scope=CLAUDE,
        )
    )
    assert bench.classes("session-1") == {
        "ShellError: unknown text of `Bash python stock.py`": 2,
        "ShellError: unknown text of `Bash git push`": 1,
    }


def test_without_details_the_tool_alone_makes_the_class(bench: Bench) -> None:
    """By default Claude Code sends neither command nor text."""
    attributes = claude(1)
    del attributes["error"], attributes["tool_parameters"]
    bench.send(logs(record(attributes), scope=CLAUDE))
    assert bench.classes("session-1") == {"ShellError: unknown text of `Bash`": 1}


def test_texts_of_other_tools_of_claude_code_are_classified(bench: Bench) -> None:
    """File tools and MCP tools bring their text; the MCP tool has the name that hooks give it."""
    bench.send(
        logs(
            record(claude(1, tool_name="Read", error="File does not exist.", error_type="TelemetrySafeError")),
            record(
                claude(
                    2,
                    tool_name="mcp_tool",
                    error="HTTP 503: stock is down",
                    tool_parameters=json.dumps({"mcp_server_name": "stock", "mcp_tool_name": "reserve"}),
                )
            ),
            scope=CLAUDE,
        )
    )
    assert [found.tool for found in bench.ledger.report("session-1").classes] == ["Read", "mcp__stock__reserve"]
    assert not any("unknown text" in cause for cause in bench.classes("session-1"))


def test_the_type_in_place_of_a_text_of_claude_code_is_none(bench: Bench) -> None:
    """As its spans have it while details are switched off."""
    tool = {"session.id": "session-1", "tool_name": "Read", "tool_use_id": "toolu_1"}
    kind = {"success": False, "error": "TelemetrySafeError", "error_class": "TelemetrySafeError"}
    inner = span("claude_code.tool.execution", {**tool, **kind}, span_id=2, parent=1, failed=True)
    bench.send(spans(inner, span("claude_code.tool", tool), scope=CLAUDE_TRACING))
    assert bench.classes("session-1") == {"TelemetrySafeError: unknown text of `Read`": 1}


def test_a_sub_agent_of_claude_code_is_a_run_of_its_own(bench: Bench) -> None:
    """As hooks name it: the session, then the agent."""
    bench.send(logs(record(claude(1)), record(claude(2, agent_id="agent-7")), scope=CLAUDE))
    assert bench.ledger.report("session-1").occurrences == 1
    assert bench.ledger.report("session-1/agent-7").occurrences == 1


def test_a_success_of_claude_code_resolves_the_class(bench: Bench) -> None:
    """A success without a text is one all the same."""
    bench.send(logs(record(claude(1)), record(claude(2, success="true", error="")), scope=CLAUDE))
    assert [found.status for found in bench.ledger.report("session-1").classes] == ["RECOVERED"]


def test_other_events_of_claude_code_count_nothing(bench: Bench) -> None:
    """Prompts, decisions and requests to the model are no calls."""
    sent = logs(
        record({"event.name": "user_prompt", "session.id": "session-1", "error": "no"}),
        record({"event.name": "api_error", "session.id": "session-1", "error": "529 overloaded"}),
        record({"event.name": "tool_decision", "session.id": "session-1", "tool_name": "Bash"}),
        scope=CLAUDE,
    )
    bench.send(sent)
    assert bench.total() == 0


def test_the_two_spans_of_a_claude_code_tool_are_one_call(bench: Bench) -> None:
    """The outcome is on the inner span and the tool on the outer one, which may come in a later message."""
    tool = {
        "session.id": "session-1",
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "gen_ai.operation.name": "execute_tool",
        "full_command": "python stock.py A-1",
    }
    execution = {"session.id": "session-1", "tool_use_id": "toolu_1", "success": False, "error_class": "ShellError"}
    inner = span(
        "claude_code.tool.execution", execution, span_id=2, parent=1, failed=True, description="Shell command failed"
    )
    bench.send(spans(inner, scope=CLAUDE_TRACING))
    bench.send(spans(span("claude_code.tool", tool, span_id=1), scope=CLAUDE_TRACING))
    assert bench.classes("session-1") == {"ShellError: unknown text of `Bash python stock.py`": 1}


def codex(number: int, output: str, **changed: object) -> dict[str, object]:
    """The attributes of a call of Codex."""
    return {
        "event.name": "codex.tool_result",
        "conversation.id": "thread-1",
        "tool_name": "exec_command",
        "call_id": f"call_{number}",
        "arguments": json.dumps({"cmd": "python stock.py A-1"}),
        "duration_ms": "51",
        "success": "true",
        "output": output,
        **changed,
    }


def test_the_exit_status_in_the_output_makes_a_failure_of_codex(bench: Bench) -> None:
    """It says success whatever the status is; what differs from call to call is no part of the class."""
    outputs = [
        f"Chunk ID: {chunk}\nWall time: {wall} seconds\nProcess exited with code 1\n"
        f"Original token count: 40\nOutput:\n{TRACEBACK}"
        for chunk, wall in (("4f1a2b", "0.0513"), ("99aa01", "1.2"))
    ]
    bench.send(logs(*(record(codex(n, output)) for n, output in enumerate(outputs)), scope="codex_otel.log_only"))
    assert bench.classes("thread-1") == {"KeyError: 'A-1'": 2}
    assert bench.ledger.raw("thread-1", bench.ledger.report("thread-1").classes[0].key) == TRACEBACK


def test_a_command_of_codex_that_ended_well_counts_nothing(bench: Bench) -> None:
    """Its output may speak of errors."""
    output = "Chunk ID: 4f1a2b\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\n0 errors\n"
    sent = logs(record(codex(1, output)), scope="codex_otel.log_only")
    bench.send(sent)
    assert bench.total() == 0


def test_a_failed_command_of_codex_without_output_is_a_class_of_its_status(bench: Bench) -> None:
    """There the text is known: there is none, and the agent reads no more."""
    output = "Chunk ID: 4f1a2b\nWall time: 0.05 seconds\nProcess exited with code 3\nOutput:\n"
    bench.send(logs(record(codex(1, output)), scope="codex_otel.log_only"))
    assert bench.classes("thread-1") == {"exit code 3: no output": 1}


def test_the_head_of_a_long_output_of_codex_is_no_text_unless_it_names_the_cause(bench: Bench) -> None:
    """Telemetry has the first 2 kB, and the cause is mostly at the end."""
    header = "Chunk ID: 4f1a2b\nWall time: 0.05 seconds\nProcess exited with code 1\nOutput:\n"
    cut = {"output_truncated": "true", "arguments": '{"cmd": "make"}'}
    rows = codex(1, f"{header}row 1\nrow 2\nro\n[... telemetry preview truncated ...]", **cut)
    compiler = codex(
        2, f"{header}src/a.c:3:5: error: expected ';' before 'return'\n[... telemetry preview truncated ...]", **cut
    )
    bench.send(logs(record(rows), record(compiler), scope="codex_otel.log_only"))
    causes = bench.classes("thread-1")
    assert causes.pop("CommandError: unknown text of `exec_command make`, exit code 1") == 1
    assert len(causes) == 1
    assert "expected ';' before 'return'" in next(iter(causes))


def test_an_mcp_tool_of_codex_fails_by_its_flag(bench: Bench) -> None:
    """There the flag is right, and the tool has the name that hooks give it."""
    output = "Wall time: 0.0057 seconds\nOutput:\nError: no such warehouse: north"
    failed = codex(1, output, success="false", tool_name="reserve", mcp_server="stock")
    # The logger of its language names the place in the source where the event's name should be.
    bench.send(logs(record(failed, event="event otel/src/tool_result.rs:54"), scope="codex_otel.log_only"))
    assert bench.classes("thread-1") == {"Error: no such warehouse: north": 1}
    (found,) = bench.ledger.report("thread-1").classes
    assert (found.tool, found.count) == ("mcp__stock__reserve", 1)


def test_the_spans_of_codex_are_its_own_internals(bench: Bench) -> None:
    """Hundreds for each call, some of them in error: none counts."""
    internal = span("mcp.tools.call", {"error.type": "tool_result", "mcp.method.name": "tools/call"}, failed=True)
    sent = spans(internal, span("session_loop", {}, span_id=2, failed=True), scope="codex_core", service="codex_exec")
    bench.send(sent)
    assert bench.total() == 0


def gemini(tool: str, **changed: object) -> dict[str, object]:
    """The attributes of a call of Gemini CLI."""
    return {
        "event.name": "gemini_cli.tool_call",
        "session.id": "gemini-1",
        "function_name": tool,
        "function_args": json.dumps({"file_path": "missing.txt"}),
        "duration_ms": 12,
        "success": False,
        "prompt_id": "gemini-1########0",
        "tool_type": "native",
        **changed,
    }


def test_thrown_errors_of_gemini_cli_are_classified(bench: Bench) -> None:
    """The text is there, with a type of its own."""
    failed = gemini("read_file", error="File not found: /w/missing.txt", error_type="file_not_found")
    bench.send(logs(record(failed), service="gemini-cli"))
    assert bench.ledger.report("gemini-1").occurrences == 1


def test_refusals_and_declined_calls_of_gemini_cli_count_nothing(bench: Bench) -> None:
    """A call that a policy, our own ladder or a person has stopped was not executed."""
    sent = logs(
        record(gemini("run_shell_command", error="blocked", error_type="policy_violation")),
        record(gemini("write_file", error="no", decision="reject")),
        service="gemini-cli",
    )
    bench.send(sent)
    assert bench.total() == 0


def test_the_exit_status_beside_a_command_of_gemini_cli_is_a_failure_of_unknown_text(bench: Bench) -> None:
    """It is a success by its flag; without a status it may be either, and is neither."""
    shell = {"function_args": json.dumps({"command": "npm test"}), "success": True}
    bench.send(
        logs(
            record(gemini("run_shell_command", **shell, metadata=json.dumps({"exitCode": 3, "isError": True}))),
            record(gemini("run_shell_command", **shell)),
            service="gemini-cli",
        )
    )
    assert bench.classes("gemini-1") == {"CommandError: unknown text of `run_shell_command npm test`, exit code 3": 1}


def gemini_span(number: int, span_id: int, text: str) -> Any:
    """The span of a failed command of Gemini CLI."""
    output = {
        "status": "success",
        "request": {"callId": f"c{number}", "name": "run_shell_command", "args": {"command": "python stock.py"}},
        "response": {"responseParts": [{"functionResponse": {"response": {"output": text}}}]},
    }
    attributes = {
        "gen_ai.tool.name": "run_shell_command",
        "gen_ai.tool.call_id": f"c{number}",
        "gen_ai.conversation.id": "gemini-1",
        "gen_ai.operation.name": "tool_call",
        "gen_ai.output.messages": json.dumps(output),
    }
    return span("tool_call", attributes, span_id=span_id, parent=7)


def test_the_span_of_a_command_of_gemini_cli_has_the_text_and_joins_the_record(bench: Bench) -> None:
    """The record is written in the span around it, without the call's id; two alike calls of a turn stay two."""
    output = f"Output: {TRACEBACK}\nExit Code: 1\nProcess Group PGID: 4711"
    bench.send(spans(gemini_span(1, 8, output), gemini_span(2, 9, output), service="gemini-cli"))
    told = {"success": True, "function_args": '{\n  "command": "python stock.py"\n}', "metadata": '{"exitCode": 1}'}
    records = [record(gemini("run_shell_command", **told), span_id=7, at=at) for at in (1, 2)]
    bench.send(logs(*records, service="gemini-cli"))
    assert bench.classes("gemini-1") == {"KeyError: 'A-1'": 2}


def test_a_span_of_gemini_cli_that_was_cut_leaves_the_call_to_its_record(bench: Bench) -> None:
    """A long output ends in the middle of its JSON, and the status is behind it."""
    cut = gemini_span(1, 8, "row\n")
    cut.attributes[-1].value.string_value = (
        cut.attributes[-1].value.string_value[:80] + "...[TRUNCATED: original length 306024]"
    )
    sent = spans(cut, service="gemini-cli")
    bench.send(sent)
    assert bench.total() == 0


def test_the_text_of_an_mcp_tool_is_taken_out_of_what_gemini_cli_puts_around_it(bench: Bench) -> None:
    """So that the class is that of the same error behind any other agent."""
    error = (
        "MCP tool 'reserve' reported tool error for function call: "
        '{"name":"reserve","args":{"order":4711}} with response: [{"functionResponse":{"name":"reserve","response":'
        '{"error":{"content":[{"type":"text","text":"Error: no such warehouse: north"}],"isError":true}}}}]'
    )
    bench.send(logs(record(gemini("mcp_stock_reserve", error=error)), service="gemini-cli"))
    assert bench.classes("gemini-1") == {"Error: no such warehouse: north": 1}


def copilot(number: int, tool: str, **changed: object) -> dict[str, object]:
    """The attributes of a call of Copilot CLI."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": f"call_{number}",
        "gen_ai.conversation.id": "copilot-1",
        **changed,
    }


def test_the_exit_status_makes_a_failure_of_copilot_cli(bench: Bench) -> None:
    """The status of the span is unset; without contents the text is unknown."""
    bare = copilot(1, "bash", process__exit__code=3)
    told = copilot(
        2,
        "bash",
        process__exit__code=1,
        **{"gen_ai.tool.call.result": f"{TRACEBACK}<shellId: 0 completed with exit code 1>"},
    )
    named = [{key.replace("__", "."): content for key, content in each.items()} for each in (bare, told)]
    bench.send(
        spans(
            *(span("execute_tool bash", each, span_id=n + 1) for n, each in enumerate(named)), service="github-copilot"
        )
    )
    assert bench.classes("copilot-1") == {
        "CommandError: unknown text of `bash`, exit code 3": 1,
        "KeyError: 'A-1'": 1,
    }


def test_the_message_of_an_mcp_tool_of_copilot_cli_is_its_text(bench: Bench) -> None:
    """`Tool failed` stands there while contents are not captured."""
    event = "gen_ai.client.operation.exception"
    failed = {"exception.message": "Tool failed"}
    sent = spans(
        span("execute_tool reserve", copilot(1, "reserve"), failed=True, events=((event, failed),)),
        span(
            "execute_tool reserve",
            copilot(2, "reserve"),
            span_id=2,
            failed=True,
            events=((event, {"exception.message": "MCP server 'stock': item A-1 not found"}),),
        ),
        service="github-copilot",
    )  # fmt: skip
    bench.send(sent)
    assert bench.classes("copilot-1") == {"ToolError: unknown text of `reserve`": 1, "error: item A-1 not found": 1}


def test_an_output_of_copilot_cli_that_stands_in_a_file_is_no_text(bench: Bench) -> None:
    """The notice has the first lines, and the cause is mostly in the last one."""
    notice = "Output too large to read at once (126.2 KB). Saved to: /tmp/1-copilot-tool-output.txt\nrow 1\n"
    attributes = copilot(1, "bash", **{"process.exit.code": 3, "gen_ai.tool.call.result": notice})
    attributes["gen_ai.tool.call.arguments"] = '{"command":"python3 report.py"}'
    bench.send(spans(span("execute_tool bash", attributes), service="github-copilot"))
    assert bench.classes("copilot-1") == {"CommandError: unknown text of `bash python report.py`, exit code 3": 1}


def test_denied_calls_of_copilot_cli_count_nothing(bench: Bench) -> None:
    """They were not executed."""
    sent = spans(
        span("execute_tool bash", copilot(1, "bash", **{"error.type": "denied"}), failed=True), service="github-copilot"
    )
    bench.send(sent)
    assert bench.total() == 0


def test_vs_code_is_told_apart_from_the_command(bench: Bench) -> None:
    """The agent's name is the label by which dashboards tell sources apart."""
    failed = span(
        "execute_tool run_in_terminal",
        copilot(1, "run_in_terminal", **{"error.type": "Error"}),
        failed=True,
        description="ENOENT: no such file",
    )
    bench.send(spans(failed, service="copilot-chat"))
    assert bench.ledger.report("copilot-1").agent == "vscode-copilot"


def test_the_result_of_opencode_names_the_exit_status(bench: Bench) -> None:
    """The raw text is there, whatever a plugin has put in its place."""
    result = {"title": "python stock.py", "output": "a digest", "metadata": {"exit": 1, "output": TRACEBACK}}
    attributes = {
        "ai.toolCall.name": "bash",
        "ai.toolCall.id": "call_1",
        "ai.toolCall.args": json.dumps({"command": "python stock.py"}),
        "ai.toolCall.result": json.dumps(result),
        "session.id": "opencode-1",
    }
    bench.send(spans(span("ai.toolCall", attributes), scope="ai", service="opencode"))
    assert bench.classes("opencode-1") == {"KeyError: 'A-1'": 1}


def test_what_a_tool_of_opencode_throws_counts_once_over_its_spans(bench: Bench) -> None:
    """Both spans of the call are in error, and the spans around them repeat the exception."""
    stack = "Error: File not found: /w/missing.txt\n    at <anonymous> (/$bunfs/root/chunk-7eg57x.js:4:13297)"
    exception = {"exception.type": "Error", "exception.message": "File not found: /w/missing.txt"}
    thrown = (("exception", {**exception, "exception.stacktrace": stack}),)
    own = {"tool.name": "read", "tool.call_id": "call_1", "session.id": "opencode-1"}
    other = {"ai.toolCall.name": "read", "ai.toolCall.id": "call_1", "session.id": "opencode-1"}
    bench.send(
        spans(
            span("Tool.execute", own, span_id=3, parent=2, failed=True, events=thrown),
            span("ai.toolCall", other, span_id=2, parent=1, failed=True, events=thrown),
            span("SessionProcessor.process", {"session.id": "opencode-1"}, failed=True, events=thrown),
            service="opencode",
        )
    )
    report = bench.ledger.report("opencode-1")
    assert (report.occurrences, [found.tool for found in report.classes]) == (1, ["read"])


def test_the_convention_is_read_in_any_language(bench: Bench) -> None:
    """A Java agent's span with an exception event, a Go agent's with a type alone."""
    java = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "query",
        "gen_ai.tool.call.id": "1",
        "gen_ai.conversation.id": "c",
    }
    stack = "java.sql.SQLException: no such table: orders\n\tat com.shop.Db.query(Db.java:41)\n"
    exception = {
        "exception.type": "java.sql.SQLException",
        "exception.message": "no such table: orders",
        "exception.stacktrace": stack,
    }
    go = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup",
        "gen_ai.tool.call.id": "2",
        "gen_ai.conversation.id": "c",
        "error.type": "*net.OpError",
    }
    bench.send(
        spans(
            span("execute_tool query", java, failed=True, events=(("exception", exception),)),
            span("execute_tool lookup", go, span_id=2),
            scope="shop",
            service="shop-agent",
        )
    )
    report = bench.ledger.report("c")
    assert [(found.type, found.cause, found.tool) for found in report.classes] == [
        ("SQLException", "no such table: orders", "query"),
        ("*net.OpError", "unknown text of `lookup`", "lookup"),
    ]
    assert report.agent == "shop-agent"


@pytest.mark.parametrize(
    ("error_type", "description", "counted"),
    [
        pytest.param("timeout", "", "timeout: unknown text of `query`", id="a type alone"),
        pytest.param("timeout", "no answer in 30 s", "timeout: no answer in 30 s", id="a type and a text"),
        pytest.param("DBError", "no such table: orders", "DBError: no such table: orders", id="a class"),
        pytest.param(
            "DBError", "error: no such table: orders", "DBError: no such table: orders", id="a text with a noun"
        ),
        pytest.param("DBError", "KeyError: 'orders'", "KeyError: 'orders'", id="the text names a better one"),
        pytest.param("_OTHER", "no such table: orders", "error: no such table: orders", id="no type"),
        pytest.param("tool_error", "", "ToolError: unknown text of `query`", id="neither"),
        pytest.param("it went wrong", "", "ToolError: unknown text of `query` (it went wrong)", id="a sentence"),
    ],
)
@pytest.mark.parametrize("counts", [ReportedRuns, lambda ledger: LedgerRuns(ledger=ledger)])
def test_the_senders_type_is_that_of_the_class(
    counts: Callable[[Ledger], LedgerRuns], error_type: str, description: str, counted: str, ledger: Ledger
) -> None:
    """Unless the text names one; in the receiver alone and in the service."""
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}
    ended = span("execute_tool query", {**call, "error.type": error_type}, failed=True, description=description)
    Receiver(counts(ledger)).receive(Request("traces", spans(ended).SerializeToString()))
    assert [f"{found.type}: {found.cause}" for found in ledger.report("c").classes] == [counted]


def test_the_type_of_a_log_record_is_that_of_the_class(bench: Bench) -> None:
    """Also where only its body has a text."""
    call = {"gen_ai.tool.name": "query", "gen_ai.conversation.id": "c", "error.type": "timeout"}
    bench.send(logs(record(call, event="gen_ai.execute_tool.exception", body="no answer")))
    assert bench.classes("c") == {"timeout: no answer": 1}


def test_a_trace_belongs_to_the_conversation_that_any_of_its_spans_names(bench: Bench) -> None:
    """Tool spans often do not name it; without any the trace is the run."""
    chat = span("chat m", {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c"}, span_id=5)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query"}
    bench.send(spans(span("execute_tool query", tool, failed=True, description="no such table"), chat))
    assert bench.ledger.report("c").occurrences == 1
    alone = span("execute_tool query", tool, failed=True, description="no such table", trace=0xABC)
    bench.send(spans(alone))
    assert bench.ledger.report(f"{0xABC:032x}").occurrences == 1


def test_two_instrumentations_of_one_call_count_once(bench: Bench) -> None:
    """The client of MCP makes a span inside the agent's, which ends first."""
    inner = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "reserve", "gen_ai.conversation.id": "c"}
    outer = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "reserve", "gen_ai.conversation.id": "c"}
    server = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "reserve"}
    bench.send(
        spans(
            span("tools/call reserve", server, span_id=9, parent=3, failed=True, description="sold out", kind=2),
            span("tools/call reserve", inner, span_id=3, parent=2, failed=True, description="sold out", kind=3),
            span("execute_tool reserve", outer, span_id=2, parent=1, failed=True, description="sold out"),
        )
    )
    assert bench.ledger.report("c").occurrences == 1


def test_an_exception_as_a_log_record_and_its_span_count_once(bench: Bench) -> None:
    """The record is written inside the span of the call, and comes by another road."""
    named = {"gen_ai.conversation.id": "c", "gen_ai.tool.name": "query"}
    told = {**named, "exception.type": "ValueError", "exception.message": "no such table"}
    bench.send(logs(record(told, event="gen_ai.execute_tool.exception", span_id=7, severity=17)))
    ended = span(
        "execute_tool query",
        {**named, "gen_ai.operation.name": "execute_tool"},
        span_id=7,
        failed=True,
        description="no such table",
    )
    bench.send(spans(ended))
    assert bench.ledger.report("c").occurrences == 1


def test_failed_model_calls_and_plain_spans_count_nothing(bench: Bench) -> None:
    """They are no tool calls; the collector's coarse count is for them."""
    sent = spans(
        span("chat m", {"gen_ai.operation.name": "chat", "error.type": "RateLimitError"}, failed=True),
        span("GET /stock", {"http.response.status_code": 500}, span_id=2, failed=True),
    )
    bench.send(sent)
    assert bench.total() == 0
