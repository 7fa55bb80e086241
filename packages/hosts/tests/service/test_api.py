"""The HTTP interface, asked by its socket and its port as programs in any language ask it."""

from __future__ import annotations

import http.client
import json
import socket
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from otel_errcompact_hosts.ports.edge import MAX_BODY
from otel_errcompact_hosts.service.lifecycle import find_running
from packages.hosts.tests.service.services import PATIENCE_S, Place

FAILURE = {"tool": "sql", "arguments": {"table": "orders"}, "text": "no such table: orders", "exit_status": 1}
CARRIES_ON = {"standing": "carry_on", "stopped": False, "threshold": "", "reason": ""}


@pytest.fixture
def run() -> str:
    """The id of a run that no other test knows."""
    return uuid.uuid4().hex


@pytest.mark.programs
def test_the_call_of_the_page_is_answered_as_it_says(service: Place) -> None:
    """Its mark is the same on every machine."""
    page = (Path(__file__).parents[4] / "docs" / "service.md").read_text(encoding="utf-8")
    sent, _, rest = page.partition("-d '")[2].partition("'")
    said = rest.partition("```json")[2].partition("```")[0]
    assert service.ask("POST", "/v1/failures", json.loads(sent)) == (200, json.loads(said))


def ask_port(place: Place, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
    running = find_running(place.socket, PATIENCE_S)
    assert running is not None
    assert running.port is not None
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    read = json.loads(answer.read())
    connection.close()
    return answer.status, read


@pytest.mark.programs
def test_a_failure_is_answered_with_digest_class_counts_and_verdict(service: Place, run: str) -> None:
    """All that an agent in another language needs to go by."""
    report = {**FAILURE, "run": run, "turn": 1, "call_id": "c1", "agent": "shop", "directory": "/srv"}
    status, answer = service.ask("POST", "/v1/failures", report)
    key = answer["class"]["key"]
    assert (status, answer) == (
        200,
        {
            "outcome": "failure",
            "digest": f"no such table: orders #{key[:4]} (exit code 1)",
            "class": {"key": key, "short": key[:4]},
            "counts": {"class": 1, "streak": 1, "run": 1},
            "guidance": "",
            "verdict": CARRIES_ON,
        },
    )
    assert service.ask("POST", "/v1/failures", report)[1] == {
        "outcome": "counted",
        "digest": "",
        "class": None,
        "counts": None,
        "guidance": "",
        "verdict": CARRIES_ON,
    }
    assert service.ask("POST", "/v1/failures", {**report, "call_id": "c2", "turn": 2})[1]["counts"] == {
        "class": 2,
        "streak": 2,
        "run": 2,
    }


def test_a_success_resolves_what_has_failed(service: Place, run: str) -> None:
    """The account of the run says so."""
    service.ask("POST", "/v1/failures", {**FAILURE, "run": run})
    call = {"run": run, "tool": "sql", "arguments": {"table": "orders"}}
    assert service.ask("POST", "/v1/successes", call)[1]["outcome"] == "success"
    status, found = service.ask("GET", f"/v1/runs/{run}")
    assert (status, found["run"], found["verdict"]) == (200, run, CARRIES_ON)
    assert (found["report"]["result"], found["report"]["classes"][0]["status"]) == ("recovered", "RECOVERED")


@pytest.mark.parametrize(
    ("text", "more", "outcome"),
    [
        ("built", {}, "success"),
        ("built", {"exit_status": 2}, "failure"),
        ("built", {"failed": True}, "failure"),
        ("The user rejected this", {"failed": True}, "ignored"),
    ],
)
def test_a_result_is_judged(service: Place, run: str, text: str, more: dict[str, object], outcome: str) -> None:
    """For programs that only know what came back."""
    answer = service.ask("POST", "/v1/results", {"run": run, "tool": "make", "text": text, **more})[1]
    assert answer["outcome"] == outcome


def test_an_identical_call_is_refused(service: Place, run: str) -> None:
    """Asked before it is executed; another one may be."""
    call = {"run": run, "tool": "sql", "arguments": {"table": "orders"}}
    assert service.ask("POST", "/v1/refusals", call) == (200, {"refused": False, "reason": ""})
    for turn in range(2):
        service.ask("POST", "/v1/failures", {**call, "text": "no such table: orders", "turn": turn})
    answer = service.ask("POST", "/v1/refusals", {**call, "turn": 2})[1]
    assert answer["refused"]
    assert answer["reason"].startswith("NOT EXECUTED: this exact call has failed 2 times")
    assert not service.ask("POST", "/v1/refusals", {**call, "arguments": {"table": "items"}})[1]["refused"]


@pytest.mark.parametrize("escape", [quote, lambda run: quote(run, safe="")])
def test_the_id_of_a_run_may_hold_slashes(service: Place, run: str, escape: Any) -> None:
    """Those of sub-agents do; they may be sent as they are, or escaped."""
    run_id = f"{run}/größe 1"
    key = service.ask("POST", "/v1/failures", {**FAILURE, "run": run_id})[1]["class"]["key"]
    path = f"/v1/runs/{escape(run_id)}"
    assert service.ask("GET", path)[1]["run"] == run_id
    assert f"#{key[:4]}" in service.ask("GET", f"{path}/digest")[1]["digest"]
    assert service.ask("GET", f"{path}/raw/{key[:6]}") == (200, {"raw": "no such table: orders"})
    assert service.ask("POST", f"{path}/turns") == (204, {})
    assert run_id in {each["run"] for each in service.ask("GET", "/v1/runs")[1]["runs"]}
    assert service.ask("DELETE", path)[1]["report"]["occurrences"] == 1
    assert service.ask("GET", path)[0] == 404


def test_an_escaped_slash_belongs_to_the_id(service: Place, run: str) -> None:
    """A run whose id ends like a path of the interface is found by it."""
    service.ask("POST", "/v1/failures", {**FAILURE, "run": f"{run}/digest"})
    assert service.ask("GET", f"/v1/runs/{run}%2Fdigest")[1]["run"] == f"{run}/digest"
    assert service.ask("GET", f"/v1/runs/{run}/digest")[0] == 404


@pytest.mark.programs
def test_a_stopped_run_continues_with_a_message(place: Place) -> None:
    """The verdict stands at each call until a human resumes the run; the next failure shows the message."""
    place.start("--store", "memory", OTEL_ERRCOMPACT_THRESHOLDS_HALTS="same")
    for turn in range(3):
        answer = place.ask("POST", "/v1/failures", {**FAILURE, "run": "r", "turn": turn})[1]
    assert answer["verdict"] == {
        "standing": "halt",
        "stopped": True,
        "threshold": "same",
        "reason": 'one error class keeps recurring (3 of 3): "[error] no such table: orders"',
    }
    assert place.ask("POST", "/v1/refusals", {"run": "r", "tool": "ls"})[1]["refused"]
    assert place.ask("POST", "/v1/runs/r/resume", {"message": "migrate first"})[1]["verdict"] == CARRIES_ON
    answer = place.ask("POST", "/v1/failures", {**FAILURE, "run": "r", "turn": 4})[1]
    assert (answer["guidance"], answer["verdict"]) == ("OPERATOR: migrate first", CARRIES_ON)
    assert place.ask("POST", "/v1/runs/r/resume")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "problem"),
    [
        pytest.param(
            "POST",
            "/v1/failures",
            b'{\n "run": r}',
            422,
            "body.10: JSON decode error: Expecting value; GET /v1/openapi.json describes the body, one JSON object",
            id="no JSON",
        ),
        pytest.param("POST", "/v1/failures", b"\xff\xfe{", 422, "the body is no JSON in UTF-8", id="no UTF-8"),
        pytest.param("POST", "/v1/failures", b"[" * 200_000, 422, "the body is no JSON in UTF-8, or nests", id="deep"),
        pytest.param(
            "POST",
            "/v1/failures",
            b"",
            422,
            "body: Field required; GET /v1/openapi.json describes the body",
            id="nothing",
        ),
        pytest.param(
            "POST", "/v1/failures", b"[]", 422, "body: Input should be a valid dictionary or object", id="a list"
        ),
        pytest.param("POST", "/v1/hooks/codex", b"3", 422, "body: Input should be a valid dictionary", id="no event"),
        *(
            pytest.param(
                "POST",
                "/v1/results",
                f'{{"run": "r", "tool": "x", "text": "", "{name}": {given}}}'.encode(),
                422,
                f"body.{name}: Input should be a valid {problem}",
                id=f"{name} is {given}",
            )
            for name, given, problem in (
                ("arguments", "3", "dictionary"),
                ("turn", "[]", "string"),
                ("exit_status", '"many"', "integer"),
                ("exit_status", "1.5", "integer"),
                ("failed", "{}", "boolean"),
                ("failed", '"perhaps"', "boolean"),
                ("call_id", "null", "string"),
                ("agent", "true", "string"),
            )
        ),
        pytest.param(
            "POST",
            "/v1/failures",
            b'{"run": "r"}',
            422,
            "body.tool: Field required; GET /v1/openapi.json describes the body",
            id="a field is missing",
        ),
        pytest.param(
            "POST",
            "/v1/failures",
            b'{"run": "r", "tol": "x"}',
            422,
            "body.tol: Extra inputs are not permitted",
            id="misspelt",
        ),
        pytest.param(
            "POST",
            "/v1/successes",
            b'{"run": "", "tool": "x"}',
            422,
            "body.run: String should have at least 1 character",
            id="no id",
        ),
        pytest.param(
            "POST",
            "/v1/successes",
            json.dumps({"run": "r" * 1_001, "tool": "x"}).encode(),
            422,
            "body.run: String should have at most 1000 characters",
            id="a long id",
        ),
        pytest.param("GET", "/v1/runs/unknown", b"", 404, "no run 'unknown' is known; GET /v1/runs lists", id="no run"),
        pytest.param("DELETE", "/v1/runs/unknown", b"", 404, "no run 'unknown' is known", id="nothing to end"),
        pytest.param("POST", "/v1/runs/unknown/resume", b"", 404, "no run 'unknown' is known", id="nothing to resume"),
        pytest.param("GET", "/v1/failure", b"", 404, "there is no such path; GET /v1/openapi.json", id="no path"),
        pytest.param("GET", "/v1/failures", b"", 405, "this path has other methods", id="no such method"),
    ],
)
def test_a_malformed_request_gets_one_clear_sentence(
    service: Place, method: str, path: str, body: bytes, status: int, problem: str
) -> None:
    """What is wrong, where, and what to do; and the service answers the next one."""
    answered, answer = service.ask(method, path, body)
    assert (answered, list(answer)) == (status, ["error"])
    assert answer["error"].startswith(problem)
    assert "\n" not in answer["error"]
    assert service.ask("GET", "/v1/health")[0] == 200


def test_an_unknown_class_of_a_known_run_has_no_raw_error(service: Place, run: str) -> None:
    """The answer says where the known ones stand."""
    service.ask("POST", "/v1/failures", {**FAILURE, "run": run})
    problem = "the run has no raw error of a class 'zzzz'; its report names its classes"
    assert service.ask("GET", f"/v1/runs/{run}/raw/zzzz") == (404, {"error": problem})


def test_half_a_character_is_no_obstacle(service: Place, run: str) -> None:
    """JSON can hold it, as of a file name that is no UTF-8: the failure counts."""
    body = f'{{"run": "{run}", "tool": "ls", "text": "no such file: \\ud800.txt"}}'.encode()
    status, answer = service.ask("POST", "/v1/failures", body)
    assert (status, answer["outcome"]) == (200, "failure")
    assert "no such file: \\ud800.txt" in answer["digest"]


def test_a_body_has_a_limit(service: Place, run: str) -> None:
    """A large one is counted; a larger one gets one sentence, also where its length is not announced."""
    text = "x" * (MAX_BODY - 200)
    assert service.ask("POST", "/v1/failures", {**FAILURE, "run": run, "text": text})[0] == 200
    problem = (
        "the body is larger than 16,777,216 bytes; send the begin and the end of the output, where its cause stands"
    )
    assert service.ask("POST", "/v1/failures", {**FAILURE, "run": run, "text": text + "x" * 200}) == (
        413,
        {"error": problem},
    )
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(service.socket))
        connection.sendall(b"POST /v1/failures HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        for _ in range(17):
            connection.sendall(chunk)
        connection.sendall(b"0\r\n\r\n")
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_the_port_needs_the_token(service: Place, run: str) -> None:
    """Any program of the machine can reach the port; a stranger learns of it that there is one."""
    body = json.dumps({**FAILURE, "run": run}).encode()
    token = (service.folder / "e.sock.token").read_text(encoding="ascii").strip()
    hint = "'errcompact serve' says at its start where the token is"
    problem = f"this port needs the header 'Authorization: Bearer TOKEN'; {hint}"
    paths = ("/v1/openapi.json", "/v1/runs", "/v1/health", "/")
    for wrong in ({}, {"Authorization": "Bearer no"}, {"Authorization": token}, {"Authorization": f"Bearer {token}x"}):
        for method, path in (("POST", "/v1/failures"), *(("GET", path) for path in paths)):
            assert ask_port(service, method, path, body, **wrong) == (401, {"error": problem})
    right = {"Authorization": f"Bearer {token}"}
    assert ask_port(service, "POST", "/v1/failures", body, **right)[0] == 200
    assert ask_port(service, "GET", "/v1/health", **right)[1] == service.ask("GET", "/v1/health")[1]
    assert service.ask("GET", f"/v1/runs/{run}")[1]["report"]["occurrences"] == 1


def test_the_body_is_json_whatever_its_header_says(service: Place, run: str) -> None:
    """`curl -d` sends the type of a form."""
    token = (service.folder / "e.sock.token").read_text(encoding="ascii").strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-www-form-urlencoded"}
    assert ask_port(service, "POST", "/v1/failures", json.dumps({**FAILURE, "run": run}).encode(), **headers)[0] == 200


def test_parallel_reports_give_exact_counts(service: Place, run: str) -> None:
    """Eight programs at once, each call reported twice."""

    def post(number: int) -> str:
        report = {**FAILURE, "run": run, "turn": number % 100, "call_id": f"c{number % 100}"}
        return service.ask("POST", "/v1/failures", report)[1]["outcome"]

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(post, range(200)))
    assert (outcomes.count("failure"), outcomes.count("counted")) == (100, 100)
    report = service.ask("GET", f"/v1/runs/{run}")[1]["report"]
    assert (report["occurrences"], report["classes"][0]["count"]) == (100, 100)


def test_health_says_who_answers(service: Place) -> None:
    """Release, process and its start: enough to replace it by, and no other process of that id."""
    health = service.ask("GET", "/v1/health")[1]
    assert sorted(health) == ["pid", "port", "process", "started", "version"]
    assert health["pid"] == service.processes[0].pid
    assert health["process"]
