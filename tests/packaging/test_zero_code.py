"""Programs that nobody wraps, under the real `opentelemetry-instrument` with real instrumentations."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import console

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(1_500), pytest.mark.xdist_group("zero-code")]

ROOT = Path(__file__).parents[2]
RELEASE = "0.66b1"
"""Of the instrumentations, which pin the SDK; the checkout's environment has another one."""

INSTRUMENTED = ("flask", "httpx", "logging", "requests", "sqlalchemy", "sqlite3", "urllib")

SERVER = """
import http.server, logging, socket, sys, threading
from opentelemetry import trace

class Broken(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(500)
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Broken)
threading.Thread(target=server.serve_forever, daemon=True).start()
broken = f"http://127.0.0.1:{server.server_port}/stock"
with socket.create_server(("127.0.0.1", 0)) as closed:
    refused = f"http://127.0.0.1:{closed.getsockname()[1]}/stock"
log = logging.getLogger("shop.orders")
tracer = trace.get_tracer("shop")
AGENT = {"gen_ai.operation.name": "invoke_agent"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "order"}

def order():
    globals()[f"work_{number}"]()

def logged():
    try:
        order()
    except Exception:
        log.exception("the order failed")

def in_a_span():
    with tracer.start_as_current_span("handle"):
        logged()

def through_a_span():
    with tracer.start_as_current_span("handle"):
        try:
            with tracer.start_as_current_span("place"):
                order()
        except Exception:
            log.exception("the order failed")

def in_a_tool():
    with tracer.start_as_current_span("invoke_agent shop", attributes=AGENT):
        try:
            with tracer.start_as_current_span("execute_tool order", attributes=TOOL):
                try:
                    order()
                except Exception:
                    log.exception("the order failed")
                    raise
        except Exception:
            pass
"""

# The client, what fails, and its type; of an answer the client's span tells only the status.
WORK = (
    ("import requests", "requests.get(broken).raise_for_status()", "HTTP 500", "requests.exceptions.HTTPError"),
    ("", "requests.get(refused)", "ConnectionRefusedError", ""),
    ("import httpx", "httpx.get(broken).raise_for_status()", "HTTP 500", "httpx.HTTPStatusError"),
    ("", "httpx.get(refused)", "httpcore.ConnectError", ""),
    (
        """
import asyncio
async def ask():
    async with httpx.AsyncClient() as client:
        await client.get(refused)
""",
        "asyncio.run(ask())",
        "httpcore.ConnectError",
        "",
    ),
    ("import urllib.request", "urllib.request.urlopen(broken)", "urllib.error.HTTPError", ""),
    ("", "urllib.request.urlopen(refused)", "ConnectionRefusedError", ""),
    (
        "import sqlite3",
        "sqlite3.connect(':memory:').cursor().execute('select amount from orders')",
        "sqlite3.OperationalError",
        "",
    ),
    (
        """
import sqlalchemy
engine = sqlalchemy.create_engine("sqlite://")
def query():
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("select amount from orders"))
""",
        "query()",
        "sqlite3.OperationalError",
        "",
    ),
)
CLIENTS = "\n".join(f"{prepare}\ndef work_{number}(): {work}" for number, (prepare, work, _, _) in enumerate(WORK))


class Ran(NamedTuple):
    """What a program has counted."""

    errors: list[str]
    """The types of all failures."""

    tools: set[str]
    places: set[str]
    """The function and file of each class."""

    runs: Counter[str]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment in which nothing is installed but what users install."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    packages = [f"opentelemetry-instrumentation-{name}=={RELEASE}" for name in INSTRUMENTED]
    packages += [f"opentelemetry-distro=={RELEASE}", "flask", "httpx", "requests", "sqlalchemy"]
    for command in (
        ["venv", "--quiet", "--python", sys.executable, folder],
        ["pip", "install", "--quiet", "--python", folder / "bin" / "python", "--editable", ROOT, *packages],
    ):
        done = subprocess.run([sys.executable, "-m", "uv", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder / "bin"


def start(environment: Path, folder: Path, code: str) -> Ran:
    """Run a program and read what its instruments have exported."""
    (folder / "app.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [
            environment / "opentelemetry-instrument",
            "--traces_exporter=none",
            "--metrics_exporter=console",
            "--logs_exporter=none",
            environment / "python",
            "app.py",
        ],
        cwd=folder,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    metrics = console.read(done.stdout).metrics
    assert "errcompact.internal.failures" not in metrics
    errors = metrics.get("errcompact.errors", [])
    return Ran(
        [point["attributes"]["error.type"] for point in errors for _ in range(point["value"])],
        {point["attributes"].get("gen_ai.tool.name", "") for point in errors},
        {
            _place(point["attributes"].get("errcompact.location", ""))
            for point in metrics.get("errcompact.class.info", [])
        },
        Counter(
            {point["attributes"]["errcompact.result"]: point["value"] for point in metrics.get("errcompact.runs", [])}
        ),
    )


def _place(location: str) -> str:
    function, _, file = location.partition(" (")
    return f"{function} in {Path(file.partition(':')[0]).name}" if file else location


@pytest.mark.parametrize("way", ["logged", "in_a_span", "through_a_span", "in_a_tool"])
def test_one_failure_counts_once(environment: Path, tmp_path: Path, way: str) -> None:
    """
    However many of a client's span, the spans around it and a log record tell of it: under the tool that was called,
    or none, and in the program's own code, never inside the instrumentation or the library.
    """
    ran = start(environment, tmp_path, f"{SERVER}\n{CLIENTS}\nfor number in range({len(WORK)}):\n    {way}()\n")
    in_a_tool = way == "in_a_tool"
    assert Counter(ran.errors) == Counter(raised if raised and in_a_tool else kind for *_, kind, raised in WORK)
    assert ran.tools == ({"order"} if in_a_tool else {""})
    own = {"ask", "query", *(f"work_{number}" for number, (*_, raised) in enumerate(WORK) if in_a_tool or not raised)}
    # Calls that only call another function of the program are not the place.
    own -= {"work_4", "work_8"}
    # An answer that is no exception has no place.
    assert ran.places == {f"{function} in app.py" for function in own} | (set() if in_a_tool else {""})
    assert ran.runs == (Counter(unresolved=len(WORK)) if in_a_tool else Counter())


def test_a_failed_request_counts_once(environment: Path, tmp_path: Path) -> None:
    """A server's span, its exception event and a log record tell of one failure."""
    code = """
import flask, http.client, logging, threading
from opentelemetry import trace
from werkzeug.serving import make_server
log = logging.getLogger("shop")
app = flask.Flask("shop")

@app.get("/raised")
def raised():
    raise KeyError("no stock")

@app.get("/aborted")
def aborted():
    try:
        raise LookupError("no stock")
    except LookupError:
        log.exception("failed")
        flask.abort(500)

@app.get("/answered")
def answered():
    try:
        raise ValueError("no stock")
    except ValueError as error:
        trace.get_current_span().record_exception(error)
        log.exception("failed")
        return "bad", 500

server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
for path in ("/raised", "/aborted", "/answered"):
    client = http.client.HTTPConnection("127.0.0.1", server.port)
    client.request("GET", path)
    assert client.getresponse().status == 500
server.shutdown()
"""
    ran = start(environment, tmp_path, code)
    assert (Counter(ran.errors), ran.tools) == (Counter(["KeyError", "LookupError", "ValueError"]), {""})
    assert ran.places == {"raised in app.py", "aborted in app.py", "answered in app.py"}


def test_runs(environment: Path, tmp_path: Path) -> None:
    """Twenty healthy agents, one with a failure that stays, one that failed itself, and requests that are no agents."""
    code = f"""{SERVER}
def agent(*, fails=False, dies=False):
    with tracer.start_as_current_span("POST /ask"):
        try:
            with tracer.start_as_current_span("invoke_agent shop", attributes=AGENT):
                try:
                    with tracer.start_as_current_span("execute_tool order", attributes=TOOL):
                        if fails:
                            raise LookupError("no stock")
                except LookupError:
                    pass
                if dies:
                    raise RuntimeError("no plan")
        except RuntimeError:
            pass

for number in range(22):
    agent(fails=number == 3, dies=number == 7)
for number in range(5):
    with tracer.start_as_current_span("GET /health"):
        pass
with tracer.start_as_current_span("invoke_agent shop", attributes={{**AGENT, "gen_ai.conversation.id": "c-1"}}):
    pass
"""
    assert start(environment, tmp_path, code).runs == Counter(clean=21, unresolved=1, failed=1)
