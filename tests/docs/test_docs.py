"""Pages made from tables in the code are as the code is, and the programs on the others run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from docs.generate import PAGES
from otel_errcompact.config import ContextOptions, Options
from otel_errcompact.otel import semconv
from otel_errcompact_lab.transcripts.run_lives import EVENTS
from tests import console
from tests.core import PACKAGES

ZERO_CODE = (Path(__file__).parents[2] / "docs" / "zero-code.md").read_text(encoding="utf-8")
FILES = {
    body.split("\n", 1)[0].removeprefix("# "): body
    for body in re.findall(r"```(?:python|yaml)\n(.*?)```", ZERO_CODE, re.DOTALL)
}
COMMANDS = re.findall(r"```console\n([^\n]+)\n```\n\n```text\n(.*?)```", ZERO_CODE, re.DOTALL)


@pytest.mark.meta
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_pages_are_up_to_date(page):
    """`make docs` has been run since the tables changed."""
    assert page.read_text(encoding="utf-8") == PAGES[page]()


@pytest.mark.programs
@pytest.mark.skipif(os.name == "nt", reason="the commands are a shell's")
@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=["variables", "configuration file"])
def test_starting_without_code(command, output, tmp_path):
    """Each command prints what the page says; what goes to a collector there goes to standard output here."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(re.sub(r"otlp_grpc: {.*?}}", "console: {}}", text), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "trajectory.jsonl"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=300,
    )
    found = console.read(done.stdout.replace(str(tmp_path), "/srv"))
    # The SDK itself speaks of its configuration file.
    shown = [line for line in found.printed if not line.startswith("OTEL_CONFIG_FILE is set")]
    assert [re.sub("(kept in) .*", r"\1 ...", line) for line in shown] == output.splitlines()
    exported = "OTEL_CONFIG_FILE" in command
    assert [span["name"] for span in found.spans] == exported * [
        "execute_tool sql",
        "execute_tool sql",
        "invoke_agent shop",
        "report",
    ]
    assert sum(point["value"] for point in found.points) == exported * 3
    file = tmp_path / ("errors.jsonl" if exported else "trajectory.jsonl")
    assert file.read_text(encoding="ascii").count('"exception.stacktrace"') == 3


@pytest.mark.meta
def test_the_configuration_file_is_valid(tmp_path):
    """As it stands on the page, for the loader that reads it, and every option in it is one."""
    (tmp_path / "otel.yaml").write_text(FILES["otel.yaml"], encoding="utf-8")
    configuration = import_module("opentelemetry.configuration").load_config_file(tmp_path / "otel.yaml")
    section = configuration.instrumentation_development.python["errcompact"]
    assert Options.from_section(section, {}).thresholds.same == 5


ROOT = Path(__file__).parents[2]
FRAMEWORKS = sorted(set((ROOT / "docs" / "frameworks").glob("*.md")) - {ROOT / "docs" / "frameworks" / "index.md"})


def blocks_of(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


RECIPES = [page for page in FRAMEWORKS if not (ROOT / "otel_errcompact" / "integrations" / f"{page.stem}.py").exists()]


@pytest.mark.meta
@pytest.mark.parametrize("page", FRAMEWORKS, ids=lambda page: page.stem)
def test_the_code_of_a_framework_s_page_is_its_example_s(page: Path) -> None:
    """The examples run in the environments of their frameworks: each paragraph of the page stands in one of them."""
    source = (ROOT / "examples" / f"with_{page.stem}.py").read_text(encoding="utf-8")
    squeezed = [line.strip() for line in source.splitlines()]
    for paragraph in (part for block in blocks_of(page) for part in re.split(r"\n{2,}", block.strip())):
        lines = [line.strip() for line in paragraph.splitlines()]
        starts = range(len(squeezed) - len(lines) + 1)
        assert any(squeezed[start : start + len(lines)] == lines for start in starts), paragraph


@pytest.mark.meta
@pytest.mark.parametrize("page", [page for page in FRAMEWORKS if page not in RECIPES], ids=lambda page: page.stem)
def test_the_code_of_an_integration_s_page_names_what_there_is(page: Path) -> None:
    """What it imports, and what it asks of the object, is in the module; without the framework that is only read."""
    packages = (PACKAGES[""], PACKAGES["context/"])
    modules = {f"{each.name}.integrations.{page.stem}": each / "integrations" / f"{page.stem}.py" for each in packages}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in modules.values() if path.exists()]
    made = {getattr(node, "name", getattr(node, "attr", "")) for tree in trees for node in ast.walk(tree)}
    asked: set[str] = set()
    for node in (node for block in blocks_of(page) for node in ast.walk(ast.parse(block))):
        if isinstance(node, ast.ImportFrom) and ".integrations" in str(node.module):
            assert node.module in modules
            asked |= {alias.name for alias in node.names}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "compaction":
            asked.add(node.attr)
    assert asked
    assert asked <= made


@pytest.mark.meta
@pytest.mark.parametrize("page", FRAMEWORKS, ids=lambda page: page.stem)
def test_every_page_of_a_framework_leads_to_its_example(page: Path) -> None:
    """And an integration's page says first what to install."""
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ") and f"(../../examples/with_{page.stem}.py)" in text  # noqa: PT018 - both are its head
    assert (ROOT / "examples" / f"with_{page.stem}.py").exists()
    window = ",context" if "otel_errcompact_context" in text else ""
    assert page in RECIPES or f"pip install 'otel-errcompact[{page.stem}{window}]'" in text


CONTEXT = (ROOT / "docs" / "context.md").read_text(encoding="utf-8")


def test_the_programs_on_the_page_of_the_context_print_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """They are one program: what a block has made, the next ones use; `client` is that of a provider's SDK."""
    names: dict[str, object] = {"client": object()}
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", CONTEXT, re.DOTALL)
    assert len(blocks) == CONTEXT.count("```python")
    for code, output in blocks:
        exec(code, names)
        assert capsys.readouterr().out == output


IN_WORDS = {
    "clearable_tools": "(all)",
    "folder": "(the user's)",
    "model": "(none)",
    "refusals": "(none)",
    "reserve_tokens": "(computed)",
    "snip_messages": "(any)",
}


@pytest.mark.meta
def test_the_page_of_the_context_has_each_option_with_its_default() -> None:
    """In words where the default is empty."""
    told = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", CONTEXT, re.MULTILINE))
    for name, default in ContextOptions():
        text = f"{default:,}" if type(default) is int else IN_WORDS.get(name, str(default))
        assert told[name] == text


@pytest.mark.meta
def test_the_page_of_the_context_names_the_telemetry_as_it_is() -> None:
    """Every name in its table is one of the semantic conventions."""
    section = CONTEXT.split("\n## Telemetry\n")[1].split("\n## ")[0]
    names = set(re.findall(r"`((?:errcompact|gen_ai|compact_context)[\w.]*)", section))
    known = {value for value in vars(semconv).values() if isinstance(value, str)}
    assert len(names) == 17
    assert names <= known


@pytest.mark.meta
def test_the_page_of_the_trajectory_names_every_kind_of_line() -> None:
    """Each event that the file may hold has its row, and no name is made up."""
    page = (ROOT / "docs" / "trajectory.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(errcompact\.run\.[a-z_]+)` \|", page, re.MULTILINE)) == set(EVENTS)
