"""What checks a change: one set of targets, on one machine, in git and in hosted CI."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.core import contracts, rooms

pytestmark = pytest.mark.meta

ROOT = Path(__file__).parents[2]
PROJECTS = (
    "pyproject.toml",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("packages/*/pyproject.toml")),
)
PAGES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/decisions/README.md")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def targets() -> set[str]:
    """The targets of the Makefile that are shown."""
    return set(re.findall(r"^([a-z0-9-]+):.*##", read("Makefile"), re.MULTILINE))


def called(text: str) -> set[str]:
    """The targets that a script or a step makes."""
    lines = re.findall(r"(?:make|track) ((?:[a-z0-9-]+ ?)+)&?$", text, re.MULTILINE)
    return {target for line in lines for target in line.split()}


@pytest.fixture(scope="module", name="workflow")
def _workflow() -> dict[str, Any]:
    return yaml.safe_load(read(".github/workflows/ci.yml"))


def test_hosted_ci_runs_what_the_machine_runs(workflow: dict[str, Any]) -> None:
    """The same targets in both, all of which exist; one machine installs at once, and tries programs with coverage."""
    hosted = {
        target for job in workflow["jobs"].values() for step in job["steps"] for target in called(step.get("run", ""))
    }
    assert hosted - {"test-programs"} == called(read(".ci/run")) - {"install"}
    assert hosted <= targets()


def test_each_job_of_hosted_ci_can_run(workflow: dict[str, Any]) -> None:
    """It names a machine, ends, waits for jobs that exist, and each step either uses or runs something."""
    jobs = workflow["jobs"]
    # YAML 1.1 reads the word `on` as true.
    assert set(workflow[True]) == {"push", "pull_request"}
    for name, job in jobs.items():
        assert job["runs-on"] == "ubuntu-latest", name
        assert 0 < job["timeout-minutes"] <= 90, name
        assert set(job.get("needs", [])) <= set(jobs), name
        assert [step for step in job["steps"] if ("uses" in step) == ("run" in step)] == [], name
        assert job["steps"][0]["uses"].startswith("actions/checkout@"), name


def test_hosted_ci_tests_every_python_that_is_supported(workflow: dict[str, Any]) -> None:
    """From the floor to the newest that the package names."""
    project = tomllib.loads(read("pyproject.toml"))
    named = [kind.rpartition(" ")[2] for kind in project["project"]["classifiers"] if " :: 3." in kind]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert project["project"]["requires-python"] == f">={named[0]}"
    assert project["tool"]["ruff"]["target-version"] == f"py{named[0].replace('.', '')}"
    assert project["tool"]["mypy"]["python_version"] == project["tool"]["pyright"]["pythonVersion"] == named[0]


def test_git_checks_what_ci_checks() -> None:
    """The hooks start the programs that the lock file names, out of the environment."""
    hooks = [hook for repo in yaml.safe_load(read(".pre-commit-config.yaml"))["repos"] for hook in repo["hooks"]]
    assert {hook["id"] for hook in hooks} == {"ruff", "ruff-format", "codespell", "import-linter"}
    assert [hook["id"] for hook in hooks if not hook["entry"].startswith(".venv/bin/")] == []
    assert {hook["language"] for hook in hooks} == {"system"}


def test_the_lock_file_pins_with_hashes_and_names_no_host() -> None:
    """Whoever installs chooses the index; what comes from it must be what was locked."""
    lock = read("requirements.lock")
    assert "://" not in lock
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert [entry.partition("\n")[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_all_packages_have_one_version() -> None:
    """And ask for each other at that version: pieces of different versions were never tested together."""
    projects = [tomllib.loads(read(name))["project"] for name in PROJECTS]
    (released,) = {project["version"] for project in projects}
    asked = [
        name
        for project in projects
        for name in [*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())]
        if name.startswith("otel-errcompact")
    ]
    assert len(asked) > len(projects)
    assert [name for name in asked if not name.endswith(f"=={released}")] == []


def test_the_lock_file_has_all_that_the_project_names() -> None:
    """`make lock` writes it again."""
    project, *beside = (tomllib.loads(read(name)) for name in PROJECTS)
    groups = project["dependency-groups"]
    asked = [*project["project"]["optional-dependencies"]["otlp"]]
    asked += [name for each in (project, *beside) for name in each["project"]["dependencies"]]
    asked += [name for group in ("test", "dashboards", "lint", "e2e") for name in groups[group]]
    locked = set(re.findall(r"^([a-z0-9-]+)==", read("requirements.lock"), re.MULTILINE))
    names = {re.split(r"[\[<>=; ]", name, maxsplit=1)[0].lower().replace("_", "-") for name in asked}
    assert {name for name in names if not name.startswith("otel-errcompact")} - locked == set()


@pytest.mark.parametrize("page", PAGES)
def test_each_path_of_a_page_exists(page: str) -> None:
    """A module is named from the root of the repository or of the package, a page also from beside the page."""
    text = read(page)
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|toml|yml|yaml|json|lock))`", text))
    named |= set(re.findall(r"`([\w.-]+/(?:[\w.-]+/)*)`", text))
    named |= set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text))
    named -= {".venv/", ".environments/"}
    roots = (ROOT, ROOT / "otel_errcompact", (ROOT / page).parent)
    assert sorted(name for name in named if not any((root / name).exists() for root in roots)) == []


def test_the_map_of_the_floors_is_the_contract() -> None:
    """The rooms of the map are those of import-linter, in the same order."""
    table = read("docs/architecture.md").split("<!-- floors -->")[1].split("<!-- /floors -->")[0]
    mapped = [re.findall("`([^`]+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    beside = [each.removeprefix("otel_errcompact_") for each in contracts()["packages"]["layers"][:-1]]
    floors = [*beside, *contracts()["rooms"]["layers"]]
    assert mapped == [sorted(floor.split(" | ")) for floor in floors]


def test_each_module_of_the_changelog_has_its_names() -> None:
    """Whoever looks for a name that has moved finds it there."""
    table = read("CHANGELOG.md").split("| name | module |")[1].split("\n\n")[0]
    rows = [[re.findall("`([^`]+)`", cell) for cell in line.split("|")[1:3]] for line in table.splitlines()[2:]]
    moved = [(module, name) for names, (module,) in rows for name in names]
    assert len(moved) > 30
    assert [place for place in moved if not hasattr(import_module(place[0]), place[1])] == []


def test_each_room_below_otel_is_held_to_know_no_opentelemetry() -> None:
    """A new room needs no second list; of the lab, two parts are held to it too."""
    below = {f"otel_errcompact.{room}" for room in rooms()}
    lab = {"otel_errcompact_lab.transcripts", "otel_errcompact_lab.analysis"}
    assert set(contracts()["core"]["source_modules"]) == below | lab
