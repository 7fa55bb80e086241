"""FastAPI: dependencies, streams and background tasks are entered and left in tasks and threads of the server."""

# ruff: noqa: B008, FAST002 - FastAPI cannot read annotations that name local functions

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

import httpx
import pytest
from fastapi import BackgroundTasks, Depends, FastAPI
from fastapi.responses import StreamingResponse

import otel_errcompact as errcompact
from otel_errcompact import Run, current_run
from otel_errcompact.engine.events import Ended
from otel_errcompact.engine.listeners import Listener

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

REQUESTS = 20


@pytest.fixture
def ended(ledger: Ledger) -> dict[str, int]:
    """How often something failed in each run that has ended."""
    occurrences: dict[str, int] = {}
    ended = attrgetter("report.run_id", "report.occurrences")
    ledger.listeners.add(Listener({Ended: lambda event: occurrences.update([ended(event)])}))
    return occurrences


@pytest.fixture
def app(ledger: Ledger) -> FastAPI:
    server = FastAPI()

    def run_in_a_thread(name: str) -> Iterator[Run]:
        with errcompact.run(name, ledger=ledger) as run:
            yield run

    async def run_in_a_task(name: str) -> AsyncIterator[Run]:
        async with errcompact.run(name, ledger=ledger) as run:
            yield run

    @server.get("/sync")
    def synchronous(run: Run = Depends(run_in_a_thread)) -> str:
        return run.fail("synchronous", tool="t")

    @server.get("/mixed")
    async def mixed(run: Run = Depends(run_in_a_thread)) -> str:
        async with run.tool("t") as call:
            raise ValueError("asynchronous in a synchronous dependency's run")
        return call.text

    @server.get("/async")
    async def asynchronous(run: Run = Depends(run_in_a_task)) -> str:
        return run.fail("asynchronous", tool="t")

    @server.get("/stream")
    def streamed(name: str) -> StreamingResponse:
        def chunks() -> Iterator[str]:
            with errcompact.run(name, ledger=ledger) as run:
                for number in range(3):
                    with run.tool("s"):
                        yield "x"
                        if number == 1:
                            raise ValueError("in the stream")

        return StreamingResponse(chunks())

    @server.get("/astream")
    async def astreamed(name: str) -> StreamingResponse:
        async def chunks() -> AsyncIterator[str]:
            async with errcompact.run(name, ledger=ledger) as run:
                for number in range(3):
                    async with run.tool("s"):
                        yield "x"
                        if number == 1:
                            raise ValueError("in the stream")

        return StreamingResponse(chunks())

    @server.get("/background")
    async def background(name: str, tasks: BackgroundTasks) -> str:
        run = errcompact.run(name, ledger=ledger)
        await run.__aenter__()

        def later() -> None:
            run.fail("after the answer", tool="t")
            run.__exit__(None, None, None)

        tasks.add_task(later)
        return "accepted"

    return server


def client(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server")


@pytest.mark.parametrize("path", ["sync", "mixed", "async", "stream", "astream", "background"])
async def test_requests_side_by_side(app: FastAPI, ended: dict[str, int], path: str) -> None:
    """Each is answered, has a run of its own that ends, and its one failure is counted there."""
    names = [f"{path}-{number}" for number in range(REQUESTS)]
    async with client(app) as http:
        answers = await asyncio.gather(*(http.get(f"/{path}", params={"name": name}) for name in names))
    assert [answer.status_code for answer in answers] == [200] * REQUESTS
    if "stream" in path:
        assert {answer.text for answer in answers} == {"xxx"}
    assert ended == dict.fromkeys(names, 1)
    assert current_run() is None


@pytest.mark.parametrize("path", ["stream", "astream"])
async def test_a_client_that_goes_away_in_the_middle_of_an_answer(app: FastAPI, path: str) -> None:
    """The server closes the stream wherever it likes; the next request finds no run open."""
    async with client(app) as http:
        for _ in range(3):
            with suppress(TimeoutError):  # some versions of Starlette raise what the connection raised
                await _abandoned(app, path)
        answer = await http.get(f"/{path}", params={"name": "after"})
        assert (answer.status_code, answer.text) == (200, "xxx")
    assert current_run() is None


async def _abandoned(app: FastAPI, path: str) -> None:
    """Speak ASGI to the server, and hang up when the first chunk has come."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": f"/{path}",
        "raw_path": b"", "query_string": b"name=abandoned", "headers": [], "scheme": "http",
        "client": ("c", 1), "server": ("s", 1), "root_path": "",
    }  # fmt: skip
    begun = asyncio.Event()

    async def receive() -> dict[str, object]:
        if not begun.is_set():
            await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.body":
            begun.set()
            await asyncio.sleep(0)
            raise TimeoutError("the client is gone")

    await app(scope, receive, send)  # type: ignore[arg-type]
