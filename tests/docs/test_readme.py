"""The README is run and compared, not believed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otel_errcompact import Thresholds

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section[section.index("\n|") + 1 :].split("\n\n")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_readme_has_examples() -> None:
    """The expression that finds them finds them all."""
    assert len(EXAMPLES) == README.count("```python")


@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=[f"example {number}" for number in range(len(EXAMPLES))])
def test_an_example_prints_what_the_readme_says(code: str, output: str, tmp_path: Path) -> None:
    """Each block runs as it stands, and its output is the block below it."""
    (tmp_path / "shop.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (done.stdout.replace(str(tmp_path), "/srv"), done.returncode) == (output, 0), done.stderr


def test_the_thresholds_are_the_defaults() -> None:
    """Names and values; no threshold halts unless it is asked for."""
    listed = {name.strip("`"): default for name, default, *_ in rows("Escalation")}
    limits = {name: str(limit) for name, limit in Thresholds().model_dump(exclude={"halts"}).items()}
    assert listed == {**limits, "halts": ",".join(Thresholds().halts)}
