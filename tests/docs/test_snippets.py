"""
Every block on every page is run, compared or read by a program.

Python runs, and prints the text block below it. A console block with a text block below it is executed and compared;
of any other the commands are looked up. Data is parsed. A page with rules of its own has tests of its own. What cannot
be run says why: `<!-- not run: the reason -->` above it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.docs.commands import faults
from tests.docs.pages import BLOCKS, PAGES, ROOT, Block, read_blocks
from tests.packaging.budget import read_table

OWN = {
    "docs/adding-a-format.md": "tests/docs/test_adding_a_format.py",
    "docs/context.md": "tests/docs/test_docs.py",
    "docs/zero-code.md": "tests/docs/test_docs.py",
}
"""Pages whose Python another test runs."""

CONSOLE = ("console", "bash", "shell")
LANGUAGES = {*CONSOLE, "python", "text", "yaml", "toml", "json", "mermaid"}
RUN = [page for page in PAGES if page not in OWN and not page.startswith("docs/frameworks/")]


def blocks_of(page: str) -> list[Block]:
    return [block for block in BLOCKS if block.page == page]


def has_output(blocks: list[Block], number: int) -> bool:
    """Tell whether the next block is what this one prints."""
    following = blocks[number + 1 : number + 2]
    return bool(following) and following[0].language == "text" and following[0].before == blocks[number].language


def executed(page: str) -> list[tuple[Block, str | None]]:
    """Return the blocks of a page to be executed, each with what it prints, where the page says it."""
    blocks = blocks_of(page)
    found: list[tuple[Block, str | None]] = []
    for number, block in enumerate(blocks):
        output = blocks[number + 1].code if has_output(blocks, number) else None
        is_command = block.language in CONSOLE and output is not None
        is_file = block.language in {"yaml", "toml", "json"} and block.code.startswith("# ")
        if not block.reason and (block.language == "python" or is_command or is_file):
            found.append((block, output))
    return found


def matches(printed: str, shown: str) -> bool:
    """Compare an output with a page: a line `...` stands for any lines, ` ...` at an end for the rest of the line."""
    pattern = ""
    for line in shown.splitlines():
        if line == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += re.escape(line.removesuffix(" ...")) + (r".*\n" if line.endswith(" ...") else r"\n")
    return re.fullmatch(pattern, printed) is not None


def run(block: Block, folder: Path) -> str:
    """Execute a block in a folder, and return what it printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONWARNINGS": "error"}
    environment["XDG_STATE_HOME"] = str(folder / "state")
    # Unbuffered, a print writes its values one by one, and a line of another process may come between them.
    environment.pop("PYTHONUNBUFFERED", None)
    command = ["sh", "-ec", block.code] if block.language in CONSOLE else [sys.executable, name_of(block)]
    # A terminal shows both; below a program stands what it prints itself.
    errors = subprocess.STDOUT if block.language in CONSOLE else subprocess.PIPE
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
        text=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return done.stdout.replace(str(folder), "/srv")


def name_of(block: Block) -> str:
    """Return the name of the file that a block is; its first line may say it."""
    first = block.code.partition("\n")[0]
    return first.removeprefix("# ") if re.fullmatch(r"# [\w.-]+\.\w+", first) else f"block_{block.line}.py"


@pytest.mark.programs
@pytest.mark.skipif(os.name == "nt", reason="the commands are a shell's")
@pytest.mark.parametrize("page", [page for page in RUN if executed(page)])
def test_the_blocks_of_a_page_work(page: str, tmp_path: Path) -> None:
    """In one folder, in their order: files are written, programs and commands print what stands below them."""
    for block, output in executed(page):
        is_named = name_of(block) != f"block_{block.line}.py"
        if block.language not in CONSOLE:
            (tmp_path / name_of(block)).write_text(block.code, encoding="utf-8")
        if block.language in CONSOLE or (block.language == "python" and (output is not None or not is_named)):
            printed = run(block, tmp_path)
            assert output is None or matches(printed, output), f"{block} printed\n{printed}"


@pytest.mark.meta
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_is_checked(block: Block) -> None:
    """Its language is one that a test reads; data parses, and commands exist."""
    assert block.language in LANGUAGES
    if block.language == "text":
        assert block.before in {"python", *CONSOLE} or block.reason, "the output of nothing"
    elif block.language == "yaml":
        assert list(yaml.safe_load_all(block.code))
    elif block.language == "toml":
        assert tomllib.loads(block.code)
    elif block.language == "json":
        assert json.loads(block.code)
    elif block.language in CONSOLE and not block.reason:
        assert faults(block.code) == []


@pytest.mark.meta
def test_few_blocks_are_not_run() -> None:
    """Each of them says why."""
    reasons = [f"{block}: {block.reason}" for block in BLOCKS if block.reason]
    assert len(reasons) <= read_table()["ceilings"]["blocks_not_run"], reasons


@pytest.mark.meta
def test_pages_with_tests_of_their_own_exist() -> None:
    """And so do these tests, which name them."""
    for page, test in OWN.items():
        assert page in PAGES
        assert Path(page).stem in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.meta
def test_blocks_are_read() -> None:
    """With the language, the reason and what stands above; an indented one without its indentation."""
    text = "a\n\n```python\n1\n```\n\n```text\n2\n```\n\nb\n\n<!-- not run: why -->\n\n  ```text\n  3\n  ```\n"
    found = read_blocks("p.md", text)
    assert [(block.language, block.code, block.before, block.reason) for block in found] == [
        ("python", "1\n", "", ""),
        ("text", "2\n", "python", ""),
        ("text", "3\n", "", "why"),
    ]


@pytest.mark.meta
@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("make site && make nothing", "make nothing: no target nothing"),
        ("pip install 'otel-errcompact[otlp,none]'", "pip install otel-errcompact[otlp,none]: no extra none"),
        ("errcompact report x --no-such", "errcompact report x --no-such: no option --no-such"),
        ("errcompact nothing", "errcompact nothing: no command nothing"),
        ("python -m no_such_module", "python -m no_such_module: no module no_such_module"),
        ("A=1 sudo x", "unknown program: sudo"),
    ],
)
def test_commands_that_do_not_exist_are_found(code: str, fault: str) -> None:
    """Targets, extras, options, commands, modules and programs."""
    assert faults(code) == [fault]


@pytest.mark.meta
@pytest.mark.parametrize(
    ("printed", "shown", "is_same"),
    [("a\nb\nc\n", "a\n...\nc\n", True), ("a\nb\n", "a\nc\n", False), ("a b c\n", "a ...\n", True)],
)
def test_outputs_are_compared(printed: str, shown: str, is_same: bool) -> None:
    """Three dots stand for any lines, or for the rest of one; nothing else does."""
    assert matches(printed, shown) is is_same
