"""The HTTP interface of the service: calls in, digests and verdicts out."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Body, FastAPI, Header, HTTPException, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException

from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.service.bodies import (
    CallAnswer,
    CallBody,
    DigestAnswer,
    FailureBody,
    Health,
    Problem,
    RawAnswer,
    RefusalAnswer,
    ResultBody,
    ResumeBody,
    RunAnswer,
    RunList,
    SuccessBody,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastapi.telemetry import TelemetryConfig

    from otel_errcompact.engine.state import Verdict
    from otel_errcompact_hosts.calls import Answer
    from otel_errcompact_hosts.runs import LedgerRuns

VERSION: Final = "1.0"
"""The version of the interface."""

UNREAD: Final = "return=minimal"
"""What the header `Prefer` says of an answer that nobody reads."""

_DESCRIBED: Final = "GET /v1/openapi.json describes the body, one JSON object"

_NO_TELEMETRY: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""What the service sends is about the agents' calls; releases of FastAPI without telemetry of their own ignore it."""

_DESCRIPTION: Final = """\
Counts the tool calls of agents in any language. Report each call once, with its outcome: the answer to a failure is the
digest that the agent reads in place of the raw error, and the verdict says whether the run may continue.

`errcompact serve` listens on a unix socket, and on a port of 127.0.0.1 if it is given one. A request to the port brings
the token; one to the socket needs none.
"""

_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    401: {"model": Problem, "description": "The request to the port has no token, or another one."},
    404: {"model": Problem, "description": "Nothing is known by this name."},
    413: {"model": Problem, "description": "The body is too large."},
    422: {"model": Problem, "description": "The request is malformed."},
}

RunPath = Annotated[str, Path(description="The id of the run; a slash in it may be sent as `%2F`.")]
KeyPath = Annotated[str, Path(description="The key of the class, its begin, or its name in digests.")]
Prefer = Annotated[
    str, Header(description="`return=minimal` if nobody reads the answer: it is empty then, and `guidance` is kept.")
]
HostPath = Annotated[str, Path(description="The host's name, such as `claude-code`.")]


def create_app(runs: LedgerRuns, health: Mapping[str, object]) -> FastAPI:
    """Return the application; `health` is what `GET /v1/health` answers."""
    app = FastAPI(
        title="otel-errcompact",
        version=VERSION,
        description=_DESCRIPTION,
        docs_url=None,  # the page would load its program from elsewhere
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        responses=_PROBLEMS,
        generate_unique_id_function=lambda route: route.name,
        telemetry=_NO_TELEMETRY,
    )
    app.add_exception_handler(RequestValidationError, _explain_problem)
    app.add_exception_handler(StarletteHTTPException, _refuse_request)
    app.add_exception_handler(Exception, _answer_fault)
    _add_calls(app, runs)
    _add_runs(app, runs)
    _add_hosts(app, runs, health)
    _add_token(app)
    return app


def _add_calls(app: FastAPI, runs: LedgerRuns) -> None:
    @app.post("/v1/failures", response_model=CallAnswer, summary="Count a call that has failed", tags=["calls"])
    def post_failure(body: FailureBody) -> Response:
        return _conclude_call(runs, body, HostResult(text=body.text, failed=True, exit_code=body.exit_status))

    @app.post("/v1/successes", response_model=CallAnswer, summary="Count a call that has succeeded", tags=["calls"])
    def post_success(body: SuccessBody, prefer: Prefer = "") -> Response:
        result = HostResult(text=body.text, failed=False)
        if prefer.strip() != UNREAD:
            return _conclude_call(runs, body, result)
        runs.conclude(_read_call(body), result, is_read=False)
        return Response(status_code=204)

    @app.post("/v1/results", response_model=CallAnswer, summary="Judge and count what came back", tags=["calls"])
    def post_result(body: ResultBody) -> Response:
        return _conclude_call(runs, body, HostResult(text=body.text, failed=body.failed, exit_code=body.exit_status))

    @app.post("/v1/refusals", response_model=RefusalAnswer, summary="Ask before a call is executed", tags=["calls"])
    def post_refusal(body: CallBody) -> Response:
        reason = runs.refuse(_read_call(body))
        return _write_answer({"refused": bool(reason), "reason": reason})


def _add_runs(app: FastAPI, runs: LedgerRuns) -> None:
    # What has a word behind the id stands first: an id may hold slashes.
    @app.get("/v1/runs", response_model=RunList, summary="List the runs", tags=["runs"])
    def get_runs() -> Response:
        reports = map(runs.ledger.report, runs.ledger.store.run_ids())
        return _write_answer(
            {
                "runs": [
                    {
                        "run": report.run_id,
                        "agent": report.agent,
                        "failures": report.occurrences,
                        "verdict": _describe_verdict(runs.verdict(report.run_id)),
                    }
                    for report in reports
                ]
            }
        )

    @app.get("/v1/runs/{run:path}/digest", response_model=DigestAnswer, summary="Read recent errors", tags=["runs"])
    def get_digest(run: RunPath) -> Response:
        return _write_answer({"digest": runs.ledger.digest(_find_id(runs, run))})

    @app.get("/v1/runs/{run:path}/raw/{key}", response_model=RawAnswer, summary="Read a raw error", tags=["runs"])
    def get_raw(run: RunPath, key: KeyPath) -> Response:
        raw = runs.ledger.raw(_find_id(runs, run), unquote(key))
        if raw is None:
            raise HTTPException(
                404, f"the run has no raw error of a class {unquote(key)!r}; its report names its classes"
            )
        return _write_answer({"raw": raw})

    @app.get("/v1/runs/{run:path}", response_model=RunAnswer, summary="Read the account of a run", tags=["runs"])
    def get_run(run: RunPath) -> Response:
        return _describe_run(runs, _find_id(runs, run))

    @app.post("/v1/runs/{run:path}/turns", response_model=None, status_code=204, summary="Begin a turn", tags=["runs"])
    def post_turn(run: RunPath) -> Response:
        runs.begin_turn(unquote(run))
        return Response(status_code=204)

    @app.post("/v1/runs/{run:path}/resume", response_model=RunAnswer, summary="Let a run continue", tags=["runs"])
    def post_resume(run: RunPath, body: ResumeBody | None = None) -> Response:
        run_id = _find_id(runs, run)
        runs.resume(run_id, body.message if body is not None else "")
        return _describe_run(runs, run_id)

    @app.delete("/v1/runs/{run:path}", response_model=RunAnswer, summary="End a run and forget it", tags=["runs"])
    def delete_run(run: RunPath) -> Response:
        run_id = _find_id(runs, run)
        verdict = _describe_verdict(runs.verdict(run_id))
        report = runs.close(run_id)
        return _write_answer({"run": run_id, "verdict": verdict, "report": report.model_dump(mode="json")})


def _add_hosts(app: FastAPI, runs: LedgerRuns, health: Mapping[str, object]) -> None:
    @app.post("/v1/hooks/{host}", response_model=dict[str, Any], summary="Answer a host's hook", tags=["hosts"])
    def post_hook(host: HostPath, event: Annotated[dict[str, Any], Body()], request: Request) -> Response:
        name = request.query_params.get("event")
        given = {"hook_event_name": name, **event} if name else event
        return _write_answer(_answer_hook(unquote(host), given, runs))

    @app.get("/v1/health", response_model=Health, summary="Say who answers", tags=["hosts"])
    def get_health() -> Response:
        return _write_answer(health)


def _answer_hook(host: str, event: Mapping[str, object], runs: LedgerRuns) -> Mapping[str, object]:
    # By name, since the settings of hooks import this room.
    answer: Callable[..., Mapping[str, object]] = import_module("otel_errcompact_hosts.hooks").answer
    try:
        return answer(host, event, runs)
    except ErrcompactError as error:
        raise HTTPException(404, str(error)) from error


def _read_call(body: CallBody) -> HostCall:
    return HostCall(
        run_id=body.run,
        tool=body.tool,
        arguments=as_text(body.arguments),
        call_id=body.call_id,
        agent=body.agent,
        directory=body.directory,
        stoppable=body.stoppable,
        turn="" if body.turn is None else str(body.turn),
    )


def _conclude_call(runs: LedgerRuns, body: CallBody, result: HostResult) -> Response:
    answer = runs.conclude(_read_call(body), result)
    return _write_answer(_describe_call(answer, runs.verdict(body.run)))


def _describe_call(answer: Answer, verdict: Verdict) -> dict[str, object]:
    return {
        "outcome": answer.outcome,
        "digest": answer.text,
        "class": {"key": answer.key, "short": answer.short} if answer.key else None,
        "counts": {"class": answer.count, "streak": answer.streak, "run": answer.total} if answer.key else None,
        "guidance": answer.guidance,
        "verdict": _describe_verdict(verdict),
    }


def _describe_verdict(verdict: Verdict) -> dict[str, object]:
    escalation = verdict.escalation
    return {
        "standing": verdict.standing,
        "stopped": verdict.stopped,
        "threshold": escalation.threshold if escalation is not None else "",
        "reason": explain_stop(escalation, verdict.reason),
    }


def _describe_run(runs: LedgerRuns, run_id: str) -> Response:
    report = runs.ledger.report(run_id).model_dump(mode="json")
    return _write_answer({"run": run_id, "verdict": _describe_verdict(runs.verdict(run_id)), "report": report})


def _find_id(runs: LedgerRuns, run: str) -> str:
    run_id = unquote(run)
    if not runs.knows(run_id):
        raise HTTPException(404, f"no run {run_id!r} is known; GET /v1/runs lists those that are")
    return run_id


def _write_answer(content: Mapping[str, object], status: int = 200) -> Response:
    # Halves of characters in an output stay escaped, as JSON can hold them.
    return Response(json.dumps(content).encode("ascii"), status_code=status, media_type="application/json")


async def _explain_problem(_: Request, error: Exception) -> Response:
    errors: Sequence[Mapping[str, Any]] = error.errors() if isinstance(error, RequestValidationError) else ()
    # A misspelt field is the reason why another one is missing.
    found = min(errors, key=lambda each: each["type"] != "extra_forbidden")
    place = ".".join(map(str, found["loc"][:2]))  # behind it stands which of several types was tried
    reason = f": {found['ctx']['error']}" if found["type"] == "json_invalid" else ""
    return _write_answer({"error": f"{place}: {found['msg']}{reason}; {_DESCRIBED}"}, 422)


async def _refuse_request(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, StarletteHTTPException) else 500
    problem = str(error.detail) if isinstance(error, StarletteHTTPException) else ""
    if status == 400:  # noqa: PLR2004 - FastAPI could not read the body
        status, problem = 422, "the body is no JSON in UTF-8, or nests too deeply; send one JSON object"
    elif status == 404 and problem == "Not Found":  # noqa: PLR2004
        problem = "there is no such path; GET /v1/openapi.json lists those that there are"
    elif status == 405:  # noqa: PLR2004
        problem = "this path has other methods; GET /v1/openapi.json lists them"
    return _write_answer({"error": problem}, status)


async def _answer_fault(_: Request, error: Exception) -> Response:
    return _write_answer(
        {"error": f"a fault of the service itself, which its log describes: {type(error).__name__}"}, 500
    )


def _add_token(app: FastAPI) -> None:
    make = app.openapi

    def describe() -> dict[str, Any]:
        document = make()
        document["servers"] = [
            {"url": "http://127.0.0.1:{port}", "variables": {"port": {"default": "4778"}}},
        ]
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["token"] = {"type": "http", "scheme": "bearer", "description": "Needed by the port alone."}
        document["security"] = [{"token": []}, {}]
        return document

    app.openapi = describe  # type: ignore[method-assign]
