"""Servers and their clients, language model APIs, remote calls, agent frameworks, and shells."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING

from corpus.provoke.case import Case
from corpus.provoke.tools import python_packages

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGES = (
    "fastapi", "uvicorn", "django", "djangorestframework", "flask", "grpcio", "strawberry-graphql", "mcp", "openai",
    "anthropic", "httpx", "aiohttp", "requests", "click", "langgraph",
)  # fmt: skip
_PYTHON = "$TOOLS/services/bin/python"
_PORT = 8471
_URL = f"http://127.0.0.1:{_PORT}"


def prepare(tools: Path) -> None:
    """Install the servers and clients into an environment of their own."""
    python_packages(tools / "services", *_PACKAGES)


def _served(server: str, client: str) -> str:
    """
    Return a line that starts a server, waits for it, runs the client and stops the server.
    """
    wait = f"curl -s -o /dev/null --retry 40 --retry-connrefused --retry-delay 1 {_URL}"
    start, stop = f"{{ {server} >server.log 2>&1 & }}; pid=$!", "kill $pid; wait $pid 2>server.end"
    return f"{start}; {wait}; {client}; status=$?; {stop}; exit $status"


_FASTAPI = dedent(
    """\
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse
    from pydantic import BaseModel, Field

    app = FastAPI()


    class Item(BaseModel):
        sku: str
        quantity: int = Field(gt=0)


    class Order(BaseModel):
        customer: str
        items: list[Item]


    @app.post("/orders")
    def create(order: Order) -> dict[str, str]:
        return {"id": "o-1"}


    @app.get("/orders/{number}")
    def show(number: int) -> JSONResponse:
        problem = {
            "type": "https://shop.example/problems/order-not-found",
            "title": "Order not found",
            "status": 404,
            "detail": f"There is no order {number}.",
            "instance": f"/orders/{number}",
        }
        return JSONResponse(problem, 404, media_type="application/problem+json")
    """
)
_UVICORN = f"$TOOLS/services/bin/uvicorn shop:app --port {_PORT}"

_DJANGO = dedent(
    """\
    import sys

    from django.conf import settings

    settings.configure(
        DEBUG=False, SECRET_KEY="x", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], USE_TZ=True,
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework"],
        REST_FRAMEWORK={"DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]},
    )
    import django

    django.setup()

    from django.urls import path
    from rest_framework import serializers
    from rest_framework.response import Response
    from rest_framework.views import APIView


    class Customer(serializers.Serializer):
        name = serializers.CharField()
        email = serializers.EmailField()


    class Customers(APIView):
        authentication_classes = []

        def post(self, request):
            customer = Customer(data=request.data)
            customer.is_valid(raise_exception=True)
            return Response(customer.data)


    urlpatterns = [path("customers", Customers.as_view())]

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    """
)

_FLASK = dedent(
    """\
    from flask import Flask, abort

    app = Flask(__name__)


    @app.get("/orders/<int:number>")
    def order(number):
        abort(404)


    @app.get("/reports")
    def reports():
        return {"rows": 1 / 0}
    """
)

_NGINX = dedent(
    f"""\
    daemon off;
    pid nginx.pid;
    error_log error.log;
    events {{}}
    http {{
      access_log off;
      client_max_body_size 10;
      server {{
        listen 127.0.0.1:{_PORT};
        location /orders {{ proxy_pass http://127.0.0.1:9; }}
      }}
    }}
    """
)
_NGINX_SERVER = "nginx -p . -c nginx.conf"

_CLIENT = dedent(
    """\
    import asyncio
    import sys

    import aiohttp
    import httpx
    import requests


    def by_requests(url):
        requests.get(url, timeout=5).raise_for_status()


    def by_httpx(url):
        httpx.get(url).raise_for_status()


    async def _by_aiohttp(url):
        async with aiohttp.ClientSession(raise_for_status=True) as session, session.get(url) as response:
            return await response.text()


    def by_aiohttp(url):
        asyncio.run(_by_aiohttp(url))


    try:
        globals()[f"by_{sys.argv[1]}"](sys.argv[2])
    except Exception as error:
        sys.exit(str(error))
    """
)
_SILENT = f"import socket, time\n\nserver = socket.create_server(('127.0.0.1', {_PORT}))\ntime.sleep(4)\n"
_FLASK_SERVER = f"{_PYTHON} -m flask --app shop run --port {_PORT}"
_HTTP = [
    Case(
        name="fastapi_validation",
        format="http",
        command=_served(
            _UVICORN,
            f"curl -sS {_URL}/orders --json "
            '\'{"items": [{"sku": "A1", "quantity": 0}, {"sku": "B2", "quantity": "two"}]}\'',
        ),
        files={"shop.py": _FASTAPI},
    ),
    Case(
        name="problem_json",
        format="http",
        command=_served(_UVICORN, f"curl -sS -i {_URL}/orders/4711"),
        files={"shop.py": _FASTAPI},
    ),
    Case(
        name="rest_framework_fields",
        format="http",
        command=_served(
            f"{_PYTHON} shop.py runserver --noreload {_PORT}",
            f'curl -sS -i {_URL}/customers --json \'{{"email": "ann at example"}}\'',
        ),
        files={"shop.py": _DJANGO},
    ),
    Case(
        name="flask_page_404",
        format="http",
        command=_served(_FLASK_SERVER, f"curl -sS {_URL}/orders/4711"),
        files={"shop.py": _FLASK},
    ),
    Case(
        name="flask_page_500_with_head",
        format="http",
        command=_served(_FLASK_SERVER, f"curl -sS -i {_URL}/reports"),
        files={"shop.py": _FLASK},
    ),
    Case(
        name="nginx_502",
        format="http",
        command=_served(_NGINX_SERVER, f"curl -sS -i {_URL}/orders"),
        files={"nginx.conf": _NGINX},
        needs=("nginx",),
    ),
    Case(
        name="nginx_413",
        format="http",
        command=_served(_NGINX_SERVER, f"curl -sS {_URL}/orders -d '0123456789 0123456789'"),
        files={"nginx.conf": _NGINX},
        needs=("nginx",),
    ),
    Case(
        name="curl_no_such_host",
        format="http",
        command="curl -sS http://orders.shop.invalid/v1/orders",
        needs=("curl",),
    ),
    Case(name="curl_refused", format="http", command="curl -sS http://127.0.0.1:9/v1/orders", needs=("curl",)),
    Case(
        name="curl_404_behind_progress",
        format="http",
        command=_served(_FLASK_SERVER, f"curl -f -o order.json {_URL}/orders/4711"),
        files={"shop.py": _FLASK},
    ),
    Case(
        name="curl_no_tls",
        format="http",
        command=_served(_FLASK_SERVER, f"curl -sS https://127.0.0.1:{_PORT}/orders/4711"),
        files={"shop.py": _FLASK},
    ),
    Case(
        name="curl_timeout",
        format="http",
        command=f"python3 silent.py & sleep 2; curl -sS --max-time 1 http://127.0.0.1:{_PORT}/v1/orders; wait",
        files={"silent.py": _SILENT},
        needs=("curl",),
    ),
    Case(
        name="wget_404",
        format="http",
        command=_served(_FLASK_SERVER, f"wget --no-verbose {_URL}/orders/4711 || wget {_URL}/orders/4711"),
        files={"shop.py": _FLASK},
        needs=("wget",),
    ),
    Case(name="wget_refused", format="http", command="wget http://127.0.0.1:9/v1/orders", needs=("wget",)),
    Case(
        name="requests_message",
        format="http",
        command=_served(_FLASK_SERVER, f"{_PYTHON} client.py requests {_URL}/orders/4711"),
        files={"shop.py": _FLASK, "client.py": _CLIENT},
    ),
    Case(
        name="httpx_message",
        format="http",
        command=_served(_FLASK_SERVER, f"{_PYTHON} client.py httpx {_URL}/reports"),
        files={"shop.py": _FLASK, "client.py": _CLIENT},
    ),
    Case(
        name="aiohttp_message",
        format="http",
        command=_served(_FLASK_SERVER, f"{_PYTHON} client.py aiohttp {_URL}/orders/4711"),
        files={"shop.py": _FLASK, "client.py": _CLIENT},
    ),
]

_OPENAI_CONTEXT = {
    "error": {
        "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130527 "
        "tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}
_OPENAI_RATE = {
    "error": {
        "message": "Rate limit reached for gpt-4.1 in organization org-a1B2c3D4 on tokens per min (TPM): Limit 30000, "
        "Used 29120, Requested 1834. Please try again in 1.908s. Visit "
        "https://platform.openai.com/account/rate-limits to learn more.",
        "type": "tokens",
        "param": None,
        "code": "rate_limit_exceeded",
    }
}
_OPENAI_KEY = {
    "error": {
        "message": "Incorrect API key provided: sk-proj-****abcd. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
}
_ANTHROPIC_TOOL_USE = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_01A09q90qw90lq917835lq9. Each `tool_use` block must have a corresponding `tool_result` block in the "
        "next message.",
    },
    "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
}
_ANTHROPIC_OVERLOADED = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "Overloaded"},
    "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
}
_GEMINI_QUOTA = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details. For more information "
        "on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: "
        "generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 5, model: gemini-2.5-pro\n"
        "Please retry in 36.6s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [
                    {
                        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                        "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
                        "quotaValue": "5",
                    }
                ],
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"},
        ],
    }
}
_AZURE_FILTER = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
        "Please modify your prompt and retry. To learn more about our content filtering policies please read our "
        "documentation: https://go.microsoft.com/fwlink/?linkid=2198766",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
        },
    }
}

_FAKE_API = dedent(
    """\
    import http.server
    import pathlib
    import sys

    STATUS, PORT = int(sys.argv[1]), int(sys.argv[2])
    BODY = pathlib.Path("answer.json").read_bytes()


    class Api(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(STATUS)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(BODY)))
            self.end_headers()
            self.wfile.write(BODY)

        do_GET = do_POST


    http.server.HTTPServer(("127.0.0.1", PORT), Api).serve_forever()
    """
)
_OPENAI_CLIENT = dedent(
    f"""\
    import sys

    import openai

    client = openai.OpenAI(api_key="x", base_url="{_URL}/v1", max_retries=0)
    try:
        client.chat.completions.create(model="gpt-4.1", messages=[{{"role": "user", "content": "Hello"}}])
    except openai.APIError as error:
        sys.exit(str(error))
    """
)
_ANTHROPIC_CLIENT = dedent(
    f"""\
    import sys

    import anthropic

    client = anthropic.Anthropic(api_key="x", base_url="{_URL}", max_retries=0)
    try:
        messages = [{{"role": "user", "content": "Hello"}}]
        client.messages.create(model="claude-sonnet-4-5", max_tokens=99, messages=messages)
    except anthropic.APIError as error:
        sys.exit(str(error))
    """
)


def _of_model(name: str, status: int, answer: dict[str, object], client: str) -> Case:
    """
    Return the case of a client that gets a documented answer from a server of its own.
    """
    return Case(
        name=name,
        format="llm",
        command=_served(f"python3 api.py {status} {_PORT}", client),
        files={
            "api.py": _FAKE_API,
            "answer.json": json.dumps(answer),
            "by_openai.py": _OPENAI_CLIENT,
            "by_anthropic.py": _ANTHROPIC_CLIENT,
        },
    )


_LLM = [
    _of_model("openai_context_length", 400, _OPENAI_CONTEXT, f"{_PYTHON} by_openai.py"),
    _of_model("openai_rate_limit", 429, _OPENAI_RATE, f"{_PYTHON} by_openai.py"),
    _of_model("openai_wrong_key", 401, _OPENAI_KEY, f"curl -sS -i {_URL}/v1/chat/completions -d '{{}}'"),
    _of_model("anthropic_tool_use", 400, _ANTHROPIC_TOOL_USE, f"{_PYTHON} by_anthropic.py"),
    _of_model("anthropic_overloaded", 529, _ANTHROPIC_OVERLOADED, f"{_PYTHON} by_anthropic.py"),
    _of_model("gemini_quota", 429, _GEMINI_QUOTA, f"curl -sS {_URL}/v1beta/models/gemini:generateContent -d '{{}}'"),
    _of_model("azure_content_filter", 400, _AZURE_FILTER, f"curl -sS -i {_URL}/openai/deployments/gpt -d '{{}}'"),
]

_MCP_SERVER = dedent(
    """\
    try:
        from mcp.server.mcpserver import MCPServer
    except ModuleNotFoundError:
        from mcp.server.fastmcp import FastMCP as MCPServer

    server = MCPServer("shop", log_level="CRITICAL")
    STOCK = {"A1": 3}


    @server.tool()
    def reserve(sku: str, quantity: int) -> str:
        if STOCK.get(sku, 0) < quantity:
            raise ValueError(f"only {STOCK.get(sku, 0)} of {sku} in stock, {quantity} asked for")
        return "reserved"


    if __name__ == "__main__":
        server.run()
    """
)
_MCP_HELLO = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"agent","version":"1"}}}\\n{"jsonrpc":"2.0","method":"notifications/initialized"}\\n'
)


def _asked(request: str) -> str:
    """
    Return a line that asks the MCP server something over its standard input, and shows its answer.
    """
    ask = f"{{ printf '{_MCP_HELLO}%s\\n' '{request}'; sleep 3; }} | {_PYTHON} server.py"
    return f"{ask} | tail -n +2"


_MCP_CLIENT = dedent(
    """\
    import asyncio
    import sys

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client


    async def main(tool, arguments):
        command = StdioServerParameters(command=sys.executable, args=["server.py"])
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            await session.initialize()
            print((await session.call_tool(tool, arguments)).model_dump_json(exclude_none=True))


    asyncio.run(main(sys.argv[1], __import__("json").loads(sys.argv[2])))
    """
)
_TOOL_NODE = dedent(
    """\
    import sys

    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode


    @tool
    def reserve(sku: str, quantity: int) -> str:
        "Reserve something."
        return {"A1": "reserved"}[sku]


    graph = StateGraph(MessagesState).add_node("tools", ToolNode([reserve], handle_tool_errors=True))
    graph = graph.add_edge(START, "tools").add_edge("tools", END).compile()
    name, arguments = sys.argv[1], __import__("json").loads(sys.argv[2])
    call = {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}
    print(graph.invoke({"messages": [AIMessage(content="", tool_calls=[call])]})["messages"][-1].content)
    """
)
_HARNESS = [
    Case(
        name="mcp_tool_raised",
        format="harness",
        command=f"""{_PYTHON} client.py reserve '{{"sku": "A1", "quantity": 5}}'""",
        files={"server.py": _MCP_SERVER, "client.py": _MCP_CLIENT},
    ),
    Case(
        name="mcp_invalid_arguments",
        format="harness",
        command=f"""{_PYTHON} client.py reserve '{{"quantity": "five"}}'""",
        files={"server.py": _MCP_SERVER, "client.py": _MCP_CLIENT},
    ),
    Case(
        name="mcp_unknown_tool",
        format="harness",
        command=f"""{_PYTHON} client.py resreve '{{"sku": "A1"}}'""",
        files={"server.py": _MCP_SERVER, "client.py": _MCP_CLIENT},
    ),
    Case(
        name="langgraph_unknown_tool",
        format="harness",
        command=f"""{_PYTHON} agent.py resreve '{{"sku": "A1"}}'""",
        files={"agent.py": _TOOL_NODE},
    ),
    Case(
        name="langgraph_tool_raised",
        format="harness",
        command=f"""{_PYTHON} agent.py reserve '{{"sku": "B2", "quantity": 1}}'""",
        files={"agent.py": _TOOL_NODE},
    ),
    Case(
        name="langgraph_invalid_arguments",
        format="harness",
        command=f"""{_PYTHON} agent.py reserve '{{"quantity": "five"}}'""",
        files={"agent.py": _TOOL_NODE},
    ),
]

_GRAPHQL = dedent(
    """\
    import json
    import sys

    import logging

    import strawberry
    from graphql import GraphQLError

    logging.disable()


    @strawberry.type
    class Order:
        number: int

        @strawberry.field
        def total(self) -> int | None:
            if self.number > 1:
                raise GraphQLError("no price for this order", extensions={"code": "PRICE_MISSING"})
            return 10


    @strawberry.type
    class Query:
        @strawberry.field
        def orders(self) -> list[Order]:
            return [Order(number=1), Order(number=2), Order(number=3)]


    result = strawberry.Schema(Query).execute_sync(sys.argv[1])
    errors = [error.formatted for error in result.errors or ()]
    print(json.dumps({"data": result.data, "errors": errors}, indent=2))
    """
)
_GRPC = dedent(
    """\
    import sys
    from concurrent import futures

    import grpc


    def serve(port):
        def find(request, context):
            context.abort(grpc.StatusCode.NOT_FOUND, "order o-4711 does not exist in shop-eu")

        server = grpc.server(futures.ThreadPoolExecutor(1))
        methods = {"Find": grpc.unary_unary_rpc_method_handler(find)}
        handler = grpc.method_handlers_generic_handler("shop.Orders", methods)
        server.add_generic_rpc_handlers((handler,))
        server.add_insecure_port(f"127.0.0.1:{port}")
        server.start()
        return server


    def call(port, method):
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        try:
            channel.unary_unary(method)(b"", timeout=5)
        except grpc.RpcError as error:
            print(error)


    server = serve(50471) if sys.argv[1] != "nobody" else None
    call(50471, "/shop.Orders/Find" if sys.argv[1] != "method" else "/shop.Orders/Fnid")
    """
)
_RPC = [
    Case(
        name="mcp_unknown_method",
        format="rpc",
        command=_asked('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///nope.txt"}}'),
        files={"server.py": _MCP_SERVER},
    ),
    Case(
        name="mcp_invalid_request",
        format="rpc",
        command=_asked('{"jsonrpc":"2.0","id":1,"method":"tools/lst","params":{}}'),
        files={"server.py": _MCP_SERVER},
    ),
    Case(
        name="graphql_unknown_field",
        format="rpc",
        command=f"{_PYTHON} shop.py '{{ orders {{ number totl }} }}'",
        files={"shop.py": _GRAPHQL},
    ),
    Case(
        name="graphql_partial_data",
        format="rpc",
        command=f"{_PYTHON} shop.py '{{ orders {{ number total }} }}'",
        files={"shop.py": _GRAPHQL},
    ),
    Case(
        name="grpc_not_found",
        format="rpc",
        command=f"{_PYTHON} shop.py found",
        files={"shop.py": _GRPC},
    ),
    Case(
        name="grpc_unavailable",
        format="rpc",
        command=f"{_PYTHON} shop.py nobody",
        files={"shop.py": _GRPC},
    ),
    Case(
        name="grpc_unimplemented",
        format="rpc",
        command=f"{_PYTHON} shop.py method",
        files={"shop.py": _GRPC},
    ),
]

_ARGPARSE = dedent(
    """\
    import argparse

    parser = argparse.ArgumentParser(prog="deploy.py")
    parser.add_argument("environment", choices=["staging", "production"])
    parser.add_argument("--replicas", type=int, default=1)
    parser.parse_args()
    """
)
_CLICK = dedent(
    """\
    import click


    @click.group()
    def shop() -> None:
        pass


    @shop.command()
    @click.option("--count", type=int, required=True)
    @click.option("--force", is_flag=True)
    def restock(count: int, force: bool) -> None:
        pass


    shop()
    """
)
_GO_FLAGS = dedent(
    """\
    package main

    import "flag"

    func main() {
        flag.Int("replicas", 1, "how many")
        flag.Parse()
    }
    """
)
_COBRA = dedent(
    """\
    package main

    import (
        "os"

        "github.com/spf13/cobra"
    )

    func main() {
        root := &cobra.Command{Use: "shop"}
        deploy := &cobra.Command{Use: "deploy", Run: func(cmd *cobra.Command, args []string) {}}
        deploy.Flags().Int("replicas", 1, "how many")
        root.AddCommand(deploy)
        if root.Execute() != nil {
            os.Exit(1)
        }
    }
    """
)
_COBRA_MODULE = "module shop\n\ngo 1.21\n\nrequire github.com/spf13/cobra v1.8.1\n"
_DEPLOY = dedent(
    """\
    #!/bin/bash
    set -euo pipefail
    echo "deploying to $1"
    echo "in region $REGION"
    """
)
_CRASH = "int main(void) { volatile int *nowhere = 0; return *nowhere; }\n"
_SHELL = [
    Case(name="command_not_found", format="shell", command='bash -c "terrafrom plan"; echo "exit code: $?"'),
    Case(
        name="unbound_variable",
        format="shell",
        command="bash deploy.sh staging",
        files={"deploy.sh": _DEPLOY},
    ),
    Case(
        name="syntax_error",
        format="shell",
        command="bash deploy.sh",
        files={"deploy.sh": "for host in a b; do\n  echo $host\nfi\n"},
    ),
    Case(
        name="not_executable",
        format="shell",
        command="./deploy.sh staging; echo exit code: $?",
        files={"deploy.sh": _DEPLOY},
    ),
    Case(
        name="segmentation_fault",
        format="shell",
        command="bash run.sh",
        files={"crash.c": _CRASH, "run.sh": "echo starting\n./crash --fast\necho stopped\n"},
        setup="gcc -o crash crash.c",
        needs=("gcc",),
    ),
    Case(
        name="killed",
        format="shell",
        command="bash run.sh",
        files={"run.sh": "echo loading\nbash -c 'kill -9 $$'\necho done\n"},
    ),
    Case(name="missing_operand", format="shell", command="cp orders.csv"),
    Case(name="unknown_option", format="shell", command="ls --sizes"),
    Case(
        name="no_such_file_among_progress",
        format="shell",
        command='for n in 1 2 3 4 5 6; do echo "copied part $n"; done; tar -cf out.tar parts/ 2>&1',
    ),
    Case(name="jq_cannot_iterate", format="shell", command="echo null | jq '.items[]'", needs=("jq",)),
    Case(name="sed_expression", format="shell", command="sed 's/a/b' orders.csv"),
    Case(name="find_predicate", format="shell", command="find . -nmae '*.py'"),
    Case(name="permission_denied", format="shell", command="cd / && setpriv --reuid=65534 touch /etc/shop.conf"),
    Case(name="ssh_refused", format="shell", command="ssh -p 9 -o BatchMode=yes 127.0.0.1 true", needs=("ssh",)),
    Case(
        name="argparse_choice",
        format="shell",
        command=f"{_PYTHON} deploy.py prod --replicas 2",
        files={"deploy.py": _ARGPARSE},
    ),
    Case(
        name="argparse_argument",
        format="shell",
        command=f"{_PYTHON} deploy.py staging --replica=two --foo",
        files={"deploy.py": _ARGPARSE},
    ),
    Case(
        name="click_option",
        format="shell",
        command=f"{_PYTHON} shop.py restock --forse",
        files={"shop.py": _CLICK},
    ),
    Case(
        name="click_value",
        format="shell",
        command=f"{_PYTHON} shop.py restock --count many",
        files={"shop.py": _CLICK},
    ),
    Case(
        name="go_flag",
        format="shell",
        command="./deploy -replcas 3",
        files={"main.go": _GO_FLAGS, "go.mod": "module deploy\n\ngo 1.21\n"},
        setup="go build -o deploy .",
        needs=("go",),
    ),
    Case(
        name="cobra_flag",
        format="shell",
        command="./shop deploy --replcas 3",
        files={"main.go": _COBRA, "go.mod": _COBRA_MODULE},
        setup="go mod tidy && go build -o shop .",
        needs=("go",),
    ),
    Case(
        name="cobra_command",
        format="shell",
        command="./shop depoly",
        files={"main.go": _COBRA, "go.mod": _COBRA_MODULE},
        setup="go mod tidy && go build -o shop .",
        needs=("go",),
    ),
]

CASES = [*_HTTP, *_LLM, *_HARNESS, *_RPC, *_SHELL]
