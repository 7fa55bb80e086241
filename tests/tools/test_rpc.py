"""Error answers of JSON-RPC, MCP, GraphQL and gRPC; samples of our own after the specifications and clients."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.format import Text
from otel_errcompact.extract.messages.grpc import read_status
from otel_errcompact.tools import rpc
from tests.clock import costs_little
from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("error", "kind", "cause", "details"),
    [
        pytest.param(
            {"code": -32601, "message": "Method not found", "data": "tools/lst"},
            "MethodNotFound",
            "Method not found: tools/lst",
            (),
            id="data as text",
        ),
        pytest.param({"code": -32700, "message": "Parse error"}, "ParseError", "Parse error", (), id="no data"),
        pytest.param({"code": -32050, "message": "busy"}, "-32050", "busy", (), id="code of its own"),
        pytest.param({"code": "E_BUSY", "message": "busy"}, "E_BUSY", "busy", (), id="name for a code"),
        pytest.param({"message": "busy", "data": 7}, "error", "busy", (), id="no code"),
        pytest.param({"code": -32603}, "InternalError", "no message", (), id="no message"),
        pytest.param(
            {"code": -32603, "message": "Internal error", "data": {"detail": "disk full", "path": "/data"}},
            "InternalError",
            "Internal error: disk full",
            ("path: /data",),
            id="data as an object",
        ),
        pytest.param(
            {"code": -32602, "message": "1 validation error for Order\nqty\n  wrong [type=missing]", "data": "Order"},
            "ValidationError",
            "1 validation error for Order: qty: wrong",
            (),
            id="data that is said already",
        ),
        pytest.param(
            {"code": -32602, "message": "1 validation error for Order\nqty\n  wrong [type=missing]", "data": "POST"},
            "ValidationError",
            "1 validation error for Order: qty: wrong",
            (),
            id="data behind a validation error",
        ),
    ],
)
def test_json_rpc(error: dict[str, object], kind: str, cause: str, details: tuple[str, ...]):
    """The code's name is the type, and the data belongs to the cause."""
    found = facts(json.dumps({"jsonrpc": "2.0", "id": 3, "error": error}))
    assert (found.type, found.cause.removesuffix(" [missing]"), found.format) == (kind, cause, "rpc")
    assert found.details == details


def test_answer_behind_the_head_of_a_response():
    """An answer is found behind a head, a leading line or the progress of a script, and nowhere else."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}})
    assert facts(f"HTTP/1.1 200 OK\ncontent-type: application/json\n\n{body}").type == "InvalidRequest"
    assert facts(f"answer: {body}").type == "InvalidRequest"
    assert facts(f"step 1\nstep 2\n{body}").type == "InvalidRequest"
    assert facts(f"failed: x\nstep 2\n{body}").format != "rpc"
    assert facts(f"{body}\nand more").format != "rpc"
    assert rpc.FORMAT.read(Text(body='{jsonrpc "errors"')) is None
    assert facts('[{"jsonrpc": "2.0"}]').format != "rpc"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "details"),
    [
        ("MCP error -32602: Tool resreve not found", "UnknownTool", "Tool resreve not found", ()),
        ("McpError: MCP error -32000: Connection closed", "ServerError", "Connection closed", ()),
        pytest.param(
            'MCP error -32602: Invalid arguments for tool x: [{"code": "invalid_type", "path": ["sku"], "message": '
            '"Required"}]',
            "ValidationError",
            "Invalid arguments for tool x: sku: Required",
            (),
            id="zod",
        ),
    ],
)
def test_mcp(text: str, kind: str, cause: str, details: tuple[str, ...]):
    """What MCP's clients print has the code's name as its type."""
    found = facts(text)
    assert (found.type, found.cause, found.details, found.format) == (kind, cause, details, "rpc")


def graphql(*errors: dict[str, object], data: object = None) -> str:
    return json.dumps({"data": data, "errors": list(errors)})


def test_graphql():
    """One cause at several paths is one failure, with its members counted and named; the data plays no part."""
    errors = [{"message": "no price", "path": ["orders", n], "extensions": {"code": "NO_PRICE"}} for n in (1, 2)]
    found = facts(graphql(*errors, data={"orders": [{"price": 1}]}))
    assert (found.type, found.cause, found.tally, found.format) == ("NO_PRICE", "no price", "2 errors", "rpc")
    assert found.details == ("in orders.1, orders.2",)
    assert key(graphql(*errors)) == key(graphql(errors[1], data={"x": 1}))


@pytest.mark.parametrize(
    ("error", "kind", "details"),
    [
        ({"message": "no field x", "locations": [{"line": 1, "column": 3}]}, "GraphQLError", ("in query:1:3",)),
        ({"message": "no field x", "extensions": None, "locations": []}, "GraphQLError", ()),
        ({"message": "no field x", "path": [], "locations": [7]}, "GraphQLError", ()),
    ],
)
def test_graphql_without_path(error: dict[str, object], kind: str, details: tuple[str, ...]):
    """Without a path the place in the query is told."""
    found = facts(graphql(error))
    assert (found.type, found.details, found.format) == (kind, details, "rpc")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"errors": [{"status": "422", "detail": "too short", "message": "x"}]}),
        json.dumps({"errors": [{"message": "x", "path": ["a"]}], "rows": 3}),
        json.dumps({"errors": {"name": ["is too short"]}}),
        json.dumps({"errors": [3]}),
        json.dumps({"jsonrpc": "2.0", "result": {}, "errors": "none"}),
        json.dumps({"code": 5, "message": "x", "details": {}}),
        json.dumps({"code": 404, "message": "x", "details": []}),
        "the column is called rpc error: code = NotFound",
    ],
)
def test_what_is_no_remote_call(text: str):
    """Other bodies with the same fields are left to those who read HTTP answers."""
    assert facts(text).format != "rpc"


PYTHON = """\
<_InactiveRpcError of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "failed to connect; {}"
\tdebug_error_string = "UNKNOWN:x {{created_time:"{}"}}"
>"""


def test_grpc_of_python():
    """Status and details are the failure; what the core notes for debugging is not."""
    found = facts(PYTHON.format("ipv4:127.0.0.1:38991", "2026-11-20T09:14:02Z"))
    assert (found.type, found.cause) == ("UNAVAILABLE", "failed to connect; ipv4:127.0.0.1:38991")
    assert key(PYTHON.format("ipv4:127.0.0.1:38991", "a")) == key(PYTHON.format("ipv4:127.0.0.1:43217", "b"))
    assert key(PYTHON.format("x", "a")) != key(PYTHON.format("x", "a").replace("UNAVAILABLE", "NOT_FOUND"))


def test_grpc_exception():
    """Where the exception is named, alone or at the end of a traceback, its type stays and the status leads."""
    text = f"grpc._channel._InactiveRpcError: {PYTHON.format('x', 'a')}"
    found = facts(text)
    assert found.type.endswith("_InactiveRpcError")
    assert (found.cause, found.format) == ("UNAVAILABLE: failed to connect; x", "rpc")
    traceback = f'Traceback (most recent call last):\n  File "/app/a.py", line 3, in f\n    g()\n{text}'
    assert (facts(traceback).type, facts(traceback).cause) == (found.type, found.cause)


def test_details_over_several_lines():
    """Details may have lines of their own, and may be missing."""
    several = 'status = StatusCode.INTERNAL\n  details = "one\ntwo"\n  debug_error_string = "x"'
    assert str(read_status(several)) == "INTERNAL: one two"
    assert str(read_status('status = StatusCode.INTERNAL\n  details = ""\n>')) == "INTERNAL"
    assert str(read_status('status = StatusCode.INTERNAL\n  details = "one\n>')) == "INTERNAL: one"
    assert str(read_status('status = StatusCode.INTERNAL\n  details = "one\ntwo')) == "INTERNAL: one two"
    assert read_status("grpc.StatusCode.OK") is None


@pytest.mark.parametrize(
    ("text", "kind", "cause", "details"),
    [
        ("rpc error: code = NotFound desc = no order", "NotFound", "no order", ()),
        (
            "step 1 done\n2026-11-20 10:00:00 find order: rpc error: code = NotFound desc = no order\nexit status 1",
            "NotFound",
            "find order: no order",
            (),
        ),
        ("ERROR:\n  Code: NotFound\n  Message: no order", "NotFound", "no order", ()),
        pytest.param(
            'ERROR:\n  Code: InvalidArgument\n  Message: bad\n  Details:\n  1)\t{\n    \t  "@type": "x",\n'
            '    \t  "field": "qty"\n    \t}',
            "InvalidArgument",
            "bad",
            ('"field": "qty"',),
            id="grpcurl with details",
        ),
        ('{"code": 5, "message": "no order", "details": []}', "NOT_FOUND", "no order", ()),
    ],
)
def test_grpc_of_other_clients(text: str, kind: str, cause: str, details: tuple[str, ...]):
    """Go's status line, grpcurl's block and the JSON of a gateway state the same."""
    found = facts(text)
    assert (found.type, found.cause, found.details, found.format) == (kind, cause, details, "rpc")


@pytest.mark.parametrize("unit", ['{"jsonrpc":', '{"errors":['])
def test_objects_that_never_end_are_no_answer(unit: str):
    """Nor are they read to any depth."""
    assert facts(unit * 1_000).format == "prose"


def test_headings_without_an_end_are_joined_a_few_times():
    """A heading takes its cause from the lines below, three at most."""
    assert facts("\n  Code: " * 10).cause == "Code: Code: Code: Code:"


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ['{"jsonrpc":', "rpc error: code = ", "StatusCode.A\n", '{"errors":[', "MCP error -1: ", "\n  Code: "]
)
def test_hostile_text_costs_little(unit: str):
    """A megabyte of anything is looked at in a moment."""
    assert costs_little(lambda: facts(unit * (1_000_000 // len(unit))))
