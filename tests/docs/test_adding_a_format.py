"""The format on the page works when its package is installed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from otel_errcompact.extract.table import GROUP

pytestmark = pytest.mark.programs

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-format.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the blocks of a language, without the indentation of the list they stand in."""
    return [
        textwrap.dedent(found[2])
        for found in re.finditer(rf"^( *)```{language}\n(.*?)^\1```", PAGE, re.MULTILINE | re.DOTALL)
    ]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder in which the package of the page is installed."""
    (tmp_path / "shipit_errors.py").write_text(blocks("python")[0], encoding="utf-8")
    points = tomllib.loads(blocks("toml")[0])["project"]["entry-points"][GROUP]
    info = tmp_path / "shipit_errors-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shipit-errors\nVersion: 1.0\n", encoding="utf-8")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}", encoding="utf-8")
    return tmp_path


def ran(site: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program beside the package."""
    paths = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )


def test_the_format_on_the_page(site):
    """Facts, detection and hint are those that the page shows."""
    done = ran(site, blocks("python")[1])
    assert (done.stdout, done.stderr) == (blocks("text")[1], "")


def test_the_explanation_on_the_page(site):
    """The command of the page prints what the page shows."""
    (command,) = [line for line in blocks("bash")[0].splitlines() if line]
    (site / "output.txt").write_text(blocks("text")[0], encoding="utf-8")
    program = f"import sys, os; os.chdir({str(site)!r}); sys.argv[1:] = {shlex.split(command)[1:]}"
    done = ran(site, f"{program}; from otel_errcompact_lab.cli.start import main; main()")
    assert (done.stdout, done.stderr) == (blocks("text")[2], "")


def test_it_is_loaded_late(site):
    """Importing the library loads no format of a package."""
    done = ran(site, "import sys, otel_errcompact.extract.extraction; print('shipit_errors' in sys.modules)")
    assert done.stdout == "False\n"


def test_a_broken_package_is_left_out(site):
    """What cannot be imported costs one warning, and all other formats work."""
    (site / "shipit_errors.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    done = ran(site, blocks("python")[1])
    assert done.stdout.startswith("prose | ")
    assert done.stderr.count("the format shipit (shipit_errors:FORMAT) is left out") == 1
