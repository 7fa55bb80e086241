"""What a package index shows of a release: addresses that agree, and no link that leads nowhere there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from docs.website import REPOSITORY

pytestmark = pytest.mark.meta

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELATIVE: Final = re.compile(r'\]\((?!https?://|#)|(?:src|srcset)="(?!https?://)')


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "SECURITY.md", "RELEASING.md", "mkdocs.yml", "dashboards/alerts.py"]
)
def test_each_address_is_that_of_the_repository(name: str) -> None:
    """Also those that are not linked from anywhere else."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = {
        match.lower() for match in re.findall(r"https://(?:raw\.)?github(?:usercontent)?\.com/([\w-]+/[\w-]+)", text)
    }
    assert found <= {REPOSITORY.removeprefix("https://github.com/")}


def test_the_project_has_the_addresses_that_users_look_for() -> None:
    """By the names that package indexes know."""
    assert set(PROJECT["project"]["urls"]) == {"Repository", "Documentation", "Changelog", "Issues", "Security"}


def test_no_link_of_the_readme_stays_relative() -> None:
    """The substitutions of the build catch each link and picture."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert RELATIVE.search(readme)
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for each in hook["substitutions"]:
        readme = re.sub(each["pattern"], each["replacement"].replace("$HFPR_VERSION", "0"), readme)
    assert RELATIVE.search(readme) is None
